// D as FP8: 128 columns of a row of D share a factor, the largest of their magnitudes by FP8's largest, and are multiplied by
// its inverse (sim/num/quantize.h; oracle/sum/gemm_reference.h predicts both). What is quantized are the results in f32.
//
// Wgmma's rows are D's: a row of a fragment belongs to four threads. Where two columns of the product make one of D, its 128
// columns belong to two consumers, which tell each other their largest (store.cuh, Staging), or to one that has 256
// (tensor_kernel.cuh). Factors of fewer columns, bytes: quantized_blocks.cuh. Few rows (skinny.cuh): wgmma's
// columns are D's rows, and the 128 columns of D lie in the lanes and warps of two consumers or four.
// Kernels that quantize do nothing else: what they keep in registers would cost the others theirs.
#pragma once

#include <cuda.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {

static_assert(scale_block == quantized_block, "the next product's factors");

// Two elements of D in one register's low half, the first in its low byte.
__device__ __forceinline__ std::uint32_t pack_fp8(float first, float second, Type type) {
  return __nv_cvt_float2_to_fp8x2({first, second}, __NV_SATFINITE,
                                  type == Type::e4m3 ? __NV_E4M3 : __NV_E5M2);
}

// Of `count` values: a NaN counts for nothing, nor does an infinity, which is seldom there: then all are looked at again.
template <class Value>
__device__ __forceinline__ float largest_finite(int count, Value value) {
  float largest = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) largest = fmaxf(largest, fabsf(value(i)));
  if (finite_magnitude(largest) == largest) return largest;
  largest = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) largest = fmaxf(largest, finite_magnitude(value(i)));
  return largest;
}

// Writes the factor of 128 columns of D, the first of which is `at`, counted in columns of the product, unless it is outside;
// returns its inverse.
__device__ __forceinline__ float store_factor(const Arguments& arguments, float largest, BlockAt at,
                                              int halves) {
  const FactorsOfD& f = arguments.factors_d;
  const float factor = block_factor_of(largest, f.type, f.power_of_two);
  if (at.row < at.rows_end && at.col < arguments.n) {
    const std::int64_t block = at.col / (halves * scale_block);
    f.data[at.batch * f.batch_step + at.row * f.row_step + block * f.block_step] = factor;
  }
  return inverse_of(factor);
}

// --- wgmma's rows are D's --------------------------------------------------------------------------

// Columns of a fragment that D has not: what stands there is of whatever lay in the stage (cuda/gemm/load.cuh).
template <int Count>
__device__ __forceinline__ void clear_outside(std::uint32_t (&d)[Count], int inside) {
  const int own = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col;
#pragma unroll
  for (int r = 0; r < Count; ++r)
    if (own + wgmma::accumulator_element(Type::f32, {0, r}).col >= inside) d[r] = 0;
}

inline constexpr int block_of_registers = scale_block / 2;  // of a thread, for two rows

// Of the two rows of a fragment that a thread has a part of, in the 128 columns of its registers from `First` on.
template <int First, int Count>
__device__ __forceinline__ void largest_of_rows(const std::uint32_t (&d)[Count],
                                                float (&largest)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    const auto value = [&](int i) {
      return __uint_as_float(d[First + i / 2 * 4 + 2 * row + i % 2]);
    };
    largest[row] = largest_finite(block_of_registers / 2, value);
#pragma unroll
    for (int apart = 1; apart < sharers; apart *= 2)
      largest[row] = fmaxf(largest[row], __shfl_xor_sync(~0u, largest[row], apart));
  }
}

// The larger ones of this consumer's and of the one's beside it, for all waves.
template <class C>
__device__ __forceinline__ void share_largest(float (&largest)[C::waves][2], Staging<C>& staging) {
  const int thread = thread_here();
  const auto place = [&](std::uint32_t consumer, int wave, int row) {
    const int behind = wgmma::accumulator_element(Type::f32, {thread, 2 * row}).row;
    return staging.largest(consumer) +
           static_cast<std::uint32_t>(wave * warpgroup_rows + behind) * float_bytes;
  };
  staging.meet_beside();  // the last tile's have been read
#pragma unroll
  for (int i = 0; i < 2 * C::waves; ++i)
    if (thread % sharers == 0)
      ptx::store_shared(place(staging.own(), i / 2, i % 2), __float_as_uint(largest[i / 2][i % 2]));
  staging.meet_beside();
#pragma unroll
  for (int i = 0; i < 2 * C::waves; ++i)
    largest[i / 2][i % 2] =
        fmaxf(largest[i / 2][i % 2], load_float(place(1 - staging.own(), i / 2, i % 2)));
}

// 128 of a row's columns as bytes, of which those of a pair hold the one element that they make if Halves is 2. What the i-th of
// their registers is multiplied by: inverse(i).
template <int Halves, int First, int Count, class Inverse>
__device__ __forceinline__ void fill_quantized(const std::uint32_t (&d)[Count], Inverse inverse,
                                               std::uint32_t buffer, Type type) {
  const int thread = thread_here();
#pragma unroll
  for (int i = 0; i < block_of_registers; i += 2) {
    const int r = First + i;
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, i});
    const std::uint32_t at = staged(buffer, place.row, place.col / Halves);
    const float factor = inverse(i);
    const std::uint32_t both = pack_fp8(rounded::multiply(__uint_as_float(d[r]), factor),
                                        rounded::multiply(__uint_as_float(d[r + 1]), factor), type);
    if constexpr (Halves == 2)
      ptx::store_shared_byte(at, both);
    else
      ptx::store_shared_half(at, both);
  }
}

