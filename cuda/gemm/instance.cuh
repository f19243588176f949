// Rows of the table of kernels, for every operand type and Part; instances() at the end puts them together. What makes one row is
// instance_one.cuh; rows of FP8 alone are instance_fp8.cuh.
//
// Every kernel makes D of any type with any epilogue. large(), few_rows_by_one(), few_rows_by_more() and few_columns():
// K-major operands, in every shape without which some size would lose 2 % or all of them 0.3 % in the mean; NOTES.md has
// what was tried besides. Of few rows and columns a row of the table is a kernel in one cluster; several rows have one function.
// row_major_b(): the same of 16 bits beside a row-major B. other_majors() and what follows: what is left, other majors of
// 16-bit types (wgmma takes none of the rest) and operands that TMA cannot address.
#pragma once

#include <array>
#include <span>

#include "cuda/gemm/instance_fp8.cuh"
#include "cuda/gemm/instance_one.cuh"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {

template <Type In>
auto large() {
  using enum Turns;
  return std::array{
      large_one<In, 128, 128, PingPong, 1, 2, 6>(), large_one<In, 128, 144, PingPong, 2, 1, 5>(),
      large_one<In, 128, 160, PingPong, 2, 1, 5>(), large_one<In, 128, 176, PingPong, 2, 1, 5>(),
      large_one<In, 128, 192, PingPong, 2, 1, 4>(), large_one<In, 128, 96, Together, 2, 1, 6>(),
      large_one<In, 128, 224, Together, 2, 1, 4>()};
}

// Tiles of few rows by one consumer.
template <Type In>
auto few_rows_by_one() {
  constexpr Skinny rows = Skinny::Rows;
  auto all = joined(skinny<In, rows, 1, 16, 1, 7>(), skinny<In, rows, 1, 16, 1, 10>(),
                    skinny<In, rows, 1, 16, 2, 10>(), skinny<In, rows, 1, 16, 4, 5>(),
                    skinny<In, rows, 1, 32, 1, 8>(), skinny<In, rows, 1, 32, 2, 8>(),
                    skinny<In, rows, 1, 32, 8, 7>(), skinny<In, rows, 1, 64, 1, 4>(),
                    skinny<In, rows, 1, 64, 2, 6>(), skinny<In, rows, 1, 64, 3, 7>(),
                    skinny<In, rows, 1, 64, 4, 8>(), skinny<In, rows, 1, 128, 1, 8>(),
                    skinny<In, rows, 1, 128, 2, 8>(), skinny<In, rows, 1, 128, 3, 6>(),
                    skinny<In, rows, 1, 128, 8, 6>(),
                    std::array{skinny_by_eight<In, rows, 1, 64, 2, 6, 4, 1>(),
                               skinny_by_eight<In, rows, 1, 64, 4, 8, 1, 2>()});
  if constexpr (bits(In) == 16 || is_fp8(In))
    return joined(all, skinny<In, rows, 1, 64, 1, 8>(), skinny<In, rows, 1, 64, 2, 8>(),
                  skinny<In, rows, 1, 72, 2, 8>(), skinny<In, rows, 1, 96, 2, 8>(),
                  skinny<In, rows, 1, 104, 2, 8>());
  else
    return all;
}

