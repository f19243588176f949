// How finished sums leave their registers: through buffers of one swizzle span a row in shared memory, and from
// there by TMA, which clips what lies outside of D; or by threads, row by row, where TMA cannot address D.
//
// Of 16-bit types stmatrix fills a buffer, of 32-bit ones plain stores; D's type is known at run time. The
// arithmetic before: cuda/gemm/epilogue.cuh.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/store.h"

namespace tcq::gemm {

// Two elements of D in one register, the first in its low half.
template <Type Narrow>
__device__ __forceinline__ std::uint32_t pack(std::uint32_t first, std::uint32_t second) {
  if constexpr (Narrow == Type::bf16) {
    const __nv_bfloat162 both =
        __floats2bfloat162_rn(__uint_as_float(first), __uint_as_float(second));
    return *reinterpret_cast<const std::uint32_t*>(&both);
  } else {
    const __half2 both = __floats2half2_rn(__uint_as_float(first), __uint_as_float(second));
    return *reinterpret_cast<const std::uint32_t*>(&both);
  }
}

__device__ __forceinline__ std::uint32_t staged(std::uint32_t buffer, int row, int column_byte) {
  return swizzle_function(operand_swizzle)
      .apply(buffer + static_cast<std::uint32_t>(row) * swizzle_bytes +
             static_cast<std::uint32_t>(column_byte));
}

// A word of four elements of D at `index`, of which `inside` and those behind are not there.
__device__ __forceinline__ void copy_bytes(void* d, std::int64_t index, std::uint32_t word,
                                           int inside) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < inside)
      static_cast<std::uint8_t*>(d)[index + i] =
          static_cast<std::uint8_t>(register_part(Type::u8, word, i));
}

// D is read from a staged buffer of `rows` x `columns` by a warpgroup; its first element is `at`, counted in
// columns of D. The threads need a barrier before and behind. `Bytes`: D's elements are of 8 bits, or two of them, one column here.
template <bool Bytes>
__device__ __forceinline__ void copy_rows(std::uint32_t buffer, int rows, int columns,
                                          const Arguments& arguments, BlockAt at) {
  const Epilogue& e = arguments.epilogue;
  const int columns_of_d = is_gated(e.activation) ? arguments.n / 2 : arguments.n;
  const int all_columns =
      Bytes && arguments.factors_d.type == Type::e2m1 ? columns_of_d / 2 : columns_of_d;
  const int thread = thread_here();
  const int lane = thread % 32;
  const int warp = thread / 32;
  const bool wide = bits(e.out) == 32;
  const int column = Bytes ? 4 * lane : wide ? lane : 2 * lane;  // of those that a word holds
  const int col = at.col + column;
  if (column >= columns || col >= all_columns) return;
  const bool both = col + 1 < all_columns;
  for (int row = warp; row < rows && row_of(at, row) < at.rows_end; row += warpgroup_threads / 32) {
    const std::uint32_t word = ptx::load_shared(staged(buffer, row, 4 * lane));
    const std::int64_t index = at.batch * e.batch_d + row_of(at, row) * e.ld_d + col;
    if constexpr (Bytes) {
      copy_bytes(e.d, index, word, min(all_columns - col, columns - column));
      continue;
    }
    auto* narrow = static_cast<std::uint16_t*>(e.d) + index;
    if (wide) {
      static_cast<std::uint32_t*>(e.d)[index] = word;
    } else if (both && e.pairs_of_d) {
      *reinterpret_cast<std::uint32_t*>(narrow) = word;
    } else {
      narrow[0] = static_cast<std::uint16_t>(register_part(e.out, word, 0));
      if (both) narrow[1] = static_cast<std::uint16_t>(register_part(e.out, word, 1));
    }
  }
}

// Of a block's `rows` some are the next group's, which TMA would write as well.
template <class C>
__device__ __forceinline__ bool ends_within(BlockAt at, int rows) {
  const int last = transposes<C>() ? at.row + rows - 1 : row_of(at, rows - 1);
  return C::grouped && last >= at.rows_end;
}

