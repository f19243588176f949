// Executing one bulk copy or reduction without a tensor map: contiguous bytes between global memory
// and shared memory, and between the shared memories of a cluster.
//
// Which sizes, addresses and reductions exist: sim/isa/copy/bulk_copy.h. A copy completes at once; when
// its results become visible is not decided here. States are those of tma.h. Shared addresses are
// relative to the CTA's own window, and a rank names the CTA. Example: Load{2048, 1024, 64} copies
// global bytes [2048, 2112) to the first 64 bytes of dynamic shared memory.
#pragma once

#include <cstdint>

#include "sim/isa/copy/bulk_copy.h"
#include "sim/machine/tma.h"

namespace tcq::bulk {

using tma::ClusterState;
using tma::Global;
using tma::State;

// cp.async.bulk.shared::cluster.global, to the issuing CTA
struct Load {
  Range range;
};

// cp.async.bulk.global.shared::cta; .cp_mask: of each 16 bytes those whose bit is set.
struct Store {
  Range range;
  std::uint16_t byte_mask = all_bytes;
};

// cp.reduce.async.bulk.global.shared::cta.OP.TYPE
struct Reduce {
  Range range;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;
};

// cp.async.bulk.shared::cluster.global.multicast::cluster: the CTAs whose bit is set in `mask`,
// each at the same address of its own shared memory.
struct MulticastLoad {
  Range range;
  std::uint16_t mask = 0;
};

// cp.reduce.async.bulk.shared::cluster.shared::cta.OP.TYPE
struct SendReduce {
  Send send;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;
};

// Faults: BulkUnaligned, BulkBytes; SharedMemoryOutOfRange, GlobalOutOfRange; for reductions
// ReductionType; for clusters MulticastMask, CtaRankOutOfRange. On any fault the state is
// unchanged. Loads, stores and reductions of one CTA: execute(State&, ...) of tma.h.
Fault execute(ClusterState& state, const MulticastLoad& load);
Fault execute(ClusterState& state, const Send& send);
Fault execute(ClusterState& state, const SendReduce& reduction);

// The same in parts: what may fault, and then the moving. Requires: check() found nothing. Ranks
// are the caller's.
Fault check(const Load& load, const SharedMemory& shared, const Global& global);
Fault check(const Store& store, const SharedMemory& shared, const Global& global);
Fault check(const Reduce& reduction, const SharedMemory& shared, const Global& global);
Fault check(const Send& send, const SharedMemory& source, const SharedMemory& destination);
Fault check(const SendReduce& reduction, const SharedMemory& source,
            const SharedMemory& destination);
void execute(const Load& load, SharedMemory& shared, const Global& global);
void execute(const Store& store, const SharedMemory& shared, Global& global);
void execute(const Reduce& reduction, const SharedMemory& shared, Global& global);
void execute(const Send& send, const SharedMemory& source, SharedMemory& destination);
void execute(const SendReduce& reduction, const SharedMemory& source, SharedMemory& destination);

// Of the elements behind `home`, one after the other, what the operation makes of them and of those behind `from`.
void reduce_bytes(tma::Reduction op, tma::DataType type, std::uint8_t* home,
                  const std::uint8_t* from, std::uint32_t bytes);

}  // namespace tcq::bulk
