#include "sim/run/control.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/async/lane_sync.h"
#include "sim/async/register_file.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/run/evaluate.h"
#include "sim/run/exchange.h"
#include "sim/run/heap.h"
#include "sim/run/poll.h"
#include "sim/run/shuffle.h"
#include "sim/run/undefined.h"
#include "sim/run/unwritten_registers.h"

namespace tcq::run {

// --- the beginning ---------------------------------------------------------------------------------

namespace {

std::uint32_t axis(const Dim3& d, int element) {
  return element == 0 ? d.x : element == 1 ? d.y : d.z;
}
Dim3 place_in(const Dim3& size, std::uint64_t number) {
  return {static_cast<std::uint32_t>(number % size.x),
          static_cast<std::uint32_t>(number / size.x % size.y),
          static_cast<std::uint32_t>(number / size.x / size.y)};
}

struct WarpPlace {
  const Launch& launch;
  Dim3 first_cta;
  int cta = 0;   // rank in the cluster, or in a grid that runs as a whole
  int warp = 0;  // in the CTA
  std::uint32_t shared_bytes = 0;
  std::uint64_t grid_workspace = 0;

  std::uint64_t rank() const { return launch.whole_grid ? 0 : static_cast<std::uint64_t>(cta); }
  Dim3 in_cluster() const { return place_in(launch.cluster, rank()); }
  Dim3 ctaid() const {
    if (launch.whole_grid) return place_in(launch.grid, static_cast<std::uint64_t>(cta));
    const Dim3 in = in_cluster();
    return {first_cta.x + in.x, first_cta.y + in.y, first_cta.z + in.z};
  }
  Dim3 clusterid() const {
    const Dim3 at = ctaid();
    return {at.x / launch.cluster.x, at.y / launch.cluster.y, at.z / launch.cluster.z};
  }
  Dim3 clusters() const {
    return {launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
            launch.grid.z / launch.cluster.z};
  }
};

std::uint64_t special(const WarpPlace& at, ptx::Special what, int element, int lane) {
  using enum ptx::Special;
  const auto thread = static_cast<std::uint64_t>(at.warp * 32 + lane);
  const std::uint32_t bit = 1u << lane;
  switch (what) {
    case Tid: return axis(place_in(at.launch.block, thread), element);
    case Ntid: return axis(at.launch.block, element);
    case Laneid: return static_cast<std::uint64_t>(lane);
    case Warpid: return static_cast<std::uint64_t>(at.warp);
    case Nwarpid: return (at.launch.block.count() + 31) / 32;
    case Ctaid: return axis(at.ctaid(), element);
    case Nctaid: return axis(at.launch.grid, element);
    case Clusterid: return axis(at.clusterid(), element);
    case Nclusterid: return axis(at.clusters(), element);
    case ClusterCtaid: return axis(at.in_cluster(), element);
    case ClusterNctaid: return axis(at.launch.cluster, element);
    case ClusterCtarank: return at.rank();
    case ClusterNctarank: return at.launch.cluster.count();
    case IsExplicitCluster: return at.launch.has_cluster;
    case LanemaskEq: return bit;
    case LanemaskLt: return bit - 1;
    case LanemaskLe: return bit | (bit - 1);
    case LanemaskGt: return ~(bit | (bit - 1));
    case LanemaskGe: return ~(bit - 1);
    case Nsmid: return 132;
    case Envreg0: return element == 1 ? at.grid_workspace >> 32 : at.grid_workspace;
    case TotalSmemSize:
    case AggrSmemSize: return at.shared_bytes;
    case DynamicSmemSize: return at.launch.dynamic_shared;
    case ReservedSmemEnd: return lent_shared_bytes;
    case ReservedSmemCap: return reserved_shared_bytes;
    default: return 0;
  }
}

// Of a CTA, without what the system keeps, in units of 128 bytes: sim/NOTES.md
std::uint32_t shared_bytes_of(const Kernel& kernel, const Launch& launch) {
  constexpr std::uint32_t unit = 128;
  const std::uint32_t bytes = kernel.shared_end - kernel.shared_begin + launch.dynamic_shared;
  return (bytes + unit - 1) / unit * unit;
}

void set_constant(machine::Warp& warp, const Constant& constant, int lane, std::uint64_t bits) {
  auto* words = warp.registers.of_reg[constant.slot].data();
  if (constant.words == 0) {
    if ((bits & 1) != 0) words[0] |= 1u << lane;
    return;
  }
  if (constant.words == 1) {
    words[lane] = static_cast<std::uint32_t>(bits);
    return;
  }
  std::memcpy(words + constant.words * lane, &bits, sizeof bits);
}

}  // namespace

void begin_warp(const KernelFeeder& feeder, machine::ClusterState& c, machine::Warp& warp,
                WarpState& state) {
  const Kernel& kernel = feeder.kernel();
  const Launch& launch = feeder.launch();
  const WarpPlace at{launch,
                     feeder.first_cta(),
                     warp.cta,
                     warp.index,
                     shared_bytes_of(kernel, launch),
                     global_window + kernel.grid_workspace};
  if (kernel.grid_barrier != ptx::none && !launch.whole_grid)
    return c.fail(
        {.fault = Fault::UnmodelledInstruction, .at = {kernel.grid_barrier, warp.number, 0}});
  for (const Constant& constant : kernel.constants)
    for (int lane = 0; lane < 32; ++lane) {
      std::uint64_t bits = constant.is_special
                               ? special(at, constant.special, constant.element, lane)
                               : constant.bits;
      if (constant.is_shared_address) {
        const auto low = static_cast<std::uint32_t>(bits);
        bits += at_rank(low, static_cast<std::uint32_t>(warp.cta)) - low;
      }
      set_constant(warp, constant, lane, bits);
    }
  state.local.resize(std::size_t{32} * kernel.local_bytes);
  const std::uint64_t first = static_cast<std::uint64_t>(warp.index) * 32;
  const std::uint64_t rest = launch.block.count() > first ? launch.block.count() - first : 0;
  auto group = std::make_unique<Group>();
  group->lanes = rest >= 32 ? ~0u : (1u << rest) - 1;
  warp.order_of_lanes.alive = group->lanes;
  if (group->lanes != 0) state.groups.push_back(std::move(group));
  follow_unwritten(kernel, c, warp, state);
}

// --- joins -----------------------------------------------------------------------------------------

namespace {

Group& add_group(WarpState& state, std::uint32_t lanes, ptx::Index pc, int join) {
  state.groups.push_back(std::make_unique<Group>());
  Group& group = *state.groups.back();
  group.lanes = lanes;
  group.pc = pc;
  group.join = join;
  return group;
}

// The group has come to where its lanes meet others. False: it waits there, as lanes of the join.
bool pass_joins(Executor& x) {
  Group& g = x.group;
  while (g.join >= 0 && x.state.joins[static_cast<std::size_t>(g.join)].at == g.pc) {
    Join& join = x.state.joins[static_cast<std::size_t>(g.join)];
    join.arrived |= g.lanes;
    if (join.arrived != join.lanes) {
      g.lanes = 0;
      return false;
    }
    g.lanes = join.arrived;
    g.join = join.parent;
  }
  return true;
}

}  // namespace

std::vector<Group*> part_joins(WarpState& state) {
  std::vector<Group*> ready;
  for (Join& join : state.joins) {
    if (join.arrived == join.lanes || join.arrived == 0) continue;
    ready.push_back(&add_group(state, join.arrived, join.at, join.parent));
    join.lanes &= ~join.arrived;
    join.arrived = 0;
  }
  return ready;
}

namespace {

std::uint32_t living(const WarpState& state) {
  std::uint32_t lanes = 0;
  for (const auto& group : state.groups) lanes |= group->lanes;
  for (const Join& join : state.joins)
    if (join.arrived != join.lanes) lanes |= join.arrived;
  return lanes;
}

// All lanes of the masks are there: the instruction is executed for all of them.
void converge(Executor& x, std::vector<Group*>& ready);

void end_lanes(Executor& x, std::uint32_t lanes, std::vector<Group*>& ready) {
  x.group.lanes &= ~lanes;
  x.warp.order_of_lanes.alive &= ~lanes;
  if (x.c.cluster_barrier.arrived != 0) x.c.complete_cluster_barrier();
  for (int at = x.group.join; at >= 0;) {
    Join& join = x.state.joins[static_cast<std::size_t>(at)];
    const bool open = join.arrived != join.lanes;
    join.lanes &= ~lanes;
    if (open && join.arrived == join.lanes && join.lanes != 0)
      ready.push_back(&add_group(x.state, join.lanes, join.at, join.parent));
    at = join.parent;
  }
  for (std::size_t i = 0; i < x.state.groups.size(); ++i) {
    Group& group = *x.state.groups[i];
    if (!group.converges) continue;
    Executor other{x.feeder, x.c, x.warp, x.state, group};
    converge(other, ready);
  }
}

// --- branches --------------------------------------------------------------------------------------

// Who has come there does not wait: lanes that ended early are not counted at a barrier.
bool is_end(const Executor& x, ptx::Index at) {
  if (at == ptx::none) return false;
  const Op& op = x.kernel().ops[at];
  return op.action == Action::Exit && op.guard == no_slot;
}

// Lanes go to `target`, the others stay; both meet at the op's join.
void branch(Executor& x, std::uint32_t taken, ptx::Index target, std::vector<Group*>& ready) {
  Group& g = x.group;
  const std::uint32_t rest = g.lanes & ~taken;
  if (taken == 0) {
    ++g.pc;
    return;
  }
  if (rest == 0) {
    g.pc = target;
    return;
  }
  const ptx::Index meet = is_end(x, x.op().join) ? ptx::none : x.op().join;
  const bool is_known = g.join >= 0 && x.state.joins[static_cast<std::size_t>(g.join)].at == meet;
  if (meet != ptx::none && !is_known) {
    x.state.joins.push_back({meet, g.lanes, 0, g.join});
    g.join = static_cast<int>(x.state.joins.size()) - 1;
  }
  g.lanes = rest;
  ready.push_back(&add_group(x.state, taken, target, g.join));
  ++g.pc;
}

void branch_by_table(Executor& x, std::uint32_t active, std::vector<Group*>& ready) {
  const ptx::Range table = x.kernel().program->tables[x.value(1).index];
  std::map<ptx::Index, std::uint32_t> targets;
  bool fine = true;
  x.for_each_lane(active, [&](int lane) {
    const std::uint64_t index = x.number(x.value(0), lane);
    if (index >= table.count) {
      if (fine) x.fail(Fault::BranchOutOfTable, lane, static_cast<std::int64_t>(index));
      fine = false;
      return;
    }
    targets[x.kernel().program->table_targets[table.first + index] - x.kernel().first()] |= 1u
                                                                                            << lane;
  });
  if (!fine) return;
  const ptx::Index at = x.group.pc;
  for (const auto& [target, lanes] : targets) {
    x.group.pc = at;
    branch(x, lanes, target, ready);
  }
}

// --- lanes that wait for each other ----------------------------------------------------------------

std::uint32_t mask_of(const Executor& x) {
  const std::uint32_t count = x.operand_count();
  return static_cast<std::uint32_t>(x.number(x.value(count - 1), std::countr_zero(x.group.lanes)));
}

// Do the lanes of the other group wait for those of this one? At the same barrier of the CTA; at any bar.warp.sync; at any barrier.sync
// that is not .aligned; at a shfl.sync and its like with the same words and the same mask (exchange.h).
bool waits_alike(const Executor& x, const Group& g) {
  if (!g.converges) return false;
  if (g.pc == x.group.pc) return true;
  const Op& op = x.op();
  const Op& other = x.kernel().ops[g.pc];
  const ptx::Form& form = x.kernel().program->form_of(x.kernel().instruction(g.pc));
  if (op.evaluate != nullptr)
    return !op.is_of_warp && &form == &x.form() && g.converge_mask == x.group.converge_mask;
  if (other.evaluate != nullptr || op.gathers != other.gathers) return false;
  if (!op.gathers) return true;
  return form.opcode == ptx::Opcode::BarSync && x.form().opcode == ptx::Opcode::BarSync &&
         !form.has(ptx::Flag::Aligned) && !x.form().has(ptx::Flag::Aligned);
}

void tell_each_other(Executor& x, const std::vector<Group*>& groups, std::uint32_t lanes) {
  const std::vector<Place> places = groups.size() > 1 ? places_of(x, groups) : std::vector<Place>{};
  if (places.size() > 1) return exchange_apart(x, places);
  if (is_shuffle(x.form())) return shuffle(x, x.op(), lanes);
  if (has_undefined(x)) follow_votes(x, x.op(), lanes);
  evaluate(x, x.op(), lanes);
}

// One group executes it for all lanes that are there.
void execute_together(Executor& x, std::uint32_t present, std::vector<Group*>& ready) {
  for (const auto& group : x.state.groups) {
    if (group.get() == &x.group || !waits_alike(x, *group)) continue;
    group->converges = false;
    x.group.party.push_back(group.get());
  }
  x.group.converges = false;
  x.group.active = present;
  x.group.result = Result::None;
  x.group.passed = 0;
  if (x.op().meets) machine::lanes_meet(x.c, x.warp, present, false);
  if (!make_statements(x)) x.fail(Fault::UnmodelledInstruction, std::countr_zero(present));
  if (x.c.finding || !x.group.queue.empty()) return;
  finish_statements(x);
  x.group.party.push_back(&x.group);
  for (Group* group : std::exchange(x.group.party, {})) {
    ++group->pc;
    ready.push_back(group);
  }
}

// Of all lanes, on registers alone.
void evaluate_together(Executor& x, std::uint32_t present) {
  if (present != machine::all_lanes) return x.fail(Fault::WarpDivergent, std::countr_zero(present));
  machine::lanes_meet(x.c, x.warp, present, false);
  evaluate(x, x.op(), present);
}

void converge(Executor& x, std::vector<Group*>& ready) {
  const std::uint32_t alive = living(x.state);
  const Op& op = x.op();
  std::vector<Group*> alike;
  std::uint32_t present = 0;
  std::uint32_t wanted = 0;
  for (const auto& group : x.state.groups) {
    if (!waits_alike(x, *group)) continue;
    alike.push_back(group.get());
    present |= group->active;
    wanted |= group->converge_mask & alive;
  }
  if ((wanted & ~present) != 0) return;
  if (op.gathers) return execute_together(x, present, ready);
  if (op.is_of_warp) {
    evaluate_together(x, present);
  } else {
    meet(x, alike);
    if (op.evaluate != nullptr)
      tell_each_other(x, alike, present);
    else if (has_undefined(x))
      follow_votes(x, op, present);
  }
  for (Group* group : alike) {
    group->converges = false;
    ++group->pc;
    ready.push_back(group);
  }
}

// --- registers -------------------------------------------------------------------------------------

// False: a Fault. None is a copy of a register that nothing has written, as compilers leave them: the copy is as that.
bool note_registers(Executor& x, const Op& op, std::uint32_t lanes) {
  machine::Step step = x.step(lanes);
  const Slot owned = x.kernel().owned_slots;
  bool copies = x.form().opcode == ptx::Opcode::Mov, is_empty = false;
  for (const Slot slot : x.kernel().ins(op)) {
    const machine::RegisterRange range{static_cast<int>(slot), 1};
    if (slot >= owned)
      machine::note_used(step, range);
    else if (copies && !x.warp.order.is_written(range.first))
      is_empty = true;
    else if (!machine::reads(step, range, op.moved))
      return false;
  }
  for (const Slot slot : x.kernel().outs(op)) {
    if (slot < owned && !machine::writes(step, {static_cast<int>(slot), 1}, op.moved)) return false;
    if (slot < owned && is_empty) x.warp.order.forget(static_cast<int>(slot));
  }
  return true;
}

void set_clock(Executor& x, const Op& op) {
  const std::uint64_t clock = clock_of(x) * 16;
  for (const Slot slot : x.kernel().ins(op))
    for (int lane = 0; lane < 32; ++lane) {
      if (x.kernel().words_of(x.value(1)) == 2)
        x.set_wide(slot, lane, clock);
      else
        x.words(slot)[lane] = static_cast<std::uint32_t>(clock);
    }
}

// The lanes of the group that its guard lets through.
std::uint32_t guarded(const Executor& x, const Op& op) {
  if (op.guard == no_slot) return x.group.lanes;
  const std::uint32_t guard = x.mask(op.guard);
  return x.group.lanes & (op.guard_negated ? ~guard : guard);
}

// The lanes wait for all others of the warp.
void gather(Executor& x, std::uint32_t active, std::vector<Group*>& ready) {
  if (active != x.group.lanes) return x.fail(Fault::WarpDivergent, std::countr_zero(active));
  x.group.active = active;
  x.group.converges = true;
  x.group.converge_mask = machine::all_lanes;
  converge(x, ready);
}

// False: the group does not go on from here.
bool take(Executor& x, const Op& op, std::uint32_t active, std::vector<Group*>& ready) {
  Group& g = x.group;
  switch (op.action) {
    case Action::Branch: branch(x, active, op.target, ready); return true;
    case Action::Table: branch_by_table(x, active, ready); return true;
    case Action::Exit:
      end_lanes(x, active, ready);
      ++g.pc;
      return g.lanes != 0;
    default: break;
  }
  if (active == 0) return ++g.pc, true;
  if (op.meets && op.action != Action::Converge) machine::lanes_meet(x.c, x.warp, active, false);
  switch (op.action) {
    case Action::Alu:
      if (op.is_watched && !note_registers(x, op, active)) return false;
      if (op.is_of_warp && active != machine::all_lanes) return gather(x, active, ready), false;
      if (op.reads_clock) set_clock(x, op);
      evaluate(x, op, active);
      if (has_undefined(x)) assume_predicates(x, op, active);
      return ++g.pc, true;
    case Action::Shuffle:
      if (op.is_watched && !note_registers(x, op, active)) return false;
      shuffle(x, op, active);
      return ++g.pc, true;
    case Action::Repack:
      if (op.is_watched && !note_registers(x, op, active)) return false;
      repack(x, op, active);
      return ++g.pc, true;
    case Action::Nothing: return ++g.pc, true;
    case Action::Converge:
      if (op.is_watched && !note_registers(x, op, active)) return false;
      if (!demand_members(x, active)) return false;
      g.active = active;
      g.converges = true;
      g.converge_mask = mask_of(x);
      converge(x, ready);
      return false;
    case Action::Trap: x.fail(Fault::KernelTrap, std::countr_zero(active)); return false;
    case Action::CancelQuery:
      g.active = active;
      query_cancel(x);
      return ++g.pc, true;
    case Action::PendingQuery:
      g.active = active;
      query_pending(x);
      return ++g.pc, true;
    case Action::Address:
      g.active = active;
      convert_address(x);
      return ++g.pc, true;
    case Action::Stack:
      g.active = active;
      move_stack(x);
      return ++g.pc, !x.c.finding;
    case Action::Heap:
      g.active = active;
      call_heap(x);
      return ++g.pc, !x.c.finding;
    case Action::Load:
    case Action::Store:
    case Action::Machine: {
      if (op.is_watched && !note_registers(x, op, active)) return false;
      g.active = active;
      g.result = Result::None;
      g.passed = 0;
      if (op.gathers && active != machine::all_lanes && active != living(x.state))
        return gather(x, active, ready), false;
      if (op.action != Action::Machine)
        access_memory(x, op.action == Action::Store);
      else if (!make_statements(x))
        x.fail(Fault::UnmodelledInstruction, std::countr_zero(active));
      if (x.c.finding || !g.queue.empty()) return false;
      finish_statements(x);
      return ++g.pc, true;
    }
    default: x.fail(Fault::UnmodelledInstruction, std::countr_zero(active)); return false;
  }
}

}  // namespace

void run_group(Executor x, std::vector<Group*>& ready) {
  if (x.group.lanes == 0) return;
  while (pass_joins(x)) {
    ++x.state.steps;
    if (!x.count_instruction()) return;
    const Op& op = x.op();
    const std::uint32_t active = guarded(x, op);
    if (const auto& executed = x.feeder.launch().executed; executed != nullptr && active != 0)
      (*executed)[x.group.pc] = true;
    if (has_undefined(x)) {
      if (!x.state.undefined.branches.empty()) follow_meeting(x);
      follow(x, op, active);
    }
    if (!take(x, op, active, ready) || x.c.finding) return;
  }
}

// --- loops that wait -------------------------------------------------------------------------------

namespace {

// One round of a loop on registers alone, from behind the group's instruction until it stands there again. What it changes is saved
// as it was before.
class Round {
 public:
  explicit Round(Executor& x) : x_(x), here_(x.group.pc) {}
  ~Round() {
    x_.group.pc = here_;
    for (const auto& [slot, words] : before_) x_.warp.registers.of_reg[slot] = words;
  }

