// The whole state of a cluster of CTAs that runs a program, and what every part of the machine asks of
// it. Who may change what: cluster.h takes the steps, instructions/ execute statements.
//
// What warps know of each other is kept as vector clocks (clock.h); shared memory remembers who touched
// each byte (provenance.h), and so does global memory (global_provenance.h), registers which wgmma owns
// them (wgmma_order.h), Tensor Memory who touched which cells (tcgen05_state.h).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/async/agent.h"
#include "sim/async/clock.h"
#include "sim/async/finding.h"
#include "sim/async/global_provenance.h"
#include "sim/async/lane_order.h"
#include "sim/async/late_words.h"
#include "sim/async/mma_cache.h"
#include "sim/async/program.h"
#include "sim/async/provenance.h"
#include "sim/async/schedule.h"
#include "sim/async/tcgen05_state.h"
#include "sim/async/tensor_maps.h"
#include "sim/async/touch.h"
#include "sim/async/undefined_bytes.h"
#include "sim/async/unused_loads.h"
#include "sim/async/wgmma_order.h"
#include "sim/isa/copy/mbarrier.h"
#include "sim/machine/accumulators.h"
#include "sim/machine/shared_memory.h"

namespace tcq::machine {

// Lanes that have not used what a load brought into a register.
struct LoadedRegister {
  AccessId load = 0;
  std::uint32_t lanes = 0;
};

struct Registers {
  std::vector<std::array<std::uint32_t, warp_threads>> of_reg;
};

// Of one phase of an mbarrier: how often the lanes of a warp arrived, and by how many statements' executions.
struct WarpArrivals {
  int warp = 0;
  std::uint32_t count = 0;
  std::uint32_t executions = 0;
  friend bool operator==(const WarpArrivals&, const WarpArrivals&) = default;
};

struct MbarrierSlot {
  int cta = 0;
  std::uint32_t address = 0;
  mbarrier::Mbarrier state;
  bool live = false;
  Stream phases = 0;
  // Released by arrivals so far, and up to the last completed phase: by threads of the barrier's own
  // CTA at any scope, by others at cluster scope, and what arrivals were too weak to release: enough
  // for tcgen05 fences and to know that a CTA has started.
  Clock own, cluster, lost;
  Clock done_own, done_cluster, done_lost;
  AccessId init = 0;
  int init_warp = 0;
  Stream fenced = 0;  // tick 1: a fence.mbarrier_init of that warp behind the init
  int completed_by =
      -1;  // the warp whose arrival ended the last completed phase, and its epoch; -1: a copy or a commit
  Tick completed_in = 0;
  std::vector<WarpArrivals> arrived,
      arrived_before;  // in the open phase, and in the last completed one
};

// An arrival that released nothing, or a wait that acquired nothing: relaxed, or at a scope that does
// not reach the other CTA. Places of one statement are one.
struct WeakSync {
  Fault fault = Fault::None;  // ReleaseMissing, AcquireMissing, ScopeTooNarrow
  Place at;
  bool waits = false;
  std::uint64_t object = 0;  // Touch::object of the barrier
  Clock lost;                // what it would have handed on
};

// Those of an execution, in the order in which they came first.
class WeakSyncs {
 public:
  void note(WeakSync sync);
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  using Key = std::tuple<decltype(Place::statement), decltype(Place::warp), std::uint64_t, Fault>;

  std::vector<WeakSync> list_;
  std::map<Key, std::size_t>
      number_of_;  // in a program that is written out each round has statements of its own
};

// Of memory by which threads synchronise: what writes handed on, and could not.
struct Handed {
  Clock handed;
  std::map<int, Clock>
      own;       // by CTA: what its threads alone may know, as a fence or the write had scope .cta
  Clock shared;  // what fences restricted to shared memory let operations on it hand on, or acquire

