#include "cuda/gemm/kernels.h"

#include <vector>

namespace tcq::gemm {

std::span<const Kernel> kernels() {
  using enum Type;
  using enum Part;
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> joined;
    for (const std::span<const Kernel> part :
         {instances<bf16, Large>(),  instances<bf16, Skinny>(),     instances<bf16, Wide>(),
          instances<bf16, Middle>(), instances<bf16, RowMajor>(),   instances<bf16, General>(),
          instances<bf16, Groups>(), instances<f16, Large>(),       instances<f16, Skinny>(),
          instances<f16, Wide>(),    instances<f16, Middle>(),      instances<f16, RowMajor>(),
          instances<f16, General>(), instances<f16, Groups>(),      instances<tf32, Large>(),
          instances<tf32, Skinny>(), instances<tf32, Wide>(),       instances<tf32, General>(),
          instances<s8, Large>(),    instances<s8, Skinny>(),       instances<s8, Wide>(),
          instances<s8, General>(),  instances<u8, General>(),      instances<e4m3, Large>(),
          instances<e4m3, Skinny>(), instances<e4m3, Wide>(),       instances<e4m3, General>(),
          instances<e4m3, Groups>(), instances<e4m3, Quantizing>(), instances<e5m2, General>(),
          instances<e5m2, Groups>(), instances<e5m2, Quantizing>()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

}  // namespace tcq::gemm
