// Published Blackwell kernels in the asynchronous machine: what they rely on is disputed, never
// undefined; with all that the manual asks for, nothing is reported; and synchronising statements
// are deleted, moved and narrowed.
//
// TCQ_SEED draws others, TCQ_ALL_MUTANTS takes all. The score and what is not flagged are printed.
// That is harmless where another wait or arrival says the same: one of two waits or fences of a
// warp in a row, the waits of the tails, a relaxed wait with its tcgen05 fences; most moves exchange two
// statements that have nothing to do with each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/instruction_text.h"
#include "sim/async/explore.h"
#include "tests/async/catalogue_kernels.h"
#include "tests/support/effort.h"

namespace tcq::catalogue {
namespace {

using namespace machine;

class PublishedKernel : public testing::TestWithParam<Kernel> {};

constexpr ExploreOptions bounded = {.max_executions = 12, .random_executions = 6};

std::set<Fault> suspected(const Report& report) {
  std::set<Fault> faults;
  for (const Finding& f : report.suspicions) faults.insert(f.fault);
  return faults;
}

TEST_P(PublishedKernel, ReliesOnNothingThatIsCalledUndefined) {
  const Program program = GetParam().make(false);
  const Report report = explore(program, bounded);
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(program, report);
  EXPECT_EQ(suspected(report), GetParam().relies_on) << oracle::report_text(program, report);
  for (const Fault fault : suspected(report)) EXPECT_EQ(info(fault).kind, FaultKind::Disputed);
}

TEST_P(PublishedKernel, IsWrongForWhoeverLetsDisputesFail) {
  const Program program = GetParam().make(false);
  ExploreOptions options = bounded;
  options.fails.disputed = true;
  const Report report = explore(program, options);
  ASSERT_EQ(report.outcome, Outcome::Wrong);
  EXPECT_TRUE(GetParam().relies_on.contains(report.finding->fault));
}

TEST_P(PublishedKernel, IsRightWithAllThatTheManualAsksFor) {
  const Program program = GetParam().make(true);
  const Report report = explore(program, bounded);
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(program, report);
  EXPECT_TRUE(report.suspicions.empty()) << oracle::report_text(program, report);
}

// --- mutants -------------------------------------------------------------------------------------

struct Mutant {
  Program program;
  std::string what;
};

struct At {
  std::size_t segment;
  std::size_t statement;
};

template <class... What>
bool is_any(const Instruction& i) {
  return (std::holds_alternative<What>(i) || ...);
}

bool synchronises(const Instruction& i) {
  return is_any<MbarrierArrive, MbarrierArriveExpectTx, MbarrierTryWait, FenceMbarrierInit,
                FenceProxyAsync, BarrierSync, BarrierArrive, ClusterArrive, ClusterWait,
                Tcgen05Commit, Tcgen05FenceBefore, Tcgen05FenceAfter, Tcgen05WaitLd, Tcgen05WaitSt,
                Tcgen05Alloc, Tcgen05Dealloc>(i);
}

std::string text_of(const Program& program, const At& at) {
  const Segment& segment = program.segments()[at.segment];
  return fmt::format("{} [{}] {}", segment.name, at.statement,
                     oracle::instruction_text(program, segment.statements[at.statement].what));
}

// What is left of a statement that does half of its work; false if it has no halves.
bool narrow(Statement& statement) {
  Instruction& i = statement.what;
  if (auto* arrive = std::get_if<MbarrierArrive>(&i)) {
    if (arrive->relaxed) return false;
    arrive->relaxed = true;
  } else if (auto* wait = std::get_if<MbarrierTryWait>(&i)) {
    wait->relaxed = true;
  } else if (auto* commit = std::get_if<Tcgen05Commit>(&i)) {
    if (commit->multicast == 0)
      commit->cta_group = 2;
    else
      commit->multicast = 1;
  } else if (auto* arrive_expect = std::get_if<MbarrierArriveExpectTx>(&i)) {
    arrive_expect->bytes -= 16;
  } else if (is_any<FenceProxyAsync>(i)) {
    statement.guard.lanes = 1;
  } else if (auto* cluster = std::get_if<ClusterArrive>(&i)) {
    if (cluster->relaxed) return false;
    cluster->relaxed = true;
  } else {
    return false;
  }
  return true;
}

std::vector<At> sites(const Program& program) {
  std::vector<At> found;
  for (std::size_t s = 0; s < program.segments().size(); ++s)
    for (std::size_t k = 0; k < program.segments()[s].statements.size(); ++k)
      if (synchronises(program.segments()[s].statements[k].what)) found.push_back({s, k});
  return found;
}

// Every statement deleted and narrowed, and moved by one to four places up and down.
std::vector<Mutant> mutants_of(const Program& program, std::mt19937_64& random) {
  std::vector<Mutant> mutants;
  for (const At& at : sites(program)) {
    const std::string text = text_of(program, at);
    const auto statements_of = [&](Program& p) -> std::vector<Statement>& {
      return p.segments()[at.segment].statements;
    };
    const auto position = static_cast<std::ptrdiff_t>(at.statement);
    Program deleted = program;
    statements_of(deleted).erase(statements_of(deleted).begin() + position);
    mutants.push_back({deleted, "deleted: " + text});
    Program narrowed = program;
    if (narrow(statements_of(narrowed)[at.statement]))
      mutants.push_back({narrowed, "narrowed: " + text});
    for (const int direction : {-1, 1}) {
      const auto count =
          static_cast<std::ptrdiff_t>(program.segments()[at.segment].statements.size());
      const std::ptrdiff_t to =
          position + direction * static_cast<std::ptrdiff_t>(1 + random() % 4);
      if (to < 0 || to >= count) continue;
      Program moved = program;
      const Statement statement = statements_of(moved)[at.statement];
      statements_of(moved).erase(statements_of(moved).begin() + position);
      statements_of(moved).insert(statements_of(moved).begin() + to, statement);
      mutants.push_back({moved, fmt::format("moved by {}: {}", to - position, text)});
    }
  }
  return mutants;
}

bool is_flagged(const Report& report) {
  return report.outcome != Outcome::Right || !report.suspicions.empty();
}

std::uint64_t seed() {
  const char* text = std::getenv("TCQ_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

bool all_mutants() { return std::getenv("TCQ_ALL_MUTANTS") != nullptr; }

// A sixteenth of them, or all.
TEST_P(PublishedKernel, MutantsAreScored) {
  std::mt19937_64 random(seed());
  const Program program = GetParam().make(true);
  std::map<std::string, std::pair<int, int>> score;
  for (const Mutant& mutant : mutants_of(program, random)) {
    if (!all_mutants() && random() % (tests::sanitized ? 64 : 16) != 0) continue;
    const Report report = explore(mutant.program, bounded);
    auto& [flagged, all] = score[mutant.what.substr(0, mutant.what.find_first_of(": b"))];
    ++all;
    if (is_flagged(report))
      ++flagged;
    else
      fmt::print("not flagged: {}\n", mutant.what);
  }
  for (const auto& [how, count] : score)
    fmt::print("{}: {} {} of {}\n", GetParam().name, how, count.first, count.second);
  int flagged = 0, all = 0;
  for (const auto& [how, count] : score) flagged += count.first, all += count.second;
  EXPECT_GE(flagged, 1) << "of " << all;
  const auto& [found, deleted] = score["deleted"];
  if (all_mutants()) {
    EXPECT_GE(4 * found, 3 * deleted);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PublishedKernel, testing::ValuesIn(published_kernels()),
                         [](const auto& kernel) { return std::string(kernel.param.name); });

// Loops wait for the store of the round before, also in the first one.
TEST(PublishedKernels, AWaitBeforeTheFirstGroupIsNoSuspicion) {
  for (const bool commits : {true, false}) {
    Program p({.threads = 32});
    Role one = p.warps("all", 0, 1).elect();
    one.bulk_wait_read(0);
    if (commits) one.bulk_commit();
    const Report report = explore(p, {});
    EXPECT_EQ(report.outcome, Outcome::Right);
    ASSERT_EQ(report.suspicions.size(), commits ? 0u : 1u);
    for (const Finding& f : report.suspicions) EXPECT_EQ(f.fault, Fault::WaitForNothing);
  }
}

// wgmma's groups are the warps'; an empty one is a group.
TEST(PublishedKernels, AWaitBeforeTheFirstGroupOfWgmmasIsNoSuspicion) {
  for (const bool commits : {true, false}) {
    Program p({.threads = 128});
    Role math = p.warps("math", 0, 4);
    math.wgmma_wait(0);
    if (commits) math.wgmma_commit();
    const Report report = explore(p, {});
    EXPECT_EQ(report.outcome, Outcome::Right);
    EXPECT_EQ(report.suspicions.size(), commits ? 0u : 1u);
  }
}

// One thread commits, before or behind the wait that all of them execute, in whichever order they come.
TEST(PublishedKernels, AWaitThatTheIssuingThreadExecutesTooIsNoSuspicion) {
  enum class Commits { No, Before, Behind };
  for (const auto commits : {Commits::No, Commits::Before, Commits::Behind}) {
    Program p({.threads = 64});
    if (commits == Commits::Before) p.warps("one", 0, 1).elect().bulk_commit();
    p.warps("all", 0, 2).bulk_wait_read(0);
    if (commits == Commits::Behind) p.warps("one", 0, 1).elect().bulk_commit();
    const Report report = explore(p, {});
    EXPECT_EQ(report.outcome, Outcome::Right);
    EXPECT_EQ(report.suspicions.size(), commits == Commits::No ? 1u : 0u);
  }
}

}  // namespace
}  // namespace tcq::catalogue
