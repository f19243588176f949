// Which registers of one warp the wgmmas in flight own, and what may be done to which register when.
//
// Holds no values, only who touched what: the simulator (cluster.h) and the checker of PTX streams
// (oracle/ptx/emission.h) both ask it. `at` is the caller's number of an instruction. Example: after
// fence, mma (d 0-3), commit, a read of register 2 is AccumulatorInFlight until wait(0).
//
// Source: PTX ISA 9.2, 9.7.15.7.1 "wgmma.fence", 9.7.15.7.2 "wgmma.commit_group", 9.7.15.7.3
// "wgmma.wait_group".
// Measured: tests/vectors/wgmma_groups.tcqv (what wait_group N leaves complete, empty groups, wgmmas
// behind the last commit)
// Inferred: "the same shape" means equal N and K of the instruction; a fragment of A may not even be
// read by others while its wgmma is in flight, as the text of wait_group says.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

// Register numbers, one after the other.
struct RegisterRange {
  int first = 0;
  int count = 0;

  struct Iterator {
    int number;
    int operator*() const { return number; }
    Iterator& operator++() { return ++number, *this; }
    friend bool operator==(Iterator, Iterator) = default;
  };
  Iterator begin() const { return {first}; }
  Iterator end() const { return {first + count}; }
  friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

// Register numbers in any order, as a compiler hands them out.
using RegisterList = std::span<const int>;

template <class Numbers>
struct MmaOperands {
  Form form;
  Numbers d;
  Numbers a;         // empty: A in shared memory
  Numbers metadata;  // empty: dense
  bool accumulate = true;
  // Of what a fence orders the manual names accumulators and fragments of A. Inferred: metadata needs none, as what nvcc
  // makes of CUTLASS's sparse kernels takes it from a pair of registers behind the fence.
  bool fences_metadata = true;
};
using MmaRegisters = MmaOperands<RegisterRange>;
using MmaLists = MmaOperands<RegisterList>;

struct OrderFault {
  Fault fault = Fault::None;
  int reg = -1;
  bool has_earlier = false;
  std::uint32_t earlier = 0;  // `at` of the conflicting instruction
  int group = -1;             // of the wgmma in flight; -1: it is in none
};

// What is known of one register. Numbers of wgmmas count from 1; 0 is none.
struct RegisterState {
  std::uint32_t accumulator_of = 0;
  std::uint32_t accumulator_at = 0;
  std::uint32_t fragment_of = 0;
  std::uint32_t fragment_at = 0;
  std::uint32_t touched_at = 0;
  std::uint32_t touched_epoch = 0;      // of fences; equal to the present one: not fenced since
  std::uint32_t accumulator_epoch = 0;  // likewise
  std::uint32_t late_epoch = 0;         // likewise, of a moved write behind a wgmma in flight
  std::uint16_t shape = 0;
  std::uint16_t accumulator_first = 0;
  bool written = false;
};

// `Registers` is the file, `Numbers` how an instruction names some of them.
template <class Registers, class Numbers>
class BasicOrder {
 public:
  BasicOrder() = default;
  explicit BasicOrder(Registers registers) : registers_(std::move(registers)) {}

  OrderFault fence(std::uint32_t at);
  OrderFault mma(const MmaOperands<Numbers>& mma, std::uint32_t at);
  OrderFault commit(std::uint32_t at);
  OrderFault wait(int pending, std::uint32_t at);
  // By any other instruction. `moved`: it counts as executed before the last fence. ptxas does not move a write over a wgmma in
  // flight, but waits for that one first: the next wgmma of the register is WgmmaSerialized.
  OrderFault read(Numbers numbers, std::uint32_t at, bool moved = false);
  OrderFault write(Numbers numbers, std::uint32_t at, bool moved = false);

  bool is_written(int number) const { return registers_[static_cast<std::size_t>(number)].written; }
  // It holds a copy of a register that nothing has written.
  void forget(int number) { at(number).written = false; }

  int committed() const { return static_cast<int>(group_end_.size()); }
  int completed() const { return completed_groups_; }
  bool uncommitted() const { return issued_ > committed_mmas(); }
  bool owns_registers() const;  // some wgmma is in flight

  // For a checker of code with loops. normalise() forgets what no later step can ask for: absolute
  // numbers, and which of the groups that are at least `oldest` groups old it was (no wait may
  // leave more than `oldest` groups in flight). join() makes this state allow for what `other`
  // allows for: a register was touched, written or is in flight if it is in either, and a fence
  // counts if it is in both. Both states normalised; true if this one changed.
  void normalise(int oldest);
  bool join(const BasicOrder& other);

 private:
  RegisterState& at(int number) { return registers_[static_cast<std::size_t>(number)]; }
  std::uint32_t committed_mmas() const { return group_end_.empty() ? 0 : group_end_.back(); }
  bool in_flight(std::uint32_t mma) const { return mma > completed_mmas_; }
  int group_of(std::uint32_t mma) const;
  OrderFault owned(Fault fault, int number, std::uint32_t mma, std::uint32_t earlier) const;
  std::uint32_t age_number(std::uint32_t mma, std::uint32_t oldest) const;
  OrderFault touch(Numbers numbers, bool writes, std::uint32_t at, bool moved);
  OrderFault check_fragment(Numbers numbers, bool is_fenced);
  OrderFault check_accumulator(const MmaOperands<Numbers>& mma, std::uint16_t shape);

  Registers registers_{};
  std::vector<std::uint32_t> group_end_;  // last wgmma of each group
  std::uint32_t issued_ = 0;
  std::uint32_t completed_mmas_ = 0;
  int completed_groups_ = 0;
  std::uint32_t epoch_ = 1;
  bool fenced_ = false;
};

// One warp of the simulator, and a checker of a program's text.
using Order = BasicOrder<std::vector<RegisterState>, RegisterRange>;
using ListOrder = BasicOrder<std::vector<RegisterState>, RegisterList>;

}  // namespace tcq::wgmma
