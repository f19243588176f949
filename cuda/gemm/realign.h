// The kernels that copy operands to where TMA can address them, and turn those whose major an instruction does not read.
//
// A launch copies up to two operands, whose lines may begin anywhere. It reads in aligned words of
// 16 bytes, gaps between lines among them, but nothing before an operand's first byte or behind its
// last. What follows a line in its last 16 bytes is anything. What one thread does:
// cuda/gemm/realign_units.h; of copies that are turned turn_units.h. Sizes and strides of copies: cuda/gemm/path.h. Example: lines
// of 600 bytes, 600 apart, become lines of 600 bytes, 640 apart.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "cuda/gemm/operands.h"

namespace tcq::gemm {

// Loads the kernels, which launching them would not do while a stream is captured.
cudaError_t prepare_realign();

// Two launches where one copy is turned and one is not. Nothing is launched for no job, or for a job that is refused. The two
// options are Problem's.
cudaError_t launch_realign(std::span<const RealignJob> jobs, cudaStream_t stream, int sm_limit = 0,
                           bool programmatic = true);

}  // namespace tcq::gemm
