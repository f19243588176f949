// From the bits of a sum to the bits of D: a GEMM's epilogue on the CPU, and elements in memory.
//
// A NaN that a step makes is the canonical one, as on the device.
#pragma once

#include <cstdint>

#include "oracle/sum/element_text.h"
#include "oracle/sum/gemm_reference.h"

namespace tcq::oracle {

// The raw bits of element `index` of an array of `type`; one of 4 or 6 bits has a byte.
std::uint32_t load_element(Type type, const void* data, std::int64_t index);
void store_element(Type type, void* data, std::int64_t index, std::uint32_t bits);

// f32 addition of two words.
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b);

// fma(a, b, c) of f32 words.
std::uint32_t multiply_add_f32(float a, std::uint32_t b, std::uint32_t c);

// An element of the product.
struct OutputAt {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t col;
};

// The factor of its row times that of its column, for a block of 128 of K; 1 if there are none of such blocks.
float block_factor(const Gemm& gemm, const GemmData& data, const OutputAt& at, std::int64_t block);

// Those of D, or, if it is quantized, f32.
//
// `sum` is an f32, or an s32 for integer operands. Requires: no gated activation.
std::uint32_t finish_output(const Gemm& gemm, const GemmData& data, std::uint32_t sum,
                            std::int64_t batch, std::int64_t row, std::int64_t col);

// Of the columns `col` and `col + 1` of the product. Requires: a gated activation.
std::uint32_t finish_pair(const Gemm& gemm, const GemmData& data, std::uint32_t gate_sum,
                          std::uint32_t value_sum, std::int64_t batch, std::int64_t row,
                          std::int64_t col);

}  // namespace tcq::oracle
