// The kernels for few rows or columns of D, s8 operands.
#include "cuda/gemm/instance.cuh"

namespace tcq::gemm {

std::span<const Kernel> s8_few_rows_kernels() {
  static const auto all = few_rows<Type::s8, Type::s32>();
  return all;
}

std::span<const Kernel> s8_few_columns_kernels() {
  static const auto all = few_columns<Type::s8, Type::s32>();
  return all;
}

}  // namespace tcq::gemm
