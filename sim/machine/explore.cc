#include "sim/machine/explore.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>

namespace tcq::machine {
namespace {

// What an executed step did, for deciding which earlier steps it could be exchanged with.
struct Event {
  AgentId agent = 0;
  std::vector<Touch> touches;
  std::map<AgentId, std::uint32_t> before;  // per agent: events that happened before, inclusive
  std::vector<AgentId> enabled;             // in the state before the event
};

// A state on the path that is being explored.
struct Node {
  std::vector<AgentId> enabled;
  std::set<AgentId> to_do;  // to be tried from here
  std::set<AgentId> done;
  std::map<AgentId, std::vector<Touch>> sleeping;
};

bool same_pool_conflict(const Touch& a, const Touch& b) {
  return a.taken > 0 && b.taken > 0 && a.free_before < a.taken + b.taken;
}

bool exhausts(const Touch& t) { return t.arrives && t.pending_after == 0; }
bool only_expects(const Touch& t) { return t.expects && !t.arrives; }

// Two counts of one phase, `a` first: could the other order complete the phase too early? That takes
// all arrivals, and a sum of bytes that is zero before its time.
bool counts_depend(const Touch& a, const Touch& b) {
  if (only_expects(a) && (exhausts(b) || b.pending_after == 0)) return true;
  if (only_expects(b) && a.pending_after == 0) return true;
  if (a.copied != 0 && exhausts(b)) return b.tx_after + a.copied == 0;
  return a.copied != 0 && b.copied != 0 && a.pending_after == 0 && b.tx_after < 0;
}

// Do two executed touches, `a` first, depend on their order?
bool depends(const Touch& a, const Touch& b) {
  if (a.object != b.object) return false;
  if (a.kind == TouchKind::Take || b.kind == TouchKind::Take) return same_pool_conflict(a, b);
  if (a.kind == TouchKind::Wait && b.kind == TouchKind::Wait) return false;
  if (a.kind == TouchKind::Count && b.kind == TouchKind::Count)
    return a.phase != b.phase || counts_depend(a, b);
  if (a.kind == TouchKind::Count) return a.phase < b.phase;         // it let the wait pass
  return b.phase > a.phase || (b.phase == a.phase && b.completes);  // it ends what the wait saw
}

// Could `b` have been taken in the state before `a`? Waits only pass on the parity they ask for.
bool may_be_exchanged(const Touch& a, const Touch& b) {
  if (b.kind != TouchKind::Wait || a.kind != TouchKind::Count) return true;
  if (b.parity < 0) return false;  // barriers are waited for by use, not by parity
  return (a.phase & 1) != static_cast<std::uint32_t>(b.parity);
}

// May an executed count and a sleeping one be taken in either order? If both only arrive and the
// executed one was not the last, or if both are copies that leave bytes to come.
bool counts_commute(const Touch& executed, const Touch& next) {
  if (executed.copied != 0 && next.copied != 0)
    return executed.pending_after != 0 || executed.tx_after > 0;
  const bool no_bytes =
      !executed.expects && !next.expects && executed.copied == 0 && next.copied == 0;
  return no_bytes && executed.pending_after != 0;
}

// Does an executed step wake a sleeping one that would touch `next`?
bool wakes(const std::vector<Touch>& executed, const std::vector<Touch>& next) {
  for (const Touch& e : executed)
    for (const Touch& n : next) {
      if (e.object != n.object) continue;
      if (e.kind == TouchKind::Take || n.kind == TouchKind::Take) return true;
      if (e.kind == TouchKind::Count && n.kind == TouchKind::Count && !counts_commute(e, n))
        return true;
      if (e.kind == TouchKind::Count && n.kind == TouchKind::Wait && e.completes) return true;
      if (e.kind == TouchKind::Wait && n.kind == TouchKind::Count) return true;
    }
  return false;
}

class Explorer {
 public:
  Explorer(const Program& program, const ExploreOptions& options)
      : program_(program), options_(options) {}

  Report run() {
    report_.refused = check(program_);
    if (report_.refused.fault != Fault::None) {
      report_.outcome = Outcome::Refused;
      return std::move(report_);
    }
    report_.exhaustive = explore_all() && !stopped_;
    if (!stopped_) run_eager();
    for (std::uint64_t i = 0; i < options_.random_executions && !stopped_; ++i)
      run_random(options_.seed + i);
    return std::move(report_);
  }

