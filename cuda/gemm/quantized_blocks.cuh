// D as the next product on tcgen05 reads it: MXFP8, MXFP4 or NVFP4, with a factor for 32 or 16 columns of a row, a byte each,
// in whole atoms (ScaleCodes of cuda/gemm/arguments.h). What is quantized are the results in f32, times a number of the caller's.
//
// A row of a fragment belongs to four threads, each with an equal part of every block's columns: of four blocks each of
// them makes one factor and its byte. What fills up a row's last atom is 0. Factors and elements: sim/num/quantize.h;
// oracle/sum/gemm_reference.h predicts both. Kernels: cuda/gemm/tensor_table.h.
//
// Compiled and run on the machine (tests/run/run_tensor_coded_test.cc), not on silicon.
#pragma once

#include <cuda.h>
#include <cuda_fp4.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/quantized.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/num/quantize.h"

namespace tcq::gemm {

// Two elements of D in one byte, the first in its low half.
__device__ __forceinline__ std::uint32_t pack_e2m1(float first, float second) {
  return __nv_cvt_float2_to_fp4x2({first, second}, __NV_E2M1, cudaRoundNearest);
}

// 128 columns of the product, from D's block `first` of a row on, where two of them make one of D if Halves is 2.
template <class C, int Halves>
struct CodedPart {
  static constexpr tcgen05::ScaleType code = tcgen05::scale_type_of(C::quantized_vec);
  static constexpr int columns = tcgen05::scale_block(C::quantized_vec);
  static constexpr int blocks = scale_block / (Halves * columns);
  static constexpr int registers = block_of_registers / blocks;  // of a thread, for two rows
  static constexpr int turns = (blocks + sharers - 1) / sharers;
};

// The largest of the i-th value of all four threads that share a row, in the i-th of them.
__device__ __forceinline__ float largest_of_own(const float (&values)[sharers]) {
  static_assert(sharers == 4);
  const bool upper = thread_here() % 4 >= 2;
  const bool odd = thread_here() % 2 == 1;
  const float other[2] = {__shfl_xor_sync(~0u, upper ? values[0] : values[2], 2),
                          __shfl_xor_sync(~0u, upper ? values[1] : values[3], 2)};
  const float even_one = fmaxf(upper ? values[2] : values[0], other[0]);
  const float odd_one = fmaxf(upper ? values[3] : values[1], other[1]);
  return fmaxf(odd ? odd_one : even_one, __shfl_xor_sync(~0u, odd ? even_one : odd_one, 1));
}

// Writes the byte of block `block` of row at.row of D, or what fills up the last atom behind the `blocks` of a row.
__device__ __forceinline__ void store_code(const FactorsOfD& f, std::uint8_t code, BlockAt at,
                                           int block, int blocks) {
  constexpr int group = tcgen05::scale_group;
  constexpr int mn = tcgen05::scale_atom_mn;
  const int whole = (blocks + group - 1) / group * group;
  if (at.row >= at.rows_end || block >= whole) return;
  const int row = at.row + at.filling;
  if (row >= f.places) return;  // groups whose ends are out of order may want more
  const std::int64_t atom = at.batch * f.batch_step + row / mn * f.row_step +
                            block / group * std::int64_t{tcgen05::scale_atom_bytes};
  f.codes[atom + tcgen05::scale_byte({row % mn, block % group}, group)] =
      block < blocks ? code : std::uint8_t{0};
}

// Makes and stores the factors of the 128 columns in registers from `First` on, those of a fragment that begins `at`, counted in
// columns of the product; `inverse`: of each block and row.
template <class C, int Halves, int First, int Count>
__device__ __forceinline__ void store_codes(
    const std::uint32_t (&d)[Count], const Arguments& arguments, BlockAt at,
    float (&inverse)[CodedPart<C, Halves>::turns * sharers][2]) {
  using Part = CodedPart<C, Halves>;
  const FactorsOfD& f = arguments.factors_d;
  const int own = thread_here() % sharers;
  const int first = at.col / (Halves * Part::columns);
  const int blocks = (arguments.n / Halves + Part::columns - 1) / Part::columns;
  // Blocks behind this part's are other tiles', unless there are none.
  const bool stores = own < Part::blocks || first + Part::blocks >= blocks;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    BlockAt place = at;
    place.row = row_of(at, wgmma::accumulator_element(Type::f32, {thread_here(), 2 * row}).row);
#pragma unroll
    for (int turn = 0; turn < Part::turns; ++turn) {
      float largest[sharers] = {};
#pragma unroll
      for (int i = 0; i < sharers && i < Part::blocks; ++i) {
        const int begin = First + (turn * sharers + i) * Part::registers;
        largest[i] = largest_finite(Part::registers / 2, [&](int j) {
          return __uint_as_float(d[begin + j / 2 * 4 + 2 * row + j % 2]);
        });
      }
      const float factor = coded_factor_of(largest_of_own(largest), f.type, Part::code);
      const int block = first + turn * sharers + own;
      if (stores) store_code(f, code_of_factor(factor, Part::code), place, block, blocks);
      const float of_own = inverse_of(factor);
#pragma unroll
      for (int i = 0; i < sharers; ++i)
        inverse[turn * sharers + i][row] = __shfl_sync(~0u, of_own, i, sharers);
    }
  }
}

