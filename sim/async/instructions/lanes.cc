#include "sim/async/instructions/lanes.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/async/access.h"
#include "sim/async/instructions/lane_bytes.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/async/register_file.h"
#include "sim/machine/matrix.h"

namespace tcq::machine {
namespace {

int target_cta(const Step& s, const LaneAddresses& where) {
  return where.cta == own_cta ? s.warp.cta : where.cta;
}

}  // namespace

bool bytes_exist(Step& s, const LaneAddresses& where) {
  const auto width = static_cast<std::uint32_t>(where.bytes);
  const SharedMemory& shared = s.c.cta(where.global ? s.warp.cta : target_cta(s, where)).shared;
  bool exist = true;
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = where.at[static_cast<std::size_t>(lane)];
    if (!exist) return;
    Fault fault = Fault::None;
    if (where.global) {
      if (at > s.c.global.size() || width > s.c.global.size() - at) fault = Fault::GlobalOutOfRange;
    } else if (at % width != 0) {
      fault = Fault::SharedUnaligned;
    } else if (!shared.contains(at, width)) {
      fault = Fault::SharedMemoryOutOfRange;
    }
    exist = fault == Fault::None;
    if (!exist) s.fail(fault, lane, at);
  });
  return exist;
}

void describe(Access& access, const LaneAddresses& where, std::uint32_t lanes) {
  const int first = std::countr_zero(lanes);
  const std::uint32_t behind = lanes & (lanes - 1);
  if (behind == 0) return;
  const auto at = [&](int lane) {
    return static_cast<std::int64_t>(where.at[static_cast<std::size_t>(lane)]);
  };
  const int second = std::countr_zero(behind);
  const std::int64_t stride = (at(second) - at(first)) / (second - first);
  const std::int64_t base = at(first) - stride * first;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (base + stride * lane != at(lane)) return;
  }
  access.base = static_cast<std::uint32_t>(base);
  access.stride_bytes = static_cast<std::int32_t>(stride);
  access.width = static_cast<std::uint16_t>(where.bytes);
}

namespace {

// Lanes whose bytes follow each other are one range.
template <class Visit>
bool for_each_range(const LaneAddresses& where, std::uint32_t lanes, Visit visit) {
  const auto width = static_cast<std::uint32_t>(where.bytes);
  ByteRange run;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint32_t at = where.at[static_cast<std::size_t>(std::countr_zero(rest))];
    if (run.end == at && run.end != run.begin) {
      run.end += width;
      continue;
    }
    if (run.end == at + width && run.begin == at) continue;  // the same bytes again
    if (run.end != run.begin && !visit(run)) return false;
    run = {at, at + width};
  }
  return run.end == run.begin || visit(run);
}

}  // namespace

bool record_lanes(Step& s, const LaneAddresses& where, AccessId id) {
  const int cta = target_cta(s, where);
  return for_each_range(where, s.lanes, [&](ByteRange bytes) {
    return where.global ? record_global(s, id, bytes) : record(s, id, cta, bytes);
  });
}

namespace {

bool may_reach(Step& s, const LaneAddresses& where) {
  if (where.global) return true;
  const int cta = target_cta(s, where);
  return reach_cta(s, cta, s.first_lane()) && has_started(s, cta, s.first_lane());
}

}  // namespace

std::uint8_t* bytes_at(ClusterState& c, int own, const LaneAddresses& where, int lane) {
  const std::uint32_t at = where.at[static_cast<std::size_t>(lane)];
  if (where.global) return c.global.data() + at;
  SharedMemory& shared = c.cta(where.cta == own_cta ? own : where.cta).shared;
  return shared.data() + (at - shared.base());
}

namespace {

const char* space(const LaneAddresses& where) { return where.global ? "global" : "shared"; }

}  // namespace

// --- ld, st ----------------------------------------------------------------------------------------

std::string LaneAccess::text(const Names&) const {
  return joined(stores ? "st." : "ld.", space(where), ".b", 8 * where.bytes);
}

namespace {

// The bytes are there already, in all lanes.
bool holds(const Step& s, const LaneAddresses& where, const LaneBytes& data, int begin) {
  bool all = true;
  s.for_each_lane([&](int lane) {
    all = all && std::memcmp(bytes_at(s.c, s.warp.cta, where, lane),
                             data[static_cast<std::size_t>(lane)].data() + begin,
                             static_cast<std::size_t>(where.bytes)) == 0;
  });
  return all;
}

}  // namespace

