// tcgen05.ld, st, cp, shift and mma: which cells and bytes they touch, and whether they may.
//
// Order is checked when an instruction is issued, against what its warp knows then; the data moves
// later (tmem_data.cc). Which cells a shape touches is sim/isa's business.
//
// Source: PTX ISA 9.2, 9.7.16.6, 9.7.16.8, 9.7.16.9, 9.7.16.10.9.
// Inferred: a use of a register that a ld fills waits for its value and orders nothing else; st
// takes its registers when it is issued; shift moves all lanes from its address on. An address of ld
// or st with the lane bits of warp 0 is taken as the warp's own, which is disputed: DeepGEMM 54e22612
// passes lane 0, and lane 16 for 16x256b, in every warp of its epilogues ("the hardware will ignore
// the warp index bits", sm100_store_cd.cuh, sm100_store_cd_swap_ab.cuh). Other foreign lanes are not.
#include <algorithm>

#include "sim/async/executor.h"
#include "sim/isa/tmem/operand.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::machine {
namespace {

constexpr std::uint32_t chunk_bytes = 16;

// Of A and B in shared memory, along K. Source: PTX ISA 9.2, 9.7.16.2.1 "Matrix shape".
constexpr int mma_row_bytes = 32;

// The groups that lanes [first, first + count) lie in.
std::uint32_t groups_of(int first, int count) {
  std::uint32_t groups = 0;
  for (int g = first / tmem_group_lanes; g * tmem_group_lanes < first + count; ++g)
    groups |= 1u << g;
  return groups;
}

// Those of the half of each 32 lanes that a layout of 16 lanes uses.
std::uint32_t groups_of(tcgen05::Datapath datapath, int lane_base) {
  if (!tcgen05::is_half_datapath(datapath)) return all_tmem_groups;
  std::uint32_t groups = 0;
  for (int g = lane_base / tmem_group_lanes; g < tmem_groups; g += 2) groups |= 1u << g;
  return groups;
}

bool overlap(const TmemRegion& a, const TmemRegion& b) {
  return (a.groups & b.groups) != 0 && a.first_column < b.first_column + b.columns &&
         b.first_column < a.first_column + a.columns;
}

TmemCells cells_of(const TmemRegion& region) {
  TmemCells cells = {0, 0, region.first_column, region.columns};
  for (int g = 0; g < tmem_groups; ++g) {
    if ((region.groups >> g & 1) == 0) continue;
    if (cells.lanes == 0) cells.first_lane = g * tmem_group_lanes;
    cells.lanes = (g + 1) * tmem_group_lanes - cells.first_lane;
  }
  return cells;
}

template <class Visit>
void for_each_cell(const TmemRegion& region, Visit visit) {
  for (int column = region.first_column; column < region.first_column + region.columns; ++column)
    for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
      if ((region.groups >> (lane / tmem_group_lanes) & 1) != 0) visit(tcgen05::Cell{lane, column});
}

}  // namespace

// --- accesses and their order ----------------------------------------------------------------------

TmemAccess Executor::tmem_access(TmemAction action, bool writes) const {
  TmemAccess access;
  access.action = action;
  access.writes = writes;
  access.warp = static_cast<std::uint16_t>(warp_.number);
  access.statement = number_;
  access.epoch = warp_.clock.at(c_.streams_.epochs(warp_.number));
  access.commits = warp_.tmem.commits;
  access.commits_before = warp_.tmem.commits_issued;
  return access;
}

TmemAccess Executor::thread_access(TmemAction action, bool writes,
                                   const Tcgen05Thread& thread) const {
  TmemAccess access = tmem_access(action, writes);
  access.cta_group = static_cast<std::uint8_t>(thread.cta_group);
  access.lane = static_cast<std::int8_t>(thread.lane);
  access.operation = c_.tcgen05_.next_number;
  access.issue = thread.issue;
  access.done = access.waited = thread.done;
  access.tick = thread.issued;
  return access;
}

TmemAccess Executor::transfer_access(TmemAction action, TmemTransfers& transfers) {
  if (transfers.done == 0) {
    transfers.done = c_.streams_.make();
    transfers.waited = c_.streams_.make();
    transfers.used = c_.streams_.make();
  }
  TmemAccess access = tmem_access(action, action == TmemAction::St);
  access.operation = c_.tcgen05_.next_number;
  access.issue = access.done = transfers.done;
  access.waited = transfers.waited;
  access.used = transfers.used;
  access.tick = transfers.issued + 1;
  return access;
}

