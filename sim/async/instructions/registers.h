// Instructions on registers and the program counter: mov, setmaxnreg, bra.
//
// Source: PTX ISA 9.2, 9.7.9.8 "mov", 9.7.19.5 "setmaxnreg".
#pragma once

#include <cstdint>
#include <string>

#include "sim/async/instructions/clause.h"

namespace tcq::machine {

// mov: an immediate, or `from`, register by register.
struct Move {
  RegisterRange to;
  int from = -1;  // -1: the immediate
  std::uint32_t immediate = 0;

  static constexpr None check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const { return {to, source()}; }
  std::string text(const Names&) const;
  void execute(Step&) const;

 private:
  RegisterRange source() const {
    return from < 0 ? RegisterRange{} : RegisterRange{from, to.count};
  }
};

struct SetMaxRegisters {
  bool increase = true;
  int count = 0;

  static constexpr None registers{}, writes_global{};
  Fault check(const Bounds&) const;
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;

 private:
  std::int64_t taken(const Standing&) const;  // from the pool; negative: given back
};

// Within the role; taken if there is no predicate or the predicate equals `when`.
struct Branch {
  int target = 0;  // index of a statement of the same role
  int predicate = -1;
  bool when = true;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

}  // namespace tcq::machine
