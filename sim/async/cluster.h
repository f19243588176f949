// A cluster of CTAs that runs a program: its whole state, and the steps it can take.
//
// Asynchronous work is really deferred: a copy or a wgmma is in flight from its issue until a step
// completes it, and who chooses the steps (explore.h) may choose any allowed order. A step is either
// one warp executing up to its next synchronising instruction, or one copy completing. What warps
// know of each other is kept as vector clocks (clock.h); shared memory remembers who touched each
// byte (provenance.h), and so does global memory (global_provenance.h), registers which wgmma owns them (wgmma_order.h). The first Fault stops the
// cluster. Instructions are executed in execute_*.cc, one file per family.
//
// Source: PTX ISA 9.2, 8.9 "Memory consistency model", 9.7.13, 9.7.15.7.
// Inferred: the lanes of a warp take each instruction together, so that races between lanes of one
// warp are not seen; wgmma_wait is where the warps of a warpgroup wait for each other's issue; a
// fence.mbarrier_init.release.cluster and a relaxed arrival at the cluster barrier behind it publish
// the inits, to the own CTA as well, and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/async/agent.h"
#include "sim/async/clock.h"
#include "sim/async/finding.h"
#include "sim/async/global_provenance.h"
#include "sim/async/mma_cache.h"
#include "sim/async/program.h"
#include "sim/async/provenance.h"
#include "sim/async/schedule.h"
#include "sim/async/tcgen05_state.h"
#include "sim/async/tensor_maps.h"
#include "sim/async/wgmma_order.h"
#include "sim/isa/copy/mbarrier.h"
#include "sim/machine/shared_memory.h"

namespace tcq::machine {

// What a step did to an object that other steps may use, for the explorer: whether two steps commute.
enum class TouchKind : std::uint8_t { Count, Wait, Take };
struct Touch {
  std::uint64_t object = 0;
  TouchKind kind = TouchKind::Count;
  std::uint32_t phase = 0;  // before the step; of a wait: the phase it saw
  bool completes = false;   // the step completed the phase
  bool arrives = false;     // of a count: what it does to an mbarrier
  bool expects = false;
  std::int64_t copied = 0;  // bytes completed
  std::uint32_t pending_after = 1;
  std::int64_t tx_after = 0;
  int parity = -1;               // of a wait on an mbarrier
  std::int64_t free_before = 0;  // Take: registers in the pool
  std::int64_t taken = 0;        // Take: positive if taken
};

// Lanes that have not used what a load brought into a register.
struct LoadedRegister {
  AccessId load = 0;
  std::uint32_t lanes = 0;
};

struct Registers {
  std::vector<std::array<std::uint32_t, warp_threads>> of_reg;
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

struct NamedBarrier {
  int expected = 0;  // threads; 0: not in use
  int arrived = 0;
  std::uint32_t uses = 0;  // completed
  Clock pending, done;
  Clock pending_lost, done_lost;
};

struct Copy {
  AgentId id = 0;
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
  std::vector<AgentId> uncommitted;         // copies
  std::deque<std::vector<AgentId>> groups;  // the youngest last; only those not waited for
};

struct Mma {
  std::uint32_t statement = 0;
  std::uint32_t issued_by = 0;  // bit per warp of the warpgroup
  AccessId read = 0;
  bool executed = false;
};

struct Warpgroup {
  int first_warp = 0;
  std::deque<Mma> mmas;         // not yet dropped, in order of issue
  std::uint64_t first_mma = 0;  // number of mmas.front()
  // Per warp: aligned instructions executed, checked against the first warp that got so far.
  std::array<std::uint64_t, 4> aligned{};
  std::deque<std::uint32_t> aligned_statements;
  std::uint64_t first_aligned = 0;
  std::array<std::uint64_t, 4> mma_count{};             // issued by each warp
  std::array<std::vector<std::uint64_t>, 4> group_end;  // mma_count at each commit
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
  std::vector<FenceClock> at_fence;  // its clock when lanes last executed fence.proxy.async
  std::vector<LoadedRegister> loaded;
  Clock fenced_inits;  // the mbarriers of its fence.mbarrier_init
  Clock lost;          // what it would know, were no arrival or wait too weak (WeakSync)
  std::uint32_t fences = 0;
  std::uint32_t copies = 0;        // issued
  std::uint32_t waits_passed = 0;  // on mbarriers
  int max_registers = 0;
  int cluster_arrivals = 0;
  std::uint32_t cluster_awaited = 0;
  Place last_wait;                  // on an mbarrier
  Place stale_wait;                 // the same, if that told it nothing new
  bool stale_is_fresh = false;      // ... because no phase had completed at all, for the first time
  std::vector<Stream> fresh_waits;  // of the mbarriers that it so waited for
  std::vector<BulkThread> bulk;
  WarpTmem tmem;
};

// A read of bytes that nothing had written; wrong if something does, unordered, or nothing ever.
struct UnwrittenRead {
  AccessId access = 0;
  Finding finding;
  Place stale_wait;     // of its warp at that time
  bool waited = false;  // its warp had passed a wait
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
};

struct Cta {
  SharedMemory shared;
  Provenance provenance;
  std::array<NamedBarrier, 16> barriers;
  int running_warps = 0;
  std::int64_t free_registers = 0;  // in the pool of setmaxnreg
  Clock exit, exit_lost;            // what its finished warps knew, and would have known
  Stream start = 0;                 // tick 1: the CTA runs
  std::vector<ExitUse> exit_uses;   // the last of each stream
};

class Cluster {
 public:
  // Requires: check(program) found nothing. Program and cache must outlive the cluster.
  Cluster(const Program& program, MmaCache& cache, Timing timing);

