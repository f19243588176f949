// Bulk copies: issue, groups, and the moving of the data when it is due.
//
// A load is in flight until a step of the explorer completes it and its bytes count on the mbarrier;
// a store is in flight until a wait forces it, or chance (advance_data). What moves where is
// tma.h's and bulk.h's business.
#include <algorithm>
#include <bit>

#include "sim/async/executor.h"
#include "sim/machine/bulk.h"
#include "sim/machine/tma.h"

namespace tcq::machine {
namespace {

tma::Tile tile_of(const PatchableMap& map, const tma::Coordinates& start, std::uint32_t address) {
  return {*map.value(), start, address};
}

ByteRange box_of(const tma::Tile& tile) {
  return {tile.shared_address, tile.shared_address + tma::box_bytes(tile.map)};
}

// Of global memory.
std::vector<tma::GlobalRun> runs_of(const bulk::Range& range) {
  return {{range.global, range.global + range.bytes}};
}
std::vector<tma::GlobalRun> runs_written(const tma::Store& i) { return runs_written(i.tile); }
std::vector<tma::GlobalRun> runs_written(const tma::Reduce& i) { return runs_written(i.tile); }
std::vector<tma::GlobalRun> runs_written(const bulk::Store& i) { return runs_of(i.range); }
std::vector<tma::GlobalRun> runs_written(const bulk::Reduce& i) { return runs_of(i.range); }

}  // namespace

// --- issue -----------------------------------------------------------------------------------------

bool Executor::one_lane_issues() {
  if (std::popcount(lanes_) == 1) return true;
  fail(Fault::CopyRepeated, first_lane(), std::popcount(lanes_));
  return false;
}

AccessId Executor::add_copy_access(AccessKind kind, Stream stream) {
  Access access = generic_access(kind);
  access.stream = stream;
  access.tick = never;
  return c_.log_.add(access);
}

bool Executor::record_copy(AccessId access, int cta, ByteRange box) {
  const Conflict conflict = c_.ctas_[static_cast<std::size_t>(cta)].provenance.record(
      box, access, knowledge(), c_.log_, c_.streams_);
  return settle(conflict, access, cta);
}

// One copy into one CTA, which completes `bytes` on an mbarrier there.
Copy* Executor::add_load(int cta, const Address& barrier, ByteRange box, std::uint32_t bytes) {
  MbarrierSlot* slot = slot_to_complete(barrier.in(cta), first_lane());
  if (slot == nullptr) return nullptr;
  const AccessId write = add_copy_access(AccessKind::CopyWrite, slot->phases);
  c_.log_[write].operation = slot->state.phase;
  c_.log_[write].base = box.begin;
  if (!record_copy(write, cta, box)) return nullptr;
  Copy copy;
  copy.id = Cluster::copy_agent(warp_.number, warp_.copies, cta);
  copy.statement = number_;
  copy.warp = warp_.number;
  copy.lane = first_lane();
  copy.cta = cta;
  copy.slot = static_cast<int>(slot - c_.slots_.data());
  copy.bytes = bytes;
  copy.write = write;
  copy.box = box;
  c_.loads_.push_back(copy.id);
  c_.copies_.push_back(std::move(copy));
  return &c_.copies_.back();
}

// To one CTA, or to all in the mask. `check` says whether the copy is legal for a CTA's memory.
template <class Check>
void Executor::issue_load(const Address& to, const Address& barrier, std::uint16_t multicast,
                          ByteRange box, std::uint32_t bytes, Check check) {
  const int ctas = static_cast<int>(c_.ctas_.size());
  if (multicast >> ctas != 0) return fail(Fault::MulticastMask, first_lane(), multicast);
  const int single = cta_of(to);
  ++warp_.copies;
  for (int cta = 0; cta < std::max(ctas, single + 1) && !stopped(); ++cta) {
    const bool takes = multicast == 0 ? cta == single : (multicast >> cta & 1) != 0;
    if (!takes || !cta_runs(cta, first_lane())) continue;
    const Fault fault = check(c_.ctas_[static_cast<std::size_t>(cta)].shared);
    if (fault != Fault::None) return fail(fault, first_lane(), box.begin);
    add_load(cta, barrier, box, bytes);
  }
}

void Executor::execute(const TensorLoad& i) {
  if (!one_lane_issues() || !may_use_map(i.map)) return;
  const tma::Load load{tile_of(map_at(i.map), i.start, i.to.of(thread_of(first_lane())))};
  const std::size_t first = c_.copies_.size();
  issue_load(i.to, i.barrier, i.multicast, box_of(load.tile), tma::complete_tx_bytes(load.tile.map),
             [&](const SharedMemory& shared) { return tma::check(load, shared, c_.global_); });
  if (stopped()) return;
  if (may_be_written(tma::hull(load.tile.map, c_.global_.size())))
    note_global_reads(first, tma::runs_read(load.tile));
  for (std::size_t n = first; n < c_.copies_.size(); ++n) note_map(c_.copies_[n], i.map);
}

void Executor::execute(const BulkLoad& i) {
  if (!one_lane_issues()) return;
  const std::uint32_t to = i.to.of(thread_of(first_lane()));
  const bulk::Load load{{i.from, to, i.bytes}};
  const std::size_t first = c_.copies_.size();
  issue_load(i.to, i.barrier, i.multicast, {to, to + i.bytes}, i.bytes,
             [&](const SharedMemory& shared) { return bulk::check(load, shared, c_.global_); });
  if (!stopped()) note_global_reads(first, runs_of(load.range));
}

void Executor::execute(const BulkSend& i) {
  if (!one_lane_issues() || !cta_runs(cta_of(i.to), first_lane())) return;
  const int thread = thread_of(first_lane());
  const std::uint32_t from = i.from.of(thread);
  const std::uint32_t to = i.to.of(thread);
  const SharedMemory& source = c_.ctas_[static_cast<std::size_t>(warp_.cta)].shared;
  const SharedMemory& target = c_.ctas_[static_cast<std::size_t>(cta_of(i.to))].shared;
  if (const Fault fault = bulk::check(bulk::Send{0, from, 0, to, i.bytes}, source, target);
      fault != Fault::None)
    return fail(fault, first_lane(), from);
  ++warp_.copies;
  Copy* copy = add_load(cta_of(i.to), i.barrier, {to, to + i.bytes}, i.bytes);
  if (copy == nullptr) return;
  copy->source_cta = warp_.cta;
  copy->source_address = from;
  const Stream phases = c_.slots_[static_cast<std::size_t>(copy->slot)].phases;
  copy->read = add_copy_access(AccessKind::CopyRead, phases);
  record_copy(copy->read, warp_.cta, {from, from + i.bytes});
}

BulkThread& Executor::bulk_thread(int lane) {
  for (BulkThread& thread : warp_.bulk)
    if (thread.lane == lane) return thread;
  BulkThread thread;
  thread.lane = lane;
  thread.read = c_.streams_.make();
  thread.done = c_.streams_.make();
  warp_.bulk.push_back(std::move(thread));
  return warp_.bulk.back();
}

void Executor::issue_store(ByteRange source, const GlobalWrite& write, int map) {
  BulkThread& thread = bulk_thread(first_lane());
  Copy copy;
  copy.id = Cluster::copy_agent(warp_.number, ++warp_.copies, warp_.cta);
  copy.statement = number_;
  copy.warp = warp_.number;
  copy.lane = first_lane();
  copy.cta = warp_.cta;
  copy.read = add_copy_access(AccessKind::CopyRead, thread.read);
  copy.box = source;
  if (!record_copy(copy.read, warp_.cta, source)) return;
  if (!note_global_writes(copy, write, thread.done)) return;
  if (map >= 0) note_map(copy, map);
  thread.uncommitted.push_back(copy.id);
  thread.last_store = place(first_lane());
  const AgentId id = copy.id;
  c_.copies_.push_back(std::move(copy));
  if (c_.timing_ == Timing::Earliest) {
    read_source(c_, id);
    write_destination(c_, id);
  }
}

template <class Store>
void Executor::execute_store(const Store& store, ByteRange source, GlobalWrite write, int map) {
  const SharedMemory& shared = c_.ctas_[static_cast<std::size_t>(warp_.cta)].shared;
  const Fault fault = check(store, shared, c_.global_);
  if (fault != Fault::None) return fail(fault, first_lane(), source.begin);
  write.runs = runs_written(store);
  issue_store(source, write, map);
}

void Executor::execute(const TensorStore& i) {
  if (!one_lane_issues() || !may_use_map(i.map)) return;
  const tma::Store store{tile_of(map_at(i.map), i.start, i.from.of(thread_of(first_lane())))};
  execute_store(store, box_of(store.tile), {}, i.map);
}

void Executor::execute(const TensorReduce& i) {
  if (!one_lane_issues() || !may_use_map(i.map)) return;
  const tma::Reduce reduction{tile_of(map_at(i.map), i.start, i.from.of(thread_of(first_lane()))),
                              i.op};
  execute_store(reduction, box_of(reduction.tile), {{}, true, i.op, reduction.tile.map.type},
                i.map);
}

void Executor::execute(const BulkStore& i) {
  if (!one_lane_issues()) return;
  const std::uint32_t from = i.from.of(thread_of(first_lane()));
  execute_store(bulk::Store{{i.to, from, i.bytes}}, {from, from + i.bytes}, {});
}

void Executor::execute(const BulkReduce& i) {
  if (!one_lane_issues()) return;
  const std::uint32_t from = i.from.of(thread_of(first_lane()));
  execute_store(bulk::Reduce{{i.to, from, i.bytes}, i.op, i.type}, {from, from + i.bytes},
                {{}, true, i.op, i.type});
}

// --- groups ----------------------------------------------------------------------------------------

void Executor::execute(const BulkCommit&) {
  for_each_lane([&](int lane) {
    BulkThread& thread = bulk_thread(lane);
    ++thread.committed;
    for (const AgentId id : thread.uncommitted) {
      const Copy& copy = *c_.find_copy(id);
      c_.log_[copy.read].tick = thread.committed;
      c_.log_[copy.write].tick = thread.committed;
      end_map_use(c_, copy, thread.committed);
    }
    thread.groups.push_back(std::move(thread.uncommitted));
    thread.uncommitted.clear();
  });
}

void Executor::wait_for_groups(BulkThread& thread, const BulkWait& i) {
  const auto pending = static_cast<std::uint32_t>(i.pending);
  const std::uint32_t last = thread.committed > pending ? thread.committed - pending : 0;
  const auto popped = thread.committed - static_cast<std::uint32_t>(thread.groups.size());
  const std::uint32_t first = i.read ? std::max(popped, thread.groups_read) : popped;
  for (std::uint32_t number = first; number < last; ++number) {
    for (const AgentId id : thread.groups[number - popped]) {
      read_source(c_, id);
      if (i.read) continue;
      write_destination(c_, id);
      c_.drop_copy(id);
    }
  }
  thread.groups_read = std::max(thread.groups_read, last);
  warp_.clock.raise(thread.read, last);
  if (i.read) return;
  warp_.clock.raise(thread.done, last);
  while (!thread.groups.empty() && thread.committed - thread.groups.size() < last)
    thread.groups.pop_front();
}

void Executor::execute(const BulkWait& i) {
  for_each_lane([&](int lane) {
    BulkThread& thread = bulk_thread(lane);
    if (thread.committed == 0) fail(Fault::WaitForNothing, lane);
    wait_for_groups(thread, i);
  });
}

// --- the data --------------------------------------------------------------------------------------

namespace {

struct Mover {
  const Copy& copy;
  std::vector<std::uint8_t>& global;
  std::vector<Cta>& ctas;