// 128 of a row's columns as e2m1, two to a byte; of a gated activation each lane holds one of the two.
template <int Halves, int First, int Count, class Inverse>
__device__ __forceinline__ void fill_e2m1(const std::uint32_t (&d)[Count], Inverse inverse,
                                          std::uint32_t buffer) {
  const int thread = thread_here();
#pragma unroll
  for (int i = 0; i < block_of_registers; i += 2) {
    const float factor = inverse(i);
    const float first = rounded::multiply(__uint_as_float(d[First + i]), factor);
    const float second = rounded::multiply(__uint_as_float(d[First + i + 1]), factor);
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, i});
    const std::uint32_t at = staged(buffer, place.row, place.col / (2 * Halves));
    if constexpr (Halves == 1) {
      ptx::store_shared_byte(at, pack_e2m1(first, second));
    } else {
      const float beside = __shfl_xor_sync(~0u, first, 1);
      if (thread % 2 == 0) ptx::store_shared_byte(at, pack_e2m1(first, beside));
    }
  }
}

// The Part-th 128 columns of a fragment, which begins `at`.
template <class C, int Halves, int Part, int Count>
__device__ __forceinline__ void code_part(const std::uint32_t (&d)[Count], BlockAt at,
                                          const CUtensorMap& map, const Arguments& arguments,
                                          Staging<C>& staging) {
  using Coded = CodedPart<C, Halves>;
  constexpr int first = Part * block_of_registers;
  at.col += Part * scale_block;
  float inverses[Coded::turns * sharers][2];
  store_codes<C, Halves, first>(d, arguments, at, inverses);
  const auto inverse = [&](int i) { return inverses[i / Coded::registers][i / 2 % 2]; };
  const Type type = arguments.factors_d.type;
  const int together = type == Type::e2m1 ? 2 : 1;  // in a byte
  at.col /= Halves * together;
  staging.template acquire<1>();
  if (type == Type::e2m1)
    fill_e2m1<Halves, first>(d, inverse, staging.next());
  else
    fill_quantized<Halves, first>(d, inverse, staging.next(), type);
  if (arguments.stores_elements || ends_within<C>(at, warpgroup_rows)) {
    staging.copy_out(scale_block / Halves / together, arguments, at);
  } else {
    staging.filled();
    staging.send(map, at);
    staging.commit();
  }
}

// A consumer's wave, which begins `at`.
template <class C, int Halves, int Count>
__device__ __forceinline__ void code_wave(std::uint32_t (&d)[Count], BlockAt at,
                                          const CUtensorMap& map, const Arguments& arguments,
                                          Staging<C>& staging) {
  static_assert(C::waves == 1);
  const int inside = arguments.n - at.col;
  if (inside < C::consumer_columns) clear_outside(d, inside);
  if (arguments.factors_d.times != nullptr) {
    const float times = *arguments.factors_d.times;
#pragma unroll
    for (std::uint32_t& word : d)
      word = __float_as_uint(rounded::multiply(times, __uint_as_float(word)));
  }
  code_part<C, Halves, 0>(d, at, map, arguments, staging);
  if constexpr (C::consumer_columns > scale_block)
    code_part<C, Halves, 1>(d, at, map, arguments, staging);
}

}  // namespace tcq::gemm
