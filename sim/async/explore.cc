#include "sim/async/explore.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "sim/async/cluster.h"
#include "sim/async/happened_before.h"
#include "sim/async/replay.h"
#include "sim/async/touch_order.h"

namespace tcq::machine {
namespace {

// A state on the path that is being explored.
struct Node {
  std::vector<AgentId> enabled;
  std::set<AgentId> to_do;  // to be tried from here
  std::set<AgentId> done;
  std::map<AgentId, std::vector<Touch>> sleeping;
};

int warps_of(const Program& program) { return program.launch().cluster * program.warps_per_cta(); }

class Explorer {
 public:
  // `racing`: null, or what is left out and grows with what is noted (unused_loads.h).
  Explorer(const Program& program, const ExploreOptions& options, RacingLoads* racing = nullptr)
      : program_(program), options_(options), racing_(racing) {}

  void assume(Contents contents) { report_.schedule.contents = contents; }

  Report run() {
    report_.refused = check(program_);
    if (report_.refused.fault != Fault::None) {
      report_.outcome = Outcome::Refused;
      return std::move(report_);
    }
    report_.schedule.max_instructions = options_.max_instructions;
    report_.schedule.fails = options_.fails;
    report_.exhaustive = explore_all() && !stopped_;
    if (!stopped_ && options_.eager) run_eager();
    for (std::uint64_t i = 0; i < options_.random_executions && !stopped_; ++i)
      run_random(options_.seed + i);
    if (!report_.exhaustive && options_.eager) run_early();
    for (std::size_t i = 0; i < late_looks_.size() && !stopped_; ++i) run_late(late_looks_[i]);
    name_program();
    return std::move(report_);
  }

 private:
  void name_program() {
    if (!options_.names_right && !report_.finding && !report_.other_schedule) return;
    report_.schedule.program = fingerprint(program_);
    if (racing_ != nullptr) report_.schedule.left_out = *racing_;
    if (!report_.other_schedule) return;
    report_.other_schedule->program = report_.schedule.program;
    report_.other_schedule->left_out = report_.schedule.left_out;
  }

  // --- one execution -------------------------------------------------------------------------------

  std::unique_ptr<Cluster> start(Timing timing) {
    auto cluster = std::make_unique<Cluster>(program_, cache_, timing, options_.max_instructions,
                                             report_.schedule.contents);
    cluster->fail_on(options_.fails);
    if (racing_ != nullptr) cluster->leave_out(*racing_);
    execution_.timing = timing;
    execution_.steps.clear();
    return cluster;
  }

  const std::vector<Touch>& step(Cluster& cluster, AgentId agent) {
    if (report_.executions == 0) note_looking(cluster, agent);
    const std::size_t looks = cluster.late_words().looks.size();
    const std::vector<Touch>& touches = record_step(cluster, agent, execution_.steps);
    if (cluster.late_words().looks.size() != looks) note_late(cluster, looks);
    return touches;
  }

  void advance_data(Cluster& cluster, std::uint64_t choice) {
    if (cluster.advance_data(choice))
      execution_.steps.push_back({.kind = StepKind::Data, .what = choice});
  }

  // An execution has ended, one way or another.
  void finish(Cluster& cluster) {
    end_execution(cluster);
    if (racing_ != nullptr) *racing_ = cluster.racing_loads();
    ++report_.executions;
    report_.instructions += cluster.instructions();
    report_.bookkeeping_bytes = std::max(report_.bookkeeping_bytes, cluster.bookkeeping_bytes());
    for (const Finding& f : cluster.suspicions()) add_suspicion(f);
    for (const int warp : cluster.early_warps())
      if (std::find(early_warps_.begin(), early_warps_.end(), warp) == early_warps_.end())
        early_warps_.push_back(warp);
    if (cluster.finding()) return wrong(*cluster.finding());
    if (report_.executions == 1) {
      report_.changes = cluster.changes();
      report_.cancelled = cluster.cancelled();
      if (options_.whole_global) report_.global = cluster.global();
      report_.schedule.execution = execution_;
    } else if (const auto byte = cluster.first_difference(report_.changes)) {
      differ(cluster, *byte);
    }
    if (report_.instructions > options_.max_total_instructions) stopped_ = true;
  }

