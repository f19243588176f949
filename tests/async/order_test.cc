// Who may rely on what, drawn at random: programs that hand bytes of shared and global memory from
// warp to warp in every way there is (order_plan.h), and the same programs with one piece of that taken
// away. The machine has to be silent exactly where a second formulation (order_graph.h) finds every
// two accesses ordered, and to name a pair of statements that are not otherwise.
// TCQ_ORDER_PROGRAMS and TCQ_SEED draw more, or others.
#include <gtest/gtest.h>

#include <cstdio>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "tests/async/order_graph.h"

namespace tcq::order {
namespace {

// --- the comparison --------------------------------------------------------------------------------

using Pair = std::pair<std::int64_t, std::int64_t>;  // statements, the smaller first

struct Expected {
  std::set<Pair> undefined;
  std::set<Pair> disputed;
};

std::int64_t statement_of(const Plan& plan, const Made& made, int warp, std::size_t op) {
  std::size_t at = made.first[static_cast<std::size_t>(warp)];
  for (std::size_t i = 0; i < op; ++i) {
    const Do what = plan.ops[static_cast<std::size_t>(warp)][i].what;
    at += what == Do::BulkStore || what == Do::BulkReduce ? 2 : 1;
  }
  return static_cast<std::int64_t>(at);
}

Expected expected_of(const Plan& plan, const Made& made) {
  Expected expected;
  Graph(plan).for_each_pair([&](const auto& a, const auto& b, Graph::Bond bond) {
    const std::int64_t x = statement_of(plan, made, a.warp, a.op);
    const std::int64_t y = statement_of(plan, made, b.warp, b.op);
    const Pair pair = {std::min(x, y), std::max(x, y)};
    if (bond == Graph::Bond::Undefined) expected.undefined.insert(pair);
    if (bond == Graph::Bond::Disputed) expected.disputed.insert(pair);
  });
  return expected;
}

Pair pair_of(const Finding& f) {
  return {std::min(f.at.statement, f.earlier.statement),
          std::max(f.at.statement, f.earlier.statement)};
}

struct Score {
  int silent = 0;
  int disputed = 0;
  int undefined = 0;
  std::map<std::string, int> faults;
};

// What the graph knows as undefined, although published kernels rely on it.
bool is_assumed(const Finding& f) {
  return f.fault == Fault::ReleaseAssumed || f.fault == Fault::ScopeAssumed ||
         f.fault == Fault::ProxyFenceMissingAcquired;
}
const Finding* undefined_in(const Report& report) {
  const auto& s = report.suspicions;
  const auto assumed = std::find_if(s.begin(), s.end(), is_assumed);
  if (assumed != s.end()) return &*assumed;
  return report.finding ? &*report.finding : nullptr;
}

void compare(const Plan& plan, const std::string& what, Score& score) {
  const Made made = make(plan);
  const Expected expected = expected_of(plan, made);
  const Report report =
      explore(made.program, {.max_executions = 3, .random_executions = 3, .seed = 7});
  const std::string text = what + "\n" + oracle::report_text(made.program, report);
  if (expected.undefined.empty()) {
    ASSERT_EQ(report.outcome, Outcome::Right) << text;
    ASSERT_EQ(report.suspicions.empty(), expected.disputed.empty()) << text;
    for (const Finding& f : report.suspicions) {
      ASSERT_TRUE(f.fault == Fault::ProxyFenceMissingUsed || f.fault == Fault::ProxyFenceByReader ||
                  f.fault == Fault::ProxyFenceMissingPerformed)
          << text;
      score.faults[info(f.fault).name]++;
      ASSERT_TRUE(expected.disputed.contains(pair_of(f))) << text;
    }
    expected.disputed.empty() ? ++score.silent : ++score.disputed;
    return;
  }
  ++score.undefined;
  const Finding* found = undefined_in(report);
  ASSERT_NE(found, nullptr) << text;
  ASSERT_TRUE(expected.undefined.contains(pair_of(*found))) << text;
  ++score.faults[info(found->fault).name];
}

// --- one piece taken away --------------------------------------------------------------------------

struct Weakened {
  std::string what;
  Plan plan;
};

void weaken_one(const Plan& plan, int warp, std::size_t i, std::mt19937& random,
                std::vector<Weakened>& out) {
  const auto w = static_cast<std::size_t>(warp);
  const Op& op = plan.ops[w][i];
  const std::string at = " of op " + std::to_string(i) + " of warp " + std::to_string(warp);
  const auto with = [&](const std::string& what, auto change) {
    out.push_back({what + at, plan});
    change(out.back().plan.ops[w]);
  };
  const auto drop = [&](auto& ops) { ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i)); };
  const auto earlier = [&](auto& ops) { std::swap(ops[i - 1], ops[i]); };
  const auto later = [&](auto& ops) { std::swap(ops[i], ops[i + 1]); };
  const bool behind_access =
      i > 0 && (is_access(plan.ops[w][i - 1].what) || plan.ops[w][i - 1].what == Do::Fence ||
                plan.ops[w][i - 1].what == Do::Use);
  const bool before_access = i + 1 < plan.ops[w].size() && is_access(plan.ops[w][i + 1].what);
  switch (op.what) {
    case Do::Arrive:
      with("relaxed arrive", [&](auto& ops) { ops[i].relaxed = true; });
      with("narrow arrive", [&](auto& ops) { ops[i].scope = Scope::Cta; });
      if (behind_access) with("early arrive", earlier);
      break;
    case Do::Wait:
      with("no wait", drop);
      with("relaxed wait", [&](auto& ops) { ops[i].relaxed = true; });
      with("narrow wait", [&](auto& ops) { ops[i].scope = Scope::Cta; });
      if (before_access) with("late wait", later);
      break;
    case Do::Fence:
      with("no fence", drop);
      with("one lane's fence", [&](auto& ops) { ops[i].lanes = first_lane_only; });
      with("another lane's fence", [&](auto& ops) { ops[i].lanes = 2; });
      with("some lanes' fence",
           [&](auto& ops) { ops[i].lanes = static_cast<std::uint32_t>(random()); });
      if (behind_access) with("early fence", earlier);
      if (before_access) with("late fence", later);
      break;
    case Do::GroupWait:
      with("no group wait", drop);
      with("group wait .read", [&](auto& ops) { ops[i].read = true; });
      if (before_access && !is_bulk(plan.ops[w][i + 1].what)) with("late group wait", later);
      break;
    case Do::ClusterArrive:
      with("relaxed cluster arrive", [&](auto& ops) { ops[i].relaxed = true; });
      if (behind_access) with("early cluster arrive", earlier);
      break;
    case Do::NamedArrive:
    case Do::NamedSync:
      out.push_back({"no named barrier" + at, plan});
      for (auto& ops : out.back().plan.ops)
        std::erase_if(ops, [&](const Op& other) {
          return (other.what == Do::NamedArrive || other.what == Do::NamedSync) &&
                 other.barrier == op.barrier;
        });
      if (op.what == Do::NamedArrive && behind_access) with("early named arrive", earlier);
      break;
    case Do::Use: with("no use", drop); break;
    default: break;
  }
}

