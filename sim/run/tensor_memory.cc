// Decides what a tcgen05 instruction of a kernel is to the machine: addresses and descriptors are taken from the
// registers as they are when it is issued. The rules themselves: sim/async/instructions/tmem.h and tcgen05.h.
#include "sim/run/tensor_memory.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <variant>
#include <vector>

#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tmem/address.h"
#include "sim/run/register_plan.h"
#include "sim/run/undefined.h"

namespace tcq::run {
namespace {

using machine::TmemOperand;
using ptx::Value;
using ptx::ValueKind;

// One thread issues most of tcgen05; what several lanes may do wrong is the machine's to say.

std::uint64_t number(const Executor& x, std::uint32_t operand) {
  return x.number(x.value(operand), first_lane(x));
}

template <class Form>
const Form& form_of(const Executor& x) {
  return std::get<Form>(std::get<ptx::Tcgen05Form>(x.form().tensor));
}

// [taddr+4], the same in all lanes that take part; else a Fault.
TmemOperand tmem_at(Executor& x, const Value& address) {
  const int first = first_lane(x);
  const std::uint64_t word = x.address(address, first);
  x.for_each_lane(x.group.active, [&](int lane) {
    if (x.address(address, lane) != word && !x.c.finding) x.fail(Fault::WarpDivergent, lane);
  });
  const tcgen05::TmemAddress at = tcgen05::decode_tmem_address(static_cast<std::uint32_t>(word));
  return {-1, at.tmem_lane, at.tmem_column};
}

void add(Executor& x, machine::Instruction what) {
  if (!x.c.finding) x.add(std::move(what), x.group.active);
}

// A word without the constant is taken for what it means on Hopper, unless that is not to pass.
bool may_lack_constant(Executor& x, std::uint64_t& word) {
  if ((word & tcgen05::DescriptorConstant::mask) != 0) return true;
  const auto shown = static_cast<std::int64_t>(word);
  word |= tcgen05::DescriptorConstant::bits;
  return !x.c.stops_at({.fault = Fault::DescriptorConstantAssumed,
                        .at = {x.number(), x.warp.number, first_lane(x)},
                        .number = shown});
}

// What an operand's descriptor says. No bytes: a Fault, or not modelled.
bool read_descriptor(Executor& x, std::uint32_t operand, Major major, Fault fault_of_operand,
                     machine::SmemOperand& result) {
  std::uint64_t word = number(x, operand);
  if (!may_lack_constant(x, word)) return false;
  Fault fault = tcgen05::check_word(word);
  const tcgen05::SmemDescriptor d = tcgen05::decode(word);
  if (fault == Fault::None) fault = fault_of_operand;
  if (fault == Fault::None && d.lbo_absolute) fault = Fault::UnmodelledMma;  // K = 96
  if (fault != Fault::None) {
    x.fail(fault, first_lane(x), static_cast<std::int64_t>(word));
    return false;
  }
  result = {d.start_bytes, canonical_layout(d, major), swizzle_function(d.swizzle), d.base_offset};
  return true;
}

// --- mma -------------------------------------------------------------------------------------------

// Behind idesc and scale factors: {{disable-output-lane},} enable-input-d{, scale-input-d}, with .ws enable-input-d{,
// zero-column-mask}. Lanes that a pair leaves alone are not modelled: which words are the peer's is open.
bool read_options(const Executor& x, std::uint32_t next, machine::Tcgen05Mma& mma) {
  const Value& lanes = x.value(next);
  if (lanes.kind == ValueKind::Vector) {
    std::vector<std::uint32_t>& kept = mma.options.kept;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(lanes.value); ++i)
      kept.push_back(static_cast<std::uint32_t>(x.number(x.item(lanes, i), first_lane(x))));
    if (std::ranges::count(kept, 0u) == std::ssize(kept)) kept.clear();
    if (!kept.empty() && std::ssize(kept) != tcgen05::disable_words(mma.opcode.cta_group))
      return false;
    ++next;
  }
  const std::uint32_t behind = x.operand_count() - next;
  if (behind != 1 && behind != 2) return false;
  mma.accumulate = number(x, next) != 0;
  if (behind == 1) return true;
  const std::uint64_t last = number(x, next + 1);
  mma.options.masks_columns = mma.opcode.ws;
  if (mma.opcode.ws)
    mma.options.zero_columns = last;
  else
    mma.options.scale_input_d = static_cast<int>(last);
  return mma.opcode.ws || last <= tcgen05::max_scale_input_d;
}

// [d], a-desc or [a], b-desc, {[metadata],} idesc, {[scale-A], [scale-B],} and what read_options() reads.
bool make_mma(Executor& x) {
  machine::Tcgen05Mma mma;
  mma.opcode = form_of<tcgen05::MmaForm>(x).opcode;
  const bool a_in_tmem =
      x.value(1).kind != ValueKind::Register && x.value(1).kind != ValueKind::Immediate;
  mma.opcode.a_place = a_in_tmem ? tcgen05::Place::Tmem : tcgen05::Place::Smem;
  const tcgen05::MmaOpcode& opcode = mma.opcode;
  if (opcode.ashift) return x.fail(Fault::UnmodelledMma, first_lane(x)), true;
  const bool scaled = is_block_scaled(opcode.kind);
  const std::uint32_t idesc = opcode.sparse ? 4 : 3;
  if (!read_options(x, idesc + (scaled ? 3 : 1), mma)) return false;
  const auto word = static_cast<std::uint32_t>(number(x, idesc));
  if (const Fault fault = tcgen05::check_word(word, opcode.kind); fault != Fault::None)
    return x.fail(fault, first_lane(x), word), true;
  mma.idesc = tcgen05::decode(word, opcode.kind);
  const auto fault_of = [&](std::uint32_t operand, Type type, Major major) {
    return tcgen05::check_operand(tcgen05::decode(number(x, operand)), opcode.kind, type, major);
  };
  const tcgen05::InstructionDescriptor& i = mma.idesc;
  mma.d = tmem_at(x, x.value(0));
  if (a_in_tmem)
    mma.a_tmem = tmem_at(x, x.value(1));
  else if (!read_descriptor(x, 1, i.major_a, fault_of(1, i.a, i.major_a), mma.a))
    return true;
  if (!read_descriptor(x, 2, i.major_b, fault_of(2, i.b, i.major_b), mma.b)) return true;
  if (opcode.sparse) mma.options.metadata = tmem_at(x, x.value(3));
  if (scaled) {
    mma.scale_a = tmem_at(x, x.value(idesc + 1));
    mma.scale_b = tmem_at(x, x.value(idesc + 2));
  }
  if (const Fault fault = mma.check({}); fault != Fault::None)
    return x.fail(fault, first_lane(x)), true;
  add(x, mma);
  return true;
}

// --- cp and shift ----------------------------------------------------------------------------------

bool make_cp(Executor& x) {
  const auto& form = form_of<tcgen05::CpForm>(x);
  if (form.source != tcgen05::CpSource::Same) return false;
  machine::Tcgen05Cp cp;
  cp.shape = cp_shape(form);
  cp.cta_group = form.cta_group;
  cp.to = tmem_at(x, x.value(0));
  const Fault fault = tcgen05::check_cp_source(tcgen05::decode(number(x, 1)));
  if (read_descriptor(x, 1, Major::K, fault, cp.from)) add(x, cp);
  return true;
}

bool make_shift(Executor& x) {
  add(x, machine::Tcgen05Shift{tmem_at(x, x.value(0)), form_of<tcgen05::ShiftForm>(x).cta_group});
  return true;
}

// --- ld and st -------------------------------------------------------------------------------------

// Of .16x32bx2, whose split is an immediate.
int half_split(const Executor& x, tcgen05::LdShape shape, std::uint32_t operand) {
  return tcgen05::has_half_split(shape) ? static_cast<int>(number(x, operand)) : 0;
}

bool make_ld(Executor& x) {
  const auto& form = form_of<tcgen05::LdForm>(x);
  const Slot first = first_of(x.kernel(), x.value(0));
  if (first == no_slot) return false;
  add(x, machine::Tcgen05Ld{{form.shape, form.num, form.pack, half_split(x, form.shape, 2)},
                            tmem_at(x, x.value(1)),
                            static_cast<int>(first)});
  x.group.result = Result::Cells;
  return true;
}

// The slots of the registers that are stored, one behind the other.
Slot stored_slots(Executor& x, const Value& vector) {
  const Slot neighbours = first_of(x.kernel(), vector);
  const Slot first = x.op().gathered;
  if (neighbours != no_slot || first == no_slot) return neighbours;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(vector.value); ++i) {
    const Value& item = x.item(vector, i);
    if (x.kernel().words_of(item) != 1) return no_slot;
    std::copy_n(x.words(x.slot(item)), machine::warp_threads, x.words(first + i));
  }
  x.warp.order.write(
      machine::RegisterRange{static_cast<int>(first), static_cast<int>(vector.value)}, x.number());
  return first;
}

