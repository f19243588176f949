// The kernels for s8 operands, K-major in shared memory: wgmma takes no others.
#include <array>

#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> s8_kernels() {
  using enum Type;
  static const std::array all = {
      full<s8, s32>(),    full<s8, f32>(),    full<s8, bf16>(),
      copying<s8, s32>(), copying<s8, f32>(), copying<s8, bf16>(),
  };
  return all;
}

}  // namespace tcq::gemm
