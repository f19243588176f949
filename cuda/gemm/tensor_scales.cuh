// Scale factors of blocks on their way: from global memory into a stage, by bulk copies, and on into Tensor Memory, by
// tcgen05.cp.
//
// ScaleLoads is the producer's, ScalesAt the multiplier's; both do nothing for kinds without factors. Where factors lie:
// cuda/gemm/tensor_scales.h. Atoms behind the end of K are neither loaded nor copied: no instruction reads them. Behind the
// last columns of D the last atom takes their place, for columns that nobody stores.
//
// PTX orders cp before an mma of the same thread; it does not order an mma before a later cp, which here comes behind the
// stage's barriers (cuda/gemm/tensor_kernel.cuh).
//
// Run on the machine (tests/run/run_block_scaled_gemm_test.cc), not on silicon.
// Source: PTX ISA 9.2, 9.7.16.6.2 "Pipelined tcgen05 instructions", 9.7.16.9.2 "tcgen05.cp".
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/bulk.cuh"
#include "cuda/ptx/tmem.cuh"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::gemm {

template <class C, bool Exist = C::Scales::exist>
class ScaleLoads {
 public:
  __device__ __forceinline__ explicit ScaleLoads(const Arguments&) {}
  __device__ __forceinline__ std::uint32_t bytes(int) const { return 0; }
  __device__ __forceinline__ void load(const TilePlace&, int, std::uint32_t, std::uint32_t) const {}
};

template <class C>
class ScaleLoads<C, true> {
 public:
  using S = typename C::Scales;

  __device__ __forceinline__ explicit ScaleLoads(const Arguments& arguments)
      : arguments_(arguments),
        atoms_(tcgen05::scale_atoms_along_k((arguments.k + S::block - 1) / S::block)) {}

  // That load() brings for a block of K.
  __device__ __forceinline__ std::uint32_t bytes(int block) const {
    return (1 + S::atoms_of_n) * bytes_of_rows(block);
  }

  __device__ __forceinline__ void load(const TilePlace& tile, int block, std::uint32_t shared,
                                       std::uint32_t barrier) const {
    constexpr int mn = tcgen05::scale_atom_mn;
    const std::uint32_t bytes = bytes_of_rows(block);
    ptx::bulk_load(shared, atoms_at(arguments_.scale_codes_a, tile.batch, tile.row / mn, block),
                   bytes, barrier);
    const int last = (arguments_.n - 1) / mn;
#pragma unroll
    for (int i = 0; i < S::atoms_of_n; ++i)
      ptx::bulk_load(
          shared + static_cast<std::uint32_t>(1 + i) * S::bytes_a,
          atoms_at(arguments_.scale_codes_b, tile.batch_b, min(tile.col / mn + i, last), block),
          bytes, barrier);
  }

 private:
  // Of 128 rows.
  __device__ __forceinline__ std::uint32_t bytes_of_rows(int block) const {
    return static_cast<std::uint32_t>(min(S::atoms, atoms_ - block * S::atoms)) *
           tcgen05::scale_atom_bytes;
  }

  __device__ __forceinline__ const std::uint8_t* atoms_at(const ScaleCodes& codes, int batch,
                                                          int atom_of_mn, int block) const {
    const std::int64_t atom = static_cast<std::int64_t>(atom_of_mn) * atoms_ + block * S::atoms;
    return codes.data + batch * codes.batch_step + atom * tcgen05::scale_atom_bytes;
  }

  const Arguments& arguments_;
  int atoms_;  // along all of K
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

// `tensor`: what was allocated; `shared`: the stage; `col`: D's first column of the tile.
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
    constexpr tcgen05::CpForm form = tcgen05::cp_form(tcgen05::CpShape::S32x128b);
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
