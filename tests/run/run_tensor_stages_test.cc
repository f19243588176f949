// The stages of the first hour on a chip (tests/blackwell), without one: what they run, that it can be planned, as one
// CTA's or pair's work where they say so, and the first of them on the machine.
#include <set>
#include <string>
#include <utility>

#include "tests/blackwell/stage_cases.h"
#include "tests/run/tensor_gemm_run.h"
#include "tests/run/tensor_rows.h"
#include "tests/support/effort.h"

namespace tcq::tests {
namespace {

class TensorStages : public TensorKernels {};

constexpr Stage last_stage = Stage::Dynamic;

gemm::Plan planned(const StageCase& c) {
  const gemm::Kernel& row = tensor_table()[c.row];
  TensorCase made = case_of(row, c.drawn);
  made.problem.sm_limit = c.sm_limit;
  EXPECT_EQ(gemm::check(made.problem), gemm::Status::Ok) << text_of(c, row);
  gemm::Plan plan;
  EXPECT_EQ(tensor_plan(made.problem, plan, b200, &row), gemm::Status::Ok) << text_of(c, row);
  return plan;
}

TEST(TensorStage, EachRowHasAStageAndEachStageItsCases) {
  std::set<std::size_t> rows;
  for (int i = 0; i < gemm_stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    std::set<std::size_t> own;
    for (const StageCase& c : cases_of(stage, tensor_table())) own.insert(c.row);
    EXPECT_FALSE(own.empty());
    if (stage == Stage::OneTile) continue;  // its rows come again
    for (const std::size_t row : own) EXPECT_TRUE(rows.insert(row).second) << row;
  }
  for (std::size_t i = 0; i < tensor_table().size(); ++i)
    EXPECT_EQ(rows.contains(i), !tensor_table()[i].grouped && !tensor_table()[i].groups_k) << i;
  EXPECT_EQ(static_cast<int>(last_stage) + 1, gemm_stage_count);
}

TEST(TensorStage, OneTileOfEachKindBeginsAll) {
  std::set<Type> types;
  for (const StageCase& c : cases_of(Stage::OneTile, tensor_table())) {
    const gemm::Kernel& row = tensor_table()[c.row];
    EXPECT_TRUE(types.insert(row.in).second) << text_of(c, row);
    const gemm::Plan plan = planned(c);
    EXPECT_EQ(gemm::tiles_of(plan.aligned.schedule), 1);
    EXPECT_EQ(plan.aligned.k_blocks, 1);
    EXPECT_EQ(gemm::cluster_size(row), 1);
  }
  EXPECT_EQ(types, (std::set<Type>{Type::bf16, Type::tf32, Type::e4m3, Type::s8}));
}

TEST(TensorStage, AllIsOneClustersWork) {
  for (int i = 0; i < gemm_stage_count; ++i)
    for (const StageCase& c : cases_of(static_cast<Stage>(i), tensor_table())) {
      const gemm::Kernel& row = tensor_table()[c.row];
      const gemm::Launch launch = planned(c).aligned;
      EXPECT_EQ(launch.kernel, &row);
      EXPECT_TRUE(launch.clusters == 1 || row.split > 1 || row.dynamic) << text_of(c, row);
      if (c.what.find("ring") != c.what.npos) {
        EXPECT_GT(launch.k_blocks / row.split, row.stages);
      }
      if (c.what.find("six") != c.what.npos) {
        EXPECT_EQ(gemm::tiles_of(launch.schedule), 6) << text_of(c, row);
      }
    }
}

TEST(TensorStage, TheLibraryPlansWhatIsDrawnForIt) {
  std::set<const gemm::Kernel*> planned;
  const auto rows = static_cast<int>(tensor_table().size());
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(effort(rows)); ++i) {
    const gemm::Kernel& row = tensor_table()[i];
    const gemm::Problem p = library_case(row, mix(i)).problem;
    EXPECT_EQ(gemm::check(p), gemm::Status::Ok) << i;
    gemm::Plan plan;
    EXPECT_EQ(tensor_plan(p, plan), gemm::Status::Ok) << i;
    planned.insert(plan.aligned.kernel);
  }
  EXPECT_GE(planned.size(), static_cast<std::size_t>(effort(rows)) / 5);
}

TEST(TensorStage, KindsThatAChipDoesNotHave) {
  for (const gemm::Kernel& row : tensor_table()) {
    EXPECT_TRUE(exists_on(row, 0));
    EXPECT_EQ(exists_on(row, 3), is_float(row.in));
  }
}

TEST_F(TensorStages, TheFirstOnTheMachine) {
  for (const StageCase& c : cases_of(Stage::OneTile, tensor_table()))
    expect_bits(tensor_row(c.row), c.drawn);
}

}  // namespace
}  // namespace tcq::tests
