// Rows of the table of kernels, for every operand type and Part; instances() at the end puts them together.
//
// Every kernel makes D of any type with any epilogue. large(), few_rows_by_one(), few_rows_by_more() and few_columns():
// K-major operands, in every shape without which some size would lose 2 % or all of them 0.3 % in the mean; NOTES.md has
// what was tried besides. Of few rows and columns a row of the table is a kernel in one cluster; several rows have one function.
// other_majors() and what follows: what is left,
// other majors of 16-bit types (wgmma takes no others of the rest) and operands that TMA cannot address.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cuda/gemm/copy.cuh"
#include "cuda/gemm/kernel.cuh"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/skinny.cuh"

namespace tcq::gemm {

template <class... Rows>
std::vector<Kernel> joined(const Rows&... rows) {
  std::vector<Kernel> all;
  all.reserve((rows.size() + ...));
  const auto add = [&](const auto& some) {
    for (const Kernel& kernel : some) all.push_back(kernel);
  };
  (add(rows), ...);
  return all;
}

template <Type In, int BlockM, int BlockN, Turns ConsumerTurns, int ClusterM, int ClusterN,
          int Stages, Major A = Major::K, Major B = Major::K, Promotion P = Promotion::None,
          Type InB = In, bool Grouped = false, bool Quantizes = false, bool GroupsK = false>
Kernel large_one() {
  using C = Config<In, A, B, BlockM, BlockN, ConsumerTurns, ClusterM, ClusterN, Stages, P, InB,
                   Grouped, Quantizes, GroupsK>;
  return kernel_of<C>(reinterpret_cast<const void*>(kernel<C>));
}

// Of FP8 with factors of blocks of K, which TMA brings.
template <Type In, int BlockM, int BlockN, int ClusterM, int ClusterN, int Stages,
          bool Grouped = false, Promotion P = Promotion::ColumnBlocks>
Kernel staged_one() {
  using C = Staged<Config<In, Major::K, Major::K, BlockM, BlockN, Turns::Together, ClusterM,
                          ClusterN, Stages, P, In, Grouped>>;
  return kernel_of<C>(reinterpret_cast<const void*>(staged_kernel<C>));
}

template <Type In>
auto large() {
  using enum Turns;
  return std::array{
      large_one<In, 128, 128, PingPong, 1, 2, 6>(), large_one<In, 128, 144, PingPong, 2, 1, 5>(),
      large_one<In, 128, 160, PingPong, 2, 1, 5>(), large_one<In, 128, 176, PingPong, 2, 1, 5>(),
      large_one<In, 128, 192, PingPong, 2, 1, 4>(), large_one<In, 128, 96, Together, 2, 1, 6>(),
      large_one<In, 128, 224, Together, 2, 1, 4>()};
}

template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Stages,
          Major Weights = Major::K, Promotion P = Promotion::None, Type InTokens = In,
          bool Grouped = false, bool Quantizes = false>
Kernel skinny_one() {
  using C = SkinnyConfig<In, Few, Consumers, Tokens, Split, Stages, Weights, P, InTokens, Grouped,
                         Quantizes>;
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>));
}

inline constexpr int usual_cluster =
    4;  // CTAs: larger ones were seldom the fastest (cuda/NOTES.md)

// One compiled kernel in every such cluster: a tile alone, and two or four that share their tokens or their weights.
template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Stages,
          Major Weights = Major::K, Promotion P = Promotion::None>
std::vector<Kernel> skinny() {
  using C = SkinnyConfig<In, Few, Consumers, Tokens, Split, Stages, Weights, P>;
  const auto* const function = reinterpret_cast<const void*>(skinny_kernel<C>);
  std::vector<Kernel> all = {skinny_kernel_of<C>(function)};
  for (const int tiles : {2, 4}) {
    if (tiles * C::split > usual_cluster) continue;
    if (C::B::has_shares(tiles)) all.push_back(skinny_kernel_of<C>(function, tiles, 1));
    if (C::A::has_shares(tiles)) all.push_back(skinny_kernel_of<C>(function, 1, tiles));
  }
  return all;
}

// And in one of eight: few of these were the fastest anywhere.
template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Stages, int Peers,
          int Mates, Promotion P = Promotion::None>
