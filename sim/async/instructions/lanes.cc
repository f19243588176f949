#include "sim/async/instructions/lanes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>

#include "sim/async/access.h"
#include "sim/async/instructions/lane_bytes.h"
#include "sim/async/lane_sync.h"
#include "sim/async/late_words.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/async/register_file.h"
#include "sim/async/unused_loads.h"
#include "sim/machine/matrix.h"

namespace tcq::machine {
namespace {

bool may_reach(Step& s, const LaneAddresses& where) {
  if (where.global) return true;
  const int cta = target_cta(s, where);
  return reach_cta(s, cta, s.first_lane()) && has_started(s, cta, s.first_lane());
}

const char* space(const LaneAddresses& where) { return where.global ? "global" : "shared"; }

}  // namespace

// --- ld, st ----------------------------------------------------------------------------------------

std::string LaneAccess::text(const Names&) const {
  return joined(stores ? "st." : "ld.", space(where), ".b", 8 * where.bytes);
}

namespace {

// visit(bytes of a lane) as a constant where it is a usual number of them: then nothing is called for a lane.
template <class Visit>
auto with_width(int bytes, Visit visit) {
  switch (bytes) {
    case 4: return visit(std::integral_constant<std::size_t, 4>{});
    case 8: return visit(std::integral_constant<std::size_t, 8>{});
    case 16: return visit(std::integral_constant<std::size_t, 16>{});
    default: return visit(static_cast<std::size_t>(bytes));
  }
}

// The bytes are there already, in all lanes.
bool holds(const Step& s, const LaneAddresses& where, const LaneBytes& data, int begin) {
  const LaneMemory memory(s.c, s.warp.cta, where);
  return with_width(where.bytes, [&](auto width) {
    for (std::uint32_t rest = s.lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const std::uint8_t* const value = data[static_cast<std::size_t>(lane)].data() + begin;
      if (std::memcmp(memory.at(lane), value, width) != 0) return false;
    }
    return true;
  });
}

// No two lanes have bytes in common.
bool are_apart(const Access& access, const LaneAddresses& where) {
  const auto width = static_cast<std::uint32_t>(where.bytes);
  const bool strided = access.table == nullptr;
  return access.width == 0 ||  // one lane
         (strided ? static_cast<std::uint32_t>(std::abs(access.stride_bytes)) >= width
                  : !access.shares_bytes);
}

// The store would leave the bytes as they are, one lane after the other: replicas of a warp store what its own lanes disagree on.
bool leaves(const Step& s, const LaneAddresses& where, const LaneBytes& data, int begin) {
  const auto width = static_cast<std::size_t>(where.bytes);
  const LaneMemory memory(s.c, s.warp.cta, where);
  LaneBytes before;
  const auto each = [&](auto visit) {
    s.for_each_lane([&](int lane) { visit(memory.at(lane), static_cast<std::size_t>(lane)); });
  };
  each([&](std::uint8_t* at, std::size_t lane) { std::memcpy(before[lane].data(), at, width); });
  each([&](std::uint8_t* at, std::size_t lane) {
    std::memcpy(at, data[lane].data() + begin, width);
  });
  bool same = true;
  each([&](std::uint8_t* at, std::size_t lane) {
    same = same && std::memcmp(before[lane].data(), at, width) == 0;
  });
  each([&](std::uint8_t* at, std::size_t lane) { std::memcpy(at, before[lane].data(), width); });
  return same;
}

// Two lanes of one store have bytes in common and other values for them: who wins is open. False: that ends it.
bool stores_agree(Step& s, const Access& access, const LaneAddresses& where, const LaneBytes& data,
                  int begin) {
  const auto width = static_cast<std::uint32_t>(where.bytes);
  if (are_apart(access, where)) return true;
  for (std::uint32_t rest = s.lanes; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const std::uint32_t first = where.at[static_cast<std::size_t>(i)];
    for (std::uint32_t others = rest & (rest - 1); others != 0; others &= others - 1) {
      const int j = std::countr_zero(others);
      const std::uint32_t second = where.at[static_cast<std::size_t>(j)];
      for (std::uint32_t at = std::max(first, second); at < std::min(first, second) + width; ++at) {
        const std::uint32_t place = at + static_cast<std::uint32_t>(begin);
        if (data[static_cast<std::size_t>(i)][place - first] ==
            data[static_cast<std::size_t>(j)][place - second])
          continue;
        return !s.c.stops_at({.fault = Fault::LaneStoresDiffer,
                              .at = s.place(j),
                              .earlier = s.place(i),
                              .at_kind = AccessKind::Store,
                              .earlier_kind = AccessKind::Store,
                              .cta = where.global ? global_memory : target_cta(s, where),
                              .bytes = {at, at + 1}});
      }
    }
  }
  return true;
}

// Nothing: it was a Fault.
std::optional<AccessId> record_access(Step& s, const LaneAccess& i, const LaneStride& stride) {
  Access access = generic_access(s, i.stores ? AccessKind::Store : AccessKind::Load);
  describe(s.c.log, access, i.where, stride, s.lanes);
  note_lanes(s, access);
  access.is_followed = i.is_followed;
  access.is_vector = i.where.bytes == vector_bytes;
  if (i.loaded.empty()) access.loaded = Loaded::Lost;  // nobody asks when its values are used
  access.rewrites =
      i.stores && (holds(s, i.where, *i.data, i.begin) ||
                   (!are_apart(access, i.where) && leaves(s, i.where, *i.data, i.begin)));
  if (i.stores) access.operation = i.source;
  if (i.stores && !stores_agree(s, access, i.where, *i.data, i.begin)) return std::nullopt;
  const AccessId id = s.c.log.add(access);
  if (!record_lanes(s, i.where, stride, id)) return std::nullopt;
  return id;
}

// Lanes of a load that are left out of all orders: followed from now on.
std::uint32_t leave_lanes_out(Step& s, const LaneAccess& i) {
  if (i.stores || !i.is_followed || s.c.racing_loads.empty()) return 0;
  const int cta = i.where.global ? global_memory : target_cta(s, i.where);
  const auto width = static_cast<std::uint32_t>(i.where.bytes);
  return leave_out(s, cta, i.where.at, width, s.lanes);
}

}  // namespace

void LaneAccess::execute(Step& s) const {
  LaneStride stride = stride_of(where, s.lanes);
  if (!may_reach(s, where) || !bytes_exist(s, where, stride)) return;
  if (stores && where.global) note_act(s.c.late_words, s.warp.number);
  Step ordered = s;
  ordered.lanes &= ~leave_lanes_out(s, *this);
  if (ordered.lanes != 0) {
    if (ordered.lanes != s.lanes) stride = stride_of(where, ordered.lanes);
    const auto id = record_access(ordered, *this, stride);
    if (!id) return;
    add_undefined(s.c, *id, undefined);
    if (!stores) note_loaded(ordered, *id, loaded);
  }
  const LaneMemory memory(s.c, s.warp.cta, where);
  std::uint8_t* const values = data->front().data() + begin;
  with_width(where.bytes, [&](auto width) {
    const auto move = [&](auto copy) {
      s.for_each_lane([=](int lane) { copy(memory.at(lane), values + max_lane_bytes * lane); });
    };
    if (stores)
      move([&](std::uint8_t* at, const std::uint8_t* value) { std::memcpy(at, value, width); });
    else
      move([&](const std::uint8_t* at, std::uint8_t* value) { std::memcpy(value, at, width); });
  });
}

std::string StoreZeros::text(const Names&) const {
  return "st.bulk.shared " + std::to_string(bytes) + ", 0";
}

void StoreZeros::execute(Step& s) const {
  constexpr std::uint32_t unit = 8;
  constexpr std::uint64_t most = std::uint64_t{1} << 24;
  if (to % unit != 0) return s.fail(Fault::SharedUnaligned, s.first_lane(), to);
  if (bytes % unit != 0 || bytes > most) return s.fail(Fault::BulkBytes, s.first_lane());
  SharedMemory& shared = s.cta().shared;
  const auto size = static_cast<std::uint32_t>(bytes);
  if (!shared.contains(to, size)) return s.fail(Fault::SharedMemoryOutOfRange, s.first_lane(), to);
  Access access = generic_access(s, AccessKind::Store);
  access.base = to;
  note_lanes(s, access);
  if (!record(s, s.c.log.add(access), s.warp.cta, {to, to + size})) return;
  std::memset(shared.data() + (to - shared.base()), 0, size);
}

// --- accesses that synchronise ---------------------------------------------------------------------

namespace {

std::vector<Touch> words_of(const Standing& at, const LaneAddresses& where, std::uint32_t lanes,
                            bool writes) {
  std::vector<Touch> touches;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t object = word_object(at, where, std::countr_zero(rest));
    if (touches.empty() || touches.back().object != object)
      touches.push_back({.object = object, .kind = TouchKind::Word, .writes = writes});
  }
  return touches;
}

bool is_unchanged(const Standing& at, const WatchedBytes& w) {
  const ClusterState& memory = at.c;
  for (std::uint32_t rest = w.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint32_t address = w.where.at[lane];
    const SharedMemory& shared =
        memory.cta(w.where.cta == own_cta ? at.warp.cta : w.where.cta).shared;
    const std::uint8_t* now = w.where.global ? memory.global.bytes().data() + address
                                             : shared.data() + (address - shared.base());
    if (std::memcmp(now, w.seen[lane].data(), static_cast<std::size_t>(w.where.bytes)) != 0)
      return false;
  }
  return true;
}

}  // namespace

