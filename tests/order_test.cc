// Who may rely on what, drawn at random: programs that hand bytes of shared and global memory from
// warp to warp in every way there is, and the same programs with one piece of that taken away.
//
// What is right is decided here a second time and in another way: every statement is a node of a
// graph, synchronisation gives the edges, and two accesses of a byte must be connected by a path,
// with a proxy fence on it where they take different proxies. The machine has to be silent exactly
// where that holds, and to name a pair of statements that the graph calls unordered otherwise.
// TCQ_ORDER_PROGRAMS and TCQ_SEED draw more, or others.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis.h"
#include "sim/machine/explore.h"

namespace tcq {
namespace {

using namespace machine;

constexpr std::uint32_t lane_bytes = 4;
constexpr std::uint32_t block_bytes = 128;  // a word of each lane
constexpr int shared_blocks = 3;
constexpr int global_blocks = 3;
constexpr std::uint32_t first_lane_only = 1;

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// --- programs as lists of operations ---------------------------------------------------------------

enum class Do : std::uint8_t {
  LoadShared,
  StoreShared,
  LoadMatrix,
  StoreMatrix,
  LoadGlobal,
  StoreGlobal,
  BulkLoad,
  BulkStore,
  BulkReduce,
  Use,
  Fence,
  Arrive,
  ArriveTx,
  Wait,
  NamedArrive,
  NamedSync,
  CtaSync,
  ClusterArrive,
  ClusterWait,
  GroupWait
};

struct Op {
  Do what = Do::Use;
  int shared = -1;  // block
  int global = -1;
  int barrier = -1;  // mbarrier or named barrier
  int barrier_cta = 0;
  std::uint32_t lanes = all_lanes;
  int reg = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
  bool read = false;    // GroupWait
  bool needed = false;  // may be taken away: not part of the end
};

bool reads_memory(Do what) {
  return what == Do::LoadShared || what == Do::LoadMatrix || what == Do::LoadGlobal;
}
bool is_bulk(Do what) { return what >= Do::BulkLoad && what <= Do::BulkReduce; }
bool is_access(Do what) { return what <= Do::BulkReduce; }

struct Plan {
  int ctas = 1;
  int warps = 2;  // of a CTA
  std::vector<std::vector<Op>> ops;
  std::vector<int> arrivals;  // of each mbarrier
  int named = 0;              // of all CTAs

