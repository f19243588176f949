// What of tcgen05 is in flight in a cluster, and what its warps know of Tensor Memory.
//
// Part of cluster_state.h; changed by instructions/tcgen05.h, tmem.h and what they share only. An operation
// stays in the list until its data has moved: when a commit that tracks it arrives, a wait or a use
// of a register forces it, one that must come behind it moves, or chance decides so.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/async/clock.h"
#include "sim/async/finding.h"
#include "sim/async/program.h"
#include "sim/async/tensor_memory.h"
#include "sim/isa/tmem/address.h"

namespace tcq::machine {

// mma, cp and shift of one thread with one cta_group: what a commit tracks.
struct Tcgen05Thread {
  int warp = 0;
  int lane = 0;
  int cta_group = 1;
  Stream issue = 0;
  Stream done = 0;
  Tick issued = 0;
  Tick committed = 0;
  Place last;
};

using MoveTmem = Fault(const Instruction&, TmemData&);

struct Tcgen05Operation {
  MoveTmem* move = nullptr;  // its data, when they are due
  const Instruction* what = nullptr;
  std::uint32_t number = 0;
  std::uint32_t statement = 0;
  TmemAction action = TmemAction::Mma;
  int warp = 0;
  int thread = -1;  // of Tcgen05State::threads; ld and st: -1
  Tick tick = 0;
  std::vector<std::uint32_t> before;  // operations whose data moves first
  tcgen05::TmemAddress at;            // of D, or of the only operand in Tensor Memory
  tcgen05::TmemAddress a;
  tcgen05::TmemAddress scale_a;
  tcgen05::TmemAddress scale_b;
  tcgen05::TmemAddress metadata;
  std::vector<std::array<std::uint32_t, warp_threads>> registers;  // st
};

// A commit whose arrival is still to come.
struct CommitInFlight {
  std::uint64_t id = 0;
  std::uint32_t statement = 0;
  int warp = 0;
  int lane = 0;
  int slot = 0;     // the mbarrier
  int thread = -1;  // -1: nothing to track
  Tick tick = 0;
  Clock carried;  // what its thread knew, without its own generic accesses
  Clock lost;     // and what it would have known
};

// On which mbarriers a commit has arrived or will.
struct CommitTarget {
  std::uint32_t address = 0;
  std::uint32_t ctas = 0;
  Place at;
};

// alloc and dealloc of a pair of CTAs: the one that came first waits for the other.
struct PairedStep {
  bool waits = false;
  int cta = 0;
  int columns = 0;
  Place at;
  std::uint32_t done = 0;   // steps that both CTAs have taken
  int granted_column = -1;  // for the one that came first
};

struct Tcgen05State {
  std::vector<TensorMemory> memory;  // per CTA
  std::vector<TmemPool> pools;       // per CTA
  std::vector<PairedStep> pairs;     // per two CTAs
  TmemHistory history;
  std::vector<Tcgen05Thread> threads;
  std::vector<Tcgen05Operation> operations;  // whose data has not moved
  std::vector<CommitInFlight> commits;
  std::vector<CommitTarget> targets;
  std::vector<Finding> uninitialized;  // reads of cells that nothing had written
  std::uint32_t next_number = 1;
};

// Lanes of a register that hold what a ld read from cells that nothing had written.
struct PoisonedRegister {
  std::uint32_t lanes = 0;
  Place ld;
  TmemCells cells;
  Fault fault = Fault::TmemUninitialized;
};

// ld or st of one warp.
struct TmemTransfers {
  Stream done = 0;
  Stream waited = 0;
  Stream used = 0;  // ld: all values up to here
  Tick issued = 0;
};

// A ld with no wait::ld behind it yet: which lanes have not used which of its registers.
struct UnusedLoad {
  Tick tick = 0;
  int reg = 0;
  std::vector<std::uint32_t> lanes;
};

struct WarpTmem {
  Clock fenced;    // what it may rely on in Tensor Memory
  Clock observed;  // by relaxed waits: fence::after_thread_sync makes it known
  TmemTransfers loads;
  TmemTransfers stores;
  std::vector<UnusedLoad> unused;  // in order
  Stream commits = 0;
  Tick commits_issued = 0;
  Place last_commit;
  std::uint32_t awaited = 0;             // PairedStep::done that it waits for
  std::vector<PoisonedRegister> poison;  // per register
};

}  // namespace tcq::machine
