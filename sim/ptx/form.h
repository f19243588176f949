// A Form is what an opcode says with all its words, read once however many instructions have it.
//
// Decides which words belong to which slot and what is missing; the words may come in any order, as
// compilers differ. Opcodes of wgmma and tcgen05 become the forms of sim/isa. Example:
// "setp.lt.and.ftz.f32" is {Setp, Compare::Lt, BoolOp::And, Flag::Ftz, types {F32}}.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "sim/isa/wgmma/shape.h"
#include "sim/ptx/modifier.h"
#include "sim/ptx/names.h"
#include "sim/ptx/opcode_table.h"
#include "sim/ptx/tensor_form.h"
#include "sim/ptx/types.h"

namespace tcq::ptx {

struct Form {
  static constexpr std::size_t most_types = 5;

  Opcode opcode = Opcode::Unknown;
  Name text = 0;  // as it is written
  std::array<std::uint8_t, slot_count> slots = {};
  std::uint64_t flags = 0;
  std::array<Type, most_types> types = {};
  std::uint8_t type_count = 0;
  std::array<std::uint16_t, 3> shape = {};  // m, n, k; 0 where there is none
  std::variant<std::monostate, wgmma::Form, Tcgen05Form> tensor = {};
  std::string problem = {};  // Unknown: why

  template <class Value>
  Value get() const {
    return static_cast<Value>(slots[static_cast<std::size_t>(slot_of<Value>)]);
  }
  bool has(Slot slot) const { return slots[static_cast<std::size_t>(slot)] != 0; }
  bool has(Flag flag) const { return (flags >> static_cast<unsigned>(flag)) % 2 != 0; }
  Space space(Slot slot = Slot::Space) const {
    return static_cast<Space>(slots[static_cast<std::size_t>(slot)]);
  }
};

// Opcode::Unknown, and the problem, for what is no opcode or has words of another one.
Form read_form(std::string_view text);

// The opcode in one spelling: its name and its words in the order of its row. Of wgmma and tcgen05 what
// sim/isa writes.
std::string print(const Form& form);

}  // namespace tcq::ptx
