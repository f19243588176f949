// What is wrong with one execution of a program, as data: the Fault, the statement that shows it, the
// earlier access it conflicts with, the bytes or registers concerned, and who waits for what.
//
// Numbers only; the sentences are made by oracle/diagnosis/diagnosis.h. Found by cluster.h and explore.h.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/async/operand_origin.h"
#include "sim/async/provenance.h"
#include "sim/async/scope.h"
#include "sim/async/wgmma_order.h"
#include "sim/isa/fault/fault.h"

namespace tcq::machine {

// A statement executed by a warp (numbered through the cluster); lane -1: the warp as a whole.
struct Place {
  std::int64_t statement = -1;  // -1: none
  int warp = 0;
  int lane = -1;
  friend bool operator==(const Place&, const Place&) = default;
};

enum class WaitFor : std::uint8_t {
  Mbarrier,
  Barrier,
  ClusterBarrier,
  Registers,
  Warpgroup,
  TensorMemory,
  PairedCta,
  Memory,
};

// A warp that cannot proceed.
struct Waiting {
  Place at;
  WaitFor what = WaitFor::Mbarrier;
  int cta = 0;
  std::uint32_t object = 0;  // address of the mbarrier, number of the barrier
  std::uint32_t phase = 0;   // completed phases of the mbarrier
  int parity = 0;
  std::int64_t missing = 0;  // arrivals, threads, registers or warps that are not there
  std::int64_t expected = 0;
  std::int64_t tx_bytes = 0;          // expected and not yet copied; negative: copied in excess
  std::int64_t copies_in_flight = 0;  // that would complete bytes of this mbarrier
  friend bool operator==(const Waiting&, const Waiting&) = default;
};

// Cells of Tensor Memory; no columns: none.
struct TmemCells {
  int first_lane = 0;
  int lanes = 0;
  int first_column = 0;
  int columns = 0;
  friend bool operator==(const TmemCells&, const TmemCells&) = default;
};

// Columns that are allocated while somebody waits for more.
struct TmemHolding {
  int cta = 0;
  int first_column = 0;
  int columns = 0;
  Place alloc;
  friend bool operator==(const TmemHolding&, const TmemHolding&) = default;
};

inline constexpr int global_memory = -1;

struct Finding {
  Fault fault = Fault::None;
  Place at = {};
  Place earlier = {};
  AccessKind at_kind = AccessKind::Load;  // both only where `earlier` names an access to memory
  AccessKind earlier_kind = AccessKind::Load;
  int cta = 0;                          // whose shared memory, or global_memory
  ByteRange bytes = {};                 // empty: none
  wgmma::RegisterRange registers = {};  // empty: none
  Place hint = {};                    // a statement that is to blame: a stale wait, a narrow arrive
  Place wait = {};                    // the last mbarrier that the warp had waited for before `at`
  int map = -1;                       // a tensor map
  TensormapFence missing = {};        // TensormapFenceMissing
  std::int64_t number = 0;            // of the operand in question: a count, a group, an address
  Scrambled scrambled = {};           // OperandScrambled
  std::vector<Waiting> waiting = {};  // deadlocks
  TmemCells tmem = {};
  std::vector<TmemHolding> holdings = {};  // TmemAllocBlocks
  std::vector<Place> uncommitted = {};  // deadlocks: an mma, cp or shift with no commit behind it
  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace tcq::machine
