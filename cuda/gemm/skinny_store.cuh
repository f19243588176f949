// How the finished sums of a kernel for few rows or columns leave their registers: elements of 16 bits
// and of a quantized D through shared memory and by TMA, or by threads where TMA cannot address D; words straight to D.
//
// A consumer has 64 weights, a fragment's rows, by its slice of tokens. With few rows tokens are D's rows. Hopper
// (cuda/gemm/skinny.cuh): in place of the stages; tcgen05 (tensor_tokens.cuh): a warp's 16 weights are a box of their own, as
// they lie apart from the next warp's. Large tiles' way out: cuda/gemm/store.cuh.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/quantized.cuh"
#include "cuda/gemm/skinny_config.h"
#include "cuda/gemm/store.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/store.h"

namespace tcq::gemm {

template <class C>
using Slice = std::uint32_t[C::slice_registers];

template <class C, Type Out>
__device__ __forceinline__ void fill_transposed(const Slice<C>& total, std::uint32_t buffer) {
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  const wgmma::Element place = wgmma::store_transposed_element(thread);
  const int box = C::stores(2) == 1 ? 0 : place.col / C::store_columns(2);
  const int in_box = place.col - box * C::store_columns(2);
  buffer += static_cast<std::uint32_t>(box) * C::box_bytes;
#pragma unroll
  for (int r = 0; r < C::slice_registers; r += 4) {
    const std::uint32_t packed[2] = {pack<Out>(total[r], total[r + 1]),
                                     pack<Out>(total[r + 2], total[r + 3])};
    ptx::stmatrix<ptx::Trans::Yes>(staged(buffer, place.row + 2 * r, 2 * in_box), packed);
  }
}

// Boxes side by side of the fragment as it is.
template <class C, Type Out, int Box = 0>
__device__ __forceinline__ void fill_boxes(const Slice<C>& total, std::uint32_t buffer) {
  constexpr int columns = C::store_columns(2);
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  if constexpr (Box < C::stores(2)) {
    fill_narrow<Out, Box * columns, columns>(total, buffer + Box * C::box_bytes, thread);
    fill_boxes<C, Out, Box + 1>(total, buffer);
  }
}

// What a gated activation leaves of two columns of the product, element by element.
template <class C, Type Out>
__device__ __forceinline__ void fill_gated_elements(const Slice<C>& total, std::uint32_t buffer) {
  constexpr int bytes = bits(Out) / 8;
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
#pragma unroll
  for (int r = 0; r < C::slice_registers; ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    const int row = C::transposes ? place.col : place.row;
    const int col = C::transposes ? place.row : place.col;
    const int box = col / C::store_columns(bytes);
    const int in_box = col - box * C::store_columns(bytes);
    if (col % 2 != 0) continue;
    const std::uint32_t at =
        staged(buffer + static_cast<std::uint32_t>(box) * C::box_bytes, row, bytes * (in_box / 2));
    if constexpr (bytes == 2)
      ptx::store_shared_half(at, pack<Out>(total[r], total[r]));
    else
      ptx::store_shared(at, total[r]);
  }
}

template <class C, Type Out>
__device__ __forceinline__ void fill_slice(const Slice<C>& total, std::uint32_t buffer,
                                           bool gated) {
  if (gated)
    fill_gated_elements<C, Out>(total, buffer);
  else if constexpr (bits(Out) == 16 && C::transposes)
    fill_transposed<C, Out>(total, buffer);
  else if constexpr (bits(Out) == 16)
    fill_boxes<C, Out>(total, buffer);
}

// Stores what fill_slice() left; `at` counts columns of the product.
template <class C, int Bytes>
__device__ __forceinline__ void send_slice(const CUtensorMap& map_d, const Arguments& arguments,
                                           std::uint32_t buffer, int consumer, BlockAt at,
                                           bool gated, bool by_threads) {
  ptx::fence_proxy_async_shared();
  ptx::bar_sync(C::slice_barrier(consumer), warpgroup_threads);
  const bool leads = threadIdx.x % warpgroup_threads == 0;
  const int halves = gated ? 2 : 1;
#pragma unroll
  for (int i = 0; i < C::stores(Bytes); ++i) {
    const BlockAt box = {at.row, col_of(at, i * C::store_columns(Bytes)) / halves, at.batch,
                         at.rows_end, at.batch_b};
    const std::uint32_t from = buffer + static_cast<std::uint32_t>(i) * C::box_bytes;
    if (by_threads)
      copy_rows<C::quantizes>(from, C::store_rows, C::store_columns(Bytes) / halves, arguments,
                              box);
    else if (leads)
      ptx::tma_store<3>(&map_d, {{box.col, box.row, box.batch}}, from);
  }
  if (leads && !by_threads) {
    ptx::bulk_commit_group();
    if constexpr (!on_tcgen05<C>())
      ptx::bulk_wait_group_read<0>();  // there whoever stores next waits
  }
}

// D's words straight from the registers. Tokens are rows of D: of each of four a warp has eight weights beside each other, 32
// bytes; else four threads have as much of each of eight rows. Through shared memory and TMA it takes 0.3 to 2 us longer
// (cuda/NOTES.md, "words of D").
template <int Count>
__device__ __forceinline__ void store_words_of_tokens(const std::uint32_t (&total)[Count],
                                                      const Arguments& arguments, BlockAt at) {
  const Epilogue& e = arguments.epilogue;
  const wgmma::Element own = wgmma::accumulator_element(Type::f32, {thread_here(), 0});
  const int weight = col_of(at, own.row);
  const int left = at.rows_end - at.row - own.col;
  auto* const d = static_cast<std::uint32_t*>(e.d) + at.batch * e.batch_d + weight +
                  (at.row + own.col) * e.ld_d;
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {0, r});
    if (place.col >= left || weight + place.row >= arguments.n) continue;
    d[place.col * e.ld_d + place.row] = total[r];
  }
}

