// Calls of functions of the module, by their bodies: what an entry calls stands in it afterwards.
//
//   { .param .b32 param0; st.param.b32 [param0], %r1; call.uni f, (param0); }
//
// becomes a block with f's statements, in which f's parameter is param0, its own variables for calls have names of their
// own, and `ret` goes to the block's end. Places in the text, and so lines, stay those of the function.
//
// A parameter in a register is one of its own, to which what is passed is moved, and from which what is returned.
//
// By a register: the functions whose address the module takes, one after the other, each for the lanes that hold it.
// A function that calls itself stands within itself as often as 2^15 statements allow, 60 times at most, and has its own
// local memory each time.
//
// A call stays as it is, and is not modelled, where that would be another program: to a function without a body or an
// address that is none of these, recursion that goes deeper, parameters that are vectors of registers or of other sizes than the
// variables passed, a function with shared or global variables of its own or with a name that means something else in the caller.
#pragma once

#include <string_view>

#include "sim/ptx/decode.h"

namespace tcq::run {

ptx::Unit inline_calls(ptx::Unit unit);

// A text as kernels are run. Requires: it outlives the Program.
ptx::Program load(std::string_view text);
ptx::Program load(std::string&& text) = delete;

}  // namespace tcq::run
