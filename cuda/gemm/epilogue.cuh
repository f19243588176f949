// How a warpgroup's 64 rows of D leave its registers: the arithmetic after the product, and the way
// to global memory.
//
// D goes through two buffers of 64 rows and one swizzle span in shared memory, written by stmatrix
// (16-bit types) or plain stores (32-bit), and from there by TMA, which clips what lies outside; a D
// that TMA cannot address is stored element by element. The arithmetic: every step one rounded f32
// operation, then one conversion. Which element a register holds: sim/isa/wgmma/fragment.h.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/store.h"
#include "sim/num/activation.h"

namespace tcq::gemm {

template <class C>
using Registers = std::uint32_t[wgmma::accumulator_registers(C::accumulator, C::block_n)];

// The first element of a block of D.
struct BlockAt {
  int row;
  int col;
  int batch;
};

// --- conversions -----------------------------------------------------------------------------------

template <Type Accumulator>
__device__ __forceinline__ float to_float(std::uint32_t word) {
  if constexpr (Accumulator == Type::s32)
    return __int2float_rn(static_cast<int>(word));
  else
    return __uint_as_float(word);
}

// Two elements of D in one register, the first in its low half.
template <Type Out>
__device__ __forceinline__ std::uint32_t pack(float first, float second) {
  if constexpr (Out == Type::bf16) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const std::uint32_t*>(&both);
  } else {
    const __half2 both = __floats2half2_rn(first, second);
    return *reinterpret_cast<const std::uint32_t*>(&both);
  }
}

template <Type Out>
struct Storage;
template <>
struct Storage<Type::f32> {
  using Element = float;
};
template <>
struct Storage<Type::s32> {
  using Element = int;
};
template <>
struct Storage<Type::f16> {
  using Element = __half;
};
template <>
struct Storage<Type::bf16> {
  using Element = __nv_bfloat16;
};

template <Type Out>
__device__ __forceinline__ typename Storage<Out>::Element to_element(float value) {
  if constexpr (Out == Type::f32)
    return value;
  else if constexpr (Out == Type::bf16)
    return __float2bfloat16_rn(value);
  else if constexpr (Out == Type::f16)
    return __float2half_rn(value);
  else
    return __float2int_rn(value);
}

template <Type Out>
__device__ __forceinline__ float element_to_float(typename Storage<Out>::Element element) {
  return static_cast<float>(element);
}

// --- arithmetic ------------------------------------------------------------------------------------

// activation(alpha * sum + beta * C + bias) for the registers of one block, as f32.
template <class C>
__device__ __forceinline__ void finish(Registers<C>& d, const Arguments& arguments, BlockAt at) {
  using Element = typename Storage<C::out>::Element;
  const Epilogue& e = arguments.epilogue;
  const auto* c = static_cast<const Element*>(e.c);
  const auto* bias = static_cast<const Element*>(e.bias);
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
#pragma unroll
  for (int r = 0; r < wgmma::accumulator_registers(C::accumulator, C::block_n); ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    const int row = at.row + place.row;
    const int col = at.col + place.col;
    const bool inside = row < arguments.m && col < arguments.n;
    float value = rounded::multiply(e.alpha, to_float<C::accumulator>(d[r]));
    if (e.beta != 0 && inside) {
      const Element old = c[at.batch * e.batch_c + row * e.ld_c + col];
      value = rounded::multiply_add(e.beta, element_to_float<C::out>(old), value);
    }
    if (bias != nullptr && inside) value = rounded::add(value, element_to_float<C::out>(bias[col]));
    d[r] = __float_as_uint(activate(e.activation, value));
  }
}

// --- the way out -----------------------------------------------------------------------------------

// Two buffers in turn; a buffer is free when the store before the last has read it.
template <class C>
class Staging {
 public:
  __device__ Staging(std::uint32_t shared, int consumer)
      : shared_(shared), barrier_(static_cast<std::uint32_t>(consumer) + 1) {}

  // The address of a free buffer, for the whole warpgroup.
  __device__ __forceinline__ std::uint32_t acquire() {
    if (is_leader()) ptx::bulk_wait_group_read<store_buffers - 1>();
    ptx::bar_sync(barrier_, warpgroup_threads);
    return shared_ + buffer_ * C::store_bytes;
  }

  // Stores the buffer that acquire() gave; its first element is `at`.
  __device__ __forceinline__ void send(const CUtensorMap& map, BlockAt at) {
    ptx::fence_proxy_async_shared();
    ptx::bar_sync(barrier_, warpgroup_threads);
    if (is_leader()) {
      ptx::tma_store<3>(&map, {{at.col, at.row, at.batch}}, shared_ + buffer_ * C::store_bytes);
      ptx::bulk_commit_group();
    }
    buffer_ = 1 - buffer_;
  }

