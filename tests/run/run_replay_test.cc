// Executions of compiled kernels once more: whatever order was drawn, its steps bring the same finding, the same bits
// and the same number of instructions; as JSON they survive, and damaged, cut or of another run they are refused.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "oracle/answer/answer.h"
#include "oracle/diagnosis/schedule_text.h"
#include "oracle/run/schedule.h"
#include "sim/async/cluster.h"
#include "sim/async/replay.h"
#include "tests/run/ptx_run.h"

namespace tcq::tests {
namespace {

using machine::Program;
using machine::Replay;
using machine::Schedule;
using machine::StepKind;
using machine::TestResult;
using oracle::run::StoredSchedule;

// Every warp takes a ticket: what stands where depends on the order.
const char* const tickets = R"(
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra done;
    atom.global.add.u32 %r3, [%rd1], 1;
    shr.u32 %r4, %r1, 5;
    add.u32 %r4, %r4, 1;
    mad.wide.u32 %rd3, %r4, 4, %rd1;
    st.global.u32 [%rd3], %r3;
  done:)";

const char* const shared_of_copies = R"(
.shared .align 128 .b8 tile[512];
.shared .align 128 .b8 back[128];
.shared .align 8 .b64 full[4];
)";

// Thread 0 copies four pieces; the others look once whether theirs has landed, and say so; then they wait for it. What
// warp 0 has read goes back by a bulk store.
const char* const copies = R"(
    mov.u32 %r10, tile;
    mov.u32 %r11, full;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra made;
    mbarrier.init.shared::cta.b64 [%r11], 1;
    mbarrier.init.shared::cta.b64 [%r11+8], 1;
    mbarrier.init.shared::cta.b64 [%r11+16], 1;
    mbarrier.init.shared::cta.b64 [%r11+24], 1;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
  made:
    bar.sync 0;
    @%p1 bra consume;
    mov.u32 %r12, 0;
  issue:
    mad.lo.u32 %r13, %r12, 8, %r11;
    mad.lo.u32 %r14, %r12, 128, %r10;
    mad.wide.u32 %rd3, %r12, 128, %rd1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd3], 128, [%r13];
    add.u32 %r12, %r12, 1;
    setp.lt.u32 %p2, %r12, 4;
    @%p2 bra issue;
  consume:
    bar.warp.sync 0xffffffff;
    shr.u32 %r12, %r1, 5;
    mad.lo.u32 %r13, %r12, 8, %r11;
    mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r13], 0;
    selp.u32 %r15, 1, 0, %p3;
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r13], 0;
    @!%p4 bra wait;
    mad.lo.u32 %r14, %r1, 4, %r10;
    ld.shared.u32 %r16, [%r14];
    st.global.u32 [%rd2+512], %r16;
    st.global.u32 [%rd2+1024], %r15;
    mov.u32 %r18, back;
    setp.gt.u32 %p5, %r1, 31;
    @%p5 bra done;
    mad.lo.u32 %r17, %r1, 4, %r18;
    st.shared.u32 [%r17], %r16;
    fence.proxy.async;
    bar.warp.sync 0xffffffff;
    @%p1 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1+1536], [%r18], 128;
    cp.async.bulk.commit_group;
    mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r13], 0;
    cp.async.bulk.wait_group 0;
  done:)";

// Two CTAs: each arrives on the other's mbarrier, and looks once before it waits.
const char* const neighbours = R"(
    mov.u32 %r10, full;
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared::cta.b64 [%r10], 64;
    @!%p1 fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r2, %cluster_ctarank;
    xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r10, %r3;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
    mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r10], 0;
    selp.u32 %r5, 1, 0, %p2;
  wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r10], 0;
    @!%p3 bra wait;
    mad.lo.u32 %r6, %r2, 64, %r1;
    mad.wide.u32 %rd3, %r6, 4, %rd1;
    st.global.u32 [%rd3], %r5;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)";

