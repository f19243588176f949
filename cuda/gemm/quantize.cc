// What both quantisers decide, and the host's.
#include "cuda/gemm/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "cuda/gemm/check.h"
#include "cuda/gemm/quantize_blocks.h"
#include "sim/num/float_bits.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {
namespace {

bool types_exist(const Quantize& q) {
  return (q.in == Type::f32 || q.in == Type::bf16 || q.in == Type::f16) && is_fp8(q.out) &&
         static_cast<int>(q.block) < quantize_block_count &&
         (q.major_factors == Major::K || q.major_factors == Major::MN);
}

float widened(Type type, std::uint32_t word) {
  const Decoded value = decode_float(type, word);
  if (value.kind == Class::Nan) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = value.kind == Class::Infinite
                              ? std::numeric_limits<float>::infinity()
                              : std::ldexp(static_cast<float>(std::abs(value.significand)),
                                           value.exponent - float_format(type).fraction_bits);
  return value.negative ? -magnitude : magnitude;
}

float element(const Quantize& q, const void* source, std::int64_t index) {
  if (q.in == Type::f32) {
    float value;
    std::memcpy(&value, static_cast<const float*>(source) + index, sizeof value);
    return value;
  }
  std::uint16_t word;
  std::memcpy(&word, static_cast<const std::uint16_t*>(source) + index, sizeof word);
  return widened(q.in, word);
}

}  // namespace

std::int64_t factor_lines(const Quantize& q) noexcept {
  return q.block == QuantizeBlock::Block128 ? round_up_quotient(q.rows, scale_block) : q.rows;
}

std::int64_t factor_blocks(const Quantize& q) noexcept {
  return q.block == QuantizeBlock::Row ? 1 : round_up_quotient(q.columns, scale_block);
}

Status check(const Quantize& q, const void* source, const void* target,
             const float* factors) noexcept {
  constexpr std::int64_t most = std::int64_t{1} + std::numeric_limits<std::int32_t>::max();
  if (q.rows < 0 || q.columns < 0) return Status::NegativeSize;
  if (q.rows >= most || q.columns >= most) return Status::SizeTooLarge;
  if (!types_exist(q)) return Status::UnsupportedTypes;
  const QuantizeShape s = shape_of(q);
  const bool k_major = q.major_factors == Major::K;
  const std::int64_t line = k_major ? factor_blocks(q) : factor_lines(q);
  const std::int64_t ld_factors = k_major ? s.factor_below : s.factor_beside;
  if (s.ld_source < q.columns || s.ld_target < q.columns || ld_factors < line)
    return Status::LeadingDimensionTooSmall;
  constexpr std::int64_t far = max_matrix_bytes / 8;
  for (const std::int64_t ld : {s.ld_source, s.ld_target, ld_factors})
    if (ld > far / std::max<std::int64_t>(q.rows, 1)) return Status::SizeTooLarge;
  if (q.rows == 0 || q.columns == 0) return Status::Ok;
  if (source == nullptr || target == nullptr || factors == nullptr) return Status::NullPointer;
  const auto aligned = [](const void* p, Type type) {
    return reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bits(type) / 8) == 0;
  };
  if (!aligned(source, q.in) || !aligned(factors, Type::f32)) return Status::Misaligned;
  return Status::Ok;
}

Status quantize_on_host(const Quantize& q, const void* source, void* target,
                        float* factors) noexcept {
  if (const Status status = check(q, source, target, factors); status != Status::Ok) return status;
  if (q.columns == 0) return Status::Ok;
  const QuantizeShape s = shape_of(q);
  const std::uint32_t rows = rows_of(q.block);
  const auto quantize_block = [&](std::uint32_t line, std::uint32_t number) {
    const QuantizeRange r = range_at(s, q.block, line * rows, number, rows);
    const auto each = [&](auto visit) {
      for (std::int64_t row = r.row; row < r.row_end; ++row)
        for (std::int64_t col = r.col; col < r.col_end; ++col)
          visit(row, col, element(q, source, row * s.ld_source + col));
    };
    float largest = 0;
    each([&](auto, auto, float x) { largest = std::max(largest, finite_magnitude(x)); });
    const float factor = block_factor_of(largest, q.out, q.power_of_two);
    const float inverse = inverse_of(factor);
    factors[s.factor(line, number)] = factor;
    each([&](std::int64_t row, std::int64_t col, float x) {
      const auto word = std::bit_cast<std::uint32_t>(rounded::multiply(x, inverse));
      static_cast<std::uint8_t*>(target)[row * s.ld_target + col] = narrow_quantized(q.out, word);
    });
  };
  for (std::uint32_t line = 0; line < s.lines; ++line)
    for (std::uint32_t number = 0; number < s.across; ++number) quantize_block(line, number);
  return Status::Ok;
}

}  // namespace tcq::gemm