std::vector<Touch> LaneAtomic::touches(const Standing& at) const {
  std::vector<Touch> touches = words_of(at, where, at.lanes, update != nullptr);
  if (watched != nullptr)
    for (const WatchedBytes& w : *watched)
      for (const Touch& touch : words_of(at, w.where, w.lanes, false)) touches.push_back(touch);
  return touches;
}

bool LaneAtomic::is_blocked(const Standing& at) const {
  return watched != nullptr &&
         std::ranges::all_of(*watched, [&](const WatchedBytes& w) { return is_unchanged(at, w); });
}

Waiting LaneAtomic::waiting(const Standing& at) const {
  Waiting w = at.waits_for(WaitFor::Memory);
  w.object = where.at[static_cast<std::size_t>(at.first_lane())];
  const bool is_global =
      where.global ||
      (watched != nullptr &&
       std::ranges::any_of(*watched, [](const WatchedBytes& o) { return o.where.global; }));
  w.cta = is_global ? global_memory : w.cta;
  return w;
}

std::string LaneAtomic::text(const Names&) const {
  return joined(update == nullptr ? "ld." : "atom.", space(where), ".b", 8 * where.bytes);
}

namespace {

// What it finds is used: nobody follows it.
void use_found(Step& s, const LaneAtomic& i) {
  if (!i.reads || i.where.global) return;
  s.for_each_lane([&](int lane) {
    const std::uint32_t at = i.where.at[static_cast<std::size_t>(lane)];
    use_undefined(s.c, target_cta(s, i.where),
                  {at, at + static_cast<std::uint32_t>(i.where.bytes)});
  });
}

// Only where several CTAs are there is a scope asked for.
bool is_scoped(const Step& s) { return s.c.ctas.size() > 1; }
bool is_narrow_here(const Step& s, bool is_narrow) { return is_narrow && is_scoped(s); }

// Against plain accesses of the same bytes. Whoever has seen a strong write to a word knows it to be over: the write has
// a place in the order of that word. False: a Fault.
bool record_strong(Step& s, const LaneAtomic& i, const LaneStride& stride,
                   const std::vector<Touch>& touched) {
  const bool writes = i.update != nullptr;
  Access access = generic_access(s, writes ? AccessKind::Store : AccessKind::Load);
  describe(s.c.log, access, i.where, stride, s.lanes);
  note_lanes(s, access);
  access.is_strong = true;
  access.is_vector = i.where.bytes == vector_bytes;
  access.is_volatile = i.is_volatile;
  access.is_narrow = is_narrow_here(s, i.is_narrow);
  access.finds = i.reads && i.finds;
  access.loaded = Loaded::Used;
  if (!writes) access.operation = access.tick;
  Streams& streams = s.c.streams;
  if (i.reads)
    for (const Touch& touch : touched) {
      const Streams::Seen seen = streams.seen_at(touch.object);
      if (seen.writes != 0) learn(s, s.lanes, seen.word, seen.writes);
      if (seen.scattered != 0) learn(s, s.lanes, streams.scattered(), seen.scattered);
    }
  if (writes) {
    const bool is_one = touched.size() == 1;
    access.stream = is_one ? streams.make_word(touched.front().object) : streams.scattered();
    access.tick = streams.next_write(access.stream);
    if (!is_one)
      for (const Touch& touch : touched)
        streams.note_scattered(streams.make_word(touch.object), access.tick);
  }
  const AccessId id = s.c.log.add(access);
  if (!record_lanes(s, i.where, stride, id)) return false;
  if (writes) learn(s, s.lanes, access.stream, access.tick);
  return true;
}

// What a thread of the step's CTA finds in a word: all that reaches it at any scope, and apart what a fence of scope .cta acquires,
// and one for shared memory alone.
void take(const Step& s, const Word& from, bool is_shared, Word& found) {
  found.handed.join(from.handed);
  found.lost.join(from.lost);
  if (is_shared) found.shared.join(from.handed);
  const auto own = from.own.find(s.warp.cta);
  if (own == from.own.end()) return;
  found.handed.join(own->second);
  found.own[s.warp.cta].join(own->second);
  if (is_shared) found.shared.join(own->second);
}

// What a relaxed write hands on of the fence before it.
void pass_on(const Step& s, const Word& fence, bool narrow, bool is_shared, Word& word) {
  if (!narrow) word.handed.join(fence.handed);
  if (!narrow && is_shared) word.handed.join(fence.shared);
  word.lost.join(fence.lost);
  if (!is_scoped(s)) return;
  Clock& own = word.own[s.warp.cta];
  own.join(fence.handed);
  if (is_shared) own.join(fence.shared);
  const auto at = fence.own.find(s.warp.cta);
  if (at != fence.own.end()) own.join(at->second);
}

// The halves of an aligned word of 8 bytes that the step's lanes write; bit 0: its first four.
std::uint32_t halves_of(const Step& s, const LaneAddresses& where, const Touch& touch) {
  std::uint32_t halves = 0;
  s.for_each_lane([&](int lane) {
    if (word_object(s.standing(), where, lane) != touch.object) return;
    const std::uint32_t at = where.at[static_cast<std::size_t>(lane)] & 7;
    halves |= at < 4 ? 1u : 2u;
    if (at + static_cast<std::uint32_t>(where.bytes) > 4) halves |= 2;
  });
  return halves;
}

// A store that reads nothing: what others handed on by this word's earlier writes ends there, as only read-modify-writes carry it
// on. What its own warp released at it stays (a release pattern is a release and a strong write behind it).
// Source: PTX ISA 9.2, 8.9.3 "Release and Acquire Patterns", 8.9.2 "Observation".
void end_release_sequence(const Step& s, std::uint32_t halves, Word& word) {
  if ((word.halves & ~halves) != 0) return;  // of its other half
  word.lost.join(word.handed);
  word.Handed::operator=({});
  if (const auto own = word.released_by.find(s.warp.number); own != word.released_by.end())
    word.Handed::join(own->second);
}

// What an update hands on at one word of those that it writes.
void hand_on_at(Step& s, const LaneAtomic& i, std::uint64_t object, bool is_flag, Word& word) {
  const bool narrow = is_narrow_here(s, i.is_narrow);
  if (!i.releases) {
    pass_on(s, s.warp.at_memory_fence, narrow, !i.where.global, word);
    if (is_flag) word.lost.join(s.warp.clock);
    return;
  }
  Handed released;
  if (!narrow) hand_on(s, released.handed, word.lost, object);
  if (is_scoped(s)) hand_on(s, released.own[s.warp.cta], word.lost, object);
  word.Handed::join(released);
  word.released_by[s.warp.number].join(released);
}

}  // namespace

