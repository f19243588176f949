// tcgen05 apart from its data: allocation, waits, fences, commits.
//
// fence::before_thread_sync adds what the warp may rely on in Tensor Memory to what it hands on when
// it synchronises; fence::after_thread_sync takes over what it was handed. wait::ld and wait::st
// complete the warp's own transfers. A commit is a step of its own: when it is taken, what it tracks
// is complete, and its arrival carries the knowledge of that.
//
// Source: PTX ISA 9.2, 9.7.16.7.1, 9.7.16.8.5, 9.7.16.11, 9.7.16.12.1.
// Inferred: an arrival by commit reaches waits of any scope, as no published kernel widens them; it
// orders what the tracked operations knew, not other accesses of their thread, like the arrival of a
// bulk copy. Several commits in flight may arrive in any order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/async/instructions/clause.h"
#include "sim/isa/tmem/allocation.h"

namespace tcq::machine {

// One warp; with cta_group 2 one warp in each CTA of the pair.
struct Tcgen05Alloc {
  Address to;  // of the word in shared memory that gets the address
  int columns = tcgen05::tmem_allocation_unit;
  int cta_group = 1;

  static constexpr None registers{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct Tcgen05Dealloc {
  TmemOperand from;
  int columns = tcgen05::tmem_allocation_unit;
  int cta_group = 1;

  static constexpr None writes_global{};
  RegisterUse registers() const { return {from.registers()}; }
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct Tcgen05Relinquish {
  int cta_group = 1;

  static constexpr None registers{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

struct Tcgen05WaitLd {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct Tcgen05WaitSt {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// By one thread. Arrives once, in the barrier's CTA or in all CTAs of the mask.
struct Tcgen05Commit {
  Address barrier;
  int cta_group = 1;
  std::uint16_t multicast = 0;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

struct Tcgen05FenceBefore {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct Tcgen05FenceAfter {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// ProgramMalformed if it is neither 1 nor 2.
constexpr Fault check_group(int cta_group) {
  return cta_group == 1 || cta_group == 2 ? Fault::None : Fault::ProgramMalformed;
}

}  // namespace tcq::machine
