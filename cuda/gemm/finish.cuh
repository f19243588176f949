// From the sums of a tile in a warpgroup's registers to D: the bias on its way, the epilogue, the store.
//
// One for all kernels, wherever the sums come from: wgmma leaves them in the registers, out of Tensor Memory tcgen05.ld
// brings them in the same order (cuda/gemm/tensor_kernel.cuh). Next: cuda/gemm/epilogue.cuh, store.cuh.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/quantized.cuh"
#include "cuda/gemm/quantized_blocks.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/gemm/tiles.cuh"
#include "sim/isa/wgmma/fragment.h"

namespace tcq::gemm {

template <class C>
using Accumulators =
    std::uint32_t[C::waves][wgmma::accumulator_registers(C::accumulator, C::consumer_columns)];

// Of D's columns that a consumer stores, in one part or several.
template <class C>
inline constexpr int stored_columns = C::beside ? C::consumer_columns : C::block_n;

template <class C>
using OwnBias = BiasShare<finishes_as<C>(), stored_columns<C>, warpgroup_threads>;

template <class C>
__device__ __forceinline__ BlockAt block_at(const TilePlace& tile, int wave) {
  return {.row = tile.row + wave * C::wave_step,
          .col = tile.col,
          .batch = tile.batch,
          .rows_end = tile.rows_end,
          .batch_b = tile.batch_b,
          .warp_step = C::warp_step,
          .filling = tile.filling};
}

// A consumer's part of its cluster's tile, `row` rows and `col` columns behind the CTA's first.
template <class C>
__device__ __forceinline__ TilePlace own_part(TilePlace tile, int row, int col = 0) {
  const Rank rank = own_rank<C>();
  tile.row += rank.row * C::block_m + row;
  tile.col += rank.col * C::block_n + col;
  return tile;
}

// What the epilogue reads, asked for before a consumer waits for its turn.
template <class C>
__device__ __forceinline__ OwnBias<C> prepare(const Arguments& arguments, const TilePlace& tile) {
  OwnBias<C> bias;
  const int thread = thread_here();
  prefetch_c(arguments, block_at<C>(tile, 0), C::consumer_rows, stored_columns<C>, thread,
             warpgroup_threads);
  if (arguments.epilogue.bias != nullptr) bias.load(arguments, tile.col, thread);
  return bias;
}

// Between the wait and the product. The last tile's bias was read before that tile was stored, between barriers.
template <class C>
__device__ __forceinline__ void stage(const Arguments& arguments, const OwnBias<C>& own,
                                      std::uint32_t bias) {
  if (arguments.epilogue.bias != nullptr) own.store(bias, thread_here());
}

// On tcgen05, of 64 columns at most, as kernels are many and loads for more registers spill beside 128 sums; beside wgmma all at
// once, as it was measured.
template <class C>
HOST_DEVICE constexpr int finishing_passes() {
  return on_tcgen05<C>() ? (C::consumer_columns + 63) / 64 : 1;
}

template <class C>
__device__ __forceinline__ void finish_tile(Accumulators<C>& d, const Arguments& arguments,
                                            const Staging<C>& staging, std::uint32_t bias,
                                            const TilePlace& tile) {
  if (!arguments.epilogue.finishes) return;
  if (arguments.epilogue.bias != nullptr) staging.meet();
  if constexpr (finishing_passes<C>() > 1)
    finish_in_passes<finishes_as<C>(), finishing_passes<C>()>(d, block_at<C>(tile, 0), arguments,
                                                              bias);
  else
    finish<finishes_as<C>(), Way::AsIs, many_in_pass>(
        d, [&](int wave) { return block_at<C>(tile, wave); }, arguments, {bias});
}

// D as FP8 with its factors.
template <class C>
__device__ __forceinline__ void quantize_tile(Accumulators<C>& d, const CUtensorMap& map_d,
                                              const Arguments& arguments, Staging<C>& staging,
                                              const TilePlace& tile) {
  const auto at = [&](int wave) { return block_at<C>(tile, wave); };
  const bool gated = is_gated(arguments.epilogue.activation);
  if constexpr (quantized_vec_of<C>() != tcgen05::ScaleVec::Default) {
    return gated ? code_wave<C, 2>(d[0], at(0), map_d, arguments, staging)
                 : code_wave<C, 1>(d[0], at(0), map_d, arguments, staging);
  } else {
    if constexpr (C::quantized_columns > scale_block) {
      if (gated) return quantize_waves<C, 2>(d, at, map_d, arguments, staging);
    }
    quantize_waves<C, 1>(d, at, map_d, arguments, staging);
  }
}

// As the product leaves: TMA stores D of its usual type, a column for each of the sums.
template <class C>
__device__ __forceinline__ void send_tile(const Accumulators<C>& d, const CUtensorMap& map_d,
                                          const CUtensorMap& map_tail, Staging<C>& staging,
                                          const TilePlace& tile) {
  const int thread = thread_here();
  if constexpr (stores_whole<C>()) {
    store_whole<C>(
        d, map_d, staging, [&](int wave) { return block_at<C>(tile, wave); }, thread);
  } else {
#pragma unroll
    for (int wave = 0; wave < C::waves; ++wave)
      if (block_at<C>(tile, wave).row < tile.rows_end)
        store_plain<C>(d[wave], map_d, map_tail, staging, block_at<C>(tile, wave), thread);
  }
}

// Promoted sums in registers of their own from here on, those before in pairs as clear_in_other_bank() made them: else what stores
// 32-bit results wants of registers, pairs whose first has the even one, would hold for the sums while they are added to.
template <class C>
__device__ __forceinline__ void part_registers(Accumulators<C>& d, const Arguments& arguments) {
  const std::uint32_t none = arguments.k_blocks < 0 ? 1 : 0;  // 0, which no compiler knows
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave) {
#pragma unroll
    for (int i = 0; i < C::consumer_columns / 2; i += 2)
      asm volatile(
          "{\n.reg .b64 both;\nmov.b64 both, {%1, %0};\nmad.wide.u32 both, %2, %2, both;\n"
          "mov.b64 {%1, %0}, both;\nor.b32 %0, %0, %2;\nor.b32 %1, %1, %2;\n}"
          : "+r"(d[wave][i]), "+r"(d[wave][i + 1])
          : "r"(none));
  }
}

