// Registers, loads and stores through the generic proxy, ldmatrix and stmatrix, and how an access
// that is not ordered becomes a Fault.
#include <algorithm>

#include "sim/async/executor.h"
#include "sim/machine/matrix.h"

namespace tcq::machine {

Executor::Executor(Cluster& cluster, Warp& warp, const Statement& statement, std::uint32_t number)
    : c_(cluster),
      warp_(warp),
      statement_(statement),
      number_(number),
      lanes_(statement.guard.lanes) {
  const Segment& segment = cluster.program_.segments()[warp.path[warp.segment]];
  role_thread_ = (warp.index - segment.first_warp) * warp_threads;
}

void Executor::run() {
  ++warp_.pc;
  std::visit([this](const auto& i) { execute(i); }, statement_.what);
}

// --- findings --------------------------------------------------------------------------------------

void Executor::fail(Fault fault, int lane, std::int64_t number) {
  c_.fail({.fault = fault, .at = place(lane), .number = number});
}

bool Executor::all_lanes_take_part() {
  if (lanes_ != all_lanes) fail(Fault::WarpDivergent, first_lane());
  return lanes_ == all_lanes;
}

// An arrival or a wait between the two was relaxed, or its scope too narrow.
bool Executor::is_known_too_weakly(Stream stream, Tick tick, Fault& fault, Place& hint) const {
  const WeakSync* weak = find_weak(c_, warp_.lost, warp_.number, stream, tick);
  if (weak == nullptr) return false;
  fault = weak->fault;
  hint = weak->at;
  return true;
}

Fault Executor::fault_of_unordered(const Access& earlier, const Access& next, Place& hint) const {
  Fault weak = Fault::None;
  if (is_known_too_weakly(earlier.stream, earlier.tick, weak, hint)) return weak;
  const bool writes = is_write(earlier.kind);
  // The other warp was let through too early, and this one rightly takes its bytes.
  const Warp& other = c_.warps_[earlier.warp];
  if (!writes && other.stale_wait.statement >= 0 && warp_.stale_wait.statement < 0) {
    hint = other.stale_wait;
    return Fault::PhaseStale;
  }
  // A producer's first wait on a fresh mbarrier rightly passes; a reader's does not.
  const bool reads_written = writes && !is_write(next.kind);
  if (warp_.stale_wait.statement >= 0 && (reads_written || !warp_.stale_is_fresh)) {
    hint = warp_.stale_wait;
    return Fault::PhaseStale;
  }
  if (!is_async(earlier.kind)) return Fault::DataRace;
  // `operation` of a load is the phase of its mbarrier when it was issued.
  if (writes && !is_async(next.kind) && warp_.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  const bool operand = next.kind == AccessKind::WgmmaRead || next.kind == AccessKind::Tcgen05Read;
  if (writes && operand && warp_.clock.at(earlier.stream) > earlier.operation)
    return Fault::ExpectTxTooSmall;
  return writes ? Fault::CopyInFlight : Fault::SourceInFlight;
}

Fault Executor::fault_of(const Conflict& conflict, const Access& next, int cta, Place& hint) const {
  const Access& earlier = c_.log_[conflict.earlier];
  switch (conflict.verdict) {
    case Verdict::Ordered: return Fault::None;
    case Verdict::Unwritten: return Fault::SharedUninitialized;
    case Verdict::LiveBarrier: {
      const bool initialises = next.kind == AccessKind::BarrierInit;
      const bool same = find_slot(c_, cta, conflict.bytes.begin & ~7u) >= 0 && initialises;
      return same ? Fault::MbarrierReinitialized : Fault::MbarrierOverwritten;
    }
    case Verdict::UnfencedAfterUse: return Fault::ProxyFenceMissingUsed;
    case Verdict::OpenOrder: return Fault::ReductionOrder;
    case Verdict::Unfenced:
      return is_write(earlier.kind) ? Fault::ProxyFenceMissing : Fault::ProxyFenceMissingAfterRead;
    case Verdict::Unordered:
      return cta == global_memory ? fault_of_global(conflict, hint)
                                  : fault_of_unordered(earlier, next, hint);
  }
  return Fault::None;
}

namespace {

// A wgmma is the whole warp's.
int lane_of(const Access& access, std::uint32_t address) {
  return access.kind == AccessKind::WgmmaRead ? -1 : lane_at(access, address);
}

}  // namespace

// A write meets a read that came before it and found nothing: the read is the one that is wrong.
void Executor::fail_unwritten_read(const Conflict& conflict, const UnwrittenRead& read,
                                   AccessId write) {
  const Access& writer = c_.log_[write];
  Finding finding = read.finding;
  finding.fault = read.stale_wait.statement >= 0 ? Fault::PhaseStale
                  : !is_async(writer.kind)       ? Fault::DataRace
                  : read.waited                  ? Fault::ExpectTxTooSmall
                                                 : Fault::CopyInFlight;
  finding.hint = read.stale_wait;
  finding.earlier = {writer.statement, writer.warp, lane_of(writer, conflict.bytes.begin)};
  finding.earlier_kind = writer.kind;
  finding.bytes = conflict.bytes;
  c_.fail(std::move(finding));
}

bool Executor::settle(const Conflict& conflict, AccessId access, int cta) {
  if (conflict.verdict == Verdict::Ordered) return true;
  const Access& next = c_.log_[access];
  Finding finding;
  finding.fault = Fault::SharedUninitialized;
  finding.at = place(lane_of(next, conflict.bytes.begin));
  finding.at_kind = next.kind;
  finding.cta = cta;
  finding.bytes = conflict.bytes;
  finding.wait = warp_.last_wait;
  if (conflict.verdict == Verdict::Unwritten) {
    c_.unwritten_reads_.push_back(
        {access, std::move(finding), warp_.stale_wait, warp_.waits_passed > 0});
    return true;
  }
  for (const UnwrittenRead& read : c_.unwritten_reads_) {
    if (read.access != conflict.earlier) continue;
    fail_unwritten_read(conflict, read, access);
    return false;
  }
  const Access& earlier = c_.log_[conflict.earlier];
  finding.fault = fault_of(conflict, next, cta, finding.hint);
  finding.earlier = {earlier.statement, earlier.warp, lane_of(earlier, conflict.bytes.begin)};
  finding.earlier_kind = earlier.kind;
  return !c_.stops_at(std::move(finding));
}

bool Executor::check_order(const wgmma::OrderFault& found, RegisterRange range) {
  if (found.fault == Fault::None) return true;
  Finding finding;
  finding.fault = found.fault;
  finding.at = place();
  if (found.fault != Fault::RegisterUninitialized && found.has_earlier)
    finding.earlier = {found.earlier, warp_.number, -1};
  finding.registers = found.reg >= 0 ? RegisterRange{found.reg, 1} : range;
  finding.number = found.group;
  return !c_.stops_at(std::move(finding));
}

// --- registers -------------------------------------------------------------------------------------

std::array<std::uint32_t, warp_threads>& Executor::reg(int number) {
  return warp_.registers.of_reg[static_cast<std::size_t>(number)];
}

bool Executor::reads(RegisterRange range) {
  use_registers(range, true);
  note_used(range);
  return check_order(warp_.order.read(range, number_), range);
}

bool Executor::writes(RegisterRange range) {
  const int limit = warp_.max_registers;
  if (limit != 0 && range.first + range.count > limit) {
    fail(Fault::RegisterOutOfRange, -1, range.first + range.count - 1);
    return false;
  }
  use_registers(range, false);
  note_lost(range);
  return check_order(warp_.order.write(range, number_), range);
}

void Executor::note_loaded(AccessId load, RegisterRange range) {
  for (int r = range.first; r < range.first + range.count; ++r)
    warp_.loaded[static_cast<std::size_t>(r)] = {load, lanes_};
  c_.log_[load].operation = static_cast<std::uint32_t>(range.count);
}

// A load is over once every lane has used every register that it brought.
void Executor::note_used(RegisterRange range) {
  const int end = std::min(range.first + range.count, static_cast<int>(warp_.loaded.size()));
  for (int r = range.first; r < end; ++r) {
    LoadedRegister& loaded = warp_.loaded[static_cast<std::size_t>(r)];
    if ((loaded.lanes & lanes_) == 0) continue;
    loaded.lanes &= ~lanes_;
    Access& load = c_.log_[loaded.load];
    if (loaded.lanes != 0 || load.loaded != Loaded::Waiting || --load.operation != 0) continue;
    load.loaded = Loaded::Used;
    load.operation = warp_.clock.at(load.stream);
  }
}

void Executor::note_lost(RegisterRange range) {
  for (int r = range.first; r < range.first + range.count; ++r) {
    LoadedRegister& loaded = warp_.loaded[static_cast<std::size_t>(r)];
    if ((loaded.lanes & lanes_) == 0) continue;
    loaded.lanes &= ~lanes_;
    Access& load = c_.log_[loaded.load];
    if (load.loaded == Loaded::Waiting) load.loaded = Loaded::Lost;
  }
}

void Executor::execute(const Move& i) {
  if (i.from >= 0 && !reads({i.from, i.to.count})) return;
  if (!writes(i.to)) return;
  for (int r = 0; r < i.to.count; ++r)
    for_each_lane([&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      reg(i.to.first + r)[l] = i.from < 0 ? i.immediate : reg(i.from + r)[l];
    });
}

// --- shared memory ---------------------------------------------------------------------------------

Access Executor::generic_access(AccessKind kind) const {
  Access access;
  access.kind = kind;
  access.lane = static_cast<std::uint8_t>(first_lane());
  access.warp = static_cast<std::uint16_t>(warp_.number);
  access.statement = number_;
  access.stream = c_.streams_.epochs(warp_.number);
  access.tick = warp_.clock.at(access.stream);
  access.fences = warp_.fences;
  access.lanes = lanes_;
  if (kind == AccessKind::Load) access.loaded = Loaded::Waiting;
  return access;
}

bool Executor::cta_runs(int cta, int lane) {
  if (cta < 0 || cta >= static_cast<int>(c_.ctas_.size())) {
    fail(Fault::CtaRankOutOfRange, lane, cta);
    return false;
  }
  if (cta != warp_.cta && c_.ctas_[static_cast<std::size_t>(cta)].running_warps == 0) {
    c_.fail({.fault = Fault::CtaExited, .at = place(lane), .cta = cta});
    return false;
  }
  return true;
}

bool Executor::reach_cta(int cta, int lane) {
  if (!cta_runs(cta, lane)) return false;
  if (cta == warp_.cta) return true;
  const Stream stream = c_.streams_.epochs(warp_.number);
  c_.note_exit_use(cta, {stream, warp_.clock.at(stream), place(lane), {}, true});
  return true;
}

// Source: PTX ISA 9.2, 9.7.16.7.1 (the warp makes sure that the peer CTA is launched); CUDA C++
// Programming Guide, Distributed Shared Memory (cluster.sync() says that all CTAs have started).
bool Executor::has_started(int cta, int lane) {
  if (warp_.clock.at(c_.ctas_[static_cast<std::size_t>(cta)].start) > 0) return true;
  c_.fail({.fault = Fault::CtaNotStarted, .at = place(lane), .cta = cta, .number = cta});
  return false;
}

// Whoever has arrived has started, whatever the arrival released.
void Executor::learn_starts() {
  for (const Cta& cta : c_.ctas_)
    if (warp_.tmem.observed.at(cta.start) > 0) warp_.clock.raise(cta.start, 1);
}

// Do the lanes' bytes follow each other without a gap?
bool Executor::is_contiguous(const Address& address, int bytes) const {
  return !address.table && lanes_ == all_lanes && address.stride_bytes == bytes;
}

bool Executor::addresses_exist(const SharedMemory& shared, const Address& address, int bytes) {
  const auto width = static_cast<std::uint32_t>(bytes);
  const std::uint32_t first = address.of(thread_of(0));
  if (is_contiguous(address, bytes) && first % width == 0 &&
      shared.contains(first, width * warp_threads))
    return true;
  bool exist = true;
  const auto refuse = [&](Fault fault, int lane, std::uint32_t at) {
    if (exist) fail(fault, lane, at);
    exist = false;
  };
  for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(thread_of(lane));
    if (at % width != 0) refuse(Fault::SharedUnaligned, lane, at);
    if (!shared.contains(at, width)) refuse(Fault::SharedMemoryOutOfRange, lane, at);
  });
  return exist;
}

