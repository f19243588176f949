#include "sim/run/undefined.h"

#include <algorithm>

#include "sim/isa/base/mma_fragment.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/run/shuffle.h"

namespace tcq::run {
namespace {

using ptx::Opcode;
using ptx::Value;
using ptx::ValueKind;

Undefined at(const Executor& x, Slot slot, std::uint32_t lanes) {
  const UndefinedValues& u = x.state.undefined;
  if (u.lanes.empty()) return {};
  return {u.lanes[slot] & lanes, u.from[slot]};
}

void set(Executor& x, Slot slot, Undefined what, std::uint32_t lanes) {
  UndefinedValues& u = x.state.undefined;
  what.lanes &= lanes;
  if (u.lanes.empty()) {
    if (what.lanes == 0) return;
    u.lanes.assign(x.kernel().slot_count, 0);
    u.from.assign(x.kernel().slot_count, 0);
  }
  if (slot == x.kernel().scratch) return;
  const Undefined kept{u.lanes[slot] & ~lanes, u.from[slot]};
  const Undefined all = what.lanes != 0 ? both(x, what, kept) : kept;
  u.held += (all.lanes != 0 ? 1u : 0u) - (u.lanes[slot] != 0 ? 1u : 0u);
  u.lanes[slot] = all.lanes;
  u.from[slot] = all.from;
  if (u.held != 0 || !u.branches.empty()) return;
  u.lanes.clear();
  u.from.clear();
}

Undefined any_of(const Executor& x, std::span<const Slot> slots, std::uint32_t lanes) {
  Undefined all;
  for (const Slot slot : slots) all = both(x, all, at(x, slot, lanes));
  return all;
}

void set_all(Executor& x, const Op& op, Undefined what, std::uint32_t lanes) {
  for (const Slot slot : x.kernel().outs(op)) set(x, slot, what, lanes);
}

// --- what the other operand decides ------------------------------------------------------------------

// A predicate as the instruction takes it.
std::uint32_t truth(const Executor& x, const Op& op, std::size_t source) {
  const std::uint32_t bits = x.mask(x.kernel().ins(op)[source]);
  return (op.negated >> source & 1) != 0 ? ~bits : bits;
}

// Lanes in which source `source` of and, or decides alone.
std::uint32_t deciding(const Executor& x, const Op& op, std::size_t source) {
  const bool is_and = x.form().opcode == Opcode::And;
  if (x.form().types[0] == ptx::Type::Pred) return truth(x, op, source) ^ (is_and ? ~0u : 0u);
  const bool is_wide = ptx::bits(x.form().types[0]) == 64;
  const Slot slot = x.kernel().ins(op)[source];
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint64_t value = is_wide ? x.wide(slot, lane) : x.word(slot, lane);
    const std::uint64_t ones = is_wide ? ~std::uint64_t{0} : 0xffffffffu;
    if (value == (is_and ? 0 : ones)) lanes |= 1u << lane;
  }
  return lanes;
}

Undefined of_and_or(const Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  Undefined a = at(x, ins[0], lanes), b = at(x, ins[1], lanes);
  const std::uint32_t by_a = deciding(x, op, 0) & ~a.lanes, by_b = deciding(x, op, 1) & ~b.lanes;
  Undefined result = both(x, a, b);
  result.lanes &= ~(by_a | by_b);
  return result;
}

Undefined of_selp(const Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  const std::uint32_t taken = truth(x, op, 2);
  Undefined a = at(x, ins[0], lanes & taken), b = at(x, ins[1], lanes & ~taken);
  return both(x, both(x, a, b), at(x, ins[2], lanes));
}

// shf d, a, b, c: by 0 it is one of the two, whatever is in the other.
Undefined of_funnel_shift(const Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  const bool left = x.form().get<ptx::Direction>() == ptx::Direction::Left;
  const ptx::Value& by = x.value(3);
  constexpr std::uint64_t word_bits = 32;
  const bool clamps = x.form().get<ptx::Clamp>() == ptx::Clamp::Clamp;
  std::uint32_t moves = 0;
  x.for_each_lane(lanes, [&](int lane) {
    const std::uint64_t n = x.number(by, lane) & 0xffffffff;
    if ((clamps ? n : n % word_bits) != 0) moves |= 1u << lane;
  });
  const Undefined kept = at(x, ins[left ? 1 : 0], lanes);
  const Undefined other = at(x, ins[left ? 0 : 1], lanes & moves);
  return both(x, both(x, kept, other), at(x, ins[2], lanes));
}

// setp.CMP.BOOL p, a, b, c
Undefined of_setp(const Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  Undefined compared = any_of(x, ins.first(2), lanes);
  if (ins.size() < 3) return compared;
  const Undefined c = at(x, ins[2], lanes);
  const auto how = x.form().get<ptx::BoolOp>();
  const std::uint32_t decides = how == ptx::BoolOp::And  ? ~truth(x, op, 2)
                                : how == ptx::BoolOp::Or ? truth(x, op, 2)
                                                         : 0;
  compared.lanes &= ~(decides & ~c.lanes);
  return both(x, compared, c);
}

// --- lanes that exchange ------------------------------------------------------------------------------

// mma.sync.m16n8k16 {d0..}, {a0..}, {b0..}, {c0..}: registers as sim/isa/base/mma_fragment.h has them.
void follow_mma(Executor& x, const Op& op) {
  const int m = x.form().shape[0];
  const int d_bits = ptx::bits(x.form().types[0]);
  const auto count = [&](std::uint32_t i) {
    const Value& v = x.value(i);
    return v.kind == ValueKind::Vector ? static_cast<std::size_t>(v.value) : std::size_t{1};
  };
  const auto ins = x.kernel().ins(op);
  const std::size_t a = count(1), b = count(2), c = count(3);
  if (const Undefined any = any_of(x, ins, machine::all_lanes); is_racing(x, any)) use(x, any);
  Undefined rows, columns;  // a bit for each
  for (std::size_t i = 0; i < a + b; ++i) {
    const Undefined u = at(x, ins[i], machine::all_lanes);
    const int row = i < a ? static_cast<int>(i) % (m / warp_mma::group_rows) : 0;
    Undefined& to = i < a ? rows : columns;
    std::uint32_t bits = 0;
    x.for_each_lane(u.lanes, [&](int lane) {
      bits |= 1u << (lane / warp_mma::group_lanes + warp_mma::group_rows * row);
    });
    to = both(x, to, {bits, u.from});
  }
  use(x, any_of(x, ins.subspan(a + b + c), machine::all_lanes));
  const auto outs = x.kernel().outs(op);
  for (std::size_t r = 0; r < outs.size(); ++r) {
    Undefined result = r < c ? at(x, ins[a + b + r], machine::all_lanes) : Undefined{};
    for (int lane = 0; lane < warp_mma::lanes; ++lane)
      for (int part = 0; part < warp_mma::parts(d_bits); ++part) {
        const auto [row, col] = warp_mma::d_element(d_bits, {lane, static_cast<int>(r), part});
        const std::uint32_t bit = 1u << lane;
        if ((rows.lanes >> row & 1) != 0) result = both(x, result, {bit, rows.from});
        if ((columns.lanes >> col & 1) != 0) result = both(x, result, {bit, columns.from});
      }
    set(x, outs[r], result, machine::all_lanes);
  }
}

// Which lanes get what these lanes hold.
Undefined shuffled(const Executor& x, Undefined moved, const Op& op, const alu::Arguments& all) {
  const auto sources = source_lanes(op, all);
  Undefined got{0, moved.from};
  x.for_each_lane(all.lanes, [&](int lane) {
    got.lanes |= (moved.lanes >> sources[static_cast<std::size_t>(lane)] & 1) << lane;
  });
  return got;
}

// The operands of its lanes but the first one, which shfl moves.
void use_directions(Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  const std::size_t mask = x.form().opcode == Opcode::ShflSync ? 1 : 0;
  use(x, any_of(x, ins.subspan(1, ins.size() - 1 - mask), lanes));
  use_bound(x, any_of(x, ins.last(mask), lanes));
}
void set_shuffled(Executor& x, const Op& op, Undefined got, std::uint32_t lanes) {
  const auto outs = x.kernel().outs(op);
  set(x, outs[0], {got.lanes & lanes, got.from}, lanes);
  for (const Slot slot : outs.subspan(1)) set(x, slot, {}, lanes);
}

// --- instructions -------------------------------------------------------------------------------------

void follow_alu(Executor& x, const Op& op, std::uint32_t lanes) {
  switch (x.form().opcode) {
    case Opcode::And:
    case Opcode::Or: return set_all(x, op, of_and_or(x, op, lanes), lanes);
    case Opcode::Selp: return set_all(x, op, of_selp(x, op, lanes), lanes);
    case Opcode::Shf: return set_all(x, op, of_funnel_shift(x, op, lanes), lanes);
    case Opcode::Setp: return set_all(x, op, of_setp(x, op, lanes), lanes);
    case Opcode::Mma: return follow_mma(x, op);
    default: break;
  }
  Undefined any = any_of(x, x.kernel().ins(op), lanes);
  if (op.reads_carry) any = both(x, any, at(x, x.kernel().carry, lanes));
  if (op.is_of_warp && any.lanes != 0) any.lanes = lanes;
  set_all(x, op, any, lanes);
  if (op.sets_carry) set(x, x.kernel().carry, any, lanes);
}

// An instruction that does nothing here and yet defines what it names: createpolicy. A copy within one slot does not.
void define_policy(Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  for (const Slot slot : x.kernel().outs(op))
    if (std::ranges::find(ins, slot) == ins.end()) set(x, slot, {}, lanes);
}

// Pieces that have bits in common.
void follow_repack(Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  const auto outs = x.kernel().outs(op);
  std::vector<Undefined> results(outs.size());
  for (std::size_t i = 0; i < ins.size(); ++i)
    for (std::size_t o = 0; o < outs.size(); ++o)
      if (i * outs.size() < (o + 1) * ins.size() && o * ins.size() < (i + 1) * outs.size())
        results[o] = both(x, results[o], at(x, ins[i], lanes));
  for (std::size_t o = 0; o < outs.size(); ++o) set(x, outs[o], results[o], lanes);
}

bool only_computes(const Op& op) {
  return (op.action == Action::Alu && !op.is_of_warp) || op.action == Action::Repack ||
         op.action == Action::Address || op.action == Action::Nothing;
}

// Lanes part by what nobody knows: whatever is computed on either way is unknown where they meet again.
void follow_branch(Executor& x, const Op& op, Undefined guard) {
  constexpr ptx::Index longest = 4096;
  const ptx::Index here = x.group.pc, meet = op.join;
  const auto is_within = [&](ptx::Index target) { return here < target && target <= meet; };
  bool computes = meet != ptx::none && is_within(op.target) && meet - here <= longest;
  for (ptx::Index i = here + 1; computes && i < meet; ++i) {
    const Op& other = x.kernel().ops[i];
    computes = other.action == Action::Branch ? is_within(other.target) : only_computes(other);
  }
  if (!computes) return use(x, guard);
  x.state.undefined.branches.push_back({here, meet, guard.lanes, guard.from});
}

// What an instruction of memory or of the machine reads is used, but for what a store stores: its own way; what it writes is defined.
// `binds`: as use_bound().
void follow_operand(Executor& x, const Value& value, bool is_data, bool binds,
                    std::uint32_t lanes) {
  if (value.kind == ValueKind::Vector || value.kind == ValueKind::Pair) {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(value.value); ++i)
      follow_operand(x, x.item(value, i), is_data, binds, lanes);
    return;
  }
  const Slot slot = x.slot(value);
  if (value.access != ptx::Access::Write && !is_data)
    (binds ? use_bound : use)(x, at(x, slot, lanes));
  if (value.access != ptx::Access::Read) set(x, slot, {}, lanes);
}

