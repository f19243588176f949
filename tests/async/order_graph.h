// Happens before, decided a second time and in another way than the machine does: every statement is a
// node, synchronisation gives the edges, and two accesses of a byte must be connected by a path, with a
// proxy fence on it where they take different proxies. See order_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/async/order_plan.h"

namespace tcq::order {

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
        const bool of_cta = named_from || a.what == Do::CtaSync;
        if (joined && of_cta) cta_barriers_.push_back({w, an.in, bn.out});
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
    if (a.writes && missing_next == 0 && a.warp != b.warp) return Bond::Disputed;
    const bool is_over = unused == 0 || is_performed(a, issue);
    return !a.writes && is_over ? Bond::Disputed : Bond::Undefined;
  }

  // Its warp arrived at a barrier of the CTA behind it, and that has completed before the copy is issued.
  bool is_performed(const Access& a, std::size_t issue) const {
    return std::any_of(cta_barriers_.begin(), cta_barriers_.end(), [&](const CtaBarrier& b) {
      return b.warp == a.warp && reaches(a.end, b.arrival) && reaches(b.passed, issue);
    });
  }

  struct CtaBarrier {
    int warp = 0;  // that arrives
    std::size_t arrival = 0, passed = 0;
  };

  const Plan& plan_;
  std::vector<CtaBarrier> cta_barriers_;
  std::vector<std::vector<Nodes>> nodes_;
  std::vector<std::vector<std::size_t>> edges_;
  std::vector<std::vector<bool>> reach_;
  std::vector<Access> accesses_;
};

}  // namespace tcq::order