template <int Count>
__device__ __forceinline__ void store_words_of_rows(const std::uint32_t (&total)[Count],
                                                    const Arguments& arguments, BlockAt at) {
  const Epilogue& e = arguments.epilogue;
  const wgmma::Element own = wgmma::accumulator_element(Type::f32, {thread_here(), 0});
  const int left = arguments.n - at.col - own.col;
  auto* const d = static_cast<std::uint32_t*>(e.d) + at.batch * e.batch_d + at.col + own.col +
                  (at.row + own.row) * e.ld_d;
#pragma unroll
  for (int r = 0; r < Count; r += 2) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {0, r});
    if (at.row + own.row + place.row >= at.rows_end || place.col >= left) continue;
    std::uint32_t* const to = d + place.row * e.ld_d + place.col;
    if (e.pairs_of_d) {
      *reinterpret_cast<uint2*>(to) = {total[r], total[r + 1]};
    } else {
      to[0] = total[r];
      if (place.col + 1 < left) to[1] = total[r + 1];
    }
  }
}

template <class C>
__device__ __forceinline__ void store_words(const Slice<C>& total, const Arguments& arguments,
                                            BlockAt at) {
  if constexpr (C::transposes)
    store_words_of_tokens(total, arguments, at);
  else
    store_words_of_rows(total, arguments, at);
}

// This CTA's slice of tokens from `token` on, of the warpgroup's weights from `weight` on.
template <class C, Type Out>
__device__ __forceinline__ void store_slice(const Slice<C>& total, const CUtensorMap& map_d,
                                            const Arguments& arguments, std::uint32_t buffer,
                                            int consumer, BlockAt at) {
  const bool gated = is_gated(arguments.epilogue.activation);
  if (bits(Out) == 32 && !gated) return store_words<C>(total, arguments, at);
  fill_slice<C, Out>(total, buffer, gated);
  send_slice<C, bits(Out) / 8>(map_d, arguments, buffer, consumer, at, gated,
                               arguments.stores_elements || ends_within<C>(at, C::store_rows));
}