 private:
  // --- one execution -------------------------------------------------------------------------------

  std::unique_ptr<Cluster> start(Timing timing) {
    auto cluster = std::make_unique<Cluster>(program_, cache_, timing);
    cluster->limit_instructions(options_.max_instructions);
    cluster->fail_on(options_.fails);
    schedule_.clear();
    return cluster;
  }

  const std::vector<Touch>& step(Cluster& cluster, AgentId agent) {
    schedule_.push_back(agent);
    return cluster.step(agent);
  }

  // An execution has ended, one way or another.
  void finish(Cluster& cluster) {
    if (!cluster.finding() && !cluster.finished()) cluster.report_deadlock();
    if (!cluster.finding()) cluster.report_unwritten_reads();
    if (!cluster.finding()) cluster.finish_stores();
    ++report_.executions;
    report_.instructions += cluster.instructions();
    report_.bookkeeping_bytes = std::max(report_.bookkeeping_bytes, cluster.bookkeeping_bytes());
    for (const Finding& f : cluster.suspicions()) add_suspicion(f);
    if (cluster.finding()) return wrong(*cluster.finding());
    if (report_.executions == 1)
      report_.global = cluster.global();
    else if (cluster.global() != report_.global)
      wrong(difference(cluster.global()));
    if (report_.instructions > options_.max_total_instructions) stopped_ = true;
  }

  void wrong(const Finding& finding) {
    report_.outcome = Outcome::Wrong;
    report_.finding = finding;
    report_.schedule = schedule_;
    stopped_ = true;
  }

  Finding difference(const std::vector<std::uint8_t>& global) const {
    Finding finding;
    finding.fault = Fault::ResultsDiffer;
    const auto at = std::mismatch(global.begin(), global.end(), report_.global.begin()).first;
    finding.number = at - global.begin();
    return finding;
  }

  void add_suspicion(const Finding& finding) {
    const bool known =
        std::any_of(report_.suspicions.begin(), report_.suspicions.end(), [&](const Finding& f) {
          return f.fault == finding.fault && f.at.statement == finding.at.statement;
        });
    if (!known) report_.suspicions.push_back(finding);
  }

  // --- all orders that matter ----------------------------------------------------------------------

  // False if the bound was reached first.
  bool explore_all() {
    std::vector<Node> path;
    for (;;) {
      run_along(path);
      if (stopped_) return false;
      while (!path.empty() && path.back().to_do.empty()) path.pop_back();
      if (path.empty()) return true;
      if (report_.executions >= options_.max_executions) return false;
    }
  }

  // Repeats the path up to its last node, takes a new branch there, and goes on to the end.
  void run_along(std::vector<Node>& path) {
    const auto cluster = start(Timing::Latest);
    std::vector<Event> events;
    for (std::size_t depth = 0;; ++depth) {
      if (depth == path.size() && !extend(path, *cluster, events)) break;
      Node& node = path[depth];
      AgentId agent = 0;
      const bool repeats = depth + 1 < path.size();
      if (repeats) {
        agent = chosen_[depth];
      } else {
        if (node.to_do.empty()) break;  // all that could be tried here sleeps
        agent = *node.to_do.begin();
        node.to_do.erase(node.to_do.begin());
        chosen_.resize(depth);
        chosen_.push_back(agent);
      }
      take(path, depth, agent, *cluster, events);
      if (cluster->finding()) break;
    }
    finish_unless_redundant(*cluster);
  }

  // An execution that stopped because everything left sleeps was seen before in another order.
  void finish_unless_redundant(Cluster& cluster) {
    if (cluster.finding() || cluster.runnable().empty()) return finish(cluster);
    report_.instructions += cluster.instructions();
    if (report_.instructions > options_.max_total_instructions) stopped_ = true;
  }