// By two or three. FP8 has no register for 208 tokens.
template <Type In>
auto few_rows_by_more() {
  constexpr Skinny rows = Skinny::Rows;
  auto all = joined(skinny<In, rows, 2, 32, 1, 5>(), skinny<In, rows, 2, 64, 1, 8>(),
                    skinny<In, rows, 2, 64, 2, 8>(), skinny<In, rows, 2, 64, 4, 8>(),
                    skinny<In, rows, 2, 80, 1, 8>(), skinny<In, rows, 2, 80, 2, 7>(),
                    skinny<In, rows, 2, 80, 3, 6>(), skinny<In, rows, 2, 80, 4, 6>(),
                    skinny<In, rows, 2, 96, 1, 8>(), skinny<In, rows, 2, 96, 4, 5>(),
                    skinny<In, rows, 2, 128, 1, 6>(), skinny<In, rows, 2, 144, 1, 6>(),
                    skinny<In, rows, 2, 144, 2, 4>(), skinny<In, rows, 2, 160, 1, 6>(),
                    skinny<In, rows, 2, 160, 2, 4>(), skinny<In, rows, 2, 176, 1, 5>(),
                    skinny<In, rows, 2, 176, 2, 4>(), skinny<In, rows, 2, 192, 1, 5>(),
                    std::array{skinny_by_eight<In, rows, 2, 80, 4, 6, 1, 2>(),
                               skinny_by_eight<In, rows, 2, 96, 4, 5, 2, 1>()});
  if constexpr (!is_fp8(In)) all = joined(all, skinny<In, rows, 2, 208, 1, 5>());
  if constexpr (bits(In) == 16 || is_fp8(In))
    return joined(all, skinny<In, rows, 2, 72, 1, 8>(), skinny<In, rows, 2, 88, 1, 8>(),
                  skinny<In, rows, 2, 96, 2, 7>(), skinny<In, rows, 2, 112, 2, 6>(),
                  skinny<In, rows, 2, 120, 1, 7>(), skinny<In, rows, 2, 128, 1, 7>(),
                  skinny<In, rows, 2, 128, 2, 6>(), skinny<In, rows, 2, 136, 1, 6>(),
                  skinny<In, rows, 2, 152, 1, 6>(), skinny<In, rows, 3, 72, 1, 6>(),
                  skinny<In, rows, 3, 104, 1, 6>(),
                  std::array{skinny_by_eight<In, rows, 2, 64, 4, 8, 1, 2>()});
  else
    return all;
}

// What 64 to 4000 rows of 16 bits want besides (cuda/NOTES.md, "More tiles for the middle").
template <Type In>
auto middle() {
  using enum Turns;
  constexpr Skinny rows = Skinny::Rows;
  constexpr double most_operations = 1.3e11;
  auto all = joined(std::array{large_one<In, 192, 112, Together, 1, 2, 4>(),
                               large_one<In, 192, 144, Together, 1, 2, 4>(),
                               large_one<In, 128, 112, PingPong, 2, 1, 6>(),
                               large_one<In, 128, 208, PingPong, 1, 2, 4>()},
                    skinny<In, rows, 1, 160, 2, 7>(), skinny<In, rows, 1, 176, 2, 6>(),
                    skinny<In, rows, 1, 192, 2, 6>(), skinny<In, rows, 2, 64, 1, 4>(),
                    skinny<In, rows, 2, 136, 1, 3>(), skinny<In, rows, 2, 144, 3, 5>(),
                    skinny<In, rows, 2, 208, 2, 4>(), skinny<In, rows, 2, 224, 1, 5>(),
                    skinny<In, rows, 3, 64, 1, 7>(), skinny<In, rows, 3, 88, 1, 6>(),
                    skinny<In, rows, 3, 96, 2, 5>(), skinny<In, rows, 3, 112, 1, 5>(),
                    skinny<In, rows, 3, 136, 1, 5>(), skinny<In, rows, 3, 152, 1, 5>(),
                    skinny<In, rows, 3, 176, 1, 4>());
  for (Kernel& k : all) k.most_operations = most_operations;
  return all;
}

template <Type In>
auto few_columns() {
  constexpr Skinny columns = Skinny::Columns;
  return joined(skinny<In, columns, 1, 32, 1, 5>(), skinny<In, columns, 1, 32, 2, 8>(),
                skinny<In, columns, 1, 64, 1, 6>(), skinny<In, columns, 1, 64, 3, 7>());
}

// Many small products, or many rows of little else (cuda/NOTES.md, "small products").
template <Type In>
auto small() {
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return std::array{small_one<In, 64, 32, 6>(),        small_one<In, 64, 64, 5>(),
                    small_one<In, 64, 96, 4>(),        small_one<In, 128, 32, 4>(),
                    small_one<In, 64, 64, 5, k, mn>(), small_one<In, 64, 64, 5, mn, k>(),
                    small_one<In, 64, 64, 5, mn, mn>()};
}

