#include "cuda/gemm_kernels.h"

#include <vector>

namespace tcq::gemm {

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> joined;
    for (const std::span<const Kernel> part :
         {bf16_plain_kernels(), skinny_kernels(), bf16_kernels(), f16_kernels(), tf32_kernels(),
          s8_kernels(), u8_kernels()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace tcq::gemm
