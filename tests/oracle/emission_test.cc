// The emission protocol over PTX streams: what the rules say, and what a published description of
// them (errata 004) gets wrong.
#include "oracle/ptx/emission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "tests/oracle/emission_kit.h"
#include "tests/support/ask.h"
#include "tests/support/effort.h"

namespace tcq::oracle {
namespace {

using namespace emission_kit;

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

// ---- What is not followed -----------------------------------------------------------------------

TEST(Emission, SilenceIsNotYes) {
  const std::string legal_mma = mma(0, false);
  for (const Lines& lines : std::vector<Lines>{
           {},
           {""},
           {"// " + legal_mma},
           {"hello world"},
           {"add.f32 %f0, %f1, %f2;"},
           {fence, commit, wait(0)},
           {"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r3, 1;",
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r0];"},
           {fence, legal_mma, commit, wait(0), "tcgen05.wait::ld.sync.aligned;"},
           {fence, legal_mma},
           {fence, legal_mma, commit},
           {fence, legal_mma, commit, wait(256)},
           {fence, legal_mma, commit, wait(256), wait(0)},
           {fence, legal_mma, commit, wait(0), "frobnicate.b32 %r1, %r2;"},
           {fence, legal_mma, commit, wait(0), "call.uni f, ();"},
           {fence, legal_mma, commit, wait(0), "@%p1 bra nowhere;"},
           {fence, legal_mma, commit, wait(0), "brx.idx %r1, table;"},
           {fence, "@%p1 " + legal_mma, commit, wait(0)},
           {fence, legal_mma, commit, wait(0), "}"},
           {fence, legal_mma, commit, wait(0), "mov.b32 {%r1, %r2;"},
           {fence, legal_mma, commit, "st.shared.b32 [%r1], %r2;", wait(0)},
           {fence, legal_mma, commit, "mbarrier.arrive.shared.b64 _, [%r1];", wait(0)},
           {".target sm_80", fence, legal_mma, commit, wait(0)},
           {".func f () {", fence, legal_mma, commit, wait(0), "ret; }"}}) {
    const Answer answer = answer_stream(Question{"emission", {}, {}}, lines);
    EXPECT_EQ(answer.status, Status::Unmodelled) << lines.size() << "\n" << answer.text;
    EXPECT_NE(answer.text.find("unmodelled\t"), std::string::npos);
  }
}

// What is not followed is named at its line, and nothing is concluded from it.
TEST(Emission, WhatIsNotFollowedMayHaveDoneAnything) {
  const auto found = check({"WGMMA_FENCE();", mma(0, true), commit, wait(0)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 1u);
  EXPECT_EQ(found[0].kind, FaultKind::Unmodelled);
  // Behind it the rules hold again.
  EXPECT_EQ(faults({"WGMMA_FENCE();", mma(0, true), commit, "mov.f32 %f9, %f0;"}),
            (Found{{4, Fault::AccumulatorInFlight}}));
}

TEST(Emission, AFaultWinsOverWhatIsNotFollowed) {
  EXPECT_EQ(status_of({mma(0, false), "frobnicate;", fence, mma(0, false), commit, wait(0)}),
            Status::No);
}

// Whatever of the protocol is left out of a stream that uses its result, it is a finding.
TEST(Emission, EveryPartOfTheProtocolIsNeeded) {
  const Lines whole = {fence, mma(0, false), commit, wait(0), "st.global.f32 [%rd9], %f0;"};
  EXPECT_EQ(status_of(whole), Status::Yes);
  for (unsigned kept = 0; kept < 7; ++kept) {
    Lines lines;
    if (kept & 1) lines.push_back(whole[0]);
    lines.push_back(whole[1]);
    if (kept & 2) lines.push_back(whole[2]);
    if (kept & 4) lines.push_back(whole[3]);
    lines.push_back(whole[4]);
    EXPECT_EQ(status_of(lines), Status::No) << kept;
  }
}

// ---- The text -----------------------------------------------------------------------------------

TEST(Emission, RegistersMayHaveAnyNamesInAnyOrder) {
  const std::string named =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f395, sum, %f12, acc_1}, %rd1, %rd2, 0, "
      "1, 1, 0, 0;";
  EXPECT_EQ(status_of({fence, named, named, commit, wait(0), "mov.f32 %f1, sum;"}), Status::Yes);
  EXPECT_EQ(faults({fence, named, commit, "mov.f32 %f1, sum;", wait(0)}),
            (Found{{4, Fault::AccumulatorInFlight}}));
  EXPECT_EQ(faults({fence, named, commit, "mov.f32 acc_1, %f1;", wait(0)}),
            (Found{{4, Fault::AccumulatorInFlight}}));
  EXPECT_EQ(faults({fence, named, commit, "mov.f32 acc_2, %f1;", wait(0)}), Found{});
}

TEST(Emission, MoreRegistersThanTheChipHasAreFollowed) {
  Lines lines = {fence};
  for (int i = 0; i < 400; ++i) lines.push_back(mma(4 * i, false));
  lines.insert(lines.end(), {commit, wait(0), "mov.f32 %f9000, %f1599;"});
  EXPECT_EQ(status_of(lines), Status::Yes);
  std::swap(lines[402], lines[403]);
  EXPECT_EQ(faults(lines), (Found{{403, Fault::AccumulatorInFlight}}));
}

// A name means what the nearest block declares.
TEST(Emission, BlocksHaveRegistersOfTheirOwn) {
  EXPECT_EQ(status_of({".reg .f32 %f<9>;", fence, mma(0, false), commit, "{", ".reg .f32 %f0;",
                       "mov.f32 %f0, 0f00000000;", "}", wait(0)}),
            Status::Yes);
  EXPECT_EQ(faults({".reg .f32 %f<9>;", fence, mma(0, false), commit, "{", ".reg .f32 x;",
                    "mov.f32 %f0, 0f00000000;", "}", wait(0)}),
            (Found{{7, Fault::AccumulatorInFlight}}));
}

TEST(Emission, StatementsMayStandOnSeveralLinesOrShareOne) {
  const Lines lines = {"{ .reg .pred p; /* a",
                       "comment */ setp.ne.b32 p, %r1, 0; wgmma.fence",
                       ".sync.aligned; wgmma.mma_async.sync.aligned",
                       ".m64n8k16.f32.f16.f16 {%f0,",
                       "  %f1, // the second",
                       "  %f2, %f3}, %rd1, %rd2, p,",
                       "1, 1, 0, 0; }",
                       "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"};
  EXPECT_EQ(status_of(lines), Status::Yes) << check(lines)[0].text;
  Lines wrong = lines;
  wrong[7] = "wgmma.commit_group.sync.aligned; mov.f32 %f9, %f3;";
  EXPECT_EQ(faults(wrong), (Found{{8, Fault::AccumulatorInFlight}}));
}

TEST(Emission, DirectivesAndCommentsAreSteppedOver) {
  const Lines lines = {".version 9.0",
                       ".target sm_90a, debug",
                       ".address_size 64",
                       ".extern .shared .align 1024 .b8 tile[];",
                       ".global .align 4 .b8 words[8] = {1, 2, 3, 4, 5, 6, 7, 8};",
                       "// a comment",
                       ".visible .entry kernel(",
                       "  .param .u64 kernel_param_0",
                       ")",
                       ".maxntid 128, 1, 1",
                       "{",
                       ".reg .f32 %f<8>; .reg .b64 %rd<9>;",
                       ".loc 1 20 3",
                       fence,
                       mma(0, false),
                       ".pragma \"nounroll\";",
                       commit,
                       wait(0),
                       "ret;",
                       "}",
                       ".section .debug_str { .b8 104, 0; info: .b8 0 }"};
  EXPECT_EQ(status_of(lines), Status::Yes)
      << answer_stream(Question{"emission", {}, {}}, lines).text;
}

// ---- Paths --------------------------------------------------------------------------------------

// A round of the loop waits for the group of the round before.
Lines loop(const std::string& wait_in_loop, const std::string& fence_in_loop,
           const std::string& commit_in_loop) {
  return {"mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;",
          "again:",
          fence_in_loop,
          mma(0, true),
          commit_in_loop,
          wait_in_loop,
          "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 8;",
          "@%p1 bra again;",
          wait(0),
          "st.global.f32 [%rd9], %f3;"};
}

TEST(Emission, LoopsAreFollowed) {
  EXPECT_EQ(faults(loop(wait(1), fence, commit)), Found{});
  EXPECT_EQ(status_of(loop(wait(1), fence, commit)), Status::Yes);
  EXPECT_EQ(status_of(loop("", fence, commit)), Status::Yes) << "registers do not need that wait";
  // The registers were written before the loop: its first round needs the fence.
  EXPECT_EQ(faults(loop(wait(1), "", commit)), (Found{{4, Fault::WgmmaFenceMissing}}));
  EXPECT_EQ(faults(loop(wait(1), fence, "")), (Found{{10, Fault::WgmmaUncommitted}}));
}

// What a round leaves touched or in flight, the next one finds.
TEST(Emission, TheBackEdgeCarriesRegisters) {
  const Lines touched = {
      fence, "again:", mma(0, false), commit, wait(0), "add.f32 %f9, %f0, %f1;", "@%p1 bra again;"};
  EXPECT_EQ(faults(touched), (Found{{3, Fault::WgmmaFenceMissing}}));
  const Lines in_flight = {"again:", "mov.f32 %f0, 0f00000000;", fence,  mma(0, false),
                           commit,   "@%p1 bra again;",          wait(0)};
  EXPECT_EQ(faults(in_flight), (Found{{2, Fault::AccumulatorInFlight}}));
  // Four groups in flight, of which the oldest is read when one more has come.
  const Lines ring = {"again:",          fence,  mma(0, false), commit,
                      mma(4, false),     commit, wait(1),       "add.f32 %f9, %f0, %f1;",
                      "@%p1 bra again;", wait(0)};
  EXPECT_EQ(faults(ring), Found{});
  Lines less = ring;
  less[6] = wait(2);
  EXPECT_EQ(faults(less), (Found{{8, Fault::AccumulatorInFlight}}));
}

TEST(Emission, EitherWayOfABranchIsTaken) {
  const auto around = [](const std::string& statement) {
    return Lines{fence,   mma(0, false),      commit, "@%p1 bra over;", statement,
                 "over:", "mov.f32 %f9, %f0;"};
  };
  EXPECT_EQ(faults(around(wait(0))), (Found{{7, Fault::AccumulatorInFlight}}));
  const Lines both = {fence,       mma(0, false), commit,  "@%p1 bra other;", wait(0),
                      "bra over;", "other:",      wait(0), "over:",           "mov.f32 %f9, %f0;"};
  EXPECT_EQ(status_of(both), Status::Yes);
  // A kernel that may end early, and a path that is never taken.
  EXPECT_EQ(status_of({"@%p1 ret;", fence, mma(0, false), commit, wait(0), "ret;", mma(4, true)}),
            Status::Yes);
}

TEST(Emission, ATrapEndsWithoutAWait) {
  EXPECT_EQ(status_of({fence, mma(0, false), commit, "@%p1 trap;", "@%p2 bra on;", "trap;",
                       "on:", wait(0)}),
            Status::Yes);
}

TEST(Emission, WritingUnderAGuardMayHaveHappened) {
  EXPECT_EQ(faults({fence, "@%p1 mov.f32 %f0, %f9;", mma(0, false), commit, wait(0)}),
            (Found{{3, Fault::WgmmaFenceMissing}}));
}

TEST(Emission, EveryKernelOfATextBeginsAnew) {
  const std::string head = ".entry k() { .reg .f32 %f<8>; .reg .b64 %rd<3>;";
  EXPECT_EQ(faults({head, fence, "ret; }", head, mma(0, false), commit, wait(0), "ret; }"}),
            (Found{{5, Fault::WgmmaFenceMissing}}));
}

TEST(Emission, JoinedStatesAllowForEveryPath) {
  // The same states in whatever order the paths come.
  for (const bool fenced_first : {false, true}) {
    const std::string a = fenced_first ? fence : "";
    const std::string b = fenced_first ? "" : fence;
    EXPECT_EQ(faults({"@%p1 bra other;", commit, a, "bra over;", "other:", commit, b,
                      "over:", mma(0, false), commit, wait(0)}),
              (Found{{9, Fault::WgmmaFenceMissing}}));
  }
}

// A random program of straight steps and jumps; step i may be followed by next[i].
struct RandomProgram {
  Lines steps;  // empty: only a jump
  std::vector<std::vector<std::size_t>> next;
  Lines text() const {
    Lines lines = {kWritten};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      lines.push_back("L" + std::to_string(i) + ": " + steps[i]);
      for (std::size_t k = 0; k + 1 < next[i].size(); ++k)
        lines.push_back("@%p1 bra L" + std::to_string(next[i][k]) + ";");
      lines.push_back("bra L" + std::to_string(next[i].back()) + ";");
    }
    lines.push_back("L" + std::to_string(steps.size()) + ": ret;");
    return lines;
  }
  static constexpr const char* kWritten =
      "mov.b32 {%f0,%f1,%f2,%f3}, 0; mov.b32 {%f4,%f5,%f6,%f7}, 0;";
};

// A loop that is right, with up to three of its steps changed and up to three jumps more.
RandomProgram random_program(std::mt19937& random) {
  const Lines kinds = {fence,
                       mma(0, true),
                       mma(4, true),
                       mma(0, true, "m64n8k32"),
                       commit,
                       wait(0),
                       wait(1),
                       wait(2),
                       "",
                       "mov.f32 %f0, %f9;",
                       "mov.f32 %f9, %f5;"};
  RandomProgram program;
  program.steps = {fence,   mma(0, true),        commit,  mma(4, true),        commit,
                   wait(1), "mov.f32 %f9, %f0;", wait(0), "mov.f32 %f9, %f5;", ""};
  if (random() % 2 == 0)
    program.steps = {fence,   mma(4, true),        commit,  fence, mma(0, true), commit,
                     wait(1), "mov.f32 %f4, %f8;", wait(0), ""};
  const std::size_t size = program.steps.size();
  for (std::size_t edits = random() % 4; edits > 0; --edits) {
    std::string& step = program.steps[random() % size];
    if (random() % 2 == 0)
      step = kinds[random() % kinds.size()];
    else
      std::swap(step, program.steps[random() % size]);
  }
  for (std::size_t i = 0; i < size; ++i) program.next.push_back({i + 1});
  for (std::size_t jumps = random() % 4; jumps > 0; --jumps) {
    auto& next = program.next[random() % size];
    if (next.size() == 1) next.insert(next.begin(), random() % (size + 1));
  }
  return program;
}

bool is_wrong(const Lines& lines) {
  for (const EmissionFinding& f : check(lines))
    if (f.kind == FaultKind::Undefined) return true;
  return false;
}

// Whether some path of at most `most` steps from `at` on is wrong, read as straight-line code.
bool some_path_is_wrong(const RandomProgram& program, std::size_t at, Lines& path,
                        std::size_t most) {
  if (at == program.steps.size() || path.size() > most) return is_wrong(path);
  path.push_back(program.steps[at]);
  bool wrong = false;
  for (const std::size_t next : program.next[at])
    wrong = wrong || some_path_is_wrong(program, next, path, most);
  path.pop_back();
  return wrong;
}

// The fixed point over all paths says what every path says that is walked step by step.
TEST(Emission, AProgramIsWrongIfAndOnlyIfSomePathIs) {
  const char* const seed = std::getenv("TCQ_SEED");
  std::mt19937 random(seed == nullptr ? 1u : static_cast<unsigned>(std::atoi(seed)));
  int wrong = 0;
  constexpr int programs = tests::effort(400);
  for (int i = 0; i < programs; ++i) {
    const RandomProgram program = random_program(random);
    Lines path = {RandomProgram::kWritten};
    const bool expected = some_path_is_wrong(program, 0, path, 24);
    const Lines text = program.text();
    ASSERT_EQ(is_wrong(text), expected) << [&] {
      std::string all;
      for (const std::string& line : text) all += line + "\n";
      return all;
    }();
    wrong += expected ? 1 : 0;
  }
  EXPECT_GT(wrong, programs / 10);
  EXPECT_LT(wrong, programs - programs / 10);
}

TEST(Emission, TheEndOfTheStreamIsLookedAt) {
  EXPECT_NE(check({fence, mma(0, false)})[0].text.find("in no group"), std::string::npos);
  EXPECT_NE(check({fence, mma(0, false), commit})[0].text.find("in flight"), std::string::npos);
}

// ---- Tables and places --------------------------------------------------------------------------

Lines in_a_kernel(const Lines& body) {
  Lines lines = {".version 8.0",
                 ".target sm_90a",
                 ".address_size 64",
                 ".visible .entry k()",
                 "{",
                 ".reg .f32 %f<16>;",
                 ".reg .b64 %rd<4>;",
                 ".reg .pred %p<2>; .reg .b32 %r<2>;"};
  lines.insert(lines.end(), body.begin(), body.end());
  for (const char* end : {"ret;", "}", ".file 1 \"a.cu\"", ".file 2 \"b.cuh\""})
    lines.push_back(end);
  return lines;
}

TEST(Emission, ABranchByATableGoesToItsLabelsOnly) {
  const Lines begin = {"t: .branchtargets A, B;", fence, mma(0, false), commit, "brx.idx %r1, t;"};
  const auto with = [&](const Lines& more) {
    Lines lines = begin;
    lines.insert(lines.end(), more.begin(), more.end());
    return in_a_kernel(lines);
  };
  // Control never comes to the read behind the branch, nor to C.
  const Lines right = with({"add.f32 %f9, %f0, %f1;", "C: add.f32 %f9, %f0, %f1;", "A:", wait(0),
                            "exit;", "B:", wait(0), "exit;"});
  EXPECT_EQ(faults(right), Found{});
  EXPECT_EQ(status_of(right), Status::Yes);
  // The second label lacks its wait.
  EXPECT_EQ(faults(with({"A:", wait(0), "exit;", "B: add.f32 %f9, %f0, %f1;", wait(0), "exit;"})),
            (Found{{17, Fault::AccumulatorInFlight}}));
  // A label that is not there is said.
  EXPECT_EQ(status_of(with({"A:", wait(0), "exit;"})), Status::Unmodelled);
}

// Control may come to any label, where nothing is concluded from what stands before it.
TEST(Emission, ABranchThatIsNotResolvedMayGoAnywhere) {
  const Lines lines = {fence,
                       mma(0, false),
                       commit,
                       wait(0),
                       "brx.idx %r1, t;",
                       "exit;",
                       "A:",
                       "mov.f32 %f0, %f9;",
                       mma(0, true),
                       commit,
                       wait(0)};
  EXPECT_EQ(faults(lines), (Found{{9, Fault::WgmmaFenceMissing}}));
  EXPECT_EQ(faults({"bra nowhere;", "A:", mma(0, true), commit, wait(0)}), Found{});
}

TEST(Emission, AFindingHasThePlaceThatLocNames) {
  const Lines wrong = {".loc 1 7 3", mma(0, false), commit, wait(0)};
  EXPECT_TRUE(first_text(in_a_kernel(wrong)).ends_with("; source a.cu:7"))
      << first_text(in_a_kernel(wrong));
  Lines inlined = wrong;
  inlined[0] = ".loc 2 9 1, function_name s0, inlined_at 1 7 3";
  EXPECT_TRUE(first_text(in_a_kernel(inlined)).ends_with("; source b.cuh:9, inlined at a.cu:7"))
      << first_text(in_a_kernel(inlined));
  // What stands before the first .loc, or under line 0, has no place.
  const Lines before = {mma(0, false), ".loc 1 7 3", commit, wait(0)};
  EXPECT_EQ(first_text(in_a_kernel(before)).find("; source"), std::string::npos);
  Lines zero = wrong;
  zero[0] = ".loc 1 0 0";
  EXPECT_EQ(first_text(in_a_kernel(zero)).find("; source"), std::string::npos);
}

TEST(Emission, AFaultInAKernelNamesWhatPtxasSays) {
  const Lines unfenced = {mma(0, false), commit, wait(0)};
  EXPECT_TRUE(first_text(in_a_kernel(unfenced)).ends_with("; ptxas may say C7519"));
  const Lines read = {fence, mma(0, false), commit, "add.f32 %f9, %f0, %f1;", wait(0)};
  EXPECT_TRUE(first_text(in_a_kernel(read)).ends_with("; ptxas may say C7517"));
  Lines branches = read;
  branches.insert(branches.begin(), {"@%p1 bra L;", "L:"});
  EXPECT_TRUE(first_text(in_a_kernel(branches)).ends_with("C7514, C7515, C7518, C7517"))
      << first_text(in_a_kernel(branches));
  // A loose stream is nothing that ptxas takes.
  EXPECT_EQ(first_text(unfenced).find("ptxas"), std::string::npos);
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
