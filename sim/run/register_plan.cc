#include "sim/run/register_plan.h"

#include <algorithm>

#include "sim/run/coalesce.h"

namespace tcq::run {
namespace {

using ptx::Index;
using ptx::Opcode;
using ptx::Value;
using ptx::ValueKind;

int words_of(ptx::Type type) {
  const int bits = ptx::bits(type);
  if (type == ptx::Type::Pred) return 0;
  return bits <= 32 ? 1 : bits / 32;
}

std::span<const Value> items_of(const ptx::Program& program, const Value& vector) {
  return {program.values.data() + vector.index, static_cast<std::size_t>(vector.value)};
}

class Planner {
 public:
  explicit Planner(Kernel& kernel) : kernel_(kernel), program_(*kernel.program) {}

  void plan() {
    const ptx::Range registers = kernel_.code->registers;
    kernel_.slot_of_register.assign(registers.count, no_slot);
    kernel_.words_of_register.resize(registers.count);
    for (Index i = 0; i < registers.count; ++i)
      kernel_.words_of_register[i] =
          static_cast<std::uint8_t>(words_of(program_.registers[registers.first + i].type));
    same_as_ = coalesced_registers(kernel_);
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) place_vectors(i);
    kernel_.owned_slots = kernel_.slot_count;
    for (Index i = 0; i < registers.count; ++i) place(i);  // also those whose class has its slot
  }

 private:
  void place_vectors(Index at) {
    const ptx::Instruction& instruction = kernel_.instruction(at);
    if (!names_owned_registers(instruction.opcode)) return;
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) {
      const Value& value = program_.values[v];
      if (value.kind == ValueKind::Vector) place_vector(value);
      // The metadata of a sparse wgmma is read while it is in flight, too.
      if (value.kind == ValueKind::Register && words(value) == 1) place(value.index);
    }
  }

  void place_vector(const Value& vector) {
    const auto items = items_of(program_, vector);
    const bool fresh = std::all_of(items.begin(), items.end(), [&](const Value& item) {
      return item.kind == ValueKind::Register && words(item) == 1 &&
             kernel_.slot_of_register[same_as_[item.index]] == no_slot;
    });
    if (!fresh) return;
    for (const Value& item : items) place(item.index);
  }

  int words(const Value& value) const { return kernel_.words_of_register[value.index]; }

  void place(Index reg) {
    Slot& slot = kernel_.slot_of_register[same_as_[reg]];
    if (slot == no_slot) {
      slot = kernel_.slot_count;
      kernel_.slot_count += std::max<Slot>(1, kernel_.words_of_register[reg]);
    }
    kernel_.slot_of_register[reg] = slot;
  }

  Kernel& kernel_;
  const ptx::Program& program_;
  std::vector<Index> same_as_;  // coalesce.h
};

}  // namespace

bool names_owned_registers(Opcode opcode) {
  return opcode == Opcode::WgmmaMmaAsync || opcode == Opcode::Tcgen05Ld ||
         opcode == Opcode::Tcgen05St;
}

void plan_registers(Kernel& kernel) { Planner(kernel).plan(); }

Slot first_of(const Kernel& kernel, const Value& vector) {
  const auto items = items_of(*kernel.program, vector);
  if (items.empty()) return no_slot;
  Slot first = no_slot;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind != ValueKind::Register) return no_slot;
    const Slot slot = kernel.slot_of_register[items[i].index];
    if (i == 0) first = slot;
    if (slot != first + i) return no_slot;
  }
  return first;
}

}  // namespace tcq::run
