// The kernels for few rows of D, bf16, both operands K-major.
#include <array>

#include "cuda/gemm_kernels.h"
#include "cuda/gemm_skinny.cuh"

namespace tcq::gemm {
namespace {

template <int Consumers, int Tokens, int Split, int Stages>
Kernel instance() {
  using C = SkinnyConfig<Type::bf16, Type::bf16, Consumers, Tokens, Split, Stages>;
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>));
}

}  // namespace

std::span<const Kernel> skinny_kernels() {
  static const std::array all = {
      instance<2, 16, 1, 5>(),  instance<2, 16, 2, 5>(),  instance<2, 16, 4, 5>(),
      instance<2, 16, 8, 5>(),  instance<1, 16, 1, 9>(),  instance<1, 16, 2, 9>(),
      instance<1, 16, 4, 9>(),  instance<1, 16, 8, 8>(),  instance<2, 32, 4, 4>(),
      instance<1, 32, 1, 8>(),  instance<1, 32, 2, 8>(),  instance<1, 32, 4, 8>(),
      instance<1, 32, 8, 7>(),  instance<2, 64, 1, 4>(),  instance<2, 64, 2, 8>(),
      instance<2, 64, 4, 7>(),  instance<1, 64, 1, 6>(),  instance<1, 64, 2, 6>(),
      instance<1, 64, 4, 5>(),  instance<1, 64, 8, 5>(),  instance<2, 128, 1, 6>(),
      instance<2, 128, 2, 5>(), instance<2, 128, 4, 5>(), instance<1, 128, 1, 4>(),
      instance<1, 128, 2, 3>(), instance<1, 128, 4, 6>(), instance<1, 128, 8, 6>(),
  };
  return all;
}

}  // namespace tcq::gemm