// Gradients of weights have both operands MN-major (cuda/NOTES.md, "other majors").
template <Type In>
auto other_majors() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return std::array{alone<In, mn, k>(),
                    alone<In, mn, mn>(),
                    large_one<In, 128, 128, PingPong, 1, 2, 6, mn, k>(),
                    large_one<In, 128, 128, PingPong, 2, 1, 6, mn, k>(),
                    large_one<In, 128, 144, PingPong, 2, 1, 5, mn, k>(),
                    large_one<In, 128, 176, PingPong, 2, 1, 5, mn, k>(),
                    large_one<In, 128, 192, PingPong, 1, 2, 4, mn, k>(),
                    large_one<In, 128, 224, Together, 2, 1, 4, mn, k>(),
                    large_one<In, 256, 128, Together, 1, 2, 4, mn, k>(),
                    large_one<In, 128, 128, PingPong, 1, 2, 6, mn, mn>(),
                    large_one<In, 128, 128, PingPong, 2, 1, 6, mn, mn>(),
                    large_one<In, 128, 192, PingPong, 1, 2, 4, mn, mn>(),
                    large_one<In, 192, 192, Together, 1, 1, 3, mn, mn>(),
                    large_one<In, 256, 128, Together, 1, 1, 4, mn, mn>()};
}

// Few rows beside a row-major B, whose columns are the weights (cuda/NOTES.md, "other majors").
template <Type In, int Consumers, int Tokens, int Split, int Stages>
auto beside_row_major() {
  return skinny<In, Skinny::Rows, Consumers, Tokens, Split, Stages, Major::MN>();
}

template <Type In>
auto row_major_b() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  constexpr double most_operations = 1.3e11;
  auto timed_small =
      joined(beside_row_major<In, 1, 32, 1, 8>(), beside_row_major<In, 1, 64, 1, 8>(),
             beside_row_major<In, 1, 64, 2, 8>(), beside_row_major<In, 1, 64, 4, 8>(),
             beside_row_major<In, 1, 96, 2, 8>(), beside_row_major<In, 1, 128, 1, 8>(),
             beside_row_major<In, 1, 160, 2, 7>(), beside_row_major<In, 1, 176, 2, 6>(),
             beside_row_major<In, 2, 32, 1, 5>(), beside_row_major<In, 2, 96, 1, 8>(),
             beside_row_major<In, 2, 136, 1, 3>(), beside_row_major<In, 2, 144, 1, 6>(),
             beside_row_major<In, 2, 152, 1, 6>(), beside_row_major<In, 2, 176, 1, 5>(),
             beside_row_major<In, 2, 192, 1, 5>(), beside_row_major<In, 2, 208, 1, 5>(),
             beside_row_major<In, 2, 224, 1, 5>(), beside_row_major<In, 3, 104, 1, 6>(),
             beside_row_major<In, 3, 112, 1, 5>(), beside_row_major<In, 3, 136, 1, 5>());
  for (Kernel& kernel : timed_small) kernel.most_operations = most_operations;
  return joined(std::array{alone<In, k, mn>(), large_one<In, 128, 128, PingPong, 1, 2, 6, k, mn>(),
                           large_one<In, 128, 128, PingPong, 2, 1, 6, k, mn>(),
                           large_one<In, 128, 192, PingPong, 1, 1, 4, k, mn>(),
                           large_one<In, 128, 192, PingPong, 1, 2, 4, k, mn>(),
                           large_one<In, 192, 192, Together, 1, 1, 3, k, mn>()},
                beside_row_major<In, 1, 16, 1, 10>(), beside_row_major<In, 1, 16, 2, 10>(),
                beside_row_major<In, 1, 16, 4, 5>(), beside_row_major<In, 1, 32, 2, 8>(),
                beside_row_major<In, 1, 32, 8, 7>(), beside_row_major<In, 1, 64, 3, 7>(),
                beside_row_major<In, 2, 64, 1, 8>(), beside_row_major<In, 2, 64, 2, 8>(),
                beside_row_major<In, 2, 64, 3, 8>(), beside_row_major<In, 2, 72, 1, 8>(),
                beside_row_major<In, 2, 96, 2, 7>(), beside_row_major<In, 2, 112, 2, 6>(),
                beside_row_major<In, 2, 120, 1, 7>(), beside_row_major<In, 2, 136, 1, 6>(),
                beside_row_major<In, 2, 160, 1, 6>(), timed_small);
}

