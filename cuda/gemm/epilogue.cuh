// The arithmetic after the product, on a fragment of sums in registers: activation(alpha * factors * sum + beta * C +
// bias), every step one rounded f32 operation (sim/num/activation.h; oracle/sum/gemm_epilogue.h predicts it).
//
// What is the same for all elements is asked once for all fragments, on tcgen05 once a pass (finish_in_passes()); their registers
// then pass unrolled, but for the activations: of those there is one copy for a part of the registers, and a loop turns them past it. Unrolled over a
// tile they would be more instructions than a multiprocessor keeps (cuda/NOTES.md, "what an epilogue takes"). C is brought to
// L2 before the product and loaded behind it. Which element a register holds: sim/isa/wgmma/fragment.h. The way from here
// to global memory: cuda/gemm/store.cuh.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/store.h"
#include "sim/num/activation.h"

namespace tcq::gemm {

// The first element of a block of the product.
struct BlockAt {
  int row;
  int col;
  int batch;
  int rows_end;               // what lies behind is not stored
  int batch_b;                // of B's factors
  int warp_step = warp_rows;  // from a fragment's rows of one warp to those of the next
  int filling = 0;            // TilePlace's
};

// From a fragment's first row to row `row` as a fragment counts, in which those of the warps follow each other.
__device__ __forceinline__ int apart(int row, int warp_step) {
  return row + row / warp_rows * (warp_step - warp_rows);
}
// The row of D that it is; or, where a fragment holds the transpose, the column.
__device__ __forceinline__ int row_of(const BlockAt& at, int row) {
  return at.row + apart(row, at.warp_step);
}
__device__ __forceinline__ int col_of(const BlockAt& at, int row) {
  return at.col + apart(row, at.warp_step);
}

__device__ __forceinline__ BlockAt columns_behind(BlockAt at, int columns) {
  at.col += columns;
  return at;
}

// How a fragment's rows and columns lie in D: kernels for few rows compute the transpose.
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

inline constexpr std::uint32_t float_bytes = sizeof(float);
__device__ __forceinline__ float load_float(std::uint32_t address) {
  return __uint_as_float(ptx::load_shared(address));
}

// --- elements --------------------------------------------------------------------------------------

template <Type Accumulator>
__device__ __forceinline__ float to_float(std::uint32_t word) {
  if constexpr (Accumulator == Type::s32)
    return __int2float_rn(static_cast<int>(word));
  else
    return __uint_as_float(word);
}

// Of two parts of K.
template <Type Accumulator>
__device__ __forceinline__ std::uint32_t add_sums(std::uint32_t a, std::uint32_t b) {
  if constexpr (Accumulator == Type::s32)
    return a + b;
  else
    return __float_as_uint(rounded::add(__uint_as_float(a), __uint_as_float(b)));
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
    if (bits(e.out) == 16) {
      const std::uint16_t word = static_cast<const std::uint16_t*>(data)[index];
      if (has_f16_besides(In) && e.out == Type::f16) return widened<Type::f16>(word);
      return widened<narrow(In)>(word);
    }
  }
  return static_cast<const float*>(data)[index];
}

// --- C ---------------------------------------------------------------------------------------------

// Asks L2 for `rows` of C from `at` on, of `columns` each; `thread` of `threads` takes every so many.
__device__ __forceinline__ void prefetch_c(const Arguments& arguments, BlockAt at, int rows,
                                           int columns, int thread, int threads) {
  const Epilogue& e = arguments.epilogue;
  if (e.beta == 0) return;
  const int last_row = min(at.rows_end, at.row + rows);
  const int last_col = arguments.n < at.col + columns ? arguments.n : at.col + columns;
  const int bytes = bits(e.out) / 8;
  for (int row = at.row + thread; row < last_row; row += threads) {
    const char* line =
        static_cast<const char*>(e.c) + (at.batch * e.batch_c + row * e.ld_c + at.col) * bytes;
    const char* end = line + (last_col - at.col) * bytes;
    for (; line < end; line += l2_line_bytes) ptx::prefetch_l2(line);
  }
}

