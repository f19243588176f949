#include "sim/async/instructions/tmem.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "sim/async/access.h"
#include "sim/async/instructions/tcgen05.h"
#include "sim/async/register_file.h"
#include "sim/async/tmem_access.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/operand.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::machine {

// --- ld and st -------------------------------------------------------------------------------------

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

// The cells of a ld or st that starts at `at`: one or two runs of columns.
std::vector<TmemRegion> regions_of(const tcgen05::Fragment& f, tcgen05::TmemAddress at) {
  const std::uint32_t groups = groups_of(at.tmem_lane, tcgen05::fragment_lanes(f.shape));
  std::vector<TmemRegion> regions = {{groups, at.tmem_column, run_columns(f)}};
  if (f.shape == tcgen05::LdShape::S16x32bx2)
    regions.push_back({groups, at.tmem_column + f.half_split, run_columns(f)});
  return regions;
}

// Lanes counted on over both CTAs of a pair, as if the bit above a CTA's lanes were ignored, too.
bool is_pairs_lane(const Step& s, const tcgen05::Fragment& f, const tcgen05::TmemAddress& at) {
  if (at.tmem_column < 0 || at.tmem_column >= tcgen05::tmem_columns) return false;
  const TmemAllocated* holder = s.c.pool(s.warp.cta).holder(at.tmem_column);
  return s.warp.cta % 2 == 1 && holder != nullptr && holder->cta_group == 2 &&
         tcgen05::is_lane_base(f.shape, s.warp.index, at.tmem_lane - tcgen05::tmem_lanes);
}

bool transfer(Step& s, TmemAction action, const tcgen05::Fragment& f, const TmemOperand& operand,
              TmemTransfers& transfers, Tcgen05Operation& operation) {
  if (!s.all_lanes_take_part() || !resolve(s, operand, operation.at)) return false;
  tcgen05::TmemAddress& at = operation.at;
  const int lanes = tcgen05::fragment_lanes(f.shape);
  const int first_lanes = tcgen05::first_tmem_lane(s.warp.index);
  // As if the bits of the warp's quarter, which are all 0, were ignored.
  const bool of_pair = is_pairs_lane(s, f, at);
  if (of_pair || (first_lanes != 0 && tcgen05::is_lane_base(f.shape, 0, at.tmem_lane))) {
    if (s.c.stops_at({.fault = Fault::TmemLaneIgnored,
                      .at = s.place(),
                      .cta = s.warp.cta,
                      .number = s.warp.index,
                      .tmem = {at.tmem_lane, lanes, at.tmem_column, footprint_columns(f)}}))
      return false;
    at.tmem_lane += of_pair ? -tcgen05::tmem_lanes : first_lanes;
  }
  if (!tcgen05::is_lane_base(f.shape, s.warp.index, at.tmem_lane)) {
    const bool own = at.tmem_lane >= 0 && at.tmem_lane < tcgen05::tmem_lanes &&
                     tcgen05::warp_of_tmem_lane(at.tmem_lane) == s.warp.index % 4;
    fail_at_cells(s, own ? Fault::TmemLaneAlignment : Fault::TmemLaneNotOwned, s.warp.cta,
                  {at.tmem_lane, lanes, at.tmem_column, footprint_columns(f)}, {}, {},
                  s.warp.index);
    return false;
  }
  const TmemAccess access = transfer_access(s, action, transfers);
  for (const TmemRegion& region : regions_of(f, at))
    if (!touch_tmem(s, s.warp.cta, region, access, operation.before)) return false;
  operation.action = action;
  operation.tick = ++transfers.issued;
  return true;
}

// What a shift left open is nobody's mistake.
Fault fault_of_unwritten(const Step& s, int cta, tcgen05::Cell cell) {
  const TmemAccessId writer = s.c.tcgen05.history.writer(cta, cell);
  const bool shifted = writer != 0 && s.c.tcgen05.history[writer].action == TmemAction::Shift;
  return shifted && tcgen05::shift_source(cell.tmem_lane).fault != Fault::None
             ? Fault::UnmodelledShiftEdge
             : Fault::TmemUninitialized;
}

Fault check_fragment(const tcgen05::Fragment& f) {
  const bool exists = f.num >= 1 && f.num <= 128 && tcgen05::registers(f) <= 128;
  return exists && f.half_split >= 0 ? Fault::None : Fault::ProgramMalformed;
}

}  // namespace

