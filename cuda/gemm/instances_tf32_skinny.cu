// The kernels for few rows or columns of D, tf32 operands.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> tf32_few_rows_kernels() {
  static const auto all = few_rows<Type::tf32, Type::f32>();
  return all;
}

std::span<const Kernel> tf32_few_columns_kernels() {
  static const auto all = few_columns<Type::tf32, Type::f32>();
  return all;
}

}  // namespace tcq::gemm