// Where D is quantized: each warp says the largest magnitudes of its weights, one thread for each token and factor makes the
// factor of them, and all multiply by its inverse.
template <class C>
__device__ __forceinline__ void quantize_and_store(const Slice<C>& total, const CUtensorMap& map_d,
                                                   const Arguments& arguments, std::uint32_t shared,
                                                   std::uint32_t buffer, int consumer, BlockAt at) {
  const std::uint32_t largest = shared + C::largest_offset;
  const std::uint32_t inverses = shared + C::inverse_offset;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int halves = is_gated(arguments.epilogue.activation) ? 2 : 1;
  tell_largest_of_tokens(total, arguments.n - at.col,
                         largest + static_cast<std::uint32_t>(warp) * C::token_bytes);
  ptx::bar_sync(1, C::consumer_threads);
  const int number = static_cast<int>(threadIdx.x) / C::slice_tokens;
  const int token = static_cast<int>(threadIdx.x) % C::slice_tokens;
  const int warps = halves * scale_block / warp_rows;
  if (number * warps < C::largest_lines) {
    const BlockAt block = {at.row + token,
                           at.col - consumer * warpgroup_rows + number * warps * warp_rows,
                           at.batch, at.rows_end};
    float most = 0;
    for (int i = 0; i < warps; ++i)
      most = fmaxf(most, load_float(largest + token_word<C>(number * warps + i, token)));
    const float inverse = store_factor(arguments, most, block, halves);
    ptx::store_shared(inverses + token_word<C>(number, token), __float_as_uint(inverse));
  }
  ptx::bar_sync(1, C::consumer_threads);
  const int own = consumer * warpgroup_rows / (halves * scale_block);
  fill_quantized_tokens<C>(total, buffer, inverses + token_word<C>(own, 0), halves,
                           arguments.factors_d.type);
  send_slice<C, 1>(map_d, arguments, buffer, consumer, at, halves == 2,
                   arguments.stores_elements || ends_within<C>(at, C::store_rows));
}

// Of the thread's two weights, of a slice that begins at `at`.
template <Type In>
__device__ __forceinline__ Bias bias_of_weights(const Arguments& arguments, const BlockAt& at) {
  Bias bias;
  const Epilogue& e = arguments.epilogue;
  if (e.bias == nullptr) return bias;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread_here(), 2 * i});
    const int col = col_of(at, place.row);
    if (col < arguments.n) bias.rows[i] = load_element<In>(e, e.bias, col);
  }
  return bias;
}

// The product as it is apart from the rest, so that short kernels do not wait for instructions that they skip.
template <class C>
__device__ __forceinline__ void finish_and_store(Slice<C>& total, const CUtensorMap& map_d,
                                                 const Arguments& arguments, std::uint32_t shared,
                                                 int consumer, BlockAt at, const Bias& bias) {
  const std::uint32_t buffer = shared + C::slice_offset(consumer);
  if (!C::quantizes && arguments.sends_usual && !arguments.epilogue.finishes &&
      !ends_within<C>(at, C::store_rows)) {
    if constexpr (usual_bytes(C::in) == 4) return store_words<C>(total, arguments, at);
    fill_slice<C, usual(C::in)>(total, buffer, false);
    return send_slice<C, usual_bytes(C::in)>(map_d, arguments, buffer, consumer, at, false, false);
  }
  if (arguments.epilogue.finishes)
    finish<finishes_as<C>(), C::transposes ? Way::Transposed : Way::AsIs, few_in_pass>(
        as_fragments(total), [&](int) { return at; }, arguments, bias);
  if constexpr (C::quantizes)
    return quantize_and_store<C>(total, map_d, arguments, shared, buffer, consumer, at);
  if constexpr (has_f16_besides(finishes_as<C>())) {
    if (arguments.epilogue.out == Type::f16)
      return store_slice<C, Type::f16>(total, map_d, arguments, buffer, consumer, at);
  }
  if constexpr (has_narrow(C::in)) {
    if (bits(arguments.epilogue.out) == 16)
      return store_slice<C, narrow(C::in)>(total, map_d, arguments, buffer, consumer, at);
  }
  store_slice<C, Type::f32>(total, map_d, arguments, buffer, consumer, at);
}

}  // namespace tcq::gemm
