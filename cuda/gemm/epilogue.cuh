// The arithmetic after the product, on a fragment of sums in registers: activation(alpha * sum + beta * C +
// bias), every step one rounded f32 operation (sim/num/activation.h; oracle/sum/gemm_epilogue.h predicts it).
//
// What is the same for all elements is asked once for 16 registers, and a loop walks the fragment by turning
// its registers past the same code: unrolled over a whole tile, the activations alone would be more
// instructions than the rest of the kernel. Which element a register holds: sim/isa/wgmma/fragment.h. The way
// from here to global memory: cuda/gemm/store.cuh.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/num/activation.h"

namespace tcq::gemm {

// The first element of a block of the product.
struct BlockAt {
  int row;
  int col;
  int batch;
};

// How a fragment's rows and columns lie in D: cuda/gemm/skinny.cuh computes the transpose.
enum class Way : bool { AsIs, Transposed };

// The bias as f32: where that of the fragment's first column is, one behind the other in shared memory; or,
// transposed, those of a thread's two rows.
struct Bias {
  std::uint32_t columns = 0;
  float rows[2] = {};
};

// The thread's number in its warpgroup, read anew for each tile: what follows from it would else be kept in
// registers, or spilled, while the products take them all.
__device__ __forceinline__ int thread_here() {
  std::uint32_t thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return static_cast<int>(thread) % warpgroup_threads;
}

// --- elements --------------------------------------------------------------------------------------

template <Type Accumulator>
__device__ __forceinline__ float to_float(std::uint32_t word) {
  if constexpr (Accumulator == Type::s32)
    return __int2float_rn(static_cast<int>(word));
  else
    return __uint_as_float(word);
}

// The f32 with the value of 16 bits of type `Narrow`.
template <Type Narrow>
__device__ __forceinline__ float widened(std::uint16_t word) {
  if constexpr (Narrow == Type::bf16)
    return __bfloat162float(__ushort_as_bfloat16(word));
  else
    return __half2float(__ushort_as_half(word));
}

// Element `index` of a matrix or vector of D's type.
template <Type In>
__device__ __forceinline__ float load_element(const Epilogue& e, const void* data,
                                              std::int64_t index) {
  if constexpr (has_narrow(In)) {
    if (bits(e.out) == 16)
      return widened<narrow(In)>(static_cast<const std::uint16_t*>(data)[index]);
  }
  return static_cast<const float*>(data)[index];
}

// --- C ---------------------------------------------------------------------------------------------

// C where registers r and r + 1 of a fragment lie in D; zeros outside.
template <class Element>
struct PlacesOfC {
  const Arguments& arguments;
  BlockAt at;
  const Element* matrix;

  __device__ __forceinline__ PlacesOfC(const Arguments& a, BlockAt block)
      : arguments(a),
        at(block),
        matrix(static_cast<const Element*>(a.epilogue.c) + block.batch * a.epilogue.batch_c) {}

