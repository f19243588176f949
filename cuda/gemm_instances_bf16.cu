// The kernels for bf16 operands, both K-major.
#include <array>

#include "cuda/gemm_kernel.cuh"
#include "cuda/gemm_kernels.h"

namespace tcq::gemm {
namespace {

template <int BlockM, int BlockN, int ClusterM, int ClusterN, int Stages, bool Full = false>
Kernel instance() {
  using C = Config<Type::bf16, Type::bf16, Major::K, Major::K, BlockM, BlockN, 2, ClusterM,
                   ClusterN, Stages>;
  return kernel_of<C>(Full, reinterpret_cast<const void*>(kernel<C, Full>));
}

}  // namespace

std::span<const Kernel> kernels() {
  static const std::array all = {
      instance<128, 256, 2, 1, 4>(), instance<256, 128, 1, 2, 4>(), instance<128, 256, 1, 1, 4>(),
      instance<128, 128, 2, 1, 6>(), instance<128, 192, 2, 1, 4>(), instance<128, 176, 2, 1, 5>(),
  };
  return all;
}

}  // namespace tcq::gemm
