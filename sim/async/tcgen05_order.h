// Which accesses of Tensor Memory are ordered: the pairs that the hardware keeps in order, and what
// a warp may rely on behind waits, commits and fences.
//
// mma, cp, shift, ld and st are asynchronous: program order alone orders only some pairs of one
// thread, or of threads with fences between them. Every other pair needs the first to be complete,
// and the second's thread to know it. Holds no state; tensor_memory.h remembers the accesses, and
// instructions/tcgen05.h says what waits and fences do. Example: mma, mma on one accumulator is a pair;
// mma, ld needs commit, a wait on its mbarrier and fence::after_thread_sync.
//
// Source: PTX ISA 9.2, 9.7.16.6.2 "Pipelined tcgen05 instructions", 9.7.16.6.3 "Specialized
// inter-thread synchronization", 9.7.16.6.4 "Canonical synchronization patterns", 9.7.16.11.
// Inferred: "same accumulator and shape" means equal address, M, N, kind, cta_group, .sp and .ws (K and the datapath are
// of the shape, too); dealloc
// needs its predecessors complete and known, but no fence, as it is synchronous. The fences are
// asked for also where an arrive releases and a wait acquires, as the canonical patterns have them.
// Where published kernels do without, an access is Disputed instead of Unordered: it is reported,
// and taken to come behind the first, as they rely on. Which kernels: sim/isa/fault/faults.inc.
#pragma once

#include <cstdint>

#include "sim/async/clock.h"
#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::machine {

enum class TmemAction : std::uint8_t { Mma, Cp, Cp4x256b, Shift, Ld, St, Dealloc };

constexpr bool is_cp(TmemAction action) {
  return action == TmemAction::Cp || action == TmemAction::Cp4x256b;
}

// Issued by one thread, complete only for a commit; the others are the warp's, and waited for.
constexpr bool is_issued_by_thread(TmemAction action) {
  return action != TmemAction::Ld && action != TmemAction::St && action != TmemAction::Dealloc;
}

// What makes two mma one pipeline.
struct Accumulator {
  int tmem_lane = 0;
  int tmem_column = 0;
  int m = 0;
  int n = 0;
  tcgen05::Kind kind = tcgen05::Kind::f16;
  bool sparse = false;
  bool ws = false;
  friend bool operator==(const Accumulator&, const Accumulator&) = default;
};

// One instruction's use of Tensor Memory.
struct TmemAccess {
  TmemAction action = TmemAction::Mma;
  std::uint8_t cta_group = 1;
  bool writes = false;
  std::int8_t lane = -1;  // -1: the warp's
  std::uint16_t warp = 0;
  std::uint32_t statement = 0;
  std::uint32_t operation = 0;  // the caller's number of the operation in flight
  Stream issue = 0;             // of its thread and cta_group
  Stream done = 0;              // completions: mma, cp and shift of a thread, ld or st of a warp
  Stream waited = 0;            // the same, as threads that synchronise hand it on; ld and st
  Stream used = 0;              // ld: every value was used; 0: not known of anybody
  Tick tick = 0;                // in all three
  Tick epoch = 0;               // of its warp when it was issued
  Stream commits = 0;           // of its warp; 0: none so far
  Tick commits_before = 0;      // that its warp had issued
  Accumulator accumulator;
};

// Do the two stay in order without being complete, given that both are in one thread?
constexpr bool is_ordered_pair(TmemAction first, TmemAction second, bool same_accumulator) {
  using enum TmemAction;
  switch (first) {
    case Mma: return second == Shift || (second == Mma && same_accumulator);
    case Cp:
    case Cp4x256b: return second == Mma;
    case Shift: return second == Mma || second == Cp4x256b;
    default: return false;
  }
}

inline bool is_pair(const TmemAccess& first, const TmemAccess& second) {
  return first.cta_group == second.cta_group &&
         is_ordered_pair(first.action, second.action, first.accumulator == second.accumulator);
}

// What the second access's warp knows: by synchronisation, and by that and its fences.
struct TmemKnowledge {
  const Clock& clock;   // everything that happened before
  const Clock& fenced;  // of Tensor Memory: up to its last fence::after_thread_sync, and its waits
  const Clock& observed;  // by relaxed waits
};

