#include "sim/run/heap.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "sim/run/local_bytes.h"

namespace tcq::run {
namespace {

// Of a granule: how many of its bytes belong to a block, and what else. None: 0.
constexpr std::uint8_t held = 0x1f, begins = 0x40, freed = 0x80;

using ptx::Value;
using ptx::ValueKind;

class Heap {
 public:
  explicit Heap(Executor& x) : x_(x), begin_(*x.kernel().heap) {}

  // A generic address; none: not modelled.
  std::optional<std::uint64_t> take(std::uint64_t size) {
    if (size > heap_room) return 0;
    const std::uint64_t granules = std::max<std::uint64_t>(1, rounded(size));
    const std::uint64_t first = taken(), end = first + granules + 1;  // and one between two blocks
    if (end > heap_granules) return std::nullopt;
    write(0, &end, sizeof end);
    for (std::uint64_t g = 0; g < granules; ++g) {
      const auto inside = std::min(heap_granule, size - std::min(size, g * heap_granule));
      set_state(first + g, static_cast<std::uint8_t>(inside | (g == 0 ? begins : 0)));
    }
    const std::vector<std::uint8_t> bytes(granules * heap_granule, 0xcd);
    write(heap_blocks + first * heap_granule, bytes.data(), bytes.size());
    return global_window + begin_ + heap_blocks + first * heap_granule;
  }

  // False: no block in use begins there.
  bool give(std::uint64_t address) {
    const std::uint64_t at = address - global_window - begin_ - heap_blocks;
    if (at >= heap_room || at % heap_granule != 0) return false;
    std::uint64_t g = at / heap_granule;
    if ((state(g) & (begins | freed)) != begins) return false;
    do {
      set_state(g, state(g) | freed);
    } while (++g < heap_granules && state(g) != 0);
    return true;
  }

 private:
  static std::uint64_t rounded(std::uint64_t size) {
    return (size + heap_granule - 1) / heap_granule;
  }
  std::uint64_t taken() const {
    std::uint64_t count = 0;
    std::memcpy(&count, x_.c.global.bytes().data() + begin_, sizeof count);
    return count;
  }
  std::uint8_t state(std::uint64_t granule) const {
    return x_.c.global.bytes()[begin_ + heap_states + granule];
  }
  void set_state(std::uint64_t granule, int to) {
    const auto byte = static_cast<std::uint8_t>(to);
    write(heap_states + granule, &byte, 1);
  }
  void write(std::uint64_t at, const void* from, std::size_t count) {
    const auto first = static_cast<std::uint32_t>(begin_ + at);
    x_.c.global.keep({first, first + static_cast<std::uint32_t>(count)});
    std::memcpy(x_.c.global.bytes().data() + first, from, count);
  }

  Executor& x_;
  std::uint64_t begin_;
};

// Where in local memory a list has a variable for a call.
std::uint64_t local_at(const Executor& x, const Value& list) {
  return x.kernel().variables[x.item(list, 0).index].address - local_window;
}
std::uint8_t* argument(Executor& x, const Value& list, int lane) {
  return x.state.local.data() + static_cast<std::size_t>(lane) * x.kernel().local_bytes +
         local_at(x, list);
}

void give_result(Executor& x, std::uint64_t block, int lane) {
  std::memcpy(argument(x, x.value(0), lane), &block, sizeof block);
  mark_local(x, {lane, local_at(x, x.value(0)), static_cast<int>(sizeof block)}, {});
}

}  // namespace

void call_heap(Executor& x) {
  Heap heap(x);
  const bool takes = x.value(0).kind == ValueKind::List;
  x.for_each_lane(x.group.active, [&](int lane) {
    if (x.c.finding) return;
    std::uint64_t number = 0;
    std::memcpy(&number, argument(x, x.value(takes ? 2 : 1), lane), sizeof number);
    if (!takes) {
      if (number != 0 && !heap.give(number))
        x.fail(Fault::HeapBlockMissing, lane, static_cast<std::int64_t>(number));
      return;
    }
    const auto block = heap.take(number);
    if (!block) return x.fail(Fault::UnmodelledInstruction, lane);
    give_result(x, *block, lane);
  });
}

bool are_in_block(const Executor& x, std::uint64_t offset, std::uint64_t bytes) {
  const auto& heap = x.kernel().heap;
  if (!heap || offset + bytes <= *heap || offset >= *heap + heap_bytes) return true;
  if (offset < *heap + heap_blocks) return false;
  for (std::uint64_t at = offset - *heap - heap_blocks, end = at + bytes; at < end;) {
    if (at >= heap_room) return false;
    const std::uint64_t granule = at / heap_granule;
    const std::uint64_t behind = std::min(end, (granule + 1) * heap_granule);
    const std::uint8_t state = x.c.global.bytes()[*heap + heap_states + granule];
    if ((state & freed) != 0 || behind - granule * heap_granule > (state & held)) return false;
    at = behind;
  }
  return true;
}

}  // namespace tcq::run
