#include "sim/async/global_provenance.h"

#include <algorithm>
#include <variant>

#include "sim/machine/tma.h"

namespace tcq::machine {

// Accesses outside of memory are Faults of their own: neither offsets nor strides leave these bounds.
void GlobalWrites::add_strided(std::uint64_t offset, std::int64_t stride_bytes,
                               std::int64_t bytes) {
  constexpr std::int64_t far = std::int64_t{1} << 41;  // no stride of a thread brings it back
  constexpr auto limit = static_cast<std::int64_t>(max_global_bytes);
  const std::int64_t first = std::clamp(static_cast<std::int64_t>(offset), -far, far);
  const std::int64_t last = first + std::clamp(stride_bytes, -limit, limit) * last_thread_;
  add(std::min(first, last), std::max(first, last) + bytes);
}

void GlobalWrites::add_bulk(std::uint64_t to, std::uint32_t bytes) {
  if (to < size_) add(static_cast<std::int64_t>(to), static_cast<std::int64_t>(to + bytes));
}

void GlobalWrites::add(std::int64_t begin, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(size_);
  begin = std::clamp<std::int64_t>(begin, 0, size);
  end = std::clamp<std::int64_t>(end, 0, size);
  if (begin < end)
    ranges_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

void GlobalWrites::add_map(const tma::TensorMap& map) {
  const tma::GlobalRun bytes = tma::hull(map, size_);
  add(static_cast<std::int64_t>(bytes.begin), static_cast<std::int64_t>(bytes.end));
}

std::vector<ByteRange> GlobalWrites::take() {
  std::sort(maps_.begin(), maps_.end());
  maps_.erase(std::unique(maps_.begin(), maps_.end()), maps_.end());
  for (const int map : maps_) {
    add_map(program_.maps()[static_cast<std::size_t>(map)]);
    for (const Patch& patch : patches_)
      if (patch.map == map) add_map(*patch.value);
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const ByteRange& x, const ByteRange& y) { return x.begin < y.begin; });
  std::vector<ByteRange> apart;
  for (const ByteRange& range : ranges_) {
    if (!apart.empty() && range.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, range.end);
    else
      apart.push_back(range);
  }
  return apart;
}

std::vector<ByteRange> global_writes(const Program& program) {
  GlobalWrites writes(program);
  for (const Segment& segment : program.segments()) {
    writes.enter(segment);
    for (const Statement& statement : segment.statements)
      std::visit([&](const auto& i) { i.writes_global(writes); }, statement.what);
  }
  return writes.take();
}

bool GlobalProvenance::may_be_written(ByteRange range) const {
  const auto behind =
      std::upper_bound(writes_.begin(), writes_.end(), range.begin,
                       [](std::uint32_t at, const ByteRange& r) { return at < r.end; });
  return behind != writes_.end() && behind->begin < range.end;
}

namespace {

// visit(number of the page, range in it). The first conflict that is not recorded ends it; else the worst.
template <class Visit>
Conflict worst_of_pages(ByteRange range, Visit visit) {
  constexpr std::uint32_t page_bytes = GlobalProvenance::page_bytes;
  Conflict mild;
  for (std::uint32_t begin = range.begin; begin < range.end;) {
    const std::uint32_t number = begin / page_bytes;
    const std::uint32_t end = std::min(range.end, (number + 1) * page_bytes);
    const Conflict conflict = visit(number, ByteRange{begin, end});
    if (!is_recorded(conflict.verdict)) return conflict;
    if (conflict.verdict > mild.verdict) mild = conflict;
    begin = end;
  }
  return mild;
}

}  // namespace

Conflict GlobalProvenance::record(ByteRange range, AccessId access, const Knowledge& knows,
                                  AccessLog& log, const Streams& streams) {
  return worst_of_pages(range, [&](std::uint32_t number, ByteRange part) {
    const auto [page, fresh] =
        pages_.try_emplace(number, number * page_bytes, page_bytes, Provenance::AtLaunch::Data);
    return page->second.record(part, access, knows, log, streams);
  });
}

Conflict GlobalProvenance::check(ByteRange range, AccessId access, const Knowledge& knows,
                                 const AccessLog& log, const Streams& streams) const {
  return worst_of_pages(range, [&](std::uint32_t number, ByteRange part) {
    const auto page = pages_.find(number);
    return page == pages_.end() ? Conflict{}
                                : page->second.check(part, access, knows, log, streams);
  });
}

AccessId GlobalProvenance::writer(std::uint32_t offset) const {
  const auto page = pages_.find(offset / page_bytes);
  return page == pages_.end() ? 0 : page->second.writer(offset);
}

std::uint32_t GlobalProvenance::first_written(ByteRange range) const {
  for (std::uint32_t begin = range.begin; begin < range.end;) {
    const std::uint32_t end = std::min(range.end, (begin / page_bytes + 1) * page_bytes);
    const auto page = pages_.find(begin / page_bytes);
    const std::uint32_t at = page == pages_.end() ? end : page->second.first_written({begin, end});
    if (at != end) return at;
    begin = end;
  }
  return range.end;
}

std::size_t GlobalProvenance::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [number, page] : pages_) bytes += sizeof page + page.bytes();
  return bytes;
}

}  // namespace tcq::machine
