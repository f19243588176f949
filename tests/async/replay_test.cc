// Replay: the schedule of a report repeats its execution, so that the same Finding comes out, member
// by member, or the same global memory; as text it survives, damaged or of another program it is
// refused with a sentence.
#include "sim/async/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/schedule_text.h"
#include "sim/async/explore.h"
#include "tests/async/catalogue.h"
#include "tests/async/main_loop.h"
#include "tests/async/random_programs.h"

namespace tcq {
namespace {

using namespace machine;

std::vector<catalogue::Entry> entries() {
  std::vector<catalogue::Entry> all;
  for (const auto some :
       {catalogue::proxy_entries(), catalogue::tensormap_entries(), catalogue::descriptor_entries(),
        catalogue::wgmma_entries(), catalogue::mbarrier_entries(), catalogue::cluster_entries(),
        catalogue::register_entries(), catalogue::tcgen05_entries(),
        catalogue::tcgen05_pair_entries()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Explores, prints, parses, repeats; the report, for what it was.
Report repeats(const Program& program, const ExploreOptions& options) {
  Report report = explore(program, options);
  if (report.outcome == Outcome::Refused) {
    EXPECT_EQ(replay(program, report.schedule).misfit, Misfit::ProgramRefused);
    return report;
  }
  const Schedule parsed = oracle::parse_schedule(oracle::schedule_text(report.schedule));
  EXPECT_EQ(parsed, report.schedule);
  const Replay again = replay(program, parsed);
  EXPECT_EQ(oracle::misfit_text(parsed, again), "");
  EXPECT_TRUE(again.finding == report.finding) << oracle::report_text(program, report);
  if (report.outcome == Outcome::Right) {
    EXPECT_EQ(again.global, report.global);
  }
  return report;
}

bool has(const Schedule& schedule, auto what) {
  const auto& steps = schedule.execution.steps;
  return std::any_of(steps.begin(), steps.end(), what);
}

// --- what was found is found again -----------------------------------------------------------------

TEST(Replay, RepeatsTheWholeCatalogue) {
  int wrong = 0;
  for (const catalogue::Entry& entry : entries()) {
    for (const bool mutant : {false, true}) {
      for (const std::uint64_t executions : {2000, 1}) {
        const Program program = entry.make(mutant);
        const Report report = repeats(program, {.max_executions = executions});
        ASSERT_FALSE(HasFailure()) << entry.row << ": " << entry.mutant;
        if (report.finding) ++wrong;
      }
    }
  }
  EXPECT_GT(wrong, 150);
}

// By what it took to find it.
struct Found {
  int first = 0;  // in the first execution
  int exhaustively = 0;
  int otherwise = 0;  // eagerly or at random
  int with_data = 0;  // that moved at random
  int with_test = 0;
  int never = 0;

  void add(const Report& report, std::uint64_t exhaustive_executions) {
    const std::uint64_t n = report.executions;
    if (!report.finding)
      ++never;
    else
      ++(n == 1                                             ? first
         : n <= exhaustive_executions && !report.exhaustive ? exhaustively
                                                            : otherwise);
    if (has(report.schedule, [](const auto& s) { return s.kind == StepKind::Data; })) ++with_data;
    if (has(report.schedule, [](const auto& s) { return s.test != TestResult::None; })) ++with_test;
  }
};

TEST(Replay, RepeatsRandomProgramsHoweverTheFaultWasFound) {
  std::mt19937 random(77);
  Found found;
  for (int i = 0; i < 1200; ++i) {
    const Program program = i % 4 == 0   ? rarely_wrong_program(random)
                            : i % 2 == 0 ? random_program(random)
                                         : random_larger_program(random);
    const std::uint64_t executions = i % 3 == 0 ? 400 : 1;  // else only chance finds rare orders
    const Report report = repeats(
        program, {.max_executions = executions, .seed = 1000 + 30 * static_cast<std::uint64_t>(i)});
    ASSERT_FALSE(HasFailure()) << "program " << i;
    found.add(report, executions);
  }
  EXPECT_GT(found.first, 400);
  EXPECT_GT(found.exhaustively, 50);
  EXPECT_GT(found.otherwise, 100);
  EXPECT_GT(found.with_data, 20);
  EXPECT_GT(found.with_test, 200);
  EXPECT_GT(found.never, 50);
}

// A warp that asks once whether the other has arrived, and stores what it was told.
Program depends_on_a_test() {
  Program p({.threads = 64});
  const Address flag = p.mbarrier("flag");
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(8));
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(flag, 1);
  all.barrier_sync();
  p.warps("sender", 0, 1).elect().mbarrier_arrive(flag);
  Role asker = p.warps("asker", 1, 1).elect();
  asker.move({0, 1}, 7).mbarrier_test_wait(flag, 0, 0).branch(4, 0, true);
  asker.move({0, 1}, 8).store_global(out + 4, 4, {0, 1});
  return p;
}

TEST(Replay, RepeatsBothExecutionsThatLeftDifferentBits) {
  const Program program = depends_on_a_test();
  const Report report = repeats(program, {});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::ResultsDiffer);
  EXPECT_EQ(report.finding->number, 4);
  ASSERT_TRUE(report.schedule.against);
  EXPECT_NE(report.schedule.against->steps, report.schedule.execution.steps);
  for (const TestResult result : {TestResult::False, TestResult::True})
    EXPECT_TRUE(has(report.schedule, [&](const auto& s) { return s.test == result; }) ||
                std::any_of(report.schedule.against->steps.begin(),
                            report.schedule.against->steps.end(),
                            [&](const auto& s) { return s.test == result; }));
  // Where they may differ, both are kept all the same.
  const Report other = explore(program, {.bits_may_differ = true});
  EXPECT_FALSE(other.finding);
  ASSERT_TRUE(other.other_schedule);
  const Replay again = replay(program, *other.other_schedule);
  EXPECT_EQ(again.misfit, Misfit::None);
  EXPECT_EQ(again.global, other.other_global);
  ASSERT_TRUE(again.finding);
  EXPECT_EQ(again.finding->fault, Fault::ResultsDiffer);
}

TEST(Replay, RepeatsTheBoundOnInstructions) {
  Program p({.threads = 32});
  Role loop = p.warps("loop", 0, 1);
  loop.move({0, 1}, 1).branch(0);
  const Report report = repeats(p, {.max_instructions = 1000});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::StepLimit);
}

// Data that a wait would force, moved by chance; wgmmas, loads and stores in flight.
TEST(Replay, RepeatsAMainLoopWhoseProducerIsOneRoundEarly) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Program p =
        catalogue::MainLoop{.blocks = 12, .stages = 4, .consumers = 2, .in_flight = 1}.program();
    for (Segment& segment : p.segments())
      for (Statement& s : segment.statements)
        if (auto* wait = std::get_if<MbarrierTryWait>(&s.what); wait && segment.name == "producer")
          wait->parity ^= seed == 3 ? 0 : 1;
    const Report report = repeats(p, {.max_executions = 1, .seed = seed});
    EXPECT_EQ(report.outcome, seed == 3 ? Outcome::Right : Outcome::Wrong);
  }
}

