// Rows of the table of kernels, made from the shapes that gemm_instances_*.cu name.
//
// plain<>: the product only, through TMA. full<>: any epilogue and any D. copying<>: that, and
// operands that TMA cannot address. Registers limit the tile of the last two: with 128 x 256 the
// epilogue spills.
#pragma once

#include "cuda/gemm_copy.cuh"
#include "cuda/gemm_kernel.cuh"
#include "cuda/gemm_kernels.h"

namespace tcq::gemm {

template <Type In, Type Out, Major A = Major::K, Major B = Major::K>
using PingPong128 = Config<In, Out, A, B, 128, 128, Turns::PingPong, 1, 2, 6>;

template <Type In, Type Out, Major A = Major::K, Major B = Major::K>
using Together256 = Config<In, Out, A, B, 128, 256, Turns::Together, 2, 1, 4>;

template <class C>
Kernel plain() {
  // The plain epilogue writes registers as they are: a 32-bit D has the accumulator's type.
  static_assert(bits(C::out) == 16 ? C::accumulator == Type::f32 : C::out == C::accumulator);
  return kernel_of<C>(false, reinterpret_cast<const void*>(kernel<C, false>));
}

template <Type In, Type Out, Major A = Major::K, Major B = Major::K>
Kernel full() {
  using C = Config<In, Out, A, B, 128, 128, Turns::Together, 2, 1, 6>;
  return kernel_of<C>(true, reinterpret_cast<const void*>(kernel<C, true>));
}

template <Type In, Type Out>
Kernel copying() {
  using C = Config<In, Out, Major::K, Major::K, 128, 128, Turns::Together, 1, 1, 4>;
  return kernel_of<C>(true, reinterpret_cast<const void*>(copy_kernel<C>), Loader::Copy);
}

}  // namespace tcq::gemm
