// The kernels for large products, s8 operands.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> s8_large_kernels() {
  static const auto all = large<Type::s8, Type::s32>();
  return all;
}

}  // namespace tcq::gemm
