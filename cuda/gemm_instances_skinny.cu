// The kernels for few rows of D, bf16, both operands K-major.
#include <array>

#include "cuda/gemm_kernels.h"
#include "cuda/gemm_skinny.cuh"

namespace tcq::gemm {
namespace {

template <int Tokens, int Split, int Stages>
Kernel instance() {
  using C = SkinnyConfig<Type::bf16, Type::bf16, Tokens, Split, Stages>;
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>));
}

}  // namespace

std::span<const Kernel> skinny_kernels() {
  static const std::array all = {
      instance<16, 1, 5>(),  instance<16, 2, 5>(),  instance<16, 4, 5>(),  instance<16, 8, 5>(),
      instance<32, 1, 5>(),  instance<32, 2, 4>(),  instance<32, 4, 4>(),  instance<32, 8, 4>(),
      instance<64, 1, 4>(),  instance<64, 2, 4>(),  instance<64, 4, 3>(),  instance<64, 8, 3>(),
      instance<128, 1, 6>(), instance<128, 2, 5>(), instance<128, 4, 5>(), instance<128, 8, 5>(),
      instance<64, 2, 8>(),  instance<64, 4, 7>(),  instance<16, 1, 11>(), instance<16, 4, 11>(),
  };
  return all;
}

}  // namespace tcq::gemm
