// What an instruction of PTX does, as far as the order of wgmma may ask: does it write its first
// operand, does control go elsewhere, may it let others write shared memory?
//
// Only opcodes of the manual are known; a word that is not among them may do anything. Example: `add`
// writes its first operand, `st` none, `bra` jumps, `frobnicate` has no effect_of.
//
// Source: PTX ISA 9.2, 9.7 "Instructions"
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/ptx/ptx_statement.h"

namespace tcq::oracle {

enum class PtxEffect : std::uint8_t {
  Writes,         // its first operand; reads the others
  Reads,          // all operands
  Jumps,          // bra
  JumpsAnywhere,  // brx.idx
  Calls,
  Ends,  // ret, exit, trap
};

std::optional<PtxEffect> effect_of(const PtxStatement& statement);

// Writes shared memory, or tells others that they may: a wgmma in flight may still read it.
bool releases_shared_memory(const PtxStatement& statement);

}  // namespace tcq::oracle
