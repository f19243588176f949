// Executing one bulk tensor copy: every byte that a TMA load, store or reduction moves between
// global and shared memory.
//
// Which byte goes where is sim/isa/copy/tma_tile.h. A copy completes at once; when its results become
// visible is not decided here. Global memory is an array of bytes whose addresses begin at 0.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/copy/operands.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/fault/fault.h"
#include "sim/machine/shared_memory.h"

namespace tcq::tma {

// cp.async.bulk.tensor.Nd.shared::cta.global.tile
struct Load {
  Tile tile;
};

// cp.async.bulk.tensor.Nd.global.shared::cta.tile
struct Store {
  Tile tile;
};

// cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP.tile
struct Reduce {
  Tile tile;
  Reduction op = Reduction::Add;
};

// cp.async.bulk.tensor.Nd.shared::cluster.global.tile.multicast::cluster: the CTAs whose bit is set
// in `mask`, each at the same address of its own shared memory.
struct MulticastLoad {
  Tile tile;
  std::uint16_t mask = 0;
};

using Global = std::vector<std::uint8_t>;

struct State {
  SharedMemory shared;
  Global global;

  friend bool operator==(const State&, const State&) = default;
};

struct ClusterState {
  std::vector<SharedMemory> shared;  // by rank in the cluster
  Global global;

  friend bool operator==(const ClusterState&, const ClusterState&) = default;
};

// Faults: whatever check(map) says; TileUnaligned; TileStartUnaligned; for stores and reductions
// Im2colPadding, TileStartNegative; SharedMemoryOutOfRange; TileOutOfTensorMemory; ReductionType; MulticastMask.
// On any fault the state is unchanged; otherwise a load changes shared memory only, stores and
// reductions global memory only.
Fault execute(ClusterState& state, const MulticastLoad& load);

// In parts: what may fault, and then the moving. Requires: check() found nothing.
Fault check(const Load& load, const SharedMemory& shared, const Global& global,
            Capability capability = Capability::V9);
Fault check(const Store& store, const SharedMemory& shared, const Global& global,
            Capability capability = Capability::V9);
Fault check(const Reduce& reduction, const SharedMemory& shared, const Global& global,
            Capability capability = Capability::V9);
void execute(const Load& load, SharedMemory& shared, const Global& global);
void execute(const Store& store, const SharedMemory& shared, Global& global);
void execute(const Reduce& reduction, const SharedMemory& shared, Global& global);

// Any load, store or reduction, of bulk.h too: both parts.
template <class Copy>
Fault execute(State& state, const Copy& copy) {
  const Fault fault = check(copy, state.shared, state.global);
  if (fault == Fault::None) execute(copy, state.shared, state.global);
  return fault;
}

// Bytes of global memory, half open.
struct GlobalRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Those that a load of the tile reads, or a store or reduction writes; neighbours are one run.
// Requires: check() found nothing.
std::vector<GlobalRun> runs_read(const Tile& tile);
std::vector<GlobalRun> runs_written(const Tile& tile);

// Bytes of shared memory, half open: those that a store or reduction of the tile reads, of the box what lies in the tensor.
// Requires: check() found nothing.
struct SharedRun {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
std::vector<SharedRun> runs_sent(const Tile& tile);

// From the tensor's first to its last byte, padding included, as far as `memory_bytes` go.
GlobalRun hull(const TensorMap& map, std::uint64_t memory_bytes);

}  // namespace tcq::tma