// Of a fragment's registers four are in a block of columns: two of the first of a thread's rows, two of the other. Four
// threads share a row of it, a word each.
inline constexpr int block_registers = 4;
inline constexpr int sharers = 4;

// Where a thread's registers of a fragment lie in C: as it is, in two rows; else in two columns, and a column of
// the fragment is a row of C. What lies outside of D is loaded from a place inside or is 0, and not stored.
template <class Element, Way W>
struct PlacesOfC {
  const Element* of_rows[2];  // of the fragment: register 0's and register 2's
  std::int64_t step;          // from one column of the fragment to the next
  int inside;                 // columns of the fragment from register 0's on

  __device__ __forceinline__ PlacesOfC(const Arguments& arguments, BlockAt at) {
    const Epilogue& e = arguments.epilogue;
    const Element* matrix = static_cast<const Element*>(e.c) + at.batch * e.batch_c;
    const int thread = thread_here();
    step = W == Way::AsIs ? 1 : e.ld_c;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, 2 * i});
      if constexpr (W == Way::AsIs) {
        const int row = min(row_of(at, place.row), at.rows_end - 1);
        of_rows[i] = matrix + row * e.ld_c + at.col + place.col;
        inside = arguments.n - at.col - place.col;
      } else {
        const int col = min(col_of(at, place.row), arguments.n - 1);
        of_rows[i] = matrix + (at.row + place.col) * e.ld_c + col;
        inside = at.rows_end - at.row - place.col;
      }
    }
  }

  // Register r's; a word of two elements has that of register r + 1 as well.
  template <class Word>
  __device__ __forceinline__ Word load(int r) const {
    const int behind = wgmma::accumulator_element(Type::f32, {0, r}).col;
    const Element* place = of_rows[r / 2 % 2] + behind * step;
    return behind < inside ? *reinterpret_cast<const Word*>(place) : Word{};
  }

  // Block `block` of 8 columns of row `row` of the thread's two, of a fragment of `blocks`.
  __device__ __forceinline__ void load_block(int row, int block, int blocks,
                                             std::uint32_t (&words)[sharers]) const {
    const int own = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col;
    const int behind = block * wgmma::column_group - own;
    const bool is_there = block < blocks && behind < inside;
    const uint4 all = is_there ? *reinterpret_cast<const uint4*>(of_rows[row] + behind) : uint4{};
    words[0] = all.x;
    words[1] = all.y;
    words[2] = all.z;
    words[3] = all.w;
  }
};

// Element i of a word that load() gives, as f32.
struct Floats {
  using One = float;
  using Two = float2;
  __device__ static float element(One word, int) { return word; }
  __device__ static float element(Two word, int i) { return i == 0 ? word.x : word.y; }
};

template <Type Narrow>
struct Narrows {
  using One = std::uint16_t;
  using Two = std::uint32_t;
  __device__ static float element(One word, int) { return widened<Narrow>(word); }
  __device__ static float element(Two word, int i) {
    return widened<Narrow>(static_cast<std::uint16_t>(register_part(Narrow, word, i)));
  }
};

// Registers of C on their way at one time: as many as are free beside the sums.
inline constexpr int registers_of_c = 16;

__device__ __forceinline__ void add_element(std::uint32_t& sum, float beta, float value) {
  sum = __float_as_uint(rounded::multiply_add(beta, value, __uint_as_float(sum)));
}

template <class Elements, class Word, class Places, int Count>
__device__ __forceinline__ void add_words_of_c(std::uint32_t (&d)[Count], const Places& places,
                                               float beta) {
  constexpr int each = std::is_same_v<Word, typename Elements::Two> ? 2 : 1;
  constexpr int words = registers_of_c / (sizeof(Word) > float_bytes ? 2 : 1);
#pragma unroll
  for (int first = 0; first < Count; first += words * each) {
    Word c[words];
#pragma unroll
    for (int i = 0; i < words; ++i)
      if (first + i * each < Count) c[i] = places.template load<Word>(first + i * each);
#pragma unroll
    for (int i = 0; i < words * each; ++i) {
      if (first + i >= Count) break;
      add_element(d[first + i], beta, Elements::element(c[i / each], i % each));
    }
  }
}