  int cta_of(int warp) const { return warp / warps; }
  int all() const { return ctas * warps; }
};

// --- the machine's program -------------------------------------------------------------------------

struct Made {
  Program program;
  std::vector<std::size_t> first;  // statement of each warp
};

void append(Role role, const Op& op, const std::vector<Address>& barriers, std::uint32_t shared,
            std::uint64_t global, int cta) {
  const auto s = shared + block_bytes * static_cast<std::uint32_t>(std::max(op.shared, 0));
  const auto g = global + block_bytes * static_cast<std::uint64_t>(std::max(op.global, 0));
  const RegisterRange one{op.reg, 1};
  Role some = role.lanes(op.lanes);
  const auto barrier = [&] {
    const Address local = barriers[static_cast<std::size_t>(op.barrier)];
    return op.barrier_cta == cta ? local : local.in(op.barrier_cta);
  };
  switch (op.what) {
    case Do::LoadShared: some.load_shared({s, 4}, op.reg); break;
    case Do::StoreShared: some.store_shared({s, 4}, 0); break;
    case Do::LoadMatrix: some.ldmatrix({s, 16}, op.reg, 1); break;
    case Do::StoreMatrix: some.stmatrix({s, 16}, 0, 1); break;
    case Do::LoadGlobal: some.load_global(g, 4, one); break;
    case Do::StoreGlobal: some.store_global(g, 4, {0, 1}); break;
    case Do::BulkLoad: some.bulk_load(g, s, block_bytes, barrier()); break;
    case Do::BulkStore: some.bulk_store(s, g, block_bytes).bulk_commit(); break;
    case Do::BulkReduce:
      some.bulk_reduce(s, g, block_bytes, tma::Reduction::Add, tma::DataType::UInt32);
      some.bulk_commit();
      break;
    case Do::Use: some.copy({1, 1}, op.reg); break;
    case Do::Fence: some.fence_proxy_async(); break;
    case Do::Arrive: some.add(MbarrierArrive{barrier(), 1, op.scope, op.relaxed, false}); break;
    case Do::ArriveTx: some.mbarrier_arrive_expect_tx(barrier(), block_bytes); break;
    case Do::Wait: some.add(MbarrierTryWait{barrier(), 0, op.scope, op.relaxed}); break;
    case Do::NamedArrive: some.barrier_arrive(op.barrier, 64); break;
    case Do::NamedSync: some.barrier_sync(op.barrier, 64); break;
    case Do::CtaSync: some.barrier_sync(); break;
    case Do::ClusterArrive: some.add(ClusterArrive{op.relaxed}); break;
    case Do::ClusterWait: some.cluster_wait(); break;
    case Do::GroupWait: op.read ? some.bulk_wait_read(0) : some.bulk_wait(0); break;
  }
}

// One statement for each op, but two for bulk stores.
Made make(const Plan& plan) {
  Made made{Program({.cluster = plan.ctas, .threads = 32 * plan.warps}), {}};
  Program& p = made.program;
  const auto barriers = p.mbarriers("b", static_cast<int>(plan.arrivals.size()));
  const std::uint32_t shared = p.shared("shared", shared_blocks * block_bytes);
  const std::uint64_t global = p.global(std::vector<std::uint8_t>(global_blocks * block_bytes, 3));
  Role all = p.warps("all", 0, plan.warps);
  for (std::size_t b = 0; b < barriers.size(); ++b)
    all.elect().mbarrier_init(barriers[b], static_cast<std::uint32_t>(plan.arrivals[b]));
  all.elect().fence_mbarrier_init();
  all.move({0, 1}, 7);
  if (plan.ctas > 1)
    all.cluster_arrive().cluster_wait();
  else
    all.barrier_sync();
  std::size_t next = p.statement_count();
  for (int warp = 0; warp < plan.all(); ++warp) {
    const int cta = plan.cta_of(warp);
    made.first.push_back(next);
    Role role = p.warps("w" + std::to_string(warp), warp % plan.warps, 1, cta);
    for (const Op& op : plan.ops[static_cast<std::size_t>(warp)])
      append(role, op, barriers, shared, global, cta);
    next = p.statement_count();
  }
  return made;
}

// --- a right program, drawn ------------------------------------------------------------------------

class Drawing {
 public:
  explicit Drawing(std::mt19937& random) : random_(random) {
    plan_.ctas = 1 + static_cast<int>(below(2));
    plan_.warps = 2;
    plan_.ops.resize(static_cast<std::size_t>(plan_.all()));
    const unsigned steps = 3 + below(6);
    for (unsigned i = 0; i < steps; ++i) step();
    end();
  }
  const Plan& plan() const { return plan_; }

 private:
  // An access that later ones have to be ordered behind.
  struct Past {
    int warp = 0;
    Do what = Do::Use;
    int barrier = -1;  // BulkLoad
    bool writes = false;
  };
  using Place = std::pair<int, int>;  // (CTA, block) of shared memory; (-1, block) of global memory

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::vector<Op>& of(int warp) { return plan_.ops[static_cast<std::size_t>(warp)]; }
  Op& add(int warp, const Op& op) {
    of(warp).push_back(op);
    of(warp).back().needed = !ending_;
    return of(warp).back();
  }
  int new_barrier(int arrivals) {
    plan_.arrivals.push_back(arrivals);
    return static_cast<int>(plan_.arrivals.size()) - 1;
  }

