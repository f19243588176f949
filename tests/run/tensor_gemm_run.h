// A problem for the GEMM on tcgen05, drawn and run on the machine with the kernel's own configuration: which bits of D
// differ, what is found, also once statements are deleted.
//
// Example: run_tensor_gemm_test.cc; run_block_scaled_gemm_test.cc; run_tensor_promote_test.cc; of groups
// run_tensor_grouped_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "tests/run/deleted_synchronisation.h"
#include "tests/support/scale_codes.h"

namespace tcq::tests {

struct Drawn {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  Type out = Type::f32;
  float beta = 0;
  bool biased = false;
  Activation activation = Activation::None;
  int pad = 0;  // of D's rows: not 0, TMA cannot address it
  Scales scales = {};
  float alpha = 1;
  bool edges = false;  // zeros, the largest and NaN among scale factors
  Values values = Values::Near;
  std::uint64_t seed = 17;
  std::optional<Type> in = {};  // instead of the kernel's own
  std::optional<Type> in_b = {};
};

inline oracle::Gemm gemm_of(const TestKernel& kernel, const Drawn& s) {
  oracle::Gemm g{.m = s.m, .n = s.n, .k = s.k, .batch = s.batch, .out = s.out};
  g.in = s.in.value_or(kernel.row.in);
  g.in_b = s.in_b.value_or(kernel.row.in_b);
  g.major_a = kernel.row.major_a;
  g.major_b = kernel.row.major_b;
  g.alpha = s.alpha;
  g.beta = s.beta;
  g.activation = s.activation;
  g.promotes = kernel.row.promotion != gemm::Promotion::None;
  g.chain = chain_of(kernel.row);
  // TMA wants rows of 16 bytes.
  const auto of_16 = [&](Major major, std::int64_t mn) {
    const std::int64_t row = major == Major::K ? s.k : mn;
    const int elements = elements_in(g.in, 16);
    return static_cast<int>((elements - row % elements) % elements);
  };
  return with_strides(g, of_16(g.major_a, s.m), of_16(g.major_b, s.n), s.pad);
}

inline GemmKernelRun run_of(const std::string& text, const TestKernel& kernel, const Drawn& s,
                            int ctas = 1) {
  const oracle::Gemm g = gemm_of(kernel, s);
  GemmCase x = make_case(g, s.biased, s.values, s.seed);
  if (is_block_scaled(g)) {
    x.gemm.factors_a = code_steps(g, g.m);
    x.gemm.factors_b = code_steps(g, g.n);
    x.sfa = random_codes(g, g.m, s.edges, 3);
    x.sfb = random_codes(g, g.n, s.edges, 4);
  }
  gemm::Problem p = problem_of(g, s.biased);
  set_scaling(p, x, s.scales, 7);
  return {text, kernel.row, std::move(x), p, ctas};
}

// The epilogue's own are the functions that run_tensor_gemm_test.cc deletes from on every way out.
inline bool synchronises_products(const std::string& line) {
  for (const char* word : {"bar.sync", "commit_group", "wait_group", "fence.proxy"})
    if (line.find(word) != line.npos) return false;
  return synchronises(line) || line.find("barrier.cluster.") != line.npos;
}

class TensorKernels : public CompiledKernels {
 protected:
  // `clusters` share the tiles.
  template <class Launch = Drawn>
  void expect_bits(const TestKernel& kernel, const Launch& s, int clusters = 1) {
    SCOPED_TRACE(name(kernel.row) + ": " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                 std::to_string(s.k));
    GemmKernelRun gemm = run_of(kernel.ptx(), kernel, s, clusters);
    const Fault fault = gemm.go(1);
    ASSERT_EQ(fault, Fault::None) << info(fault).name << ": " << gemm.run().place();
    EXPECT_EQ(gemm.differing(), 0u);
    for (const machine::Finding& f : gemm.run().report().suspicions)
      EXPECT_EQ(f.fault, Fault::WaitForNothing) << info(f.fault).name;
  }

  template <class Launch = Drawn>
  void expect_leak_found(const TestKernel& kernel, const Launch& s) {
    std::string text = kernel.ptx();
    const std::size_t at = text.find("tcgen05.dealloc");
    ASSERT_NE(at, text.npos);
    text.erase(at, text.find(';', at) + 1 - at);
    EXPECT_TRUE(is_found(run_of(text, kernel, s)));
  }

  template <class Launches>
  void expect_deletions_found(const TestKernel& kernel, const Launches& launches,
                              bool (*which)(const std::string&) = synchronises,
                              std::size_t least = 21, std::size_t besides = 0) {
    using Launch = std::ranges::range_value_t<Launches>;
    const Deletions done = delete_each(
        kernel.ptx(), std::span<const Launch>(launches),
        [&](const std::string& text, const Launch& s) { return run_of(text, kernel, s); }, which);
    EXPECT_GE(done.count, least);
    done.print();
    // Not counted: the producer's last waits, one for each stage. To the machine a commit's arrival is never later than
    // that of the commit behind it, which the epilogue has waited for.
    const auto last_waits = static_cast<std::size_t>(kernel.row.stages);
    EXPECT_LE(done.missed.size(), last_waits + done.count / 50 + besides);
  }
};

}  // namespace tcq::tests
