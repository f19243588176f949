// What bulk copies without a tensor map take: units of 16 bytes, and which reductions exist.
//
// cp.async.bulk and cp.reduce.async.bulk move `bytes` contiguous bytes; this file decides which
// sizes and addresses are legal and what complete_tx counts. Moving them: sim/machine/bulk.h; what
// a reduction makes of an element: tma_reduction.h, sim/num/reduce_float.h. Example: 48 bytes to
// shared address 1040 are legal, 40 bytes are not.
//
// Source: PTX ISA 9.2, 9.7.9.25.4.1 "cp.async.bulk", 9.7.9.25.4.2 "cp.reduce.async.bulk"; ptxas
// 13.0 refuses immediate sizes outside [0, 1048560] and those that are no multiples of 16.
// Measured: tests/vectors/bulk.tcqv, tests/vectors/bulk_edge.tcqv (forbidden sizes and masks)
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/fault/fault.h"

namespace tcq::bulk {

// Of addresses and sizes.
inline constexpr std::uint32_t unit_bytes = 16;
inline constexpr std::uint32_t max_bytes = (1u << 20) - unit_bytes;

// byteMask of cp.async.bulk.cp_mask: bit i is byte i of each unit. From sm_100 on; never run on silicon here.
inline constexpr std::uint16_t all_bytes = 0xffff;
HOST_DEVICE constexpr bool is_copied(std::uint16_t byte_mask, std::uint32_t byte) {
  return (byte_mask >> byte % unit_bytes & 1) != 0;
}

// What an sm_90 moves, told to move any size by a register: whole units, counted in 16 bits. PTX
// leaves sizes that check() refuses undefined, and nothing traps.
HOST_DEVICE constexpr std::uint32_t moved_bytes(std::uint32_t bytes) {
  return bytes % (max_bytes + unit_bytes) / unit_bytes * unit_bytes;
}

// What a copy adds to the mbarrier's complete_tx.
HOST_DEVICE constexpr std::uint32_t complete_tx_bytes(std::uint32_t bytes) { return bytes; }

// Faults: BulkUnaligned, BulkBytes. A size of zero is legal and moves nothing.
HOST_DEVICE constexpr Fault check(std::uint64_t source, std::uint64_t destination,
                                  std::uint32_t bytes) {
  if (source % unit_bytes != 0 || destination % unit_bytes != 0) return Fault::BulkUnaligned;
  return bytes % unit_bytes != 0 || bytes > max_bytes ? Fault::BulkBytes : Fault::None;
}

// Reductions of global memory. `type` names PTX's .type; .b32 and .b64 are the unsigned integers.
// Faults: ReductionType.
HOST_DEVICE constexpr Fault check_global(tma::Reduction op, tma::DataType type) {
  const bool tensors_only = type >= tma::DataType::Float32Ftz && type <= tma::DataType::TFloat32Ftz;
  return tensors_only ? Fault::ReductionType : tma::check(op, type);
}

// Reductions of the shared memory of a CTA of the cluster: no floating point, and of 64 bits only
// the unsigned sum. Faults: ReductionType.
HOST_DEVICE constexpr Fault check_shared(tma::Reduction op, tma::DataType type) {
  if (type == tma::DataType::UInt64)
    return op == tma::Reduction::Add ? Fault::None : Fault::ReductionType;
  if (type != tma::DataType::UInt32 && type != tma::DataType::Int32) return Fault::ReductionType;
  return tma::check(op, type);
}

}  // namespace tcq::bulk