bool make_st(Executor& x) {
  const auto& form = form_of<tcgen05::StForm>(x);
  const Slot first = stored_slots(x, x.value(x.operand_count() - 1));
  if (first == no_slot) return false;
  add(x, machine::Tcgen05St{{form.shape, form.num, form.unpack, half_split(x, form.shape, 1)},
                            tmem_at(x, x.value(0)),
                            static_cast<int>(first)});
  return true;
}

// --- allocation and completion ---------------------------------------------------------------------

bool make_alloc(Executor& x) {
  const std::uint32_t to = shared_at(x, x.value(0), first_lane(x));
  add(x, machine::Tcgen05Alloc{shared_address(x, to), static_cast<int>(number(x, 1)),
                               form_of<tcgen05::AllocForm>(x).cta_group});
  return true;
}

bool make_dealloc(Executor& x) {
  add(x, machine::Tcgen05Dealloc{tmem_at(x, x.value(0)), static_cast<int>(number(x, 1)),
                                 form_of<tcgen05::DeallocForm>(x).cta_group});
  return true;
}

bool make_commit(Executor& x) {
  const auto& form = form_of<tcgen05::CommitForm>(x);
  machine::Tcgen05Commit commit;
  commit.barrier = shared_address(x, shared_at(x, x.value(0), first_lane(x)));
  commit.cta_group = form.cta_group;
  if (form.multicast) commit.multicast = static_cast<std::uint16_t>(number(x, 1));
  add(x, commit);
  return true;
}