bool Executor::touch_tmem(int cta, const TmemRegion& region, const TmemAccess& access,
                          std::vector<std::uint32_t>& before) {
  if (!columns_usable(cta, region)) return false;
  TmemHistory& history = c_.tcgen05_.history;
  history.compact();
  const TmemAccessId id = history.add(access);
  const TmemConflict conflict = history.record(cta, region, id, tmem_knowledge(), before);
  if (conflict.verdict == TmemVerdict::Disputed) return !is_refused(cta, conflict, access);
  if (conflict.verdict != TmemVerdict::Unordered) return true;
  fail_unordered(cta, conflict, access);
  return false;
}

// Reported; the access goes on as published kernels rely on, unless the caller lets it fail.
bool Executor::is_refused(int cta, const TmemConflict& conflict, const TmemAccess& next) {
  const TmemAccess& first = c_.tcgen05_.history[conflict.earlier];
  const TmemDispute dispute = dispute_of(first, next, tmem_knowledge());
  const Fault fault = dispute == TmemDispute::Fence   ? Fault::TmemFenceOmitted
                      : dispute == TmemDispute::Value ? Fault::TmemWaitOmitted
                                                      : Fault::TmemOrderAssumed;
  return c_.stops_at({.fault = fault,
                      .at = place(std::popcount(lanes_) == 1 ? first_lane() : -1),
                      .earlier = {first.statement, first.warp, first.lane},
                      .cta = cta,
                      .tmem = cells_of(conflict.where)});
}

namespace {

Fault fault_of_lack(TmemLack lack) {
  switch (lack) {
    case TmemLack::Synchronisation: return Fault::TmemRace;
    case TmemLack::Wait: return Fault::TmemWaitMissing;
    case TmemLack::Completion: return Fault::TmemNotComplete;
    case TmemLack::FenceBefore: return Fault::TmemFenceBeforeMissing;
    case TmemLack::FenceAfter: return Fault::TmemFenceAfterMissing;
  }
  return Fault::TmemRace;
}

}  // namespace

void Executor::fail_unordered(int cta, const TmemConflict& conflict, const TmemAccess& next) {
  const TmemAccess& first = c_.tcgen05_.history[conflict.earlier];
  const Warp& warp = c_.warps_[first.warp];
  const TmemLack lack = lack_of(first, next, tmem_knowledge(), c_.streams_.epochs(first.warp));
  // A commit of its warp that does not track it: of another thread, or of the other cta_group.
  Place hint;
  if (lack == TmemLack::Completion && warp.tmem.commits_issued > first.commits_before)
    for (const Tcgen05Thread& thread : c_.tcgen05_.threads)
      if (thread.done == first.done && thread.committed < first.tick) hint = warp.tmem.last_commit;
  fail_at_cells(fault_of_lack(lack), cta, cells_of(conflict.where),
                {first.statement, first.warp, first.lane}, hint);
}

void Executor::note_unwritten(int cta, const TmemCells& cells) {
  c_.tcgen05_.uninitialized.push_back(
      {.fault = Fault::TmemUninitialized, .at = place(first_lane()), .cta = cta, .tmem = cells});
}

// The first cell that nothing has written is remembered.
void Executor::check_written(int cta, const TmemRegion& region) {
  const TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(cta)];
  bool written = true;
  for_each_cell(region, [&](tcgen05::Cell cell) { written = written && memory.is_written(cell); });
  if (!written) note_unwritten(cta, cells_of(region));
}

void Executor::start_operation(Tcgen05Operation operation) {
  operation.number = c_.tcgen05_.next_number++;
  operation.statement = number_;
  operation.warp = warp_.number;
  const std::uint32_t number = operation.number;
  c_.tcgen05_.operations.push_back(std::move(operation));
  if (c_.timing_ == Timing::Earliest) move_tmem(c_, number);
}

// --- ld and st -------------------------------------------------------------------------------------

