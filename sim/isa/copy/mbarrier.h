// The state of an mbarrier and what its operations do to it.
//
// A phase completes when no arrival is pending and the transaction count is zero; the next phase
// then expects the same number of arrivals. Arrivals, complete_tx and
// expect_tx alike test for it. What
// arrivals publish and waits acquire is sim/async/mbarrier_slots.h's business; the 64 bits in
// memory are opaque. Example: init(1), expect_tx(16), arrive: pending 0, tx 16, phase 0 stays open
// until complete_tx(16).
//
// Source: PTX ISA 9.2, 9.7.13.15.1 "Size and alignment", .2 "Contents", .5 "Tracking asynchronous
// operations", .13 "mbarrier.arrive", .16 "mbarrier.test_wait".
// Measured: tests/vectors/mbarrier.tcqv, tests/vectors/mbarrier_edge.tcqv
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"

namespace tcq::mbarrier {

inline constexpr std::uint32_t size_bytes = 8;
inline constexpr std::uint32_t alignment_bytes = 8;
inline constexpr std::uint32_t max_count = (1u << 20) - 1;  // of arrivals
inline constexpr std::int64_t max_tx = (1 << 20) - 1;       // bytes, either sign

struct Mbarrier {
  std::uint32_t phase = 0;     // phases completed
  std::uint32_t expected = 0;  // arrivals of a phase
  std::uint32_t pending = 0;   // arrivals that the phase still waits for
  std::int32_t tx = 0;         // bytes expected and not yet completed

  friend constexpr bool operator==(const Mbarrier&, const Mbarrier&) = default;
};

namespace detail {

HOST_DEVICE constexpr void complete_if_due(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.tx != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

HOST_DEVICE constexpr Fault add_tx(Mbarrier& barrier, std::int64_t bytes) {
  const std::int64_t tx = barrier.tx + bytes;
  if (tx > max_tx || tx < -max_tx) return Fault::MbarrierTxCount;
  barrier.tx = static_cast<std::int32_t>(tx);
  return Fault::None;
}

HOST_DEVICE constexpr Fault count_tx(Mbarrier& barrier, std::int64_t bytes) {
  const Fault fault = add_tx(barrier, bytes);
  if (fault == Fault::None) complete_if_due(barrier);
  return fault;
}

}  // namespace detail

// On any Fault the barrier is unchanged.

// Faults: MbarrierCount.
HOST_DEVICE constexpr Fault init(Mbarrier& barrier, std::uint32_t count) {
  if (count == 0 || count > max_count) return Fault::MbarrierCount;
  barrier = {0, count, count, 0};
  return Fault::None;
}

// Faults: MbarrierArrivals.
HOST_DEVICE constexpr Fault arrive(Mbarrier& barrier, std::uint32_t count = 1) {
  if (count == 0 || count > barrier.pending) return Fault::MbarrierArrivals;
  barrier.pending -= count;
  detail::complete_if_due(barrier);
  return Fault::None;
}

// Later phases expect `count` arrivals less. Faults: MbarrierArrivals.
HOST_DEVICE constexpr Fault arrive_drop(Mbarrier& barrier, std::uint32_t count = 1) {
  if (count == 0 || count > barrier.pending) return Fault::MbarrierArrivals;
  barrier.expected -= count;
  return arrive(barrier, count);
}

// .noComplete: the phase has to stay open. Faults: MbarrierArrivals, if it does not.
// Source: PTX ISA 9.2, 9.7.13.15.13. Never asked of silicon: what it does there is undefined.
HOST_DEVICE constexpr Fault arrive_without_completing(Mbarrier& barrier, std::uint32_t count,
                                                      bool drop) {
  Mbarrier after = barrier;
  if (const Fault fault = drop ? arrive_drop(after, count) : arrive(after, count);
      fault != Fault::None)
    return fault;
  if (after.phase != barrier.phase) return Fault::MbarrierArrivals;
  barrier = after;
  return Fault::None;
}

// Bytes that landed early may make it the last of its phase. Faults: MbarrierTxCount.
HOST_DEVICE constexpr Fault expect_tx(Mbarrier& barrier, std::uint32_t bytes) {
  return detail::count_tx(barrier, bytes);
}

// Faults: MbarrierTxCount.
HOST_DEVICE constexpr Fault complete_tx(Mbarrier& barrier, std::uint32_t bytes) {
  return detail::count_tx(barrier, -std::int64_t{bytes});
}

// `drop`: arrive_drop.expect_tx. Faults: MbarrierTxCount, MbarrierArrivals.
HOST_DEVICE constexpr Fault arrive_expect_tx(Mbarrier& barrier, std::uint32_t bytes,
                                             bool drop = false) {
  Mbarrier next = barrier;
  if (const Fault fault = detail::add_tx(next, bytes); fault != Fault::None) return fault;
  if (const Fault fault = drop ? arrive_drop(next) : arrive(next); fault != Fault::None)
    return fault;
  barrier = next;
  return Fault::None;
}

// What an arrival returns of the barrier before it: the phase that it counts in, and above it the pending count, which
// mbarrier.pending_count reads.
// Source: PTX ISA 9.2, 9.7.13.15.13, and "mbarrier.pending_count". Measured: tests/vectors/mbarrier.tcqv (counts; PTX promises them of .noComplete
// only). Inferred: the order of the bits, which PTX leaves opaque.
HOST_DEVICE constexpr std::uint64_t state_word(const Mbarrier& barrier) {
  return std::uint64_t{barrier.pending} << 32 | barrier.phase;
}
HOST_DEVICE constexpr std::uint32_t pending_count(std::uint64_t state_word) {
  return static_cast<std::uint32_t>(state_word >> 32);
}

// The operations that change an mbarrier, each with one number: a count of arrivals or bytes.
enum class Operation : std::uint8_t {
  Init,
  Arrive,
  ArriveDrop,
  ExpectTx,
  CompleteTx,
  ArriveExpectTx,
};
inline constexpr int operation_count = 6;

HOST_DEVICE constexpr const char* name(Operation operation) {
  switch (operation) {
    case Operation::Init: return "init";
    case Operation::Arrive: return "arrive";
    case Operation::ArriveDrop: return "arrive_drop";
    case Operation::ExpectTx: return "expect_tx";
    case Operation::CompleteTx: return "complete_tx";
    case Operation::ArriveExpectTx: return "arrive.expect_tx";
  }
  return "?";
}

HOST_DEVICE constexpr bool is_arrival(Operation operation) {
  return operation == Operation::Arrive || operation == Operation::ArriveDrop ||
         operation == Operation::ArriveExpectTx;
}

// Faults: those of the function of this name.
HOST_DEVICE constexpr Fault apply(Mbarrier& barrier, Operation operation, std::uint32_t number) {
  switch (operation) {
    case Operation::Init: return init(barrier, number);
    case Operation::Arrive: return arrive(barrier, number);
    case Operation::ArriveDrop: return arrive_drop(barrier, number);
    case Operation::ExpectTx: return expect_tx(barrier, number);
    case Operation::CompleteTx: return complete_tx(barrier, number);
    case Operation::ArriveExpectTx: return arrive_expect_tx(barrier, number);
  }
  return Fault::None;
}

// Has the phase of this parity completed? True as well for every second phase before it.
HOST_DEVICE constexpr bool test_parity(const Mbarrier& barrier, std::uint32_t parity) {
  return (barrier.phase & 1u) != parity;
}

}  // namespace tcq::mbarrier
