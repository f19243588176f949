// The kernels for large products, f16 operands, both K-major.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> f16_large_kernels() {
  static const auto all = large<Type::f16, Type::f16>();
  return all;
}

}  // namespace tcq::gemm