// --- a consumer's buffers --------------------------------------------------------------------------

// Two of 64 rows in turn; a buffer is free when the store before the last has read it.
template <class C>
class Staging {
 public:
  __device__ Staging(std::uint32_t shared, int consumer)
      : shared_(shared), barrier_(static_cast<std::uint32_t>(consumer) + 1) {}

  // The next buffers are free, for the whole warpgroup. Where threads alone store they are: all have met since they read them.
  template <int Buffers>
  __device__ __forceinline__ void acquire() {
    if (is_leader()) ptx::bulk_wait_group_read<C::store_buffers - Buffers>();
    meet();
  }
  // The i-th of these.
  __device__ __forceinline__ std::uint32_t next(std::uint32_t i = 0) const {
    return shared_ + (buffer_ + i) % C::store_buffers * C::store_bytes;
  }
  // All that was acquired is filled.
  __device__ __forceinline__ void filled() const {
    ptx::fence_proxy_async_shared();
    meet();
  }

  // Stores the next buffer, which is filled; its first element is D's at `at`. commit() follows what was acquired at a time.
  __device__ __forceinline__ void send(const CUtensorMap& map, BlockAt at) {
    if (is_leader()) {
#pragma unroll
      for (int row = 0; row < warpgroup_rows; row += C::store_rows)
        ptx::tma_store<3>(
            &map, {{at.col, row_of(at, row), at.batch}},
            shared_ + buffer_ * C::store_bytes + static_cast<std::uint32_t>(row) * swizzle_bytes);
    }
    turn();
  }
  __device__ __forceinline__ void commit() const {
    if (is_leader()) ptx::bulk_commit_group();
  }

  // The same by threads, `columns` of D.
  __device__ __forceinline__ void copy_out(int columns, const Arguments& arguments, BlockAt at) {
    meet();
    copy_rows<C::quantizes>(next(), warpgroup_rows, columns, arguments, at);
    // Of a buffer that TMA stores before or behind this one acquire() counts the groups.
    if (C::grouped) commit();
    turn();
  }

  // Every thread of the consumer is here.
  __device__ __forceinline__ void meet() const { ptx::bar_sync(barrier_, warpgroup_threads); }

  // Consumers beside each other: where consumer `of` has the largest magnitudes of the rows of its columns.
  __device__ __forceinline__ std::uint32_t largest(std::uint32_t of) const {
    const std::uint32_t first =
        shared_ - C::store_offset - own() * C::store_buffers * C::store_bytes;
    return first + C::largest_offset + of * (C::largest_bytes / C::consumers);
  }
  __device__ __forceinline__ std::uint32_t own() const { return barrier_ - 1; }
  __device__ __forceinline__ void meet_beside() const {
    ptx::bar_sync(C::consumers + 1, C::consumers * warpgroup_threads);
  }

  // Nothing reads shared memory any more; the end of the kernel waits for what is written.
  __device__ __forceinline__ void drain() {
    if (is_leader()) ptx::bulk_wait_group_read<0>();
  }

 private:
  __device__ __forceinline__ bool is_leader() const { return threadIdx.x % warpgroup_threads == 0; }

  __device__ __forceinline__ void turn() {
    if constexpr (C::store_buffers == 2)
      buffer_ = 1 - buffer_;
    else
      buffer_ = buffer_ + 1 == C::store_buffers ? 0 : buffer_ + 1;
  }

  std::uint32_t shared_;
  std::uint32_t barrier_;
  std::uint32_t buffer_ = 0;
};

// --- filling a buffer ------------------------------------------------------------------------------