void LaneAccess::execute(Step& s) const {
  if (!may_reach(s, where) || !bytes_exist(s, where)) return;
  Access access = generic_access(s, stores ? AccessKind::Store : AccessKind::Load);
  describe(access, where, s.lanes);
  const auto width = static_cast<std::size_t>(where.bytes);
  access.rewrites = stores && holds(s, where, *data, begin);
  const AccessId id = s.c.log.add(access);
  if (!record_lanes(s, where, id)) return;
  s.for_each_lane([&](int lane) {
    std::uint8_t* const memory = bytes_at(s.c, s.warp.cta, where, lane);
    std::uint8_t* const value = (*data)[static_cast<std::size_t>(lane)].data() + begin;
    std::memcpy(stores ? memory : value, stores ? value : memory, width);
  });
  if (!stores) note_loaded(s, id, loaded);
}

// --- accesses that synchronise ---------------------------------------------------------------------

namespace {

std::uint64_t word_object(const Standing& at, const LaneAddresses& where, int lane) {
  const std::uint32_t address = where.at[static_cast<std::size_t>(lane)] & ~7u;
  if (where.global) return global_word_object(address);
  return shared_word_object(where.cta == own_cta ? at.warp.cta : where.cta, address);
}

}  // namespace

std::vector<Touch> LaneAtomic::touches(const Standing& at) const {
  std::vector<Touch> touches;
  for (std::uint32_t rest = at.lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t object = word_object(at, where, std::countr_zero(rest));
    if (touches.empty() || touches.back().object != object)
      touches.push_back({.object = object, .kind = TouchKind::Word, .writes = update != nullptr});
  }
  return touches;
}

bool LaneAtomic::is_blocked(const Standing& at) const {
  if (!parked) return false;
  const auto& memory = at.c;
  for (std::uint32_t rest = at.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint32_t address = where.at[lane];
    const SharedMemory& shared = memory.cta(where.cta == own_cta ? at.warp.cta : where.cta).shared;
    const std::uint8_t* now =
        where.global ? memory.global.data() + address : shared.data() + (address - shared.base());
    if (std::memcmp(now, (*data)[lane].data(), static_cast<std::size_t>(where.bytes)) != 0)
      return false;
  }
  return true;
}

Waiting LaneAtomic::waiting(const Standing& at) const {
  Waiting w = at.waits_for(WaitFor::Memory);
  w.object = where.at[static_cast<std::size_t>(at.first_lane())];
  w.cta = where.global ? global_memory : w.cta;
  return w;
}

std::string LaneAtomic::text(const Names&) const {
  return joined(update == nullptr ? "ld." : "atom.", space(where), ".b", 8 * where.bytes);
}

void LaneAtomic::execute(Step& s) const {
  if (!may_reach(s, where) || !bytes_exist(s, where)) return;
  const std::vector<Touch> touched = touches(s.standing());
  s.c.touches.insert(s.c.touches.end(), touched.begin(), touched.end());
  Clock handed;
  for (const Touch& touch : touched) {
    Clock& word = s.c.words[touch.object];
    if (reads) handed.join(word);
    if (update == nullptr) continue;
    word.join(releases ? s.warp.clock : s.warp.at_memory_fence);
  }
  if (reads) {
    if (acquires) s.warp.clock.join(handed);
    s.warp.read_since_fence.join(handed);
  }
  if (releases && update != nullptr) next_epoch(s);
  s.for_each_lane([&](int lane) {
    std::uint8_t* const memory = bytes_at(s.c, s.warp.cta, where, lane);
    std::memcpy((*data)[static_cast<std::size_t>(lane)].data(), memory,
                static_cast<std::size_t>(where.bytes));
    if (update != nullptr) update(lane, memory);
  });
}

void FenceMemory::execute(Step& s) const {
  s.warp.clock.join(s.warp.read_since_fence);
  s.warp.at_memory_fence = s.warp.clock;
  next_epoch(s);
}

// --- ldmatrix, stmatrix ----------------------------------------------------------------------------

std::string LaneMatrices::text(const Names&) const {
  return joined(stores ? "stmatrix" : "ldmatrix", ".sync.aligned.m8n8.x", count);
}

void LaneMatrices::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  matrix::Operand operand{count, transposed, rows};
  if (const Fault fault = matrix::check(operand, s.cta().shared); fault != Fault::None)
    return s.fail(fault);
  const AccessId id = s.c.log.add(generic_access(s, stores ? AccessKind::Store : AccessKind::Load));
  constexpr std::uint32_t row_bytes = 16;
  for (int row = 0; row < 8 * count; ++row) {
    const std::uint32_t at = rows[static_cast<std::size_t>(row)];
    if (!record(s, id, s.warp.cta, {at, at + row_bytes})) return;
  }
  matrix::WarpRegisters registers{};
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    std::memcpy(registers[lane].data(), (*data)[lane].data(), sizeof registers[lane]);
  if (stores) return matrix::execute(s.cta().shared, registers, matrix::StoreMatrix{operand});
  matrix::execute(s.cta().shared, registers, matrix::LoadMatrix{operand});
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    std::memcpy((*data)[lane].data(), registers[lane].data(), sizeof registers[lane]);
  note_loaded(s, id, loaded);
}

}  // namespace tcq::machine