// What published kernels rely on where the manual does not say so.
// Source: NVIDIA/cutlass 7107b055, include/cutlass/pipeline/sm100_pipeline.hpp (no tcgen05 fence),
// sm100_blockscaled_mma_warpspecialized.hpp (cp of the next scale factors behind mma; behind cp
// where N < 128, of which mma reads a part),
// examples/77_blackwell_fmha (S = Q K over P behind O = P V; P over S with no wait::ld);
// sm100_tile_scheduler_stream_k.hpp (ld of what the warp has stored, with no wait::st);
// deepseek-ai/DeepGEMM 54e22612, sm100_fp8_fp4_gemm_1d1d.cuh (cp); NVIDIA/cutlass #2525, #2974.
enum class TmemDispute : std::uint8_t { None, Fence, Value, Order };

inline TmemDispute dispute_of(const TmemAccess& first, const TmemAccess& second,
                              const TmemKnowledge& knows) {
  const auto knows_by_release = [&](Stream stream) {
    return stream != 0 && knows.clock.at(stream) >= first.tick;
  };
  const bool one_thread =
      first.warp == second.warp && first.lane == second.lane && first.cta_group == second.cta_group;
  const bool read_by_mma = first.action == TmemAction::Mma && !first.writes;
  const bool st_to_ld = first.action == TmemAction::St && second.action == TmemAction::Ld;
  if (one_thread &&
      (st_to_ld || (read_by_mma && (is_cp(second.action) || second.action == TmemAction::Mma)) ||
       (is_cp(first.action) && is_cp(second.action))))
    return TmemDispute::Order;
  if (knows_by_release(first.done)) return TmemDispute::Fence;
  if (is_issued_by_thread(first.action)) return TmemDispute::None;
  if (knows_by_release(first.waited)) return TmemDispute::Fence;
  return knows_by_release(first.used) ? TmemDispute::Value : TmemDispute::None;
}

// Pipelined: the first need not be complete, but comes first.
enum class TmemVerdict : std::uint8_t { Ordered, Pipelined, Disputed, Unordered };

inline TmemVerdict verdict_on(const TmemAccess& first, const TmemAccess& second,
                              const TmemKnowledge& knows) {
  const bool synchronous = second.action == TmemAction::Dealloc;
  if (knows.fenced.at(first.done) >= first.tick) return TmemVerdict::Ordered;
  const auto has_happened = [&](const Clock& clock) {
    return clock.at(first.waited) >= first.tick;
  };
  if (synchronous && (has_happened(knows.clock) || has_happened(knows.observed)))
    return TmemVerdict::Ordered;
  const bool one_thread = first.warp == second.warp && first.lane == second.lane;
  const bool in_order = one_thread || knows.fenced.at(first.issue) >= first.tick;
  if (in_order && is_pair(first, second)) return TmemVerdict::Pipelined;
  return dispute_of(first, second, knows) == TmemDispute::None ? TmemVerdict::Unordered
                                                               : TmemVerdict::Disputed;
}

// What an unordered pair lacks.
enum class TmemLack : std::uint8_t {
  Synchronisation,  // nothing orders the threads
  Wait,             // wait::ld or wait::st
  Completion,       // a commit and a wait on its mbarrier
  FenceBefore,
  FenceAfter,
};

// `epochs`: the stream of the first's warp. Requires: the verdict is Unordered.
inline TmemLack lack_of(const TmemAccess& first, const TmemAccess& second,
                        const TmemKnowledge& knows, Stream epochs) {
  const auto knows_now = [&](Stream stream) {
    return knows.clock.at(stream) >= first.tick || knows.observed.at(stream) >= first.tick;
  };
  const bool synchronised =
      first.warp == second.warp || knows.clock.at(epochs) >= first.epoch ||
      (first.commits != 0 && knows.clock.at(first.commits) > first.commits_before);
  if (knows_now(first.done)) return TmemLack::FenceAfter;
  if (!is_issued_by_thread(first.action)) {
    if (knows_now(first.waited)) return TmemLack::FenceBefore;
    return synchronised ? TmemLack::Wait : TmemLack::Synchronisation;
  }
  if (!is_pair(first, second))
    return synchronised ? TmemLack::Completion : TmemLack::Synchronisation;
  if (knows_now(first.issue)) return TmemLack::FenceAfter;
  return synchronised ? TmemLack::FenceBefore : TmemLack::Synchronisation;
}

}  // namespace tcq::machine
