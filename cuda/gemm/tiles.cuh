// The tiles of a launch, one after the other: where each lies, for those who load it and those who store it.
//
// Dense products: by multiplications, cuda/gemm/arguments.h. Groups: their sizes lie in device memory, and a warp looks
// for the group of a tile 32 groups at a time. Sizes are cut to what A has, whatever they are: nothing outside of the
// matrices is ever read or written. Called by all lanes of a warp together.
#pragma once

#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::gemm {

// A tile of a cluster: its first row and column of D, the row behind the last one that is the group's (dense: D's), the
// matrices of A and D, and that of B; where a kernel multiplies D's transpose, row and column, and the matrices, are exchanged. Of groups with factors of blocks, of A or of D: rows that fill up the atoms of the groups ahead
// (ScaleCodes), so that row r of D has the place row + filling.
struct TilePlace {
  int row;
  int col;
  int batch;
  int rows_end;
  int batch_b;
  int filling = 0;
  int k_first = 0;  // where tiles have parts of K: its own
  int k_end = 0;
};

// Where the rows and columns end that a kernel multiplies: those of D, or of its transpose, whose rows are D's columns.
struct TileEnds {
  int rows;
  int cols;
};
template <class C>
__device__ __forceinline__ TileEnds ends_of(const Arguments& arguments, const TilePlace& tile) {
  if constexpr (transposes<C>()) return {arguments.n, tile.rows_end};
  return {tile.rows_end, arguments.n};
}

// Of the K that a tile is multiplied along: blocks, elements in the last of them, and others that are ahead of the tile's in the
// first (groups along K).
struct BlocksAlongK {
  int count;
  int left;
  int ahead = 0;
};
// On tcgen05 kernels have any majors.
template <class C>
__device__ __forceinline__ int k_step(const Groups& groups) {
  constexpr bool lies_along_k = C::A::major == Major::K || C::B::major == Major::K;
  if constexpr (on_tcgen05<C>())
    return groups.k_step;
  else
    return group_step(C::in, lies_along_k, C::promotion != Promotion::None);
}
template <class C>
__device__ __forceinline__ BlocksAlongK along_k(const Arguments& arguments, const TilePlace& tile) {
  if constexpr (has_parts_of_k<C>()) {
    int ahead = 0;
    if constexpr (groups_k<C>())
      ahead = remainder_of_power(tile.k_first, k_step<C>(arguments.groups));
    const int k = tile.k_end > tile.k_first ? tile.k_end - tile.k_first + ahead : 0;
    const int count = (k + C::block_k - 1) / C::block_k;
    return {count, k - (count - 1) * C::block_k, ahead};
  } else {
    return {arguments.k_blocks, arguments.k - (arguments.k_blocks - 1) * C::block_k};
  }
}
// What a block holds of other groups and is multiplied nevertheless: elements of K from `first` up to `ahead`, and from `behind` up to
// `end`. Instructions that read none of the tile's are left out, but where wgmma's sums of a block are promoted.
struct OthersInBlock {
  int first;
  int ahead;
  int behind;
  int end;

  __device__ __forceinline__ bool any() const { return first != ahead || behind != end; }
};
template <class C>
HOST_DEVICE constexpr int multiplied_together() {
  const bool whole = C::promotion != Promotion::None && !on_tcgen05<C>();
  return whole ? C::block_k : wgmma::stored_k(C::in);
}
template <class C>
__device__ __forceinline__ OthersInBlock others_in(const BlocksAlongK& along, int block) {
  constexpr int together = multiplied_together<C>();
  const int ahead = block == 0 ? along.ahead : 0;
  const int left = block + 1 == along.count ? along.left : C::block_k;
  return {ahead / together * together, ahead, left, (left + together - 1) / together * together};
}
// Where its first block begins.
template <class C>
__device__ __forceinline__ int k_begin(const TilePlace& tile, const BlocksAlongK& along) {
  return has_parts_of_k<C>() ? tile.k_first - along.ahead : 0;
}

// Of a product without groups.
template <int Rows, int Columns>
__device__ __forceinline__ TilePlace dense_tile(const Arguments& arguments, int index) {
  const TileAt at = arguments.walk.at(index);
  return {at.row * Rows, at.col * Columns, at.batch, arguments.m, at.batch};
}

// Tiles begin at multiples of `Rows` in a group and of `Columns` in D; all warps of a cluster see the same ones.
template <int Rows, int Columns>
class DenseTiles {
 public:
  __device__ __forceinline__ DenseTiles(const Arguments& arguments, int first, int step)
      : arguments_(arguments), index_(first), step_(step) {}