  // Nothing reads shared memory any more; the end of the kernel waits for what is written.
  __device__ __forceinline__ void drain() {
    if (is_leader()) ptx::bulk_wait_group_read<0>();
  }

 private:
  __device__ __forceinline__ bool is_leader() const { return threadIdx.x % warpgroup_threads == 0; }

  std::uint32_t shared_;
  std::uint32_t barrier_;
  std::uint32_t buffer_ = 0;
};

__device__ __forceinline__ std::uint32_t staged(std::uint32_t buffer, int row, int column_byte) {
  return swizzle_function(operand_swizzle)
      .apply(buffer + static_cast<std::uint32_t>(row) * swizzle_bytes +
             static_cast<std::uint32_t>(column_byte));
}

// Column group `Store` of the block, into `buffer`. Finished registers hold f32.
template <class C, int Store, bool Finished>
__device__ __forceinline__ void write_staging(const Registers<C>& d, std::uint32_t buffer) {
  constexpr Type held = Finished ? Type::f32 : C::accumulator;
  constexpr int first = Store * C::store_columns;
  constexpr int columns =
      C::block_n - first < C::store_columns ? C::block_n - first : C::store_columns;
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  if constexpr (bits(C::out) == 16) {
    const wgmma::Element place = wgmma::store_element(thread);
#pragma unroll
    for (int col = 0; col < columns; col += wgmma::store_columns) {
      std::uint32_t packed[wgmma::store_registers];
#pragma unroll
      for (int i = 0; i < wgmma::store_registers; ++i) {
        const int r = (first + col) / 2 + 2 * i;
        packed[i] = pack<C::out>(to_float<held>(d[r]), to_float<held>(d[r + 1]));
      }
      ptx::stmatrix(staged(buffer, place.row, 2 * (col + place.col)), packed);
    }
  } else {
#pragma unroll
    for (int r = first / 2; r < (first + columns) / 2; r += 2) {
      const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
      ptx::store_shared(staged(buffer, place.row, 4 * (place.col - first)), d[r], d[r + 1]);
    }
  }
}

template <class C, bool Finished>
__device__ __forceinline__ void store_elements(const Registers<C>& d, const Arguments& arguments,
                                               BlockAt at) {
  using Element = typename Storage<C::out>::Element;
  const Epilogue& e = arguments.epilogue;
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
#pragma unroll
  for (int r = 0; r < wgmma::accumulator_registers(C::accumulator, C::block_n); ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    const int row = at.row + place.row;
    const int col = at.col + place.col;
    if (row >= arguments.m || col >= arguments.n) continue;
    Element* target = static_cast<Element*>(e.d) + at.batch * e.batch_d + row * e.ld_d + col;
    if constexpr (C::out == Type::s32)
      *target = static_cast<int>(d[r]);
    else
      *target = to_element<C::out>(to_float < Finished ? Type::f32 : C::accumulator > (d[r]));
  }
}

template <class C, bool Finished, int Store = 0>
__device__ __forceinline__ void store_staged(const Registers<C>& d, const CUtensorMap& map,
                                             const CUtensorMap& map_tail, Staging<C>& staging,
                                             BlockAt at) {
  if constexpr (Store < C::stores) {
    write_staging<C, Store, Finished>(d, staging.acquire());
    constexpr bool tail = C::tail_columns != 0 && Store == C::stores - 1;
    staging.send(tail ? map_tail : map, {at.row, at.col + Store * C::store_columns, at.batch});
    store_staged<C, Finished, Store + 1>(d, map, map_tail, staging, at);
  }
}

// Full: any epilogue and any D. Otherwise D is the product, through TMA.
template <class C, bool Full>
__device__ __forceinline__ void store(Registers<C>& d, const CUtensorMap& map,
                                      const CUtensorMap& map_tail, const Arguments& arguments,
                                      Staging<C>& staging, BlockAt at) {
  if (at.row >= arguments.m) return;
  if constexpr (!Full) {
    store_staged<C, false>(d, map, map_tail, staging, at);
  } else {
    constexpr bool finishes = C::out != Type::s32;
    if constexpr (finishes) finish<C>(d, arguments, at);
    if (arguments.stores_elements)
      store_elements<C, finishes>(d, arguments, at);
    else
      store_staged<C, finishes>(d, map, map_tail, staging, at);
  }
}

}  // namespace tcq::gemm
