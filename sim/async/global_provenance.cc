#include "sim/async/global_provenance.h"

#include <algorithm>

#include "sim/machine/tma.h"

namespace tcq::machine {
namespace {

constexpr std::int64_t word_bytes = 4;
// An offset that no stride of a thread brings back into memory.
constexpr std::int64_t far = std::int64_t{1} << 41;

// Collects what the statements of one segment may write.
class Writes {
 public:
  explicit Writes(const Program& program)
      : program_(program), size_(program.initial_global().size()) {}

  void enter(const Segment& segment) { last_thread_ = segment.warps * warp_threads - 1; }

  void operator()(const StoreGlobal& i) {
    const std::int64_t first = std::clamp(static_cast<std::int64_t>(i.offset), -far, far);
    const std::int64_t last = saturated(first, i.stride_bytes);
    add(std::min(first, last), std::max(first, last) + word_bytes * i.regs.count);
  }
  void operator()(const BulkStore& i) { add_bulk(i.to, i.bytes); }
  void operator()(const BulkReduce& i) { add_bulk(i.to, i.bytes); }
  void operator()(const TensorStore& i) { maps_.push_back(i.map); }
  void operator()(const TensorReduce& i) { maps_.push_back(i.map); }
  void operator()(const TensormapReplace& i) { patches_.push_back(&i); }
  void operator()(const auto&) {}

  std::vector<ByteRange> take() {
    std::sort(maps_.begin(), maps_.end());
    maps_.erase(std::unique(maps_.begin(), maps_.end()), maps_.end());
    for (const int map : maps_) {
      add_tensor(program_.maps()[static_cast<std::size_t>(map)]);
      for (const TensormapReplace* patch : patches_)
        if (patch->map == map) add_tensor(patch->value);
    }
    return merged();
  }

 private:
  // Where the last thread of the role stores; accesses outside of memory are Faults of their own.
  std::int64_t saturated(std::int64_t first, std::int64_t stride) const {
    const auto limit = static_cast<std::int64_t>(max_global_bytes);
    return first + std::clamp(stride, -limit, limit) * last_thread_;
  }
  void add(std::int64_t begin, std::int64_t end) {
    const auto size = static_cast<std::int64_t>(size_);
    begin = std::clamp<std::int64_t>(begin, 0, size);
    end = std::clamp<std::int64_t>(end, 0, size);
    if (begin < end)
      ranges_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }
  void add_bulk(std::uint64_t to, std::uint32_t bytes) {
    if (to < size_) add(static_cast<std::int64_t>(to), static_cast<std::int64_t>(to + bytes));
  }
  void add_tensor(const tma::TensorMap& map) {
    const tma::GlobalRun bytes = tma::hull(map, size_);
    add(static_cast<std::int64_t>(bytes.begin), static_cast<std::int64_t>(bytes.end));
  }
  std::vector<ByteRange> merged() {
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

  const Program& program_;
  std::uint64_t size_;
  std::int64_t last_thread_ = 0;
  std::vector<ByteRange> ranges_;
  std::vector<int> maps_;
  std::vector<const TensormapReplace*> patches_;
};

}  // namespace

std::vector<ByteRange> global_writes(const Program& program) {
  Writes writes(program);
  for (const Segment& segment : program.segments()) {
    writes.enter(segment);
    for (const Statement& statement : segment.statements) std::visit(writes, statement.what);
  }
  return writes.take();
}

bool GlobalProvenance::may_be_written(ByteRange range) const {
  const auto behind =
      std::upper_bound(writes_.begin(), writes_.end(), range.begin,
                       [](std::uint32_t at, const ByteRange& r) { return at < r.end; });
  return behind != writes_.end() && behind->begin < range.end;
}

Conflict GlobalProvenance::record(ByteRange range, AccessId access, const Knowledge& knows,
                                  AccessLog& log, const Streams& streams) {
  Conflict mild;
  for (std::uint32_t begin = range.begin; begin < range.end;) {
    const std::uint32_t number = begin / page_bytes;
    const std::uint32_t end = std::min(range.end, (number + 1) * page_bytes);
    const auto [page, fresh] =
        pages_.try_emplace(number, number * page_bytes, page_bytes, Provenance::AtLaunch::Data);
    const Conflict conflict = page->second.record({begin, end}, access, knows, log, streams);
    if (!is_recorded(conflict.verdict)) return conflict;
    if (conflict.verdict > mild.verdict) mild = conflict;
    begin = end;
  }
  return mild;
}

std::size_t GlobalProvenance::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [number, page] : pages_) bytes += sizeof page + page.bytes();
  return bytes;
}

}  // namespace tcq::machine