// Word j of the i-th thread that shares a row becomes word i of the j-th.
__device__ __forceinline__ void exchange(std::uint32_t (&words)[sharers]) {
  const int thread = thread_here();
#pragma unroll
  for (int apart = 1; apart < sharers; apart *= 2) {
    const bool is_behind = (thread & apart) != 0;
#pragma unroll
    for (int i = 0; i < sharers; ++i) {
      if ((i & apart) != 0) continue;
      const std::uint32_t theirs =
          __shfl_xor_sync(~0u, is_behind ? words[i] : words[i + apart], apart);
      (is_behind ? words[i] : words[i + apart]) = theirs;
    }
  }
}

// Elements of 16 bits in rows of whole blocks, each aligned: a thread loads a row of one block in four and hands on what
// is the others'. By words of two elements they would be four times as many requests (cuda/NOTES.md).
template <class Elements, int Count>
__device__ __forceinline__ void add_blocks_of_c(
    std::uint32_t (&d)[Count], const PlacesOfC<typename Elements::One, Way::AsIs>& places,
    float beta) {
  constexpr int blocks = Count / block_registers;
  constexpr int groups = registers_of_c / (2 * sharers);
  const int own = thread_here() % sharers;
#pragma unroll
  for (int first = 0; first < blocks; first += groups * sharers) {
    std::uint32_t c[groups][2][sharers];
#pragma unroll
    for (int i = 0; i < groups; ++i)
#pragma unroll
      for (int row = 0; row < 2; ++row)
        places.load_block(row, first + i * sharers + own, blocks, c[i][row]);
#pragma unroll
    for (int i = 0; i < groups; ++i)
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        if (first + i * sharers >= blocks) break;
        exchange(c[i][row]);
#pragma unroll
        for (int j = 0; j < 2 * sharers; ++j) {
          const int block = first + i * sharers + j / 2;
          if (block < blocks)
            add_element(d[block * block_registers + 2 * row + j % 2], beta,
                        Elements::element(c[i][row][j / 2], j % 2));
        }
      }
  }
}

template <class Elements, Way W, int Count>
__device__ __forceinline__ void add_c_as(std::uint32_t (&d)[Count], const Arguments& arguments,
                                         BlockAt at) {
  const PlacesOfC<typename Elements::One, W> places(arguments, at);
  const float beta = arguments.epilogue.beta;
  if constexpr (W == Way::AsIs && sizeof(typename Elements::One) == 2)
    if (arguments.epilogue.columns_of_c == wgmma::column_group)
      return add_blocks_of_c<Elements>(d, places, beta);
  if (W == Way::AsIs && arguments.epilogue.columns_of_c > 1)
    add_words_of_c<Elements, typename Elements::Two>(d, places, beta);
  else
    add_words_of_c<Elements, typename Elements::One>(d, places, beta);
}

template <Type In, Way W, int Count>
__device__ __forceinline__ void add_c(std::uint32_t (&d)[Count], const Arguments& arguments,
                                      BlockAt at) {
  if constexpr (has_f16_besides(In)) {
    if (arguments.epilogue.out == Type::f16)
      return add_c_as<Narrows<Type::f16>, W>(d, arguments, at);
  }
  if constexpr (has_narrow(In)) {
    if (bits(arguments.epilogue.out) == 16)
      return add_c_as<Narrows<narrow(In)>, W>(d, arguments, at);
  }
  add_c_as<Floats, W>(d, arguments, at);
}

// --- factors ---------------------------------------------------------------------------------------

