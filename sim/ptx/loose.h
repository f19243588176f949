// What a loose text leaves out, as a whole one would say it: a fragment, or statements that somebody typed.
//
// Decides two things of the Unit: all that stands outside of functions is one function, in the order of the text, and
// `{%f0..%f3}` names every register in between. The third is the decoder's: a name that nothing declares is a register
// of no type (function_decoder.h), and a statement that could not be read keeps its place as Opcode::Unknown. Example:
// of "mov.b32 {%r0..%r2}, 0;" decoding gives three registers written. Asked for by ReadOptions::loose.
#pragma once

#include <cstddef>

#include "sim/ptx/syntax.h"

namespace tcq::ptx {

// Longer spans, and what spans name beyond so many registers in all, are left as they are: that cannot be decoded.
inline constexpr std::size_t longest_span = 1024;
inline constexpr std::size_t most_in_spans = std::size_t{1} << 20;

void loosen(Unit& unit);

}  // namespace tcq::ptx