  // False: it did not come back, or for others of its lanes.
  bool go(Slot predicate) {
    Group& g = x_.group;
    save(predicate);
    x_.set_mask(predicate, g.active, 0);
    constexpr int patience = 64;
    ++g.pc;
    for (int i = 0; i < patience && g.pc != here_; ++i)
      if (!take()) return false;
    return g.pc == here_ && guarded(x_, x_.op()) == g.active;
  }
  std::vector<std::array<std::uint32_t, 32>> changed() const {
    std::vector<std::array<std::uint32_t, 32>> words;
    for (const auto& [slot, old] : before_) words.push_back(x_.warp.registers.of_reg[slot]);
    return words;
  }

 private:
  void save(Slot slot) { before_.try_emplace(slot, x_.warp.registers.of_reg[slot]); }

  bool take() {
    Group& g = x_.group;
    const Op& op = x_.op();
    const std::uint32_t active = guarded(x_, op);
    if (op.action == Action::Branch) {
      if (active != 0 && active != g.lanes) return false;
      g.pc = active != 0 ? op.target : g.pc + 1;
      return true;
    }
    const bool moves = active != 0 && op.action != Action::Nothing;
    const bool is_plain = (op.action == Action::Alu || op.action == Action::Repack) &&
                          !op.is_watched && op.check == nullptr;
    if (moves && !is_plain) return false;
    if (moves) {
      for (const Slot slot : x_.kernel().outs(op))
        for (Slot part = 0; part < 4 && slot + part < x_.kernel().slot_count; ++part)
          save(slot + part);
      op.action == Action::Alu ? evaluate(x_, op, active) : repack(x_, op, active);
    }
    ++g.pc;
    return true;
  }

  Executor& x_;
  ptx::Index here_;
  std::map<Slot, std::array<std::uint32_t, 32>> before_;
};

std::vector<std::uint64_t> asked_for(const Executor& x) {
  std::vector<std::uint64_t> values;
  for (std::uint32_t i = 1; i < x.operand_count(); ++i)
    x.for_each_lane(x.group.active,
                    [&](int lane) { values.push_back(x.number(x.value(i), lane)); });
  return values;
}

}  // namespace

// Two rounds: what the first one made of registers is made anew by the second, unless it counts.
ComesBack would_come_back(Executor& x, Slot predicate) {
  const std::vector<std::uint64_t> asked = asked_for(x);
  Round round(x);
  if (!round.go(predicate) || asked_for(x) != asked) return ComesBack::No;
  const auto once = round.changed();
  if (!round.go(predicate) || asked_for(x) != asked) return ComesBack::Changed;
  return round.changed() == once ? ComesBack::Same : ComesBack::Changed;
}

}  // namespace tcq::run