// Gradients of weights: both operands may be MN-major, as activations lie.
template <Type In>
auto groups_along_k() {
  constexpr Promotion none = Promotion::None;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return std::array{copying<In, none, In, false, true>(),
                    along_k_one<In, 128, 128, 1, 2, 6>(),
                    along_k_one<In, 128, 128, 1, 2, 6, none, In, k, mn>(),
                    along_k_one<In, 128, 128, 1, 2, 6, none, In, mn, k>(),
                    along_k_one<In, 128, 128, 1, 2, 6, none, In, mn, mn>(),
                    along_k_one<In, 128, 192, 2, 1, 4>(),
                    along_k_one<In, 128, 192, 1, 2, 4, none, In, mn, mn>(),
                    along_k_one<In, 256, 128, 1, 2, 4>(),
                    along_k_one<In, 256, 128, 1, 2, 4, none, In, mn, mn>()};
}

template <Type In>
auto grouped() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Promotion none = Promotion::None;
  return joined(grouped_few_rows<In, none>(),
                std::array{copying<In, none, In, true>(),
                           large_one<In, 128, 128, PingPong, 1, 2, 6, k, k, none, In, true>(),
                           large_one<In, 128, 160, PingPong, 1, 2, 5, k, k, none, In, true>(),
                           large_one<In, 128, 192, PingPong, 1, 2, 4, k, k, none, In, true>()});
}

// Weights of experts are often kept row-major.
template <Type In>
auto grouped_row_major_b() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  constexpr Promotion none = Promotion::None;
  return joined(grouped_few_rows<In, none, mn>(),
                std::array{large_one<In, 128, 128, PingPong, 1, 2, 6, k, mn, none, In, true>(),
                           large_one<In, 128, 192, PingPong, 1, 2, 4, k, mn, none, In, true>()});
}

template <Type In, Part P>
auto rows_of() {
  if constexpr (In == Type::e5m2 && P == Part::Quantizing)
    return joined(quantizing_pair<In, In>(), quantizing_pair<In, Type::e4m3>(),
                  quantizing_pair<Type::e4m3, In>());
  else if constexpr (In == Type::e5m2 && P == Part::Groups)
    return joined(fp8_groups_along_k<In, In>(), fp8_groups_along_k<In, Type::e4m3>(),
                  fp8_groups_along_k<Type::e4m3, In>());
  else if constexpr (In == Type::e5m2)
    return joined(fp8_pair<In, In>(), fp8_pair<In, Type::e4m3>(), fp8_pair<Type::e4m3, In>());
  else if constexpr (In == Type::e4m3 && P == Part::Large)
    return joined(large<In>(), promoting_large<In>(), staged<In>(), staged_vectors<In>());
  else if constexpr (In == Type::e4m3 && P == Part::Skinny)
    return joined(few_rows_by_one<In>(), promoting_few_rows_by_one<In>());
  else if constexpr (In == Type::e4m3 && P == Part::Wide)
    return joined(few_rows_by_more<In>(), promoting_few_rows_by_more<In>(),
                  promoting_columns<In>());
  else if constexpr (P == Part::Quantizing)
    return quantizing<In>();
  else if constexpr (In == Type::e4m3 && P == Part::Groups)
    return joined(grouped_promoting<In>(), fp8_groups_along_k<In, In>());
  else if constexpr (In == Type::e4m3)
    return joined(
        std::array{copying<In>(), copying<In, Promotion::EachColumn>(), small_one<In, 64, 64, 5>()},
        grouped<In>());
  else if constexpr (P == Part::Large)
    return large<In>();
  else if constexpr (P == Part::Skinny)
    return joined(few_rows_by_one<In>(), few_columns<In>());
  else if constexpr (P == Part::Wide)
    return few_rows_by_more<In>();
  else if constexpr (P == Part::Middle)
    return middle<In>();
  else if constexpr (P == Part::RowMajor)
    return row_major_b<In>();
  else if constexpr (P == Part::Groups)
    return joined(grouped<In>(), grouped_row_major_b<In>(), groups_along_k<In>());
  else if constexpr (bits(In) == 16)
    return joined(other_majors<In>(), small<In>(), std::array{copying<In>()});
  else if constexpr (In == Type::u8)
    return std::array{large_one<In, 128, 128, Turns::PingPong, 1, 2, 6>(), copying<In>()};
  else
    return std::array{copying<In>(), small_one<In, 64, 64, 5>()};
}

template <Type In, Part P>
std::span<const Kernel> instances() {
  static const auto all = rows_of<In, P>();
  return all;
}

}  // namespace tcq::gemm
