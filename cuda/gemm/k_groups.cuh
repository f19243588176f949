// Which group along K comes when: the longest first, and every second round of the clusters from its last tile to its first, so
// that who began with a long tile goes on with a short one. Some groups' K is many times others', and few tiles stand in a launch.
//
// The order is found once, at a kernel's start, and stands in shared memory: whoever walks the tiles looks there, as a tile may be
// no longer than it takes to find the next one (cuda/NOTES.md, "groups along K"). More groups than the table has room for come one
// behind the other and are looked for in the ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/basic.cuh"

namespace tcq::gemm {

struct KGroup {
  int number;
  int k_first;
  int k_end;  // not ahead of k_first
};
static_assert(sizeof(KGroup) == k_group_entry_bytes);

// Ends are cut to K; a group that ends ahead of where it begins has none.
__device__ __forceinline__ KGroup k_group(const Arguments& arguments, int number) {
  const auto end_of = [&](int group) {
    return min(max(arguments.groups.sizes[group], 0), arguments.k);
  };
  const int first = number > 0 ? end_of(number - 1) : 0;
  return {number, first, max(end_of(number), first)};
}

// The table, at a shared address.
struct KGroupOrder {
  std::uint32_t table;

  // An int of a KGroup.
  __device__ __forceinline__ std::uint32_t field(int place, std::size_t offset) const {
    return table +
           static_cast<std::uint32_t>(static_cast<std::size_t>(place) * sizeof(KGroup) + offset);
  }

  // By all threads of a CTA, ahead of a barrier of theirs.
  __device__ __forceinline__ void find(const Arguments& arguments) const {
    const int count = arguments.groups.count;
    const int own = static_cast<int>(threadIdx.x);
    if (count > k_groups_in_order || own >= count) return;
    const KGroup group = k_group(arguments, own);
    const int k = group.k_end - group.k_first;
    int place = 0;
    for (int other = 0; other < count; ++other) {
      const KGroup its = k_group(arguments, other);
      const int k_of_other = its.k_end - its.k_first;
      place += k_of_other > k || (k_of_other == k && other < own) ? 1 : 0;
    }
    const auto store = [&](std::size_t offset, int value) {
      ptx::store_shared(field(place, offset), static_cast<std::uint32_t>(value));
    };
    store(offsetof(KGroup, number), group.number);
    store(offsetof(KGroup, k_first), group.k_first);
    store(offsetof(KGroup, k_end), group.k_end);
  }

  __device__ __forceinline__ KGroup at(const Arguments& arguments, int place) const {
    if (arguments.groups.count > k_groups_in_order) return k_group(arguments, place);
    const auto load = [&](std::size_t offset) {
      return static_cast<int>(ptx::load_shared(field(place, offset)));
    };
    return {load(offsetof(KGroup, number)), load(offsetof(KGroup, k_first)),
            load(offsetof(KGroup, k_end))};
  }
};

// How a cluster comes to its next tile: so many clusters further in the order, or as many back.
struct KGroupStep {
  int clusters;
  KGroupOrder order;
};

// One matrix of D for each group.
template <int Rows, int Columns>
class KGroupTiles {
 public:
  __device__ __forceinline__ KGroupTiles(const Arguments& arguments, int first,
                                         const KGroupStep& step)
      : arguments_(arguments), in_round_(first), step_(step) {}

  __device__ __forceinline__ bool next(TilePlace& tile) {
    const int index = before_ + in_round_;
    if (index >= arguments_.walk.tiles) return false;
    before_ += step_.clusters;
    in_round_ = step_.clusters - 1 - in_round_;
    tile = dense_tile<Rows, Columns>(arguments_, index);
    const KGroup group = step_.order.at(arguments_, tile.batch);
    tile.batch = group.number;
    tile.batch_b = group.number;
    tile.k_first = group.k_first;
    tile.k_end = group.k_end;
    return true;
  }

 private:
  const Arguments& arguments_;
  int before_ = 0;  // tiles of the rounds before
  int in_round_;
  KGroupStep step_;
};

}  // namespace tcq::gemm
