#include "sim/run/read_only.h"

#include <algorithm>

namespace tcq::run {
namespace {

Fault fault_of(const ptx::Form& form) {
  return form.get<ptx::L1Evict>() == ptx::L1Evict::NoAllocate ? Fault::ReadOnlyWrittenUncached
                                                              : Fault::ReadOnlyWritten;
}

machine::ByteRange range_at(std::uint64_t address, int bytes) {
  const auto begin = static_cast<std::uint32_t>(address - global_window);
  return {begin, begin + static_cast<std::uint32_t>(bytes)};
}

// All of the lanes' bytes and what lies between, asked at once, as lanes mostly load side by side. False: it is not known.
bool are_unwritten(const Executor& x, const ptx::Value& address, int bytes) {
  constexpr std::uint32_t near = 2048;
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t at = x.address(address, lane);
    lowest = std::min(lowest, at);
    highest = std::max(highest, at);
  });
  if (!in_window(lowest, global_window) || highest - lowest > near) return false;
  const machine::ByteRange all{range_at(lowest, 0).begin, range_at(highest, bytes).end};
  return x.c.global_provenance.first_written(all) == all.end && !x.c.global.was_written(all);
}

}  // namespace

void demand_read_only(Executor& x, int bytes) {
  const ptx::Value& address = x.value(1);
  if (are_unwritten(x, address, bytes)) return;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t at = x.address(address, lane);
    if (x.c.finding || !in_window(at, global_window)) return;
    const machine::ByteRange range = range_at(at, bytes);
    const std::uint32_t written = x.c.global_provenance.first_written(range);
    if (written == range.end && !x.c.global.was_written(range)) return;
    machine::Finding found{.fault = fault_of(x.form()), .at = {x.number(), x.warp.number, lane}};
    found.cta = machine::global_memory;
    found.bytes = range;
    if (written != range.end) {
      const machine::Access& writer = x.c.log[x.c.global_provenance.writer(written)];
      found.earlier = {writer.statement, writer.warp, -1};
      found.earlier_kind = writer.kind;
    }
    x.c.stops_at(std::move(found));
  });
}

}  // namespace tcq::run
