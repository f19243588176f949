// The kernels for few rows or columns of D, bf16 operands, both K-major.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> bf16_few_rows_kernels() {
  static const auto all = few_rows<Type::bf16, Type::bf16>();
  return all;
}

std::span<const Kernel> bf16_few_columns_kernels() {
  static const auto all = few_columns<Type::bf16, Type::bf16>();
  return all;
}

}  // namespace tcq::gemm