// `Columns` of a fragment from `First` on, by thread `thread` of the warpgroup. 32 bits: words as they are.
template <Type Narrow, int First, int Columns, int Count>
__device__ __forceinline__ void fill_narrow(const std::uint32_t (&d)[Count], std::uint32_t buffer,
                                            int thread) {
  const wgmma::Element place = wgmma::store_element(thread);
#pragma unroll
  for (int col = 0; col < Columns; col += wgmma::store_columns) {
    std::uint32_t packed[wgmma::store_registers];
#pragma unroll
    for (int i = 0; i < wgmma::store_registers; ++i) {
      const int r = (First + col) / 2 + 2 * i;
      packed[i] = pack<Narrow>(d[r], d[r + 1]);
    }
    ptx::stmatrix(staged(buffer, place.row, 2 * (col + place.col)), packed);
  }
}

template <int First, int Columns, int Count>
__device__ __forceinline__ void fill_wide(const std::uint32_t (&d)[Count], std::uint32_t buffer,
                                          int thread) {
#pragma unroll
  for (int r = First / 2; r < (First + Columns) / 2; r += 2) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    ptx::store_shared(staged(buffer, place.row, 4 * (place.col - First)), d[r], d[r + 1]);
  }
}

template <Type Out, int First, int Columns, int Count>
__device__ __forceinline__ void fill(const std::uint32_t (&d)[Count], std::uint32_t buffer,
                                     int thread) {
  if constexpr (bits(Out) == 16)
    fill_narrow<Out, First, Columns>(d, buffer, thread);
  else
    fill_wide<First, Columns>(d, buffer, thread);
}

// Both registers of a pair of columns hold the one element that they make.
template <Type Out, int First, int Columns, int Count>
__device__ __forceinline__ void fill_gated(const std::uint32_t (&d)[Count], std::uint32_t buffer,
                                           int thread) {
#pragma unroll
  for (int r = First / 2; r < (First + Columns) / 2; r += 2) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    const std::uint32_t at = staged(buffer, place.row, bits(Out) / 8 * ((place.col - First) / 2));
    if constexpr (bits(Out) == 16)
      ptx::store_shared_half(at, pack<Out>(d[r], d[r]));
    else
      ptx::store_shared(at, d[r]);
  }
}

// --- a fragment ------------------------------------------------------------------------------------

// Are two buffers filled at a time, as one group of copies? Where a consumer has one wave, as a fence and two barriers take
// longer than a buffer's words; else one is filled while the other is read.
template <class C>
inline constexpr bool fills_both = C::waves == 1 && !stores_whole<C>() &&
                                   C::consumer_columns > staged_columns(usual_bytes(C::in));

// D of its usual type, which TMA stores. Apart from store_as(), whose instructions for other types and for threads that
// store would stand between.
template <class C, int First = 0, int Count>
__device__ __forceinline__ void store_plain(const std::uint32_t (&d)[Count], const CUtensorMap& map,
                                            const CUtensorMap& map_tail, Staging<C>& staging,
                                            BlockAt at, int thread) {
  if constexpr (First < C::consumer_columns) {
    constexpr int whole = staged_columns(usual_bytes(C::in));
    constexpr int columns =
        C::consumer_columns - First < whole ? C::consumer_columns - First : whole;
    constexpr int second = First + columns;
    constexpr bool both = fills_both<C> && second < C::consumer_columns;
    constexpr int behind = !both                                  ? 0
                           : C::consumer_columns - second < whole ? C::consumer_columns - second
                                                                  : whole;
    // One alone also waits for two ahead that went as one group.
    staging.template acquire<fills_both<C> ? C::store_buffers : 1>();
    fill<usual(C::in), First, columns>(d, staging.next(), thread);
    if constexpr (both) fill<usual(C::in), second, behind>(d, staging.next(1), thread);
    staging.filled();
    staging.send(columns < whole && First > 0 ? map_tail : map, columns_behind(at, First));
    if constexpr (both) staging.send(behind < whole ? map_tail : map, columns_behind(at, second));
    staging.commit();
    store_plain<C, second + behind>(d, map, map_tail, staging, at, thread);
  }
}

