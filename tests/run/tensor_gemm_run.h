// A problem for the GEMM on tcgen05, drawn and run on the machine with the kernel's own configuration: which bits of D
// differ, what is found, also once statements are deleted or moved.
//
// Example: run_tensor_gemm_test.cc; run_block_scaled_gemm_test.cc; run_tensor_promote_test.cc; of groups
// run_tensor_grouped_test.cc.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "tests/run/moved_synchronisation.h"
#include "tests/support/tensor_problem.h"

namespace tcq::tests {

inline GemmKernelRun run_of(const std::string& text, const TestKernel& kernel, const Drawn& s,
                            int ctas = 1) {
  TensorCase made = case_of(kernel.row, s);
  return {text, kernel.row, std::move(made.x), made.problem, ctas};
}

// The epilogue's own are the functions that run_tensor_gemm_test.cc deletes from on every way out.
inline bool synchronises_products(const std::string& line) {
  for (const char* word : {"bar.sync", "commit_group", "wait_group", "fence.proxy"})
    if (line.find(word) != line.npos) return false;
  return synchronises(line) || line.find("barrier.cluster.") != line.npos;
}

inline bool stores_d(const std::string& line) {
  return line.find("bar.sync") != line.npos || line.find("fence.proxy.async") != line.npos ||
         line.find("cp.async.bulk.commit_group") != line.npos ||
         line.find("cp.async.bulk.wait_group") != line.npos;
}

class TensorKernels : public CompiledKernels {
 protected:
  // `clusters` share the tiles.
  template <class Launch = Drawn>
  void expect_bits(const TestKernel& kernel, const Launch& s, int clusters = 1) {
    SCOPED_TRACE(name(kernel.row) + ": " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                 std::to_string(s.k));
    GemmKernelRun gemm = run_of(kernel.ptx(), kernel, s, clusters);
    const Fault fault = gemm.go(1, 20'000'000);
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

  // And moves. `besides`: deletions that leave a kernel right, `right_moves`: moves that do.
  template <class Launches>
  void expect_deletions_found(const TestKernel& kernel, const Launches& launches,
                              bool (*which)(const std::string&) = synchronises,
                              std::size_t least = 21, std::size_t besides = 0,
                              std::size_t right_moves = 0) {
    using Launch = std::ranges::range_value_t<Launches>;
    const std::string ptx = kernel.ptx();
    const std::span<const Launch> all(launches);
    const auto run = [&](const std::string& text, const Launch& s) {
      return run_of(text, kernel, s);
    };
    const Deletions deleted = delete_each(ptx, all, run, which);
    deleted.print();
    EXPECT_GE(deleted.count, least);
    EXPECT_LE(deleted.missed.size(), deleted.count / 50 + besides);
    const Deletions moved = move_each(ptx, all, run, which);
    moved.print("moved");
    EXPECT_GE(moved.count, least / 4);
    EXPECT_LE(moved.missed.size(), right_moves);
  }
};

}  // namespace tcq::tests
