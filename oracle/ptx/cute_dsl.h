// Operations of CuTe's Python DSL that copy: `tcgen05.Ld32x32bOp(tcgen05.Repetition.x32)` is `tcgen05.ld.32x32b.x32`,
// `LdMatrix8x8x16bOp(transpose=True, num_matrices=4)` is `ldmatrix.x4.trans`.
//
// Decides which opcode each issues. Who asks: pasted.cc.
#pragma once

#include <optional>
#include <string_view>

#include "oracle/ptx/cute_atoms.h"

namespace tcq::oracle {

// Nothing if the text does not begin with such an operation.
std::optional<CuteAtom> read_dsl_copy(std::string_view text);

}  // namespace tcq::oracle