  void join(const Handed& other);
};
struct Word : Handed {
  Clock lost;
  Clock told;                // what whoever wrote there knew, or had been told: late_words.h
  std::uint32_t halves = 0;  // written by whoever handed on: bit 0 its first four bytes
  std::map<int, Handed> released_by;  // by warp: what releases at this word handed on
};

// What threads go by although no fence made the relaxed read an acquire that found it, only a barrier of the CTA follows: up
// to `known` instead of `firm`, where the clock has not gone further since.
struct Assumed {
  Clock known, firm;
  Place at;  // the barrier
};

struct NamedBarrier {
  int expected = 0;  // threads; 0: not in use
  int arrived = 0;
  bool whole = false;      // expects all threads of the CTA: those that have exited are there
  std::uint32_t uses = 0;  // completed
  Clock pending, done;
  Clock pending_lost, done_lost;
  Clock pending_told, done_told;
  Clock pending_assumed, done_assumed;  // what relaxed reads before the arrivals found
  Handed pending_fenced, done_fenced;  // what fences before the arrivals let relaxed writes hand on
};

struct CopyData;  // copies.h
using MoveCopy = void(const Instruction&, const CopyData&);

struct Copy {
  AgentId id = 0;
  MoveCopy* move = nullptr;  // its data, when they are due
  const Instruction* what = nullptr;
  std::uint32_t statement = 0;
  int warp = 0;
  int lane = 0;
  int cta = 0;    // whose shared memory it writes (loads) or reads (stores)
  int slot = -1;  // loads: the mbarrier it completes
  std::uint32_t bytes = 0;
  int source_cta = 0;  // between CTAs
  std::uint32_t source_address = 0;
  AccessId write = 0;                   // loads: of shared memory; stores: of global memory
  AccessId read = 0;                    // of shared memory
  AccessId global_read = 0;             // 0: no bytes that the program writes
  const tma::TensorMap* map = nullptr;  // as the copy found it
  int map_number = -1;
  ByteRange box;                       // of shared memory
  std::vector<std::uint8_t> captured;  // stores: the source, once it is read
  bool is_read = false;
  bool is_written = false;
};

// Bulk groups belong to one thread.
struct BulkThread {
  int lane = 0;
  Stream read = 0;
  Stream done = 0;
  std::uint32_t committed = 0;
  std::uint32_t groups_read = 0;  // forced by waits: the first ones
  Place last_store;
  std::vector<AgentId> uncommitted;       // copies
  bool waits_for_uncommitted = false;     // a wait_group behind those, which does not wait for them
  std::vector<std::int64_t> early_waits;  // statements: waits before the first group
  std::deque<std::vector<AgentId>> groups;  // the youngest last; only those not waited for
};

// A cp.async of some lanes, until all of them have waited for it.
struct LaneCopy {
  std::uint32_t waiting = 0;
  std::array<std::uint32_t, warp_threads> group = {};  // number among the lane's; 0: in none yet
  AccessId write = 0;
  AccessId read = 0;  // 0: nothing is read
};

// A write by a warp that has yet to issue the wgmma which reads the bytes (gathered.h).
struct OwedFence {
  Finding finding;  // if it is not over and fenced by then
  AccessId write = 0;
  std::size_t warp = 0;  // its place in the warpgroup
};

struct Mma {
  const Instruction* what = nullptr;
  std::uint32_t statement = 0;
  std::uint32_t issued_by = 0;  // bit per warp of the warpgroup
  AccessId read = 0;
  bool executed = false;
  std::array<Clock, 4> known = {};  // by each of these warps when it issued
  std::vector<OwedFence> owed = {};
};

// Accumulators outside of the registers, while wgmmas are computed and as long as the next one in flight goes on with them:
// nobody may look at the registers meanwhile.
struct HeldAccumulators {
  bool is_held = false;
  MmaCache::Tile tile;
};

struct Warpgroup {
  int first_warp = 0;
  HeldAccumulators held;
  std::deque<Mma> mmas;         // not yet dropped, in order of issue
  std::uint64_t first_mma = 0;  // number of mmas.front()
  // Per warp: aligned instructions executed, checked against the first warp that got so far.
  std::array<std::uint64_t, 4> aligned{};
  struct Aligned {
    std::uint32_t statement = 0;
    int registers = 0;  // of a setmaxnreg; else 0
  };
  std::deque<Aligned> aligned_statements;
  std::uint64_t first_aligned = 0;
  std::array<std::uint64_t, 4> mma_count{};             // issued by each warp
  std::array<std::vector<std::uint64_t>, 4> group_end;  // mma_count at each commit
  // Of the last ones dropped, what its warps knew when they issued each (gathered.h).
  std::deque<Clock> gathered;
  std::array<std::uint64_t, 4> waited = {};  // how many wgmmas each warp has waited for
};

struct Warp {
  int number = 0;  // in the cluster
  int cta = 0;
  int index = 0;                  // in the CTA
  std::vector<std::size_t> path;  // segments
  std::size_t segment = 0;        // in the path
  std::size_t pc = 0;             // in the segment
  bool finished = false;
  bool arrived = false;  // at the barrier it stands before
  std::uint32_t awaited_use = 0;
  Registers registers;
  wgmma::Order order;
  std::array<bool, 8> predicates{};
  Clock clock;
  FenceClocks at_fence;  // its clock when lanes last executed fence.proxy.async
  std::vector<LoadedRegister> loaded;
  Clock fenced_inits;  // the mbarriers of its fence.mbarrier_init
  Clock lost;          // what it would know, were no arrival or wait too weak (WeakSync)
  std::uint32_t fences = 0;
  std::uint32_t copies = 0;        // issued
  std::uint32_t waits_passed = 0;  // on mbarriers
  int max_registers = 0;
  std::uint32_t cluster_arrived = 0;  // lanes that have yet to wait for the cluster's barrier
  std::array<std::uint32_t, warp_threads> cluster_use = {};  // of the barrier, that each arrived in
  Place last_wait;                                           // on an mbarrier
  Place stale_wait;                 // the same, if that told it nothing new
  bool stale_is_fresh = false;      // ... because no phase had completed at all, for the first time
  std::vector<Stream> fresh_waits;  // of the mbarriers that it so waited for
  std::vector<BulkThread> bulk;
  std::vector<LaneCopy> lane_copies;                         // in flight
  std::array<std::uint32_t, warp_threads> copy_groups = {};  // of each lane, committed
  WarpTmem tmem;
  LaneOrder order_of_lanes;
  Word at_memory_fence;   // at its last fence.acq_rel: what relaxed writes hand on
  Word read_since_fence;  // what relaxed reads found: a fence acquires it
  Clock told;             // what it knew, were accesses by which threads synchronise in one order
  Assumed assumed;
};

// A read of bytes that nothing had written; wrong if something does, unordered, or nothing ever.
struct UnwrittenRead {
  AccessId access = 0;  // none: of cells of Tensor Memory
  Finding finding;
  Place stale_wait;                           // of its warp at that time
  bool waited = false;                        // its warp had passed a wait
  bool is_followed = false, is_used = false;  // undefined_bytes.h
  // Of a load that is left out of all orders (unused_loads.h), whose finding is that of its race: who loads, and which
  // lanes, or rows of a matrix, nobody may use.
  int by_warp = -1;
  std::uint32_t by_statement = 0;
  std::uint32_t racing = 0;
  std::uint32_t rows = 0;   // of A, of the warp's part of a wgmma: what they make in D is followed
  bool is_settled = false;  // nothing is to be said of it
};

// A use of a CTA's shared memory that one of its warps must know before the CTA ends.
struct ExitUse {
  Stream stream = 0;
  Tick tick = 0;
  Place at;
  ByteRange bytes;
  bool from_outside = false;
  Stream commits = 0;  // an arrival of a tcgen05.commit: of its warp, and the how many-th
  Tick commit = 0;
  Tick issued = 0;  // the epoch of its warp in which it was
};

struct Cta {
  SharedMemory shared;
  Provenance provenance;
  std::array<NamedBarrier, 16> barriers;
  int running_warps = 0;
  std::int64_t free_registers = 0;  // in the pool of setmaxnreg
  Clock exit, exit_lost;            // what its finished warps knew, and would have known
  Stream start = 0;                 // tick 1: the CTA runs
  Place seen_refusal;               // a thread has found that a try_cancel failed
  std::vector<ExitUse> exit_uses;   // the last of each stream
};

using wgmma::warps_per_warpgroup;

struct ClusterState {
  ClusterState(const Program& program, MmaCache& cache, Timing timing);

