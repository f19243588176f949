#include "sim/run/read_only.h"

namespace tcq::run {
namespace {

Fault fault_of(const ptx::Form& form) {
  return form.get<ptx::L1Evict>() == ptx::L1Evict::NoAllocate ? Fault::ReadOnlyWrittenUncached
                                                              : Fault::ReadOnlyWritten;
}

}  // namespace

void demand_read_only(Executor& x, int bytes) {
  const ptx::Value& address = x.value(1);
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t at = x.address(address, lane);
    if (x.c.finding || !in_window(at, global_window)) return;
    const auto begin = static_cast<std::uint32_t>(at - global_window);
    const machine::ByteRange range{begin, begin + static_cast<std::uint32_t>(bytes)};
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