  void differ(const Cluster& cluster, std::size_t byte) {
    if (options_.bits_may_differ) {
      if (report_.other_schedule) return;
      report_.differs_at = byte;
      if (options_.whole_global) report_.other_global = cluster.global();
      report_.other_schedule = report_.schedule;
      report_.other_schedule->against = report_.schedule.execution;
      report_.other_schedule->execution = execution_;
      return;
    }
    report_.schedule.against = report_.schedule.execution;
    wrong(results_differ(byte));
  }

  void wrong(const Finding& finding) {
    report_.outcome = Outcome::Wrong;
    report_.finding = finding;
    report_.schedule.execution = execution_;
    stopped_ = true;
  }

  void add_suspicion(const Finding& finding) {
    const bool known =
        std::any_of(report_.suspicions.begin(), report_.suspicions.end(), [&](const Finding& f) {
          const bool is_one =
              f.fault == Fault::ArrivalsUneven || f.at.statement == finding.at.statement;
          return f.fault == finding.fault && is_one;
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
    HappenedBefore order(warps_of(program_));
    for (std::size_t depth = 0;; ++depth) {
      if (depth == path.size() && !extend(path, *cluster, order)) break;
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
      take(path, depth, agent, *cluster, order);
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
  bool extend(std::vector<Node>& path, const Cluster& cluster, const HappenedBefore& order) {
    Node node;
    node.enabled = cluster.runnable();
    if (node.enabled.empty()) return false;
    if (!path.empty()) {
      const Node& last = path.back();
      for (const auto& [agent, touches] : last.sleeping)
        if (agent != chosen_.back() && !wakes(order.last_touches(), touches))
          node.sleeping.emplace(agent, touches);
    }
    choose_first(node, order.size());
    path.push_back(std::move(node));
    return true;
  }

  // Fair: the agent whose last step is longest ago.
  void choose_first(Node& node, std::size_t steps) {
    const AgentId* best = nullptr;
    std::size_t best_age = 0;
    for (const AgentId& agent : node.enabled) {
      if (node.sleeping.contains(agent)) continue;
      const auto last = last_step_.find(agent);
      const std::size_t at =
          last == last_step_.end() || last->second >= steps ? 0 : last->second + 1;
      if (best == nullptr || at < best_age) {
        best = &agent;
        best_age = at;
      }
    }
    if (best != nullptr) node.to_do.insert(*best);
  }

  void take(std::vector<Node>& path, std::size_t depth, AgentId agent, Cluster& cluster,
            HappenedBefore& order) {
    Node& node = path[depth];
    if (node.done.insert(agent).second || !node.sleeping.contains(agent))
      node.sleeping.emplace(agent, cluster.next_touches(agent));
    order.note_enabled(node.enabled);
    for (const std::size_t earlier : order.take(agent, step(cluster, agent)))
      try_before(path[earlier], earlier, agent, order);
    last_step_[agent] = depth;
  }

  // The last step could have come before an earlier one: that order is to be tried, too.
  void try_before(Node& node, std::size_t at, AgentId agent, const HappenedBefore& order) {
    const auto can = [&](AgentId a) {
      return std::find(node.enabled.begin(), node.enabled.end(), a) != node.enabled.end();
    };
    const auto add = [&](AgentId a) {
      if (!node.done.contains(a) && !node.sleeping.contains(a)) node.to_do.insert(a);
    };
    if (can(agent)) return add(agent);
    // Someone enabled there who leads to it: its agent knew of a step of theirs from there on.
    for (const AgentId candidate : node.enabled)
      if (order.knew_of(candidate, at)) return add(candidate);
    for (const AgentId candidate : node.enabled) add(candidate);
  }

  // --- other executions ----------------------------------------------------------------------------

  // All data moves at once; whoever tests mbarriers or looks at words does so as early, and in vain as often, as it may.
  void run_eager() {
    if (looking_.empty() || !run_looking()) run_in_turns();
  }

  void run_in_turns() {
    const auto cluster = start(Timing::Earliest);
    take_turns(*cluster);
    finish(*cluster);
  }

  void take_turns(Cluster& cluster) {
    for (std::uint64_t turn = 0; !cluster.finding(); ++turn) {
      const std::vector<AgentId> agents = cluster.runnable();
      if (agents.empty()) break;
      step(cluster, agents[turn % agents.size()]);
    }
  }

  using Tests = std::map<std::pair<AgentId, std::int64_t>, int>;  // in vain, by statement

  // Who would go first: of those that test or look the first that has not done so in vain for long.
  const AgentId* first_looking(const Cluster& cluster, const Tests& in_vain,
                               std::initializer_list<const std::vector<AgentId>*> lists) const {
    for (const std::vector<AgentId>* agents : lists)
      for (const AgentId& agent : *agents)
        if (looking_.contains(agent) && is_patient(cluster, agent, in_vain)) return &agent;
    return nullptr;
  }

  // False: it ended in the trap of a watchdog.
  bool run_looking() {
    constexpr std::size_t most_rounds =
        20'000;  // of all who can step, and only test in vain: nothing ends them
    const auto cluster = start(Timing::Earliest);
    Tests in_vain;
    std::size_t idle = 0;
    for (std::uint64_t turn = 0; !cluster->finding(); ++turn) {
      const std::vector<AgentId> agents = cluster->runnable();
      const std::vector<AgentId> waiting = cluster->may_look_in_vain();
      const std::vector<AgentId>& some = agents.empty() ? waiting : agents;
      if (some.empty() || idle > most_rounds * some.size()) break;
      const AgentId* early = first_looking(*cluster, in_vain, {&agents, &waiting});
      const AgentId agent = early != nullptr ? *early : some[turn % some.size()];
      const std::pair at{agent, cluster->next_statement_number(agent)};
      const bool waits = std::ranges::find(waiting, agent) != waiting.end();
      const bool in_vain_now = std::ranges::any_of(step(*cluster, agent), is_vain_wait) || waits;
      if (in_vain_now) ++in_vain[at];
      idle = in_vain_now && early == nullptr ? idle + 1 : 0;
    }
    if (!in_vain.empty() && has_trapped(*cluster)) return false;
    finish(*cluster);
    return true;
  }

  // Behind tests in vain it is a watchdog, which time alone would wake.
  static bool has_trapped(const Cluster& cluster) {
    return cluster.finding() && cluster.finding()->fault == Fault::KernelTrap;
  }

  static bool is_patient(const Cluster& cluster, AgentId agent, const Tests& in_vain) {
    constexpr int most_looks = 64, most_tests = 1024;
    const auto at = in_vain.find({agent, cluster.next_statement_number(agent)});
    if (at == in_vain.end()) return true;
    const Instruction* next = cluster.next_instruction(agent);
    const bool tests = next != nullptr && std::holds_alternative<MbarrierTestWait>(*next);
    return at->second < (tests ? most_tests : most_looks);
  }

  // In the first execution: the warps of a compiled kernel that test or look.
  void note_looking(const Cluster& cluster, AgentId agent) {
    if (program_.feeder() == nullptr) return;
    const Instruction* next = is_copy(agent) ? nullptr : cluster.next_instruction(agent);
    if (next == nullptr || looking_.contains(agent)) return;
    const auto* access = std::get_if<LaneAtomic>(next);
    const bool looks = access != nullptr && access->update == nullptr;
    if (looks || std::holds_alternative<MbarrierTestWait>(*next)) looking_.insert(agent);
  }

  // Arrivals that may end a phase that they were not meant for: those of each such warp first.
  void run_early() {
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < early_warps_.size() && i < most && !stopped_; ++i)
      run_favouring(static_cast<AgentId>(early_warps_[i]));
  }

  // One goes on whenever it can, or until it has waited in vain; between, a step of one of the others.
  void run_favouring(AgentId favoured) {
    constexpr int longest_turn = 16;  // of one that waits by other means
    const auto cluster = start(Timing::Earliest);
    AgentId other = 0;
    int turn = 0;
    while (!cluster->finding()) {
      const std::vector<AgentId> agents = cluster->runnable();
      if (agents.empty()) break;
      const bool goes_on =
          turn < longest_turn && std::find(agents.begin(), agents.end(), favoured) != agents.end();
      if (!goes_on) other = next_below(agents, other);
      const std::vector<Touch>& touches = step(*cluster, goes_on ? favoured : other);
      const bool in_vain = std::any_of(touches.begin(), touches.end(), is_vain_wait);
      turn = !goes_on ? 0 : in_vain ? longest_turn : turn + 1;
    }
    finish(*cluster);
  }

  // The largest below `agent`; of none, the largest.
  static AgentId next_below(const std::vector<AgentId>& agents, AgentId agent) {
    AgentId largest = 0, below = 0;
    bool is_any_below = false;
    for (const AgentId a : agents) {
      largest = std::max(largest, a);
      if (a >= agent) continue;
      below = std::max(below, a);
      is_any_below = true;
    }
    return is_any_below ? below : largest;
  }

  // A look of the present execution that may find what was there before (late_words.h), and how it came to it.
  struct NotedLook {
    Finding finding;
    Execution execution;
  };

  void note_late(const Cluster& cluster, std::size_t first) {
    constexpr std::size_t most_looks = 8, most_steps = 1 << 20;
    const std::vector<Finding>& looks = cluster.late_words().looks;
    for (std::size_t i = first; i < looks.size(); ++i) {
      const bool is_noted = std::ranges::any_of(late_looks_, [&](const NotedLook& noted) {
        return noted.finding.at.statement == looks[i].at.statement;
      });
      if (!is_noted && late_looks_.size() < most_looks && execution_.steps.size() <= most_steps)
        late_looks_.push_back({looks[i], execution_});
    }
  }

  // The same steps up to the look, then all in turns.
  std::unique_ptr<Cluster> repeat(const NotedLook& look, bool is_late) {
    auto cluster = start(look.execution.timing);
    if (is_late) cluster->look_late(look.finding.at.statement);
    for (const ScheduleStep& s : look.execution.steps) {
      if (s.kind == StepKind::Data)
        advance_data(*cluster, s.what);
      else
        record_step(*cluster, s.what, execution_.steps);
    }
    take_turns(*cluster);
    end_execution(*cluster);
    report_.instructions += cluster->instructions();
    return cluster;
  }

  // Does anything come of it that is not so where the look finds what is there? Bits are not asked where other orders change them as well.
  void run_late(const NotedLook& look) {
    if (report_.instructions > options_.max_total_instructions) return;
    const auto differs = [&](const Cluster& c) {
      return !report_.other_schedule && c.first_difference(report_.changes).has_value();
    };
    auto cluster = repeat(look, false);
    if (cluster->finding() || differs(*cluster)) return;
    cluster.reset();  // the memory is one
    cluster = repeat(look, true);
    const LateWords& words = cluster->late_words();
    if (!words.late || words.is_repeated) return;
    if (!cluster->finding() && !differs(*cluster)) return;
    report_.schedule.late_at = look.finding.at.statement;
    wrong(look.finding);
  }

  static bool is_vain_wait(const Touch& touch) {
    return touch.kind == TouchKind::Wait && touch.parity == static_cast<int>(touch.phase & 1);
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
    bool in_vain = false;
    while (!cluster->finding()) {
      std::vector<AgentId> agents = cluster->runnable();
      if (agents.empty()) break;
      const std::vector<AgentId> waiting = cluster->may_look_in_vain();
      if (!waiting.empty() && random.below(2) == 0) {
        agents = waiting;
        in_vain = true;
      }
      if (random.below(4) == 0) advance_data(*cluster, random.below(1u << 20));
      if (cluster->finding()) break;
      std::uint64_t pick = random.below(agents.size());
      if (agents[pick] % 64 == laggard) pick = random.below(agents.size());
      step(*cluster, agents[pick]);
    }
    if (!in_vain || !has_trapped(*cluster)) finish(*cluster);
  }

  const Program& program_;
  const ExploreOptions& options_;
  RacingLoads* racing_;
  MmaCache cache_;
  Report report_;
  std::vector<int> early_warps_;
  std::vector<AgentId> chosen_;
  Execution execution_;  // the present one
  std::unordered_map<AgentId, std::size_t> last_step_;
  std::set<AgentId> looking_;
  std::deque<NotedLook> late_looks_;
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
    const bool right = other.outcome == Outcome::Right && other.changes == report.changes &&
                       other.suspicions.size() <= report.suspicions.size();
    if (right)
      report.suspicions.push_back(
          {.fault = fault, .at = {static_cast<std::int64_t>(number), 0, -1}});
  }
}

// The race of a load, once more: until no race has to be put aside, or a use of one or another Fault has shown.
Report settle_race(const Program& program, const ExploreOptions& options, Report race) {
  constexpr int most_rounds = 8;  // what is left out may have hidden an earlier load
  RacingLoads racing;
  for (int round = 0; round < most_rounds; ++round) {
    const std::uint64_t before = racing.put_aside();
    Report again = Explorer(program, options, &racing).run();
    race.instructions = again.instructions += race.instructions;
    const bool is_used = again.finding && is_race_of_load(*again.finding);
    if (is_used && !is_same_race(*again.finding, *race.finding)) return again;
    race.behind = again.finding;
    if (again.outcome != Outcome::Right) break;
    if (racing.put_aside() == before) return again;
  }
  return race;
}

// Something depends on what nothing has written; the same with other contents of it, until one leaves other bytes or fails.
Report settle_contents(const Program& program, const ExploreOptions& options, Report used) {
  std::optional<Report> first;
  for (const Contents contents : tried_contents) {
    Explorer explorer(program, options);
    explorer.assume(contents);
    Report again = explorer.run();
    used.instructions += again.instructions;
    if (again.outcome != Outcome::Right) return used;
    if (!first)
      first = std::move(again);
    else if (again.changes != first->changes)
      return used;
  }
  Finding& said = first->suspicions.emplace_back(*used.finding);
  said.fault = Fault::UninitializedAssumed;
  first->instructions = used.instructions;
  return *std::move(first);
}

// Of what a load brought, whose bytes nobody wrote, not even too late; or of what the executor followed.
bool is_use_of_unwritten(const Finding& finding) {
  if (finding.fault == Fault::RegisterUninitialized) return finding.registers.count == 0;
  if (finding.fault == Fault::ShuffleSourceInactive || finding.fault == Fault::LocalUninitialized)
    return true;
  return finding.fault == Fault::SharedUninitialized && finding.at_kind == AccessKind::Load &&
         finding.earlier.statement < 0;
}

}  // namespace

Report explore(const Program& program, const ExploreOptions& options) {
  Report report = Explorer(program, options).run();
  const bool follows_values = program.feeder() != nullptr;
  if (follows_values && report.finding && is_race_of_load(*report.finding))
    report = settle_race(program, options, std::move(report));
  const bool may_dispute = !fails(FaultKind::Disputed, options.fails);
  if (follows_values && may_dispute && report.finding && is_use_of_unwritten(*report.finding))
    report = settle_contents(program, options, std::move(report));
  if (options.find_slow && report.outcome == Outcome::Right) find_slow(program, options, report);
  return report;
}

}  // namespace tcq::machine
