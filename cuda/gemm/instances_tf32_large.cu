// The kernels for large products, tf32 operands.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> tf32_large_kernels() {
  static const auto all = large<Type::tf32, Type::f32>();
  return all;
}

}  // namespace tcq::gemm