void follow_memory(Executor& x, bool binds, std::uint32_t lanes) {
  const Opcode opcode = x.form().opcode;
  const bool stores = opcode == Opcode::St || opcode == Opcode::Stmatrix;
  const std::uint32_t first = opcode == Opcode::WgmmaMmaAsync ? 1 : 0;  // D: follow_rows()
  for (std::uint32_t i = first; i < x.operand_count(); ++i)
    follow_operand(x, x.value(i), stores && i == 1, binds, lanes);
}

}  // namespace

Undefined both(const Executor& x, Undefined a, Undefined b) {
  const bool is_a = a.lanes != 0 && (is_racing(x, a) || !is_racing(x, b));
  return {a.lanes | b.lanes, is_a ? a.from : b.from};
}

Undefined undefined_in(const Executor& x, const Value& reg, std::uint32_t lanes) {
  return at(x, x.slot(reg), lanes);
}
void set_undefined(Executor& x, const Value& reg, Undefined what, std::uint32_t lanes) {
  set(x, x.slot(reg), what, lanes);
}
namespace {

// Its finding stands at the instruction that brought the value; of registers, and of cells of Tensor Memory, at the use.
bool names_origin(const machine::UnwrittenRead& read) {
  switch (read.finding.fault) {
    case Fault::FirstCtaUndefined:
    case Fault::ShuffleSourceInactive:
    case Fault::LocalUninitialized: return true;
    default: return read.racing == 0 && read.access != 0;
  }
}

}  // namespace

