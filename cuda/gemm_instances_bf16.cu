// The kernels for bf16 operands, both K-major.
#include <array>

#include "cuda/gemm_kernel.cuh"
#include "cuda/gemm_kernels.h"

namespace tcq::gemm {
namespace {

template <int BlockM, int BlockN, Turns ConsumerTurns, int ClusterM, int ClusterN, int Stages,
          bool Full = false>
Kernel instance() {
  using C = Config<Type::bf16, Type::bf16, Major::K, Major::K, BlockM, BlockN, ConsumerTurns,
                   ClusterM, ClusterN, Stages>;
  return kernel_of<C>(Full, reinterpret_cast<const void*>(kernel<C, Full>));
}

}  // namespace

std::span<const Kernel> bf16_plain_kernels() {
  using enum Turns;
  static const std::array all = {
      instance<128, 256, Together, 2, 1, 4>(), instance<256, 128, Together, 1, 2, 4>(),
      instance<128, 256, Together, 1, 1, 4>(), instance<128, 128, PingPong, 2, 1, 6>(),
      instance<128, 128, PingPong, 1, 1, 6>(), instance<128, 192, Together, 2, 1, 4>(),
      instance<128, 176, Together, 2, 1, 5>(), instance<64, 256, PingPong, 2, 1, 4>(),
      instance<128, 128, PingPong, 1, 2, 6>(), instance<64, 256, PingPong, 4, 1, 4>(),
  };
  return all;
}

}  // namespace tcq::gemm