// All lanes' bytes, in one range where they are adjacent.
bool Executor::shared_access(AccessKind kind, const Address& address, int bytes, AccessId& id) {
  const int cta_number = cta_of(address);
  if (!reach_cta(cta_number, first_lane()) || !has_started(cta_number, first_lane())) return false;
  Cta& cta = c_.ctas_[static_cast<std::size_t>(cta_number)];
  if (!addresses_exist(cta.shared, address, bytes)) return false;

  const auto width = static_cast<std::uint32_t>(bytes);
  Access access = generic_access(kind);
  access.base = address.of(thread_of(0));
  access.stride_bytes = address.stride_bytes;
  access.width = static_cast<std::uint16_t>(width);
  if (address.table) {
    access.base = address.base;
    access.table = address.table->data() + thread_of(0);
  }
  id = c_.log_.add(access);
  const auto record = [&](std::uint32_t begin, std::uint32_t end) {
    return settle(cta.provenance.record({begin, end}, id, knowledge(), c_.log_, c_.streams_), id,
                  cta_number);
  };
  if (is_contiguous(address, bytes)) return record(access.base, access.base + width * warp_threads);
  bool fine = true;
  for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(thread_of(lane));
    fine = fine && record(at, at + width);
  });
  return fine;
}

// The words of all lanes; lane by lane where their bytes are adjacent.
template <class Visit>
void Executor::for_each_word(const Address& address, int bytes, Visit visit) {
  if (is_contiguous(address, bytes)) {
    const std::uint32_t first = address.of(thread_of(0));
    for (int word = 0; word < bytes / 4; ++word)
      for (std::uint32_t lane = 0; lane < warp_threads; ++lane)
        visit(lane, word,
              first + lane * static_cast<std::uint32_t>(bytes) +
                  4u * static_cast<std::uint32_t>(word));
    return;
  }
  for_each_lane([&](int lane) {
    const std::uint32_t at = address.of(thread_of(lane));
    for (int word = 0; word < bytes / 4; ++word)
      visit(static_cast<std::size_t>(lane), word, at + 4 * static_cast<std::uint32_t>(word));
  });
}