  // A new node for the state the cluster is in; false if no step is left.
  bool extend(std::vector<Node>& path, const Cluster& cluster, const std::vector<Event>& events) {
    Node node;
    node.enabled = cluster.runnable();
    if (node.enabled.empty()) return false;
    if (!path.empty()) {
      const Node& last = path.back();
      const std::vector<Touch>& executed = events.back().touches;
      for (const auto& [agent, touches] : last.sleeping)
        if (agent != events.back().agent && !wakes(executed, touches))
          node.sleeping.emplace(agent, touches);
    }
    choose_first(node, events);
    path.push_back(std::move(node));
    return true;
  }

  // Fair: the agent whose last step is longest ago.
  void choose_first(Node& node, const std::vector<Event>& events) {
    const AgentId* best = nullptr;
    std::size_t best_age = 0;
    for (const AgentId& agent : node.enabled) {
      if (node.sleeping.contains(agent)) continue;
      const auto last = last_step_.find(agent);
      const std::size_t at =
          last == last_step_.end() || last->second >= events.size() ? 0 : last->second + 1;
      if (best == nullptr || at < best_age) {
        best = &agent;
        best_age = at;
      }
    }
    if (best != nullptr) node.to_do.insert(*best);
  }

  void take(std::vector<Node>& path, std::size_t depth, AgentId agent, Cluster& cluster,
            std::vector<Event>& events) {
    Node& node = path[depth];
    if (node.done.insert(agent).second || !node.sleeping.contains(agent))
      node.sleeping.emplace(agent, cluster.next_touches(agent));
    Event event;
    event.agent = agent;
    event.enabled = node.enabled;
    event.touches = step(cluster, agent);
    find_exchanges(path, depth, event, events);
    last_step_[agent] = depth;
    events.push_back(std::move(event));
  }

  // Where this step could have come before an earlier one, that order is to be tried, too.
  void find_exchanges(std::vector<Node>& path, std::size_t depth, Event& event,
                      const std::vector<Event>& events) {
    std::map<AgentId, std::uint32_t> before = knowledge_of(event.agent, events);
    std::vector<std::size_t> after;
    for (std::size_t i = 0; i < depth; ++i) {
      const Event& earlier = events[i];
      if (earlier.agent == event.agent) continue;
      bool dependent = false;
      bool exchangeable = false;
      for (const Touch& a : earlier.touches)
        for (const Touch& b : event.touches)
          if (depends(a, b)) {
            dependent = true;
            exchangeable = exchangeable || may_be_exchanged(a, b);
          }
      if (!dependent) continue;
      after.push_back(i);
      const auto known = before.find(earlier.agent);
      const bool ordered = known != before.end() && known->second > i;
      if (exchangeable && !ordered) try_before(path[i], i, event.agent, events);
    }
    for (const std::size_t i : after) join(before, events[i].before);
    before[event.agent] = static_cast<std::uint32_t>(depth + 1);
    event.before = std::move(before);
  }

  static void join(std::map<AgentId, std::uint32_t>& into,
                   const std::map<AgentId, std::uint32_t>& from) {
    for (const auto& [agent, count] : from) {
      std::uint32_t& known = into[agent];
      known = std::max(known, count);
    }
  }

  // All that happened before an agent's next step: its own last event, or the issue of its copy.
  std::map<AgentId, std::uint32_t> knowledge_of(AgentId agent,
                                                const std::vector<Event>& events) const {
    for (std::size_t i = events.size(); i-- > 0;) {
      if (events[i].agent == agent) return events[i].before;
      const auto& enabled = events[i].enabled;
      const bool was_there = std::find(enabled.begin(), enabled.end(), agent) != enabled.end();
      if (is_copy_agent(agent) && !was_there) return events[i].before;  // this step issued it
    }
    return {};
  }
  static bool is_copy_agent(AgentId agent) { return agent >> 62 != 0; }

  void try_before(Node& node, std::size_t at, AgentId agent, const std::vector<Event>& events) {
    const auto can = [&](AgentId a) {
      return std::find(node.enabled.begin(), node.enabled.end(), a) != node.enabled.end();
    };
    const auto add = [&](AgentId a) {
      if (!node.done.contains(a) && !node.sleeping.contains(a)) node.to_do.insert(a);
    };
    if (can(agent)) return add(agent);
    // Someone enabled there who leads to it: an event behind `at` that its agent knows of.
    const auto known = knowledge_of(agent, events);
    for (const AgentId candidate : node.enabled) {
      const auto found = known.find(candidate);
      if (found != known.end() && found->second > at) return add(candidate);
    }
    for (const AgentId candidate : node.enabled) add(candidate);
  }