// --- what does not fit -----------------------------------------------------------------------------

TEST(Replay, TheScheduleOfAnotherProgramIsRefusedAndForcedItEndsWithASentence) {
  std::vector<Program> programs;
  std::vector<Schedule> schedules;
  for (const catalogue::Entry& entry : entries())
    for (const bool mutant : {false, true}) {
      programs.push_back(entry.make(mutant));
      schedules.push_back(explore(programs.back(), {.max_executions = 1}).schedule);
    }
  int misfits = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const std::uint64_t own = fingerprint(programs[i]);
    for (std::size_t j = i % 2 == 0 ? i + 1 : i % 7; j < programs.size();
         j += i % 2 == 0 ? 200 : 9) {
      if (check(programs[i]).fault != Fault::None || i == j) continue;
      Schedule other = schedules[j];
      ASSERT_NE(other.program, own) << i << " " << j;
      const Replay refused = replay(programs[i], other);
      EXPECT_EQ(refused.misfit, Misfit::OtherProgram);
      EXPECT_NE(oracle::misfit_text(other, refused), "");
      other.program = own;
      const Replay forced = replay(programs[i], other);
      if (forced.misfit != Misfit::None) ++misfits;
      EXPECT_EQ(forced.misfit == Misfit::None, oracle::misfit_text(other, forced).empty());
    }
  }
  EXPECT_GT(misfits, 1000);
}

