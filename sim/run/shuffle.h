// shfl and shfl.sync: the lane whose value each lane gets, and what it gets of one that takes no part.
//
// A lane takes no part where the mask does not name it, where it has ended or stands elsewhere, and beyond the end of the block. What
// others get of it is undefined: followed like registers that nothing has written (undefined.h), with other words in its place where a
// use of it is tried (sim/async/undefined_bytes.h). Whose source is out of range keeps its own value, which is defined.
// Example: "shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff" leaves %r2 undefined in lanes 8 to 15; a sum of 16 lanes drops it.
//
// Source: PTX ISA 9.2, 9.7.9.5 "shfl (deprecated)", 9.7.9.6 "shfl.sync" ("results are undefined if a thread sources a register from
// an inactive thread or a thread that is not in membermask").
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/run/exchange.h"

namespace tcq::run {

inline bool is_shuffle(const ptx::Form& form) {
  return form.opcode == ptx::Opcode::ShflSync || form.opcode == ptx::Opcode::Shfl;
}

// Of each lane that executes it, asked of shfl itself; its own lane where that is out of range.
std::array<std::uint32_t, 32> source_lanes(const Op& op, const alu::Arguments& all);
// Those whose source takes no part.
std::uint32_t sourceless_lanes(const Executor& x, const Op& op, const alu::Arguments& all);
// What these have got holds the contents that the execution assumes.
void assume_words(const Executor& x, std::uint32_t* words, std::uint32_t lanes);

// All lanes of one instruction.
void shuffle(Executor& x, const Op& op, std::uint32_t lanes);

}  // namespace tcq::run
