// Rows of the table of kernels, for every operand type and Part; instances() at the end puts them together.
//
// Every kernel makes D of any type with any epilogue. large(), few_rows() and few_columns(): K-major operands,
// in every shape without which some size would lose 2 % or all of them 0.3 % in the mean; NOTES.md has what was
// tried besides. general(): what is left,
// other majors of 16-bit types (wgmma takes no others of the rest) and operands that TMA cannot address.
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

template <Type In, int BlockM, int BlockN, Turns ConsumerTurns, int ClusterM, int ClusterN,
          int Stages, Major A = Major::K, Major B = Major::K>
Kernel large_one() {
  using C = Config<In, A, B, BlockM, BlockN, ConsumerTurns, ClusterM, ClusterN, Stages>;
  return kernel_of<C>(reinterpret_cast<const void*>(kernel<C>));
}

template <Type In>
auto large() {
  using enum Turns;
  return std::array{
      large_one<In, 128, 96, PingPong, 1, 2, 6>(),  large_one<In, 128, 128, PingPong, 1, 2, 6>(),
      large_one<In, 128, 144, PingPong, 2, 1, 5>(), large_one<In, 128, 160, PingPong, 2, 1, 5>(),
      large_one<In, 128, 176, PingPong, 2, 1, 5>(), large_one<In, 128, 192, PingPong, 2, 1, 4>(),
      large_one<In, 128, 96, Together, 2, 1, 6>(),  large_one<In, 128, 112, Together, 2, 1, 6>(),
      large_one<In, 128, 144, Together, 2, 1, 5>(), large_one<In, 128, 160, Together, 2, 1, 5>(),
      large_one<In, 128, 224, Together, 2, 1, 4>()};
}

template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Peers, int Stages,
          Major Weights = Major::K>
Kernel skinny_one() {
  using C = SkinnyConfig<In, Few, Consumers, Tokens, Split, Peers, Stages, Weights>;
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>));
}

template <Type In>
auto few_rows() {
  constexpr Skinny rows = Skinny::Rows;
  return std::array{
      skinny_one<In, rows, 1, 16, 1, 1, 7>(),  skinny_one<In, rows, 1, 16, 1, 1, 10>(),
      skinny_one<In, rows, 1, 16, 2, 1, 10>(), skinny_one<In, rows, 1, 16, 4, 1, 5>(),
      skinny_one<In, rows, 1, 32, 1, 1, 8>(),  skinny_one<In, rows, 1, 32, 2, 1, 8>(),
      skinny_one<In, rows, 1, 32, 8, 1, 7>(),  skinny_one<In, rows, 2, 32, 1, 1, 5>(),
      skinny_one<In, rows, 1, 64, 1, 1, 4>(),  skinny_one<In, rows, 1, 64, 3, 1, 7>(),
      skinny_one<In, rows, 1, 64, 5, 1, 6>(),  skinny_one<In, rows, 1, 64, 2, 4, 6>(),
      skinny_one<In, rows, 2, 64, 1, 1, 8>(),  skinny_one<In, rows, 2, 64, 3, 1, 8>(),
      skinny_one<In, rows, 2, 64, 4, 1, 8>(),  skinny_one<In, rows, 2, 96, 1, 1, 7>(),
      skinny_one<In, rows, 2, 96, 2, 1, 6>(),  skinny_one<In, rows, 2, 112, 2, 1, 5>(),
      skinny_one<In, rows, 1, 128, 2, 1, 8>(), skinny_one<In, rows, 1, 128, 3, 1, 6>(),
      skinny_one<In, rows, 1, 128, 8, 1, 6>(), skinny_one<In, rows, 1, 128, 1, 4, 8>(),
      skinny_one<In, rows, 2, 128, 2, 1, 5>(), skinny_one<In, rows, 2, 128, 4, 1, 5>(),
      skinny_one<In, rows, 2, 144, 1, 1, 6>(), skinny_one<In, rows, 2, 160, 1, 1, 6>(),
      skinny_one<In, rows, 2, 176, 1, 1, 5>(), skinny_one<In, rows, 2, 176, 2, 1, 4>(),
      skinny_one<In, rows, 2, 192, 2, 1, 4>(), skinny_one<In, rows, 2, 208, 1, 1, 5>(),
      skinny_one<In, rows, 2, 256, 1, 1, 4>()};
}

template <Type In>
auto few_columns() {
  constexpr Skinny columns = Skinny::Columns;
  return std::array{
      skinny_one<In, columns, 1, 32, 1, 1, 5>(), skinny_one<In, columns, 1, 32, 2, 1, 8>(),
      skinny_one<In, columns, 1, 64, 1, 1, 6>(), skinny_one<In, columns, 1, 64, 3, 1, 7>()};
}

template <Type In>
Kernel copying() {
  using C = Config<In, Major::K, Major::K, 128, 128, Turns::Together, 1, 1, 4>;
  return kernel_of<C>(reinterpret_cast<const void*>(copy_kernel<C>), Loader::Copy);
}

// With few rows the weights are B.
template <Type In>
auto other_majors() {
  using enum Turns;
  constexpr Skinny rows = Skinny::Rows;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return std::array{large_one<In, 128, 128, PingPong, 1, 2, 6, k, mn>(),
                    large_one<In, 128, 128, PingPong, 1, 2, 6, mn, k>(),
                    large_one<In, 128, 128, PingPong, 1, 2, 6, mn, mn>(),
                    skinny_one<In, rows, 1, 16, 1, 1, 10, mn>(),
                    skinny_one<In, rows, 1, 16, 2, 1, 10, mn>(),
                    skinny_one<In, rows, 1, 16, 4, 1, 5, mn>(),
                    skinny_one<In, rows, 1, 32, 2, 1, 8, mn>(),
                    skinny_one<In, rows, 1, 32, 8, 1, 7, mn>(),
                    skinny_one<In, rows, 1, 64, 3, 1, 7, mn>(),
                    skinny_one<In, rows, 2, 64, 1, 1, 8, mn>(),
                    skinny_one<In, rows, 2, 64, 3, 1, 8, mn>(),
                    skinny_one<In, rows, 2, 96, 2, 1, 6, mn>(),
                    skinny_one<In, rows, 2, 128, 2, 1, 5, mn>(),
                    skinny_one<In, rows, 2, 160, 1, 1, 6, mn>(),
                    skinny_one<In, rows, 2, 192, 2, 1, 4, mn>(),
                    skinny_one<In, rows, 2, 256, 1, 1, 4, mn>()};
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
  if constexpr (P == Part::Large && bits(In) == 16)
    return joined(
        large<In>(),
        std::array{large_one<In, 128, 192, Turns::PingPong, 1, 2, 4, Major::K, Major::MN>()});
  else if constexpr (P == Part::Large)
    return large<In>();
  else if constexpr (P == Part::Skinny)
    return joined(few_rows<In>(), few_columns<In>());
  else if constexpr (bits(In) == 16)
    return joined(other_majors<In>(), std::array{copying<In>()});
  else if constexpr (In == Type::u8)
    return std::array{large_one<In, 128, 128, Turns::PingPong, 1, 2, 6>(), copying<In>()};
  else
    return std::array{copying<In>()};
}

template <Type In, Part P>
std::span<const Kernel> instances() {
  static const auto all = rows_of<In, P>();
  return all;
}

}  // namespace tcq::gemm
