// From which variable each register's address is made, as far as a function's text says it.
//
// Decides by the text alone, not by paths: a register has a base if every value that it is given is made of that one
// and of numbers. Descriptors keep the base of the address in them. What is loaded, or made of two, has none. Variables
// that are `.extern .shared` are one and the same memory. Example: behind "mov.u32 %r1, tile; add.s32 %r2, %r1, %r9;"
// the base of %r2 is tile.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ptx/program.h"

namespace tcq::oracle {

class AddressBases {
 public:
  // A variable of the Unit; or, as a loose text has them, a register that nothing writes.
  using Base = std::int64_t;
  static constexpr Base unset = -3;
  static constexpr Base number = -2;   // of no variable
  static constexpr Base unknown = -1;  // and those of variables and registers from 0 on

  AddressBases(const ptx::Program& text, const ptx::Code& code);

  // Of a register's value, of a variable, of an address.
  Base of(const ptx::Value& value) const;

  bool is_variable(Base base) const {
    return base >= 0 && base < static_cast<Base>(text_.unit.variables.size());
  }
  // Whatever it is, it lies in shared memory.
  bool is_shared(Base base) const;
  // May both be addresses of one byte?
  bool may_meet(Base a, Base b) const { return a == b || !is_variable(a) || !is_variable(b); }

 private:
  Base of_variable(ptx::Index variable) const;
  bool is_predicate(ptx::Index number) const;
  bool follow(const ptx::Instruction& one);
  bool give(const ptx::Value& value, Base base);

  const ptx::Program& text_;
  const ptx::Code& code_;
  std::vector<Base> bases_;         // by register of the function
  ptx::Index dynamic_ = ptx::none;  // the first variable that is extern and shared
};

}  // namespace tcq::oracle