// A ld whose every value was used has read its cells; an older one that was not keeps it back.
void Executor::note_ld_used(RegisterRange range) {
  auto& unused = warp_.tmem.unused;
  for (UnusedLoad& load : unused)
    for (std::size_t r = 0; r < load.lanes.size(); ++r) {
      const int reg = load.reg + static_cast<int>(r);
      if (reg >= range.first && reg < range.first + range.count) load.lanes[r] &= ~lanes_;
    }
  const auto open = std::find_if(unused.begin(), unused.end(), [](const UnusedLoad& load) {
    return std::any_of(load.lanes.begin(), load.lanes.end(), [](auto lanes) { return lanes != 0; });
  });
  if (open == unused.begin()) return;
  warp_.clock.raise(warp_.tmem.loads.used, std::prev(open)->tick);
  unused.erase(unused.begin(), open);
}

// Before anything else touches registers: what a ld in flight fills must be there.
void Executor::use_registers(RegisterRange range, bool reads) {
  std::vector<std::uint32_t> numbers;
  for (const Tcgen05Operation& operation : c_.tcgen05_.operations) {
    if (operation.warp != warp_.number || operation.action != TmemAction::Ld) continue;
    const auto& ld = std::get<Tcgen05Ld>(c_.statements_[operation.statement]->what);
    if (ld.reg < range.first + range.count && range.first < ld.reg + registers(ld.fragment))
      numbers.push_back(operation.number);
  }
  for (const std::uint32_t number : numbers) move_tmem(c_, number);
  if (reads) note_ld_used(range);
  auto& poison = warp_.tmem.poison;
  for (int r = range.first; r < range.first + range.count; ++r) {
    if (static_cast<std::size_t>(r) >= poison.size()) break;
    PoisonedRegister& found = poison[static_cast<std::size_t>(r)];
    if (reads && (found.lanes & lanes_) != 0)
      c_.tcgen05_.uninitialized.push_back({.fault = found.fault,
                                           .at = place(),
                                           .earlier = found.ld,
                                           .cta = warp_.cta,
                                           .tmem = found.cells});
    found.lanes = reads ? found.lanes & ~lanes_ : 0;
  }
}

namespace {

// The cells of a ld or st that starts at `at`: one or two runs of columns.
std::vector<TmemRegion> regions_of(const tcgen05::Fragment& f, tcgen05::TmemAddress at) {
  const std::uint32_t groups = groups_of(at.tmem_lane, tcgen05::fragment_lanes(f.shape));
  std::vector<TmemRegion> regions = {{groups, at.tmem_column, run_columns(f)}};
  if (f.shape == tcgen05::LdShape::S16x32bx2)
    regions.push_back({groups, at.tmem_column + f.half_split, run_columns(f)});
  return regions;
}

}  // namespace

bool Executor::transfer(TmemAction action, const tcgen05::Fragment& f, const TmemOperand& operand,
                        TmemTransfers& transfers, Tcgen05Operation& operation) {
  if (!all_lanes_take_part() || !resolve(operand, operation.at)) return false;
  tcgen05::TmemAddress& at = operation.at;
  const int lanes = tcgen05::fragment_lanes(f.shape);
  const int first_lanes = tcgen05::first_tmem_lane(warp_.index);
  // As if the bits of the warp's quarter, which are all 0, were ignored.
  if (first_lanes != 0 && tcgen05::is_lane_base(f.shape, 0, at.tmem_lane)) {
    if (c_.stops_at({.fault = Fault::TmemLaneIgnored,
                     .at = place(),
                     .cta = warp_.cta,
                     .number = warp_.index,
                     .tmem = {at.tmem_lane, lanes, at.tmem_column, footprint_columns(f)}}))
      return false;
    at.tmem_lane += first_lanes;
  }
  if (!tcgen05::is_lane_base(f.shape, warp_.index, at.tmem_lane)) {
    const bool own = at.tmem_lane >= 0 && at.tmem_lane < tcgen05::tmem_lanes &&
                     tcgen05::warp_of_tmem_lane(at.tmem_lane) == warp_.index % 4;
    fail_at_cells(own ? Fault::TmemLaneAlignment : Fault::TmemLaneNotOwned, warp_.cta,
                  {at.tmem_lane, lanes, at.tmem_column, footprint_columns(f)}, {}, {}, warp_.index);
    return false;
  }
  const TmemAccess access = transfer_access(action, transfers);
  for (const TmemRegion& region : regions_of(f, at))
    if (!touch_tmem(warp_.cta, region, access, operation.before)) return false;
  operation.action = action;
  operation.tick = ++transfers.issued;
  return true;
}

