// The emission protocol over PTX streams: what the rules say, and what a published description of
// them (errata 004) gets wrong.
#include "oracle/emission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracle/answer.h"
#include "tests/ask.h"

namespace tcq::oracle {
namespace {

constexpr const char* fence = "wgmma.fence.sync.aligned;";
constexpr const char* commit = "wgmma.commit_group.sync.aligned;";

std::string wait(int n) { return "wgmma.wait_group.sync.aligned " + std::to_string(n) + ";"; }

// m64n8k16 on four registers from `first` on.
std::string mma(int first, bool accumulate, const std::string& shape = "m64n8k16") {
  const std::string f = "%f" + std::to_string(first) + "..%f" + std::to_string(first + 3);
  const bool half = shape.ends_with("k16");
  return "wgmma.mma_async.sync.aligned." + shape + (half ? ".f32.f16.f16" : ".f32.e4m3.e4m3") +
         " {" + f + "}, %rd1, %rd2, " + (accumulate ? "1" : "0") + ", 1, 1" +
         (half ? ", 0, 0;" : ";");
}

using Lines = std::vector<std::string>;

std::vector<EmissionFinding> check(const Lines& lines) {
  return check_emission(lines, Target::sm_90a);
}

// Faults with their lines; notes left out.
std::vector<std::pair<std::size_t, Fault>> faults(const Lines& lines) {
  std::vector<std::pair<std::size_t, Fault>> found;
  for (const EmissionFinding& f : check(lines))
    if (f.fault != Fault::None) found.emplace_back(f.line, f.fault);
  return found;
}

using Found = std::vector<std::pair<std::size_t, Fault>>;

TEST(Emission, TheFourOperationsAreRight) {
  EXPECT_EQ(faults({fence, mma(0, false), mma(0, true), commit, wait(0), "add.f32 %f9, %f0, %f1;"}),
            Found{});
}

TEST(Emission, CountsAreFree) {
  // Several fences, groups and waits (errata 004.14).
  EXPECT_EQ(faults({fence, mma(0, false), commit, mma(4, false), commit, wait(1),
                    "add.f32 %f20, %f0, %f1;", fence, mma(0, true), commit, wait(0)}),
            Found{});
}

TEST(Emission, WaitGroupLeavesTheYoungestInFlight) {
  const Lines lines = {fence,
                       mma(0, false),
                       commit,
                       mma(4, false),
                       commit,
                       wait(1),
                       "mov.f32 %f20, %f0;",
                       "mov.f32 %f21, %f4;"};
  EXPECT_EQ(faults(lines), (Found{{8, Fault::AccumulatorInFlight}}));
}

TEST(Emission, TheFenceOrdersRegisters) {
  EXPECT_EQ(faults({fence, "mov.f32 %f0, 0f00000000;", "mov.f32 %f1, 0f00000000;",
                    "mov.f32 %f2, 0f00000000;", "mov.f32 %f3, 0f00000000;", mma(0, true), commit,
                    wait(0)}),
            (Found{{6, Fault::WgmmaFenceMissing}}));
  EXPECT_EQ(faults({mma(0, false), commit, wait(0)}), (Found{{1, Fault::WgmmaFenceMissing}}));
}

TEST(Emission, WithoutACommitNoWaitCovers) {
  const auto found = check({fence, mma(0, false), wait(0), "st.global.f32 [%rd9], %f2;"});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].line, 4u);
  EXPECT_EQ(found[0].fault, Fault::WgmmaUncommitted);
  EXPECT_NE(found[0].text.find("%f2; line 2"), std::string::npos) << found[0].text;
}

// "%f00" and numbers beyond any count are names like others.
TEST(Emission, RegistersMayHaveStrangeNames) {
  const std::string strange =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
      "{%f00, %f01, %f02, %f99999999999}, %rd1, %rd2, 0, 1, 1, 0, 0;";
  EXPECT_EQ(faults({fence, strange, commit, "mov.f32 %f20, %f01;"}),
            (Found{{4, Fault::AccumulatorInFlight}}));
}

TEST(Emission, ShapesThatDifferNeedAFence) {
  EXPECT_EQ(faults({fence, mma(0, false), mma(0, true, "m64n8k32"), commit, wait(0)}),
            (Found{{3, Fault::WgmmaShapeChange}}));
  EXPECT_EQ(faults({fence, mma(0, false), fence, mma(0, true, "m64n8k32"), commit, wait(0)}),
            Found{});
}

