// The tensor maps of one operand, a parameter of every kernel.
//
// What they are for: cuda/gemm/load.cuh. Who makes them: cuda/gemm/launch.cc, from cuda/gemm/maps.h.
#pragma once

#include <cuda.h>

namespace tcq::gemm {

struct OperandMaps {
  CUtensorMap whole;  // of boxes whose rows the matrix has
  CUtensorMap
      rest;  // of the rows that are left over behind the last one of these; K-major operands, if any are
};

}  // namespace tcq::gemm