// Makes and stores the factors of 128 columns of D, those of D's rows in a fragment that begins `at`; returns their inverses.
template <int Halves>
__device__ __forceinline__ void store_factors(const Arguments& arguments, const float (&largest)[2],
                                              BlockAt at, float (&inverse)[2]) {
  // Of consumers, or of parts of a row, that share a factor the first one stores it; of threads that share a row, too.
  const bool stores = thread_here() % sharers == 0 && at.col % (Halves * scale_block) == 0;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    BlockAt place = at;
    const int behind = wgmma::accumulator_element(Type::f32, {thread_here(), 2 * row}).row;
    place.row = stores ? row_of(at, behind) : at.rows_end;
    inverse[row] = store_factor(arguments, largest[row], place, Halves);
  }
}

// 128 columns of the product, the Part-th of a fragment, which begins `at`.
template <class C, int Halves, int Part, int Count>
__device__ __forceinline__ void quantize_part(const std::uint32_t (&d)[Count],
                                              const float (&largest)[2], BlockAt at,
                                              const CUtensorMap& map, const Arguments& arguments,
                                              Staging<C>& staging) {
  at.col += Part * scale_block;
  float inverse[2];
  store_factors<Halves>(arguments, largest, at, inverse);
  at.col /= Halves;
  staging.template acquire<1>();
  const auto of_row = [&](int i) { return inverse[i / 2 % 2]; };
  fill_quantized<Halves, Part * block_of_registers>(d, of_row, staging.next(),
                                                    arguments.factors_d.type);
  if (arguments.stores_elements || ends_within<C>(at, warpgroup_rows)) {
    staging.copy_out(scale_block / Halves, arguments, at);
  } else {
    staging.filled();
    staging.send(map, at);
    staging.commit();
  }
}

// A consumer's columns of the product, 128 or 256, in all of its waves; `at(wave)` is where these begin.
template <class C, int Halves, int Count, class At>
__device__ __forceinline__ void quantize_waves(std::uint32_t (&d)[C::waves][Count], At at,
                                               const CUtensorMap& map, const Arguments& arguments,
                                               Staging<C>& staging) {
  constexpr int parts = C::consumer_columns / scale_block;
  static_assert(parts == 1 || (parts == 2 && C::waves == 1));
  const int inside = arguments.n - at(0).col;
  float largest[C::waves * parts][2];
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave) {
    if (inside < C::consumer_columns) clear_outside(d[wave], inside);
    largest_of_rows<0>(d[wave], largest[wave]);
    if constexpr (parts == 2) largest_of_rows<block_of_registers>(d[wave], largest[1]);
  }
  if constexpr (Halves == 2 && parts == 1) share_largest<C>(largest, staging);
  if constexpr (Halves == 2 && parts == 2) {
#pragma unroll
    for (int row = 0; row < 2; ++row)
      largest[0][row] = largest[1][row] = fmaxf(largest[0][row], largest[1][row]);
  }
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave) {
    const BlockAt here = at(wave);
    if (here.row >= here.rows_end) break;
    quantize_part<C, Halves, 0>(d[wave], largest[wave], here, map, arguments, staging);
    if constexpr (parts == 2)
      quantize_part<C, Halves, 1>(d[wave], largest[1], here, map, arguments, staging);
  }
}

// --- wgmma's columns are D's rows ------------------------------------------------------------------

// Of a line of floats, one for each of the slice's tokens: that of token `token` of line `line`, in bytes.
template <class C>
__device__ __forceinline__ std::uint32_t token_word(int line, int token) {
  return static_cast<std::uint32_t>(line) * C::token_bytes +
         static_cast<std::uint32_t>(token) * float_bytes;
}

// Of a warp's 16 weights, of which D has those of the warpgroup's first `inside`; `line`: where they lie, one for each token.
template <int Count>
__device__ __forceinline__ void tell_largest_of_tokens(const std::uint32_t (&total)[Count],
                                                       int inside, std::uint32_t line) {
  constexpr int lanes = 32;
  const int weight = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).row;
  constexpr int next = wgmma::accumulator_element(Type::f32, {0, 2}).row;
#pragma unroll
  for (int i = 0; i < Count / 2; ++i) {
    const int r = i / 2 * 4 + i % 2;  // and r + 2 is of the same token
    float largest = largest_finite(2, [&](int row) {
      return weight + row * next < inside ? __uint_as_float(total[r + 2 * row]) : 0;
    });
#pragma unroll
    for (int apart = sharers; apart < lanes; apart *= 2)
      largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, apart));
    const int token = wgmma::accumulator_element(Type::f32, {thread_here(), r}).col;
    if (thread_here() % lanes < sharers)
      ptx::store_shared(line + static_cast<std::uint32_t>(token) * float_bytes,
                        __float_as_uint(largest));
  }
}

// Rows of D as bytes; where two weights make one column both lanes hold it.
template <class C, int Count>
__device__ __forceinline__ void fill_quantized_tokens(const std::uint32_t (&total)[Count],
                                                      std::uint32_t buffer, std::uint32_t inverses,
                                                      int halves, Type type) {
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread_here(), r});
    const float inverse = load_float(inverses + token_word<C>(0, place.col));
    const float value = rounded::multiply(__uint_as_float(total[r]), inverse);
    if (halves == 2 && place.row % 2 != 0) continue;
    ptx::store_shared_byte(staged(buffer, place.col, place.row / halves),
                           pack_fp8(value, value, type));
  }
}

}  // namespace tcq::gemm