  SharedMemory& target() const { return ctas[static_cast<std::size_t>(copy.cta)].shared; }
  // The captured bytes, at the addresses they were read from.
  SharedMemory source() const {
    SharedMemory memory(copy.box.begin, static_cast<std::uint32_t>(copy.captured.size()));
    std::copy(copy.captured.begin(), copy.captured.end(), memory.data());
    return memory;
  }
  tma::Tile tile(const tma::Coordinates& start) const { return {*copy.map, start, copy.box.begin}; }

  void operator()(const TensorLoad& i) const {
    tma::execute(tma::Load{tile(i.start)}, target(), global);
  }
  void operator()(const BulkLoad& i) const {
    bulk::execute(bulk::Load{{i.from, copy.box.begin, i.bytes}}, target(), global);
  }
  void operator()(const BulkSend& i) const {
    const SharedMemory& from = ctas[static_cast<std::size_t>(copy.source_cta)].shared;
    bulk::execute(bulk::Send{0, copy.source_address, 0, copy.box.begin, i.bytes}, from, target());
  }
  void operator()(const TensorStore& i) const {
    tma::execute(tma::Store{tile(i.start)}, source(), global);
  }
  void operator()(const TensorReduce& i) const {
    tma::execute(tma::Reduce{tile(i.start), i.op}, source(), global);
  }
  void operator()(const BulkStore& i) const {
    bulk::execute(bulk::Store{{i.to, copy.box.begin, i.bytes}}, source(), global);
  }
  void operator()(const BulkReduce& i) const {
    bulk::execute(bulk::Reduce{{i.to, copy.box.begin, i.bytes}, i.op, i.type}, source(), global);
  }
  void operator()(const auto&) const {}
};

}  // namespace

void Executor::complete_load(Cluster& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  const Instruction& what = c.statements_[copy.statement]->what;
  std::visit(Mover{copy, c.global_, c.ctas_}, what);
  MbarrierSlot& slot = c.slots_[static_cast<std::size_t>(copy.slot)];
  const Place at{copy.statement, copy.warp, copy.lane};
  const ByteRange barrier{slot.address, slot.address + mbarrier::size_bytes};
  if (!slot.live)
    return c.fail(
        {.fault = Fault::MbarrierNotInitialized, .at = at, .cta = slot.cta, .bytes = barrier});
  const std::uint32_t phase = slot.state.phase;
  if (const Fault fault = mbarrier::complete_tx(slot.state, copy.bytes); fault != Fault::None)
    return c.fail(
        {.fault = fault, .at = at, .cta = slot.cta, .bytes = barrier, .number = slot.state.tx});
  const Tick tick = phase + 1;
  const bool completes = slot.state.phase != phase;
  const int issuer = c.warps_[static_cast<std::size_t>(copy.warp)].cta;
  slot.lost.raise(c.ctas_[static_cast<std::size_t>(issuer)].start, 1);
  if (completes) note_completion(slot);
  note_touch(c,
             {.object = mbarrier_object(slot.cta, slot.address),
              .phase = phase,
              .completes = completes,
              .copied = copy.bytes},
             slot.state);
  c.log_[copy.write].tick = tick;
  if (copy.global_read != 0) c.log_[copy.global_read].tick = tick;
  end_map_use(c, copy, tick);
  c.note_exit_use(copy.cta, {slot.phases, tick, at, copy.box, issuer != copy.cta});
  if (copy.read != 0) {
    c.log_[copy.read].tick = tick;
    c.note_exit_use(issuer, {slot.phases, tick, at, copy.box, false});
  }
  c.drop_copy(id);
}

void Executor::read_source(Cluster& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  if (copy.is_read) return;
  copy.is_read = true;
  const SharedMemory& shared = c.ctas_[static_cast<std::size_t>(copy.cta)].shared;
  const std::uint8_t* first = shared.data() + (copy.box.begin - shared.base());
  copy.captured.assign(first, first + (copy.box.end - copy.box.begin));
}

void Executor::write_destination(Cluster& c, AgentId id) {
  Copy& copy = *c.find_copy(id);
  if (copy.is_written) return;
  copy.is_written = true;
  std::visit(Mover{copy, c.global_, c.ctas_}, c.statements_[copy.statement]->what);
  copy.captured.clear();
}

}  // namespace tcq::machine