  // --- parts by number ---
  Cta& cta(int number) { return ctas[static_cast<std::size_t>(number)]; }
  const Cta& cta(int number) const { return ctas[static_cast<std::size_t>(number)]; }
  Warp& warp(int number) { return warps[static_cast<std::size_t>(number)]; }
  const Warp& warp(int number) const { return warps[static_cast<std::size_t>(number)]; }
  MbarrierSlot& slot(int number) { return slots[static_cast<std::size_t>(number)]; }
  const MbarrierSlot& slot(int number) const { return slots[static_cast<std::size_t>(number)]; }
  int find_slot(int cta, std::uint32_t address) const;  // -1: none
  TmemPool& pool(int cta) { return tcgen05.pools[static_cast<std::size_t>(cta)]; }
  const TmemPool& pool(int cta) const { return tcgen05.pools[static_cast<std::size_t>(cta)]; }
  PairedStep& pair_of(int cta) { return tcgen05.pairs[static_cast<std::size_t>(cta / 2)]; }
  const PairedStep& pair_of(int cta) const {
    return tcgen05.pairs[static_cast<std::size_t>(cta / 2)];
  }
  TensorMemory& memory(int cta) { return tcgen05.memory[static_cast<std::size_t>(cta)]; }
  const TensorMemory& memory(int cta) const {
    return tcgen05.memory[static_cast<std::size_t>(cta)];
  }
  Tick epoch(int warp) const {
    return warps[static_cast<std::size_t>(warp)].clock.at(streams.epochs(warp));
  }