// A wgmma of zeros, and a word that is overwritten without order should warp 0 come late.
const char* const sums = R"(
    mov.u32 %r10, tile;
    mad.lo.u32 %r11, %r1, 32, %r10;
    mov.u32 %r12, 0;
    st.shared.v4.u32 [%r11], {%r12, %r12, %r12, %r12};
    st.shared.v4.u32 [%r11+16], {%r12, %r12, %r12, %r12};
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r13, %r10, 4;
    cvt.u64.u32 %rd3, %r13;
    or.b64 %rd3, %rd3, 0x0000001000080000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd3, %rd3, 0, 1, 1, 0, 0;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd3, %rd3, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    bar.sync 0;
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [%rd2], %f1;
    atom.global.add.u32 %r3, [%rd1+1024], 1;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra done;
    st.global.u32 [%rd1+1028], %r1;
  done:)";

// Whoever takes the last of four tickets writes outside should it be warp 0.
const char* const late = R"(
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra done;
    atom.global.add.u32 %r3, [%rd1], 1;
    st.global.u32 [%rd2+4], %r3;
    setp.eq.u32 %p2, %r3, 3;
    setp.eq.and.u32 %p3, %r1, 0, %p2;
    @%p3 st.global.u32 [%rd1+65536], %r3;
  done:)";

struct Traits {
  bool moves = false;  // data that moves by lot
  bool tests = false;
  bool fails = false;  // in some orders
};

struct Drawing {
  const char* name;
  std::string text;
  Shape shape;
  std::uint32_t words;
  Traits is = {};
};

std::vector<Drawing> drawings() {
  const std::string zeros = ".shared .align 128 .b8 tile[4096];\n";
  return {{"tickets", kernel(tickets), {.block = {256}, .executions = 1}, 64},
          {"late", kernel(late), {.block = {128}, .executions = 1}, 256, {.fails = true}},
          {"copies",
           kernel(copies, shared_of_copies),
           {.block = {128}, .executions = 1},
           512,
           {.moves = true, .tests = true}},
          {"neighbours",
           kernel(neighbours, shared_of_copies),
           {.grid = {2}, .block = {64}, .cluster = {2}, .executions = 1},
           128,
           {.tests = true}},
          {"sums", kernel(sums, zeros), {.block = {128}, .executions = 1}, 512, {.moves = true}}};
}

// One execution in an order of its own, and what came of it.
struct Drawn {
  Schedule schedule;
  std::optional<machine::Finding> finding;
  std::vector<machine::Finding> suspicions;
  std::vector<std::uint8_t> global;
  std::uint64_t instructions = 0;
};

Drawn draw(const Program& program, std::mt19937_64& random) {
  Drawn drawn;
  drawn.schedule.program = fingerprint(program);
  drawn.schedule.max_instructions = 100'000;
  machine::Execution& execution = drawn.schedule.execution;
  execution.timing = random() % 2 == 0 ? machine::Timing::Earliest : machine::Timing::Latest;
  machine::MmaCache cache;
  machine::Cluster cluster(program, cache, execution.timing, drawn.schedule.max_instructions);
  // Whoever is chosen goes on for a while, so that some run far ahead.
  const std::uint64_t stays = random() % 8;
  machine::AgentId last = 0;
  while (!cluster.finding()) {
    const std::vector<machine::AgentId> agents = cluster.runnable();
    if (agents.empty()) break;
    const std::uint64_t choice = random() % 1024;
    if (random() % 4 == 0 && cluster.advance_data(choice))
      execution.steps.push_back({.kind = StepKind::Data, .what = choice});
    if (cluster.finding()) break;
    if (random() % 8 >= stays || !cluster.is_runnable(last))
      last = agents[random() % agents.size()];
    record_step(cluster, last, execution.steps);
  }
  end_execution(cluster);
  drawn.finding = cluster.finding();
  drawn.suspicions = cluster.suspicions();
  drawn.global = cluster.global();
  drawn.instructions = cluster.instructions();
  return drawn;
}

std::string json_of(const Schedule& schedule) {
  return oracle::json_text(value_of(StoredSchedule{{"k", "0", "grid 1", "1"}, 0, 3, schedule}));
}

Schedule of_json(const std::string& text) {
  return oracle::run::parse_stored(text, 1, "file").schedule;
}