// A barrier of the whole CTA or cluster at a time, with all that take part in it.
void drop_barrier(const Plan& plan, int nth, bool of_cluster, std::vector<Weakened>& out) {
  Plan weaker = plan;
  bool found = false;
  for (int w = 0; w < plan.all(); ++w) {
    if (!of_cluster && plan.cta_of(w) != 0) continue;
    auto& ops = weaker.ops[static_cast<std::size_t>(w)];
    int seen_first = 0;
    int seen_second = 0;
    std::erase_if(ops, [&](const Op& op) {
      const Do first = of_cluster ? Do::ClusterArrive : Do::CtaSync;
      bool goes = false;
      if (op.what == first) goes = op.needed && seen_first++ == nth;
      if (of_cluster && op.what == Do::ClusterWait) goes = op.needed && seen_second++ == nth;
      found = found || goes;
      return goes;
    });
  }
  if (found) out.push_back({of_cluster ? "no cluster barrier" : "no CTA barrier", weaker});
}

std::vector<Weakened> weakened(const Plan& plan, std::mt19937& random) {
  std::vector<Weakened> out;
  for (int w = 0; w < plan.all(); ++w)
    for (std::size_t i = 0; i < plan.ops[static_cast<std::size_t>(w)].size(); ++i)
      if (plan.ops[static_cast<std::size_t>(w)][i].needed) weaken_one(plan, w, i, random, out);
  for (int nth = 0; nth < 4; ++nth)
    for (const bool of_cluster : {false, true}) drop_barrier(plan, nth, of_cluster, out);
  return out;
}

TEST(Order, ProgramsAreWrongExactlyWhereAPathOrAFenceIsMissing) {
  const unsigned programs = from_environment("TCQ_ORDER_PROGRAMS", 600);
  std::mt19937 random(from_environment("TCQ_SEED", 11));
  Score right;
  Score weaker;
  for (unsigned n = 0; n < programs; ++n) {
    const Plan plan = Drawing(random).plan();
    const std::string name = "program " + std::to_string(n);
    compare(plan, name, right);
    ASSERT_FALSE(HasFailure());
    for (const Weakened& w : weakened(plan, random)) {
      compare(w.plan, name + ": " + w.what, weaker);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_EQ(right.silent, static_cast<int>(programs));
  EXPECT_GT(weaker.undefined, static_cast<int>(2 * programs));
  EXPECT_GT(weaker.disputed, static_cast<int>(programs / 100));
  EXPECT_GT(weaker.silent, static_cast<int>(programs));
  std::printf("%d programs silent; weakened: %d silent, %d disputed, %d wrong\n", right.silent,
              weaker.silent, weaker.disputed, weaker.undefined);
  for (const auto& [name, count] : weaker.faults) std::printf("  %s %d\n", name.c_str(), count);
}

}  // namespace
}  // namespace tcq::order