Fault Tcgen05Ld::check(const Bounds&) const { return check_fragment(fragment); }
Fault Tcgen05St::check(const Bounds&) const { return check_fragment(fragment); }

std::string Tcgen05Ld::text(const Names& names) const {
  const tcgen05::LdForm form{fragment.shape, fragment.num, fragment.packed};
  return joined(names.opcode(opcode(form)), " ", text_of(range()), ", [", text_of(from), "]");
}
std::string Tcgen05St::text(const Names& names) const {
  const tcgen05::StForm form{fragment.shape, fragment.num, fragment.packed};
  return joined(names.opcode(opcode(form)), " [", text_of(to), "], ", text_of(range()));
}

void Tcgen05Ld::execute(Step& s) const {
  Tcgen05Operation operation;
  if (!transfer(s, TmemAction::Ld, fragment, from, s.warp.tmem.loads, operation) ||
      !writes(s, range()))
    return;
  const TensorMemory& memory = s.c.memory(s.warp.cta);
  auto& poison = s.warp.tmem.poison;
  poison.resize(s.warp.registers.of_reg.size());
  for (int r = 0; r < range().count; ++r)
    for (int slot = 0; slot < warp_threads * halves(fragment); ++slot) {
      const int lane = slot % warp_threads;
      const tcgen05::Cell offset = fragment_cell(fragment, {lane, r, slot / warp_threads});
      const tcgen05::Cell cell = {operation.at.tmem_lane + offset.tmem_lane,
                                  operation.at.tmem_column + offset.tmem_column};
      if (memory.is_written(cell)) continue;
      PoisonedRegister& found = poison[static_cast<std::size_t>(reg + r)];
      if (found.lanes == 0) {
        found.ld = s.place();
        found.cells = {cell.tmem_lane, 1, cell.tmem_column, 1};
        found.fault = fault_of_unwritten(s, s.warp.cta, cell);
      }
      found.lanes |= 1u << lane;
    }
  s.warp.tmem.unused.push_back(
      {operation.tick, reg,
       std::vector<std::uint32_t>(static_cast<std::size_t>(range().count), all_lanes)});
  start_operation(s, *this, std::move(operation));
}

void Tcgen05St::execute(Step& s) const {
  Tcgen05Operation operation;
  if (!reads(s, range()) ||
      !transfer(s, TmemAction::St, fragment, to, s.warp.tmem.stores, operation))
    return;
  for (const int r : range()) operation.registers.push_back(s.reg(r));
  TensorMemory& memory = s.c.memory(s.warp.cta);
  for (const TmemRegion& region : regions_of(fragment, operation.at))
    for_each_cell(region, [&](tcgen05::Cell cell) { memory.mark(cell, true); });
  start_operation(s, *this, std::move(operation));
}

// --- cp and shift ----------------------------------------------------------------------------------

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

struct OperandExtent {
  int rows;
  int row_bytes;
  int element_bytes;
};

bool touch_operand(Step& s, const SmemOperand& operand, int cta, OperandExtent extent,
                   const Tcgen05Thread& thread) {
  Access access = generic_access(s, AccessKind::Tcgen05Read);
  access.stream = thread.done;
  access.tick = thread.issued;
  const AccessId id = s.c.log.add(access);
  bool fine = true;
  for_each_chunk(operand, extent.rows, extent.row_bytes, extent.element_bytes,
                 [&](std::uint32_t address) {
                   if (!fine) return;
                   fine = s.c.cta(cta).shared.contains(address, chunk_bytes);
                   if (!fine) return s.fail(Fault::SharedMemoryOutOfRange, s.first_lane(), address);
                   fine = record(s, id, cta, {address, address + chunk_bytes});
                 });
  return fine;
}

// A CTA must not end before the operation, and its issuer must have told one of its warps.
void note_exit(Step& s, int cta, const Tcgen05Thread& thread) {
  s.c.note_exit_use(cta,
                    {thread.done, thread.issued, s.place(s.first_lane()), {}, cta != s.warp.cta});
}

