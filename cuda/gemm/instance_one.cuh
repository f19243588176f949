// One row of the table of kernels, or one compiled kernel's rows: from tile, cluster, stages, types and majors to what is launched.
// Which rows there are: instance.cuh, instance_fp8.cuh.
#pragma once

#include <array>
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

// Groups along K.
template <Type In, int BlockM, int BlockN, int ClusterM, int ClusterN, int Stages,
          Promotion P = Promotion::None, Type InB = In, Major A = Major::K, Major B = Major::K>
Kernel along_k_one() {
  constexpr Turns turns = P == Promotion::None && BlockM == 128 ? Turns::PingPong : Turns::Together;
  return large_one<In, BlockM, BlockN, turns, ClusterM, ClusterN, Stages, A, B, P, InB, false,
                   false, true>();
}

// Few rows of groups. The shapes that the design calls for; timed, not chosen by their times.
template <Type In, Promotion P, Major Weights = Major::K>
auto grouped_few_rows() {
  constexpr Skinny rows = Skinny::Rows;
  return std::array{skinny_one<In, rows, 1, 16, 1, 10, Weights, P, In, true>(),
                    skinny_one<In, rows, 2, 32, 1, 8, Weights, P, In, true>(),
                    skinny_one<In, rows, 2, 64, 1, 8, Weights, P, In, true>(),
                    skinny_one<In, rows, 2, 128, 1, 5, Weights, P, In, true>()};
}

}  // namespace tcq::gemm
