// The recorder of tcgen05 on made-up devices, whose cases trap, leak, fail and lie: the order of the
// stages, what stops them, what is kept and what is repeated. Processes: case_runner_test.cc.
#include "tools/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "oracle/recording/files.h"
#include "oracle/recording/suites.h"
#include "sim/num/inputs/draw.h"
#include "tests/support/temporary_folder.h"
#include "tools/journal.h"
#include "tools/record_task.h"

namespace tcq::tools {
namespace {

using oracle::Case;
using oracle::Outcome;
using std::chrono::milliseconds;

constexpr Limits generous_limits{milliseconds(5000), milliseconds(5000), milliseconds(5000)};

constexpr std::size_t tcgen05_stages = stage_count - 1;  // all but Hopper

// ---- The recorder -------------------------------------------------------------------------------

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A few cases of every suite.
std::vector<SuiteRun> suites(std::size_t stride = 97, std::uint64_t seed = 5) {
  std::vector<SuiteRun> all;
  for (const oracle::SuiteInfo& info : oracle::suites()) {
    if (!oracle::is_tcgen05_suite(info.name)) continue;
    SuiteRun suite{std::string(info.name), {}};
    const auto cases = info.draw(seed, Target::sm_100a);
    for (std::size_t i = 0; i < cases.size(); i += stride) suite.cases.push_back(cases[i]);
    if (info.name != "tcgen05_mma" && cases.size() > 1) suite.cases.push_back(cases[1]);
    all.push_back(suite);
  }
  return all;
}

// What the simulator says; where it says nothing, zeros.
std::string predicted(const Case& c) {
  std::vector<std::uint8_t> output = predict(c).output;
  output.resize(*output_bytes(c));
  return {output.begin(), output.end()};
}

using Script = std::function<Attempt(const Case&)>;

Attempt right(const Case& c) { return {Ending::Answered, 0, "", predicted(c)}; }

Device made_up(Script script) {
  return {[] {}, script, [](const Case&) { return Attempt{}; }};
}

RecorderOptions options(bool keep_going = false) {
  return {.keep_going = keep_going, .max_failures = 3, .limits = generous_limits};
}

std::vector<Outcome> outcomes(const std::vector<SuiteRun>& all) {
  std::vector<Outcome> found;
  for (const SuiteRun& suite : all)
    for (const Case& c : suite.cases) found.push_back(c.outcome);
  return found;
}

std::string bytes_of(const std::vector<SuiteRun>& all) {
  std::string bytes;
  for (const SuiteRun& suite : all) bytes += serialize(oracle::Recording{{}, suite.cases});
  return bytes;
}

std::size_t total(const std::vector<SuiteRun>& all) { return outcomes(all).size(); }

TEST(Tcgen05_Recorder, StagesAreInOrderAndAContextEach) {
  std::vector<SuiteRun> all = suites();
  Recorder recorder(all, made_up(right), options());
  std::vector<Stage> order;
  recorder.on_progress = [&](std::size_t done, Stage stage) {
    order.push_back(stage);
    EXPECT_EQ(done, order.size());
  };
  const auto results = recorder.run();
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.size(), total(all));
  ASSERT_EQ(results.size(), tcgen05_stages);
  for (const StageResult& r : results) EXPECT_TRUE(r.holds()) << describe(r);
  EXPECT_EQ(recorder.contexts(), static_cast<int>(tcgen05_stages));
  std::set<Stage> seen(order.begin(), order.end());
  EXPECT_EQ(seen.size(), tcgen05_stages) << "a stage was not drawn";
  for (const SuiteRun& suite : all)
    for (const Case& c : suite.cases) {
      EXPECT_EQ(c.outcome, Outcome::Completed);
      EXPECT_TRUE(c.output.empty() && !c.hashes.empty()) << "hashes only, unless words are asked";
    }
}

TEST(Tcgen05_Recorder, OneStageAlone) {
  for (int i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_EQ(parse_stage(word(stage)), stage);
    std::vector<SuiteRun> all = suites();
    keep_stage(all, stage);
    EXPECT_EQ(all.empty(), stage == Stage::Hopper);
    for (const SuiteRun& suite : all) {
      EXPECT_FALSE(suite.cases.empty());
      for (const Case& c : suite.cases) EXPECT_EQ(stage_of(c), stage);
    }
  }
  EXPECT_THROW(parse_stage("ld"), oracle::UsageError);
}

// Each way in which a stage can fail stops what builds on it, and nothing before it.
TEST(Tcgen05_Recorder, AWrongAssumptionStopsWhatBuildsOnIt) {
  const std::map<Outcome, Attempt> wrong = {
      {Outcome::Trap, {Ending::Trapped, 715, "an illegal instruction", ""}},
      {Outcome::Leak, {Ending::Leaked, 721, "a leak", ""}},
      {Outcome::Timeout, {Ending::TimedOut, 0, "no commit", ""}},
      {Outcome::ProbeFailed, {Ending::Failed, 0, "no memory", ""}},
  };
  for (int stage = 1; stage < stage_count; ++stage)
    for (const auto& [outcome, attempt] : wrong) {
      std::vector<SuiteRun> all = suites(397);
      bool first = true;
      std::uint64_t culprit = 0;
      for (const SuiteRun& suite : all)
        for (const Case& c : suite.cases)
          if (stage_of(c) == static_cast<Stage>(stage) && first) {
            culprit = c.seed;
            first = false;
          }
      if (first) continue;
      const auto script = [&, attempt = attempt](const Case& c) {
        return stage_of(c) == static_cast<Stage>(stage) && c.seed == culprit ? attempt : right(c);
      };
      for (const bool keep_going : {false, true}) {
        Recorder recorder(all, made_up(script), options(keep_going));
        const auto results = recorder.run();
        for (const SuiteRun& suite : all)
          for (const Case& c : suite.cases) {
            const auto s = static_cast<int>(stage_of(c));
            if (s == stage && c.seed == culprit)
              EXPECT_EQ(c.outcome, outcome);
            else
              EXPECT_EQ(c.outcome, s > stage && !keep_going ? Outcome::NotRun : Outcome::Completed);
            EXPECT_EQ(c.error, c.outcome == Outcome::Trap   ? 715u
                               : c.outcome == Outcome::Leak ? 721u
                                                            : 0u);
          }
        for (const StageResult& r : results) {
          const bool stopped = static_cast<int>(r.stage) > stage && !keep_going;
          EXPECT_EQ(!r.stopped.empty(), stopped) << describe(r);
          EXPECT_EQ(r.stopped.find("--keep-going") != std::string::npos, stopped);
        }
      }
    }
}

TEST(Tcgen05_Recorder, AWrongAnswerIsKeptAndStopsTheNextStage) {
  std::vector<SuiteRun> all = suites(397);
  const auto script = [](const Case& c) {
    Attempt a = right(c);
    if (stage_of(c) == Stage::LdSt) a.answer[5] = static_cast<char>(a.answer[5] ^ 1);
    return a;
  };
  Recorder recorder(all, made_up(script), options());
  const auto results = recorder.run();
  EXPECT_FALSE(results[0].holds());
  EXPECT_GT(results[0].comparison.differing_bits, 0u);
  EXPECT_EQ(results[0].stopped, "");
  EXPECT_NE(results[1].stopped.find("ld and st"), std::string::npos) << describe(results[1]);
  for (const SuiteRun& suite : all)
    for (const Case& c : suite.cases)
      EXPECT_EQ(c.outcome, stage_of(c) == Stage::LdSt ? Outcome::Completed : Outcome::NotRun);
}

TEST(Tcgen05_Recorder, AnAnswerOfAnotherSizeIsTheProbesFailure) {
  std::vector<SuiteRun> all = suites(397);
  const auto script = [](const Case& c) {
    Attempt a = right(c);
    a.answer.pop_back();
    return a;
  };
  Recorder recorder(all, made_up(script), options());
  const auto results = recorder.run();
  EXPECT_GT(results[0].outcomes[static_cast<std::size_t>(Outcome::ProbeFailed)], 0u);
}

TEST(Tcgen05_Recorder, TooManyFailuresEndTheirStage) {
  for (const bool keep_going : {false, true}) {
    std::vector<SuiteRun> all = suites(31);
    const auto script = [](const Case&) { return Attempt{Ending::Trapped, 719, "no", ""}; };
    Recorder recorder(all, made_up(script), options(keep_going));
    const auto results = recorder.run();
    const auto trapped = results[0].outcomes[static_cast<std::size_t>(Outcome::Trap)];
    ASSERT_GT(results[0].cases, 3u);
    EXPECT_EQ(trapped, keep_going ? results[0].cases : 3u);
    EXPECT_EQ(results[0].stopped.empty(), keep_going) << describe(results[0]);
  }
}

TEST(Tcgen05_Recorder, AControlThatFailsMakesNoTraps) {
  std::vector<SuiteRun> all = suites(397);
  Device device = made_up([](const Case& c) {
    return cta_group(std::get<oracle::Tcgen05Case>(c.experiment).form) == 2
               ? Attempt{Ending::Trapped, 719, "no", ""}
               : right(c);
  });
  device.control = [](const Case& c) {
    return cta_group(std::get<oracle::Tcgen05Case>(c.experiment).form) == 2
               ? Attempt{Ending::Failed, 0, "what went in does not come back", ""}
               : Attempt{};
  };
  Recorder recorder(all, device, options(true));
  (void)recorder.run();
  for (const SuiteRun& suite : all)
    for (const Case& c : suite.cases) {
      EXPECT_NE(c.outcome, Outcome::Trap);
      EXPECT_EQ(is_answer(c.outcome),
                cta_group(std::get<oracle::Tcgen05Case>(c.experiment).form) == 1)
          << describe(c);
    }
}

// ---- Going on -----------------------------------------------------------------------------------

// Answers and traps, as a pure function of the case.
Attempt mixed(const Case& c) {
  if (c.seed % 5 == 0) return {Ending::Trapped, 700, "an illegal address", ""};
  if (c.seed % 7 == 0) return {Ending::Leaked, 721, "a leak", ""};
  return right(c);
}

struct Ended {
  std::string bytes;
  std::vector<std::string> entries;
};

Ended uninterrupted(std::size_t stride) {
  std::vector<SuiteRun> all = suites(stride);
  Recorder recorder(all, made_up(mixed), options(true));
  Ended ended;
  recorder.on_entry = [&](std::string_view entry) { ended.entries.emplace_back(entry); };
  (void)recorder.run();
  ended.bytes = bytes_of(all);
  return ended;
}

TEST(Tcgen05_Recorder, GoesOnFromEveryCaseOnWithoutRepeatingOne) {
  const Ended whole = uninterrupted(397);
  for (std::size_t cut = 0; cut <= whole.entries.size(); ++cut) {
    std::vector<SuiteRun> all = suites(397);
    std::set<std::string> ended(whole.entries.begin(),
                                whole.entries.begin() + static_cast<long>(cut));
    Recorder recorder(all, made_up(mixed), options(true));
    for (const std::string& entry : ended) recorder.restore(entry);
    EXPECT_EQ(recorder.restored(), cut);
    std::vector<std::string> entries;
    recorder.on_entry = [&](std::string_view entry) { entries.emplace_back(entry); };
    (void)recorder.run();
    EXPECT_EQ(bytes_of(all), whole.bytes) << cut;
    EXPECT_EQ(entries.size(), whole.entries.size() - cut);
    for (const std::string& entry : entries)
      EXPECT_FALSE(ended.contains(entry)) << "a case that had ended was repeated";
  }
}

TEST(Tcgen05_Recorder, ASignalAtAnyCaseLosesNoneThatHasEnded) {
  const std::string whole = uninterrupted(397).bytes;
  const TemporaryFolder folder;
  const std::string path = folder.file("journal");
  const std::size_t cases = total(suites(397));
  int rounds = 0;
  for (bool done = false; !done; ++rounds) {
    ASSERT_LT(rounds, 100);
    std::vector<SuiteRun> all = suites(397);
    std::vector<std::string> entries;
    Journal journal(path, "run: 1", entries);
    EXPECT_EQ(entries.size(), std::min(cases, static_cast<std::size_t>(2 * rounds)));
    Recorder recorder(all, made_up(mixed), options(true));
    for (const std::string& entry : entries) recorder.restore(entry);
    const InterruptGuard guard;
    int appended = 0;
    recorder.on_entry = [&](std::string_view entry) {
      journal.append(entry);
      if (++appended == 2) raise(rounds % 2 == 0 ? SIGINT : SIGTERM);
    };
    try {
      (void)recorder.run();
      done = true;
      EXPECT_EQ(bytes_of(all), whole);
    } catch (const Interrupted&) {
    }
  }
  EXPECT_GT(rounds, 2);
}

// The process dies within an append; a torn entry is a case that runs again.
TEST(Tcgen05_Recorder, AJournalCutAnywhereGivesTheSameRecording) {
  const Ended whole = uninterrupted(797);
  const TemporaryFolder folder;
  const std::string path = folder.file("journal");
  {
    std::vector<std::string> none;
    Journal journal(path, "run: 1", none);
    for (const std::string& entry : whole.entries) journal.append(entry);
  }
  const std::string bytes = read(path);
  const std::size_t header = bytes.find("\n\n") + 2;
  Draw draw(3);
  for (int round = 0; round < 12; ++round) {
    const auto cut =
        header + static_cast<std::size_t>(draw.below(static_cast<int>(bytes.size() - header) + 1));
    std::ofstream(path, std::ios::binary) << bytes.substr(0, cut);
    std::vector<SuiteRun> all = suites(797);
    std::vector<std::string> entries;
    Journal journal(path, "run: 1", entries);
    Recorder recorder(all, made_up(mixed), options(true));
    for (const std::string& entry : entries) recorder.restore(entry);
    recorder.on_entry = [&](std::string_view entry) { journal.append(entry); };
    (void)recorder.run();
    EXPECT_EQ(bytes_of(all), whole.bytes) << cut;
    EXPECT_EQ(read(path).size(), bytes.size());
  }
}

TEST(Tcgen05_Recorder, AProbeThatFailedIsTriedAgain) {
  std::vector<SuiteRun> all = suites(797);
  std::vector<std::string> entries;
  const auto script = [](const Case& c) {
    return stage_of(c) == Stage::LdSt ? Attempt{Ending::Failed, 2, "no memory", ""} : right(c);
  };
  Recorder first(all, made_up(script), options());
  first.on_entry = [&](std::string_view entry) { entries.emplace_back(entry); };
  (void)first.run();
  EXPECT_TRUE(entries.empty()) << "a failed probe is no answer";
  all = suites(797);
  Recorder second(all, made_up(right), options());
  for (const std::string& entry : entries) second.restore(entry);
  EXPECT_EQ(second.restored(), 0u);
  for (const StageResult& r : second.run()) EXPECT_TRUE(r.holds()) << describe(r);
}

TEST(Tcgen05_Recorder, AnEntryOfAnotherCaseIsRefused) {
  const Ended whole = uninterrupted(797);
  std::vector<SuiteRun> other = suites(797, 6);
  Recorder recorder(other, made_up(right), options());
  EXPECT_THROW(recorder.restore(whole.entries[0]), oracle::BadFile);
  EXPECT_THROW(recorder.restore("short"), oracle::BadFile);
  EXPECT_THROW(recorder.restore(std::string(8, '\x7f')), oracle::BadFile);
}

// ---- Files --------------------------------------------------------------------------------------

RecordingTask task_in(const TemporaryFolder& folder, std::size_t stride = 397) {
  RecordingTask task;
  task.suites = suites(stride);
  for (const SuiteRun& suite : task.suites) task.paths.push_back(folder.file(suite.name));
  task.journal = folder.file("journal");
  task.run = "device: made up";
  task.header = {{"device", "made up"}, {"seed", "5"}};
  return task;
}

TaskResult carried_out(const TemporaryFolder& folder, const Script& script, bool keep_going,
                       int* cases = nullptr) {
  RecordingTask task = task_in(folder);
  return carry_out(task, made_up(script), options(keep_going), [cases](Recorder& r) {
    if (cases != nullptr) r.on_progress = [cases](std::size_t, Stage) { ++*cases; };
  });
}

TEST(Tcgen05_Task, WritesEverySuiteAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const TaskResult result = carried_out(folder, right, false);
  EXPECT_TRUE(result.whole);
  EXPECT_EQ(folder.files(), 5) << "no journal, no temporary file";
  for (const SuiteRun& suite : suites(397)) {
    const auto recording = oracle::parse_recording(read(folder.file(suite.name)));
    EXPECT_EQ(recording.header.at("suite"), suite.name);
    EXPECT_EQ(recording.cases.size(), suite.cases.size());
    EXPECT_EQ(oracle::compare(recording).differing_bits, 0u);
  }
}

TEST(Tcgen05_Task, WhatHasNoAnswerIsNotWrittenAndTheSameCommandTriesIt) {
  const TemporaryFolder folder;
  const auto script = [](const Case& c) {
    return stage_of(c) == Stage::Cp ? Attempt{Ending::Failed, 0, "no memory", ""} : right(c);
  };
  int cases = 0;
  EXPECT_FALSE(carried_out(folder, script, false, &cases).whole);
  EXPECT_TRUE(std::filesystem::exists(folder.file("tcgen05_ldst")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("journal")));
  for (const char* name : {"tcgen05_cp", "tcgen05_mma", "tcgen05_alloc"})
    EXPECT_FALSE(std::filesystem::exists(folder.file(name))) << name;
  int more = 0;
  const TaskResult second = carried_out(folder, right, false, &more);
  EXPECT_TRUE(second.whole);
  EXPECT_LT(more, static_cast<int>(total(suites(397)))) << "ld and st are not repeated";
  EXPECT_EQ(folder.files(), 5);
}

TEST(Tcgen05_Task, WithKeepGoingAFailedProbeIsWrittenAsOne) {
  const TemporaryFolder folder;
  const auto script = [](const Case& c) {
    return stage_of(c) == Stage::Alloc ? Attempt{Ending::Failed, 0, "no memory", ""} : right(c);
  };
  EXPECT_TRUE(carried_out(folder, script, true).whole);
  for (const Case& c : oracle::parse_recording(read(folder.file("tcgen05_alloc"))).cases)
    EXPECT_EQ(c.outcome, Outcome::ProbeFailed);
}

// A process that is killed wherever: the next ones end with the same files.
TEST(Tcgen05_Task, AKilledProcessIsGoneOnFrom) {
  const TemporaryFolder whole, folder;
  (void)carried_out(whole, mixed, true);
  int killed = 0;
  for (int status = 1; status != 0; ++killed) {
    ASSERT_LT(killed, 100);
    const pid_t child = fork();
    if (child == 0) {
      RecordingTask task = task_in(folder);
      int ended = 0;
      (void)carry_out(task, made_up(mixed), options(true), [&](Recorder& r) {
        r.on_progress = [&](std::size_t, Stage) {
          if (++ended == 3) raise(SIGKILL);
        };
      });
      _exit(0);
    }
    ASSERT_EQ(waitpid(child, &status, 0), child);
  }
  EXPECT_GT(killed, 2);
  for (const SuiteRun& suite : suites(397))
    EXPECT_EQ(read(folder.file(suite.name)), read(whole.file(suite.name))) << suite.name;
}

TEST(Tcgen05_Recorder, ProgressSaysWhatIsLeft) {
  EXPECT_EQ(progress_line(311, 1864, Stage::Mma, 7.4, 33.2),
            "311 of 1864 cases, mma of one CTA, 7 s, about 34 s left");
}

}  // namespace
}  // namespace tcq::tools
