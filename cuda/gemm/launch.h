// Launches one GEMM kernel of the table: tensor maps, cluster, grid.
//
// Decides nothing about which kernel or schedule; cuda/gemm/plan.cc does.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/operand_maps.h"
#include "cuda/gemm/operands.h"
#include "cuda/gemm/tensor_operands.h"

namespace tcq::gemm {

// As the kernel's parameters stand: PlainMaps.
struct Maps {
  OperandMaps a;
  OperandMaps b;
  CUtensorMap d;
  CUtensorMap tail;
  TensorOperands operands;
};

// Throws cuda::MapRefused if TMA cannot address one of them.
Maps make_maps(const Kernel& kernel, const Extents& extents, const MatrixAt& a, const MatrixAt& b,
               const MatrixAt& d, const Arguments& arguments, std::uint32_t differs);

// How many clusters of this kernel the device runs at one time.
int resident_clusters(const Kernel& kernel);

// A kernel may start before the one ahead in the stream ends: every kernel of the library waits for
// it before it reads or writes global memory, though it may bring some to L2 (cuda/gemm/skinny.cuh).
cudaLaunchAttribute starts_early();

cudaError_t launch(const Launch& chosen, const Maps& maps, const Arguments& arguments,
                   cudaStream_t stream);

}  // namespace tcq::gemm
