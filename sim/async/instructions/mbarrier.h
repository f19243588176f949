// mbarriers: init, arrivals, expected and completed bytes, waits.
//
// What an operation does to the 64 bits of an mbarrier is sim/isa/copy/mbarrier.h; what arrivals
// release and waits acquire: mbarrier_slots.h.
//
// Source: PTX ISA 9.2, 9.7.13.15 "mbarrier".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/async/instructions/lanes.h"

namespace tcq::machine {

struct MbarrierInit {
  Address barrier;
  std::uint32_t count = 1;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct MbarrierInval {
  Address barrier;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// Releases at `scope`, unless relaxed. `states` gets mbarrier::state_word() of each lane.
struct MbarrierArrive {
  Address barrier;
  std::uint32_t count = 1;
  Scope scope = Scope::Cta;
  bool relaxed = false;
  bool drop = false;
  bool completes = true;  // false: .noComplete
  LaneBytes* states = nullptr;

  static constexpr None registers{}, check{}, is_blocked{}, waiting{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct MbarrierArriveExpectTx {
  Address barrier;
  std::uint32_t bytes = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
  bool drop = false;
  LaneBytes* states = nullptr;

  static constexpr None registers{}, check{}, is_blocked{}, waiting{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct MbarrierExpectTx {
  Address barrier;
  std::uint32_t bytes = 0;

  static constexpr None registers{}, check{}, is_blocked{}, waiting{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct MbarrierCompleteTx {
  Address barrier;
  std::uint32_t bytes = 0;

  static constexpr None registers{}, check{}, is_blocked{}, waiting{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// try_wait.parity in a loop until it is true: the warp waits.
struct MbarrierTryWait {
  Address barrier;
  int parity = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;

  static constexpr None registers{}, check{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
// Once; the result goes to a predicate of the warp. `goes_last`: of a loop that counts its tests and may end by itself, so that it
// waits, until the phase is over or whoever chooses the steps lets it fail.
struct MbarrierTestWait {
  Address barrier;
  int parity = 0;
  int predicate = 0;
  Scope scope = Scope::Cta;
  bool relaxed = false;
  bool goes_last = false;

  static constexpr None registers{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

struct FenceMbarrierInit {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "fence.mbarrier_init.release.cluster"; }
  void execute(Step&) const;
};

}  // namespace tcq::machine
