#include "sim/async/late_words.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/async/instructions/lane_bytes.h"
#include "sim/async/instructions/lanes.h"
#include "sim/async/step.h"

namespace tcq::machine {
namespace {

constexpr std::size_t most_writes = 8;  // of a word, the youngest
constexpr std::size_t most_looks = 8;   // that are noted
constexpr std::uint32_t word_bytes = 8;

std::uint64_t object_of(const Step& s, const LaneAtomic& i, int lane) {
  return word_object(s.standing(), i.where, lane);
}
std::uint32_t offset_of(const LaneAtomic& i, int lane) {
  return i.where.at[static_cast<std::size_t>(lane)];
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

// The oldest write that the thread has been told of and does not know, and no younger one is known.
const EarlierWord* oldest_told(const Step& s, const std::deque<EarlierWord>& before) {
  const EarlierWord* told = nullptr;
  for (auto e = before.rbegin(); e != before.rend() && !is_known(s, *e); ++e)
    if (is_told(s, *e)) told = &*e;
  return told;
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

// What was there before several words of a lane, which are not followed, is not found any more.
void forget(Step& s, const LaneAtomic& i) {
  s.for_each_lane([&](int lane) {
    for (int begin = 0; begin < i.where.bytes; begin += static_cast<int>(word_bytes))
      s.c.late_words.before.erase(
          global_word_object(offset_of(i, lane) + static_cast<std::uint32_t>(begin)));
  });
}

// The look that was late comes back to its word.
void note_repetition(Step& s, const LaneAtomic& i) {
  LateWords& words = s.c.late_words;
  if (words.has_acted || words.late->statement != s.number || words.late->warp != s.warp.number)
    return;
  s.for_each_lane([&](int lane) {
    const auto& objects = words.late_objects;
    if (std::find(objects.begin(), objects.end(), object_of(s, i, lane)) != objects.end())
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
  if (i.where.bytes > static_cast<int>(word_bytes)) return forget(s, i);
  const Streams& streams = s.c.streams;
  s.for_each_lane([&](int lane) {
    const std::uint64_t object = object_of(s, i, lane);
    const Streams::Seen seen = streams.seen_at(object);
    const bool is_one = touched.size() == 1;
    const Stream stream = is_one ? seen.word : s.c.streams.scattered();
    const Tick tick = is_one ? seen.writes : seen.scattered;
    std::deque<EarlierWord>& before = s.c.late_words.before[object];
    const bool is_of_another_lane =
        !before.empty() && before.back().stream == stream && before.back().tick == tick;
    if (is_of_another_lane) return;
    before.push_back({stream, tick, s.place(lane), bytes_now(s.c, offset_of(i, lane))});
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
    const auto before = words.before.find(object_of(s, i, lane));
    if (before == words.before.end()) return;
    const EarlierWord* first = oldest_told(s, before->second);
    if (first == nullptr) return;
    const std::array<std::uint8_t, 8> now = bytes_now(s.c, offset_of(i, lane));
    const std::size_t begin = offset_of(i, lane) % word_bytes;
    const auto width = static_cast<std::size_t>(i.where.bytes);
    if (std::memcmp(&first->bytes[begin], &now[begin], width) == 0) return;
    std::memcpy(look.bytes[static_cast<std::size_t>(lane)].data(), &first->bytes[begin], width);
    look.lanes |= 1u << lane;
    note_look(s, i, lane, *first);
  });
  if (words.late_at != std::int64_t{s.number} || look.lanes == 0) return {};
  words.late = s.place(std::countr_zero(look.lanes));
  for (std::uint32_t rest = look.lanes; rest != 0; rest &= rest - 1)
    words.late_objects.push_back(object_of(s, i, std::countr_zero(rest)));
  return look;
}

}  // namespace tcq::machine
