#include "sim/async/instructions/copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/async/access.h"
#include "sim/async/copies.h"
#include "sim/async/lane_sync.h"
#include "sim/async/mbarrier_slots.h"
#include "sim/machine/bulk.h"
#include "sim/machine/tma.h"

namespace tcq::machine {

// --- loads -----------------------------------------------------------------------------------------

namespace {

tma::Tile tile_of(const PatchableMap& map, const tma::Coordinates& start, std::uint32_t address) {
  return {*map.value(), start, address};
}

ByteRange box_of(const tma::Tile& tile) {
  return {tile.shared_address, tile.shared_address + tma::box_bytes(tile.map)};
}

// Of shared memory, what a store or a reduction reads.
std::vector<ByteRange> pieces_of(const tma::Tile& tile) {
  std::vector<ByteRange> pieces;
  for (const tma::SharedRun& run : tma::runs_sent(tile)) pieces.push_back({run.begin, run.end});
  return pieces;
}
ByteRange source_of(const bulk::Range& range) { return {range.shared, range.shared + range.bytes}; }
std::vector<ByteRange> pieces_read(const tma::Store& i) { return pieces_of(i.tile); }
std::vector<ByteRange> pieces_read(const tma::Reduce& i) { return pieces_of(i.tile); }
std::vector<ByteRange> pieces_read(const bulk::Store& i) { return {source_of(i.range)}; }
std::vector<ByteRange> pieces_read(const bulk::Reduce& i) { return {source_of(i.range)}; }

// Of global memory.
std::vector<tma::GlobalRun> runs_of(const bulk::Range& range) {
  return {{range.global, range.global + range.bytes}};
}
std::vector<tma::GlobalRun> runs_written(const tma::Store& i) { return runs_written(i.tile); }
std::vector<tma::GlobalRun> runs_written(const tma::Reduce& i) { return runs_written(i.tile); }
std::vector<tma::GlobalRun> runs_written(const bulk::Store& i) {
  if (i.byte_mask == bulk::all_bytes) return runs_of(i.range);
  std::vector<tma::GlobalRun> runs;
  for (std::uint32_t byte = 0; byte < i.range.bytes; ++byte) {
    if (!bulk::is_copied(i.byte_mask, byte)) continue;
    const std::uint64_t at = i.range.global + byte;
    if (!runs.empty() && runs.back().end == at)
      ++runs.back().end;
    else
      runs.push_back({at, at + 1});
  }
  return runs;
}
std::vector<tma::GlobalRun> runs_written(const bulk::Reduce& i) { return runs_of(i.range); }

// Number of a reduction that gives the same bits in any order among its like; 0 for the others.
std::uint32_t commuting(tma::Reduction op, tma::DataType type) {
  using enum tma::Reduction;
  const bool depends = op == Inc || op == Dec || (op == Add && tma::is_float(type));
  return depends ? 0
                 : 1u + static_cast<std::uint32_t>(op) * tma::data_type_count +
                       static_cast<std::uint32_t>(type);
}

ByteRange range_of(const tma::GlobalRun& run) {
  return {static_cast<std::uint32_t>(run.begin), static_cast<std::uint32_t>(run.end)};
}

bool may_be_written(const Step& s, const tma::GlobalRun& run) {
  return s.c.global_provenance.may_be_written(range_of(run));
}

const char* multicast_text(std::uint16_t mask) { return mask != 0 ? ".multicast::cluster" : ""; }

bool one_lane_issues(Step& s) {
  if (std::popcount(s.lanes) == 1) return true;
  s.fail(Fault::CopyRepeated, s.first_lane(), std::popcount(s.lanes));
  return false;
}

AccessId add_copy_access(Step& s, AccessKind kind, Stream stream) {
  Access access = generic_access(s, kind);
  access.stream = stream;
  access.tick = never;
  return s.c.log.add(access);
}

// What an access of a load or a reduction to shared memory is. Reductions: see commute().
template <class I>
constexpr bool reduces = requires(const I& i) {
  i.op;
};
template <class I>
constexpr bool is_generic = std::is_same_v<I, StoreAsync> || std::is_same_v<I, ReduceAsync>;
template <class I>
constexpr bool has_generic_barrier = is_generic<I> || std::is_same_v<I, TryCancel>;

constexpr AccessKind kind_of(bool generic, bool reduction) {
  if (generic) return AccessKind::Store;
  return reduction ? AccessKind::CopyReduce : AccessKind::CopyWrite;
}

// Counting up or down commutes with itself as long as the limit is the same; limits 2^31 apart count as one.
std::uint32_t commuting(const ReduceAsync& i) {
  const bool counts = i.op == tma::Reduction::Inc || i.op == tma::Reduction::Dec;
  if (!counts) return commuting(i.op, i.type);
  constexpr std::uint32_t others = tma::reduction_count * tma::data_type_count;
  return others + 1 + 2 * static_cast<std::uint32_t>(i.value) + (i.op == tma::Reduction::Dec);
}
std::uint32_t commuting(const BulkSendReduce& i) { return commuting(i.op, i.type); }

template <class I>
void describe_load(Access& access, const I& i, const MbarrierSlot& slot) {
  access.operation = slot.state.phase;
  if constexpr (reduces<I>) access.operation = commuting(i);
  access.is_red_async = access.is_strong = std::is_same_v<I, ReduceAsync>;
}

// A reduction of bytes that nobody has written gives anything. False: that ends it.
bool are_written(Step& s, int cta, ByteRange bytes) {
  const Provenance& memory = s.c.cta(cta).provenance;
  std::uint32_t at = bytes.begin;
  while (at < bytes.end && memory.writer(at) != 0) ++at;
  if (at == bytes.end) return true;
  return !s.c.stops_at({.fault = Fault::SharedUninitialized,
                        .at = s.place(s.first_lane()),
                        .at_kind = AccessKind::CopyReduce,
                        .cta = cta,
                        .bytes = {at, bytes.end}});
}

// One copy into one CTA, which completes `bytes` on an mbarrier there, or on one of the CTA that it names.
template <class I>
Copy* add_load(Step& s, const I& i, int cta, ByteRange box, std::uint32_t bytes) {
  Address barrier = i.barrier.in(cta);
  if constexpr (std::is_same_v<I, TensorLoad>)  // cta_group::2: it may be the peer's
    if (i.multicast == 0 && i.barrier.cta != own_cta) barrier = i.barrier;
  MbarrierSlot* slot = has_generic_barrier<I> ? usable_slot(s, barrier, s.first_lane())
                                              : slot_to_complete(s, barrier, s.first_lane());
  if (slot == nullptr) return nullptr;
  if (reduces<I> && !are_written(s, cta, box)) return nullptr;
  const AccessId write = add_copy_access(s, kind_of(is_generic<I>, reduces<I>), slot->phases);
  describe_load(s.c.log[write], i, *slot);
  s.c.log[write].base = box.begin;
  const Instruction* what = s.kept();
  if (!is_generic<I>) s.c.log[write].load = std::get_if<TensorLoad>(what);
  if (!record(s, write, cta, box)) return nullptr;
  Copy copy;
  copy.id = encode({AgentKind::Copy, s.warp.number, s.warp.copies, cta});
  copy.move = move_copy<I>;
  copy.what = what;
  copy.statement = s.number;
  copy.warp = s.warp.number;
  copy.lane = s.first_lane();
  copy.cta = cta;
  copy.slot = static_cast<int>(slot - s.c.slots.data());
  copy.bytes = bytes;
  copy.write = write;
  copy.box = box;
  s.c.loads.push_back(copy.id);
  s.c.copies.push_back(std::move(copy));
  return &s.c.copies.back();
}

// To one CTA, or to all in the mask. `check` says whether the copy is legal for a CTA's memory.
template <class I, class Check>
void issue_load(Step& s, const I& i, ByteRange box, std::uint32_t bytes, Check check) {
  const int ctas = static_cast<int>(s.c.ctas.size());
  if (i.multicast >> ctas != 0) return s.fail(Fault::MulticastMask, s.first_lane(), i.multicast);
  const int single = s.cta_of(i.to);
  ++s.warp.copies;
  for (int cta = 0; cta < std::max(ctas, single + 1) && !s.stopped(); ++cta) {
    const bool takes = i.multicast == 0 ? cta == single : (i.multicast >> cta & 1) != 0;
    if (!takes || !cta_runs(s, cta, s.first_lane())) continue;
    const Fault fault = check(s.c.cta(cta).shared);
    if (fault != Fault::None) return s.fail(fault, s.first_lane(), box.begin);
    add_load(s, i, cta, box, bytes);
  }
}

// What the loads from `first` on read, each until its own mbarrier says that it has landed.
void note_global_reads(Step& s, std::size_t first, const std::vector<tma::GlobalRun>& runs,
                       bool has_map) {
  for (std::size_t n = first; n < s.c.copies.size() && !s.stopped(); ++n) {
    Copy& copy = s.c.copies[n];
    const Stream phases = s.c.slot(copy.slot).phases;
    for (const tma::GlobalRun& run : runs) {
      if (!may_be_written(s, run)) continue;
      if (copy.global_read == 0) {
        copy.global_read = add_copy_access(s, AccessKind::CopyRead, phases);
        s.c.log[copy.global_read].is_plain_bulk = !has_map;
      }
      if (!record_global(s, copy.global_read, range_of(run))) return;
    }
  }
}

}  // namespace

Fault TensorLoad::check(const Bounds& bounds) const { return check_map(map, bounds); }

std::string TensorLoad::text(const Names& names) const {
  return joined("cp.async.bulk.tensor", multicast_text(multicast), " [", names.at(to), "], ",
                names.map(map), ", [", names.at(barrier), "]");
}
std::string BulkLoad::text(const Names& names) const {
  return joined("cp.async.bulk", multicast_text(multicast), " [", names.at(to), "], global, ",
                bytes, ", [", names.at(barrier), "]");
}
std::string BulkSend::text(const Names& names) const {
  return joined("cp.async.bulk.shared::cluster.shared::cta [", names.at(to), "], [", names.at(from),
                "], ", bytes, ", [", names.at(barrier), "]");
}

std::string BulkSendReduce::text(const Names& names) const {
  return joined("cp.reduce.async.bulk.shared::cluster.shared::cta.", tma::name(op), " [",
                names.at(to), "], [", names.at(from), "], ", bytes, ", [", names.at(barrier), "]");
}

void TensorLoad::execute(Step& s) const {
  if (!one_lane_issues(s) || !may_use_map(s, map)) return;
  const tma::Load load{tile_of(map_at(s, map), start, to.of(s.thread_of(s.first_lane())))};
  const std::size_t first = s.c.copies.size();
  issue_load(s, *this, box_of(load.tile), tma::complete_tx_bytes(load.tile.map),
             [&](const SharedMemory& shared) {
               return tma::check(load, shared, s.c.global.bytes(), s.c.program.launch().capability);
             });
  if (s.stopped()) return;
  if (may_be_written(s, tma::hull(load.tile.map, s.c.global.size())))
    note_global_reads(s, first, tma::runs_read(load.tile), true);
  for (std::size_t n = first; n < s.c.copies.size(); ++n) note_map(s, s.c.copies[n], map);
}

void BulkLoad::execute(Step& s) const {
  if (!one_lane_issues(s)) return;
  const std::uint32_t target = to.of(s.thread_of(s.first_lane()));
  const bulk::Load load{{from, target, bytes}};
  const std::size_t first = s.c.copies.size();
  issue_load(s, *this, {target, target + bytes}, bytes, [&](const SharedMemory& shared) {
    return bulk::check(load, shared, s.c.global.bytes());
  });
  if (!s.stopped()) note_global_reads(s, first, runs_of(load.range), false);
}

namespace {

// From the own CTA's shared memory to that of a CTA of the cluster.
template <class I, class Send>
void execute_send(Step& s, const I& i, Send make) {
  const int cta = s.cta_of(i.to);
  if (!one_lane_issues(s) || !cta_runs(s, cta, s.first_lane())) return;
  const int thread = s.thread_of(s.first_lane());
  const std::uint32_t source = i.from.of(thread);
  const std::uint32_t target = i.to.of(thread);
  const Fault fault = bulk::check(make(bulk::Send{0, source, 0, target, i.bytes}), s.cta().shared,
                                  s.c.cta(cta).shared);
  if (fault != Fault::None) return s.fail(fault, s.first_lane(), source);
  ++s.warp.copies;
  Copy* copy = add_load(s, i, cta, {target, target + i.bytes}, i.bytes);
  if (copy == nullptr) return;
  copy->source_cta = s.warp.cta;
  copy->source_address = source;
  const Stream phases = s.c.slot(copy->slot).phases;
  copy->read = add_copy_access(s, AccessKind::CopyRead, phases);
  record(s, copy->read, s.warp.cta, {source, source + i.bytes});
}

}  // namespace

void BulkSend::execute(Step& s) const {
  execute_send(s, *this, [](const bulk::Send& send) { return send; });
}
void BulkSendReduce::execute(Step& s) const {
  execute_send(s, *this, [&](const bulk::Send& send) { return bulk::SendReduce{send, op, type}; });
}

std::string StoreAsync::text(const Names& names) const {
  return joined("st.async.b", 8 * bytes, " [", names.at(to), "], [", names.at(barrier), "]");
}

namespace {

template <class I>
void execute_store_async(Step& s, const I& i, std::uint32_t bytes) {
  const int cta = s.cta_of(i.to);
  if (!cta_runs(s, cta, s.first_lane()) || !has_started(s, cta, s.first_lane())) return;
  const std::uint32_t target = i.to.of(s.thread_of(s.first_lane()));
  if (target % bytes != 0) return s.fail(Fault::SharedUnaligned, s.first_lane(), target);
  if (!s.c.cta(cta).shared.contains(target, bytes))
    return s.fail(Fault::SharedMemoryOutOfRange, s.first_lane(), target);
  ++s.warp.copies;
  add_load(s, i, cta, {target, target + bytes}, bytes);
}

std::uint8_t* bytes_of(const CopyData& data) {
  SharedMemory& shared = data.target();
  return shared.data() + (data.copy.box.begin - shared.base());
}

}  // namespace

void StoreAsync::execute(Step& s) const { execute_store_async(s, *this, bytes); }

void StoreAsync::move(const CopyData& data) const {
  std::copy_n(value.begin(), bytes, bytes_of(data));
}

std::string ReduceAsync::text(const Names& names) const {
  return joined("red.async.", tma::name(op), " [", names.at(to), "], [", names.at(barrier), "]");
}
void ReduceAsync::execute(Step& s) const {
  if (const Fault fault = bulk::check_shared(op, type); fault != Fault::None)
    return s.fail(fault, s.first_lane());
  execute_store_async(s, *this, tma::element_bytes(type));
}
void ReduceAsync::move(const CopyData& data) const {
  std::array<std::uint8_t, sizeof value> element;
  std::memcpy(element.data(), &value, sizeof value);
  bulk::reduce_bytes(op, type, bytes_of(data), element.data(), tma::element_bytes(type));
}

std::string TryCancel::text(const Names& names) const {
  return joined("clusterlaunchcontrol.try_cancel", multicast != 0 ? ".multicast::cluster::all" : "",
                " [", names.at(to), "], [", names.at(barrier), "]");
}
void TryCancel::execute(Step& s) const {
  if (!one_lane_issues(s)) return;
  if (const Place& refusal = s.cta().seen_refusal; refusal.statement >= 0)
    return s.c.fail(
        {.fault = Fault::CancelAfterRefusal, .at = s.place(s.first_lane()), .hint = refusal});
  const std::uint32_t target = to.of(s.thread_of(s.first_lane()));
  issue_load(s, *this, {target, target + launch_answer_bytes}, launch_answer_bytes,
             [&](const SharedMemory& shared) {
               if (target % launch_answer_bytes != 0) return Fault::SharedUnaligned;
               return shared.contains(target, launch_answer_bytes) ? Fault::None
                                                                   : Fault::SharedMemoryOutOfRange;
             });
}
void TryCancel::move(const CopyData& data) const {
  const LaunchAnswer& answer = data.c.launch_answer(data.copy.id);
  std::memcpy(bytes_of(data), answer.data(), launch_answer_bytes);
}

void TensorLoad::move(const CopyData& data) const {
  tma::execute(tma::Load{data.tile(start)}, data.target(), data.global);
}
void BulkLoad::move(const CopyData& data) const {
  bulk::execute(bulk::Load{{from, data.copy.box.begin, bytes}}, data.target(), data.global);
}
void BulkSend::move(const CopyData& data) const {
  bulk::execute(bulk::Send{0, data.copy.source_address, 0, data.copy.box.begin, bytes},
                data.c.cta(data.copy.source_cta).shared, data.target());
}
void BulkSendReduce::move(const CopyData& data) const {
  const bulk::Send send{0, data.copy.source_address, 0, data.copy.box.begin, bytes};
  bulk::execute(bulk::SendReduce{send, op, type}, data.c.cta(data.copy.source_cta).shared,
                data.target());
}

// --- stores and reductions -------------------------------------------------------------------------

namespace {

BulkThread& bulk_thread(Step& s, int lane) {
  for (BulkThread& thread : s.warp.bulk)
    if (thread.lane == lane) return thread;
  BulkThread thread;
  thread.lane = lane;
  thread.read = s.c.streams.make();
  thread.done = s.c.streams.make();
  s.warp.bulk.push_back(std::move(thread));
  return s.warp.bulk.back();
}

struct GlobalWrite {
  std::vector<tma::GlobalRun> runs;
  bool reduces = false;
  tma::Reduction op = tma::Reduction::Add;
  tma::DataType type = tma::DataType::UInt32;
};

// What a store or a reduction writes, until its group is waited for.
bool note_global_writes(Step& s, Copy& copy, const GlobalWrite& write, Stream done) {
  const AccessKind kind = write.reduces ? AccessKind::CopyReduce : AccessKind::CopyWrite;
  copy.write = add_copy_access(s, kind, done);
  if (write.reduces) s.c.log[copy.write].operation = commuting(write.op, write.type);
  for (const tma::GlobalRun& run : write.runs)
    if (!record_global(s, copy.write, range_of(run))) return false;
  return true;
}

template <class I>
void issue_store(Step& s, ByteRange source, const std::vector<ByteRange>& pieces,
                 const GlobalWrite& write, int map) {
  BulkThread& thread = bulk_thread(s, s.first_lane());
  Copy copy;
  copy.id = encode({AgentKind::Copy, s.warp.number, ++s.warp.copies, s.warp.cta});
  copy.move = move_copy<I>;
  copy.what = s.kept();
  copy.statement = s.number;
  copy.warp = s.warp.number;
  copy.lane = s.first_lane();
  copy.cta = s.warp.cta;
  copy.read = add_copy_access(s, AccessKind::CopyRead, thread.read);
  copy.box = source;
  for (const ByteRange& piece : pieces)
    if (!record(s, copy.read, s.warp.cta, piece)) return;
  if (!note_global_writes(s, copy, write, thread.done)) return;
  if (map >= 0) note_map(s, copy, map);
  thread.uncommitted.push_back(copy.id);
  thread.last_store = s.place(s.first_lane());
  const AgentId id = copy.id;
  s.c.copies.push_back(std::move(copy));
  if (s.c.timing == Timing::Earliest) {
    read_source(s.c, id);
    write_destination(s.c, id);
  }
}

template <class Store>
Fault check_store(const Step& s, const Store& store) {
  if constexpr (requires { store.tile; })
    return check(store, s.cta().shared, s.c.global.bytes(), s.c.program.launch().capability);
  else
    return check(store, s.cta().shared, s.c.global.bytes());
}

template <class I, class Store>
void execute_store(Step& s, const I&, const Store& store, ByteRange source, GlobalWrite write,
                   int map = -1) {
  const Fault fault = check_store(s, store);
  if (fault != Fault::None) return s.fail(fault, s.first_lane(), source.begin);
  write.runs = runs_written(store);
  issue_store<I>(s, source, pieces_read(store), write, map);
}

}  // namespace

Fault TensorStore::check(const Bounds& bounds) const { return check_map(map, bounds); }
Fault TensorReduce::check(const Bounds& bounds) const { return check_map(map, bounds); }

void TensorStore::writes_global(GlobalWrites& writes) const { writes.add_tensor(map); }
void TensorReduce::writes_global(GlobalWrites& writes) const { writes.add_tensor(map); }
void BulkStore::writes_global(GlobalWrites& writes) const { writes.add_bulk(to, bytes); }
void BulkReduce::writes_global(GlobalWrites& writes) const { writes.add_bulk(to, bytes); }

std::string TensorStore::text(const Names& names) const {
  return joined("cp.async.bulk.tensor ", names.map(map), ", [", names.at(from), "]");
}
std::string TensorReduce::text(const Names& names) const {
  return joined("cp.reduce.async.bulk.tensor.", tma::name(op), " ", names.map(map), ", [",
                names.at(from), "]");
}
std::string BulkStore::text(const Names& names) const {
  return joined("cp.async.bulk", byte_mask != bulk::all_bytes ? ".cp_mask" : "", " global, [",
                names.at(from), "], ", bytes);
}
std::string BulkReduce::text(const Names& names) const {
  return joined("cp.reduce.async.bulk.", tma::name(op), " global, [", names.at(from), "], ", bytes);
}

void TensorStore::execute(Step& s) const {
  if (!one_lane_issues(s) || !may_use_map(s, map)) return;
  const tma::Store store{tile_of(map_at(s, map), start, from.of(s.thread_of(s.first_lane())))};
  execute_store(s, *this, store, box_of(store.tile), {}, map);
}

void TensorReduce::execute(Step& s) const {
  if (!one_lane_issues(s) || !may_use_map(s, map)) return;
  const tma::Reduce reduction{tile_of(map_at(s, map), start, from.of(s.thread_of(s.first_lane()))),
                              op};
  execute_store(s, *this, reduction, box_of(reduction.tile),
                {{}, true, op, reduction.tile.map.type}, map);
}

void BulkStore::execute(Step& s) const {
  if (!one_lane_issues(s)) return;
  const std::uint32_t source = from.of(s.thread_of(s.first_lane()));
  execute_store(s, *this, bulk::Store{{to, source, bytes}, byte_mask}, {source, source + bytes},
                {});
}

void BulkReduce::execute(Step& s) const {
  if (!one_lane_issues(s)) return;
  const std::uint32_t source = from.of(s.thread_of(s.first_lane()));
  execute_store(s, *this, bulk::Reduce{{to, source, bytes}, op, type}, {source, source + bytes},
                {{}, true, op, type});
}

void TensorStore::move(const CopyData& data) const {
  tma::execute(tma::Store{data.tile(start)}, data.source(), data.global);
}
void TensorReduce::move(const CopyData& data) const {
  tma::execute(tma::Reduce{data.tile(start), op}, data.source(), data.global);
}
void BulkStore::move(const CopyData& data) const {
  bulk::execute(bulk::Store{{to, data.copy.box.begin, bytes}, byte_mask}, data.source(),
                data.global);
}
void BulkReduce::move(const CopyData& data) const {
  bulk::execute(bulk::Reduce{{to, data.copy.box.begin, bytes}, op, type}, data.source(),
                data.global);
}

// --- groups ----------------------------------------------------------------------------------------

void BulkCommit::execute(Step& s) const {
  s.for_each_lane([&](int lane) {
    BulkThread& thread = bulk_thread(s, lane);
    if (++thread.committed == 1)
      for (const std::int64_t wait : thread.early_waits) s.c.group_waits.push_back(wait);
    for (const AgentId id : thread.uncommitted) {
      const Copy& copy = *s.c.find_copy(id);
      s.c.log[copy.read].tick = thread.committed;
      s.c.log[copy.write].tick = thread.committed;
      end_map_use(s.c, copy, thread.committed);
    }
    thread.groups.push_back(std::move(thread.uncommitted));
    thread.uncommitted.clear();
    thread.waits_for_uncommitted = false;
  });
}

Fault BulkWait::check(const Bounds&) const {
  return pending < 0 ? Fault::ImmediateWaitGroup : Fault::None;
}

std::string BulkWait::text(const Names&) const {
  return joined("cp.async.bulk.wait_group", read ? ".read" : "", " ", pending);
}

namespace {

void wait_for_groups(Step& s, BulkThread& thread, const BulkWait& i) {
  const auto pending = static_cast<std::uint32_t>(i.pending);
  const std::uint32_t last = thread.committed > pending ? thread.committed - pending : 0;
  const auto popped = thread.committed - static_cast<std::uint32_t>(thread.groups.size());
  const std::uint32_t first = i.read ? std::max(popped, thread.groups_read) : popped;
  for (std::uint32_t number = first; number < last; ++number) {
    for (const AgentId id : thread.groups[number - popped]) {
      read_source(s.c, id);
      if (i.read) continue;
      write_destination(s.c, id);
      s.c.drop_copy(id);
    }
  }
  thread.groups_read = std::max(thread.groups_read, last);
  const std::uint32_t lanes = 1u << thread.lane;
  learn(s, lanes, thread.read, last);
  if (i.read) return;
  learn(s, lanes, thread.done, last);
  while (!thread.groups.empty() && thread.committed - thread.groups.size() < last)
    thread.groups.pop_front();
}

}  // namespace

namespace {

void note_once(std::vector<std::int64_t>& statements, std::int64_t statement) {
  if (std::ranges::find(statements, statement) == statements.end()) statements.push_back(statement);
}

}  // namespace

void BulkWait::execute(Step& s) const {
  s.for_each_lane([&](int lane) {
    BulkThread& thread = bulk_thread(s, lane);
    const bool is_known = s.c.is_group_wait(s.number);
    if (thread.committed == 0 && !is_known) {
      s.fail(Fault::WaitForNothing, lane);
      note_once(thread.early_waits, s.number);
    }
    if (thread.committed != 0 && !is_known) s.c.group_waits.push_back(s.number);
    thread.waits_for_uncommitted = thread.waits_for_uncommitted || !thread.uncommitted.empty();
    wait_for_groups(s, thread, *this);
    const Stream epochs = s.c.streams.epochs(s.warp.number);
    for (PatchableMap& map : s.c.maps)
      if (pending == 0) map.drain(s.warp.number, lane, epochs, s.warp.clock.at(epochs));
  });
}

}  // namespace tcq::machine
