// The data of tcgen05 operations, when it is due: bits between registers, shared memory and cells.
//
// D's bits are those of tcgen05_mma.h. The upper half of a cell of f16 D, which no source settles,
// becomes 0.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/async/cluster_state.h"

namespace tcq::machine {

// One operation, which may touch the memories of one or two CTAs.
class TmemData {
 public:
  TmemData(const Tcgen05Operation& operation, ClusterState& c)
      : operation(operation), warp(c.warp(operation.warp)), c_(c) {}

  const Tcgen05Operation& operation;
  Warp& warp;

  TensorMemory& memory(int cta) { return c_.memory(cta); }
  TensorMemory& own_memory() { return c_.memory(warp.cta); }
  const SharedMemory& shared(int cta) const { return c_.cta(cta).shared; }
  std::vector<int> ctas_of(int cta_group) const {
    if (cta_group == 1) return {warp.cta};
    return {warp.cta / 2 * 2, warp.cta / 2 * 2 + 1};
  }

 private:
  ClusterState& c_;
};
// Tcgen05Operation::move of an instruction.
template <class I>
Fault move_tmem_of(const Instruction& what, TmemData& data) {
  return std::get<I>(what).move(data);
}

// The operation of this number moves its data now, and before it whatever has to come first.
void move_tmem(ClusterState& c, std::uint32_t operation);

// A commit arrives: what it tracks is complete, and its mbarrier carries the knowledge of that.
void complete_commit(ClusterState& c, AgentId commit);
// The epoch of its warp that ends no earlier than it was issued.
Tick issued_in(const ClusterState& c, const CommitInFlight& commit);

}  // namespace tcq::machine
