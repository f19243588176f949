#include "cuda/gemm/kernels.h"

#include <vector>

namespace tcq::gemm {

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> joined;
    for (const std::span<const Kernel> part :
         {bf16_large_kernels(), bf16_few_rows_kernels(), bf16_few_columns_kernels(), bf16_kernels(),
          f16_large_kernels(), f16_few_rows_kernels(), f16_few_columns_kernels(), f16_kernels(),
          tf32_large_kernels(), tf32_few_rows_kernels(), tf32_few_columns_kernels(), tf32_kernels(),
          s8_large_kernels(), s8_few_rows_kernels(), s8_few_columns_kernels(), s8_kernels(),
          u8_kernels()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace tcq::gemm