  // What `from` did happens before what `to` does next.
  void hand_on(int from, int to) {
    if (from == to) return;
    const bool remote = plan_.cta_of(from) != plan_.cta_of(to);
    const unsigned way = below(remote ? 3 : 6);
    if (way < 2) return by_mbarrier(from, to, remote);
    if (way == 2 && plan_.ctas > 1) return by_cluster();
    if (way < 5 && !remote && plan_.named < 15) return by_named(from, to);
    if (!remote) return by_cta(plan_.cta_of(from));
    by_mbarrier(from, to, remote);
  }
  void by_mbarrier(int from, int to, bool remote) {
    const bool elected = below(2) == 0;
    const int b = new_barrier(elected ? 1 : 32);
    const int cta = plan_.cta_of(to);
    const Scope scope = remote || below(4) == 0 ? Scope::Cluster : Scope::Cta;
    add(from, {.what = Do::Arrive,
               .barrier = b,
               .barrier_cta = cta,
               .lanes = elected ? first_lane_only : all_lanes,
               .scope = scope});
    add(to, {.what = Do::Wait, .barrier = b, .barrier_cta = cta, .scope = scope});
  }
  void by_named(int from, int to) {
    const int id = ++plan_.named;
    add(from, {.what = below(2) == 0 ? Do::NamedArrive : Do::NamedSync, .barrier = id});
    add(to, {.what = Do::NamedSync, .barrier = id});
  }
  void by_cta(int cta) {
    for (int w = 0; w < plan_.warps; ++w) add(cta * plan_.warps + w, {.what = Do::CtaSync});
  }
  void by_cluster() {
    for (int w = 0; w < plan_.all(); ++w) add(w, {.what = Do::ClusterArrive});
    for (int w = 0; w < plan_.all(); ++w) add(w, {.what = Do::ClusterWait});
  }

  // A past access is over and known to `warp`, whose next access takes the async proxy or not.
  void settle(const Past& past, bool of_global, int warp, bool async) {
    int from = past.warp;
    if (past.what == Do::BulkLoad) {
      if (plan_.cta_of(from) == plan_.cta_of(warp)) from = warp;
      add(from, {.what = Do::Wait, .barrier = past.barrier, .barrier_cta = plan_.cta_of(from)});
    } else if (is_bulk(past.what)) {
      const bool read = !of_global && below(2) == 0;
      add(from, {.what = Do::GroupWait, .lanes = first_lane_only, .read = read});
    } else if (async && (past.writes || below(2) == 0)) {
      add(from, {.what = Do::Fence});
    } else if (async) {
      hand_on(from, warp);
      add(warp, {.what = Do::Fence, .lanes = below(2) == 0 ? first_lane_only : all_lanes});
      return;
    }
    hand_on(from, warp);
  }
  void meet(Place place, int warp, Do what, bool writes, int barrier = -1) {
    auto& past = past_[place];
    const bool reduces = what == Do::BulkReduce && place.first < 0;
    for (const Past& p : past) {
      if (!writes && !p.writes) continue;
      if (reduces && p.what == Do::BulkReduce) continue;
      settle(p, place.first < 0, warp, is_bulk(what));
    }
    if (writes && !reduces) past.clear();
    new_.push_back({place, {warp, what, barrier, writes}});
  }

  void step() {
    const int warp = static_cast<int>(below(static_cast<unsigned>(plan_.all())));
    const int cta = plan_.cta_of(warp);
    const int s = static_cast<int>(below(shared_blocks));
    const int g = static_cast<int>(below(global_blocks));
    auto what = static_cast<Do>(below(static_cast<unsigned>(Do::BulkReduce) + 1));
    const bool shared_read = what == Do::LoadShared || what == Do::LoadMatrix ||
                             what == Do::BulkStore || what == Do::BulkReduce;
    if (shared_read && !written_.contains({cta, s})) what = Do::StoreShared;
    Op op{.what = what};
    new_.clear();
    if (what == Do::BulkLoad) {
      op.barrier = new_barrier(1);
      op.barrier_cta = cta;
    }
    if (what != Do::LoadGlobal && what != Do::StoreGlobal) {
      op.shared = s;
      const bool writes =
          what == Do::StoreShared || what == Do::StoreMatrix || what == Do::BulkLoad;
      meet({cta, s}, warp, what, writes, op.barrier);
      if (writes) written_.insert({cta, s});
    }
    if (what >= Do::LoadGlobal) {
      op.global = g;
      const bool writes =
          what == Do::StoreGlobal || what == Do::BulkStore || what == Do::BulkReduce;
      meet({-1, g}, warp, what, writes, op.barrier);
    }
    if (is_bulk(what)) op.lanes = first_lane_only;
    if (reads_memory(what)) op.reg = next_register_++;
    if (what == Do::BulkLoad) {
      Op arrive = op;
      arrive.what = Do::ArriveTx;
      add(warp, arrive);
    }
    add(warp, op);
    if (reads_memory(what) && below(2) == 0)
      add(warp, {.what = Do::Use, .lanes = below(4) == 0 ? 0xffffu : all_lanes, .reg = op.reg});
    for (const auto& [place, past] : new_) past_[place].push_back(past);
  }