void use(Executor& x, Undefined what) {
  if (what.lanes == 0 || what.from >= x.c.unwritten_reads.size()) return;
  machine::UnwrittenRead& read = x.c.unwritten_reads[what.from];
  if (read.is_used) return;
  if (names_origin(read))
    read.finding.hint = {x.number(), x.warp.number, std::countr_zero(what.lanes)};
  else if (read.racing == 0)
    read.finding.at = {x.number(), x.warp.number, -1};
  machine::use_undefined(x.c, what.from);
}

void use_bound(Executor& x, Undefined what) {
  use(x, what);
  if (x.c.contents && what.lanes != 0 && what.from < x.c.unwritten_reads.size())
    x.c.fail(x.c.unwritten_reads[what.from].finding);
}

void follow(Executor& x, const Op& op, std::uint32_t lanes) {
  const Undefined guard = op.guard == no_slot ? Undefined{} : at(x, op.guard, x.group.lanes);
  if (op.action == Action::Branch) {
    if (guard.lanes != 0) follow_branch(x, op, guard);
    return;
  }
  if (!only_computes(op)) use(x, guard);
  switch (op.action) {
    case Action::Alu: follow_alu(x, op, lanes); break;
    case Action::Repack: follow_repack(x, op, lanes); break;
    case Action::Address: set_all(x, op, any_of(x, x.kernel().ins(op), lanes), lanes); break;
    case Action::Nothing: define_policy(x, op, lanes); break;
    case Action::Load:
    case Action::Store: return follow_memory(x, false, lanes);
    case Action::Machine: return follow_memory(x, true, lanes);
    case Action::Converge:
    case Action::Shuffle: return;
    default: use(x, any_of(x, x.kernel().ins(op), lanes)); return set_all(x, op, {}, lanes);
  }
  if (guard.lanes != 0) set_all(x, op, guard, guard.lanes);
}

