// Cases in processes of their own, with made-up devices whose cases hang, die, trap, leak and lose
// their context: what each is taken for and in how many contexts; and journals that are cut.
#include "tools/case_runner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "oracle/answer/answer.h"
#include "sim/num/inputs/draw.h"
#include "tests/support/temporary_folder.h"
#include "tools/journal.h"

namespace tcq::tools {
namespace {

using std::chrono::milliseconds;

constexpr Limits short_limits{milliseconds(5000), milliseconds(400), milliseconds(5000)};

enum class Does {
  Answer,
  Trap,
  Leak,
  TimeOut,
  Hang,
  HangHalfWay,     // within an answer
  Die,             // by a signal
  Exit,            // silently
  Throw,           // the probe's own failure
  Poison,          // answers, and every later case of its context traps
  TrapOnce,        // not when it is repeated
  TrapInCompany,   // only behind another case
  BreakTheDevice,  // traps, and no control answers after it
};
constexpr int does_count = 13;

// Counters that children and the test share.
struct Shared {
  std::atomic<int> opened, controls, runs[64], broken, trapped_once;
};

Shared& shared() {
  static auto* memory = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *memory;
}

void forget() { new (&shared()) Shared{}; }

std::string answer_of(std::size_t index) {
  return std::string(index * 40'000,
                     static_cast<char>('a' + index % 26));  // more than a pipe holds
}

[[noreturn]] void hang() {
  for (;;) pause();
}

Attempt do_as(Does does, std::size_t index) {
  static int ran_before = 0;  // of this process
  static bool poisoned = false;
  if (poisoned) return {Ending::Trapped, 719, "an error of an earlier case", ""};
  const int before = ran_before++;
  switch (does) {
    case Does::Answer: break;
    case Does::Trap: return {Ending::Trapped, 700, "an illegal address", ""};
    case Does::Leak: return {Ending::Leaked, 721, "a leak", ""};
    case Does::TimeOut: return {Ending::TimedOut, 0, "no commit", ""};
    case Does::Hang: hang();
    case Does::HangHalfWay: raise(SIGSTOP); break;
    case Does::Die:
      signal(SIGSEGV, SIG_DFL);  // AddressSanitizer would make an exit of it
      raise(SIGSEGV);
      break;
    case Does::Exit: _exit(0);
    case Does::Throw: throw std::runtime_error("the driver does not assemble it");
    case Does::Poison: poisoned = true; break;
    case Does::TrapOnce:
      if (shared().trapped_once++ == 0) return {Ending::Trapped, 719, "once", ""};
      break;
    case Does::TrapInCompany:
      if (before != 0) return {Ending::Trapped, 719, "behind another", ""};
      break;
    case Does::BreakTheDevice:
      shared().broken = 1;
      return {Ending::Trapped, 719, "and the device is gone", ""};
  }
  return {Ending::Answered, 0, "", answer_of(index)};
}

CaseDevice device(std::vector<Does> script) {
  return {[] { ++shared().opened; },
          [script](std::size_t index) {
            ++shared().runs[index];
            return do_as(script[index], index);
          },
          [](std::size_t) {
            ++shared().controls;
            if (shared().broken != 0) return Attempt{Ending::Trapped, 719, "no device", ""};
            return Attempt{};
          }};
}

struct Ran {
  std::string why;
  std::map<std::size_t, Attempt> attempts;
  int contexts = 0;
};

Ran run_script(const std::vector<Does>& script, bool together = true,
               Limits limits = short_limits) {
  forget();
  CaseRunner runner(device(script), limits);
  std::vector<std::size_t> cases(script.size());
  std::iota(cases.begin(), cases.end(), std::size_t{0});
  Ran ran;
  ran.why = runner.run(cases, together, [&](std::size_t index, Attempt a) {
    EXPECT_TRUE(ran.attempts.emplace(index, std::move(a)).second) << "reported twice: " << index;
    return true;
  });
  ran.contexts = runner.contexts();
  EXPECT_EQ(ran.contexts, shared().opened);
  return ran;
}

Ending expected(Does does) {
  switch (does) {
    case Does::Trap: return Ending::Trapped;
    case Does::Leak: return Ending::Leaked;
    case Does::TimeOut: return Ending::TimedOut;
    case Does::Hang:
    case Does::HangHalfWay: return Ending::Hung;
    case Does::Die:
    case Does::Exit:
    case Does::Throw:
    case Does::BreakTheDevice: return Ending::Failed;
    default: return Ending::Answered;
  }
}

TEST(CaseRunner, CasesThatAnswerShareOneContext) {
  const Ran ran = run_script(std::vector<Does>(20, Does::Answer));
  EXPECT_EQ(ran.why, "");
  EXPECT_EQ(ran.contexts, 1);
  EXPECT_EQ(shared().controls, 1);
  ASSERT_EQ(ran.attempts.size(), 20u);
  for (const auto& [index, a] : ran.attempts) EXPECT_EQ(a.answer, answer_of(index));
}

TEST(CaseRunner, EachEndingIsToldApartInCompanyAndAlone) {
  for (int i = 0; i < does_count; ++i) {
    const auto does = static_cast<Does>(i);
    for (const std::size_t place : {0u, 2u}) {
      std::vector<Does> script(4, Does::Answer);
      script[place] = does;
      const Ran ran = run_script(script);
      ASSERT_TRUE(ran.attempts.contains(place)) << i;
      const Attempt& a = ran.attempts.at(place);
      EXPECT_EQ(a.ending, expected(does)) << i << " " << a.sentence;
      EXPECT_EQ(a.sentence.empty(), a.ending == Ending::Answered) << i;
      EXPECT_EQ(a.answer, a.ending == Ending::Answered ? answer_of(place) : "") << i;
      if (does == Does::BreakTheDevice) {
        EXPECT_NE(ran.why, "");
        continue;
      }
      EXPECT_EQ(ran.why, "");
      for (std::size_t other = 0; other < script.size(); ++other)
        EXPECT_TRUE(other == place || ran.attempts.at(other).ending == Ending::Answered) << i;
    }
  }
}

TEST(CaseRunner, ATrapIsOneOnlyBetweenTwoControlsThatAnswer) {
  const Ran ran = run_script({Does::Answer, Does::Trap, Does::Answer});
  EXPECT_EQ(ran.attempts.at(1).error, 700);
  EXPECT_EQ(shared().runs[1], 2) << "in company, then alone";
  EXPECT_EQ(shared().runs[0], 1);
  EXPECT_EQ(shared().runs[2], 1);
  EXPECT_EQ(ran.contexts, 4) << "the batch, alone, a control, the rest";
  EXPECT_EQ(shared().controls, 4);
}

TEST(CaseRunner, WhatAnEarlierCaseLeftIsNotTheNextOnesTrap) {
  const Ran ran = run_script({Does::Poison, Does::Answer, Does::Answer, Does::TrapInCompany});
  for (const auto& [index, a] : ran.attempts) EXPECT_EQ(a.ending, Ending::Answered) << index;
  EXPECT_EQ(ran.attempts.size(), 4u);
}

TEST(CaseRunner, WithoutAControlThatAnswersNothingIsSaidAboutAnyCase) {
  forget();
  shared().broken = 1;
  CaseRunner runner(device({Does::Trap, Does::Answer}), short_limits);
  const std::size_t cases[] = {0, 1};
  const std::string why = runner.run(cases, true, [](std::size_t, const Attempt&) {
    ADD_FAILURE() << "no case may end";
    return true;
  });
  EXPECT_NE(why.find("control"), std::string::npos) << why;
  EXPECT_EQ(shared().runs[0], 0);
}

TEST(CaseRunner, WithoutAContextNothingIsSaidEither) {
  for (const bool hangs : {false, true}) {
    CaseDevice none = device({Does::Answer});
    none.open = [hangs] {
      if (hangs) hang();
      throw std::runtime_error("no device");
    };
    Limits limits = short_limits;
    limits.open = milliseconds(200);
    CaseRunner runner(none, limits);
    const std::size_t cases[] = {0};
    const std::string why = runner.run(cases, true, [](std::size_t, const Attempt&) {
      ADD_FAILURE() << "no case may end";
      return true;
    });
    EXPECT_NE(why.find("context"), std::string::npos) << why;
  }
}

TEST(CaseRunner, AHangCostsItsLimitTwiceAndNoMore) {
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = run_script({Does::Answer, Does::Hang, Does::Answer});
  const auto passed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(ran.attempts.at(1).ending, Ending::Hung);
  EXPECT_GE(passed, 2 * short_limits.one);
  EXPECT_LT(passed, 20 * short_limits.one);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(CaseRunner, EachAloneHasAContextEach) {
  const Ran ran = run_script(std::vector<Does>(5, Does::Answer), false);
  EXPECT_EQ(ran.contexts, 5);
}

TEST(CaseRunner, RandomScriptsAreReportedOnceEachInOrder) {
  Draw draw(7);
  Limits limits = short_limits;
  limits.one = milliseconds(100);
  for (int round = 0; round < 30; ++round) {
    std::vector<Does> script;
    for (int i = 0; i < 12; ++i) {
      auto does = static_cast<Does>(draw.one_in(3) ? draw.below(does_count - 1) : 0);
      if (does == Does::TrapOnce) does = Does::Trap;
      script.push_back(does);
    }
    const Ran ran = run_script(script, !draw.one_in(4), limits);
    EXPECT_EQ(ran.why, "");
    ASSERT_EQ(ran.attempts.size(), script.size());
    for (std::size_t i = 0; i < script.size(); ++i)
      EXPECT_EQ(ran.attempts.at(i).ending, expected(script[i])) << round << " " << i;
  }
}

TEST(CaseRunner, ASignalEndsItCleanly) {
  const InterruptGuard guard;
  forget();
  CaseDevice d = device({Does::Answer, Does::Hang});
  CaseRunner runner(d, Limits{});
  const std::size_t cases[] = {0, 1};
  int reported = 0;
  EXPECT_THROW(runner.run(cases, true,
                          [&](std::size_t, const Attempt&) {
                            ++reported;
                            raise(SIGINT);
                            return true;
                          }),
               Interrupted);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(AskChild, ReturnsWhatItSaysAndThrowsWhatItThrows) {
  EXPECT_EQ(ask_child([] { return std::string("hello"); }, milliseconds(5000)), "hello");
  EXPECT_THROW(
      ask_child([]() -> std::string { throw std::runtime_error("no"); }, milliseconds(5000)),
      std::runtime_error);
  EXPECT_THROW(ask_child([]() -> std::string { hang(); }, milliseconds(100)), std::runtime_error);
}

// ---- Journal ------------------------------------------------------------------------------------

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> reopened(const std::string& path, const std::string& run = "run: 1") {
  std::vector<std::string> entries;
  const Journal journal(path, run, entries);
  return entries;
}

TEST(Journal, GivesBackEveryWholeEntryWhereverItIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder.file("j");
  const std::vector<std::string> written = {"one", "", std::string(30, 'x'), "\n\n four"};
  std::vector<std::size_t> ends;
  std::string header;
  {
    std::vector<std::string> none;
    Journal journal(path, "run: 1", none);
    header = read(path);
    for (const std::string& entry : written) {
      journal.append(entry);
      ends.push_back(read(path).size());
    }
  }
  const std::string whole = read(path);
  for (std::size_t cut = header.size(); cut <= whole.size(); ++cut)
    for (std::string tail : {std::string(), std::string("rubbish"), std::string(40, '\0')}) {
      // Whatever was there next is not what comes.
      if (!tail.empty() && cut < whole.size()) tail[0] = static_cast<char>(~whole[cut]);
      write(path, whole.substr(0, cut) + tail);
      const auto kept = static_cast<std::size_t>(
          std::ranges::count_if(ends, [cut](std::size_t end) { return end <= cut; }));
      std::vector<std::string> entries;
      {
        Journal journal(path, "run: 1", entries);
        ASSERT_EQ(entries, std::vector(written.begin(), written.begin() + static_cast<long>(kept)))
            << cut;
        journal.append("new");
      }
      entries.push_back("new");
      ASSERT_EQ(reopened(path), entries) << "what is appended is behind what is whole";
    }
}

TEST(Journal, ADamagedEntryAndWhatIsBehindItDoNotCount) {
  const TemporaryFolder folder;
  const std::string path = folder.file("j");
  {
    std::vector<std::string> none;
    Journal journal(path, "run: 1", none);
    for (const char* entry : {"first", "second", "third"}) journal.append(entry);
  }
  std::string bytes = read(path);
  bytes[bytes.find("second") + 2] ^= 1;
  write(path, bytes);
  EXPECT_EQ(reopened(path), std::vector<std::string>{"first"});
}

TEST(Journal, OfAnotherRunIsRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("j");
  EXPECT_TRUE(reopened(path, "device: A\nseed: 1").empty());
  const std::string bytes = read(path);
  try {
    (void)reopened(path, "device: A\nseed: 2");
    FAIL() << "another run";
  } catch (const oracle::UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("seed: 1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--restart"), std::string::npos) << error.what();
  }
  EXPECT_EQ(read(path), bytes);
  write(path, "something else");
  EXPECT_THROW((void)reopened(path), oracle::UsageError);
}

}  // namespace
}  // namespace tcq::tools
