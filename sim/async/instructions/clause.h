// What every instruction of the machine says of itself, demanded by a concept: nothing of it can be
// forgotten, and nothing of it stands anywhere else.
//
// An instruction is a plain struct with the members of its PTX statement and these facts:
//
//   registers()      the registers it names
//   check(bounds)    what is wrong with it, whatever state it meets
//   touches(at)      what its step will touch that other steps may use (touch.h); the machine stops a
//                    warp before every instruction that has this fact, and before no other
//   is_blocked(at)   it has to wait in the state that it meets
//   waiting(at)      for what, if it is
//   writes_global(w) the bytes of global memory that it may write
//   text(names)      its PTX, for people
//   execute(step)    what it does
//
// A fact that an instruction does not have is a None: said, not left out. Example: a wgmma.commit_group
// has `static constexpr None touches{};`, a barrier.sync has a function of that name.
#pragma once

#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/instructions/operands.h"
#include "sim/async/touch.h"

namespace tcq::machine {

class GlobalWrites;  // global_provenance.h
struct Standing;     // step.h: a warp before a statement
struct Step;         // step.h: a warp that executes one

// A fact that the instruction does not have: no registers, no touch, not blocked, no Fault.
struct None {
  struct Answer {
    template <class Any>
    constexpr operator Any() const {
      return Any{};
    }
  };
  template <class... State>
  constexpr Answer operator()(const State&...) const {
    return {};
  }
};

using RegisterUse = std::array<RegisterRange, 5>;  // those of count 0: none

// What of its program a statement has to fit.
struct Bounds {
  int maps = 0;
  int cta_threads = 0;
  int role_threads = 0;
  int role_statements = 0;
};

// ProgramMalformed if a table has no address for some thread.
inline Fault check(const Address& address, const Bounds& bounds) {
  const auto threads = static_cast<std::size_t>(bounds.role_threads);
  return address.table && address.table->size() < threads ? Fault::ProgramMalformed : Fault::None;
}

// RegisterOutOfRange if a warp has no such predicate.
constexpr Fault check_predicate(int number) {
  return number < 0 || number > 7 ? Fault::RegisterOutOfRange : Fault::None;
}

template <class From, class To>
concept Gives = std::is_convertible_v<From, To>;

// clang-format off
template <class I>
concept MachineInstruction =
    requires(const I& i, const Bounds& bounds, const Standing& at, GlobalWrites& writes,
             const Names& names, Step& step) {
      { i.registers() } -> Gives<RegisterUse>;
      { i.check(bounds) } -> Gives<Fault>;
      { i.touches(at) } -> Gives<std::vector<Touch>>;
      { i.is_blocked(at) } -> Gives<bool>;
      { i.waiting(at) } -> Gives<Waiting>;
      i.writes_global(writes);
      { i.text(names) } -> std::same_as<std::string>;
      { i.execute(step) } -> std::same_as<void>;
    };
// clang-format on

// Does a warp's step end before the instruction? Exactly if others may care for its order.
template <MachineInstruction I>
constexpr bool synchronises = !std::is_same_v<decltype(&I::touches), const None*>;

}  // namespace tcq::machine
