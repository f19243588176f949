// The loops that the vector units run: a row, or a few, times one panel of 32 columns, a chain of
// instructions; and elements that are unpacked. Highway compiles float_kernel.cc, integer_kernel.cc and unpack_kernel.cc once
// for each target and chooses when it runs.
//
// Decides nothing of what a line is (lines.h) nor which sums are made again (chain.cc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/num/dot_traits.h"

namespace tcq::fast {

// Lines whose products may lie below the one or above the other exponent are for the wide loop.
inline constexpr int least_product_exponent = -100;
inline constexpr int most_product_exponent = 125;
// The wide loop cannot hold products that are aligned below this exponent: such sums are made again.
inline constexpr int least_wide_exponent = -74;

struct FloatTask {
  const float* row;
  const std::uint32_t* row_exponents;
  const float* panel;
  const std::int16_t* panel_exponents;
  std::int64_t instructions;
  int products;
  DotTraits traits;
  bool wide;             // products of any exponent, of operands that have 8 bits of it
  int c_least;           // the exponent of subnormals of C, already lowered by scale-input-d
  float* c;              // 32 values: C, then D
  std::uint32_t* again;  // 32 words: the highest bit is set where the sum did not fit
};
// Called where underflow is flushed (flush_underflow.h).
void sum_floats(const FloatTask& task);

// As many elements as a panel has columns: of one row, or of one k of a panel.
struct Batch {
  static constexpr std::size_t lanes = 32;
  alignas(64) std::array<std::uint32_t, lanes> words;
  alignas(64) std::array<float, lanes> values;            // 0 for NaN and infinity
  alignas(64) std::array<std::int32_t, lanes> exponents;  // zero_exponent for those and zeros
  // So far: was one NaN or infinite? The exponents of those that are neither, nor zeros.
  alignas(64) std::array<std::int32_t, lanes> special, least, most;
};
// Elements of f16, bf16 and tf32.
void unpack_wide(Type type, bool negate, Batch& batch);

// Several rows, so that what is loaded of the panel serves all of them.
inline constexpr int most_integer_rows = 4;

struct IntegerTask {
  const float* row;  // the first
  std::int64_t row_stride;
  int rows;  // 1 or most_integer_rows
  const float* panel;
  std::int64_t instructions;
  int products;
  bool saturate;
  std::int32_t* c;  // 32 values for each row
};
void sum_integers(const IntegerTask& task);

}  // namespace tcq::fast
