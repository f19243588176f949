#include "sim/async/instructions/global.h"

#include <bit>
#include <cstring>

#include "sim/async/access.h"
#include "sim/async/register_file.h"

namespace tcq::machine {
namespace {

constexpr std::int64_t word_bytes = 4;

// The bytes of all lanes; false if a lane's lie outside, or are not ordered.
bool global_access(Step& s, AccessKind kind, std::uint64_t offset, std::int64_t stride,
                   RegisterRange regs, AccessId& id) {
  const std::int64_t bytes = word_bytes * regs.count;
  const auto size = static_cast<std::int64_t>(s.c.global.size());
  const auto begin_of = [&](int lane) {
    return static_cast<std::int64_t>(offset) + stride * s.thread_of(lane);
  };
  bool fine = true;
  s.for_each_lane([&](int lane) {
    const std::int64_t begin = begin_of(lane);
    if (!fine || (begin >= 0 && begin <= size - bytes)) return;
    s.fail(Fault::GlobalOutOfRange, lane);
    fine = false;
  });
  if (!fine) return false;
  Access access = generic_access(s, kind);
  if (std::popcount(s.lanes) > 1) {  // so that the stride fits, as all lanes lie inside
    access.base = static_cast<std::uint32_t>(begin_of(0));
    access.stride_bytes = static_cast<std::int32_t>(stride);
    access.width = static_cast<std::uint16_t>(bytes);
  }
  const auto range = [&](int first, int last) {
    return ByteRange{static_cast<std::uint32_t>(begin_of(first)),
                     static_cast<std::uint32_t>(begin_of(last) + bytes)};
  };
  id = s.c.log.add(access);
  if (s.lanes == all_lanes && stride == bytes)
    return record_global(s, id, range(0, warp_threads - 1));
  s.for_each_lane([&](int lane) { fine = fine && record_global(s, id, range(lane, lane)); });
  return fine;
}

template <class Visit>
void for_each_global_word(Step& s, std::uint64_t offset, std::int64_t stride, RegisterRange regs,
                          Visit visit) {
  s.for_each_lane([&](int lane) {
    const std::int64_t begin = static_cast<std::int64_t>(offset) + stride * s.thread_of(lane);
    for (int r = 0; r < regs.count; ++r)
      visit(s.reg(regs.first + r)[static_cast<std::size_t>(lane)],
            s.c.global.bytes()[static_cast<std::size_t>(begin + word_bytes * r)]);
  });
}

}  // namespace

void StoreGlobal::writes_global(GlobalWrites& writes) const {
  writes.add_strided(offset, stride_bytes, word_bytes * regs.count);
}

std::string LoadGlobal::text(const Names&) const {
  return joined("ld.global.b32 ", text_of(regs), ", [", hex(offset), "]");
}
std::string StoreGlobal::text(const Names&) const {
  return joined("st.global.b32 [", hex(offset), "], ", text_of(regs));
}

void LoadGlobal::execute(Step& s) const {
  AccessId id = 0;
  if (!writes(s, regs)) return;
  if (!global_access(s, AccessKind::Load, offset, stride_bytes, regs, id)) return;
  note_loaded(s, id, regs);
  for_each_global_word(s, offset, stride_bytes, regs, [](std::uint32_t& word, std::uint8_t& byte) {
    std::memcpy(&word, &byte, sizeof word);
  });
}

void StoreGlobal::execute(Step& s) const {
  AccessId id = 0;
  if (!reads(s, regs)) return;
  if (!global_access(s, AccessKind::Store, offset, stride_bytes, regs, id)) return;
  for_each_global_word(s, offset, stride_bytes, regs, [](std::uint32_t& word, std::uint8_t& byte) {
    std::memcpy(&byte, &word, sizeof word);
  });
}

}  // namespace tcq::machine
