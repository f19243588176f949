// One group of lanes of a warp that executes: the words of its registers, and what its instructions share.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sim/async/step.h"
#include "sim/run/address_map.h"
#include "sim/run/feed.h"
#include "sim/run/warp_state.h"

namespace tcq::run {

extern const machine::Instruction no_statement;  // that a step is handed which has none

struct Executor {
  const KernelFeeder& feeder;
  machine::ClusterState& c;
  machine::Warp& warp;
  WarpState& state;
  Group& group;
  bool is_in_step = false;  // the warp has begun its step

  // What neither ends a step nor waits is executed where it is made: nobody else of the warp could come before it.
  bool executes_at_once() const { return is_in_step && state.groups.size() == 1; }
  const Kernel& kernel() const { return feeder.kernel(); }
  const Op& op() const { return kernel().ops[group.pc]; }
  const ptx::Instruction& instruction() const { return kernel().instruction(group.pc); }
  const ptx::Form& form() const { return kernel().program->form_of(instruction()); }
  // The number of its place in the source, from 1; 0: it has none, as what compilers add (line 0). In a text without lines
  // the number of its form (is_one_store()).
  std::uint32_t source() const {
    const ptx::Index at = instruction().location;
    if (at == ptx::none) return machine::without_lines | instruction().form;
    return kernel().program->locations[at].line == 0 ? 0 : at + 1;
  }

  // --- operands, in the order of the text ----------------------------------------------------------
  std::uint32_t operand_count() const { return instruction().values.count; }
  ptx::Index value_number(std::uint32_t operand) const {
    return instruction().values.first + operand;
  }
  // What the text leaves out is a sink.
  const ptx::Value& value(std::uint32_t operand) const {
    static const ptx::Value absent = {};
    return operand < operand_count() ? kernel().program->values[value_number(operand)] : absent;
  }
  const ptx::Value& item(const ptx::Value& of, std::uint32_t i) const {
    return kernel().program->values[of.index + i];
  }
  Slot slot(const ptx::Value& v) const {
    const ptx::Value* first = kernel().program->values.data();
    const std::less<const ptx::Value*> before;
    if (before(&v, first) || !before(&v, first + kernel().slot_of_value.size()))
      return kernel().scratch;
    const Slot found = kernel().slot_of_value[static_cast<std::size_t>(&v - first)];
    return found == no_slot ? kernel().scratch : found;
  }

  // --- words of registers ---------------------------------------------------------------------------
  std::uint32_t* words(Slot s) { return warp.registers.of_reg[s].data(); }
  std::uint32_t word(Slot s, int lane) const {
    return warp.registers.of_reg[s][static_cast<std::size_t>(lane)];
  }
  std::uint64_t wide(Slot s, int lane) const {
    std::uint64_t value = 0;
    std::memcpy(&value, warp.registers.of_reg[s].data() + 2 * lane, sizeof value);
    return value;
  }
  void set_wide(Slot s, int lane, std::uint64_t value) {
    std::memcpy(warp.registers.of_reg[s].data() + 2 * lane, &value, sizeof value);
  }
  std::uint32_t mask(Slot s) const { return warp.registers.of_reg[s][0]; }
  void set_mask(Slot s, std::uint32_t lanes, std::uint32_t bits) {
    std::uint32_t& word = warp.registers.of_reg[s][0];
    word = (word & ~lanes) | (bits & lanes);
  }
  // Of one operand, for its lanes: looked up once.
  struct Cells {
    std::uint32_t* words;
    int each;  // words of a lane; 0: a predicate

    // As an unsigned number, whatever its width.
    std::uint64_t number(int lane) const {
      if (each == 0) return words[0] >> lane & 1;
      if (each == 1) return words[lane];
      std::uint64_t value = 0;
      std::memcpy(&value, words + 2 * lane, sizeof value);
      return value;
    }
  };
  Cells cells(const ptx::Value& v) const {
    return {warp.registers.of_reg[slot(v)].data(), kernel().words_of(v)};
  }
  std::uint64_t number(const ptx::Value& v, int lane) const { return cells(v).number(lane); }
  // [a+4] as the bits of its space.
  std::uint64_t address(const ptx::Value& v, int lane) const {
    return number(v, lane) + static_cast<std::uint64_t>(v.value);
  }

  template <class Visit>
  void for_each_lane(std::uint32_t lanes, Visit visit) const {
    machine::visit_lanes(lanes, visit);
  }

  // --- statements -------------------------------------------------------------------------------------
  void add(machine::Instruction what, std::uint32_t lanes);
  std::uint32_t number() const { return group.pc; }
  // What these lanes do beside statements, or in one that was not queued: `what` is not kept.
  machine::Step step(std::uint32_t lanes) {
    return {c, warp, no_statement, number(), lanes, machine::role_thread(c, warp)};
  }
  // Of the execution. False: it was one too many.
  bool count_instruction() {
    if (++c.instructions <= c.instruction_limit) return true;
    fail(Fault::StepLimit, -1, static_cast<std::int64_t>(c.instruction_limit));
    return false;
  }
  void fail(Fault fault, int lane = -1, std::int64_t operand = 0) {
    c.fail({.fault = fault, .at = {number(), warp.number, lane}, .number = operand});
  }
};

// Of an operand, generic or shared: its place in the shared window.
std::uint32_t shared_at(const Executor& x, const ptx::Value& address, int lane);

// The same where only the CTA's own may be named; another one's is a Fault.
std::uint32_t own_shared_at(Executor& x, const ptx::Value& address, int lane);

// The same, of a peer only where the form says .shared::cluster, or nothing.
std::uint32_t named_shared_at(Executor& x, const ptx::Value& address, int lane);

// A shared address in a CTA of the cluster: the window's bits may say which.
machine::Address shared_address(const Executor& x, std::uint32_t address);

// ld and st: at once where only the thread can see it, else statements. False: a Fault.
void access_memory(Executor& x, bool stores);
// What a load's statements brought goes to the registers.
void finish_load(Executor& x);

// ld or st of all active lanes, as a part of an instruction that has several: `bytes` of each from `begin` on of its data.
struct LanePart {
  bool stores = false;
  int bytes = 4, begin = 0;
  std::vector<int> loaded;  // slots
};
void add_lane_accesses(Executor& x, const std::array<std::uint64_t, 32>& addresses,
                       const LanePart& part);

// wmma.load and wmma.store; false if the form does not exist.
bool make_fragment(Executor& x);
void finish_fragment(Executor& x);

// Statements of atom and red; false if the operation is not modelled.
bool make_atomic(Executor& x);

void convert_address(Executor& x);
void move_stack(Executor& x);
void query_cancel(Executor& x);  // launch_control.cc
void query_pending(Executor& x);

// The statements of an instruction of the machine, onto group.queue. False if it is not modelled as it stands.
bool make_statements(Executor& x);
void finish_statements(Executor& x);

// The lane that is asked where one thread issues.
inline int first_lane(const Executor& x) { return std::countr_zero(x.group.active); }

}  // namespace tcq::run