  __device__ __forceinline__ bool next(TilePlace& tile) {
    if (index_ >= arguments_.walk.tiles) return false;
    tile = dense_tile<Rows, Columns>(arguments_, index_);
    index_ += step_;
    return true;
  }

 private:
  const Arguments& arguments_;
  int index_;
  int step_;
};

// Whole tiles, and of those that StreamK deals as runs the parts of the cluster's: the last tile's, which it leaves to the next
// cluster, first, and the first tile's, which it takes over, at the end.
template <int Rows, int Columns, int BlockK>
class StreamKTiles {
 public:
  __device__ __forceinline__ StreamKTiles(const Arguments& arguments, int cluster, int step)
      : arguments_(arguments), index_(cluster), step_(step) {}

  __device__ __forceinline__ bool next(TilePlace& tile) { return complete(tile, next_whole(tile)); }

  // In two steps, for consumers who look for a tile while they multiply the one before: to find one of a run takes more
  // registers than are free then.
  __device__ __forceinline__ bool next_whole(TilePlace& tile) {
    if (index_ >= arguments_.stream_k.whole) return false;
    tile = dense_tile<Rows, Columns>(arguments_, index_);
    index_ += step_;
    return true;
  }
  // `found`: by next_whole().
  __device__ __forceinline__ bool complete(TilePlace& tile, bool found) {
    if (!found) return next_of_run(tile);
    tile.k_first = 0;
    tile.k_end = arguments_.k;
    return true;
  }

 private:
  // index_ steps on from the cluster's number behind all whole tiles: to the part that it leaves, a whole tile, what it takes over.
  __device__ __forceinline__ bool next_of_run(TilePlace& tile) {
    const StreamK& dealt = arguments_.stream_k;
    if (dealt.blocks == 0) return false;
    const int behind = index_ - dealt.whole;
    const int turn = behind < step_ ? 0 : behind < 2 * step_ ? 1 : 2;
    const int cluster = behind - turn * step_;
    if (cluster >= step_) return false;
    index_ += step_;
    const StreamK::At end = dealt.at(cluster + 1);
    if (turn == 0 && end.block > 0) return set(tile, end.tile, 0, end.block);
    const StreamK::At begin = dealt.at(cluster);
    const int first = begin.tile + (begin.block > 0 ? 1 : 0);
    if (turn == 0) index_ += step_;
    if (turn <= 1 && first < end.tile) return set(tile, first, 0, arguments_.k_blocks);
    if (turn <= 1) index_ += step_;
    return begin.block > 0 && set(tile, begin.tile, begin.block, arguments_.k_blocks);
  }
  __device__ __forceinline__ bool set(TilePlace& tile, int index, int first, int end) const {
    tile = dense_tile<Rows, Columns>(arguments_, index);
    tile.k_first = first * BlockK;
    tile.k_end = min(end * BlockK, arguments_.k);
    return true;
  }

  const Arguments& arguments_;
  int index_;  // of the next whole tile
  int step_;
};

// `Keeps` what was loaded of 32 groups from one tile to the next; else that is loaded anew, which takes four registers less
// while a tile is computed. `Coded`: what fills up atoms is looked for, too.
template <int Rows, int Columns, bool Keeps = true, bool Coded = false>
class GroupTiles {
 public:
  __device__ __forceinline__ GroupTiles(const Arguments& arguments, int first, int step)
      : arguments_(arguments), index_(first), step_(step) {
    if constexpr (Keeps) load();
  }

  __device__ __forceinline__ bool next(TilePlace& tile) {
    const bool found = arguments_.groups.by == Grouping::RowIds ? find_by_row(tile) : find(tile);
    index_ += step_;
    return found;
  }

 private:
  static constexpr int lanes = 32;

  __device__ __forceinline__ int across() const { return arguments_.groups.tiles_across; }
  static __device__ __forceinline__ int atoms_of(int rows) {
    return static_cast<int>(tcgen05::scale_atoms_along_mn(rows));
  }
  // Of each lane and those before it.
  __device__ __forceinline__ static void sum_up(int& of_lane) {
    const int lane = static_cast<int>(threadIdx.x) % lanes;
#pragma unroll
    for (int by = 1; by < lanes; by *= 2) {
      const int before = __shfl_up_sync(~0u, of_lane, by);
      if (lane >= by) of_lane += before;
    }
  }
  // In rows and columns of a matrix with so many tiles `down`: a band of them column by column, so that the tiles that run at one
  // time share rows of A and columns of B in L2 (cuda/NOTES.md, "groups in bands").
  struct Place {
    int row;
    int col;
  };
  __device__ __forceinline__ Place place_of(int index, int down) const {
    const Groups& groups = arguments_.groups;
    const int band = groups.tiles_of_band.quotient(index);
    const int in_band = index - band * groups.tiles_of_band.value;
    const int first = band * groups.band;
    const int rows = min(down - first, groups.band);
    const int col = in_band / rows;
    return {(first + in_band - col * rows) * Rows, col * Columns};
  }

