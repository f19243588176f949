// Scale factors of blocks on their way: from global memory into a stage, by TMA, and on into Tensor Memory, by tcgen05.cp.
//
// ScaleLoads is the producer's, ScalesAt the multiplier's; both do nothing for kinds without factors. Where factors lie:
// cuda/gemm/tensor_scales.h. TMA writes zeros for atoms behind the last of K, which no instruction reads, and for those
// behind the last rows or columns of D, which nobody stores. A pair's CTAs load atoms as they load tiles: A's of their own
// rows, and all of B's; the leader's tcgen05.cp copies in both, each from its own shared memory.
//
// PTX orders cp before an mma of the same thread; it does not order an mma before a later cp, which here comes behind the
// stage's barriers (cuda/gemm/tensor_kernel.cuh).
//
// Run on the machine (tests/run/run_block_scaled_gemm_test.cc), not on silicon.
// Source: PTX ISA 9.2, 9.7.16.6.2 "Pipelined tcgen05 instructions", 9.7.16.9.2 "tcgen05.cp".
#pragma once

#include <cstdint>

#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/tensor_operands.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/tmem.cuh"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::gemm {

template <class C, bool Exist = C::Scales::exist>
class ScaleLoads {
 public:
  __device__ __forceinline__ explicit ScaleLoads(const TensorOperands& operands)
      : operands_(operands) {}
  __device__ __forceinline__ Turned turned() const {
    return {operands_.turned_a(), operands_.turned_b()};
  }
  __device__ __forceinline__ void prefetch() const {}
  __device__ __forceinline__ std::uint32_t bytes(const TilePlace&, int) const { return 0; }
  __device__ __forceinline__ void load(const TilePlace&, int, std::uint32_t, std::uint32_t,
                                       bool) const {}

 private:
  const TensorOperands& operands_;
};

template <class C>
class ScaleLoads<C, true> {
 public:
  using S = typename C::Scales;

  __device__ __forceinline__ explicit ScaleLoads(const TensorOperands& operands)
      : operands_(operands) {}

  __device__ __forceinline__ void prefetch() const {
    ptx::prefetch_map(&operands_.scales_a);
    ptx::prefetch_map(&operands_.scales_b);
  }

  __device__ __forceinline__ Turned turned() const { return {}; }
  // That load() brings for a block of K to one CTA.
  __device__ __forceinline__ std::uint32_t bytes(const TilePlace&, int) const { return S::bytes; }

  // `tile`: of the CTA or pair; of a pair the bytes count on the barrier of either CTA.
  __device__ __forceinline__ void load(const TilePlace& tile, int block, std::uint32_t shared,
                                       std::uint32_t barrier, bool leads) const {
    constexpr int mn = tcgen05::scale_atom_mn;
    const int word = block * S::atoms * scale_atom_words;
    const int of_rows = C::transposes ? 0 : tile.filling;
    const int row = (tile.row + of_rows) / mn + own_rank<C>().row;
    const int col = (tile.col + tile.filling - of_rows) / mn;
    load(operands_.scales_a, shared, {{word, row, tile.batch}}, barrier, leads);
    load(operands_.scales_b, shared + S::bytes_a, {{word, col, tile.batch_b}}, barrier, leads);
  }

 private:
  __device__ __forceinline__ static void load(const CUtensorMap& map, std::uint32_t shared,
                                              const tma::Coordinates& start, std::uint32_t barrier,
                                              bool leads) {
    if constexpr (C::ctas == 1)
      ptx::tma_load_by(leads, shared, &map, start, barrier);
    else
      ptx::tma_load_pair_by(leads, shared, &map, start, barrier);
  }

  const TensorOperands& operands_;
};

template <class C, bool Exist = C::Scales::exist>
class ScalesAt {
 public:
  __device__ __forceinline__ ScalesAt(std::uint32_t, std::uint32_t, int, int) {}
  __device__ __forceinline__ void copy(int) const {}
  __device__ __forceinline__ std::uint32_t instruction(int) const {
    constexpr std::uint32_t word = tcgen05::encode(C::instruction(0, 0), C::kind);
    return word;
  }
  __device__ __forceinline__ std::uint32_t of_a(int) const { return 0; }
  __device__ __forceinline__ std::uint32_t of_b(int) const { return 0; }
};

// `tensor`: what was allocated; `shared`: the stage; `col`: the tile's first column, counted as its factors lie.
template <class C>
class ScalesAt<C, true> {
 public:
  using S = typename C::Scales;

  __device__ __forceinline__ ScalesAt(std::uint32_t tensor, std::uint32_t shared, int stage,
                                      int col)
      : columns_(tensor + static_cast<std::uint32_t>(C::scale_column + stage * S::columns)),
        shared_(shared + C::A::bytes + C::B::bytes),
        before_(static_cast<std::uint32_t>(S::columns_before(col))) {}

  // The atoms that begin with a step along K.
  __device__ __forceinline__ void copy(int step) const {
    if (step * S::of_step % tcgen05::scale_group != 0) return;
    const int atom = step * S::of_step / tcgen05::scale_group;
    copy_atom(S::start_a(step).tmem_column, atom);
#pragma unroll
    for (int i = 0; i < S::atoms_of_n; ++i)
      copy_atom(S::columns_a + S::start_b(step).tmem_column + i * scale_atom_columns,
                (1 + i) * S::atoms + atom);
  }

  __device__ __forceinline__ std::uint32_t instruction(int step) const {
    return tcgen05::encode(C::instruction(S::start_a(step).id, S::start_b(step).id), C::kind);
  }
  __device__ __forceinline__ std::uint32_t of_a(int step) const {
    return columns_ + static_cast<std::uint32_t>(S::start_a(step).tmem_column);
  }
  __device__ __forceinline__ std::uint32_t of_b(int step) const {
    return columns_ + before_ +
           static_cast<std::uint32_t>(S::columns_a + S::start_b(step).tmem_column);
  }

 private:
  __device__ __forceinline__ void copy_atom(int column, int atom) const {
    constexpr tcgen05::CpForm form = tcgen05::cp_form(tcgen05::CpShape::S32x128b, C::ctas);
    constexpr std::uint64_t descriptor = tcgen05::encode(tcgen05::scale_atom_descriptor(0));
    const std::uint32_t offset = static_cast<std::uint32_t>(atom) * tcgen05::scale_atom_bytes;
    ptx::tcgen05_cp<form>(columns_ + static_cast<std::uint32_t>(column),
                          advance(descriptor, shared_ + offset));
  }

  std::uint32_t columns_;  // of the stage
  std::uint32_t shared_;
  std::uint32_t before_;  // of a narrow tile in an atom
};

}  // namespace tcq::gemm