  // --- other executions ----------------------------------------------------------------------------

  // All data moves at once.
  void run_eager() {
    const auto cluster = start(Timing::Earliest);
    for (std::uint64_t turn = 0; !cluster->finding(); ++turn) {
      const std::vector<AgentId> agents = cluster->runnable();
      if (agents.empty()) break;
      step(*cluster, agents[turn % agents.size()]);
    }
    finish(*cluster);
  }

  class Random {
   public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
    std::uint64_t below(std::uint64_t n) {
      state_ ^= state_ << 13;
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
      return (state_ >> 16) % n;
    }

   private:
    std::uint64_t state_;
  };

  // Every third execution prefers some agents over others, so that one lags far behind.
  void run_random(std::uint64_t seed) {
    Random random(seed);
    const auto cluster = start(seed % 2 == 0 ? Timing::Earliest : Timing::Latest);
    const std::uint64_t laggard = seed % 3 == 0 ? random.below(64) : 64;
    while (!cluster->finding()) {
      std::vector<AgentId> agents = cluster->runnable();
      if (agents.empty()) break;
      if (random.below(4) == 0) cluster->advance_data(random.below(1u << 20));
      std::uint64_t pick = random.below(agents.size());
      if (agents[pick] % 64 == laggard) pick = random.below(agents.size());
      step(*cluster, agents[pick]);
    }
    finish(*cluster);
  }

  const Program& program_;
  const ExploreOptions& options_;
  MmaCache cache_;
  Report report_;
  std::vector<AgentId> chosen_;
  std::vector<AgentId> schedule_;
  std::map<AgentId, std::size_t> last_step_;
  bool stopped_ = false;
};

}  // namespace

namespace {

bool same_line(const Statement& a, const Statement& b) {
  return a.what.index() == b.what.index() && a.where.line == b.where.line &&
         std::string_view(a.where.file) == b.where.file;
}

// What the statement could be weakened to, and what it then is called; nothing if it could not.
Fault weaken(Instruction& what) {
  if (auto* wait = std::get_if<WgmmaWait>(&what)) {
    ++wait->pending;
    return Fault::WaitTooStrong;
  }
  const bool fence = std::holds_alternative<FenceProxyAsync>(what) ||
                     std::holds_alternative<FenceMbarrierInit>(what) ||
                     std::holds_alternative<FenceProxyTensormap>(what) ||
                     std::holds_alternative<WgmmaFence>(what);
  if (!fence) return Fault::None;
  what = Move{};
  return Fault::FenceUnneeded;
}

// Weakens all statements of one line together, as they stand in one loop, and explores again.
void find_slow(const Program& program, const ExploreOptions& options, Report& report) {
  ExploreOptions quick = options;
  quick.find_slow = false;
  quick.random_executions = std::min<std::uint64_t>(options.random_executions, 6);
  std::vector<const Statement*> tried;
  for (std::size_t number = 0; number < program.statement_count(); ++number) {
    const Statement& original = program.statement(number);
    const bool known = std::any_of(tried.begin(), tried.end(),
                                   [&](const Statement* t) { return same_line(*t, original); });
    if (known) continue;
    Program weaker = program;
    Fault fault = Fault::None;
    for (Segment& segment : weaker.segments())
      for (Statement& statement : segment.statements)
        if (same_line(statement, original)) fault = weaken(statement.what);
    if (fault == Fault::None) continue;
    tried.push_back(&original);
    const Report other = explore(weaker, quick);
    const bool right = other.outcome == Outcome::Right && other.global == report.global &&
                       other.suspicions.size() <= report.suspicions.size();
    if (right)
      report.suspicions.push_back(
          {.fault = fault, .at = {static_cast<std::int64_t>(number), 0, -1}});
  }
}

}  // namespace

Report explore(const Program& program, const ExploreOptions& options) {
  Report report = Explorer(program, options).run();
  if (options.find_slow && report.outcome == Outcome::Right) find_slow(program, options, report);
  return report;
}

}  // namespace tcq::machine
