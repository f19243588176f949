// The kernels for large products, bf16 operands, both K-major.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> bf16_large_kernels() {
  static const auto all = large<Type::bf16, Type::bf16>();
  return all;
}

}  // namespace tcq::gemm
