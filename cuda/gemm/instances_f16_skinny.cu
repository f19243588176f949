// The kernels for few rows or columns of D, f16 operands, both K-major.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> f16_few_rows_kernels() {
  static const auto all = few_rows<Type::f16, Type::f16>();
  return all;
}

std::span<const Kernel> f16_few_columns_kernels() {
  static const auto all = few_columns<Type::f16, Type::f16>();
  return all;
}

}  // namespace tcq::gemm
