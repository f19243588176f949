// Our own GEMM, as nvcc compiles it: its bits, no finding but the documented ones, and a finding for each statement
// that synchronises once it is deleted. FP8: run_fp8_gemm_test.cc. Skipped without nvcc.
#include <algorithm>

#include "tests/run/deleted_synchronisation.h"
#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {
namespace {

// The ways that D can take out of the kernel: the product's own; or of its usual type or f32, by TMA or threads, a
// column of D for each of the product's or for two.
struct WayOut {
  bool wide = false;
  bool by_threads = false;
  bool gated = false;
  bool biased = false;
  Activation activation = Activation::None;
  int pad_c = -1;  // between rows of C; below 0 there is none
};

struct Size {
  int m = 128, n = 128, k = 128;
  WayOut way = {.wide = true};
  int batch = 1;
};

GemmKernelRun run_of(const std::string& text, const TestKernel& kernel, const Size& s) {
  oracle::Gemm g{.m = s.m,
                 .n = s.n,
                 .k = s.k,
                 .batch = s.batch,
                 .in = Type::bf16,
                 .out = Type::bf16,
                 .major_a = kernel.row.major_a,
                 .major_b = kernel.row.major_b};
  if (s.way.wide) g.out = Type::f32;
  g.activation = s.way.gated ? Activation::Swiglu : s.way.activation;
  if (s.way.pad_c >= 0) g.beta = 0.5f;
  g = with_strides(g, 0, 0, s.way.by_threads ? 1 : 0, std::max(s.way.pad_c, 0));
  return {text, kernel.row, make_case(g, s.way.biased, Values::Near, 17),
          problem_of(g, s.way.biased), 1};
}

// bf16, both K-major, 128 x 128 tiles.
const TestKernel alone =
    TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 1, 4);
const TestKernel pair =
    TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 128, gemm::Turns::PingPong, 1, 2, 4);

class GemmPtx : public CompiledKernels {};

TEST_F(GemmPtx, EveryBitAndNoFinding) {
  for (const Size& s : {Size{128, 128, 64}, Size{128, 256, 512}, Size{200, 136, 328}}) {
    GemmKernelRun gemm = run_of(alone.ptx(), alone, s);
    ASSERT_EQ(gemm.go(2), Fault::None) << gemm.run().place();
    EXPECT_EQ(gemm.differing(), 0u) << s.m << 'x' << s.n << 'x' << s.k;
    for (const machine::Finding& f : gemm.run().report().suspicions)
      EXPECT_EQ(f.fault, Fault::WaitForNothing) << info(f.fault).name;
  }
}

// cuda/NOTES.md says what it costs to be in the right here, and what the machine says of it.
TEST_F(GemmPtx, TheRelaxedArrivalsOfAClusterAreFound) {
  const Size s{128, 256, 384};
  EXPECT_EQ(run_of(pair.ptx(), pair, s).go(), Fault::ReleaseMissing);
  const std::string released = replaced(pair.ptx(), "arrive.relaxed.cluster.shared::cluster",
                                        "arrive.release.cluster.shared::cluster");
  GemmKernelRun narrow = run_of(released, pair, s);
  ASSERT_EQ(narrow.go(), Fault::None) << narrow.run().place();
  EXPECT_EQ(narrow.differing(), 0u);
  const auto& disputed = narrow.run().report().suspicions;
  EXPECT_TRUE(std::any_of(disputed.begin(), disputed.end(), [](const machine::Finding& f) {
    return f.fault == Fault::ScopeAssumed;
  }));
  GemmKernelRun right = run_of(with_releases(pair.ptx()), pair, s);
  ASSERT_EQ(right.go(2), Fault::None) << right.run().place();
  EXPECT_EQ(right.differing(), 0u);
}

// Few rows and few columns, K split, tokens or weights multicast: with a cluster's arrivals as they should be.
TEST_F(GemmPtx, EveryBitOfFewRowsAndColumns) {
  const TestKernel rows = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Rows, 1, 16, 1, 7);
  const TestKernel split = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Rows, 2, 64, 3, 4);
  const TestKernel peers = TCQ_SKINNY(2, 1, Type::bf16, gemm::Skinny::Rows, 2, 32, 2, 4);
  const TestKernel mates = TCQ_SKINNY(1, 2, Type::bf16, gemm::Skinny::Rows, 2, 40, 2, 4);
  const TestKernel three = TCQ_SKINNY(1, 2, Type::bf16, gemm::Skinny::Rows, 3, 56, 2, 4);
  const TestKernel columns = TCQ_SKINNY(1, 1, Type::bf16, gemm::Skinny::Columns, 1, 32, 2, 4);
  for (const TestKernel& kernel : {rows, split, peers, mates, three, columns}) {
    for (const WayOut& way : {WayOut{}, WayOut{.wide = true, .by_threads = true},
                              WayOut{.gated = true, .biased = true}}) {
      GemmKernelRun gemm = run_of(with_releases(kernel.ptx()), kernel, {70, 200, 456, way});
      ASSERT_EQ(gemm.go(1), Fault::None) << name(kernel.row) << ": " << gemm.run().place();
      EXPECT_EQ(gemm.differing(), 0u) << name(kernel.row);
    }
  }
}