template <class C, int First = 0, int Count>
__device__ __forceinline__ void fill_wave(const std::uint32_t (&d)[Count],
                                          const Staging<C>& staging, std::uint32_t buffer,
                                          int thread) {
  if constexpr (First < C::consumer_columns) {
    constexpr int whole = staged_columns(usual_bytes(C::in));
    fill<usual(C::in), First, whole>(d, staging.next(buffer), thread);
    fill_wave<C, First + whole>(d, staging, buffer + 1, thread);
  }
}

// The same of all waves, for which there are buffers, as one group of copies. Rows outside of D are TMA's to leave out.
template <class C, class At, int Count>
__device__ __forceinline__ void store_whole(const std::uint32_t (&d)[C::waves][Count],
                                            const CUtensorMap& map, Staging<C>& staging, At at,
                                            int thread) {
  constexpr int whole = staged_columns(usual_bytes(C::in));
  constexpr int across = C::consumer_columns / whole;
  staging.template acquire<C::store_buffers>();
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave)
    fill_wave<C>(d[wave], staging, static_cast<std::uint32_t>(wave * across), thread);
  staging.filled();
#pragma unroll
  for (int wave = 0; wave < C::waves; ++wave) {
#pragma unroll
    for (int i = 0; i < across; ++i) staging.send(map, columns_behind(at(wave), i * whole));
  }
  staging.commit();
}

// Elements of type `Out`, any one of its size if that is 32 bits; `at` counts columns of the product, of which D has one
// of `Halves`. What TMA stores of the usual type has gone by store_plain(), but for the rows of a group.
template <class C, Type Out, int Halves, int First = 0, int Count>
__device__ __forceinline__ void store_as(const std::uint32_t (&d)[Count], const CUtensorMap& map,
                                         const CUtensorMap& map_tail, const Arguments& arguments,
                                         Staging<C>& staging, BlockAt at, int thread) {
  if constexpr (First < C::consumer_columns) {
    constexpr int whole = staged_columns(bits(Out) / 8);
    constexpr int columns =
        C::consumer_columns - First < whole ? C::consumer_columns - First : whole;
    BlockAt in_d = columns_behind(at, First);
    in_d.col /= Halves;
    constexpr bool by_threads = Halves == 1 && Out == usual(C::in) && !C::grouped;
    // The tile ahead of a group's may have gone as it was, all buffers as one group of copies.
    constexpr bool all = C::grouped && (fills_both<C> || stores_whole<C>());
    if constexpr (!by_threads) staging.template acquire<all ? C::store_buffers : 1>();
    const std::uint32_t buffer = staging.next();
    if constexpr (Halves == 2)
      fill_gated<Out, First, columns>(d, buffer, thread);
    else
      fill<Out, First, columns>(d, buffer, thread);
    if (by_threads || arguments.stores_elements || ends_within<C>(at, warpgroup_rows)) {
      staging.copy_out(columns / Halves, arguments, in_d);
    } else {
      staging.filled();
      staging.send(columns < whole && First > 0 ? map_tail : map, in_d);
      staging.commit();
    }
    store_as<C, Out, Halves, First + whole>(d, map, map_tail, arguments, staging, at, thread);
  }
}

template <class C, int Halves, int Count>
__device__ __forceinline__ void store(const std::uint32_t (&d)[Count], const CUtensorMap& map,
                                      const CUtensorMap& map_tail, const Arguments& arguments,
                                      Staging<C>& staging, BlockAt at, int thread) {
  if (at.row >= at.rows_end) return;
  if constexpr (has_f16_besides(finishes_as<C>())) {
    if (arguments.epilogue.out == Type::f16)
      return store_as<C, Type::f16, Halves>(d, map, map_tail, arguments, staging, at, thread);
  }
  if constexpr (has_narrow(C::in)) {
    if (bits(arguments.epilogue.out) == 16)
      return store_as<C, narrow(C::in), Halves>(d, map, map_tail, arguments, staging, at, thread);
  }
  store_as<C, Type::f32, Halves>(d, map, map_tail, arguments, staging, at, thread);
}

}  // namespace tcq::gemm