void Executor::execute(const LoadShared& i) {
  AccessId id = 0;
  const RegisterRange regs = {i.reg, i.bytes / 4};
  if (!shared_access(AccessKind::Load, i.from, i.bytes, id) || !writes(regs)) return;
  note_loaded(id, regs);
  const SharedMemory& shared = c_.ctas_[static_cast<std::size_t>(cta_of(i.from))].shared;
  if (i.bytes == 4 && is_contiguous(i.from, i.bytes)) {
    reg(i.reg) = shared.load<std::array<std::uint32_t, warp_threads>>(i.from.of(thread_of(0)));
    return;
  }
  for_each_word(i.from, i.bytes, [&](std::size_t lane, int word, std::uint32_t at) {
    reg(i.reg + word)[lane] = shared.load<std::uint32_t>(at);
  });
}

void Executor::execute(const StoreShared& i) {
  AccessId id = 0;
  if (!reads({i.reg, i.bytes / 4}) || !shared_access(AccessKind::Store, i.to, i.bytes, id)) return;
  SharedMemory& shared = c_.ctas_[static_cast<std::size_t>(cta_of(i.to))].shared;
  if (i.bytes == 4 && is_contiguous(i.to, i.bytes))
    return shared.store(i.to.of(thread_of(0)), reg(i.reg));
  for_each_word(i.to, i.bytes, [&](std::size_t lane, int word, std::uint32_t at) {
    shared.store(at, reg(i.reg + word)[lane]);
  });
}

