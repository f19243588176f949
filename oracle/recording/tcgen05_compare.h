// Recordings of tcgen05 against the simulator: what tcgen05_predict.h knows of each case must be what
// the device returned.
//
// A file that keeps hashes only is compared lane by lane, where all bits of a lane are known; with
// words, bit by bit. Cases of which nothing is known are counted apart, with the first reason.
#pragma once

#include "oracle/recording/tcgen05_case.h"
#include "oracle/recording/vectors.h"

namespace tcq::oracle {

// Throws BadFile if a case's inputs do not have the recorded hash.
Comparison compare(const Tcgen05Recording& recording, std::int64_t only = -1);

}  // namespace tcq::oracle