// Statements without operands differ by what they are alone.
TEST(Replay, AnInstructionWithoutOperandsIsPartOfTheFingerprint) {
  const auto program = [](bool commits) {
    Program p({.threads = 128});
    Role role = p.warps("math", 0, 4);
    commits ? role.wgmma_commit() : role.wgmma_fence();
    return fingerprint(p);
  };
  EXPECT_NE(program(true), program(false));
  EXPECT_EQ(program(true), program(true));
}

TEST(Replay, AScheduleCutOrContinuedIsRefusedAtItsEnd) {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    const Program program = random_larger_program(random);
    const Report report = explore(program, {.max_executions = 50, .seed = 7});
    Schedule schedule = report.schedule;
    schedule.execution.steps.push_back({.what = 0, .statement = 0});
    Replay refused = replay(program, schedule);
    EXPECT_EQ(refused.misfit, Misfit::GoesOn);
    EXPECT_EQ(refused.step, schedule.execution.steps.size() - 1);
    schedule.execution.steps.pop_back();
    while (!schedule.execution.steps.empty()) {
      const bool cuts_data = schedule.execution.steps.back().kind == StepKind::Data;
      schedule.execution.steps.pop_back();
      refused = replay(program, schedule);
      if (cuts_data && refused.misfit == Misfit::None) continue;  // the data moves at the end
      EXPECT_EQ(refused.misfit, Misfit::EndsEarly);
      EXPECT_EQ(refused.step, schedule.execution.steps.size());
    }
  }
}

TEST(Replay, AStepThatDoesNotFitIsNamed) {
  const Program program = depends_on_a_test();
  const Schedule good = explore(program, {}).schedule;
  const auto misfit = [&](auto change) {
    Schedule schedule = good;
    change(schedule);
    const Replay refused = replay(program, schedule);
    EXPECT_NE(oracle::misfit_text(schedule, refused), "");
    EXPECT_FALSE(refused.finding);
    return refused.misfit;
  };
  const auto set = [&](auto member, auto value) {
    return misfit([&](Schedule& s) { s.execution.steps.back().*member = value; });
  };
  EXPECT_EQ(set(&ScheduleStep::what, 99u), Misfit::NotRunnable);
  EXPECT_EQ(set(&ScheduleStep::what, encode({AgentKind::Copy, 0, 1, 0})), Misfit::NotRunnable);
  EXPECT_EQ(set(&ScheduleStep::what, encode({AgentKind::Commit, 0, 1, 0})), Misfit::NotRunnable);
  EXPECT_EQ(set(&ScheduleStep::what, ~std::uint64_t{0}), Misfit::NotRunnable);
  EXPECT_EQ(set(&ScheduleStep::statement, 1), Misfit::OtherStatement);
  EXPECT_EQ(set(&ScheduleStep::kind, StepKind::Data), Misfit::NothingInFlight);
  EXPECT_EQ(misfit([](Schedule& s) {
              for (ScheduleStep& step : s.execution.steps)
                if (step.test != TestResult::None)
                  step.test = step.test == TestResult::True ? TestResult::False : TestResult::True;
            }),
            Misfit::OtherTest);
  EXPECT_EQ(misfit([](Schedule& s) { s.against->steps.pop_back(); }), Misfit::EndsEarly);
}

