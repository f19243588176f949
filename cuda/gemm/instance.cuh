// Rows of the table of kernels, for every operand type and Part; instances() at the end puts them together.
//
// plain<>: the product only, through TMA. full<>: any epilogue and any D. copying<>: that, and
// operands that TMA cannot address. Registers limit the tile of the last two: with 128 x 256 the
// epilogue spills. large(), few_rows() and few_columns(): the product of K-major
// operands in every shape that was the best for some size; NOTES.md has what was tried besides.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "cuda/gemm/copy.cuh"
#include "cuda/gemm/kernel.cuh"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/skinny.cuh"

namespace tcq::gemm {

template <Type In, Type Out, Major A = Major::K, Major B = Major::K>
using PingPong128 = Config<In, Out, A, B, 128, 128, Turns::PingPong, 1, 2, 6>;

template <class C>
Kernel plain() {
  // The plain epilogue writes registers as they are: a 32-bit D has the accumulator's type.
  static_assert(bits(C::out) == 16 ? C::accumulator == Type::f32 : C::out == C::accumulator);
  return kernel_of<C>(false, reinterpret_cast<const void*>(kernel<C, false>));
}

template <Type In, Type Out, Major A = Major::K, Major B = Major::K>
Kernel full() {
  using C = Config<In, Out, A, B, 128, 128, Turns::Together, 2, 1, 6>;
  return kernel_of<C>(true, reinterpret_cast<const void*>(kernel<C, true>));
}

template <Type In, Type Out>
Kernel copying() {
  using C = Config<In, Out, Major::K, Major::K, 128, 128, Turns::Together, 1, 1, 4>;
  return kernel_of<C>(true, reinterpret_cast<const void*>(copy_kernel<C>), Loader::Copy);
}

template <Type In, Type Out, int BlockM, int BlockN, Turns ConsumerTurns, int ClusterM,
          int ClusterN, int Stages>
Kernel large_one() {
  return plain<Config<In, Out, Major::K, Major::K, BlockM, BlockN, ConsumerTurns, ClusterM,
                      ClusterN, Stages>>();
}

template <Type In, Type Out>
auto large() {
  using enum Turns;
  return std::array{large_one<In, Out, 128, 96, PingPong, 1, 2, 6>(),
                    large_one<In, Out, 128, 128, PingPong, 1, 2, 6>(),
                    large_one<In, Out, 128, 144, PingPong, 2, 1, 5>(),
                    large_one<In, Out, 128, 160, PingPong, 2, 1, 5>(),
                    large_one<In, Out, 128, 176, PingPong, 2, 1, 5>(),
                    large_one<In, Out, 128, 192, PingPong, 2, 1, 4>(),
                    large_one<In, Out, 128, 112, Together, 2, 1, 6>(),
                    large_one<In, Out, 128, 144, Together, 2, 1, 5>()};
}

template <Type In, Type Out, Skinny Few, int Consumers, int Tokens, int Split, int Peers,
          int Stages>
Kernel skinny_one() {
  using C = SkinnyConfig<In, Out, Few, Consumers, Tokens, Split, Peers, Stages>;
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>));
}

