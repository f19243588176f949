// Where the variables and parameters of a kernel lie, and the bytes that constants and global variables begin with.
//
// Decides addresses within each space: static shared memory, then dynamic; constants, global and local memory, parameters.
// An initialiser that names a variable or a function holds its generic address.
#pragma once

#include "sim/run/kernel.h"

namespace tcq::run {

// Kernel::variables and what it says of each memory; Kernel::refused where one is too small.
// Requires: program, code and declaration are there.
void place_variables(Kernel& kernel);

}  // namespace tcq::run