TEST(Replay, TheFingerprintNoticesEveryByteOfMemory) {
  const auto of = [](std::vector<std::uint8_t> bytes) {
    Program p = catalogue::MainLoop{.blocks = 2}.program();
    p.global(std::move(bytes));
    return fingerprint(p);
  };
  std::set<std::uint64_t> seen = {of({})};
  for (std::size_t size = 1; size < 100; ++size) {
    std::vector<std::uint8_t> bytes(size);
    EXPECT_TRUE(seen.insert(of(bytes)).second) << size;
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] = 1;
      EXPECT_TRUE(seen.insert(of(bytes)).second) << size << " " << i;
      bytes[i] = 0;
    }
  }
}

TEST(Replay, TheFingerprintNoticesEveryChangeButNamesAndLines) {
  const auto make = [] { return catalogue::MainLoop{.blocks = 2}.program(); };
  const std::uint64_t own = fingerprint(make());
  const auto changed = [&](auto change) {
    Program p = make();
    change(p);
    return fingerprint(p) != own;
  };
  EXPECT_FALSE(changed([](Program&) {}));
  EXPECT_FALSE(changed([](Program& p) {
    p.segments()[0].name = "other";
    p.segments()[0].statements[0].where.line = 1;
  }));
  const std::size_t segments = make().segments().size();
  for (std::size_t s = 0; s < segments; ++s) {
    EXPECT_TRUE(changed([&](Program& p) { ++p.segments()[s].first_warp; }));
    EXPECT_TRUE(changed([&](Program& p) { p.segments()[s].cta = 0; }));
    const std::size_t statements = make().segments()[s].statements.size();
    for (std::size_t i = 0; i < statements; ++i) {
      EXPECT_TRUE(changed([&](Program& p) { p.segments()[s].statements[i].guard.lanes ^= 2; }));
      EXPECT_TRUE(changed([&](Program& p) { p.segments()[s].statements[i].guard.warps ^= 2; }));
      EXPECT_TRUE(changed([&](Program& p) {
        auto& all = p.segments()[s].statements;
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
      }));
    }
  }
  EXPECT_TRUE(changed([](Program& p) { p.shared("more", 4); }));
  EXPECT_TRUE(changed([](Program& p) { p.global({1}); }));
  EXPECT_TRUE(changed([](Program& p) { p.tensor({}); }));
  EXPECT_TRUE(changed([](Program& p) {
    for (Segment& segment : p.segments())
      for (Statement& s : segment.statements)
        if (auto* load = std::get_if<TensorLoad>(&s.what)) return void(++load->start.at[4]);
  }));
  EXPECT_TRUE(changed([](Program& p) {
    for (Segment& segment : p.segments())
      for (Statement& s : segment.statements)
        if (auto* mma = std::get_if<WgmmaMma>(&s.what)) return void(mma->op.form.negate_b = true);
  }));
}

// --- text ------------------------------------------------------------------------------------------

std::string sentence_of(const std::string& text) {
  try {
    oracle::parse_schedule(text);
  } catch (const oracle::BadFile& bad) {
    return bad.what();
  }
  return "";
}

TEST(Replay, EveryTruncationAndEveryChangedByteOfTheTextIsRefused) {
  const std::string text = oracle::schedule_text(explore(depends_on_a_test(), {}).schedule);
  ASSERT_EQ(sentence_of(text), "");
  const std::size_t payload = text.find("\n\n") + 2;
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(sentence_of(text.substr(0, size)), "") << size;
  for (std::size_t at = payload; at < text.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      EXPECT_NE(sentence_of(damaged), "") << at;
    }
  EXPECT_NE(sentence_of("tcq schedule 2\n" + text.substr(15)), "");
}

std::string packed(std::string_view payload, std::size_t steps) {
  return oracle::pack("tcq schedule 1\n", {}, steps, payload);
}

