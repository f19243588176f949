// `describe` for instructions of one warp: mma, ldmatrix, stmatrix.
//
// What their Maps say: matrices, registers, elements to a register; nothing is listed twice.
#pragma once

#include "oracle/answer/answer.h"

namespace tcq::oracle {

// True for mnemonics of mma, ldmatrix and stmatrix.
bool is_warp_instruction(std::string_view mnemonic);

Answer describe_warp_instruction(const Question& question);

}  // namespace tcq::oracle
