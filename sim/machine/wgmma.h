// Executing one wgmma on shared memory and registers: every bit of D in all 128 threads.
//
// Operands are read as the hardware reads them (sim/isa/wgmma/operand.h, sim/isa/wgmma/fragment.h, sim/isa/wgmma/sparse.h),
// each output is one sum (sim/num/fused_sum.h). The instruction completes at once; when results
// become visible is not decided here. Instructions that follow each other on one D are computed as one
// along the K of all of them: a chain. D is then a matrix (accumulators.h).
#pragma once

#include <cstdint>
#include <span>

#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/machine/accumulators.h"
#include "sim/machine/shared_memory.h"
#include "sim/machine/warpgroup.h"

namespace tcq::wgmma {

struct Instruction {
  Form form;
  int selector = 0;          // sparse only
  std::uint64_t desc_a = 0;  // A in shared memory only
  std::uint64_t desc_b = 0;
  bool accumulate = true;

  friend constexpr bool operator==(const Instruction&, const Instruction&) = default;
};

struct State {
  SharedMemory shared;
  WarpgroupRegisters registers;

  friend bool operator==(const State&, const State&) = default;
};

// Faults: whatever check(form) says; SelectorOutOfRange; SharedMemoryOutOfRange. On any fault
// `state` is unchanged; otherwise only registers.d changes. Metadata codes that PTX leaves
// undefined do what the chip was seen to do.
// Requires: registers.d has 128 x accumulator_registers(form) entries.
Fault execute(const SharedMemory& shared, WarpgroupRegisters& registers,
              const Instruction& instruction);
Fault execute(State& state, const Instruction& instruction);

// May `next`, on the same D, be computed as one with `first` and what is between? Dense, A in shared memory, of one form.
bool continues(const Instruction& first, const Instruction& next);

// A chain on D as a matrix. `sources` has A and the metadata where they are in registers; its d is not looked at. Faults as
// above; then D is unchanged. Requires: each instruction continues the first one.
Fault execute_chain(const SharedMemory& shared, const WarpgroupRegisters& sources,
                    std::span<const Instruction> chain, Outputs& d);

}  // namespace tcq::wgmma
