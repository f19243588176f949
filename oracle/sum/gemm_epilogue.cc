#include "oracle/sum/gemm_epilogue.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "sim/num/float_bits.h"
#include "sim/num/narrow.h"

namespace tcq::oracle {
namespace {

template <class Word>
std::uint32_t load(const void* data, std::int64_t index) {
  Word word;
  std::memcpy(&word, static_cast<const Word*>(data) + index, sizeof word);
  return word;
}

template <class Word>
void store(void* data, std::int64_t index, std::uint32_t bits) {
  const auto word = static_cast<Word>(bits);
  std::memcpy(static_cast<Word*>(data) + index, &word, sizeof word);
}

float canonical(float value) {
  return std::isnan(value) ? std::bit_cast<float>(canonical_nan_f32) : value;
}

// Exact: f16 and bf16 are f32s.
float to_f32(Type type, std::uint32_t bits) {
  if (type == Type::f32) return std::bit_cast<float>(bits);
  return static_cast<float>(element_value(type, bits));
}

std::uint32_t from_f32(Type type, float value) {
  const auto word = std::bit_cast<std::uint32_t>(canonical(value));
  return type == Type::f32 ? word : narrow(type, word);
}

}  // namespace

std::uint32_t load_element(Type type, const void* data, std::int64_t index) {
  switch (bits(type)) {
    case 1:
    case 4:
    case 6:
    case 8: return load<std::uint8_t>(data, index);
    case 16: return load<std::uint16_t>(data, index);
    default: return load<std::uint32_t>(data, index);
  }
}

void store_element(Type type, void* data, std::int64_t index, std::uint32_t word) {
  switch (bits(type)) {
    case 1:
    case 4:
    case 6:
    case 8: return store<std::uint8_t>(data, index, word);
    case 16: return store<std::uint16_t>(data, index, word);
    default: return store<std::uint32_t>(data, index, word);
  }
}

std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  return std::bit_cast<std::uint32_t>(
      canonical(rounded::add(std::bit_cast<float>(a), std::bit_cast<float>(b))));
}

std::uint32_t multiply_add_f32(float a, std::uint32_t b, std::uint32_t c) {
  return std::bit_cast<std::uint32_t>(
      canonical(rounded::multiply_add(a, std::bit_cast<float>(b), std::bit_cast<float>(c))));
}

namespace {

float factor(const GemmFactors& f, const float* data, std::int64_t batch, std::int64_t line,
             std::int64_t block) {
  return data[batch * f.batch_step + line / f.per * f.line_step + block * f.block_step];
}

float both_factors(const Gemm& g, const GemmData& data, const OutputAt& at, std::int64_t block) {
  return canonical(rounded::multiply(factor(g.factors_a, data.scale_a, at.batch, at.row, block),
                                     factor(g.factors_b, data.scale_b, at.batch, at.col, block)));
}

}  // namespace

float block_factor(const Gemm& g, const GemmData& data, const OutputAt& at, std::int64_t block) {
  return g.scales_blocks && data.scale_a != nullptr ? both_factors(g, data, at, block) : 1;
}

namespace {

// alpha * factors * sum + beta * C + bias.
float linear(const Gemm& g, const GemmData& data, std::uint32_t sum, std::int64_t batch,
             std::int64_t row, std::int64_t col) {
  float product = is_float(g.in) ? std::bit_cast<float>(sum)
                                 : static_cast<float>(static_cast<std::int32_t>(sum));
  if (!g.scales_blocks && data.scale_a != nullptr)
    product = canonical(rounded::multiply(both_factors(g, data, {batch, row, col}, 0), product));
  float value = canonical(rounded::multiply(g.alpha, product));
  if (g.beta != 0) {
    const std::uint32_t c = load_element(g.out, data.c, batch * g.c.batch + row * g.c.ld + col);
    value = canonical(rounded::multiply_add(g.beta, to_f32(g.out, c), value));
  }
  if (data.bias != nullptr)
    value = canonical(rounded::add(
        value, to_f32(g.out, load_element(g.out, data.bias, batch * g.bias_batch + col))));
  return value;
}

}  // namespace

namespace {

Type finished_type(const Gemm& g) { return g.quantized ? Type::f32 : g.out; }

}  // namespace

std::uint32_t finish_output(const Gemm& g, const GemmData& data, std::uint32_t sum,
                            std::int64_t batch, std::int64_t row, std::int64_t col) {
  if (g.out == Type::s32) return sum;
  return from_f32(finished_type(g), activate(g.activation, linear(g, data, sum, batch, row, col)));
}

std::uint32_t finish_pair(const Gemm& g, const GemmData& data, std::uint32_t gate_sum,
                          std::uint32_t value_sum, std::int64_t batch, std::int64_t row,
                          std::int64_t col) {
  return from_f32(finished_type(g), swiglu(linear(g, data, gate_sum, batch, row, col),
                                           linear(g, data, value_sum, batch, row, col + 1)));
}

}  // namespace tcq::oracle
