// Programs that hand bytes of shared and global memory from warp to warp, as lists of operations, drawn
// at random so that they are right; what that means decides order_graph.h. See order_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/async/program.h"

namespace tcq::order {

using namespace machine;

inline constexpr std::uint32_t block_bytes = 128;  // a word of each lane
inline constexpr int shared_blocks = 3;
inline constexpr int global_blocks = 3;
inline constexpr std::uint32_t first_lane_only = 1;

inline unsigned from_environment(const char* name, unsigned otherwise) {
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

inline bool reads_memory(Do what) {
  return what == Do::LoadShared || what == Do::LoadMatrix || what == Do::LoadGlobal;
}
inline bool is_bulk(Do what) { return what >= Do::BulkLoad && what <= Do::BulkReduce; }
inline bool is_access(Do what) { return what <= Do::BulkReduce; }

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

inline void append(Role role, const Op& op, const std::vector<Address>& barriers,
                   std::uint32_t shared, std::uint64_t global, int cta) {
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
inline Made make(const Plan& plan) {
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

}  // namespace tcq::order
