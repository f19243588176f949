// The products of 64 of wgmma's rows and one stage of K, as a group of their own: what a consumer issues for a stage.
//
// Who calls this: cuda/gemm/kernel.cuh where it promotes, skinny.cuh. Several waves at once: kernel.cuh, multiply().
#pragma once

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"

namespace tcq::gemm {

// `a`, `b`: where the operands' rows begin in shared memory. `continues`: added to what is in `sums`.
// Behind the end of K all of a stage's instructions: to add zeros changes no bit (sim/num/round.h).
template <class C, int Registers>
__device__ __forceinline__ void multiply_rows(std::uint32_t (&sums)[Registers], std::uint32_t a,
                                              std::uint32_t b, bool continues) {
  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const std::uint64_t of_a = advance(C::A::descriptor(extent_a), a);
  const std::uint64_t of_b = advance(C::B::descriptor(extent_b), b);
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < C::steps; ++step)
    ptx::mma<C::form>(sums, further(of_a, C::A::offset(0, step)),
                      further(of_b, C::B::offset(0, step)), continues || step > 0);
  ptx::wgmma_commit_group();
}

}  // namespace tcq::gemm
