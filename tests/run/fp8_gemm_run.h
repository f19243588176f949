// A drawn FP8 problem for a kernel of our GEMM, run on the machine: every scaling, epilogue and way D is left.
//
// Example: run_fp8_gemm_test.cc; run_quantized_gemm_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tests/run/gemm_kernel_run.h"
#include "tests/support/gemm_problem.h"

namespace tcq::tests {

struct Fp8Case {
  int m = 128, n = 128, k = 256;
  Type out = Type::bf16;
  Scales scales = {};
  bool promotes = false;
  bool has_bias = false;
  float alpha = 1, beta = 0;
  Activation activation = Activation::None;
  int pad_d = 0;
  int batch = 1;
  Quantized quantized = {};
  Values values = Values::Near;
  int clusters = 1;  // that share the tiles
};

// A cluster's arrivals are as they should be.
inline std::string text_of(const TestKernel& kernel) {
  return gemm::cluster_size(kernel.row) == 1 ? kernel.ptx() : with_releases(kernel.ptx());
}

inline GemmKernelRun run_of(const std::string& text, const TestKernel& kernel, const Fp8Case& c) {
  oracle::Gemm g{.m = c.m, .n = c.n, .k = c.k, .batch = c.batch, .in = kernel.row.in, .out = c.out};
  g.in_b = kernel.row.in_b;
  g.alpha = c.alpha;
  g.beta = c.beta;
  g.activation = c.activation;
  g.promotes = c.promotes;
  const int round = (16 - c.k % 16) % 16;  // TMA wants rows of 16 bytes
  g = with_quantized(with_strides(g, round, round, c.pad_d, 3), c.quantized);
  GemmCase x = make_case(g, c.has_bias, c.values, 99 + static_cast<std::uint64_t>(c.m));
  gemm::Problem p = problem_of(g, c.has_bias);
  set_scaling(p, x, c.scales, 7);
  return {text, kernel.row, std::move(x), p, c.clusters};
}

// Bits and findings of one kernel on one case.
inline void expect_right(const TestKernel& kernel, Fp8Case c, int clusters = 1, int explore = 0) {
  c.clusters = clusters;
  GemmKernelRun run = run_of(text_of(kernel), kernel, c);
  const Fault fault = run.go(static_cast<std::uint64_t>(explore));
  ASSERT_EQ(fault, Fault::None) << info(fault).name << run.run().place();
  EXPECT_EQ(run.differing(), 0u) << name(kernel.row) << ": " << c.m << 'x' << c.n << 'x' << c.k;
  EXPECT_EQ(run.flags_left(), 0u);
  for (const machine::Finding& f : run.run().report().suspicions)
    EXPECT_EQ(f.fault, Fault::WaitForNothing) << info(f.fault).name;
}

}  // namespace tcq::tests
