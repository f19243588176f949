// The products of 64 of wgmma's rows and one stage of K, as a group of their own: what a consumer issues for a stage.
//
// Who calls this: cuda/gemm/kernel.cuh where it promotes, skinny.cuh. Several waves at once: kernel.cuh, multiply().
#pragma once

#include <cstdint>

#include "cuda/gemm/config.h"
#include "cuda/gemm/ring.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"

namespace tcq::gemm {

// Where a consumer's rows of A and columns of B begin in those of a stage, in bytes.
struct StagePart {
  std::uint32_t rows;
  std::uint32_t columns = 0;
};

// `a(bytes)`, `b(bytes)`: descriptors of the operands' rows, so far on. `continues`: added to what is in `sums`.
// Behind the end of K all of a stage's instructions: to add zeros changes no bit (sim/num/round.h).
template <class C, int Registers, class A, class B>
__device__ __forceinline__ void multiply_described(std::uint32_t (&sums)[Registers], A a, B b,
                                                   bool continues) {
  ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < C::steps; ++step)
    ptx::mma<C::form>(sums, a(C::A::offset(0, step)), b(C::B::offset(0, step)),
                      continues || step > 0);
  ptx::wgmma_commit_group();
}

// The same of rows that begin at these addresses of shared memory.
template <class C, int Registers>
__device__ __forceinline__ void multiply_rows(std::uint32_t (&sums)[Registers], std::uint32_t a,
                                              std::uint32_t b, bool continues) {
  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const std::uint64_t of_a = advance(C::A::descriptor(extent_a), a);
  const std::uint64_t of_b = advance(C::B::descriptor(extent_b), b);
  multiply_described<C>(
      sums, [&](std::uint32_t bytes) { return further(of_a, bytes); },
      [&](std::uint32_t bytes) { return further(of_b, bytes); }, continues);
}

// The operands of a stage, by their addresses.
template <class C>
class AddressedOperands {
 public:
  __device__ __forceinline__ AddressedOperands(std::uint32_t shared, StagePart part, int)
      : shared_(shared), part_(part) {}
  __device__ __forceinline__ void advance_to(int) const {}
  template <int Registers>
  __device__ __forceinline__ void multiply(std::uint32_t (&sums)[Registers], int wave,
                                           int stage) const {
    const std::uint32_t at = shared_ + static_cast<std::uint32_t>(stage) * C::stage_bytes;
    multiply_rows<C>(sums, at + part_.rows + C::A::offset(wave * warpgroup_rows, 0),
                     at + C::A::bytes + part_.columns, false);
  }

 private:
  std::uint32_t shared_;
  StagePart part_;
};

// The same where sums are promoted: 64 rows of a stage after the other, stages as the ring has them.
template <class C, int Waves, class Operands = AddressedOperands<C>>
class StageReader {
 public:
  __device__ __forceinline__ StageReader(Ring<C::stages>& ring, const Barriers<C>& barriers,
                                         std::uint32_t shared, StagePart part)
      : ring_(ring), barriers_(barriers), operands_(shared, part, ring.stage) {
    look();
  }

  // Waits for the stage.
  __device__ __forceinline__ void reach() {
    if (!has_landed_) wait(barriers_.full(ring_.stage), ring_.parity);
    has_landed_ = true;
  }

  // Reaches the stage with its first wave and leaves it with the last one.
  template <int Registers>
  __device__ __forceinline__ void multiply(int wave, std::uint32_t (&sums)[Registers]) {
    if (wave == 0) reach();
    operands_.multiply(sums, wave, ring_.stage);
    if (wave + 1 < Waves) return;
    ring_.advance();
    operands_.advance_to(ring_.stage);
    look();
  }

 private:
  // At the next stage, ahead of the sums that are added before it is needed: no time is lost if it is there.
  __device__ __forceinline__ void look() {
    has_landed_ = ptx::mbarrier_test_wait(barriers_.full(ring_.stage), ring_.parity);
  }

  Ring<C::stages>& ring_;
  const Barriers<C>& barriers_;
  Operands operands_;
  bool has_landed_;
};

}  // namespace tcq::gemm
