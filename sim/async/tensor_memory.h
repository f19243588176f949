// The Tensor Memory of a cluster: cells and which of them were written, who touched what, and which
// columns are allocated.
//
// TensorMemory holds the bits of one CTA. TmemHistory remembers for every 16 lanes of a column the
// last access that wrote them and those that read them since: at most 4096 slots of 8 bytes per CTA,
// and a log that is compacted when it has doubled; cells and flags are at most 264 KiB per CTA. That is exact for all shapes but cp.4x256b and lanes
// that a mask disables, which count as the 16 lanes around them. TmemPool hands out columns, first
// fit. What the accesses mean: tcgen05_order.h; who makes them: tmem_access.h. Example: a pool
// with 256 columns taken from 0 gives 128 columns at 256.
//
// Source: PTX ISA 9.2, 9.7.16.1 "Tensor Memory", 9.7.16.7.1 "tcgen05.alloc, dealloc".
// Inferred: first fit; any free place is allowed, and a program that relies on one is not portable.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/async/finding.h"
#include "sim/async/tcgen05_order.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::machine {

inline constexpr int tmem_group_lanes = 16;
inline constexpr int tmem_groups = tcgen05::tmem_lanes / tmem_group_lanes;
inline constexpr std::uint32_t all_tmem_groups = (1u << tmem_groups) - 1;

// Some 16-lane groups (bit g: lanes from 16 g on) of neighbouring columns.
struct TmemRegion {
  std::uint32_t groups = all_tmem_groups;
  int first_column = 0;
  int columns = 0;
};

class TensorMemory {
 public:
  // Columns are kept up to the last that was used; what is behind reads as 0, unwritten.
  std::uint32_t load(tcgen05::Cell cell) const {
    return index(cell) < cells_.size() ? cells_[index(cell)] : 0;
  }
  void store(tcgen05::Cell cell, std::uint32_t word) {
    reserve(cell.tmem_column);
    cells_[index(cell)] = word;
  }
  bool is_written(tcgen05::Cell cell) const {
    return index(cell) < written_.size() && written_[index(cell)];
  }
  void mark(tcgen05::Cell cell, bool written) {
    reserve(cell.tmem_column);
    written_[index(cell)] = written;
  }
  void forget(int first_column, int columns);  // nothing is written there any more

 private:
  static std::size_t index(tcgen05::Cell cell) {
    return static_cast<std::size_t>(cell.tmem_column * tcgen05::tmem_lanes + cell.tmem_lane);
  }
  void reserve(int column);

  std::vector<std::uint32_t> cells_;
  std::vector<bool> written_;
};

using TmemAccessId = std::uint32_t;  // 0: none

struct TmemConflict {
  TmemVerdict verdict = TmemVerdict::Ordered;
  TmemAccessId earlier = 0;
  TmemRegion where;
};

class TmemHistory {
 public:
  TmemHistory() : log_(1), readers_(1) {}

  TmemAccessId add(const TmemAccess& access);
  const TmemAccess& operator[](TmemAccessId id) const { return log_[id]; }

  // Checks the access against a region of a CTA and makes it the newest there, unless it is
  // unordered. Operations that only come first, without being complete, are added to `before`. The
  // answer is the worst pair, if it is Disputed or Unordered.
  TmemConflict record(int cta, const TmemRegion& region, TmemAccessId access,
                      const TmemKnowledge& knows, std::vector<std::uint32_t>& before);
  TmemAccessId writer(int cta, tcgen05::Cell cell) const;
  // Columns that were freed: nobody has touched them.
  void forget(int cta, int first_column, int columns);
  // Drops what no slot refers to, once the log is long. Ids become invalid.
  void compact();
  std::size_t bytes() const;

 private:
  struct Slot {
    TmemAccessId writer = 0;
    std::uint32_t readers = 0;  // the last of a chain
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  struct Reader {
    TmemAccessId access = 0;
    std::uint32_t next = 0;
  };
  using Slots = std::vector<Slot>;  // up to the last column that was used

  static std::size_t slot_index(int group, int column) {
    return static_cast<std::size_t>(column * tmem_groups + group);
  }
  Slots& slots_of(int cta, int columns);
  template <class Visit>
  static void for_each_slot(const TmemRegion& region, Visit visit);
  static TmemRegion like(const Slots& slots, const TmemRegion& region, int group, int column);
  TmemConflict check(const Slot& slot, TmemAccessId access, const TmemKnowledge& knows,
                     std::vector<std::uint32_t>& before) const;
  std::uint32_t with_reader(std::uint32_t readers, TmemAccessId access);

  std::vector<TmemAccess> log_;
  std::vector<Reader> readers_;
  std::vector<Slots> ctas_;
  std::size_t limit_ = 4096;
};

// --- allocation -----------------------------------------------------------------------------------

struct TmemAllocated {
  int first_column = 0;
  int columns = 0;
  int cta_group = 1;
  Place alloc;
  Tick epoch = 0;      // of its warp
  Tick commits = 0;    // that its warp had issued
  int peer_warp = -1;  // cta_group 2: who allocated with it, in the other CTA
  Tick peer_epoch = 0;
  Tick peer_commits = 0;

  int end() const { return first_column + columns; }
};

// The columns of one CTA.
class TmemPool {
 public:
  // The first place that is free for so many columns, in this pool and in `peer` if there is one.
  std::optional<int> first_fit(int columns, const TmemPool* peer = nullptr) const;
  int free_columns() const;

  void allocate(const TmemAllocated& allocation);
  // False if alloc did not return it like that.
  bool deallocate(int first_column, int columns, int cta_group, const Place& dealloc);

  const std::vector<TmemAllocated>& allocations() const { return allocations_; }
  // Who holds a column; none if it is free. Who freed it last: statement -1 if nobody.
  const TmemAllocated* holder(int column) const;
  const Place& last_dealloc(int column) const { return freed_[unit(column)]; }

  int smallest() const { return smallest_; }
  bool relinquished() const { return relinquish_.statement >= 0; }
  const Place& relinquish() const { return relinquish_; }
  void relinquish(const Place& at) { relinquish_ = at; }
  // Steps so far: alloc, dealloc, relinquish.
  std::uint32_t steps() const { return steps_; }
  std::uint32_t count_step() { return steps_++; }

 private:
  static constexpr int units = tcgen05::tmem_columns / tcgen05::tmem_allocation_unit;
  static std::size_t unit(int column) {
    return static_cast<std::size_t>(column / tcgen05::tmem_allocation_unit);
  }

  std::vector<TmemAllocated> allocations_;
  std::bitset<units> taken_;
  std::array<Place, units> freed_;
  int smallest_ = tcgen05::tmem_columns;
  Place relinquish_;
  std::uint32_t steps_ = 0;
};

}  // namespace tcq::machine
