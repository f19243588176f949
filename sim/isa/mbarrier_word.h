// The 64 bits of an mbarrier in shared memory.
//
// PTX calls them opaque; tcq reads them to compare a whole state with silicon. Both counts of
// arrivals are kept as what is missing to 2^20, so that the last arrival carries out of its field.
// Only the parity of the phase is there. What the operations do: mbarrier.h. Example: init(1) gives
// 0x7ffff800001ffffe.
//
// Inferred: from the machine code of ptxas 13.0 for sm_90a: mbarrier.init stores (2^20 - count) at
// bits 1 and 43, mbarrier.pending_count subtracts bits [43, 63) from 2^20, test_wait.parity takes
// the parity at bit 63 of its operand. The place of the tx-count is a guess: the largest gap. Any
// word of a device that is not encode() of the state refutes it.
#pragma once

#include <cstdint>

#include "sim/isa/field.h"
#include "sim/isa/host_device.h"
#include "sim/isa/mbarrier.h"

namespace tcq::mbarrier {

// Modulo 2^20, what is missing to 2^20.
struct ExpectedArrivals : Field<1, 20> {};
// Two's complement.
struct TxCount : Field<21, 21> {};
// As ExpectedArrivals.
struct PendingArrivals : Field<43, 20> {};
struct PhaseParity : Field<63, 1> {};

using WordFormat = Format<ExpectedArrivals, TxCount, PendingArrivals, PhaseParity>;

HOST_DEVICE constexpr std::uint64_t encode(const Mbarrier& barrier) {
  const auto missing = [](std::uint32_t count) { return max_count + std::uint64_t{1} - count; };
  return ExpectedArrivals::encode(missing(barrier.expected)) |
         TxCount::encode(static_cast<std::uint64_t>(std::int64_t{barrier.tx})) |
         PendingArrivals::encode(missing(barrier.pending)) | PhaseParity::encode(barrier.phase);
}

// The phase is 0 or 1: its parity.
HOST_DEVICE constexpr Mbarrier decode(std::uint64_t word) {
  const auto count = [](std::uint64_t missing) {
    return static_cast<std::uint32_t>((max_count + 1 - missing) & max_count);
  };
  const auto tx = static_cast<std::int64_t>(TxCount::decode(word));
  const bool negative = tx > max_tx;
  return {static_cast<std::uint32_t>(PhaseParity::decode(word)),
          count(ExpectedArrivals::decode(word)), count(PendingArrivals::decode(word)),
          static_cast<std::int32_t>(negative ? tx - 2 * (max_tx + 1) : tx)};
}

}  // namespace tcq::mbarrier