void Executor::execute(const Tcgen05Ld& i) {
  const RegisterRange range{i.reg, registers(i.fragment)};
  Tcgen05Operation operation;
  if (!transfer(TmemAction::Ld, i.fragment, i.from, warp_.tmem.loads, operation) || !writes(range))
    return;
  const TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(warp_.cta)];
  auto& poison = warp_.tmem.poison;
  poison.resize(warp_.registers.of_reg.size());
  for (int r = 0; r < range.count; ++r)
    for (int slot = 0; slot < warp_threads * halves(i.fragment); ++slot) {
      const int lane = slot % warp_threads;
      const tcgen05::Cell offset = fragment_cell(i.fragment, {lane, r, slot / warp_threads});
      const tcgen05::Cell cell = {operation.at.tmem_lane + offset.tmem_lane,
                                  operation.at.tmem_column + offset.tmem_column};
      if (memory.is_written(cell)) continue;
      PoisonedRegister& found = poison[static_cast<std::size_t>(i.reg + r)];
      if (found.lanes == 0) {
        found.ld = place();
        found.cells = {cell.tmem_lane, 1, cell.tmem_column, 1};
        found.fault = fault_of_unwritten(warp_.cta, cell);
      }
      found.lanes |= 1u << lane;
    }
  warp_.tmem.unused.push_back(
      {operation.tick, i.reg,
       std::vector<std::uint32_t>(static_cast<std::size_t>(range.count), all_lanes)});
  start_operation(std::move(operation));
}

// What a shift left open is nobody's mistake.
Fault Executor::fault_of_unwritten(int cta, tcgen05::Cell cell) const {
  const TmemAccessId writer = c_.tcgen05_.history.writer(cta, cell);
  const bool shifted = writer != 0 && c_.tcgen05_.history[writer].action == TmemAction::Shift;
  return shifted && tcgen05::shift_source(cell.tmem_lane).fault != Fault::None
             ? Fault::UnmodelledShiftEdge
             : Fault::TmemUninitialized;
}

void Executor::execute(const Tcgen05St& i) {
  const RegisterRange range{i.reg, registers(i.fragment)};
  Tcgen05Operation operation;
  if (!reads(range) || !transfer(TmemAction::St, i.fragment, i.to, warp_.tmem.stores, operation))
    return;
  for (int r = range.first; r < range.first + range.count; ++r)
    operation.registers.push_back(reg(r));
  TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(warp_.cta)];
  for (const TmemRegion& region : regions_of(i.fragment, operation.at))
    for_each_cell(region, [&](tcgen05::Cell cell) { memory.mark(cell, true); });
  start_operation(std::move(operation));
}

// --- operands in shared memory ---------------------------------------------------------------------

namespace {

// Calls visit(address) for every 16 bytes of an operand of `rows` rows of row_bytes along K, or, if
// MN-major, of as many steps along K as row_bytes hold elements.
template <class Visit>
void for_each_chunk(const SmemOperand& operand, int rows, int row_bytes, int element_bytes,
                    Visit visit) {
  const bool k_major = operand.layout.major == Major::K;
  const int outer = k_major ? rows : row_bytes / element_bytes;
  const int contiguous = k_major ? row_bytes : rows * element_bytes;
  for (int i = 0; i < outer; ++i)
    for (int byte = 0; byte < contiguous; byte += static_cast<int>(chunk_bytes)) {
      const auto o = static_cast<std::uint32_t>(i);
      const auto c = static_cast<std::uint32_t>(byte);
      visit(operand.swizzle.apply(
          operand.start_bytes +
              offset_bytes(operand.layout, k_major ? OperandByte{o, c} : OperandByte{c, o}),
          operand.base_offset));
    }
}

}  // namespace

bool Executor::touch_operand(const SmemOperand& operand, int cta_number, OperandExtent extent,
                             const Tcgen05Thread& thread) {
  Cta& cta = c_.ctas_[static_cast<std::size_t>(cta_number)];
  Access access = generic_access(AccessKind::Tcgen05Read);
  access.stream = thread.done;
  access.tick = thread.issued;
  const AccessId id = c_.log_.add(access);
  bool fine = true;
  for_each_chunk(operand, extent.rows, extent.row_bytes, extent.element_bytes,
                 [&](std::uint32_t address) {
                   if (!fine) return;
                   fine = cta.shared.contains(address, chunk_bytes);
                   if (!fine) return fail(Fault::SharedMemoryOutOfRange, first_lane(), address);
                   fine = settle(cta.provenance.record({address, address + chunk_bytes}, id,
                                                       knowledge(), c_.log_, c_.streams_),
                                 id, cta_number);
                 });
  return fine;
}