template <Type In, Type Out>
auto few_rows() {
  constexpr Skinny rows = Skinny::Rows;
  return std::array{
      skinny_one<In, Out, rows, 1, 16, 1, 1, 7>(),  skinny_one<In, Out, rows, 1, 16, 1, 1, 10>(),
      skinny_one<In, Out, rows, 1, 16, 2, 1, 10>(), skinny_one<In, Out, rows, 1, 16, 4, 1, 5>(),
      skinny_one<In, Out, rows, 1, 32, 1, 1, 8>(),  skinny_one<In, Out, rows, 1, 32, 2, 1, 8>(),
      skinny_one<In, Out, rows, 1, 32, 8, 1, 7>(),  skinny_one<In, Out, rows, 2, 32, 1, 1, 5>(),
      skinny_one<In, Out, rows, 1, 64, 1, 1, 4>(),  skinny_one<In, Out, rows, 1, 64, 1, 1, 6>(),
      skinny_one<In, Out, rows, 1, 64, 2, 1, 6>(),  skinny_one<In, Out, rows, 1, 64, 3, 1, 7>(),
      skinny_one<In, Out, rows, 1, 64, 5, 1, 6>(),  skinny_one<In, Out, rows, 1, 64, 2, 4, 6>(),
      skinny_one<In, Out, rows, 2, 64, 1, 1, 8>(),  skinny_one<In, Out, rows, 2, 64, 2, 1, 8>(),
      skinny_one<In, Out, rows, 2, 96, 2, 1, 6>(),  skinny_one<In, Out, rows, 2, 112, 2, 1, 5>(),
      skinny_one<In, Out, rows, 1, 128, 2, 1, 8>(), skinny_one<In, Out, rows, 1, 128, 3, 1, 6>(),
      skinny_one<In, Out, rows, 1, 128, 8, 1, 6>(), skinny_one<In, Out, rows, 1, 128, 1, 4, 8>(),
      skinny_one<In, Out, rows, 2, 128, 1, 1, 6>(), skinny_one<In, Out, rows, 2, 128, 2, 1, 5>()};
}

template <Type In, Type Out>
auto few_columns() {
  constexpr Skinny columns = Skinny::Columns;
  return std::array{skinny_one<In, Out, columns, 1, 32, 1, 1, 5>(),
                    skinny_one<In, Out, columns, 1, 32, 2, 1, 8>(),
                    skinny_one<In, Out, columns, 1, 64, 1, 1, 6>(),
                    skinny_one<In, Out, columns, 1, 64, 3, 1, 7>(),
                    skinny_one<In, Out, columns, 1, 128, 2, 1, 8>()};
}

// 16-bit operands of every major, results and epilogues.
template <Type In>
auto general_16_bit() {
  using enum Type;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return std::array{plain<PingPong128<In, In, k, mn>>(),
                    plain<PingPong128<In, In, mn, k>>(),
                    plain<PingPong128<In, In, mn, mn>>(),
                    plain<PingPong128<In, f32>>(),
                    full<In, In, k, k>(),
                    full<In, In, k, mn>(),
                    full<In, In, mn, k>(),
                    full<In, In, mn, mn>(),
                    full<In, f32, k, k>(),
                    full<In, f32, k, mn>(),
                    full<In, f32, mn, k>(),
                    full<In, f32, mn, mn>(),
                    copying<In, In>(),
                    copying<In, f32>()};
}

// Others are K-major in shared memory: wgmma takes no others.
template <Type In>
auto general_integer() {
  using enum Type;
  return std::array{full<In, s32>(),    full<In, f32>(),    full<In, bf16>(),
                    copying<In, s32>(), copying<In, f32>(), copying<In, bf16>()};
}

template <class... Arrays>
auto joined(const Arrays&... arrays) {
  std::array<Kernel, (std::tuple_size_v<Arrays> + ...)> all;
  auto* end = all.data();
  ((end = std::copy(arrays.begin(), arrays.end(), end)), ...);
  return all;
}

template <Type In, Part P>
auto rows_of() {
  constexpr Type out = bits(In) == 16 ? In : In == Type::tf32 ? Type::f32 : Type::s32;
  if constexpr (P == Part::Large)
    return large<In, out>();
  else if constexpr (P == Part::Skinny)
    return joined(few_rows<In, out>(), few_columns<In, out>());
  else if constexpr (bits(In) == 16)
    return general_16_bit<In>();
  else if constexpr (In == Type::tf32)
    return std::array{full<In, out>(), copying<In, out>()};
  else if constexpr (In == Type::s8)
    return general_integer<In>();
  else
    return joined(std::array{plain<PingPong128<In, out>>()}, general_integer<In>());
}

template <Type In, Part P>
std::span<const Kernel> instances() {
  static const auto all = rows_of<In, P>();
  return all;
}

}  // namespace tcq::gemm