Kernel skinny_by_eight() {
  using C = SkinnyConfig<In, Few, Consumers, Tokens, Split, Stages, Major::K, P>;
  static_assert(C::split * Peers * Mates == portable_cluster);
  static_assert(C::B::has_shares(Peers) && C::A::has_shares(Mates));
  return skinny_kernel_of<C>(reinterpret_cast<const void*>(skinny_kernel<C>), Peers, Mates);
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

template <Type In, Promotion P = Promotion::None, Type InB = In, bool Grouped = false,
          bool GroupsK = false>
Kernel copying() {
  using C = Config<In, Major::K, Major::K, 128, 128, Turns::Together, 1, 1, 4, P, InB, Grouped,
                   false, GroupsK>;
  return kernel_of<C>(reinterpret_cast<const void*>(copy_kernel<C>), Loader::Copy);
}

template <Type In, int BlockM, int BlockN, int Stages, Major A = Major::K, Major B = Major::K>
Kernel small_one() {
  using C = TwoOfAnSm<Config<In, A, B, BlockM, BlockN, Turns::PingPong, 1, 1, Stages>>;
  return kernel_of<C>(reinterpret_cast<const void*>(kernel<C>));
}

// Where a cluster of two would have no tile for its second CTA; of more than this they take up to 39 % longer.
template <Type In, Major A, Major B>
Kernel alone() {
  Kernel k = large_one<In, 128, 128, Turns::PingPong, 1, 1, 6, A, B>();
  k.most_operations = 2e10;
  return k;
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

// With few rows the weights are B.
template <Type In>
auto other_majors() {
  using enum Turns;
  constexpr Skinny rows = Skinny::Rows;
  constexpr Major k = Major::K;
  constexpr Major mn = Major::MN;
  return joined(std::array{large_one<In, 128, 128, PingPong, 1, 2, 6, k, mn>(),
                           large_one<In, 128, 128, PingPong, 1, 2, 6, mn, k>(),
                           large_one<In, 128, 128, PingPong, 1, 2, 6, mn, mn>(), alone<In, k, mn>(),
                           alone<In, mn, k>(), alone<In, mn, mn>()},
                skinny<In, rows, 1, 16, 1, 10, mn>(), skinny<In, rows, 1, 16, 2, 10, mn>(),
                skinny<In, rows, 1, 16, 4, 5, mn>(), skinny<In, rows, 1, 32, 2, 8, mn>(),
                skinny<In, rows, 1, 32, 8, 7, mn>(), skinny<In, rows, 1, 64, 3, 7, mn>(),
                skinny<In, rows, 2, 64, 1, 8, mn>(), skinny<In, rows, 2, 64, 2, 8, mn>(),
                skinny<In, rows, 2, 64, 3, 8, mn>(), skinny<In, rows, 2, 72, 1, 8, mn>(),
                skinny<In, rows, 2, 96, 2, 7, mn>(), skinny<In, rows, 2, 112, 2, 6, mn>(),
                skinny<In, rows, 2, 120, 1, 7, mn>(), skinny<In, rows, 2, 136, 1, 6, mn>(),
                skinny<In, rows, 2, 160, 1, 6, mn>());
}

// FP8, chosen by the times of cuda/NOTES.md, "factors of four blocks of K at once" and "a tile's start and end".
template <Type In>
auto promoting_large() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Promotion blocks = Promotion::ColumnBlocks;
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{large_one<In, 256, 128, Together, 1, 2, 4, k, k, blocks>(),
                    large_one<In, 128, 128, Together, 1, 1, 6, k, k, blocks>(),
                    large_one<In, 128, 128, Together, 2, 1, 6, k, k, blocks>(),
                    large_one<In, 192, 128, Together, 1, 2, 4, k, k, blocks>(),
                    large_one<In, 192, 128, Together, 1, 1, 4, k, k, blocks>(),
                    large_one<In, 192, 96, Together, 1, 1, 4, k, k, blocks>(),
                    large_one<In, 128, 192, Together, 1, 1, 4, k, k, blocks>(),
                    large_one<In, 128, 96, Together, 1, 1, 6, k, k, blocks>(),
                    large_one<In, 128, 64, Together, 1, 1, 8, k, k, blocks>(),
                    large_one<In, 192, 64, Together, 2, 1, 5, k, k, blocks>(),
                    large_one<In, 256, 128, Together, 1, 2, 3, k, k, each>(),
                    large_one<In, 128, 128, Together, 1, 2, 5, k, k, each>(),
                    large_one<In, 128, 96, Together, 1, 2, 6, k, k, each>()};
}

// Those without which a recorded size would lose 2 % (cuda/NOTES.md, "factors that TMA brings").
template <Type In>
auto staged() {
  return std::array{staged_one<In, 256, 128, 1, 1, 3>(), staged_one<In, 192, 128, 1, 1, 4>(),
                    staged_one<In, 128, 192, 1, 1, 4>(), staged_one<In, 128, 64, 1, 1, 8>(),
                    staged_one<In, 192, 96, 1, 1, 4>(),  staged_one<In, 128, 96, 1, 1, 6>(),
                    staged_one<In, 128, 128, 1, 1, 5>()};
}

// The same of vectors.
template <Type In>
auto staged_vectors() {
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{staged_one<In, 192, 128, 1, 1, 3, false, each>(),
                    staged_one<In, 128, 192, 1, 1, 4, false, each>(),
                    staged_one<In, 128, 128, 1, 1, 5, false, each>(),
                    staged_one<In, 128, 96, 1, 1, 6, false, each>()};
}

// Products of two blocks and their sums in f32: 160 tokens of all consumers at most; of one block where there are more.
template <Type In>
auto promoting_few_rows_by_one() {
  constexpr Skinny rows = Skinny::Rows;
  constexpr Major k = Major::K;
  constexpr Promotion P = Promotion::EachColumn;
  return joined(skinny<In, rows, 1, 16, 1, 10, k, P>(), skinny<In, rows, 1, 16, 2, 10, k, P>(),
                skinny<In, rows, 1, 16, 4, 5, k, P>(), skinny<In, rows, 1, 32, 2, 8, k, P>(),
                skinny<In, rows, 1, 32, 8, 7, k, P>(), skinny<In, rows, 1, 48, 2, 9, k, P>(),
                skinny<In, rows, 1, 64, 1, 9, k, P>(), skinny<In, rows, 1, 64, 2, 6, k, P>(),
                std::array{skinny_by_eight<In, rows, 1, 64, 2, 6, 4, 1, P>()},
                skinny<In, rows, 1, 64, 2, 8, k, P>(), skinny<In, rows, 1, 64, 3, 7, k, P>(),
                skinny<In, rows, 1, 80, 4, 8, k, P>(), skinny<In, rows, 1, 96, 2, 9, k, P>());
}

template <Type In>
auto promoting_few_rows_by_more() {
  constexpr Skinny rows = Skinny::Rows;
  constexpr Major k = Major::K;
  constexpr Promotion P = Promotion::EachColumn;
  return joined(skinny<In, rows, 2, 64, 1, 8, k, P>(), skinny<In, rows, 2, 64, 2, 8, k, P>(),
                skinny<In, rows, 2, 72, 1, 8, k, P>(), skinny<In, rows, 3, 64, 1, 6, k, P>(),
                skinny<In, rows, 2, 80, 1, 8, k, P>(), skinny<In, rows, 2, 80, 2, 7, k, P>(),
                skinny<In, rows, 2, 104, 1, 7, k, P>(), skinny<In, rows, 3, 80, 1, 6, k, P>(),
                skinny<In, rows, 2, 160, 1, 6, k, P>(), skinny<In, rows, 2, 160, 2, 4, k, P>(),
                skinny<In, rows, 2, 176, 1, 5, k, P>());
}

// Tiles that share K, or have an SM's registers to themselves: rows of D are wgmma's rows, its columns share factors of 128
// (cuda/NOTES.md, "a tile's start and end where FP8 promotes").
template <Type In>
auto promoting_columns() {
  constexpr Skinny columns = Skinny::Columns;
  constexpr Major k = Major::K;
  constexpr Promotion P = Promotion::ColumnBlocks;
  return joined(
      skinny<In, columns, 1, 64, 2, 8, k, P>(), skinny<In, columns, 1, 64, 4, 8, k, P>(),
      skinny<In, columns, 1, 128, 1, 7, k, P>(), skinny<In, columns, 1, 128, 2, 7, k, P>(),
      skinny<In, columns, 1, 128, 3, 7, k, P>(), skinny<In, columns, 2, 64, 2, 8, k, P>(),
      skinny<In, columns, 2, 128, 1, 6, k, P>(), skinny<In, columns, 2, 128, 2, 5, k, P>(),
      skinny<In, columns, 3, 64, 2, 6, k, P>(), skinny<In, columns, 3, 128, 1, 5, k, P>(),
      skinny<In, columns, 3, 128, 2, 4, k, P>());
}

// Groups along K.
template <Type In, int BlockM, int BlockN, int ClusterM, int ClusterN, int Stages,
          Promotion P = Promotion::None, Type InB = In, Major A = Major::K, Major B = Major::K>
Kernel along_k_one() {
  constexpr Turns turns = P == Promotion::None && BlockM == 128 ? Turns::PingPong : Turns::Together;
  return large_one<In, BlockM, BlockN, turns, ClusterM, ClusterN, Stages, A, B, P, InB, false,
                   false, true>();
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

template <Type In, Type InB>
auto fp8_groups_along_k() {
  constexpr Promotion none = Promotion::None;
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{copying<In, none, InB, false, true>(),
                    copying<In, each, InB, false, true>(),
                    along_k_one<In, 128, 128, 1, 2, 6, none, InB>(),
                    along_k_one<In, 128, 192, 2, 1, 4, none, InB>(),
                    along_k_one<In, 256, 128, 1, 2, 4, none, InB>(),
                    along_k_one<In, 128, 128, 1, 2, 5, each, InB>(),
                    along_k_one<In, 256, 128, 1, 2, 3, each, InB>()};
}

// Groups. The shapes that the design calls for; timed, not chosen by their times.
template <Type In, Promotion P>
auto grouped_few_rows() {
  constexpr Skinny rows = Skinny::Rows;
  constexpr Major k = Major::K;
  return std::array{skinny_one<In, rows, 1, 16, 1, 10, k, P, In, true>(),
                    skinny_one<In, rows, 2, 32, 1, 8, k, P, In, true>(),
                    skinny_one<In, rows, 2, 64, 1, 8, k, P, In, true>(),
                    skinny_one<In, rows, 2, 128, 1, 5, k, P, In, true>()};
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

template <Type In>
auto grouped_promoting() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Promotion blocks = Promotion::ColumnBlocks;
  constexpr Promotion each = Promotion::EachColumn;
  return joined(grouped_few_rows<In, each>(),
                std::array{copying<In, each, In, true>(),
                           large_one<In, 128, 128, Together, 1, 2, 5, k, k, blocks, In, true>(),
                           large_one<In, 128, 128, Together, 1, 2, 5, k, k, each, In, true>(),
                           staged_one<In, 192, 128, 1, 1, 4, true>(),
                           staged_one<In, 128, 128, 1, 1, 5, true>(),
                           staged_one<In, 128, 192, 1, 1, 4, true>(),
                           staged_one<In, 192, 128, 1, 1, 3, true, each>(),
                           staged_one<In, 128, 192, 1, 1, 4, true, each>(),
                           staged_one<In, 128, 128, 1, 1, 5, true, each>()});
}

// D quantized: tiles of 256 columns also where two columns make one of D, of 128 else.
template <Type In, int BlockM, int BlockN, int ClusterN, int Stages, Promotion P,
          bool Grouped = false, Type InB = In>
Kernel quantizing_one() {
  constexpr Major k = Major::K;
  constexpr Turns turns =
      P == Promotion::None && BlockN == scale_block ? Turns::PingPong : Turns::Together;
  return large_one<In, BlockM, BlockN, turns, 1, ClusterN, Stages, k, k, P, InB, Grouped, true>();
}

template <Type In, int Consumers, int Tokens, int Split, int Stages, Promotion P,
          bool Grouped = false>
Kernel quantizing_few() {
  return skinny_one<In, Skinny::Rows, Consumers, Tokens, Split, Stages, Major::K, P, In, Grouped,
                    true>();
}

template <Type In, Promotion P, bool Grouped = false, Type InB = In>
Kernel quantizing_copying() {
  using C =
      Config<In, Major::K, Major::K, 64, 256, Turns::Together, 1, 1, 4, P, InB, Grouped, true>;
  return kernel_of<C>(reinterpret_cast<const void*>(copy_kernel<C>), Loader::Copy);
}

// What 57 problems' times keep (cuda/NOTES.md, "D quantized"), and one that does not split K.
template <Type In, Promotion P>
auto quantizing_few_rows() {
  return std::array{quantizing_few<In, 2, 16, 2, 8, P>(), quantizing_few<In, 2, 16, 4, 8, P>(),
                    quantizing_few<In, 2, 32, 2, 8, P>(), quantizing_few<In, 2, 64, 2, 7, P>(),
                    quantizing_few<In, 2, 64, 4, 6, P>(), quantizing_few<In, 4, 16, 2, 6, P>(),
                    quantizing_few<In, 4, 16, 8, 4, P>(), quantizing_few<In, 4, 32, 2, 5, P>(),
                    quantizing_few<In, 4, 48, 1, 5, P>(), quantizing_few<In, 4, 48, 2, 4, P>(),
                    quantizing_few<In, 4, 48, 4, 4, P>()};
}

// Of groups, as of other kernels: timed, not chosen by their times.
template <Type In>
auto quantizing_groups() {
  constexpr Promotion none = Promotion::None;
  constexpr Promotion blocks = Promotion::ColumnBlocks;
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{quantizing_few<In, 4, 16, 1, 6, none, true>(),
                    quantizing_few<In, 4, 48, 1, 5, none, true>(),
                    quantizing_few<In, 4, 16, 1, 6, each, true>(),
                    quantizing_few<In, 4, 48, 1, 5, each, true>(),
                    quantizing_one<In, 128, 256, 1, 4, none, true>(),
                    quantizing_one<In, 128, 256, 1, 4, blocks, true>(),
                    quantizing_one<In, 64, 256, 1, 4, blocks, true>(),
                    quantizing_one<In, 64, 256, 1, 4, each, true>(),
                    quantizing_copying<In, none, true>(),
                    quantizing_copying<In, each, true>()};
}

template <Type In>
auto quantizing() {
  constexpr Promotion none = Promotion::None;
  constexpr Promotion blocks = Promotion::ColumnBlocks;
  constexpr Promotion each = Promotion::EachColumn;
  return joined(
      quantizing_few_rows<In, none>(), quantizing_few_rows<In, each>(), quantizing_groups<In>(),
      std::array{
          quantizing_one<In, 128, 128, 2, 6, none>(), quantizing_one<In, 128, 256, 1, 4, none>(),
          quantizing_one<In, 64, 256, 1, 4, none>(), quantizing_one<In, 128, 128, 1, 6, blocks>(),
          quantizing_one<In, 192, 128, 2, 4, blocks>(),
          quantizing_one<In, 128, 256, 1, 4, blocks>(), quantizing_one<In, 64, 256, 1, 4, blocks>(),
          quantizing_one<In, 128, 128, 2, 5, each>(), quantizing_one<In, 64, 256, 1, 4, each>(),
          quantizing_copying<In, none>(), quantizing_copying<In, each>()});
}

// What every pair of FP8 types has, dense or of groups of rows.
template <Type In, Type InB, bool Grouped>
auto fp8_rows() {
  using enum Turns;
  constexpr Major k = Major::K;
  constexpr Promotion none = Promotion::None;
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{copying<In, none, InB, Grouped>(), copying<In, each, InB, Grouped>(),
                    large_one<In, 128, 128, PingPong, 1, 2, 6, k, k, none, InB, Grouped>(),
                    large_one<In, 128, 128, Together, 1, 2, 5, k, k, each, InB, Grouped>()};
}

template <Type In, Type InB>
auto fp8_pair() {
  return joined(fp8_rows<In, InB, false>(), fp8_rows<In, InB, true>());
}

// And to quantize D: tiles of 256 columns, for whatever activation.
template <Type In, Type InB, bool Grouped>
auto quantizing_rows() {
  constexpr Promotion none = Promotion::None;
  constexpr Promotion each = Promotion::EachColumn;
  return std::array{quantizing_copying<In, none, Grouped, InB>(),
                    quantizing_copying<In, each, Grouped, InB>(),
                    quantizing_one<In, 128, 256, 1, 4, none, Grouped, InB>(),
                    quantizing_one<In, 64, 256, 1, 4, each, Grouped, InB>()};
}

template <Type In, Type InB>
auto quantizing_pair() {
  return joined(quantizing_rows<In, InB, false>(), quantizing_rows<In, InB, true>());
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
  else if constexpr (P == Part::Large && bits(In) == 16)
    return joined(
        large<In>(),
        std::array{large_one<In, 128, 192, Turns::PingPong, 1, 2, 4, Major::K, Major::MN>()});
  else if constexpr (P == Part::Large)
    return large<In>();
  else if constexpr (P == Part::Skinny)
    return joined(few_rows_by_one<In>(), few_columns<In>());
  else if constexpr (P == Part::Wide)
    return few_rows_by_more<In>();
  else if constexpr (P == Part::Middle)
    return middle<In>();
  else if constexpr (P == Part::Groups)
    return joined(grouped<In>(), groups_along_k<In>());
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