// The next operation of the thread that a commit tracks.
void issue(Step& s, Tcgen05Thread& thread, Tcgen05Operation& operation) {
  operation.tick = ++thread.issued;
  operation.thread = static_cast<int>(&thread - s.c.tcgen05.threads.data());
  thread.last = s.place(s.first_lane());
}

// Empty: a Fault.
std::vector<int> issuing_ctas(Step& s, int cta_group) {
  return one_lane_issues_tcgen05(s) ? ctas_of(s, cta_group) : std::vector<int>();
}

}  // namespace

Fault Tcgen05Cp::check(const Bounds&) const { return check_group(cta_group); }
Fault Tcgen05Shift::check(const Bounds&) const { return check_group(cta_group); }

std::string Tcgen05Cp::text(const Names& names) const {
  return joined(names.opcode(opcode(cp_form(shape, cta_group))), " [", text_of(to), "], [",
                names.at(from.start_bytes), "]");
}
std::string Tcgen05Shift::text(const Names& names) const {
  return joined(names.opcode(opcode(tcgen05::ShiftForm{cta_group})), " [", text_of(at), "]");
}

void Tcgen05Cp::execute(Step& s) const {
  const std::vector<int> ctas = issuing_ctas(s, cta_group);
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve(s, to, operation.at)) return;
  if (operation.at.tmem_lane != 0)
    return fail_at_cells(s, Fault::TmemLaneAlignment, s.warp.cta,
                         {operation.at.tmem_lane, 1, operation.at.tmem_column, 1});
  const int columns = cp_columns(shape);
  const bool four_lanes = shape == tcgen05::CpShape::S4x256b;
  const TmemRegion region = {four_lanes ? all_tmem_groups & 0x55u : all_tmem_groups,
                             operation.at.tmem_column, columns};
  Tcgen05Thread& thread = tcgen05_thread(s, cta_group);
  issue(s, thread, operation);
  const TmemAccess access =
      thread_access(s, four_lanes ? TmemAction::Cp4x256b : TmemAction::Cp, true, thread);
  for (const int cta : ctas) {
    const OperandExtent extent{cp_rows(shape), cp_row_bytes(shape), 1};
    if (!touch_operand(s, from, cta, extent, thread) ||
        !touch_tmem(s, cta, region, access, operation.before))
      return;
    TensorMemory& memory = s.c.memory(cta);
    for_each_cell(region, [&](tcgen05::Cell cell) {
      if (is_written(shape, {cell.tmem_lane, cell.tmem_column - region.first_column}))
        memory.mark(cell, true);
    });
    note_exit(s, cta, thread);
  }
  operation.action = access.action;
  start_operation(s, *this, std::move(operation));
}

void Tcgen05Shift::execute(Step& s) const {
  const std::vector<int> ctas = issuing_ctas(s, cta_group);
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve(s, at, operation.at)) return;
  const tcgen05::TmemAddress first = operation.at;
  const int lanes = tcgen05::tmem_lanes - first.tmem_lane;
  if (first.tmem_lane < 0 || lanes <= 0 || first.tmem_lane % tcgen05::lanes_per_warp != 0)
    return fail_at_cells(s, Fault::TmemLaneAlignment, s.warp.cta,
                         {first.tmem_lane, 1, first.tmem_column, 1});
  const TmemRegion region = {groups_of(first.tmem_lane, lanes), first.tmem_column,
                             tcgen05::shift_columns};
  Tcgen05Thread& thread = tcgen05_thread(s, cta_group);
  issue(s, thread, operation);
  const TmemAccess access = thread_access(s, TmemAction::Shift, true, thread);
  for (const int cta : ctas) {
    if (!touch_tmem(s, cta, region, access, operation.before)) return;
    TensorMemory& memory = s.c.memory(cta);
    for_each_cell(region, [&](tcgen05::Cell cell) {  // lanes upwards: the source is still old
      const tcgen05::ShiftSource source = tcgen05::shift_source(cell.tmem_lane);
      memory.mark(cell, source.fault == Fault::None &&
                            memory.is_written({source.tmem_lane, cell.tmem_column}));
    });
    note_exit(s, cta, thread);
  }
  operation.action = TmemAction::Shift;
  start_operation(s, *this, std::move(operation));
}

// --- mma -------------------------------------------------------------------------------------------

