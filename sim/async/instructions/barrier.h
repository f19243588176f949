// Barriers of the CTA, of a warp and of the cluster.
//
// Source: PTX ISA 9.2, 9.7.13.1 "barrier", 9.7.13.4 "barrier.cluster".
#pragma once

#include <string>
#include <vector>

#include "sim/async/instructions/clause.h"

namespace tcq::machine {

// Threads 0: all of the CTA; in compiled kernels without those that have exited, which are known as if they had come.
// Source: CUDA C++ Programming Guide, "Independent Thread Scheduling": bar.sync waits for "all non-exited threads".
// What was read before it has been performed for its threads once it completes (9.7.13.1): libcu++'s loops overwrite that without a
// proxy fence, which is disputed (ProxyFenceMissingPerformed); an arrival at an mbarrier or at barrier.cluster does not say so.
// Measured: tests/vectors/provoked.txt, P3 (a bulk copy behind it overwrites what loads in flight read).
// Inferred: what an exited warp wrote is seen behind the barrier, as kernels with an early return rely on.
// What a relaxed atomic or a volatile load saw released is taken as known behind the barrier, without a fence between: the CUDA C++
// Programming Guide's sum by the last block (Memory Fence Functions) relies on it. An access that rests on it is disputed
// (AcquireAssumed); what others learn from the warp by a release of its own does not.
// Inferred: a relaxed atomic of one thread behind the barrier releases what each thread fenced before it (__threadfence,
// __syncthreads, then thread 0 counts). The letter asks for a fence between barrier and atomic; that it is missing is not
// named.
struct BarrierSync {
  int id = 0;
  int threads = 0;

  static constexpr None registers{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct BarrierArrive {
  int id = 0;
  int threads = 0;

  static constexpr None registers{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

struct WarpSync {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "bar.warp.sync"; }
  void execute(Step&) const;
};

struct ClusterArrive {
  bool relaxed = false;
  bool aligned = true;  // else each lane arrives and waits for itself

  static constexpr None registers{}, check{}, is_blocked{}, waiting{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct ClusterWait {
  bool aligned = true;

  static constexpr None registers{}, check{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const { return "barrier.cluster.wait.acquire"; }
  void execute(Step&) const;
};

}  // namespace tcq::machine
