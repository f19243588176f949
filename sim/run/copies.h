// Bulk copies of compiled kernels as statements of the machine.
#pragma once

#include "sim/run/executor.h"

namespace tcq::run {

// cp.async.bulk and its like. False if it is not modelled as it stands.
bool make_copy(Executor& x);

}  // namespace tcq::run
