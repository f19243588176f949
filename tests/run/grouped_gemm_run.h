// A problem of groups for a kernel of our GEMM, run on the machine: their sizes as the device would have them, wrong ones
// among them; the other values are drawn.
//
// Example: run_grouped_gemm_test.cc; run_tensor_grouped_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/run/gemm_kernel_run.h"
#include "tests/support/tensor_problem.h"

namespace tcq::tests {

struct Groups {
  gemm::Grouping by = gemm::Grouping::Ends;
  std::vector<std::int32_t> sizes = {};
  int count = 0;  // RowIds: of groups
  int m = 0, n = 200, k = 200;
  Type out = Type::bf16;
  Scales scales = {};
  bool edges = false;  // zeros, the largest and NaN among factors of blocks
  Activation activation = Activation::None;
  float beta = 0;
  int pad = 0;  // of D's rows: not 0, TMA may not address it
  int odd = 0;  // the same of operands' lines
  bool biased = true;
  Values values = Values::Near;
  std::uint64_t seed = 31;
  Quantized quantized = {};
  std::optional<Type> in = {};  // instead of the kernel's own
  std::optional<Type> in_b = {};
  std::optional<Major> major_a = {};
  std::optional<Major> major_b = {};
};

inline GemmKernelRun run_of(const std::string& text, const TestKernel& kernel, const Groups& c,
                            int clusters = 1) {
  oracle::Gemm g{.m = c.m, .n = c.n, .k = c.k, .out = c.out};
  g.in = c.in.value_or(kernel.row.in);
  g.batch = c.by == gemm::Grouping::RowIds ? c.count : static_cast<std::int64_t>(c.sizes.size());
  g.activation = c.activation;
  g.beta = c.beta;
  g.in_b = c.in_b.value_or(kernel.row.in_b);
  g.major_a = c.major_a.value_or(kernel.row.major_a);
  g.major_b = c.major_b.value_or(kernel.row.major_b);
  g.promotes = kernel.row.promotion != gemm::Promotion::None;
  g.chain = chain_of(kernel.row);
  const int whole = std::max(elements_in(kernel.row.in, 16), 16);  // TMA wants rows of 16 bytes
  const auto round = [&](Major major, int mn) {
    const int line = major == Major::K ? c.k : mn;
    return (whole - line % whole) % whole + c.odd;
  };
  g = with_quantized(with_strides(g, round(g.major_a, c.m), round(g.major_b, c.n), c.pad),
                     c.quantized);
  if (c.by == gemm::Grouping::KEnds)
    g.a.batch = g.b.batch = 0;
  else if (c.by != gemm::Grouping::Counts)
    g.a.batch = g.c.batch = g.d.batch = g.factors_d.batch_step = 0;
  GemmCase x = make_case(g, c.biased, c.values, c.seed);
  set_codes(x, c.edges);
  if (c.by != gemm::Grouping::Counts) x.gemm.codes_a.batch_step = 0;
  gemm::Problem p = problem_of(g, c.biased);
  p.grouping = c.by;
  set_scaling(p, x, c.scales, 7);
  return {text, kernel.row, std::move(x), p, clusters, c.sizes};
}

// Empty groups, one row, whole tiles, several, one huge; rows of nobody behind the last.
inline const Groups ends = {.sizes = {0, 0, 5, 133, 133, 261, 262, 600, 600}, .m = 640};
inline const Groups counts = {
    .by = gemm::Grouping::Counts, .sizes = {0, 128, 1, 77, 0, 150}, .m = 150};

inline Groups with(Groups g, gemm::Scaling scaling, Type out = Type::bf16) {
  g.scales = {scaling, Major::MN, Major::K, 1};
  g.out = out;
  return g;
}

inline Groups odd(Groups g, int elements) {
  g.odd = elements;
  return g;
}

inline Groups turned(Groups g, Major major_a, Major major_b) {
  g.major_a = major_a;
  g.major_b = major_b;
  return g;
}

// Along K: empty groups, one of a single k, ends within a block and an instruction, at either's end, one behind K.
inline const Groups along_k = {.by = gemm::Grouping::KEnds,
                               .sizes = {0, 1, 1, 64, 200, 208, 335, 340, 640, 700},
                               .m = 200,
                               .n = 136,
                               .k = 656};

// Numbers of rows: groups of 128 rows, nobody's between.
inline Groups numbered(int m) {
  Groups out = {.by = gemm::Grouping::RowIds, .count = 3, .m = m};
  for (int row = 0; row < m; ++row) {
    const int numbers[] = {2, -1, 0, 0, 3, 1};  // there is no group 3
    out.sizes.push_back(numbers[row / 128 % 6]);
  }
  return out;
}

// 100 groups: more than a warp looks at in one go.
inline Groups many_groups() {
  Groups many = {.m = 500, .n = 64, .k = 64};
  for (int i = 0; i < 100; ++i) many.sizes.push_back(i < 40 ? 0 : i < 96 ? 3 * (i - 40) : 500);
  return many;
}

// Out of order, below 0, beyond A: nothing outside is touched, whatever they say; of rows that two groups claim any may be
// the last, on one cluster the later one.
inline std::vector<Groups> wrong_sizes() {
  return {{.sizes = {-7, 100, 1 << 30, 900}, .m = 200},
          {.by = gemm::Grouping::Counts, .sizes = {-1, 1 << 30, 3}, .m = 130},
          {.sizes = {0, 0, 0}, .m = 200},
          {.sizes = {-5}, .m = 1}};
}

}  // namespace tcq::tests