void LaneAtomic::execute(Step& s) const {
  const LaneStride stride = stride_of(where, s.lanes);
  if (!may_reach(s, where) || !bytes_exist(s, where, stride)) return;
  const std::vector<Touch> touched = words_of(s.standing(), where, s.lanes, update != nullptr);
  s.c.touches.insert(s.c.touches.end(), touched.begin(), touched.end());
  use_found(s, *this);
  const LateLook late = late_look(s, *this);
  if (!record_strong(s, *this, stride, touched)) return;
  if (update != nullptr) note_write(s, *this, touched);
  const bool is_flag = where.global && touched.size() == 1;  // of a CTA for another one
  Word found;
  for (const Touch& touch : touched) {
    Word& word = s.c.words[touch.object];
    if (reads) take(s, word, !where.global, found);
    if (reads) s.warp.told.join(word.told);
    if (update == nullptr) continue;
    tell(s, word.told);
    const std::uint32_t halves = halves_of(s, where, touch);
    if (!reads) end_release_sequence(s, halves, word);
    word.halves |= halves;
    hand_on_at(s, *this, touch.object, is_flag, word);
  }
  if (reads) {
    if (acquires) learn(s, is_narrow_here(s, is_narrow) ? found.own[s.warp.cta] : found.handed);
    s.warp.lost.join(found.lost);
    take(s, found, !where.global, s.warp.read_since_fence);
  }
  if (releases && update != nullptr) next_epoch(s);
  const LaneMemory memory(s.c, s.warp.cta, where);
  s.for_each_lane([&](int lane) {
    std::uint8_t* const found = (*data)[static_cast<std::size_t>(lane)].data();
    const auto width = static_cast<std::size_t>(where.bytes);
    const bool is_late = (late.lanes >> lane & 1) != 0;
    std::memcpy(found,
                is_late ? late.bytes[static_cast<std::size_t>(lane)].data() : memory.at(lane),
                width);
    if (update == nullptr) return;
    update(lane, memory.at(lane));
    if (changed != nullptr && std::memcmp(found, memory.at(lane), width) != 0) *changed = true;
  });
}