// Those of a fragment's rows are two of a thread's own; of its columns the thread loads each.
template <Way W, int Count>
__device__ __forceinline__ void scale(std::uint32_t (&d)[Count], const Arguments& arguments,
                                      BlockAt at) {
  constexpr bool as_is = W == Way::AsIs;
  const Epilogue& e = arguments.epilogue;
  const Factors& of_rows = as_is ? e.factors_a : e.factors_b;
  const Factors& of_columns = as_is ? e.factors_b : e.factors_a;
  const int first_col = as_is ? at.col : at.row;
  const int last_row = (as_is ? at.rows_end : arguments.n) - 1;
  const int last_col = (as_is ? arguments.n : at.rows_end) - 1;
  const int thread = thread_here();
  float rows[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int behind = wgmma::accumulator_element(Type::f32, {thread, 2 * i}).row;
    const int row = as_is ? row_of(at, behind) : col_of(at, behind);
    rows[i] = __ldg(of_rows.data + (as_is ? at.batch : at.batch_b) * of_rows.batch_step +
                    min(row, last_row) * of_rows.mn_step);
  }
  const float* columns = of_columns.data + (as_is ? at.batch_b : at.batch) * of_columns.batch_step;
#pragma unroll
  for (int r = 0; r < Count; ++r) {
    const int col = first_col + wgmma::accumulator_element(Type::f32, {thread, r}).col;
    const int inside = min(col, last_col);
    const float factor =
        rounded::multiply(rows[r / 2 % 2], __ldg(columns + inside * of_columns.mn_step));
    d[r] = __float_as_uint(rounded::multiply(factor, __uint_as_float(d[r])));
  }
}

// --- the bias --------------------------------------------------------------------------------------

// A thread's share of the bias of `Columns` columns from `first` on, on its way to where a Bias points.
template <Type In, int Columns, int Threads>
struct BiasShare {
  static constexpr int count = (Columns + Threads - 1) / Threads;
  float values[count] = {};

  __device__ __forceinline__ void load(const Arguments& arguments, int first, int thread) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int col = thread + i * Threads;
      if (col < Columns && first + col < arguments.n)
        values[i] = load_element<In>(arguments.epilogue, arguments.epilogue.bias, first + col);
    }
  }
  // Readers need a barrier behind it.
  __device__ __forceinline__ void store(std::uint32_t shared, int thread) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int col = thread + i * Threads;
      const std::uint32_t at = shared + static_cast<std::uint32_t>(col) * float_bytes;
      if (col < Columns) ptx::store_shared(at, __float_as_uint(values[i]));
    }
  }
};

template <Way W, int Count>
__device__ __forceinline__ void add_bias(std::uint32_t (&d)[Count], const Bias& bias) {
  const int column = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col;
  const std::uint32_t own = bias.columns + static_cast<std::uint32_t>(column) * float_bytes;
#pragma unroll
  for (int r = 0; r < Count; r += 4) {
    float of_columns[2] = {};
    const int behind = wgmma::accumulator_element(Type::f32, {0, r}).col;
    if constexpr (W == Way::AsIs)
      ptx::load_shared(own + static_cast<std::uint32_t>(behind) * float_bytes, of_columns[0],
                       of_columns[1]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float summand = W == Way::AsIs ? of_columns[i % 2] : bias.rows[i / 2];
      d[r + i] = __float_as_uint(rounded::add(__uint_as_float(d[r + i]), summand));
    }
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
    const bool is_gate = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).row % 2 == 0;
    constexpr int next_row = wgmma::accumulator_slot(Type::f32, {1, 0}).thread;
#pragma unroll
    for (int r = 0; r < Count; ++r) {
      const float other = __shfl_xor_sync(~0u, values[r], next_row);
      values[r] = swiglu(is_gate ? values[r] : other, is_gate ? other : values[r]);
    }
  }
}

template <Way W, int Count>
__device__ __forceinline__ void activate_all(Activation activation, float (&values)[Count]) {
  switch (activation) {
    case Activation::None:
    case Activation::Relu: return;  // finish() has done them
    case Activation::Gelu:
    case Activation::Silu: {
      const bool is_gelu = activation == Activation::Gelu;
#pragma unroll
      for (float& value : values) value = logistic(value, is_gelu ? gelu_slope(value) : silu_slope);
      return;
    }
    case Activation::GeluErf:
#pragma unroll
      for (float& value : values) value = gelu_erf(value);
      return;
    case Activation::Swiglu: gate<W>(values); return;
  }
}

// The registers of one pass of the loop, as many as are free beside all others: of kernels for few rows, and of those whose
// consumers have the producer's, too.
inline constexpr int few_in_pass = 32;
inline constexpr int many_in_pass = 40;