  // Nothing is in flight when the CTAs end.
  void end() {
    ending_ = true;
    for (int w = 0; w < plan_.all(); ++w) {
      std::set<int> barriers;
      bool stores = false;
      for (const Op& op : of(w)) {
        if (op.what == Do::BulkLoad) barriers.insert(op.barrier);
        stores = stores || op.what == Do::BulkStore || op.what == Do::BulkReduce;
      }
      for (const int b : barriers)
        add(w, {.what = Do::Wait, .barrier = b, .barrier_cta = plan_.cta_of(w)});
      if (stores) add(w, {.what = Do::GroupWait, .lanes = first_lane_only});
    }
    if (plan_.ctas > 1) by_cluster();
  }

  std::mt19937& random_;
  Plan plan_;
  std::map<Place, std::vector<Past>> past_;
  std::vector<std::pair<Place, Past>> new_;
  std::set<Place> written_;
  int next_register_ = 2;
  bool ending_ = false;
};

// --- happens before, as a graph --------------------------------------------------------------------

class Graph {
 public:
  struct Access {
    int warp = 0;
    std::size_t op = 0;
    Do what = Do::Use;
    std::size_t begin = 0;  // nodes
    std::size_t end = 0;
    std::pair<int, int> place;  // as Drawing::Place
    bool writes = false;
    bool async = false;
    bool reduces = false;
    std::uint32_t lanes = 0;
  };
  enum class Bond : std::uint8_t { Right, Disputed, Undefined };

  explicit Graph(const Plan& plan) : plan_(plan) {
    for (int w = 0; w < plan.all(); ++w) add_warp(w);
    connect();
    close();
  }

  // Of every two accesses that conflict: what is wrong, and by whom.
  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (const Access& a : accesses_)
      for (const Access& b : accesses_) {
        if (&a == &b || a.place != b.place || (!a.writes && !b.writes)) continue;
        if (a.reduces && b.reduces) continue;
        if (!reaches(a.end, b.begin) && !reaches(b.end, a.begin)) {
          if (&a < &b) visit(a, b, Bond::Undefined);
        } else if (reaches(a.end, b.begin) && !is_hidden(a, b)) {
          visit(a, b, bond(a, b));
        }
      }
  }

 private:
  struct Nodes {
    std::size_t in = 0;
    std::size_t out = 0;
  };

  std::size_t node() {
    edges_.emplace_back();
    return edges_.size() - 1;
  }
  void edge(std::size_t from, std::size_t to) { edges_[from].push_back(to); }

  void add_warp(int w) {
    nodes_.emplace_back();
    const auto& ops = plan_.ops[static_cast<std::size_t>(w)];
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      const bool splits = op.what == Do::NamedSync || op.what == Do::CtaSync;
      Nodes n;
      n.in = n.out = node();
      if (splits) n.out = node();
      if (i > 0) edge(nodes_.back().back().out, n.in);
      nodes_.back().push_back(n);
      if (is_access(op.what)) add_accesses(w, i, op, n.in);
    }
  }

  void add_accesses(int w, std::size_t i, const Op& op, std::size_t issue) {
    const int cta = plan_.cta_of(w);
    Access base{w, i, op.what, issue, issue, {}, false, is_bulk(op.what), false, op.lanes};
    const bool bulk_store = op.what == Do::BulkStore || op.what == Do::BulkReduce;
    Access shared = base;
    Access global = base;
    if (base.async) {
      shared.begin = shared.end = node();
      global.begin = global.end = bulk_store ? node() : shared.begin;
      edge(issue, shared.begin);
      if (bulk_store) edge(shared.end, global.begin);
    }
    shared.place = {cta, op.shared};
    shared.writes =
        op.what == Do::StoreShared || op.what == Do::StoreMatrix || op.what == Do::BulkLoad;
    global.place = {-1, op.global};
    global.writes = op.what == Do::StoreGlobal || bulk_store;
    global.reduces = op.what == Do::BulkReduce;
    if (op.shared >= 0) accesses_.push_back(shared);
    if (op.global >= 0) accesses_.push_back(global);
  }