// --- matrices --------------------------------------------------------------------------------------

bool Executor::touch_rows(AccessId access, int cta_number,
                          const std::array<std::uint32_t, 32>& rows, int count) {
  constexpr std::uint32_t row_bytes = 16;
  Cta& cta = c_.ctas_[static_cast<std::size_t>(cta_number)];
  for (int row = 0; row < 8 * count; ++row) {
    const std::uint32_t at = rows[static_cast<std::size_t>(row)];
    const Conflict conflict =
        cta.provenance.record({at, at + row_bytes}, access, knowledge(), c_.log_, c_.streams_);
    if (!settle(conflict, access, cta_number)) return false;
  }
  return true;
}

template <class MatrixOp>
void Executor::matrices(const Address& rows, int first, int count, bool transposed,
                        AccessKind kind) {
  if (!all_lanes_take_part()) return;
  MatrixOp op;
  op.operand.count = count;
  op.operand.transposed = transposed;
  for (int lane = 0; lane < warp_threads; ++lane)
    op.operand.addresses[static_cast<std::size_t>(lane)] = rows.of(thread_of(lane));
  Cta& cta = c_.ctas_[static_cast<std::size_t>(warp_.cta)];
  if (const Fault fault = matrix::check(op.operand, cta.shared); fault != Fault::None)
    return fail(fault);
  const AccessId access = c_.log_.add(generic_access(kind));
  if (!touch_rows(access, warp_.cta, op.operand.addresses, count)) return;
  matrix::WarpRegisters registers{};
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    for (int r = 0; r < count; ++r)
      registers[lane][static_cast<std::size_t>(r)] = reg(first + r)[lane];
  matrix::execute(cta.shared, registers, op);
  if (kind != AccessKind::Load) return;
  note_loaded(access, {first, count});
  for (std::size_t lane = 0; lane < warp_threads; ++lane)
    for (int r = 0; r < count; ++r)
      reg(first + r)[lane] = registers[lane][static_cast<std::size_t>(r)];
}

void Executor::execute(const LoadMatrices& i) {
  if (!writes({i.reg, i.count})) return;
  matrices<matrix::LoadMatrix>(i.rows, i.reg, i.count, i.transposed, AccessKind::Load);
}

void Executor::execute(const StoreMatrices& i) {
  if (!reads({i.reg, i.count})) return;
  matrices<matrix::StoreMatrix>(i.rows, i.reg, i.count, i.transposed, AccessKind::Store);
}

// --- the proxy fence -------------------------------------------------------------------------------

void Executor::execute(const FenceProxyAsync&) {
  ++warp_.fences;
  if (lanes_ == all_lanes) {
    warp_.clock.raise(c_.streams_.fences(warp_.number), warp_.fences);
  } else {
    for_each_lane([&](int lane) {
      warp_.clock.raise(c_.streams_.make_lane_fences(warp_.number, lane), warp_.fences);
    });
  }
  for (FenceClock& fence : warp_.at_fence) fence.lanes &= ~lanes_;
  std::erase_if(warp_.at_fence, [](const FenceClock& fence) { return fence.lanes == 0; });
  warp_.at_fence.push_back({lanes_, warp_.clock});
}

}  // namespace tcq::machine