TEST(RunReplay, EveryDrawnOrderComesAgainFromItsJson) {
  std::mt19937_64 random(1);
  for (const Drawing& d : drawings()) {
    SCOPED_TRACE(d.name);
    PtxRun run(d.text);
    run.pass(run.array<std::uint32_t>(d.words));
    run.go(d.shape);
    std::set<std::vector<std::uint8_t>> results;
    std::set<std::string> orders;
    std::set<TestResult> tests;
    bool moves = false;
    int failing = 0;
    for (int i = 0; i < 150; ++i) {
      const Drawn drawn = draw(run.program(), random);
      const std::string json = json_of(drawn.schedule);
      const Schedule read = of_json(json);
      ASSERT_EQ(read, drawn.schedule);
      const Replay again = replay(run.program(), read);
      ASSERT_EQ(oracle::misfit_text(read, again), "");
      ASSERT_TRUE(again.finding == drawn.finding);
      ASSERT_TRUE(again.suspicions == drawn.suspicions);
      ASSERT_EQ(again.global, drawn.global);
      ASSERT_EQ(again.instructions, drawn.instructions);
      results.insert(drawn.global);
      orders.insert(json);
      failing += drawn.finding ? 1 : 0;
      for (const machine::ScheduleStep& step : drawn.schedule.execution.steps) {
        tests.insert(step.test);
        moves = moves || step.kind == StepKind::Data;
      }
    }
    EXPECT_GT(orders.size(), 30u);
    EXPECT_GT(results.size(), 3u);
    EXPECT_EQ(tests.size(), d.is.tests ? 3u : 1u);
    EXPECT_EQ(moves, d.is.moves);
    EXPECT_EQ(failing > 5, d.is.fails) << failing;
    EXPECT_LT(failing, 100);
  }
}

// A test that finds something else is noticed, and named with its step.
TEST(RunReplay, WhatATestFoundIsHeldAgainstTheSchedule) {
  std::mt19937_64 random(2);
  PtxRun run(kernel(copies, shared_of_copies));
  run.pass(run.array<std::uint32_t>(512));
  run.go({.block = {128}, .executions = 1});
  int tests = 0;
  for (int i = 0; i < 20; ++i) {
    const Schedule good = draw(run.program(), random).schedule;
    for (std::size_t step = 0; step < good.execution.steps.size(); ++step) {
      Schedule other = good;
      TestResult& test = other.execution.steps[step].test;
      if (test == TestResult::None) continue;
      test = test == TestResult::True ? TestResult::False : TestResult::True;
      const Replay again = replay(run.program(), other);
      EXPECT_EQ(again.misfit, machine::Misfit::OtherTest);
      EXPECT_EQ(again.step, step);
      EXPECT_NE(oracle::misfit_text(other, again).find("step " + std::to_string(step + 1) + " of"),
                std::string::npos);
      ++tests;
    }
  }
  EXPECT_GT(tests, 40);
}

TEST(RunReplay, AScheduleCutOrOfAnotherKernelIsRefused) {
  std::mt19937_64 random(3);
  std::vector<std::unique_ptr<PtxRun>> runs;
  std::vector<Schedule> schedules;
  for (const Drawing& d : drawings()) {
    runs.push_back(std::make_unique<PtxRun>(d.text));
    runs.back()->pass(runs.back()->array<std::uint32_t>(d.words));
    runs.back()->go(d.shape);
    schedules.push_back(draw(runs.back()->program(), random).schedule);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Program& program = runs[i]->program();
    for (std::size_t j = 0; j < runs.size(); ++j) {
      if (i == j) continue;
      Schedule other = schedules[j];
      EXPECT_EQ(replay(program, other).misfit, machine::Misfit::OtherProgram);
      other.program = schedules[i].program;  // as if it were its own
      const Replay forced = replay(program, other);
      EXPECT_NE(oracle::misfit_text(other, forced), "") << i << " " << j;
    }
    Schedule cut = schedules[i];
    while (!cut.execution.steps.empty()) {
      const bool cuts_data = cut.execution.steps.back().kind == StepKind::Data;
      cut.execution.steps.pop_back();
      if (!cuts_data) {
        EXPECT_NE(replay(program, cut).misfit, machine::Misfit::None);
      }
    }
  }
}

// --- the text --------------------------------------------------------------------------------------