  // --- steps ---
  std::vector<AgentId> runnable() const;
  // All objects that the agent's next step will touch first; empty if none.
  std::vector<Touch> next_touches(AgentId agent) const;
  const std::vector<Touch>& step(AgentId agent);
  bool is_runnable(AgentId agent) const;  // of any number: false if nobody has it
  // What a warp stands before; -1 and null: nothing, or the agent is no warp.
  std::int64_t next_statement_number(AgentId agent) const;
  const Instruction* next_instruction(AgentId agent) const;
  // Random timing: lets one store or wgmma in flight move its data. False if there is none.
  bool advance_data(std::uint64_t choice);
  // All warps have ended and all loads have landed.
  bool finished() const;
  void finish_stores();  // at the end, those that no wait has forced
  // Nobody can take a step, and it is not finished. Reports who waits for what.
  void report_deadlock();
  // It is finished. Reports reads of bytes that nothing ever wrote.
  void report_unwritten_reads();

  // --- what came of it ---
  const std::optional<Finding>& finding() const { return finding_; }
  const std::vector<Finding>& suspicions() const { return suspicions_; }
  const std::vector<std::uint8_t>& global() const { return global_; }
  std::uint64_t instructions() const { return instructions_; }
  std::size_t bookkeeping_bytes() const;
  const SharedMemory& shared(int cta) const { return ctas_[static_cast<std::size_t>(cta)].shared; }
  const Program& program() const { return program_; }

  void limit_instructions(std::uint64_t limit) { instruction_limit_ = limit; }
  void fail_on(Severities severities) { fails_ = severities; }

 private:
  friend class Executor;
  static AgentId warp_agent(int warp) { return encode({AgentKind::Warp, warp}); }
  static AgentId copy_agent(int warp, std::uint32_t sequence, int cta) {
    return encode({AgentKind::Copy, warp, sequence, cta});
  }
  static AgentId commit_agent(int warp, std::uint32_t sequence, int cta) {
    return encode({AgentKind::Commit, warp, sequence, cta});
  }

  const Statement* next_statement(const Warp& warp) const;
  std::uint32_t statement_number(const Warp& warp) const;
  bool can_run(const Warp& warp) const;
  static bool synchronises(const Statement& statement);
  void run_warp(Warp& warp);
  void finish(Warp& warp);
  void end_cta(int cta);
  bool may_end_before_commit(int cta, const ExitUse& arrival);
  bool complete_cluster_barrier();
  void compact_log();
  Copy* find_copy(AgentId agent);
  void drop_copy(AgentId agent);
  void note_exit_use(int cta, const ExitUse& use);
  Fault exit_fault(const ExitUse& use) const {
    return use.from_outside ? Fault::CtaExited : Fault::ExitInFlight;
  }
  Waiting waiting_of(const Warp& warp) const;
  void judge_phases(Finding& deadlock) const;
  void note_tensor_memory(Finding& deadlock) const;  // what a deadlock has to do with it

  // Does it end the execution? If not (Severities), it is remembered and the warp goes on.
  bool stops_at(Finding finding);
  void fail(Finding finding) { stops_at(std::move(finding)); }

  const Program& program_;
  MmaCache& cache_;
  Timing timing_;
  std::vector<const Statement*> statements_;
  std::vector<std::size_t> segment_base_;
  std::vector<Cta> ctas_;
  std::vector<Warp> warps_;
  std::vector<Warpgroup> warpgroups_;
  std::vector<Copy> copies_;    // in flight
  std::vector<AgentId> loads_;  // those of them that complete bytes of an mbarrier
  std::vector<MbarrierSlot> slots_;
  std::vector<WeakSync> weak_syncs_;
  std::unordered_map<std::uint64_t, int> slot_of_;
  NamedBarrier cluster_barrier_;
  std::vector<std::uint8_t> global_;
  GlobalProvenance global_provenance_;
  std::vector<PatchableMap> maps_;
  AccessLog log_;
  Streams streams_;
  std::size_t log_limit_ = 0;
  int running_ = 0;
  std::uint64_t instructions_ = 0;
  std::uint64_t instruction_limit_ = 0;
  std::vector<Touch> touches_;
  std::optional<Finding> finding_;
  Severities fails_;
  std::vector<Finding> suspicions_;
  std::vector<UnwrittenRead> unwritten_reads_;
  Tcgen05State tcgen05_;
};

}  // namespace tcq::machine