// Several to a consumer, by CTAs of which two share an SM.
TEST_F(GemmPtx, EveryBitOfTinyProducts) {
  const TestKernel k_major =
      TCQ_TWO_OF_AN_SM(Type::bf16, Major::K, Major::K, 64, 64, gemm::Turns::PingPong, 1, 1, 5);
  const TestKernel mn_major =
      TCQ_TWO_OF_AN_SM(Type::bf16, Major::MN, Major::MN, 64, 64, gemm::Turns::PingPong, 1, 1, 5);
  for (const TestKernel* kernel : {&k_major, &mn_major})
    for (const WayOut& way :
         {WayOut{}, WayOut{.wide = true, .by_threads = true}, WayOut{.gated = true, .biased = true},
          WayOut{.biased = true, .activation = Activation::Gelu, .pad_c = 2}}) {
      GemmKernelRun gemm = run_of(kernel->ptx(), *kernel, {40, 24, 72, way, 7});
      ASSERT_EQ(gemm.go(1), Fault::None) << name(kernel->row) << ": " << gemm.run().place();
      EXPECT_EQ(gemm.differing(), 0u) << name(kernel->row);
    }
}

// C by blocks of 8 columns, by two, by one, and of f32; activations in passes that the registers of a tile do not fill.
TEST_F(GemmPtx, EveryBitOfCAndOfActivations) {
  using enum Activation;
  const TestKernel wide =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 128, 176, gemm::Turns::PingPong, 1, 1, 3);
  const TestKernel three =
      TCQ_LARGE(Type::bf16, Major::K, Major::K, 192, 112, gemm::Turns::Together, 1, 1, 4);
  for (const TestKernel* kernel : {&alone, &wide, &three})
    for (const WayOut& way :
         {WayOut{.biased = true, .activation = Gelu, .pad_c = 0},
          WayOut{.activation = Silu, .pad_c = 2}, WayOut{.activation = GeluErf, .pad_c = 1},
          WayOut{.wide = true, .activation = Relu, .pad_c = 0}, WayOut{.pad_c = 8},
          WayOut{.gated = true}}) {
      GemmKernelRun gemm = run_of(kernel->ptx(), *kernel, {200, 328, 72, way});
      ASSERT_EQ(gemm.go(1), Fault::None) << name(kernel->row) << ": " << gemm.run().place();
      EXPECT_EQ(gemm.differing(), 0u) << name(kernel->row) << name(way.activation) << way.pad_c;
    }
}

// Several tiles to a consumer, whose buffers are used again, and every number of instructions in the last block of K.
constexpr std::array launches = {
    Size{128, 256, 640, {.wide = true}},
    Size{256, 512, 80, {}},
    Size{256, 512, 96, {.biased = true}},
    Size{256, 512, 112, {.by_threads = true}},
    Size{256, 512, 64, {.wide = true}},
    Size{256, 512, 64, {.wide = true, .by_threads = true}},
    Size{256, 512, 64, {.gated = true}},
    Size{256, 512, 64, {.by_threads = true, .gated = true}},
    Size{256, 512, 64, {.wide = true, .gated = true}},
    Size{256, 512, 64, {.wide = true, .by_threads = true, .gated = true}}};

TEST_F(GemmPtx, NoWayOutHasAFinding) {
  for (const Size& s : launches) {
    GemmKernelRun gemm = run_of(alone.ptx(), alone, s);
    ASSERT_EQ(gemm.go(1), Fault::None) << gemm.run().place();
    EXPECT_EQ(gemm.differing(), 0u);
  }
}

TEST_F(GemmPtx, EachDeletedSynchronisationIsFound) {
  const Deletions done =
      delete_each(alone.ptx(), std::span<const Size>(launches),
                  [](const std::string& text, const Size& s) { return run_of(text, alone, s); });
  EXPECT_GT(done.count, 20u);
  done.print();
  // 182 of 185, at least 98 of 100 are wanted. Open: fences before the products of a last block of fewer instructions,
  // which nothing between needs.
  EXPECT_LE(done.missed.size() * 50, done.count);
}

}  // namespace
}  // namespace tcq::tests