TEST(Emission, FragmentsOfALiveUntilTheWait) {
  const std::string rs =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, {%r0,%r1,%r2,%r3}, %rd2, 0, "
      "1, "
      "1, 0;";
  const Lines set = {"mov.b32 %r0, 1;", "mov.b32 %r1, 1;", "mov.b32 %r2, 1;", "mov.b32 %r3, 1;"};
  Lines lines = set;
  lines.insert(lines.end(), {fence, rs, commit, "mov.b32 %r2, 7;", wait(0)});
  EXPECT_EQ(faults(lines), (Found{{8, Fault::FragmentInFlight}}));
  std::swap(lines[7], lines[8]);
  EXPECT_EQ(faults(lines), Found{});
}

TEST(Emission, TheFirstStepMustNotAccumulate) {
  EXPECT_EQ(faults({fence, mma(0, true), commit, wait(0)}),
            (Found{{2, Fault::RegisterUninitialized}}));
  // A predicate may be false.
  std::string unknown = mma(0, true);
  unknown.replace(unknown.find(", 1, 1, 1"), 4, ", %p1,");
  EXPECT_EQ(faults({fence, mma(0, false), commit, wait(0)}), Found{});
}

TEST(Emission, ShapesAndTargetsAreThoseOfCheck) {
  EXPECT_EQ(faults({fence, mma(0, false, "m64n12k16"), commit, wait(0)})[0].second, Fault::ShapeN8);
  const Lines lines = {fence};
  EXPECT_EQ(check_emission(lines, Target::sm_90)[0].fault, Fault::TargetLacksWgmma);
  EXPECT_EQ(faults({"wgmma.fence.aligned;"})[0].second, Fault::SyncMissing);
}

TEST(Emission, WhatIsMerelySlowIsNamed) {
  EXPECT_EQ(faults({fence, fence, mma(0, false), commit, wait(0), "mov.f32 %f9, %f0;"}),
            (Found{{1, Fault::FenceUnneeded}, {2, Fault::FenceUnneeded}}));
  EXPECT_EQ(faults({fence, mma(0, false), commit, wait(0), mma(4, false), commit, wait(0),
                    "mov.f32 %f9, %f0;", "mov.f32 %f10, %f4;"}),
            (Found{{4, Fault::WaitTooStrong}}));
}

TEST(Emission, OverlappingAccumulatorsAreSerialized) {
  EXPECT_EQ(faults({fence, mma(0, false), mma(2, false), commit, wait(0)}),
            (Found{{3, Fault::WgmmaSerialized}}));
}

TEST(Emission, LabelsDirectivesAndCommentsAreSteppedOver) {
  const auto found = check({".reg .f32 %f<8>;", "// nothing", "", "loop:", fence, mma(0, false),
                            commit, wait(0), "@%p1 bra loop;"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fault, Fault::None);
  EXPECT_NE(found[0].text.find("straight-line"), std::string::npos);
}

TEST(Emission, TheEndOfTheStreamIsLookedAt) {
  EXPECT_NE(check({fence, mma(0, false)})[0].text.find("in no group"), std::string::npos);
  EXPECT_NE(check({fence, mma(0, false), commit})[0].text.find("in flight"), std::string::npos);
}

TEST(Emission, AnswersHaveOneLinePerFindingAndAStatus) {
  const Question question{"emission", {}, {}};
  const Lines wrong = {mma(0, false), commit, wait(0)};
  const Answer answer = answer_stream(question, wrong);
  EXPECT_EQ(answer.status, Status::No);
  EXPECT_TRUE(answer.text.starts_with("1\tundefined\tWgmmaFenceMissing: ")) << answer.text;
  const Lines right = {fence, mma(0, false), commit, wait(0)};
  EXPECT_EQ(answer_stream(question, right).status, Status::Yes);
  EXPECT_EQ(answer_stream(question, right).text, "");
  const Lines slow = {fence, fence, mma(0, false), commit, wait(0)};
  EXPECT_EQ(answer_stream(question, slow).status, Status::Yes);
  const Lines many(max_emission_lines + 1, fence);
  EXPECT_EQ(answer_stream(question, many).status, Status::Usage);
}

}  // namespace
}  // namespace tcq::oracle