void assume_predicates(Executor& x, const Op& op, std::uint32_t lanes) {
  if (!x.c.contents || x.form().opcode != Opcode::Setp) return;
  for (const Slot slot : x.kernel().outs(op)) {
    const Undefined unknown = at(x, slot, lanes);
    const std::uint64_t place = x.state.steps << 16 | static_cast<std::uint64_t>(x.warp.number);
    if (unknown.lanes != 0 && !is_racing(x, unknown))
      x.set_mask(slot, unknown.lanes,
                 machine::assumed_predicates(*x.c.contents, x.mask(slot), place));
  }
}

void follow_meeting(Executor& x) {
  auto& branches = x.state.undefined.branches;
  for (UndefinedBranch& branch : branches) {
    const std::uint32_t lanes = branch.lanes & x.group.lanes;
    if (branch.meet != x.group.pc || lanes == 0) continue;
    for (ptx::Index i = branch.at + 1; i < branch.meet; ++i)
      set_all(x, x.kernel().ops[i], {lanes, branch.from}, lanes);
    branch.lanes &= ~lanes;
  }
  std::erase_if(branches, [](const UndefinedBranch& branch) { return branch.lanes == 0; });
}

std::uint32_t follow_shuffle(Executor& x, std::span<const Place> places,
                             const alu::Arguments& all) {
  const Op& op = *places.front().op;
  const std::uint32_t sourceless = sourceless_lanes(x, op, all);
  if (sourceless == 0 && !has_undefined(x)) return 0;
  Undefined moved;
  for (const Place& place : places) {
    use_directions(x, *place.op, place.lanes);
    moved = both(x, moved, at(x, x.kernel().ins(*place.op)[0], place.lanes));
  }
  Undefined got = shuffled(x, moved, op, all);
  if (sourceless != 0)
    got = both(x, got, {sourceless, read_here(x, Fault::ShuffleSourceInactive, sourceless)});
  for (const Place& place : places) set_shuffled(x, *place.op, got, place.lanes);
  return sourceless;
}