// The product alone has a way of its own, so that short kernels do not wait for instructions that they skip.
template <class C>
__device__ __forceinline__ void store_tile(Accumulators<C>& d, const CUtensorMap& map_d,
                                           const CUtensorMap& map_tail, const Arguments& arguments,
                                           Staging<C>& staging, std::uint32_t bias,
                                           const TilePlace& tile) {
  // Consumers beside each other have the same rows: both go on, or neither.
  if (tile.row >= tile.rows_end) return;
  if constexpr (C::quantizes) {
    finish_tile<C>(d, arguments, staging, bias, tile);
    return quantize_tile<C>(d, map_d, arguments, staging, tile);
  }
  const bool sends =
      arguments.sends_usual && !ends_within<C>(block_at<C>(tile, 0), C::waves * warpgroup_rows);
  if (sends && !arguments.epilogue.finishes) return send_tile<C>(d, map_d, map_tail, staging, tile);
  if constexpr ((C::promotion == Promotion::ColumnBlocks || stages_factors<C>()) &&
                !on_tcgen05<C>())
    part_registers<C>(d, arguments);
  finish_tile<C>(d, arguments, staging, bias, tile);
  if (sends) return send_tile<C>(d, map_d, map_tail, staging, tile);
  const int thread = thread_here();
  const auto store_all = [&](auto halves) {
#pragma unroll
    for (int wave = 0; wave < C::waves; ++wave)
      store<C, decltype(halves)::value>(d[wave], map_d, map_tail, arguments, staging,
                                        block_at<C>(tile, wave), thread);
  };
  if (is_gated(arguments.epilogue.activation))
    store_all(std::integral_constant<int, 2>{});
  else
    store_all(std::integral_constant<int, 1>{});
}

}  // namespace tcq::gemm