// All passes are equal: zeros fill up the last one.
template <Way W, int MostInPass, int Fragments, int Count>
__device__ __forceinline__ void activate_in_passes(Activation activation,
                                                   std::uint32_t (&d)[Fragments][Count]) {
  constexpr int all = Fragments * Count;
  constexpr int passes = (all + MostInPass - 1) / MostInPass;
  constexpr int each =
      (all + passes * block_registers - 1) / (passes * block_registers) * block_registers;
  std::uint32_t spare[passes * each - all + 1] = {};
  const auto at = [&](int i) -> std::uint32_t& {
    return i < all ? d[i / Count][i % Count] : spare[i - all];
  };
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    float values[each];
#pragma unroll
    for (int i = 0; i < each; ++i) values[i] = __uint_as_float(at(i));
    activate_all<W>(activation, values);
#pragma unroll
    for (int i = 0; i < (passes - 1) * each; ++i) at(i) = at(i + each);
#pragma unroll
    for (int i = 0; i < each; ++i) at((passes - 1) * each + i) = __float_as_uint(values[i]);
  }
}

// --- fragments -------------------------------------------------------------------------------------

template <int Count>
__device__ __forceinline__ auto as_fragments(std::uint32_t (&d)[Count])
    -> std::uint32_t (&)[1][Count] {
  return reinterpret_cast<std::uint32_t(&)[1][Count]>(d);
}

// Makes f32 of the sums of all fragments of a thread. `at` gives the place in D of the first element of each.
template <Type In, Way W, int MostInPass, int Fragments, int Count, class At>
__device__ __forceinline__ void finish(std::uint32_t (&d)[Fragments][Count], At at,
                                       const Arguments& arguments, const Bias& bias) {
  const Epilogue& e = arguments.epilogue;
  constexpr Type sum = wgmma::widest_d(In);
  const auto each = [&](auto step) {
#pragma unroll
    for (int i = 0; i < Fragments; ++i) step(d[i], at(i));
  };
  if constexpr (has_factors(In)) {
    if (e.scales) each([&](auto& words, BlockAt place) { scale<W>(words, arguments, place); });
  }
  if (sum == Type::s32 || e.alpha != 1) {
    each([&](auto& words, BlockAt) {
#pragma unroll
      for (std::uint32_t& word : words)
        word = __float_as_uint(rounded::multiply(e.alpha, to_float<sum>(word)));
    });
  }
  if (e.beta != 0) each([&](auto& words, BlockAt place) { add_c<In, W>(words, arguments, place); });
  if (e.bias != nullptr) each([&](auto& words, BlockAt) { add_bias<W>(words, bias); });
  if (e.activation == Activation::Relu) {
    each([&](auto& words, BlockAt) {
#pragma unroll
      for (std::uint32_t& word : words)
        word = __float_as_uint(activate(Activation::Relu, __uint_as_float(word)));
    });
  } else if (e.activation != Activation::None) {
    activate_in_passes<W, MostInPass>(e.activation, d);
  }
}

// The same of one fragment, a part of its registers at a time: there is one copy of it all, and a loop turns them past it.
template <Type In, int Passes, int Count>
__device__ __forceinline__ void finish_in_passes(std::uint32_t (&d)[1][Count], BlockAt at,
                                                 const Arguments& arguments, std::uint32_t bias) {
  constexpr int each = Count / Passes;
  static_assert(each * Passes == Count && each % block_registers == 0);
  constexpr int columns = each / block_registers * wgmma::column_group;
#pragma unroll 1
  for (int pass = 0; pass < Passes; ++pass) {
    std::uint32_t own[1][each];
#pragma unroll
    for (int i = 0; i < each; ++i) own[0][i] = d[0][i];
#pragma unroll
    for (int i = 0; i < Count - each; ++i) d[0][i] = d[0][i + each];
    const int behind = pass * columns;
    finish<In, Way::AsIs, each>(own, [&](int) { return columns_behind(at, behind); }, arguments,
                                {bias + static_cast<std::uint32_t>(behind) * float_bytes});
#pragma unroll
    for (int i = 0; i < each; ++i) d[0][Count - each + i] = own[0][i];
  }
}

}  // namespace tcq::gemm
