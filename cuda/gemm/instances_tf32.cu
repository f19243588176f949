// The kernels for tf32 operands, K-major in shared memory: wgmma takes no others.
#include <array>

#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> tf32_kernels() {
  using enum Type;
  static const std::array all = {
      full<tf32, f32>(),
      copying<tf32, f32>(),
  };
  return all;
}

}  // namespace tcq::gemm
