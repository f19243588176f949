// The GEMM kernel for operands that TMA cannot address: a warpgroup copies them element by element.
//
// Everything but the producer is cuda/gemm/kernel.cuh's. All operands are K-major in shared memory, in the
// very layout that TMA would write; in global memory they may have any strides, so that this kernel
// also transposes for the types whose operands must be K-major. What lies outside is filled with
// zeros and never read. Every thread of the producer arrives at full[s] after its fence: 128
// arrivals, no bytes.
#pragma once

#include <cstdint>

#include "cuda/gemm/kernel.cuh"
#include "sim/isa/base/tile_offset.h"

namespace tcq::gemm {

inline constexpr int chunk_bytes = 16;  // that a thread gathers and stores at a time
inline constexpr int chunk_words = chunk_bytes / 4;

template <int Bits>
struct RawElement;
template <>
struct RawElement<8> {
  using Word = std::uint8_t;
};
template <>
struct RawElement<16> {
  using Word = std::uint16_t;
};
template <>
struct RawElement<32> {
  using Word = std::uint32_t;
};

// Of K, what is copied; zeros outside.
struct CopiedK {
  int first;
  int end;
};

// Elements [k, k + one chunk) of row `mn` of A, or of column `mn` of B.
template <Type In>
__device__ __forceinline__ void gather(std::uint32_t (&chunk)[chunk_words], const Source& source,
                                       int mn, int k, CopiedK copied, int batch) {
  using Word = typename RawElement<bits(In)>::Word;
  constexpr int parts = parts_per_register(In);
  const Word* at = static_cast<const Word*>(source.data) + batch * source.batch_step +
                   mn * source.mn_step + k * source.k_step;
#pragma unroll
  for (int word = 0; word < chunk_words; ++word) {
    chunk[word] = 0;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const int i = word * parts + part;
      if (k + i >= copied.first && k + i < copied.end)
        chunk[word] |= in_register_part(In, at[i * source.k_step], part);
    }
  }
}

// One operand's tile of a stage; threads of a warp read along the contiguous direction.
template <class Op, int Rows>
__device__ __forceinline__ void copy_tile(const Source& source, std::uint32_t shared, int mn,
                                          int mn_end, int k, CopiedK copied, int batch) {
  static_assert(Op::major == Major::K);
  constexpr int chunks = static_cast<int>(swizzle_bytes) / chunk_bytes;
  constexpr int elements = elements_in(Op::type, chunk_bytes);
  const bool along_k = source.k_step == 1;
  for (int i = static_cast<int>(threadIdx.x); i < Rows * chunks; i += warpgroup_threads) {
    const int row = along_k ? i / chunks : i % Rows;
    const int column = along_k ? i % chunks : i / Rows;
    std::uint32_t chunk[chunk_words] = {};
    if (mn + row < mn_end)
      gather<Op::type>(chunk, source, mn + row, k + column * elements, copied, batch);
    const std::uint32_t offset = tile_offset_bytes(
        Op::tile(),
        {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column * chunk_bytes)});
    ptx::store_shared(swizzle_function(operand_swizzle).apply(shared + offset), chunk);
  }
}

template <class C, class Step>
__device__ __forceinline__ void copy_operands(const Arguments& arguments, std::uint32_t shared,
                                              const Barriers<C>& barriers, const Step& step) {
  Ring<C::stages> ring;
  ClusterTiles<C> tiles(arguments, static_cast<int>(blockIdx.x), step);
  TilePlace tile;
  while (tiles.next(tile)) {
    const BlocksAlongK along = along_k<C>(arguments, tile);
    const CopiedK copied =
        groups_k<C>() ? CopiedK{tile.k_first, tile.k_end} : CopiedK{0, arguments.k};
    for (int block = 0; block < along.count; ++block) {
      wait(barriers.empty(ring.stage), 1 - ring.parity);
      const std::uint32_t a = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
      const int k = k_begin<C>(tile, along) + block * C::block_k;
      copy_tile<typename C::A, C::block_m>(arguments.a, a, tile.row, arguments.m, k, copied,
                                           tile.batch);
      copy_tile<typename C::B, C::block_n>(arguments.b, a + C::A::bytes, tile.col, arguments.n, k,
                                           copied, tile.batch_b);
      ptx::fence_proxy_async_shared();
      ptx::mbarrier_arrive(barriers.full(ring.stage));
      ring.advance();
    }
  }
}

// Takes the arguments of kernel() and does not use the operands' maps.
template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    copy_kernel(const __grid_constant__ OperandMaps /*map_a*/,
                const __grid_constant__ OperandMaps /*map_b*/,
                const __grid_constant__ CUtensorMap map_d,
                const __grid_constant__ CUtensorMap map_tail,
                const __grid_constant__ Arguments arguments) {
  static_assert(C::cluster == 1 && !C::ping_pong);
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const int warpgroup = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), warpgroup_threads);
      ptx::mbarrier_init(barriers.empty(s), C::readers * warpgroup_threads / 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  ptx::grid_launch_dependents();
  ptx::grid_wait();
  const auto step = cluster_step<C>(shared, static_cast<int>(gridDim.x));
  start_step<C>(arguments, step);
  if (warpgroup == 0)
    copy_operands<C>(arguments, shared, barriers, step);
  else  // all threads have as many registers: none for the products of two blocks
    consume<C, false>(map_d, map_tail, arguments, shared, barriers, warpgroup - 1,
                      static_cast<int>(blockIdx.x), step);
}

}  // namespace tcq::gemm