  __device__ __forceinline__ bool inside(int row, int col) const {
    return row < arguments.m && col < arguments.n;
  }
  __device__ __forceinline__ const Element* place(int row, int col) const {
    return matrix + row * arguments.epilogue.ld_c + col;
  }
  template <Way W>
  __device__ __forceinline__ Element one(wgmma::Element in_block) const {
    const int row = at.row + (W == Way::AsIs ? in_block.row : in_block.col);
    const int col = at.col + (W == Way::AsIs ? in_block.col : in_block.row);
    return inside(row, col) ? *place(row, col) : Element{};
  }
  // Two columns in one access: Epilogue::pairs_of_c.
  template <class Pair>
  __device__ __forceinline__ Pair pair(wgmma::Element in_block) const {
    const int row = at.row + in_block.row;
    const int col = at.col + in_block.col;
    return inside(row, col) ? *reinterpret_cast<const Pair*>(place(row, col)) : Pair{};
  }
};

template <int Count>
using Floats = float[Count];

// All loads of `Count` registers before their first use.
template <Way W, int Count, class Element, class Pair, class Widen>
__device__ __forceinline__ void load_c(Floats<Count>& c, const Arguments& arguments, BlockAt at,
                                       int first_column, Widen widen) {
  const PlacesOfC<Element> places(arguments, at);
  const int thread = thread_here();
  const auto in_block = [&](int r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    return wgmma::Element{place.row, place.col + first_column};
  };
  if (W == Way::AsIs && arguments.epilogue.pairs_of_c) {
#pragma unroll
    for (int r = 0; r < Count; r += 2)
      widen(places.template pair<Pair>(in_block(r)), c[r], c[r + 1]);
  } else {
#pragma unroll
    for (int r = 0; r < Count; ++r) c[r] = widen(places.template one<W>(in_block(r)));
  }
}

struct WidenFloats {
  __device__ float operator()(float value) const { return value; }
  __device__ void operator()(float2 both, float& low, float& high) const {
    low = both.x;
    high = both.y;
  }
};

template <Type Narrow>
struct WidenNarrow {
  __device__ float operator()(std::uint16_t word) const { return widened<Narrow>(word); }
  __device__ void operator()(std::uint32_t both, float& low, float& high) const {
    low = widened<Narrow>(static_cast<std::uint16_t>(register_part(Narrow, both, 0)));
    high = widened<Narrow>(static_cast<std::uint16_t>(register_part(Narrow, both, 1)));
  }
};

template <Type In, Way W, int Count>
__device__ __forceinline__ void add_c(float (&values)[Count], const Arguments& arguments,
                                      BlockAt at, int first_column) {
  const Epilogue& e = arguments.epilogue;
  float c[Count];
  const bool wide = !has_narrow(In) || bits(e.out) == 32;
  if (wide)
    load_c<W, Count, float, float2>(c, arguments, at, first_column, WidenFloats{});
  else if constexpr (has_narrow(In))
    load_c<W, Count, std::uint16_t, std::uint32_t>(c, arguments, at, first_column,
                                                   WidenNarrow<narrow(In)>{});
#pragma unroll
  for (int i = 0; i < Count; ++i) values[i] = rounded::multiply_add(e.beta, c[i], values[i]);
}

// --- the bias --------------------------------------------------------------------------------------

// Puts the bias of `count` columns from `first` on, as f32, where a Bias points to; the threads need a barrier
// behind it.
template <Type In>
__device__ __forceinline__ void stage_bias(const Arguments& arguments, std::uint32_t shared,
                                           int first, int count, int thread, int threads) {
  const Epilogue& e = arguments.epilogue;
  for (int i = thread; i < count; i += threads) {
    const bool inside = first + i < arguments.n;
    const float value = inside ? load_element<In>(e, e.bias, first + i) : 0.0f;
    ptx::store_shared(shared + static_cast<std::uint32_t>(i) * 4, __float_as_uint(value));
  }
}

template <Way W, int Count>
__device__ __forceinline__ void add_bias(float (&values)[Count], const Bias& bias,
                                         int first_column) {
  const int thread = thread_here();
#pragma unroll
  for (int r = 0; r < Count; r += 4) {
    float of_columns[2] = {};
    if constexpr (W == Way::AsIs) {
      const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
      ptx::load_shared(bias.columns + static_cast<std::uint32_t>(place.col + first_column) * 4,
                       of_columns[0], of_columns[1]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      values[r + i] =
          rounded::add(values[r + i], W == Way::AsIs ? of_columns[i % 2] : bias.rows[i / 2]);
  }
}

// --- the activation --------------------------------------------------------------------------------

// Two columns of the product make one of D: both of the registers that hold them, or both of the lanes, then
// hold it.
template <Way W, int Count>
__device__ __forceinline__ void gate(float (&values)[Count]) {
  if constexpr (W == Way::AsIs) {
#pragma unroll
    for (int r = 0; r < Count; r += 2) values[r] = values[r + 1] = swiglu(values[r], values[r + 1]);
  } else {
    constexpr int lanes_of_a_row = 4;
    const bool is_gate = threadIdx.x / lanes_of_a_row % 2 == 0;
#pragma unroll
    for (int r = 0; r < Count; ++r) {
      const float other = __shfl_xor_sync(~0u, values[r], lanes_of_a_row);
      values[r] = swiglu(is_gate ? values[r] : other, is_gate ? other : values[r]);
    }
  }
}

template <Way W, int Count>
__device__ __forceinline__ void activate_all(Activation activation, float (&values)[Count]) {
  switch (activation) {
    case Activation::None: return;
    case Activation::Relu:
#pragma unroll
      for (float& value : values) value = activate(Activation::Relu, value);
      return;
    case Activation::Gelu:
    case Activation::Silu: {
      const bool is_gelu = activation == Activation::Gelu;
#pragma unroll
      for (float& value : values)
        value = rounded::logistic(value, is_gelu ? gelu_exponent(value) : value);
      return;
    }
    case Activation::GeluErf:
#pragma unroll
      for (float& value : values) value = gelu_erf(value);
      return;
    case Activation::Swiglu: gate<W>(values); return;
  }
}

// --- a fragment ------------------------------------------------------------------------------------

// Turns the registers left.
template <int By, int Count>
__device__ __forceinline__ void turn(std::uint32_t (&d)[Count]) {
  std::uint32_t first[By];
#pragma unroll
  for (int i = 0; i < By; ++i) first[i] = d[i];
#pragma unroll
  for (int i = 0; i < Count - By; ++i) d[i] = d[i + By];
#pragma unroll
  for (int i = 0; i < By; ++i) d[Count - By + i] = first[i];
}

// The first `Part` registers of a fragment, which are those from its column `first_column` on.
template <Type In, Way W, int Part, int Count>
__device__ __forceinline__ void finish_part(std::uint32_t (&d)[Count], const Arguments& arguments,
                                            BlockAt at, const Bias& bias, int first_column) {
  const Epilogue& e = arguments.epilogue;
  float values[Part];
#pragma unroll
  for (int i = 0; i < Part; ++i)
    values[i] = rounded::multiply(e.alpha, to_float<wgmma::widest_d(In)>(d[i]));
  if (e.beta != 0) add_c<In, W>(values, arguments, at, first_column);
  if (e.bias != nullptr) add_bias<W>(values, bias, first_column);
  activate_all<W>(e.activation, values);
#pragma unroll
  for (int i = 0; i < Part; ++i) d[i] = __float_as_uint(values[i]);
}

// Registers that one pass of the loop finishes: 16, or as many as share out the fragment evenly.
HOST_DEVICE constexpr int largest_part(int count) {
  int part = 16;
  while (count / part * part != count) part /= 2;
  return part;
}

// Makes f32 of the sums of one fragment, whose first element is D's at `at`.
template <Type In, Way W, int Count>
__device__ __forceinline__ void finish(std::uint32_t (&d)[Count], const Arguments& arguments,
                                       BlockAt at, const Bias& bias) {
  constexpr int part = largest_part(Count);
  static_assert(part >= 4, "8 columns are 4 registers");
#pragma unroll 1
  for (int done = 0; done < Count; done += part) {
    finish_part<In, W, part>(d, arguments, at, bias, 2 * done);
    if constexpr (part < Count) turn<part>(d);
  }
}

}  // namespace tcq::gemm
