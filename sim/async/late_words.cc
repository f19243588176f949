#include "sim/async/late_words.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/async/instructions/lanes.h"
#include "sim/async/step.h"

namespace tcq::machine {
namespace {

constexpr std::size_t most_writes = 8;  // of a word, the youngest
constexpr std::size_t most_looks = 8;   // that are noted
constexpr std::uint32_t word_bytes = 8;

std::uint32_t offset_of(const LaneAtomic& i, int lane) {
  return i.where.at[static_cast<std::size_t>(lane)];
}
std::uint64_t object_of(const LaneAtomic& i, int lane) {
  return global_word_object(offset_of(i, lane) & ~(word_bytes - 1));
}

std::uint32_t halves_at(std::uint32_t offset, int bytes) {
  const std::uint32_t begin = offset % word_bytes;
  const std::uint32_t end = begin + static_cast<std::uint32_t>(bytes);
  return (begin < 4 ? 1u : 0u) | (end > 4 ? 2u : 0u);
}

// Those of the word that memory has.
std::array<std::uint8_t, 8> bytes_now(const ClusterState& c, std::uint32_t offset) {
  std::array<std::uint8_t, 8> now = {};
  const std::vector<std::uint8_t>& all = c.global.bytes();
  const std::size_t begin = offset & ~(word_bytes - 1);
  std::memcpy(now.data(), all.data() + begin,
              std::min<std::size_t>(word_bytes, all.size() - begin));
  return now;
}

bool is_known(const Step& s, const EarlierWord& e) { return s.warp.clock.at(e.stream) >= e.tick; }

// Somebody who knew of the write wrote a word that the thread has found since.
bool is_told(const Step& s, const EarlierWord& e) {
  return std::max(s.warp.told.at(e.stream), s.warp.lost.at(e.stream)) >= e.tick;
}

// Whoever told of the write released it: what is missing is an acquire.
bool is_released(const Step& s, const EarlierWord& e) {
  return s.warp.read_since_fence.handed.at(e.stream) >= e.tick;
}

// The oldest write to the halves that the thread has been told of and does not know, and no younger one is known.
const EarlierWord* oldest_told(const Step& s, const std::deque<EarlierWord>& before,
                               std::uint32_t halves) {
  const EarlierWord* told = nullptr;
  for (auto e = before.rbegin(); e != before.rend(); ++e) {
    if ((e->halves & halves) == 0) continue;
    if (is_known(s, *e)) break;
    if (is_told(s, *e)) told = &*e;
  }
  return told;
}

// The halves before that write and all behind it.
void undo(const std::deque<EarlierWord>& before, const EarlierWord& first, std::uint32_t halves,
          std::array<std::uint8_t, 8>& bytes) {
  for (auto e = before.rbegin(); e != before.rend(); ++e) {
    for (std::size_t half = 0; half < 2; ++half)
      if ((e->halves & halves & 1u << half) != 0)
        std::copy_n(e->bytes.begin() + 4 * half, 4, bytes.begin() + 4 * half);
    if (&*e == &first) return;
  }
}

// Finding::number: 1 if the write was released.
void note_look(Step& s, const LaneAtomic& i, int lane, const EarlierWord& write) {
  std::vector<Finding>& looks = s.c.late_words.looks;
  const bool is_noted = std::any_of(looks.begin(), looks.end(), [&](const Finding& look) {
    return look.at.statement == s.number;
  });
  if (is_noted || looks.size() >= most_looks) return;
  const std::uint32_t at = offset_of(i, lane);
  looks.push_back({.fault = Fault::MemoryFenceMissing,
                   .at = s.place(lane),
                   .earlier = write.by,
                   .at_kind = AccessKind::Load,
                   .earlier_kind = AccessKind::Store,
                   .cta = global_memory,
                   .bytes = {at, at + static_cast<std::uint32_t>(i.where.bytes)},
                   .number = is_released(s, write) ? 1 : 0});
}

// The look that was late comes back to its word.
void note_repetition(Step& s, const LaneAtomic& i) {
  LateWords& words = s.c.late_words;
  if (words.has_acted || words.late->statement != s.number || words.late->warp != s.warp.number)
    return;
  s.for_each_lane([&](int lane) {
    const auto& objects = words.late_objects;
    if (std::find(objects.begin(), objects.end(), object_of(i, lane)) != objects.end())
      words.is_repeated = true;
  });
}

}  // namespace

void tell(const Step& s, Clock& told) {
  told.join(s.warp.told);
  told.join(s.warp.clock);
  told.join(s.warp.lost);
}

void note_write(Step& s, const LaneAtomic& i, const std::vector<Touch>& touched) {
  if (!i.where.global) return;
  note_act(s.c.late_words, s.warp.number);
  if (i.where.bytes > static_cast<int>(word_bytes)) return;
  const Streams& streams = s.c.streams;
  s.for_each_lane([&](int lane) {
    const std::uint64_t object = object_of(i, lane);
    const std::uint32_t halves = halves_at(offset_of(i, lane), i.where.bytes);
    const Streams::Seen seen = streams.seen_at(object);
    const bool is_one = touched.size() == 1;
    const Stream stream = is_one ? seen.word : s.c.streams.scattered();
    const Tick tick = is_one ? seen.writes : seen.scattered;
    std::deque<EarlierWord>& before = s.c.late_words.before[object];
    if (!before.empty() && before.back().stream == stream && before.back().tick == tick) {
      before.back().halves |= halves;  // of another lane
      return;
    }
    before.push_back({stream, tick, s.place(lane), halves, bytes_now(s.c, offset_of(i, lane))});
    if (before.size() > most_writes) before.pop_front();
  });
}

LateLook late_look(Step& s, const LaneAtomic& i) {
  LateLook look;
  LateWords& words = s.c.late_words;
  if (!i.where.global || i.update != nullptr || i.where.bytes > static_cast<int>(word_bytes))
    return look;
  if (words.late) return note_repetition(s, i), look;
  const bool is_told_anything = s.warp.told.size() != 0 || s.warp.lost.size() != 0;
  if (words.before.empty() || !is_told_anything) return look;
  s.for_each_lane([&](int lane) {
    const auto before = words.before.find(object_of(i, lane));
    if (before == words.before.end()) return;
    const std::uint32_t at = offset_of(i, lane);
    const std::uint32_t halves = halves_at(at, i.where.bytes);
    const EarlierWord* first = oldest_told(s, before->second, halves);
    if (first == nullptr) return;
    const std::array<std::uint8_t, 8> now = bytes_now(s.c, at);
    std::array<std::uint8_t, 8>& earlier = look.bytes[static_cast<std::size_t>(lane)];
    earlier = now;
    undo(before->second, *first, halves, earlier);
    if (earlier == now) return;
    look.lanes |= 1u << lane;
    note_look(s, i, lane, *first);
  });
  if (words.late_at != std::int64_t{s.number} || look.lanes == 0) return {};
  words.late = s.place(std::countr_zero(look.lanes));
  for (std::uint32_t rest = look.lanes; rest != 0; rest &= rest - 1)
    words.late_objects.push_back(object_of(i, std::countr_zero(rest)));
  return look;
}

}  // namespace tcq::machine
