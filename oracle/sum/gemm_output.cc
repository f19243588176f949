// One output of a GEMM by the definition: instruction after instruction, each by sim/num's scalar arithmetic.
#include <array>
#include <bit>

#include "oracle/sum/gemm_chain.h"

namespace tcq::oracle {
namespace {

std::uint32_t element_a(const Gemm& g, const GemmData& data, const OutputAt& at, std::int64_t k) {
  return load_element(g.in, data.a, index_of(g.major_a, g.a, at.batch, at.row, k));
}

std::uint32_t element_b(const Gemm& g, const GemmData& data, const OutputAt& at, std::int64_t k) {
  return load_element(g.b_type(), data.b, index_of(g.major_b, g.b, at.batch, at.col, k));
}

// Of one instruction; what K does not fill are zeros, with factors that are no NaN.
struct StepOperands {
  std::array<std::uint32_t, max_products> a{};
  std::array<std::uint32_t, max_products> b{};
  std::array<std::uint8_t, tcgen05::group_count> sfa{};
  std::array<std::uint8_t, tcgen05::group_count> sfb{};
};

StepOperands operands_of(const Gemm& g, const GemmData& data, const OutputAt& at,
                         std::int64_t first, std::int64_t count) {
  StepOperands in;
  for (std::int64_t i = 0; i < count; ++i) {
    in.a[static_cast<std::size_t>(i)] = element_a(g, data, at, first + i);
    in.b[static_cast<std::size_t>(i)] = element_b(g, data, at, first + i);
  }
  if (!is_block_scaled(g)) return in;
  for (std::int64_t i = 0; i < count; i += scale_block(g)) {
    const auto factor = static_cast<std::size_t>(i / scale_block(g));
    in.sfa[factor] = code_at(g, g.codes_a, data.sfa, at.batch, at.row, first + i);
    in.sfb[factor] = code_at(g, g.codes_b, data.sfb, at.batch, at.col, first + i);
  }
  return in;
}

// The bits of C plus the products of one instruction.
std::uint32_t step_sum(const Gemm& g, const GemmStep& step, const StepOperands& in,
                       std::uint32_t c) {
  if (!g.chain.kind)
    return dot(step.types, in.a.data(), in.b.data(), step.products, c,
               {.satfinite = g.chain.saturate});
  return tcgen05::dot(dot_form_of(g), {in.a.data(), in.b.data(), c, in.sfa.data(), in.sfb.data()});
}

std::uint32_t chain_sum(const Gemm& g, const GemmData& data, const GemmSegment& segment,
                        const OutputAt& at) {
  const GemmStep step = step_of(g);
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; k < segment.count; k += step.products) {
    const std::int64_t count = std::min<std::int64_t>(step.products, segment.count - k);
    sum = step_sum(g, step, operands_of(g, data, at, segment.first + k, count), sum);
  }
  return widened(step.types.d, sum);
}

std::uint32_t segment_sum(const Gemm& g, const GemmData& data, const GemmSegment& segment,
                          const OutputAt& at) {
  if (!g.promotes) return chain_sum(g, data, segment, at);
  std::uint32_t total = 0;
  for (const GemmSegment& chain : chains_of(g, segment))
    total = multiply_add_f32(block_factor(g, data, at, chain.first / promoted_chain_k),
                             chain_sum(g, data, chain, at), total);
  return total;
}

std::uint32_t slow_sum(const Gemm& g, const GemmData& data, const OutputAt& at) {
  std::uint32_t total = 0;
  bool first = true;
  for (const GemmSegment& segment : segments_of(g)) {
    const std::uint32_t sum = segment_sum(g, data, segment, at);
    total = first ? sum : add_f32(total, sum);
    first = false;
  }
  return total;
}

}  // namespace

std::uint32_t widened(Type d, std::uint32_t sum) {
  if (d != Type::f16) return sum;
  const auto value = std::bit_cast<std::uint32_t>(static_cast<float>(element_value(d, sum)));
  return sum == canonical_nan_f16 ? canonical_nan_f32 : value;
}

std::uint32_t gemm_output(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row,
                          std::int64_t col) {
  if (is_gated(g.activation))
    return finish_pair(g, data, slow_sum(g, data, {batch, row, 2 * col}),
                       slow_sum(g, data, {batch, row, 2 * col + 1}), batch, row, 2 * col);
  return finish_output(g, data, slow_sum(g, data, {batch, row, col}), batch, row, col);
}

}  // namespace tcq::oracle
