// Rows of the table of kernels that FP8 alone has: sums that are promoted, D that is quantized, pairs of two types. Without
// promotion its rows are instance.cuh's.
#pragma once

#include <array>

#include "cuda/gemm/instance_one.cuh"
#include "cuda/gemm/staged.cuh"

namespace tcq::gemm {

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

}  // namespace tcq::gemm
