// Opcodes of the warp's mma as ptxas wants them: every word, in the manual's order, on a target that has them.
//
// parse_warp_mma() (warp_mma.h) reads mnemonics, of which much may be left out; statements have all of it. Example:
// mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32 is illegal: .and.popc or .xor.popc is missing.
//
// Source: PTX ISA 9.2, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction": its syntax, its target
// notes.
// Measured: ptxas 13.0.88 wants the same words, .aligned, too, though in any order; of .m8n8k4 to .m16n8k16 of
// f64 it takes .rn, .rz, .rm and .rp, and .kind::f8f6f4 of e4m3 and e5m2 on sm_100a, sm_103a, sm_110a and their
// families.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "oracle/ptx/verdict.h"
#include "oracle/ptx/warp_mma.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// The words behind "mma" of an opcode that parse_warp_mma() has read into `mma`.
Verdict check_words(const WarpMma& mma, std::span<const std::string_view> words);

// Without a target any of them will do; Unmodelled where ptxas takes what the manual has not.
Verdict check_target(const WarpMma& mma, std::optional<Target> target);

}  // namespace tcq::oracle
