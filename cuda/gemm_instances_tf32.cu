// The kernels for tf32 operands, K-major in shared memory: wgmma takes no others.
#include <array>

#include "cuda/gemm_instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> tf32_kernels() {
  using enum Type;
  static const std::array all = {
      plain<PingPong128<tf32, f32>>(),
      plain<Together256<tf32, f32>>(),
      full<tf32, f32>(),
      copying<tf32, f32>(),
  };
  return all;
}

}  // namespace tcq::gemm
