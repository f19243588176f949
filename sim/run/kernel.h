// A kernel of a PTX program, ready to be executed: every operand is a slot of a warp's register file.
//
// Decides what does not depend on a launch: which slots registers, immediates and special registers have, what
// each instruction is for the executor, where the kernel's variables and parameters lie. Registers that wgmma and
// tcgen05 name together get slots one after the other, as the machine numbers them. Example: "add.s32 %r1, %r2, 4;"
// is an Op {Alu, evaluate of add.s32} whose slots are those of %r1, %r2 and of the constant 4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/alu/alu.h"
#include "sim/async/where.h"
#include "sim/ptx/program.h"

namespace tcq::run {

// A slot holds 32 bits of each lane; a value of 64 bits has two, of which the cells of lane l are the words 2l and
// 2l + 1 of both together. A predicate is a mask in word 0.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

inline constexpr std::size_t most_operands = 64;  // registers of one instruction, read or written

enum class Action : std::uint8_t {
  Alu,
  Repack,  // mov between a register and a vector of narrower ones
  Nothing,
  Branch,
  Table,  // brx.idx
  Exit,   // and ret
  Trap,
  Load,  // of any space
  Store,
  CancelQuery,   // of what try_cancel answered
  PendingQuery,  // mbarrier.pending_count, of what an arrival returned
  Address,       // cvta, mapa, isspacep, getctarank
  Stack,         // alloca, stacksave, stackrestore
  Heap,          // malloc and free
  Converge,      // shfl.sync and its like: waits for the lanes of its mask, then Alu
  Shuffle,       // shfl, which waits for nobody
  Machine,       // an instruction of sim/async
  Unmodelled,
};

// Of a grid that waits as a whole: %envreg1 and %envreg2 are its address, high and low word. Inferred from what cooperative
// groups make of it: a size that nobody reads, then the word that the barrier counts in.
inline constexpr std::uint32_t grid_workspace_bytes = 256;
inline bool is_grid_workspace(const ptx::Value& value) {
  return value.kind == ptx::ValueKind::Special && (value.element == 1 || value.element == 2) &&
         static_cast<ptx::Special>(value.index) == ptx::Special::Envreg0;
}

// Of memory that several devices have at one address. A run has one device: what is reduced over all of them is its own
// value. Source: PTX ISA 9.2, 9.7.9.14 "multimem.ld_reduce, multimem.st, multimem.red". Never run on silicon here.
inline bool is_multimem(ptx::Opcode opcode) {
  return opcode == ptx::Opcode::MultimemLdReduce || opcode == ptx::Opcode::MultimemSt ||
         opcode == ptx::Opcode::MultimemRed;
}

struct Op {
  Action action = Action::Unmodelled;
  bool guard_negated = false;
  bool is_watched = false;  // names registers that an asynchronous instruction may own
  bool reads_clock = false;
  bool moved = false;       // a copy that counts as executed before the fence ahead: moved_copies.h
  bool chops = false;       // cvt, of a wider register than its type's
  bool extends = false;     // cvt, into one
  bool is_of_warp = false;  // undefined unless all lanes execute it
  bool reads_carry = false, sets_carry = false;  // CC
  bool meets = false;  // .sync: its lanes wait for each other, and memory may stay unordered
  bool gathers =
      false;  // a barrier of the CTA, .sync.aligned: all lanes of the warp that have not ended, on whatever ways
  std::uint8_t negated = 0;  // a bit for each of the first sources: !p
  std::uint8_t outs = 0, ins = 0;
  Slot guard = no_slot;
  Slot gathered = no_slot;  // of a vector whose registers are no neighbours: slots to copy them to
  std::uint32_t lists = 0;  // in Kernel::slots: first outs, then ins
  ptx::Index target = ptx::none;
  ptx::Index join = ptx::none;  // of a branch: the instruction where all ways on meet
  alu::Evaluate evaluate = nullptr;
  Fault (*check)(const alu::Arguments&) = nullptr;  // alu::Operation
};

struct Constant {
  Slot slot = no_slot;
  std::uint8_t words = 1;
  bool is_special = false;
  ptx::Special special = {};
  std::uint8_t element = 0;
  std::uint64_t bits = 0;
  bool is_shared_address = false;  // bits without the rank
};

struct Region {
  std::uint64_t address = 0;  // shared: offset in the window; others: generic
  std::uint64_t bytes = 0;
};

struct Kernel {
  const ptx::Program* program = nullptr;
  const ptx::Code* code = nullptr;
  const ptx::Function* declaration = nullptr;

  std::vector<Op> ops;                          // by instruction of the function
  std::vector<Slot> slots;                      // lists of the ops
  std::vector<Slot> slot_of_value;              // by Program::values; no_slot: has none
  std::vector<std::uint8_t> words_of_register;  // by register of the function: 0 is a predicate
  std::vector<Slot> slot_of_register;
  std::vector<Constant> constants;
  Slot owned_slots = 0;  // the first ones: registers that something asynchronous may own
  Slot scratch = 0;      // of `_`
  Slot carry = 0;        // stands for CC where values are followed
  Slot slot_count = 0;
  std::vector<Slot> unwritten;  // that may be read before they are written: unwritten_registers.h

  std::vector<Region> variables;  // by Unit::variables; shared without dynamic memory
  std::uint32_t shared_begin = 0, shared_end = 0;  // static shared memory
  std::uint32_t local_bytes = 0;
  std::uint32_t stack_begin = 0;  // in local memory: what alloca takes from, up to its end
  std::uint32_t parameter_bytes = 0;
  std::vector<std::uint8_t> const_bytes;   // behind const_window
  std::vector<std::uint8_t> global_bytes;  // variables of the module, in the order of `variables`
  ptx::Index grid_barrier = ptx::none;  // an instruction that asks where the barrier of the grid is
  std::optional<std::uint64_t> heap;    // offset in global memory of what malloc takes from: heap.h
  std::uint64_t grid_workspace = 0;  // offset in global memory: what a driver keeps for it, zeros
  bool has_setmaxnreg = false;
  std::uint32_t most_registers = 0;  // that a setmaxnreg.inc asks for; 0: there is none
  std::string refused;  // why no launch of it can be made: a variable that no memory holds

  std::vector<std::string> problems;  // by instruction: why it is not modelled; empty if it is
  std::vector<std::string> texts;     // by instruction: its words, long vectors cut
  std::vector<std::string> files;     // by the number of .file; 0: the PTX itself
  std::vector<machine::Where>
      places;  // by Program::locations, each with where its function was put in
  std::vector<std::string> approximations;  // opcodes whose bits may not be the chip's, and why

  ptx::Index first() const { return code->instructions.first; }
  const ptx::Instruction& instruction(ptx::Index at) const {
    return program->instructions[first() + at];
  }
  std::span<const Slot> outs(const Op& op) const { return {slots.data() + op.lists, op.outs}; }
  std::span<const Slot> ins(const Op& op) const {
    return {slots.data() + op.lists + op.outs, op.ins};
  }
  // How many slots a value takes: 0 is a predicate.
  int words_of(const ptx::Value& value) const;
};

struct Parameter {
  std::string_view name;
  ptx::Type type = ptx::Type::None;
  std::uint32_t offset = 0, bytes = 0;
  bool is_pointer = false;
};

// The entries of a program, in its order.
std::vector<std::string_view> entry_names(const ptx::Program& program);
std::vector<Parameter> parameters_of(const Kernel& kernel);

// Requires: the program outlives the kernel and has an entry of that name.
// `path` names the PTX in texts.
Kernel lower(const ptx::Program& program, std::string_view entry, std::string path);

}  // namespace tcq::run
