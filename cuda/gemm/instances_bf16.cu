// The kernels for bf16 operands of every major, result and epilogue.
#include <array>

#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> bf16_kernels() {
  using enum Type;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  static const std::array all = {
      plain<PingPong128<bf16, bf16, k, mn>>(),
      plain<PingPong128<bf16, bf16, mn, k>>(),
      plain<PingPong128<bf16, bf16, mn, mn>>(),
      plain<PingPong128<bf16, f32>>(),
      full<bf16, bf16, k, k>(),
      full<bf16, bf16, k, mn>(),
      full<bf16, bf16, mn, k>(),
      full<bf16, bf16, mn, mn>(),
      full<bf16, f32, k, k>(),
      full<bf16, f32, k, mn>(),
      full<bf16, f32, mn, k>(),
      full<bf16, f32, mn, mn>(),
      copying<bf16, bf16>(),
      copying<bf16, f32>(),
  };
  return all;
}

}  // namespace tcq::gemm