  template <class Visit>
  void for_each_op(Visit visit) const {
    for (int w = 0; w < plan_.all(); ++w)
      for (std::size_t i = 0; i < plan_.ops[static_cast<std::size_t>(w)].size(); ++i)
        visit(w, i, plan_.ops[static_cast<std::size_t>(w)][i],
              nodes_[static_cast<std::size_t>(w)][i]);
  }

  void connect() {
    // Number of the use of the cluster's and of the CTA's barrier that an op is.
    const auto use_of = [&](int w, std::size_t i, Do what) {
      const auto& ops = plan_.ops[static_cast<std::size_t>(w)];
      return std::count_if(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(i),
                           [&](const Op& op) { return op.what == what; });
    };
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for_each_op([&](int w, std::size_t i, const Op& a, const Nodes& an) {
      for_each_op([&](int v, std::size_t k, const Op& b, const Nodes& bn) {
        const bool same = a.barrier == b.barrier;
        const bool remote = plan_.cta_of(w) != plan_.cta_of(v);
        const bool wide = a.scope == Scope::Cluster && b.scope == Scope::Cluster;
        const bool named_from = a.what == Do::NamedArrive || a.what == Do::NamedSync;
        const bool arrives = a.what == Do::Arrive || a.what == Do::ArriveTx;
        bool joined = false;
        if (arrives && b.what == Do::Wait && same)
          joined = !a.relaxed && !b.relaxed && (!remote || wide);
        if (named_from && b.what == Do::NamedSync && same) joined = true;
        if (a.what == Do::CtaSync && b.what == Do::CtaSync && !remote)
          joined = use_of(w, i, Do::CtaSync) == use_of(v, k, Do::CtaSync);
        if (a.what == Do::ClusterArrive && b.what == Do::ClusterWait)
          joined = !a.relaxed && use_of(w, i, Do::ClusterArrive) == use_of(v, k, Do::ClusterWait);
        if (joined) found.push_back({an.in, bn.out});
      });
    });
    for (const auto& [from, to] : found) edge(from, to);
    for (const Access& a : accesses_) connect_completion(a);
  }

  // A copy's end becomes known by a wait on its mbarrier, or for its group in its thread.
  void connect_completion(const Access& a) {
    if (!a.async) return;
    const Op& copy = plan_.ops[static_cast<std::size_t>(a.warp)][a.op];
    std::vector<std::size_t> waits;
    for_each_op([&](int v, std::size_t k, const Op& b, const Nodes& bn) {
      const bool loads = copy.what == Do::BulkLoad;
      const bool on_barrier =
          loads && b.what == Do::Wait && b.barrier == copy.barrier && !b.relaxed;
      const bool on_group = !loads && b.what == Do::GroupWait && v == a.warp && k > a.op &&
                            (!b.read || a.place.first >= 0);
      if (on_barrier || on_group) waits.push_back(bn.in);
    });
    for (const std::size_t wait : waits) edge(a.end, wait);
  }

  void close() {
    reach_.assign(edges_.size(), std::vector<bool>(edges_.size()));
    for (std::size_t from = 0; from < edges_.size(); ++from) {
      std::vector<std::size_t> stack = {from};
      while (!stack.empty()) {
        const std::size_t at = stack.back();
        stack.pop_back();
        for (const std::size_t to : edges_[at])
          if (!reach_[from][to]) {
            reach_[from][to] = true;
            stack.push_back(to);
          }
      }
    }
  }
  bool reaches(std::size_t from, std::size_t to) const { return reach_[from][to]; }

