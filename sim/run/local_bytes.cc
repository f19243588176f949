#include "sim/run/local_bytes.h"

#include <algorithm>
#include <span>

namespace tcq::run {
namespace {

std::span<LocalByte> marks_of(Executor& x, const LocalRange& range) {
  const std::size_t each = x.kernel().local_bytes;
  const auto count = static_cast<std::size_t>(range.count);
  if (range.at > each || count > each - range.at) return {};
  const std::size_t first = static_cast<std::size_t>(range.lane) * each + range.at;
  return std::span(x.state.undefined.local).subspan(first, count);
}

}  // namespace

void begin_local(const machine::ClusterState& c, WarpState& state) {
  state.undefined.local.assign(state.local.size(), LocalByte::Unwritten);
  if (c.contents) machine::fill(state.local, *c.contents);
}

void mark_local(Executor& x, const LocalRange& range, Undefined value) {
  const bool is_undefined = (value.lanes >> range.lane & 1) != 0;
  std::ranges::fill(marks_of(x, range), is_undefined ? LocalByte::Filled : LocalByte::Defined);
  const Undefined held{machine::all_lanes, x.state.undefined.local_from};
  if (is_undefined) x.state.undefined.local_from = both(x, value, held).from;
}

std::optional<std::uint32_t> local_from(Executor& x, const LocalRange& range) {
  const auto marks = marks_of(x, range);
  const auto holds = [&](LocalByte byte) { return std::ranges::find(marks, byte) != marks.end(); };
  if (holds(LocalByte::Filled)) return x.state.undefined.local_from;
  if (holds(LocalByte::Unwritten)) return read_here(x, Fault::LocalUninitialized, 1u << range.lane);
  return std::nullopt;
}

}  // namespace tcq::run
