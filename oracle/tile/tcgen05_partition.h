// `partition` for tcgen05: the tile of a CTA, or of a pair, cut into tcgen05.mma, in CuTe's words.
#pragma once

#include "oracle/answer/answer.h"

namespace tcq::oracle {

Answer partition_tcgen05(const Question& question);

}  // namespace tcq::oracle