// A CTA must not end before the operation, and its issuer must have told one of its warps.
void Executor::note_exit(int cta, const Tcgen05Thread& thread) {
  c_.note_exit_use(cta, {thread.done, thread.issued, place(first_lane()), {}, cta != warp_.cta});
}

// --- cp and shift ----------------------------------------------------------------------------------

void Executor::execute(const Tcgen05Cp& i) {
  const std::vector<int> ctas =
      one_lane_issues_tcgen05() ? ctas_of(i.cta_group) : std::vector<int>();
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve(i.to, operation.at)) return;
  if (operation.at.tmem_lane != 0)
    return fail_at_cells(Fault::TmemLaneAlignment, warp_.cta,
                         {operation.at.tmem_lane, 1, operation.at.tmem_column, 1});
  const int columns = cp_columns(i.shape);
  const bool four_lanes = i.shape == tcgen05::CpShape::S4x256b;
  const TmemRegion region = {four_lanes ? all_tmem_groups & 0x55u : all_tmem_groups,
                             operation.at.tmem_column, columns};
  Tcgen05Thread& thread = tcgen05_thread(i.cta_group);
  operation.tick = ++thread.issued;
  thread.last = place(first_lane());
  const TmemAccess access =
      thread_access(four_lanes ? TmemAction::Cp4x256b : TmemAction::Cp, true, thread);
  for (const int cta : ctas) {
    const OperandExtent extent{cp_rows(i.shape), cp_row_bytes(i.shape), 1};
    if (!touch_operand(i.from, cta, extent, thread) ||
        !touch_tmem(cta, region, access, operation.before))
      return;
    TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(cta)];
    for_each_cell(region, [&](tcgen05::Cell cell) {
      if (is_written(i.shape, {cell.tmem_lane, cell.tmem_column - region.first_column}))
        memory.mark(cell, true);
    });
    note_exit(cta, thread);
  }
  operation.action = access.action;
  operation.thread = static_cast<int>(&thread - c_.tcgen05_.threads.data());
  start_operation(std::move(operation));
}

void Executor::execute(const Tcgen05Shift& i) {
  const std::vector<int> ctas =
      one_lane_issues_tcgen05() ? ctas_of(i.cta_group) : std::vector<int>();
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve(i.at, operation.at)) return;
  const tcgen05::TmemAddress at = operation.at;
  const int lanes = tcgen05::tmem_lanes - at.tmem_lane;
  if (at.tmem_lane < 0 || lanes <= 0 || at.tmem_lane % tcgen05::lanes_per_warp != 0)
    return fail_at_cells(Fault::TmemLaneAlignment, warp_.cta, {at.tmem_lane, 1, at.tmem_column, 1});
  const TmemRegion region = {groups_of(at.tmem_lane, lanes), at.tmem_column,
                             tcgen05::shift_columns};
  Tcgen05Thread& thread = tcgen05_thread(i.cta_group);
  operation.tick = ++thread.issued;
  thread.last = place(first_lane());
  const TmemAccess access = thread_access(TmemAction::Shift, true, thread);
  for (const int cta : ctas) {
    if (!touch_tmem(cta, region, access, operation.before)) return;
    TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(cta)];
    for_each_cell(region, [&](tcgen05::Cell cell) {  // lanes upwards: the source is still old
      const tcgen05::ShiftSource source = tcgen05::shift_source(cell.tmem_lane);
      memory.mark(cell, source.fault == Fault::None &&
                            memory.is_written({source.tmem_lane, cell.tmem_column}));
    });
    note_exit(cta, thread);
  }
  operation.action = TmemAction::Shift;
  operation.thread = static_cast<int>(&thread - c_.tcgen05_.threads.data());
  start_operation(std::move(operation));
}

// --- mma -------------------------------------------------------------------------------------------

