// How the GEMM on tcgen05 for few rows of D, here called tokens, finishes and stores a wave: 64 lanes of weights, all tokens.
//
// The kernel multiplies D's transpose (cuda/gemm/tensor_config.h), so that 128 weights fill an instruction's rows and tokens
// are as many columns as there are; with tokens as rows an instruction takes 128 rows' time for the few. The fragment is
// Hopper's of few rows, but for a warp's 16 weights, which lie 32 from the next warp's: the epilogue and the way out are
// those of cuda/gemm/epilogue.cuh (Way::Transposed) and skinny_store.cuh.
//
// Run on the machine (tests/run/run_tensor_few_test.cc), not on silicon.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/finish.cuh"
#include "cuda/gemm/skinny_store.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/gemm/tiles.cuh"

namespace tcq::gemm {

// Of a tile of the transpose, `row` weights behind its first.
template <class C>
__device__ __forceinline__ BlockAt tokens_at(const TilePlace& tile, int row) {
  return {.row = tile.col,
          .col = tile.row + row,
          .batch = tile.batch_b,
          .rows_end = tile.rows_end,
          .batch_b = tile.batch,
          .warp_step = C::warp_step};
}

// Of C, what consumer `consumer` stores or another in its place, as many weights.
template <class C>
__device__ __forceinline__ void prefetch_c_of_tokens(const Arguments& arguments,
                                                     const TilePlace& tile, int consumer) {
  prefetch_c(arguments, tokens_at<C>(tile, consumer * C::consumer_rows), C::block_n,
             C::consumer_rows, thread_here(), warpgroup_threads);
}

// A wave from weight `row` of the tile on, through the one buffer that a consumer has; where CTAs share K it has one wave.
template <class C>
__device__ __forceinline__ void store_tokens(Accumulators<C>& d, const CUtensorMap& map_d,
                                             const Arguments& arguments, std::uint32_t shared,
                                             Staging<C>& staging, int consumer,
                                             const TilePlace& tile, int row) {
  const BlockAt at = tokens_at<C>(tile, row);
  if (at.row >= at.rows_end || at.col >= arguments.n) return;
  if constexpr (C::split == 1) staging.template acquire<1>();
  finish_and_store<C>(d[0], map_d, arguments, shared, consumer, at,
                      bias_of_weights<finishes_as<C>()>(arguments, at));
}

}  // namespace tcq::gemm
