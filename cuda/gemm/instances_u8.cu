// The kernels for u8 operands, K-major in shared memory: wgmma takes no others.
#include <array>

#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> u8_kernels() {
  using enum Type;
  static const std::array all = {
      plain<PingPong128<u8, s32>>(),
      full<u8, s32>(),
      full<u8, f32>(),
      full<u8, bf16>(),
      copying<u8, s32>(),
      copying<u8, f32>(),
      copying<u8, bf16>(),
  };
  return all;
}

}  // namespace tcq::gemm
