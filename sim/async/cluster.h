// A cluster of CTAs that runs a program: the steps it can take, and what came of them.
//
// Asynchronous work is really deferred: a copy or a wgmma is in flight from its issue until a step
// completes it, and who chooses the steps (explore.h) may choose any allowed order. A step is either
// one warp executing up to its next synchronising instruction, or one copy or commit completing. The
// state is cluster_state.h, what an instruction does instructions/. The first Fault stops the cluster.
// The memory model as a whole: README.md beside this file.
//
// Source: PTX ISA 9.2, 8.9 "Memory consistency model", 9.7.13, 9.7.15.7.
// Inferred: the lanes of a warp take each instruction together, so that races between lanes of one
// warp are not seen; wgmma_wait is where the warps of a warpgroup wait for each other's issue; a
// fence.mbarrier_init.release.cluster and a relaxed arrival at the cluster barrier behind it publish
// the inits, to the own CTA as well, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/async/cluster_state.h"

namespace tcq::machine {

class Cluster {
 public:
  // Requires: check(program) found nothing. Program and cache must outlive the cluster. What a compiled kernel does
  // before its first statement counts against the limit, too. `contents`: of what nothing has written, whose use is then no Fault
  // (undefined_bytes.h).
  Cluster(const Program& program, MmaCache& cache, Timing timing,
          std::uint64_t instruction_limit = 10'000'000, std::optional<Contents> contents = {});

  // --- steps ---
  std::vector<AgentId> runnable() const;
  // All objects that the agent's next step will touch first; empty if none.
  std::vector<Touch> next_touches(AgentId agent) const;
  const std::vector<Touch>& step(AgentId agent);
  // Warps that wait, and may be let to look or test in vain: in a loop that counts, and so may end by itself. Where nobody else can
  // step, runnable() has those that look: tests of mbarriers that nobody completes are a deadlock.
  std::vector<AgentId> may_look_in_vain() const;
  // Of any number: false if nobody has it. True of those that may look in vain, too.
  bool is_runnable(AgentId agent) const;
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
  const std::optional<Finding>& finding() const { return state_.finding; }
  const std::vector<Finding>& suspicions() const { return state_.suspicions; }
  const std::vector<std::uint8_t>& global() const { return state_.global.bytes(); }
  GlobalChanges changes() const { return state_.global.changes(); }
  const std::vector<int>& early_warps() const { return state_.early_warps; }
  std::size_t cancelled() const { return state_.cancelled; }
  std::optional<std::size_t> first_difference(const GlobalChanges& other) const {
    return state_.global.first_difference(other);
  }
  std::uint64_t instructions() const { return state_.instructions; }
  std::size_t bookkeeping_bytes() const { return state_.bookkeeping_bytes(); }
  const SharedMemory& shared(int cta) const { return state_.cta(cta).shared; }
  const Program& program() const { return state_.program; }

  void fail_on(Severities severities) { state_.failing = severities; }
  // Races of loads are noted, and what is noted already is left out of all orders: unused_loads.h.
  void leave_out(const RacingLoads& loads) {
    state_.racing_loads = loads;
    state_.notes_racing_loads = true;
  }
  const RacingLoads& racing_loads() const { return state_.racing_loads; }
  // The statement's first look that may find what was there before: late_words.h.
  void look_late(std::int64_t statement) { state_.late_words.late_at = statement; }
  const LateWords& late_words() const { return state_.late_words; }

 private:
  // Of the warp's candidates; their count if all have to wait.
  std::size_t first_unblocked(const Warp& warp) const;
  // The same, or of those that have to wait the first that does so only while others can take a step.
  std::size_t next_candidate(const Warp& warp) const;
  bool is_blocked(const Warp& warp, const Candidate& next) const;
  bool can_run(const Warp& warp) const;
  bool ends_step(const Warp& warp) const;  // before what it stands before
  std::optional<Candidate> next(AgentId agent) const;
  void run_warp(Warp& warp);
  void finish(Warp& warp);

  ClusterState state_;
};

}  // namespace tcq::machine
