// Kernels of our GEMM whose threads load the operands, as nvcc compiles them: lines that begin anywhere, along K and across it,
// batches, and K's end within a chunk. Every bit of D, NaN between the lines and in front of them, and no finding. Skipped
// without nvcc.
#include <fmt/format.h>

#include "sim/num/inputs/draw.h"
#include "tests/run/deleted_synchronisation.h"
#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {
namespace {

class CopyPtx : public CompiledKernels {};

oracle::Gemm drawn_for(const gemm::Kernel& row, Draw& draw) {
  oracle::Gemm g{.m = draw.in(1, row.block_m + 60),
                 .n = draw.in(1, row.block_n + 60),
                 .k = draw.in(1, 3 * row.block_k),
                 .in = row.in,
                 .out = gemm::usual(row.in)};
  g.batch = draw.one_in(3) ? 2 : 1;
  g.major_a = draw.one_in(4) ? Major::MN : Major::K;
  g.major_b = draw.one_in(4) ? Major::MN : Major::K;
  g = with_strides(g, draw.one_in(3) ? 0 : draw.in(1, 40), draw.one_in(3) ? 0 : draw.in(1, 40),
                   draw.in(0, 3));
  if (g.batch > 1 && draw.one_in(2)) g.b.batch = 0;
  return g;
}

void expect_every_bit(const TestKernel& kernel, std::uint64_t seed, int problems) {
  Draw draw(seed);
  for (int i = 0; i < problems; ++i) {
    const oracle::Gemm g = drawn_for(kernel.row, draw);
    const Shifts shifts = {draw.in(0, 15), draw.in(0, 15), draw.in(0, 3)};
    SCOPED_TRACE(name(kernel.row) +
                 fmt::format(" {}x{}x{}, batch {}, majors {}{}, pitches {} {}, shifts {} {}", g.m,
                             g.n, g.k, g.batch, name(g.major_a), name(g.major_b), g.a.ld, g.b.ld,
                             shifts.a, shifts.b));
    GemmKernelRun run(kernel.ptx(), kernel.row,
                      make_case(g, false, Values::Near, draw.word(), shifts), problem_of(g, false),
                      1);
    ASSERT_EQ(run.go(1), Fault::None) << run.run().place();
    ASSERT_EQ(run.differing(), 0u);
  }
}

TEST_F(CopyPtx, LinesThatBeginAnywhereOf16Bits) {
  expect_every_bit(
      TCQ_COPYING(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4), 1, 8);
}

TEST_F(CopyPtx, LinesThatBeginAnywhereOf32Bits) {
  expect_every_bit(
      TCQ_COPYING(Type::tf32, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4), 2, 8);
}

TEST_F(CopyPtx, LinesThatBeginAnywhereOf8Bits) {
  expect_every_bit(
      TCQ_COPYING(Type::s8, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4), 3, 8);
  expect_every_bit(
      TCQ_COPYING(Type::e4m3, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4), 4, 8);
}

struct Launch {
  int m, n, k;
};

// What producer and consumers say to each other; the way out is other kernels', too.
bool is_of_stages(const std::string& line) {
  return synchronises(line) &&
         (line.find("mbarrier.") != line.npos || line.find("fence.proxy.async") != line.npos);
}

TEST_F(CopyPtx, EachDeletedSynchronisationOfStagesIsFound) {
  const TestKernel kernel =
      TCQ_COPYING(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::Together, 1, 1, 4);
  const std::vector<Launch> launches = {{200, 140, 333}, {70, 90, 40}};
  const auto run_of = [&](const std::string& text, const Launch& launch) {
    const oracle::Gemm g = with_strides(
        {.m = launch.m, .n = launch.n, .k = launch.k, .in = Type::bf16, .out = Type::bf16}, 1, 3,
        0);
    return GemmKernelRun(text, kernel.row, make_case(g, false, Values::Near, 7),
                         problem_of(g, false), 1);
  };
  const Deletions done =
      delete_each(kernel.ptx(), std::span<const Launch>(launches), run_of, is_of_stages);
  done.print();
  EXPECT_GE(done.count, done.missed.size() + 6);
  for (const std::string& missed : done.missed)
    EXPECT_NE(missed.find("no launch reaches"), missed.npos) << missed;
}

}  // namespace
}  // namespace tcq::tests