bool make_wait(Executor& x) {
  if (form_of<tcgen05::WaitForm>(x).st)
    add(x, machine::Tcgen05WaitSt{});
  else
    add(x, machine::Tcgen05WaitLd{});
  return true;
}

bool make_fence(Executor& x) {
  if (form_of<tcgen05::FenceForm>(x).after)
    add(x, machine::Tcgen05FenceAfter{});
  else
    add(x, machine::Tcgen05FenceBefore{});
  return true;
}

}  // namespace

// From here on the executor follows the values: a ld may run ahead of what decides whether anybody wants them.
void follow_cells(Executor& x) {
  auto& poison = x.warp.tmem.poison;
  const Value& vector = x.value(0);
  const bool is_vector = vector.kind == ValueKind::Vector;
  const auto count = is_vector ? static_cast<std::uint32_t>(vector.value) : 1u;
  auto& reads = x.c.unwritten_reads;
  const auto mine = static_cast<std::uint32_t>(reads.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Value& reg = is_vector ? x.item(vector, i) : vector;
    const Slot slot = x.slot(reg);
    if (slot >= poison.size() || poison[slot].lanes == 0) continue;
    machine::PoisonedRegister& found = poison[slot];
    if (reads.size() == mine) {
      machine::UnwrittenRead& read = reads.emplace_back();
      read.finding = {.fault = found.fault,
                      .at = found.ld,
                      .earlier = found.ld,
                      .cta = x.warp.cta,
                      .tmem = found.cells};
      read.is_followed = true;
    }
    set_undefined(x, reg, {found.lanes, mine}, machine::all_lanes);
    found.lanes = 0;
  }
}

bool make_tensor_memory(Executor& x) {
  using enum ptx::Opcode;
  switch (x.form().opcode) {
    case Tcgen05Alloc: return make_alloc(x);
    case Tcgen05Dealloc: return make_dealloc(x);
    case Tcgen05Relinquish:
      add(x, machine::Tcgen05Relinquish{form_of<tcgen05::RelinquishForm>(x).cta_group});
      return true;
    case Tcgen05Mma: return make_mma(x);
    case Tcgen05Ld: return make_ld(x);
    case Tcgen05St: return make_st(x);
    case Tcgen05Cp: return make_cp(x);
    case Tcgen05Shift: return make_shift(x);
    case Tcgen05Commit: return make_commit(x);
    case Tcgen05Wait: return make_wait(x);
    case Tcgen05Fence: return make_fence(x);
    default: return false;
  }
}

}  // namespace tcq::run