namespace {

// What one mma uses in the Tensor Memory of each of its CTAs.
struct MmaRegions {
  TmemRegion d;
  std::vector<TmemRegion> reads;  // A, scale factors
};

MmaRegions regions_of(const Tcgen05Mma& i, const Tcgen05Operation& operation) {
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  MmaRegions regions;
  regions.d = {groups_of(datapath, operation.at.tmem_lane), operation.at.tmem_column,
               columns(tcgen05::Accumulator{datapath, i.idesc.n, operation.at.tmem_lane})};
  const tcgen05::TmemA a = {datapath, i.opcode.kind, operation.a.tmem_lane};
  if (i.opcode.a_place == tcgen05::Place::Tmem)
    regions.reads.push_back({groups_of(datapath, operation.a.tmem_lane), operation.a.tmem_column,
                             a_columns(a, tcgen05::products(i.opcode.kind))});
  const int factors = tcgen05::scale_count(i.opcode);
  if (factors == 0) return regions;
  const auto sfa = tcgen05::sfa_buffer(i.idesc.m, i.opcode.cta_group);
  const auto sfb = tcgen05::sfb_buffer(i.idesc.m, i.idesc.n, i.opcode.cta_group);
  regions.reads.push_back(
      {all_tmem_groups, operation.scale_a.tmem_column, scale_columns(sfa, factors)});
  regions.reads.push_back(
      {all_tmem_groups, operation.scale_b.tmem_column, scale_columns(sfb, factors)});
  return regions;
}

}  // namespace

bool Executor::resolve_mma(const Tcgen05Mma& i, Tcgen05Operation& operation) {
  const bool a_in_tmem = i.opcode.a_place == tcgen05::Place::Tmem;
  const bool scaled = is_block_scaled(i.opcode.kind);
  if (!resolve(i.d, operation.at) || (a_in_tmem && !resolve(i.a_tmem, operation.a)) ||
      (scaled &&
       (!resolve(i.scale_a, operation.scale_a) || !resolve(i.scale_b, operation.scale_b))))
    return false;
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  const bool lanes_suit = is_lane_base(datapath, operation.at.tmem_lane) &&
                          (!a_in_tmem || operation.a.tmem_lane == operation.at.tmem_lane);
  if (!lanes_suit)
    fail_at_cells(Fault::TmemLaneAlignment, warp_.cta,
                  {operation.at.tmem_lane, 1, operation.at.tmem_column, 1});
  return lanes_suit;
}

// A, scale factors and D of one CTA.
bool Executor::touch_mma_tmem(const Tcgen05Mma& i, int cta, Tcgen05Operation& operation,
                              const Tcgen05Thread& thread) {
  const MmaRegions regions = regions_of(i, operation);
  for (const TmemRegion& region : regions.reads) {
    if (overlap(region, regions.d)) {
      fail_at_cells(Fault::TmemOverlap, cta, cells_of(region));
      return false;
    }
    if (!touch_tmem(cta, region, thread_access(TmemAction::Mma, false, thread), operation.before))
      return false;
    check_written(cta, region);
  }
  TmemAccess access = thread_access(TmemAction::Mma, true, thread);
  access.accumulator = {operation.at.tmem_lane, operation.at.tmem_column, i.idesc.m, i.idesc.n,
                        i.opcode.kind};
  if (!touch_tmem(cta, regions.d, access, operation.before)) return false;
  if (i.accumulate) check_written(cta, regions.d);
  TensorMemory& memory = c_.tcgen05_.memory[static_cast<std::size_t>(cta)];
  for_each_cell(regions.d, [&](tcgen05::Cell cell) { memory.mark(cell, true); });
  return true;
}

void Executor::execute(const Tcgen05Mma& i) {
  const int group = i.opcode.cta_group;
  const std::vector<int> ctas = one_lane_issues_tcgen05() ? ctas_of(group) : std::vector<int>();
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve_mma(i, operation)) return;
  Tcgen05Thread& thread = tcgen05_thread(group);
  operation.tick = ++thread.issued;
  thread.last = place(first_lane());
  const int element_bytes = std::max(1, tcgen05::tmem_container_bits(i.opcode.kind) / 8);
  const OperandExtent a = {i.idesc.m / group, mma_row_bytes, element_bytes};
  const OperandExtent b = {i.idesc.n / group, mma_row_bytes, element_bytes};
  for (const int cta : ctas) {
    if (i.opcode.a_place == tcgen05::Place::Smem && !touch_operand(i.a, cta, a, thread)) return;
    if (!touch_operand(i.b, cta, b, thread) || !touch_mma_tmem(i, cta, operation, thread)) return;
    note_exit(cta, thread);
  }
  operation.thread = static_cast<int>(&thread - c_.tcgen05_.threads.data());
  start_operation(std::move(operation));
}

}  // namespace tcq::machine