std::string refusal(const std::string& text, std::size_t number = 1) {
  try {
    oracle::run::parse_stored(text, number, "file");
  } catch (const oracle::UsageError& error) {
    return error.what();
  }
  return "";
}

Schedule small() {
  Schedule s;
  s.program = 0xab;
  s.max_instructions = 1000;
  s.execution = {machine::Timing::Earliest,
                 {{StepKind::Agent, 3, 14, TestResult::True},
                  {StepKind::Agent, 0, 2},
                  {StepKind::Agent, machine::encode({machine::AgentKind::Copy, 2, 5, 1})},
                  {StepKind::Data, 7}}};
  s.against = machine::Execution{};
  return s;
}

TEST(RunReplay, TheTextIsThatOfTheDocumentation) {
  const nlohmann::json read = nlohmann::json::parse(json_of(small()));
  EXPECT_EQ(read["execution"]["steps"], "w3@14=1 w0@2 c2.5>1 d7");
  EXPECT_EQ(read["execution"]["timing"], "earliest");
  EXPECT_EQ(read["against"]["steps"], "");
  EXPECT_EQ(read["program"], "00000000000000ab");
  EXPECT_EQ(read["cluster"], 3);
  EXPECT_EQ(of_json(json_of(small())), small());
  EXPECT_EQ(of_json(read.dump(2)), small());  // spelled otherwise
}

TEST(RunReplay, EveryTruncationAndEveryChangedByteIsRefused) {
  const std::string text = json_of(small());
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(refusal(text.substr(0, size)), "") << size;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      const std::string sentence = refusal(damaged);
      EXPECT_TRUE(sentence.starts_with("file: ")) << damaged;
      EXPECT_EQ(std::count(sentence.begin(), sentence.end(), '\n'), 0);
    }
}

TEST(RunReplay, WhatIsWrongInTheTextIsNamed) {
  const nlohmann::json good = nlohmann::json::parse(json_of(small()));
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json other = good;
    other[nlohmann::json::json_pointer(pointer)] = value;
    return refusal(other.dump());
  };
  const auto says = [](const std::string& sentence, const std::string& part) {
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  };
  says(with("/version", 3), "version 3 of schedules is not known");
  says(with("/version", 1), "version 1 of schedules is not known");
  says(with("/cluster", -1), "'cluster' of the schedule is not a whole number");
  says(with("/cluster", 4), "its checksum is another one");
  says(with("/program", "ab"), "16 hex digits");
  says(with("/kernel", 5), "not a string");
  says(with("/execution", "w0@0"), "'execution' of the schedule is no object");
  says(with("/execution/timing", "late"), "not earliest or latest");
  says(with("/execution/steps", "w0@0 w9"), "step 2 of the schedule, 'w9', is not");
  says(with("/execution/steps", "w0@0 "), "cut off");
  says(with("/execution/steps", "w0@0  w0@1"), "step 2 of the schedule, ''");
  says(with("/execution/more", 1), "keys that are not known");
  says(with("/more", 1), "keys that are not known");
  nlohmann::json less = good;
  less.erase("limit");
  says(refusal(less.dump()), "the schedule has no 'limit'");
  says(refusal("[]"), "no JSON object");
  says(refusal("{}"), "has no 'version'");
  says(refusal(good.dump(), 2), "no other number than 1");
}

TEST(RunReplay, OfAnAnswerTheFindingThatIsAskedFor) {
  nlohmann::json answer = {{"findings", nlohmann::json::array()}};
  EXPECT_NE(refusal(answer.dump()).find("no finding"), std::string::npos);
  Schedule second = small();
  second.program = 7;
  for (const Schedule& s : {small(), second})
    answer["findings"].push_back({{"schedule", nlohmann::json::parse(json_of(s))}});
  answer["findings"].push_back({{"name", "DataRace"}});
  EXPECT_EQ(oracle::run::parse_stored(answer.dump(), 1, "").schedule, small());
  EXPECT_EQ(oracle::run::parse_stored(answer.dump(), 2, "").schedule, second);
  EXPECT_NE(refusal(answer.dump(), 3).find("its finding 3 has no schedule"), std::string::npos);
  EXPECT_NE(refusal(answer.dump(), 4).find("has 3 findings"), std::string::npos);
}

}  // namespace
}  // namespace tcq::tests