namespace {

// What one mma uses in the Tensor Memory of each of its CTAs.
struct MmaRegions {
  TmemRegion d;
  std::vector<TmemRegion> reads;  // A, metadata, scale factors
};

// All of whose lanes keep what they have. A group with some others counts as written whole, so that a read of its kept
// lanes may be called unordered.
std::uint32_t kept_groups(const Tcgen05Mma& i) {
  std::uint32_t groups = all_tmem_groups;
  for (int lane = 0; lane < tcgen05::tmem_lanes; ++lane)
    if (!i.keeps(lane)) groups &= ~(1u << (lane / tmem_group_lanes));
  return groups;
}

MmaRegions regions_of(const Tcgen05Mma& i, const Tcgen05Operation& operation) {
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  MmaRegions regions;
  regions.d = {groups_of(datapath, operation.at.tmem_lane) & ~kept_groups(i),
               operation.at.tmem_column,
               columns(tcgen05::Accumulator{datapath, i.idesc.n, operation.at.tmem_lane})};
  const tcgen05::TmemA a = {datapath, i.opcode.kind, operation.a.tmem_lane};
  if (i.opcode.a_place == tcgen05::Place::Tmem)
    regions.reads.push_back({groups_of(datapath, operation.a.tmem_lane), operation.a.tmem_column,
                             a_columns(a, tcgen05::products(i.opcode.kind))});
  if (i.opcode.sparse) {
    const tcgen05::TmemMetadata e = i.metadata_form();
    const int columns = tcgen05::metadata_columns(e.kind);
    regions.reads.push_back({all_tmem_groups,
                             operation.metadata.tmem_column + tcgen05::metadata_reach(e) - columns,
                             columns});
  }
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

// CuTe names even columns and lane 0 alone.
bool resolve_metadata(Step& s, const Tcgen05Mma& i, Tcgen05Operation& operation) {
  if (!resolve(s, i.options.metadata, operation.metadata)) return false;
  const auto [lane, column] = operation.metadata;
  if (lane == 0 && tcgen05::check_metadata_column(column) == Fault::None) return true;
  fail_at_cells(s, Fault::UnmodelledTmemOperand, s.warp.cta, {lane, 1, column, 1});
  return false;
}

bool resolve_mma(Step& s, const Tcgen05Mma& i, Tcgen05Operation& operation) {
  const bool a_in_tmem = i.opcode.a_place == tcgen05::Place::Tmem;
  const bool scaled = is_block_scaled(i.opcode.kind);
  if (!resolve(s, i.d, operation.at) || (a_in_tmem && !resolve(s, i.a_tmem, operation.a)) ||
      (scaled &&
       (!resolve(s, i.scale_a, operation.scale_a) || !resolve(s, i.scale_b, operation.scale_b))) ||
      (i.opcode.sparse && !resolve_metadata(s, i, operation)))
    return false;
  const tcgen05::Datapath datapath = tcgen05::datapath(i.opcode, i.idesc.m);
  const bool lanes_suit = is_lane_base(datapath, operation.at.tmem_lane) &&
                          (!a_in_tmem || operation.a.tmem_lane == operation.at.tmem_lane);
  if (!lanes_suit)
    fail_at_cells(s, Fault::TmemLaneAlignment, s.warp.cta,
                  {operation.at.tmem_lane, 1, operation.at.tmem_column, 1});
  return lanes_suit;
}

// A, metadata, scale factors and D of one CTA.
bool touch_mma_tmem(Step& s, const Tcgen05Mma& i, int cta, Tcgen05Operation& operation,
                    const Tcgen05Thread& thread) {
  const MmaRegions regions = regions_of(i, operation);
  for (const TmemRegion& region : regions.reads) {
    if (overlap(region, regions.d)) {
      fail_at_cells(s, Fault::TmemOverlap, cta, cells_of(region));
      return false;
    }
    if (!touch_tmem(s, cta, region, thread_access(s, TmemAction::Mma, false, thread),
                    operation.before))
      return false;
    check_written(s, cta, region);
  }
  TmemAccess access = thread_access(s, TmemAction::Mma, true, thread);
  access.accumulator = {operation.at.tmem_lane, operation.at.tmem_column, i.idesc.m,  i.idesc.n,
                        i.opcode.kind,          i.opcode.sparse,          i.opcode.ws};
  if (!touch_tmem(s, cta, regions.d, access, operation.before)) return false;
  const auto is_kept = [&](tcgen05::Cell cell) { return i.keeps(cell.tmem_lane); };
  if (i.accumulate) check_written(s, cta, regions.d, is_kept);
  TensorMemory& memory = s.c.memory(cta);
  for_each_cell(regions.d, [&](tcgen05::Cell cell) {
    if (!is_kept(cell)) memory.mark(cell, true);
  });
  return true;
}

// Operands in Tensor Memory whose place no source says, and masks that no source explains.
Fault check_places(const Tcgen05Mma& i) {
  Fault fault = Fault::None;
  if (i.opcode.a_place == tcgen05::Place::Tmem)
    fault = tcgen05::check(tcgen05::TmemA{tcgen05::datapath(i.opcode, i.idesc.m), i.opcode.kind});
  if (fault == Fault::None && i.opcode.sparse) fault = tcgen05::check(i.metadata_form());
  if (fault != Fault::None || !i.options.masks_columns) return fault;
  fault = tcgen05::check_zero_mask_word(i.options.zero_columns);
  return fault != Fault::None
             ? fault
             : tcgen05::check(tcgen05::decode_zero_mask(i.options.zero_columns), i.idesc.m);
}

// Which lanes of D are the peer's to keep is open, and .ws has no such lanes.
Fault check_options(const Tcgen05Mma& i) {
  const MmaOptions& o = i.options;
  if (!o.kept.empty() && (i.opcode.cta_group == 2 || i.opcode.ws)) return Fault::UnmodelledMma;
  const bool scales = o.scale_input_d != 0;
  const bool is_known =
      (o.kept.empty() || std::ssize(o.kept) == tcgen05::disable_words(i.opcode.cta_group)) &&
      (!o.masks_columns || i.opcode.ws) &&
      (!scales || (!i.opcode.ws && tcgen05::scale_input_d_exists(i.opcode.kind) &&
                   o.scale_input_d > 0 && o.scale_input_d <= tcgen05::max_scale_input_d));
  return is_known ? Fault::None : Fault::ProgramMalformed;
}

}  // namespace

Fault Tcgen05Mma::check(const Bounds&) const {
  if (const Fault fault = check_group(opcode.cta_group); fault != Fault::None) return fault;
  if (opcode.ashift || idesc.k96) return Fault::UnmodelledMma;
  if (const Fault fault = tcgen05::check(opcode, idesc); fault != Fault::None) return fault;
  if (const Fault fault = check_options(*this); fault != Fault::None) return fault;
  if (const Fault fault = check_places(*this); fault != Fault::None) return fault;
  const bool a_lies_so = opcode.a_place == tcgen05::Place::Tmem || a.layout.major == idesc.major_a;
  return a_lies_so && b.layout.major == idesc.major_b ? Fault::None : Fault::ProgramMalformed;
}

std::string Tcgen05Mma::text(const Names& names) const {
  return joined(names.opcode(tcgen05::opcode(opcode)), ".m", idesc.m, "n", idesc.n, " [",
                text_of(d), "]");
}

void Tcgen05Mma::execute(Step& s) const {
  const int group = opcode.cta_group;
  const std::vector<int> ctas = issuing_ctas(s, group);
  Tcgen05Operation operation;
  if (ctas.empty() || !resolve_mma(s, *this, operation)) return;
  Tcgen05Thread& thread = tcgen05_thread(s, group);
  issue(s, thread, operation);
  const int element_bytes = std::max(1, tcgen05::tmem_container_bits(opcode.kind) / 8);
  const OperandExtent extent_a = {idesc.m / group, mma_row_bytes, element_bytes};
  const OperandExtent extent_b = {idesc.n / group, mma_row_bytes * (opcode.sparse ? 2 : 1),
                                  element_bytes};
  for (const int cta : ctas) {
    if (opcode.a_place == tcgen05::Place::Smem && !touch_operand(s, a, cta, extent_a, thread))
      return;
    if (!touch_operand(s, b, cta, extent_b, thread) ||
        !touch_mma_tmem(s, *this, cta, operation, thread))
      return;
    note_exit(s, cta, thread);
  }
  start_operation(s, *this, std::move(operation));
}

}  // namespace tcq::machine
