#include "sim/async/instructions/lane_bytes.h"

#include <algorithm>
#include <bit>

#include "sim/async/access.h"

namespace tcq::machine {

int target_cta(const Step& s, const LaneAddresses& where) {
  return where.cta == own_cta ? s.warp.cta : where.cta;
}

// --- where the lanes' bytes lie --------------------------------------------------------------------

namespace {

std::uint32_t at_first(const LaneAddresses& where, std::uint32_t lanes) {
  return where.at[static_cast<std::size_t>(std::countr_zero(lanes))];
}
std::uint32_t at_last(const LaneAddresses& where, std::uint32_t lanes) {
  return where.at[static_cast<std::size_t>(31 - std::countl_zero(lanes))];
}

}  // namespace

LaneStride stride_of(const LaneAddresses& where, std::uint32_t lanes) {
  const std::uint32_t behind = lanes & (lanes - 1);
  if (behind == 0) return {};
  const int first = std::countr_zero(lanes), second = std::countr_zero(behind);
  const int last = 31 - std::countl_zero(lanes);
  const std::int64_t begin = at_first(where, lanes);
  const std::int64_t grown = at_first(where, behind) - begin;
  const std::int64_t bytes = second - first == 1 ? grown : grown / (second - first);
  if (begin + bytes * (last - first) != at_last(where, lanes)) return {};
  // The outermost are in place, so that those between need only be compared modulo 2^32.
  const auto base = static_cast<std::uint32_t>(begin - bytes * first);
  const auto step = static_cast<std::uint32_t>(bytes);
  std::uint32_t differing = 0;
  visit_lanes(lanes, [&](int lane) {
    const auto l = static_cast<std::uint32_t>(lane);
    differing |= where.at[l] ^ (base + step * l);
  });
  return {differing == 0, base, bytes};
}

namespace {

// No lane's bytes lie outside [begin, end) or off a multiple of `unit`: as mostly, without asking what is wrong with one.
bool all_lie_within(const Step& s, const LaneAddresses& where, const LaneStride& stride,
                    std::uint32_t unit, std::uint32_t begin, std::uint64_t end) {
  std::uint32_t lowest = ~0u, highest = 0, bits = 0;
  const auto add = [&](std::uint32_t at) {
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
    bits |= at;
  };
  if (stride.is_known) {
    add(at_first(where, s.lanes));
    add(at_last(where, s.lanes));
    bits |= static_cast<std::uint32_t>(stride.bytes);
  } else {
    s.for_each_lane([&](int lane) { add(where.at[static_cast<std::size_t>(lane)]); });
  }
  const bool is_power = (unit & (unit - 1)) == 0;
  return is_power && (bits & (unit - 1)) == 0 && lowest >= begin &&
         highest + static_cast<std::uint64_t>(where.bytes) <= end;
}

}  // namespace

bool bytes_exist(Step& s, const LaneAddresses& where, const LaneStride& stride, int alignment) {
  const auto width = static_cast<std::uint32_t>(where.bytes);
  const auto unit = alignment == 0 ? width : static_cast<std::uint32_t>(alignment);
  const SharedMemory& shared = s.c.cta(where.global ? s.warp.cta : target_cta(s, where)).shared;
  const bool is_peer = !where.global && target_cta(s, where) != s.warp.cta;
  const std::uint32_t first = is_peer ? shared_base_sm90 : shared.base();
  const std::uint64_t end =
      where.global ? s.c.global.size() : std::uint64_t{shared.base()} + shared.size();
  if (all_lie_within(s, where, stride, unit, where.global ? 0 : first, end)) return true;
  bool exist = true;
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = where.at[static_cast<std::size_t>(lane)];
    if (!exist) return;
    Fault fault = Fault::None;
    if (at % unit != 0) {
      fault = where.global ? Fault::AddressUnaligned : Fault::SharedUnaligned;
    } else if (where.global) {
      if (at > s.c.global.size() || width > s.c.global.size() - at) fault = Fault::GlobalOutOfRange;
    } else if (!shared.contains(at, width) || (is_peer && at < shared_base_sm90)) {
      fault = Fault::SharedMemoryOutOfRange;
    }
    exist = fault == Fault::None;
    if (!exist) s.fail(fault, lane, at);
  });
  return exist;
}

namespace {

// Of lanes that do not take part: far from all others.
constexpr std::uint32_t no_offset(std::uint32_t lane) { return 0x80000000u + 64 * lane; }

void describe_apart(AccessLog& log, Access& access, const LaneAddresses& where,
                    std::uint32_t lanes) {
  const std::uint32_t base = where.at[static_cast<std::size_t>(std::countr_zero(lanes))];
  AccessLog::LaneOffsets offsets;
  for (std::uint32_t lane = 0; lane < offsets.size(); ++lane)
    offsets[lane] = (lanes >> lane & 1) != 0 ? where.at[lane] - base : no_offset(lane);
  log.place(access, offsets, where.bytes);
  access.base = base;
}

}  // namespace

void describe(AccessLog& log, Access& access, const LaneAddresses& where, const LaneStride& stride,
              std::uint32_t lanes) {
  if ((lanes & (lanes - 1)) == 0) return;
  if (!stride.is_known) return describe_apart(log, access, where, lanes);
  access.base = stride.base;
  access.stride_bytes = static_cast<std::int32_t>(stride.bytes);
  access.width = static_cast<std::uint16_t>(where.bytes);
}

// --- who touched them ------------------------------------------------------------------------------

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

// Lanes that follow each other, and so do their bytes; or all have the same ones.
bool are_one_range(const LaneStride& stride, std::uint32_t lanes, std::uint32_t width) {
  const std::uint32_t lowest = lanes & (0u - lanes);
  const bool follow_each_other = ((lanes + lowest) & lanes) == 0;
  return stride.is_known && (stride.bytes == 0 || (stride.bytes == width && follow_each_other));
}

}  // namespace

bool record_lanes(Step& s, const LaneAddresses& where, const LaneStride& stride, AccessId id) {
  const int cta = target_cta(s, where);
  const auto record_range = [&](ByteRange bytes) {
    return where.global ? record_global(s, id, bytes) : record(s, id, cta, bytes);
  };
  const auto width = static_cast<std::uint32_t>(where.bytes);
  if (are_one_range(stride, s.lanes, width))
    return record_range({at_first(where, s.lanes), at_last(where, s.lanes) + width});
  return for_each_range(where, s.lanes, record_range);
}

std::uint64_t word_object(const Standing& at, const LaneAddresses& where, int lane) {
  const std::uint32_t address = where.at[static_cast<std::size_t>(lane)] & ~7u;
  if (where.global) return global_word_object(address);
  return shared_word_object(where.cta == own_cta ? at.warp.cta : where.cta, address);
}

LaneMemory::LaneMemory(ClusterState& c, int own, const LaneAddresses& where) : where_(where) {
  if (where.global) {
    data_ = c.global.bytes().data();
    return;
  }
  SharedMemory& shared = c.cta(where.cta == own_cta ? own : where.cta).shared;
  data_ = shared.data();
  base_ = shared.base();
}

}  // namespace tcq::machine
