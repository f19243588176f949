// Which slots the registers of a function have.
//
// Vectors that wgmma and tcgen05 name get neighbouring slots in the vector's order, since the machine knows
// registers by ranges. A register that stands in two vectors in different places cannot have that: what
// tcgen05.st stores is then gathered before, another instruction that comes second is not modelled.
#pragma once

#include "sim/run/kernel.h"

namespace tcq::run {

// Does the machine itself hold what the instruction does to registers against what is in flight?
bool names_owned_registers(ptx::Opcode opcode);

// Fills slot_of_register, words_of_register, owned_slots and slot_count of the kernel.
void plan_registers(Kernel& kernel);

// The slots of a vector of registers, if they are neighbours: the first one; else no_slot.
Slot first_of(const Kernel& kernel, const ptx::Value& vector);

}  // namespace tcq::run