  // Something else overwrote the bytes in between.
  bool is_hidden(const Access& a, const Access& b) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& w) {
      return &w != &a && &w != &b && w.place == a.place && w.writes && !w.reduces &&
             reaches(a.end, w.begin) && reaches(w.end, b.begin);
    });
  }

  Bond bond(const Access& a, const Access& b) const {
    if (a.async || !b.async) return Bond::Right;
    const std::size_t issue = nodes_[static_cast<std::size_t>(b.warp)][b.op].in;
    const bool collective = a.what == Do::LoadMatrix || a.what == Do::StoreMatrix;
    std::uint32_t missing = collective ? all_lanes : a.lanes;
    std::uint32_t missing_next = first_lane_only;
    std::uint32_t unused = a.lanes;
    for_each_op([&](int w, std::size_t, const Op& op, const Nodes& n) {
      const bool between = reaches(a.end, n.in) && reaches(n.in, issue);
      if (!between) return;
      if (op.what == Do::Fence && w == a.warp) missing &= ~op.lanes;
      if (op.what == Do::Fence && w == b.warp) missing_next &= ~op.lanes;
      const Op& load = plan_.ops[static_cast<std::size_t>(a.warp)][a.op];
      if (op.what == Do::Use && w == a.warp && op.reg == load.reg) unused &= ~op.lanes;
    });
    if (missing == 0 || (!a.writes && missing_next == 0)) return Bond::Right;
    return !a.writes && unused == 0 ? Bond::Disputed : Bond::Undefined;
  }

  const Plan& plan_;
  std::vector<std::vector<Nodes>> nodes_;
  std::vector<std::vector<std::size_t>> edges_;
  std::vector<std::vector<bool>> reach_;
  std::vector<Access> accesses_;
};

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
      ASSERT_EQ(f.fault, Fault::ProxyFenceMissingAfterUse) << text;
      ASSERT_TRUE(expected.disputed.contains(pair_of(f))) << text;
    }
    expected.disputed.empty() ? ++score.silent : ++score.disputed;
    return;
  }
  ++score.undefined;
  ASSERT_EQ(report.outcome, Outcome::Wrong) << text;
  ASSERT_TRUE(report.finding) << text;
  ASSERT_TRUE(expected.undefined.contains(pair_of(*report.finding))) << text;
  ++score.faults[info(report.finding->fault).name];
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

// --- lanes -----------------------------------------------------------------------------------------

// One access by some lanes, then fences by some lanes, then a bulk operation over some of the bytes.
struct LaneCase {
  enum Form : std::uint8_t { Store, Load, MatrixStore, MatrixLoad, GlobalStore, GlobalLoad };
  Form form = Store;
  int bytes = 4;  // of a lane
  int count = 1;  // matrices
  bool transposed = false;
  Address to;  // relative
  std::uint32_t lanes = all_lanes;
  std::vector<std::uint32_t> fences;
  std::uint32_t begin = 0;  // what the bulk operation accesses
  std::uint32_t end = 16;

  bool is_matrix() const { return form == MatrixStore || form == MatrixLoad; }
  bool is_read() const { return form == Load || form == MatrixLoad || form == GlobalLoad; }
  bool is_global() const { return form == GlobalStore || form == GlobalLoad; }
};

constexpr std::uint32_t room_bytes = 2048;

LaneCase draw_lane_case(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  LaneCase c;
  c.form = static_cast<LaneCase::Form>(below(6));
  c.bytes = 4 << below(3);
  c.count = 1 << below(3);
  c.transposed = below(2) == 0;
  const auto unit = static_cast<std::uint32_t>(c.is_matrix() ? 16 : c.is_global() ? 4 : c.bytes);
  if (below(2) == 0 || c.is_global()) {
    const auto stride = static_cast<std::int32_t>(unit * below(4));
    const bool down = below(4) == 0;
    c.to = Address(down ? 1536 : 512 + 16 * below(4), down ? -stride : stride);
  } else {
    std::vector<std::uint32_t> table(32);
    for (std::uint32_t& at : table) at = unit * below(1024 / unit);
    c.to = Address(512);
    c.to.table = std::make_shared<const std::vector<std::uint32_t>>(std::move(table));
  }
  if (!c.is_matrix() && below(3) != 0)
    c.lanes = static_cast<std::uint32_t>(random()) | 1u << below(32);
  for (unsigned n = below(4); n > 0; --n) {
    const std::uint32_t mask =
        static_cast<std::uint32_t>(random()) | static_cast<std::uint32_t>(random());
    c.fences.push_back(below(5) == 0 ? 1u : below(4) == 0 ? all_lanes : mask);
  }
  if (below(3) == 0) c.fences.push_back(c.lanes);
  c.begin = 16 * below(room_bytes / 16);
  c.end = c.begin + 16 * (1 + below((room_bytes - c.begin) / 16));
  return c;
}