TEST(Replay, AScheduleWrittenByHandIsReadOrRefusedWithItsLine) {
  const std::string head = "program 00000000000000aa\nlimit 5\nfails 0\n";
  const Schedule read = oracle::parse_schedule(packed(
      head + "execution earliest\nw3@14=1\nc2.5>1\nk4194303.4294967295>255\nd7\nagainst latest\n",
      4));
  const Schedule want{0xaa,
                      5,
                      {},
                      {Timing::Earliest,
                       {{StepKind::Agent, 3, 14, TestResult::True},
                        {StepKind::Agent, encode({AgentKind::Copy, 2, 5, 1})},
                        {StepKind::Agent, encode({AgentKind::Commit, 0x3fffff, 0xffffffffu, 255})},
                        {StepKind::Data, 7}}},
                      Execution{}};
  EXPECT_EQ(read, want);
  for (const std::string_view line : {"",
                                      "w",
                                      "w3",
                                      "w3@",
                                      "w3@-1",
                                      "w3@99999999999",
                                      "w3@1=2",
                                      "w3@1=0 ",
                                      "w 3@1",
                                      "W3@1",
                                      "c1.2",
                                      "c1.2>256",
                                      "c1.4294967296>0",
                                      "k4194304.1>0",
                                      "d",
                                      "d-1",
                                      "d18446744073709551616",
                                      "x1",
                                      "w3@1\r",
                                      "execution latest",
                                      "against",
                                      "against late"}) {
    const std::string text =
        packed(head + "execution latest\nw0@0\n" + std::string(line) + "\n", 2);
    const std::string sentence = sentence_of(text);
    EXPECT_NE(sentence.find("line 6 of the schedule"), sentence.npos) << line << ": " << sentence;
  }
  EXPECT_NE(sentence_of(packed(head + "execution latest\nw0@0\n", 2)), "");  // 1 step, not 2
  EXPECT_NE(sentence_of(packed(head + "execution latest\nw0@0", 1)), "");
  EXPECT_NE(sentence_of(packed(head, 0)), "");
  EXPECT_NE(sentence_of(packed(head + "execution latest\nagainst latest\nagainst latest\n", 0)),
            "");
}

// Lines exchanged, repeated, left out, digits changed: read or refused, followed or refused.
TEST(Replay, DamagedSchedulesEndWithASentence) {
  std::mt19937 random(9);
  int read = 0;
  int followed = 0;
  for (int i = 0; i < 400; ++i) {
    const Program program = random_larger_program(random);
    const std::string text = oracle::schedule_text(
        explore(program, {.max_executions = 20, .random_executions = 3}).schedule);
    std::string payload = text.substr(text.find("\n\n") + 2);
    for (auto damage = 1 + random() % 3; damage > 0; --damage) {
      const std::size_t at = payload.find("execution") + random() % (payload.size() / 2);
      if (at >= payload.size()) continue;
      const std::size_t line = payload.rfind('\n', at) + 1;
      const std::size_t next = payload.find('\n', at) + 1;
      switch (random() % 4) {
        case 0: payload.erase(line, next - line); break;
        case 1: payload.insert(line, payload.substr(line, next - line)); break;
        case 2: payload[at] = "0123456789wckd@>.=\n"[random() % 19]; break;
        default: payload.insert(at, 1, static_cast<char>(random()));
      }
    }
    const auto steps = static_cast<std::size_t>(
        std::count_if(payload.begin(), payload.end(), [](char c) { return c == '\n'; }) - 4);
    try {
      const Schedule schedule = oracle::parse_schedule(packed(payload, steps));
      ++read;
      const Replay again = replay(program, schedule);
      const std::string sentence = oracle::misfit_text(schedule, again);
      EXPECT_EQ(sentence.empty(), again.misfit == Misfit::None);
      if (sentence.empty()) ++followed;
    } catch (const oracle::BadFile& bad) {
      EXPECT_NE(std::string(bad.what()), "");
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_LT(followed, read);
}

}  // namespace
}  // namespace tcq