  // A row of A, or their number.
  __device__ __forceinline__ int cut(int size) const { return min(max(size, 0), arguments_.m); }

  // Of the 32 groups from first_ on: where each begins, its rows, and the tiles up to its end.
  __device__ __forceinline__ void load() {
    const Groups& groups = arguments_.groups;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int group = first_ + lane;
    begin_ = 0;
    rows_ = 0;
    if (group < groups.count && groups.by != Grouping::RowIds) {
      const int size = cut(groups.sizes[group]);
      if (groups.by == Grouping::Ends && group > 0) begin_ = cut(groups.sizes[group - 1]);
      rows_ = max(size - begin_, 0);
    }
    ends_ = (rows_ + Rows - 1) / Rows * across();
    sum_up(ends_);
    all_ = __shfl_sync(~0u, ends_, lanes - 1);
    if constexpr (Coded) {
      atoms_ = atoms_of(rows_);
      sum_up(atoms_);
    }
  }

  __device__ __forceinline__ bool find(TilePlace& tile) {
    const Groups& groups = arguments_.groups;
    if constexpr (!Keeps) load();
    while (index_ - before_ >= all_) {
      if (first_ + lanes >= groups.count) return false;
      before_ += all_;
      if constexpr (Coded) atoms_before_ += __shfl_sync(~0u, atoms_, lanes - 1);
      first_ += lanes;
      load();
    }
    const int in_chunk = index_ - before_;
    const int lane = __ffs(static_cast<int>(__ballot_sync(~0u, in_chunk < ends_))) - 1;
    const int begin = __shfl_sync(~0u, begin_, lane);
    const int rows = __shfl_sync(~0u, rows_, lane);
    const int down = (rows + Rows - 1) / Rows;
    const Place place =
        place_of(in_chunk - (__shfl_sync(~0u, ends_, lane) - down * across()), down);
    const int group = first_ + lane;
    const bool apart = groups.by == Grouping::Counts;  // a matrix of A for each group
    tile = {begin + place.row, place.col, apart ? group : 0, begin + rows, group};
    if constexpr (Coded) {
      const int before = atoms_before_ + __shfl_sync(~0u, atoms_, lane) - atoms_of(rows);
      tile.filling = apart ? 0 : before * tcgen05::scale_atom_mn - begin;
    }
    return true;
  }

  // Every row of A says its group; that of a tile's first row is the tile's.
  __device__ __forceinline__ bool find_by_row(TilePlace& tile) {
    const int down = (arguments_.m + Rows - 1) / Rows;
    for (; index_ < down * across(); index_ += step_) {
      const Place place = place_of(index_, down);
      const int group = arguments_.groups.sizes[place.row];
      if (group < 0 || group >= arguments_.groups.count) continue;
      tile = {place.row, place.col, 0, min(place.row + Rows, arguments_.m), group};
      return true;
    }
    return false;
  }

  const Arguments& arguments_;
  int index_;
  int step_;
  int first_ = 0;   // of the groups in registers
  int before_ = 0;  // tiles of the groups before these
  int begin_;
  int rows_;
  int ends_;
  int all_;               // tiles of these
  int atoms_before_ = 0;  // of factors: as before_ and ends_
  int atoms_ = 0;
};

// Of D's transpose.
template <int Rows, int Columns, bool Keeps, bool Coded>
class TransposedGroupTiles {
 public:
  __device__ __forceinline__ TransposedGroupTiles(const Arguments& arguments, int first, int step)
      : tiles_(arguments, first, step) {}

  __device__ __forceinline__ bool next(TilePlace& tile) {
    TilePlace of_d;
    if (!tiles_.next(of_d)) return false;
    tile = {of_d.col, of_d.row, of_d.batch_b, of_d.rows_end, of_d.batch, of_d.filling};
    return true;
  }

 private:
  GroupTiles<Columns, Rows, Keeps, Coded> tiles_;
};

template <bool Grouped, int Rows, int Columns, bool Keeps = true, bool Coded = false>
using Tiles =
    std::conditional_t<Grouped, GroupTiles<Rows, Columns, Keeps, Coded>, DenseTiles<Rows, Columns>>;

}  // namespace tcq::gemm