// All that they read, the mask as what decides who takes part.
void follow_votes(Executor& x, const Op& op, std::uint32_t lanes) {
  const auto ins = x.kernel().ins(op);
  const std::size_t masks = ins.empty() ? 0 : 1;
  use(x, any_of(x, ins.first(ins.size() - masks), lanes));
  use_bound(x, any_of(x, ins.last(masks), lanes));
  set_all(x, op, {}, lanes);
}

std::uint32_t read_here(Executor& x, Fault fault, std::uint32_t lanes) {
  auto& reads = x.c.unwritten_reads;
  const auto [known, fresh] =
      x.state.undefined.reads.try_emplace(x.number(), static_cast<std::uint32_t>(reads.size()));
  if (!fresh) return known->second;
  machine::UnwrittenRead& read = reads.emplace_back();
  read.finding = {.fault = fault, .at = {x.number(), x.warp.number, std::countr_zero(lanes)}};
  read.is_followed = true;
  return known->second;
}

bool is_racing(const Executor& x, Undefined what) {
  const auto& reads = x.c.unwritten_reads;
  return what.lanes != 0 && what.from < reads.size() && reads[what.from].racing != 0;
}

std::optional<std::uint32_t> racing_read(const Executor& x, std::uint32_t first, int lane) {
  const auto& reads = x.c.unwritten_reads;
  for (std::size_t i = first; i < reads.size(); ++i)
    if ((reads[i].racing >> lane & 1) != 0) return static_cast<std::uint32_t>(i);
  return std::nullopt;
}

std::uint32_t unwritten_read(const Executor& x, std::uint32_t first) {
  const auto& reads = x.c.unwritten_reads;
  for (std::size_t i = first; i < reads.size(); ++i)
    if (reads[i].racing == 0) return static_cast<std::uint32_t>(i);
  return first;
}

namespace {

// Of the present instruction, and not followed yet.
bool is_mine(const Executor& x, const machine::UnwrittenRead& read) {
  if (read.is_followed) return false;
  if (read.racing != 0) return read.by_warp == x.warp.number && read.by_statement == x.number();
  return read.finding.at.warp == x.warp.number &&
         read.finding.at.statement == static_cast<int>(x.number());
}

}  // namespace

std::uint32_t follow_reads(Executor& x) {
  auto& reads = x.c.unwritten_reads;
  std::size_t first = reads.size();
  while (first > 0 && is_mine(x, reads[first - 1])) reads[--first].is_followed = true;
  return static_cast<std::uint32_t>(first);
}

void define_rows(Executor& x) {
  if (!has_undefined(x)) return;
  const Value& d = x.value(0);
  for (std::uint32_t reg = 0; reg < static_cast<std::uint32_t>(d.value); ++reg)
    set_undefined(x, x.item(d, reg), {}, machine::all_lanes);
}

void follow_rows(Executor& x) {
  auto& reads = x.c.unwritten_reads;
  const auto& form = std::get<wgmma::Form>(x.form().tensor);
  const auto count = static_cast<std::uint32_t>(x.value(0).value);
  for (std::size_t i = reads.size(); i > 0 && is_mine(x, reads[i - 1]); --i) {
    machine::UnwrittenRead& read = reads[i - 1];
    if (read.rows == 0) continue;  // of B
    read.is_followed = true;
    for (std::uint32_t reg = 0; reg < count; ++reg) {
      Undefined made{0, static_cast<std::uint32_t>(i - 1)};
      for (int lane = 0; lane < machine::warp_threads; ++lane) {
        const int row = wgmma::accumulator_element(form.d, {lane, static_cast<int>(reg)}).row;
        made.lanes |= (read.rows >> row & 1) << lane;
      }
      const Value& d = x.item(x.value(0), reg);
      set_undefined(x, d, both(x, undefined_in(x, d, machine::all_lanes), made),
                    machine::all_lanes);
    }
  }
}

}  // namespace tcq::run
