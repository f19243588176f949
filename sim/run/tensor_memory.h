// tcgen05 of compiled kernels as statements of the machine.
#pragma once

#include "sim/run/executor.h"

namespace tcq::run {

// False if the instruction is none of tcgen05, or is not modelled as it stands.
bool make_tensor_memory(Executor& x);
// What tcgen05.ld brings that nothing defines.
void follow_cells(Executor& x);

}  // namespace tcq::run
