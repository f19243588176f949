// The GEMM on tcgen05 with a dynamic schedule, as nvcc compiles it for sm_100a: clusters that run take over those that have not
// begun. Its bits, with any number of clusters that begin, no finding, and a finding for statements that synchronise or ask
// once they are deleted. No chip has confirmed any of it. Skipped without nvcc.
#include <array>
#include <string>
#include <utility>

#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"

namespace tcq::tests {
namespace {

using gemm::Scaling;

class TensorDynamic : public TensorKernels {
 protected:
  // One cluster, which takes all others, some, and each tile by a cluster of its own.
  void expect_bits_whoever_begins(const TestKernel& kernel, const Drawn& s) {
    for (const int clusters : {1, 2, 3, 1000}) expect_bits(kernel, s, clusters);
  }
};

#define TCQ_DYNAMIC(IN, N, STAGES, CTAS, PROMOTION)                           \
  TCQ_TENSOR(Type::IN, N, STAGES, Type::IN, tcgen05::ScaleVec::Default, CTAS, \
             gemm::Promotion::PROMOTION, false, 1, false, tcgen05::ScaleVec::Default, true)

const TestKernel one = TCQ_DYNAMIC(bf16, 64, 3, 1, None);
const TestKernel pair = TCQ_DYNAMIC(bf16, 64, 3, 2, None);
const TestKernel promoting = TCQ_DYNAMIC(e4m3, 64, 3, 2, ColumnBlocks);

// Tiles to more than the answers twice round, K to more than all stages; ragged ends, C and bias, a batch.
constexpr std::array launches = {
    Drawn{700, 192, 72}, Drawn{300, 136, 328, 2, Type::bf16, 0.5f, true, Activation::Relu},
    Drawn{100, 256, 64, 1, Type::bf16, 0, true, Activation::Swiglu, 1}};

TEST_F(TensorDynamic, EveryBitWhoeverBegins) {
  for (const Drawn& s : launches) {
    expect_bits_whoever_begins(one, s);
    expect_bits_whoever_begins(pair, s);
  }
}

TEST_F(TensorDynamic, Promoted) {
  Drawn s{600, 200, 400, 1, Type::bf16, 0.5f, true};
  s.scales = {Scaling::Block128};
  expect_bits_whoever_begins(promoting, s);
  s = {260, 136, 130, 2, Type::f32, 0, false, Activation::Silu, 1};
  expect_bits(promoting, s, 2);
}

// Those that are compiled for the device.
TEST_F(TensorDynamic, TheRowsOfTheTable) {
  std::size_t rows = 0;
  for (std::size_t i = 0; i < tensor_table().size(); ++i) {
    const gemm::Kernel& row = tensor_table()[i];
    if (!row.dynamic) continue;
    ++rows;
    Drawn s{.m = 3 * row.block_m * row.cluster_m - 10,
            .n = 2 * row.block_n + 8,
            .k = 200,
            .beta = 0.5f,
            .biased = true};
    if (row.promotion != gemm::Promotion::None) s.scales = {Scaling::Block128};
    expect_bits(tensor_row(i), s, 2);
  }
  EXPECT_EQ(rows, 4u);
}

// How many clusters ran, of nine.
TEST_F(TensorDynamic, ThoseThatBeginTakeAllOthers) {
  for (const int clusters : {1, 2, 9}) {
    GemmKernelRun gemm = run_of(pair.ptx(), pair, launches[0], clusters);
    ASSERT_EQ(gemm.go(), Fault::None);
    EXPECT_EQ(gemm.run().clusters_run(), static_cast<std::uint64_t>(clusters));
  }
}

TEST_F(TensorDynamic, TensorMemoryThatIsNotGivenBackIsFound) {
  expect_leak_found(pair, launches[0]);
}

// Products, answers, and the fence behind the reading of each; asked of one line after the other.
bool schedules(const std::string& line) {
  static bool is_behind_answer = false;
  if (line.find("get_first_ctaid") != line.npos) is_behind_answer = true;
  if (line.find("fence.proxy") != line.npos) return std::exchange(is_behind_answer, false);
  return synchronises_products(line) || line.find("try_cancel.async") != line.npos;
}

TEST_F(TensorDynamic, EachDeletedSynchronisationIsFound) {
  // Who asks reads the answer as well, and asks for it anew behind the fence of the answer between: right moves of its fence, its
  // arrival and its load.
  expect_deletions_found(one, launches, schedules, 28, 0, 3);
}
TEST_F(TensorDynamic, EachDeletedSynchronisationOfPairsIsFound) {
  expect_deletions_found(pair, launches, schedules, 34);
}

}  // namespace
}  // namespace tcq::tests
