// The verb layout for tcgen05; layout.cc dispatches.
#pragma once

#include "oracle/answer/answer.h"
#include "oracle/tile/operand_layout.h"

namespace tcq::oracle {

// With A or B after the mnemonic one operand of one CTA, else a whole GEMM tile (tcgen05_plan.h).
Answer layout_tcgen05(const Question& question, const TileElementWords& element);

}  // namespace tcq::oracle
