// Drawn problems on every row of the table of kernels on tcgen05 (cuda/gemm/tensor_table.h): D equal to the reference bit
// for bit, nothing found, no Tensor Memory left. Types, majors, epilogues, sizes, groups, strides, factors, values and how
// many CTAs share the tiles are drawn. A few here, of which each row gets its share; TCQ_PROBLEMS=200 draws so many, TCQ_SEED=N
// others, TCQ_ROWS=TEXT runs the rows whose name has it. A build that TCQ_DRAW shortens runs a quarter of the rows. Skipped without nvcc.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "sim/num/inputs/draw.h"
#include "tests/run/grouped_gemm_run.h"
#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"
#include "tests/support/effort.h"

namespace tcq::tests {
namespace {

// In four parts, each with rows of its own, whose kernels it compiles: beside each other they take a quarter of the time.
constexpr std::size_t parts = 4;
class TensorDrawn : public TensorKernels, public testing::WithParamInterface<std::size_t> {};

bool is_drawn(std::size_t row) {
  if (const char* const named = std::getenv("TCQ_ROWS"))
    return name(tensor_table()[row]).find(named) != std::string::npos;
  const char* const by = std::getenv("TCQ_DRAW");
  return by == nullptr || *by == '\0' || mix(std::hash<std::string>()(by) + row) % 4 == 0;
}

// From none on, empty ones among them, some rows of nobody's.
std::vector<std::int32_t> sizes_of(gemm::Grouping by, int groups, int m, Draw& draw) {
  std::vector<std::int32_t> sizes;
  if (by == gemm::Grouping::KEnds) {
    for (int group = 0; group < groups; ++group)
      sizes.push_back(draw.one_in(4) ? 0 : draw.in(0, m));
    std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
    return sizes;
  }
  if (by == gemm::Grouping::RowIds) {
    for (int row = 0; row < m; ++row)
      sizes.push_back(row % gemm::scale_block == 0 ? draw.in(-1, groups) : sizes.back());
    return sizes;
  }
  for (int group = 0; group < groups; ++group)
    sizes.push_back(draw.one_in(3) ? 0 : draw.in(0, by == gemm::Grouping::Ends ? m / 2 : m));
  if (by == gemm::Grouping::Ends) std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
  return sizes;
}

Groups groups_drawn_for(const gemm::Kernel& row, std::uint64_t seed) {
  Draw draw(seed);
  using enum gemm::Grouping;
  Groups g = {.by = one_of<gemm::Grouping>({Ends, Counts, RowIds}, draw)};
  if (g.by == RowIds && row.cluster_m > 1) g.by = Ends;  // a tile has one group
  if (row.groups_k) g.by = KEnds;
  g.m = draw.in(1, row.block_m * row.cluster_m + 168);
  g.n = draw.in(1, row.block_n + 140);
  g.k = draw.in(1, 2 * row.block_k + row.block_k / 2);
  if (draw.one_in(16)) g.k = 0;
  if (row.scale_vec != tcgen05::ScaleVec::Default) {
    g.k += g.k % 2;
    g.edges = draw.one_in(2);
  }
  g.count = draw.in(1, 4);
  g.sizes = sizes_of(g.by, g.count, row.groups_k ? g.k / 2 : g.m, draw);
  g.activation = static_cast<Activation>(draw.below(activation_count));
  if (draw.one_in(3) || (is_gated(g.activation) && !gates(row))) g.activation = Activation::None;
  if (row.quantized_columns > 0) g.quantized = drawn_quantized(row, seed);
  if (is_gated(g.activation)) g.n += g.n % 2;
  if (makes_codes(row)) g.n = (g.n + 3) / 4 * 4;  // e2m1 is stored by two
  if (!is_gated(g.activation) && draw.one_in(2)) g.beta = one_of<float>({1, 0.5f, -3}, draw);
  if (is_fp8(row.in)) {
    g.in = one_of<Type>({Type::e4m3, Type::e5m2}, draw);
    g.in_b = one_of<Type>({Type::e4m3, Type::e5m2}, draw);
  }
  if (bits(row.in) == 16) g.in = g.in_b = one_of<Type>({Type::bf16, Type::f16}, draw);
  g.out = one_of(outputs_of(g.in.value_or(row.in)), draw);
  draw_majors(row, draw, g);
  g.biased = draw.one_in(2);
  g.pad = one_of<int>({0, 0, 1, 8}, draw) * (makes_codes(row) ? 2 : 1);
  const auto major = [&] { return draw.one_in(2) ? Major::K : Major::MN; };
  if (has_factors(row))
    g.scales = {one_of(scalings_of(row), draw), major(), major(), draw.below(3)};
  g.values = one_of<Values>({Values::Near, Values::Near, Values::Wide, Values::Specials}, draw);
  g.seed = seed;
  return g;
}

TEST_P(TensorDrawn, EveryBitAndNoFinding) {
  const std::uint64_t problems = number_or("TCQ_PROBLEMS", 2 * tensor_table().size());
  const std::uint64_t seed = number_or("TCQ_SEED", 18);
  for (std::uint64_t i = 0; i < problems; ++i) {
    const std::size_t row = i % tensor_table().size();
    if (row % parts != GetParam() || !is_drawn(row)) continue;
    const std::uint64_t own = mix(seed * 1000 + i);
    SCOPED_TRACE("TCQ_SEED=" + std::to_string(seed) + ", problem " + std::to_string(i));
    const gemm::Kernel& kernel = tensor_table()[row];
    const int clusters = static_cast<int>(own % 3) + 1;
    if (kernel.grouped || kernel.groups_k)
      expect_bits(tensor_row(row), groups_drawn_for(kernel, own), clusters);
    else
      expect_bits(tensor_row(row), drawn_for(kernel, own), clusters);
  }
}
INSTANTIATE_TEST_SUITE_P(Parts, TensorDrawn, testing::Range(std::size_t{0}, parts));

}  // namespace
}  // namespace tcq::tests
