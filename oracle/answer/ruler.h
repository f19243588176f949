// A decoded word as a ruler of its bits: what each field covers, its bits, its code and what that means.
//
// Decides the form for every format of `tcq decode`, 32 bits to a line, the highest first, as in the manual's tables.
// Bits of no field have no colour; those that are set all the same, and lints, are outlined in red.
#pragma once

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/drawing.h"

namespace tcq::oracle {

// Requires: decoded.word is hex_word()'s.
Drawing drawing_of(const DecodedWord& decoded);

}  // namespace tcq::oracle
