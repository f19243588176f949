// Which registers of one warp the wgmmas in flight own, and what may be done to which register when.
//
// Holds no values, only who touched what: the simulator (cluster.h) and the checker of PTX streams
// (oracle/emission.h) both ask it. `at` is the caller's number of an instruction. Example: after
// fence, mma (d 0-3), commit, a read of register 2 is AccumulatorInFlight until wait(0).
//
// Source: PTX ISA 9.2, 9.7.15.7.1 "wgmma.fence", 9.7.15.7.2 "wgmma.commit_group", 9.7.15.7.3
// "wgmma.wait_group".
// Measured: tests/vectors/wgmma_groups.tcqv (what wait_group N leaves complete, empty groups, wgmmas
// behind the last commit)
// Inferred: "the same shape" means equal N and K of the instruction; a fragment of A may not even be
// read by others while its wgmma is in flight, as the text of wait_group says.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/fault.h"
#include "sim/isa/shape.h"

namespace tcq::wgmma {

// Register numbers in [0, 256).
struct RegisterRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const RegisterRange&, const RegisterRange&) = default;
};

struct MmaRegisters {
  Form form;
  RegisterRange d;
  RegisterRange a;         // empty: A in shared memory
  RegisterRange metadata;  // empty: dense
  bool accumulate = true;
};

struct OrderFault {
  Fault fault = Fault::None;
  int reg = -1;
  bool has_earlier = false;
  std::uint32_t earlier = 0;  // `at` of the conflicting instruction
  int group = -1;             // of the wgmma in flight; -1: it is in none
};

class Order {
 public:
  OrderFault fence(std::uint32_t at);
  OrderFault mma(const MmaRegisters& mma, std::uint32_t at);
  OrderFault commit(std::uint32_t at);
  OrderFault wait(int pending, std::uint32_t at);
  // By any other instruction.
  OrderFault read(RegisterRange range, std::uint32_t at);
  OrderFault write(RegisterRange range, std::uint32_t at);

  int committed() const { return static_cast<int>(group_end_.size()); }
  int completed() const { return completed_groups_; }
  bool uncommitted() const { return issued_ > committed_mmas(); }

 private:
  static constexpr int register_count = 256;
  // Numbers of wgmmas count from 1; 0 is none.
  struct Register {
    std::uint32_t accumulator_of = 0;
    std::uint32_t accumulator_at = 0;
    std::uint32_t fragment_of = 0;
    std::uint32_t fragment_at = 0;
    std::uint32_t touched_at = 0;
    std::uint32_t touched_epoch = 0;      // of fences; equal to the present one: not fenced since
    std::uint32_t accumulator_epoch = 0;  // likewise
    std::uint16_t shape = 0;
    std::uint16_t accumulator_first = 0;
    bool written = false;
  };

  Register& at(int number) { return registers_[static_cast<std::size_t>(number)]; }
  std::uint32_t committed_mmas() const { return group_end_.empty() ? 0 : group_end_.back(); }
  bool in_flight(std::uint32_t mma) const { return mma > completed_mmas_; }
  int group_of(std::uint32_t mma) const;
  OrderFault owned(Fault fault, int number, std::uint32_t mma, std::uint32_t earlier) const;
  OrderFault touch(RegisterRange range, bool writes, std::uint32_t at);
  OrderFault check_fragment(RegisterRange range);
  OrderFault check_accumulator(const MmaRegisters& mma, std::uint16_t shape);

  std::array<Register, register_count> registers_{};
  std::vector<std::uint32_t> group_end_;  // last wgmma of each group
  std::uint32_t issued_ = 0;
  std::uint32_t completed_mmas_ = 0;
  int completed_groups_ = 0;
  std::uint32_t epoch_ = 1;
  bool fenced_ = false;
};

}  // namespace tcq::wgmma