// Byte by byte and lane by lane; a matrix access is every lane's.
bool lacks_a_fence(const LaneCase& c) {
  std::uint32_t fenced = 0;
  for (const std::uint32_t mask : c.fences) fenced |= mask;
  for (std::uint32_t byte = c.begin; byte < c.end; ++byte)
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint32_t at = c.to.of(lane);
      if (c.is_matrix()) {
        const bool row = lane < 8 * c.count && byte >= at && byte < at + 16;
        if (row && fenced != all_lanes) return true;
        continue;
      }
      const bool touches = byte >= at && byte < at + static_cast<std::uint32_t>(c.bytes);
      if ((c.lanes >> lane & 1) != 0 && touches && (fenced >> lane & 1) == 0) return true;
    }
  return false;
}

Program program_of(const LaneCase& c) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const std::uint32_t room = p.shared("room", room_bytes);
  const std::uint32_t other = p.shared("other", room_bytes);
  const std::uint64_t global = p.global(std::vector<std::uint8_t>(room_bytes));
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(room_bytes));
  Role setup = p.warps("setup", 1, 1);
  setup.elect().mbarrier_init(full, 1);
  setup.move({0, 1}, 0);
  for (std::uint32_t at = 0; at < room_bytes; at += 128)
    setup.store_shared({room + at, 4}, 0).store_shared({other + at, 4}, 0);
  setup.fence_proxy_async();
  p.warps("all", 0, 2).barrier_sync();
  Role one = p.warps("one", 0, 1);
  one.move({0, 4}, 5);
  Role some = one.lanes(c.lanes);
  Address at = c.to;
  at.base += room;
  const RegisterRange regs{0, c.bytes / 4};
  switch (c.form) {
    case LaneCase::Store: some.store_shared(at, 0, c.bytes); break;
    case LaneCase::Load: some.load_shared(at, 0, c.bytes); break;
    case LaneCase::MatrixStore: one.stmatrix(at, 0, c.count, c.transposed); break;
    case LaneCase::MatrixLoad: one.ldmatrix(at, 0, c.count, c.transposed); break;
    case LaneCase::GlobalStore:
      some.store_global(global + c.to.base, c.to.stride_bytes, regs);
      break;
    case LaneCase::GlobalLoad: some.load_global(global + c.to.base, c.to.stride_bytes, regs); break;
  }
  for (const std::uint32_t mask : c.fences) one.lanes(mask).fence_proxy_async();
  p.warps("all", 0, 2).barrier_sync();
  Role copier = p.warps("copier", 1, 1).elect();
  const std::uint32_t bytes = c.end - c.begin;
  const bool loads = c.is_global() ? !c.is_read() : c.is_read();
  if (loads) {
    copier.mbarrier_arrive_expect_tx(full, bytes);
    copier.bulk_load(global + c.begin, (c.is_global() ? other : room) + c.begin, bytes, full);
    copier.mbarrier_try_wait(full, 0);
  } else {
    copier.bulk_store((c.is_global() ? other : room) + c.begin,
                      (c.is_global() ? global : out) + c.begin, bytes);
    copier.bulk_commit().bulk_wait(0);
  }
  return p;
}

TEST(Order, EveryLaneThatTouchedAByteHasToFence) {
  std::mt19937 random(from_environment("TCQ_SEED", 12));
  const unsigned cases = from_environment("TCQ_ORDER_LANES", 3000);
  int wrong = 0;
  for (unsigned n = 0; n < cases; ++n) {
    const LaneCase c = draw_lane_case(random);
    const Program p = program_of(c);
    const Report report = explore(p, {.max_executions = 1, .random_executions = 0});
    const bool lacks = lacks_a_fence(c);
    wrong += lacks ? 1 : 0;
    const Fault fault = c.is_read() ? Fault::ProxyFenceMissingAfterRead : Fault::ProxyFenceMissing;
    const Fault found = report.finding ? report.finding->fault : Fault::None;
    ASSERT_EQ(found, lacks ? fault : Fault::None) << "case " << n << "\n"
                                                  << oracle::report_text(p, report);
  }
  std::printf("%u cases, %d without a fence\n", cases, wrong);
  EXPECT_GT(wrong, static_cast<int>(cases / 8));
  EXPECT_LT(wrong, static_cast<int>(cases - cases / 8));
}

}  // namespace
}  // namespace tcq
