// The kernels for f16 operands of every major, result and epilogue.
#include <array>

#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> f16_kernels() {
  using enum Type;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  static const std::array all = {
      plain<PingPong128<f16, f16, k, mn>>(),
      plain<PingPong128<f16, f16, mn, k>>(),
      plain<PingPong128<f16, f16, mn, mn>>(),
      plain<PingPong128<f16, f32>>(),
      full<f16, f16, k, k>(),
      full<f16, f16, k, mn>(),
      full<f16, f16, mn, k>(),
      full<f16, f16, mn, mn>(),
      full<f16, f32, k, k>(),
      full<f16, f32, k, mn>(),
      full<f16, f32, mn, k>(),
      full<f16, f32, mn, mn>(),
      copying<f16, f16>(),
      copying<f16, f32>(),
  };
  return all;
}

}  // namespace tcq::gemm