  // --- positions ---
  std::uint32_t statement_number(const Warp& warp) const {
    return static_cast<std::uint32_t>(segment_base[warp.path[warp.segment]] + warp.pc);
  }
  // What the warp stands before; with a feed one for each group of lanes that goes its own way.
  std::size_t candidate_count(const Warp& warp) const {
    if (warp.finished) return 0;
    return feed ? feed->candidates(warp).size() : 1;
  }
  Candidate candidate(const Warp& warp, std::size_t which) const {
    if (feed) return feed->candidates(warp)[which];
    const std::uint32_t number = statement_number(warp);
    return {statements[number], number};
  }
  // An instruction that outlives its step: in flight, or the origin of data.
  const Instruction* keep(const Instruction& what);

  // --- findings ---
  // Does it end the execution? If not (Severities), it is remembered and the warp goes on.
  bool is_group_wait(std::int64_t statement) const {
    return std::find(group_waits.begin(), group_waits.end(), statement) != group_waits.end();
  }
  bool stops_at(Finding found);
  void fail(Finding found) { stops_at(std::move(found)); }

  // --- copies, ends ---
  Copy* find_copy(AgentId agent) {
    return const_cast<Copy*>(std::as_const(*this).find_copy(agent));
  }
  const Copy* find_copy(AgentId agent) const;  // null: none
  void drop_copy(AgentId agent);
  void note_exit_use(int cta, const ExitUse& use);
  // Of the request that the copy belongs to: decided when the first of its copies asks.
  const LaunchAnswer& launch_answer(AgentId copy);
  bool has_arrived_at_cluster(const Warp& warp) const;  // all its lanes that live
  bool complete_cluster_barrier();                      // if all warps that run have arrived
  int missing_at(const Cta& cta, const NamedBarrier& barrier) const;  // threads
  bool complete_barrier(int cta, NamedBarrier& barrier);

  // --- the log of accesses ---
  void compact_log();
  // Behind a statement: a step may have many.
  void trim_log() {
    if (log.size() > 2 * log_limit) compact_log();
  }
  std::size_t bookkeeping_bytes() const;

  const Program& program;
  MmaCache& cache;
  Timing timing;
  std::vector<const Statement*> statements;
  OwnFeed feed;                // null: the program's statements are all there
  std::deque<Statement> kept;  // of a feed
  std::vector<std::size_t> segment_base;
  std::vector<Cta> ctas;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::vector<Copy> copies;    // in flight
  std::vector<AgentId> loads;  // those of them that complete bytes of an mbarrier
  std::vector<MbarrierSlot> slots;
  WeakSyncs weak_syncs;
  std::unordered_map<std::uint64_t, int> slot_of;
  NamedBarrier cluster_barrier;
  std::unordered_map<std::uint64_t, Word> words;  // by Touch::object
  LateWords late_words;
  GlobalMemory global;
  GlobalProvenance global_provenance;
  std::vector<PatchableMap> maps;  // the program's, then those of compiled kernels
  // Maps that a compiled kernel makes: where in global memory, and their numbers; and values that maps have had.
  std::unordered_map<std::uint64_t, int> made_maps;
  std::vector<std::shared_ptr<const tma::TensorMap>> map_values;
  AccessLog log;
  Streams streams;
  std::size_t log_limit = 0;
  int running = 0;
  std::uint64_t instructions = 0;
  std::uint64_t instruction_limit = 0;
  std::vector<Touch> touches;  // of the present step
  std::optional<Finding> finding;
  Severities failing;  // what ends an execution beside the undefined
  std::vector<Finding> suspicions;
  std::vector<int>
      early_warps;  // whose arrival nothing orders behind the phase before: it may come earlier
  std::vector<std::int64_t>
      group_waits;  // statements: waits for bulk groups by threads that have some
  std::vector<UnwrittenRead> unwritten_reads;
  std::optional<Contents> contents;             // that are assumed: undefined_bytes.h
  RacingLoads racing_loads;                     // left out of all orders
  bool notes_racing_loads = false;              // else they are Faults
  std::vector<UndefinedBytes> undefined_bytes;  // in the order of the stores
  std::unordered_map<AgentId, LaunchAnswer>
      launch_answers;         // of each request of try_cancel that has landed
  std::size_t cancelled = 0;  // clusters that were handed out
  Tcgen05State tcgen05;
};

}  // namespace tcq::machine
