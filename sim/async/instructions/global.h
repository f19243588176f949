// Global memory through the generic proxy: ld.global and st.global.
//
// Source: PTX ISA 9.2, 9.7.9.8 "ld", 9.7.9.11 "st".
#pragma once

#include <cstdint>
#include <string>

#include "sim/async/instructions/clause.h"

namespace tcq::machine {

// Thread t at offset + t * stride_bytes of the program's global memory.
struct LoadGlobal {
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 4;
  RegisterRange regs{0, 1};

  static constexpr None check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const { return {regs}; }
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct StoreGlobal {
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 4;
  RegisterRange regs{0, 1};

  static constexpr None check{}, touches{}, is_blocked{}, waiting{};
  RegisterUse registers() const { return {regs}; }
  void writes_global(GlobalWrites&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

}  // namespace tcq::machine
