// Whether a launch's last tiles are dealt to its clusters as runs of blocks of K (StreamK of arguments.h), and in which memory
// the sums lie of a tile that two clusters have parts of. In the kernels: tiles.cuh, stream_k.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {

// Of so many tiles those whose blocks are dealt to so many clusters; none if the kernel does not, or if it has not been faster.
Runs runs_of(const Kernel& kernel, std::int64_t tiles, int clusters, int k_blocks);

// Of the workspace, with room for aligning it; 0 if the launch deals none.
std::size_t stream_k_bytes(const Launch& launch);

// Has the workspace so many?
bool has_room(const Launch& launch, const Workspace& workspace);

// What this launch's kernel is told. Requires: has_room().
StreamK stream_k_of(const Launch& launch, const Workspace& workspace);

}  // namespace tcq::gemm