std::string FenceMemory::text(const Names&) const {
  return joined("fence",
                acquires && releases ? ".acq_rel"
                : acquires           ? ".acquire"
                                     : ".release",
                !only_shared ? ""
                : releases   ? ".sync_restrict::shared::cta"
                             : ".sync_restrict::shared::cluster",
                is_narrow ? ".cta" : "");
}

void FenceMemory::execute(Step& s) const {
  const bool narrow = is_narrow_here(s, is_narrow);
  if (acquires) {
    Word& read = s.warp.read_since_fence;
    learn(s, only_shared ? read.shared : narrow ? read.own[s.warp.cta] : read.handed);
    s.warp.lost.join(read.lost);
  }
  if (!releases) return;
  Word& fence = s.warp.at_memory_fence;
  if (only_shared) {
    hand_on(s, fence.shared, fence.lost, 0);
  } else {
    if (!narrow) fence = {};
    fence.own.clear();
    hand_on(s, narrow ? fence.own[s.warp.cta] : fence.handed, fence.lost, 0);
  }
  next_epoch(s);
}

// --- ldmatrix, stmatrix ----------------------------------------------------------------------------

namespace {

const char* shape_text(const LaneMatrices& i) {
  if (!i.bytes) return ".m8n8";
  switch (*i.bytes) {
    case matrix::ByteShape::M16n16: return ".m16n16";
    case matrix::ByteShape::M8n16: return ".m8n16";
    case matrix::ByteShape::M16n8: break;
  }
  return ".m16n8";
}

// What the rows are, in what is executed.
matrix::Operand halves(const LaneMatrices& i) { return {i.count, i.transposed, i.rows}; }
matrix::ByteOperand bytes_of(const LaneMatrices& i) {
  return {*i.bytes, i.packing, i.count, i.rows};
}

Fault check_rows(const LaneMatrices& i, const SharedMemory& shared) {
  return i.bytes ? matrix::check(bytes_of(i), shared) : matrix::check(halves(i), shared);
}

int rows_of(const LaneMatrices& i) { return (i.bytes ? matrix::rows(*i.bytes) : 8) * i.count; }
std::uint32_t row_bytes(const LaneMatrices& i) {
  return static_cast<std::uint32_t>(matrix::packed_bytes(i.packing));
}

// Rows of a load that are left out of all orders; lane r says where row r lies.
std::uint32_t leave_rows_out(Step& s, const LaneMatrices& i) {
  if (!i.is_followed || s.c.racing_loads.empty()) return 0;
  const std::uint32_t rows = all_lanes >> (warp_threads - rows_of(i));
  return leave_out(s, s.warp.cta, i.rows, row_bytes(i), rows);
}

bool record_rows(Step& s, const LaneMatrices& i, AccessId id, std::uint32_t rows) {
  for (int row = 0; row < rows_of(i); ++row) {
    if ((rows >> row & 1) == 0) continue;
    const std::uint32_t at = i.rows[static_cast<std::size_t>(row)];
    if (!record(s, id, s.warp.cta, {at, at + row_bytes(i)})) return false;
  }
  return true;
}

void store(const LaneMatrices& i, SharedMemory& shared, const matrix::WarpRegisters& registers) {
  if (i.bytes) return matrix::store(shared, registers, bytes_of(i));
  matrix::execute(shared, registers, matrix::StoreMatrix{halves(i)});
}
void load(const LaneMatrices& i, const SharedMemory& shared, matrix::WarpRegisters& registers) {
  if (i.bytes) return matrix::load(shared, registers, bytes_of(i));
  matrix::execute(shared, registers, matrix::LoadMatrix{halves(i)});
}

matrix::WarpRegisters registers_of(const LaneMatrices& i) {
  matrix::WarpRegisters registers{};
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    std::memcpy(registers[lane].data(), (*i.data)[lane].data(), sizeof registers[lane]);
  return registers;
}

// The rows hold already what is stored; nothing is stored here.
bool holds_rows(const LaneMatrices& i, SharedMemory& shared,
                const matrix::WarpRegisters& registers) {
  std::array<std::array<std::uint8_t, 16>, warp_threads> before;
  const auto row = [&](int r) {
    return shared.data() + (i.rows[static_cast<std::size_t>(r)] - shared.base());
  };
  for (int r = 0; r < rows_of(i); ++r)
    std::memcpy(before[static_cast<std::size_t>(r)].data(), row(r), row_bytes(i));
  store(i, shared, registers);
  bool all = true;
  for (int r = 0; r < rows_of(i); ++r)
    all = all && std::memcmp(before[static_cast<std::size_t>(r)].data(), row(r), row_bytes(i)) == 0;
  for (int r = 0; r < rows_of(i); ++r)
    std::memcpy(row(r), before[static_cast<std::size_t>(r)].data(), row_bytes(i));
  return all;
}

}  // namespace

std::string LaneMatrices::text(const Names&) const {
  return joined(stores ? "stmatrix" : "ldmatrix", ".sync.aligned", shape_text(*this), ".x", count);
}

void LaneMatrices::execute(Step& s) const {
  if (!s.all_lanes_take_part()) return;
  if (const Fault fault = check_rows(*this, s.cta().shared); fault != Fault::None)
    return s.fail(fault);
  Access access = generic_access(s, stores ? AccessKind::Store : AccessKind::Load);
  note_lanes(s, access);
  access.is_followed = is_followed;
  matrix::WarpRegisters registers = registers_of(*this);
  access.rewrites = stores && holds_rows(*this, s.cta().shared, registers);
  if (stores) access.operation = source;
  const std::uint32_t racing = leave_rows_out(s, *this);
  const AccessId id = s.c.log.add(access);
  if (!record_rows(s, *this, id, ~racing)) return;
  add_undefined(s.c, id, undefined);
  if (stores) return store(*this, s.cta().shared, registers);
  load(*this, s.cta().shared, registers);
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    std::memcpy((*data)[lane].data(), registers[lane].data(), sizeof registers[lane]);
  note_loaded(s, id, loaded);
}

}  // namespace tcq::machine
