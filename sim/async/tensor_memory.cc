#include "sim/async/tensor_memory.h"

#include <algorithm>

namespace tcq::machine {

void TensorMemory::reserve(int column) {
  const std::size_t needed = index({0, column + 1});
  if (needed <= cells_.size()) return;
  cells_.resize(needed);
  written_.resize(needed);
}

void TensorMemory::forget(int first_column, int columns) {
  const std::size_t end = std::min(index({0, first_column + columns}), written_.size());
  for (std::size_t i = index({0, first_column}); i < end; ++i) written_[i] = false;
}

// --- history ---------------------------------------------------------------------------------------

TmemAccessId TmemHistory::add(const TmemAccess& access) {
  log_.push_back(access);
  return static_cast<TmemAccessId>(log_.size() - 1);
}

TmemHistory::Slots& TmemHistory::slots_of(int cta, int columns) {
  const auto number = static_cast<std::size_t>(cta);
  if (number >= ctas_.size()) ctas_.resize(number + 1);
  Slots& slots = ctas_[number];
  if (slots.size() < slot_index(0, columns)) slots.resize(slot_index(0, columns));
  return slots;
}

template <class Visit>
void TmemHistory::for_each_slot(const TmemRegion& region, Visit visit) {
  for (int column = region.first_column; column < region.first_column + region.columns; ++column)
    for (int group = 0; group < tmem_groups; ++group)
      if ((region.groups >> group & 1) != 0) visit(group, column);
}

TmemConflict TmemHistory::check(const Slot& slot, TmemAccessId access, const TmemKnowledge& knows,
                                std::vector<std::uint32_t>& before) const {
  TmemConflict conflict;
  const auto meet = [&](TmemAccessId id) {
    if (id == 0 || id == access || conflict.verdict == TmemVerdict::Unordered) return;
    const TmemVerdict verdict = verdict_on(log_[id], log_[access], knows);
    if (verdict > TmemVerdict::Pipelined) conflict = {verdict, id, {}};
    const std::uint32_t operation = log_[id].operation;
    const bool comes_first = verdict == TmemVerdict::Pipelined || verdict == TmemVerdict::Disputed;
    if (comes_first && std::find(before.begin(), before.end(), operation) == before.end())
      before.push_back(operation);
  };
  if (!log_[access].writes || slot.readers == 0) {
    meet(slot.writer);
    return conflict;
  }
  // Behind a reader is behind what it read.
  for (std::uint32_t r = slot.readers; r != 0; r = readers_[r].next) meet(readers_[r].access);
  return conflict;
}

// Whoever knows that the new reader is complete knows it of an older one of the same completions.
std::uint32_t TmemHistory::with_reader(std::uint32_t readers, TmemAccessId access) {
  const auto covers = [&](TmemAccessId old) {
    return log_[old].done == log_[access].done && log_[old].action == log_[access].action;
  };
  std::uint32_t next = readers;
  while (next != 0 && (readers_[next].access == access || covers(readers_[next].access)))
    next = readers_[next].next;
  readers_.push_back({access, next});
  return static_cast<std::uint32_t>(readers_.size() - 1);
}

// All that the access shares with the slot it met first.
TmemRegion TmemHistory::like(const Slots& slots, const TmemRegion& region, int group, int column) {
  const Slot& found = slots[slot_index(group, column)];
  TmemRegion where = {0, column, 1};
  for (int g = 0; g < tmem_groups; ++g)
    if ((region.groups >> g & 1) != 0 && slots[slot_index(g, column)] == found)
      where.groups |= 1u << g;
  const int end = region.first_column + region.columns;
  while (column + where.columns < end && slots[slot_index(group, column + where.columns)] == found)
    ++where.columns;
  return where;
}

TmemConflict TmemHistory::record(int cta, const TmemRegion& region, TmemAccessId access,
                                 const TmemKnowledge& knows, std::vector<std::uint32_t>& before) {
  Slots& slots = slots_of(cta, region.first_column + region.columns);
  constexpr Slot none = {~0u, ~0u};
  TmemConflict found;
  Slot last = none;
  for_each_slot(region, [&](int group, int column) {
    const Slot& slot = slots[slot_index(group, column)];
    if (found.verdict == TmemVerdict::Unordered || slot == last) return;
    last = slot;
    const TmemConflict conflict = check(slot, access, knows, before);
    if (conflict.verdict <= TmemVerdict::Pipelined || conflict.verdict <= found.verdict) return;
    found = conflict;
    found.where = like(slots, region, group, column);
  });
  if (found.verdict == TmemVerdict::Unordered) return found;
  last = none;
  std::uint32_t readers = 0;
  for_each_slot(region, [&](int group, int column) {
    Slot& slot = slots[slot_index(group, column)];
    if (log_[access].writes) {
      slot = {access, 0};
      return;
    }
    if (slot != last) readers = with_reader(slot.readers, access);
    last = slot;
    slot.readers = readers;
  });
  return found;
}

TmemAccessId TmemHistory::writer(int cta, tcgen05::Cell cell) const {
  const auto number = static_cast<std::size_t>(cta);
  const std::size_t slot = slot_index(cell.tmem_lane / tmem_group_lanes, cell.tmem_column);
  const bool known = number < ctas_.size() && slot < ctas_[number].size();
  return known ? ctas_[number][slot].writer : 0;
}

void TmemHistory::forget(int cta, int first_column, int columns) {
  Slots& slots = slots_of(cta, first_column + columns);
  for_each_slot({all_tmem_groups, first_column, columns},
                [&](int group, int column) { slots[slot_index(group, column)] = {}; });
}

void TmemHistory::compact() {
  if (log_.size() + readers_.size() < limit_) return;
  std::vector<TmemAccessId> new_id(log_.size());
  std::vector<std::uint32_t> new_reader(readers_.size());
  std::vector<TmemAccess> log(1);
  std::vector<Reader> readers(1);
  const auto keep = [&](TmemAccessId id) {
    if (id != 0 && new_id[id] == 0) {
      new_id[id] = static_cast<TmemAccessId>(log.size());
      log.push_back(log_[id]);
    }
    return new_id[id];
  };
  for (Slots& slots : ctas_)
    for (Slot& slot : slots) {
      slot.writer = keep(slot.writer);
      std::vector<std::uint32_t> chain;
      for (std::uint32_t r = slot.readers; r != 0 && new_reader[r] == 0; r = readers_[r].next)
        chain.push_back(r);
      for (; !chain.empty(); chain.pop_back()) {
        const Reader& old = readers_[chain.back()];
        readers.push_back({keep(old.access), new_reader[old.next]});
        new_reader[chain.back()] = static_cast<std::uint32_t>(readers.size() - 1);
      }
      slot.readers = new_reader[slot.readers];
    }
  log_ = std::move(log);
  readers_ = std::move(readers);
  limit_ = std::max<std::size_t>(limit_, 2 * (log_.size() + readers_.size()));
}

std::size_t TmemHistory::bytes() const {
  std::size_t bytes = log_.size() * sizeof(TmemAccess) + readers_.size() * sizeof(Reader);
  for (const Slots& slots : ctas_) bytes += slots.size() * sizeof(Slot);
  return bytes;
}

// --- allocation ------------------------------------------------------------------------------------

std::optional<int> TmemPool::first_fit(int columns, const TmemPool* peer) const {
  const std::bitset<units> taken = peer == nullptr ? taken_ : taken_ | peer->taken_;
  const int wanted = columns / tcgen05::tmem_allocation_unit;
  int run = 0;
  for (int u = 0; u < units; ++u) {
    run = taken[static_cast<std::size_t>(u)] ? 0 : run + 1;
    if (run == wanted) return (u + 1 - wanted) * tcgen05::tmem_allocation_unit;
  }
  return std::nullopt;
}

int TmemPool::free_columns() const {
  return (units - static_cast<int>(taken_.count())) * tcgen05::tmem_allocation_unit;
}

void TmemPool::allocate(const TmemAllocated& allocation) {
  allocations_.push_back(allocation);
  smallest_ = std::min(smallest_, allocation.columns);
  for (std::size_t u = unit(allocation.first_column); u < unit(allocation.end()); ++u)
    taken_[u] = true;
}

bool TmemPool::deallocate(int first_column, int columns, int cta_group, const Place& dealloc) {
  const auto found =
      std::find_if(allocations_.begin(), allocations_.end(), [&](const TmemAllocated& allocation) {
        return allocation.first_column == first_column && allocation.columns == columns &&
               allocation.cta_group == cta_group;
      });
  if (found == allocations_.end()) return false;
  for (std::size_t u = unit(found->first_column); u < unit(found->end()); ++u) {
    taken_[u] = false;
    freed_[u] = dealloc;
  }
  allocations_.erase(found);
  return true;
}

const TmemAllocated* TmemPool::holder(int column) const {
  for (const TmemAllocated& allocation : allocations_)
    if (column >= allocation.first_column && column < allocation.end()) return &allocation;
  return nullptr;
}

}  // namespace tcq::machine
