// A recording without outputs that were kept only because the simulator of its day differed.
//
// A recorder keeps the outputs of such a case beside their hashes. Where the simulator has learned them, they say no
// more than the hashes, against which parse_recording() has held them. Nothing else of a file changes: what still
// differs, and what its suite keeps anyway, stays. `record digest` does it, without a device.
#pragma once

#include <cstddef>

#include "oracle/recording/recording.h"

namespace tcq::oracle {

// How many cases lost their outputs. Throws BadFile where the cases are not those that the header's suite and seed draw.
std::size_t drop_agreeing_outputs(Recording& recording);

}  // namespace tcq::oracle
