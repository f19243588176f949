// Barriers, mbarriers, fences and wgmma of compiled kernels as statements of the machine; see executor.h. Copies are in
// copies.cc.
#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "sim/isa/wgmma/fragment.h"
#include "sim/run/control.h"
#include "sim/run/copies.h"
#include "sim/run/executor.h"
#include "sim/run/register_plan.h"
#include "sim/run/tensor_maps.h"
#include "sim/run/tensor_memory.h"
#include "sim/run/tokens.h"
#include "sim/run/undefined.h"

namespace tcq::run {
namespace {

using machine::Address;
using machine::all_lanes;
using ptx::Flag;
using ptx::Opcode;
using ptx::Semantics;
using ptx::Value;
using ptx::ValueKind;

machine::Scope scope_of(const ptx::Form& form, machine::Scope otherwise) {
  switch (form.get<ptx::Scope>()) {
    case ptx::Scope::None: return otherwise;
    case ptx::Scope::Cta: return machine::Scope::Cta;
    default: return machine::Scope::Cluster;
  }
}

bool is_relaxed(const ptx::Form& form) { return form.get<Semantics>() == Semantics::Relaxed; }

// One statement for each group of lanes whose operands are alike.
template <class Key, class Make>
void for_each_alike(Executor& x, Key key, Make make) {
  std::map<decltype(key(0)), std::uint32_t> alike;
  x.for_each_lane(x.group.active, [&](int lane) { alike[key(lane)] |= 1u << lane; });
  for (const auto& [operands, lanes] : alike) x.add(make(operands), lanes);
}

std::uint32_t small(const Executor& x, std::uint32_t operand, int lane) {
  return static_cast<std::uint32_t>(x.number(x.value(operand), lane));
}

bool is_negated_register(const Value& v) { return v.kind == ValueKind::Register && v.negated; }

// --- barriers --------------------------------------------------------------------------------------

// The operands from `first` to `end` are the same in all its lanes; what nothing has written is said where it is used.
bool are_uniform(const Executor& x, std::uint32_t first, std::uint32_t end) {
  bool same = true;
  for (std::uint32_t i = first; i < end; ++i)
    if (undefined_in(x, x.value(i), x.group.active).lanes == 0)
      x.for_each_lane(x.group.active, [&](int lane) {
        same = same && small(x, i, lane) == small(x, i, first_lane(x));
      });
  return same;
}

// What is wrong with the numbers that registers hold: ptxas sees those that the text does.
// Source: PTX ISA 9.2, 9.7.13.1 "bar, barrier": 16 barriers; a multiple of the warp's size; with .aligned one for all its lanes.
bool may_name(Executor& x, int id, int threads, bool whole) {
  constexpr int warp = machine::warp_threads;
  Fault fault = Fault::None;
  if (id < 0 || id > 15) fault = Fault::BarrierId;
  if (threads < 0 || threads % warp != 0 || (threads == 0 && !whole)) fault = Fault::BarrierThreads;
  if (fault != Fault::None) x.fail(fault, first_lane(x));
  return fault == Fault::None;
}

// False: lanes name different ones, which is a Fault, or without .aligned not modelled.
bool agree_on_barrier(Executor& x, std::uint32_t first, std::uint32_t end) {
  if (are_uniform(x, first, end)) return true;
  if (x.form().has(ptx::Flag::Aligned)) x.fail(Fault::WarpDivergent, first_lane(x));
  return false;
}

bool make_barrier(Executor& x) {
  const int lane = first_lane(x);
  const int id = static_cast<int>(small(x, 0, lane));
  const bool counts = x.operand_count() > 1;
  const int threads = counts ? static_cast<int>(small(x, 1, lane)) : 0;
  if (!agree_on_barrier(x, 0, x.operand_count())) return x.c.finding.has_value();
  const bool syncs = x.form().opcode == Opcode::BarSync;
  if (!may_name(x, id, threads, syncs)) return true;
  if (syncs)
    x.add(machine::BarrierSync{id, threads}, all_lanes);
  else
    x.add(machine::BarrierArrive{id, threads}, all_lanes);
  return true;
}

// d, barrier{, threads}, {!}p. A thread votes when it comes; whoever is let through finds all votes.
bool make_vote(Executor& x) {
  const int lane = first_lane(x);
  const auto id = static_cast<int>(small(x, 1, lane));
  const std::uint32_t last = x.operand_count() - 1;
  const int threads = last > 2 ? static_cast<int>(small(x, 2, lane)) : 0;
  if (!agree_on_barrier(x, 1, last)) return x.c.finding.has_value();
  if (!may_name(x, id, threads, true)) return true;
  const std::uint32_t use = x.state.vote_uses[static_cast<std::size_t>(id)]++;
  Votes& votes = (*x.state.votes)[{x.warp.cta, id, use}];
  const Value& vote = x.value(last);
  const std::uint32_t yes = x.mask(x.slot(vote)) ^ (is_negated_register(vote) ? ~0u : 0);
  votes.threads += static_cast<std::uint32_t>(std::popcount(x.group.active));
  votes.yes += static_cast<std::uint32_t>(std::popcount(x.group.active & yes));
  x.group.votes = &votes;
  x.group.result = Result::Vote;
  x.add(machine::BarrierSync{id, threads}, all_lanes);
  return true;
}

void finish_vote(Executor& x) {
  const Votes& votes = *x.group.votes;
  const Slot to = x.slot(x.value(0));
  switch (x.form().get<ptx::Operation>()) {
    case ptx::Operation::Popc:
      return x.for_each_lane(x.group.active, [&](int lane) { x.words(to)[lane] = votes.yes; });
    case ptx::Operation::And:
      return x.set_mask(to, x.group.active, votes.yes == votes.threads ? ~0u : 0);
    default: return x.set_mask(to, x.group.active, votes.yes != 0 ? ~0u : 0);
  }
}

// --- mbarriers -------------------------------------------------------------------------------------

using AddressAndNumber = std::pair<std::uint32_t, std::uint32_t>;

bool make_init(Executor& x) {
  for_each_alike(
      x,
      [&](int lane) {
        return AddressAndNumber{shared_at(x, x.value(0), lane), small(x, 1, lane)};
      },
      [&](const AddressAndNumber& a) -> machine::Instruction {
        return machine::MbarrierInit{shared_address(x, a.first), a.second};
      });
  return true;
}

bool make_inval(Executor& x) {
  for_each_alike(
      x, [&](int lane) { return shared_at(x, x.value(0), lane); },
      [&](std::uint32_t a) -> machine::Instruction {
        return machine::MbarrierInval{shared_address(x, a)};
      });
  return true;
}

// arrive{.expect_tx}{.noComplete} {state,} [a]{, count}
bool make_arrive(Executor& x) {
  const ptx::Form& form = x.form();
  std::uint32_t at = 0;
  const bool is_address = x.value(0).kind == ValueKind::AtRegister ||
                          x.value(0).kind == ValueKind::AtVariable ||
                          x.value(0).kind == ValueKind::AtAddress;
  if (!is_address) at = 1;
  const bool counted = x.operand_count() > at + 1;
  const bool expects = form.has(Flag::ExpectTx);
  const bool drops = form.opcode == Opcode::MbarrierArriveDrop;
  if (at == 1 && x.value(0).kind != ValueKind::Sink) x.group.result = Result::Token;
  machine::LaneBytes* const states = x.group.result == Result::Token ? &x.group.data : nullptr;
  for_each_alike(
      x,
      [&](int lane) {
        return AddressAndNumber{named_shared_at(x, x.value(at), lane),
                                counted ? small(x, at + 1, lane) : 1};
      },
      [&](const AddressAndNumber& a) -> machine::Instruction {
        const Address barrier = shared_address(x, a.first);
        const machine::Scope scope = scope_of(form, machine::Scope::Cta);
        if (expects)
          return machine::MbarrierArriveExpectTx{barrier,          a.second, scope,
                                                 is_relaxed(form), drops,    states};
        machine::MbarrierArrive arrive;
        arrive.barrier = barrier;
        arrive.count = a.second;
        arrive.scope = scope;
        arrive.relaxed = is_relaxed(form);
        arrive.drop = drops;
        arrive.completes = !form.has(Flag::NoComplete);
        arrive.states = states;
        return arrive;
      });
  return true;
}

// Of the lanes' cp.async. Without .noinc the arrival undoes what the instruction itself added to the count.
bool make_copy_arrive(Executor& x) {
  const auto at = [&](int lane) { return shared_at(x, x.value(0), lane); };
  for_each_alike(x, at, [&](std::uint32_t a) -> machine::Instruction {
    return machine::CpAsyncTrack{shared_address(x, a)};
  });
  if (!x.form().has(Flag::Noinc)) return true;
  for_each_alike(x, at, [&](std::uint32_t a) -> machine::Instruction {
    machine::MbarrierArrive arrive;
    arrive.barrier = shared_address(x, a);
    arrive.count = 1;
    arrive.scope = machine::Scope::Cta;
    return arrive;
  });
  return true;
}

bool make_tx(Executor& x) {
  const bool expects = x.form().opcode == Opcode::MbarrierExpectTx;
  for_each_alike(
      x,
      [&](int lane) {
        return AddressAndNumber{named_shared_at(x, x.value(0), lane), small(x, 1, lane)};
      },
      [&](const AddressAndNumber& a) -> machine::Instruction {
        const Address barrier = shared_address(x, a.first);
        if (expects) return machine::MbarrierExpectTx{barrier, a.second};
        return machine::MbarrierCompleteTx{barrier, a.second};
      });
  return true;
}

// A loop that counts its tests may end by itself, or never.
bool counts_tests(Executor& x, ComesBack comes) {
  constexpr std::uint32_t most_tests = 1 << 14;
  return comes == ComesBack::Changed && ++x.group.tests < most_tests;
}

// Source: PTX ISA 9.2, 9.7.13.15.16: "the valid values of phaseParity operand are 0 and 1". What others do nobody says.
bool is_parity(const Executor& x, const Value& value) {
  bool fine = true;
  if (x.form().has(ptx::Flag::Parity))
    x.for_each_lane(x.group.active, [&](int lane) { fine = fine && x.number(value, lane) < 2; });
  return fine;
}

// A token begins with the number of the phase that an arrival was counted in (tokens.h); a wait for it waits for its parity.
bool make_try_wait(Executor& x) {
  const ptx::Form& form = x.form();
  const Slot predicate = x.slot(x.value(0));
  const ComesBack comes = would_come_back(x, predicate);
  const bool counts = counts_tests(x, comes);
  const bool comes_back = comes != ComesBack::No && !counts;
  x.group.result = comes_back ? Result::Passed : Result::Test;
  const bool only_shared = x.value(1).kind != ValueKind::AtTensor;
  if (!only_shared || !is_parity(x, x.value(2))) return false;
  if (!form.has(Flag::Parity) && !demand_own_token(x)) return true;
  for_each_alike(
      x,
      [&](int lane) {
        return AddressAndNumber{shared_at(x, x.value(1), lane),
                                static_cast<std::uint32_t>(x.number(x.value(2), lane) & 1)};
      },
      [&](const AddressAndNumber& a) -> machine::Instruction {
        const Address barrier = shared_address(x, a.first);
        const int parity = static_cast<int>(a.second);
        const machine::Scope scope = scope_of(form, machine::Scope::Cta);
        if (comes_back) return machine::MbarrierTryWait{barrier, parity, scope, is_relaxed(form)};
        return machine::MbarrierTestWait{barrier, parity, 0, scope, is_relaxed(form), counts};
      });
  return true;
}

// --- fences ----------------------------------------------------------------------------------------

bool make_memory_fence(Executor& x) {
  const ptx::Form& form = x.form();
  const auto semantics = form.get<Semantics>();
  machine::FenceMemory fence{form.get<ptx::Scope>() == ptx::Scope::Cta};
  fence.acquires = semantics != Semantics::Release;
  fence.releases = semantics != Semantics::Acquire;
  fence.only_shared = form.get<ptx::SyncRestrict>() != ptx::SyncRestrict::None;
  x.add(fence, x.group.active);
  return true;
}

bool make_proxy_fence(Executor& x) {
  const auto proxy = x.form().get<ptx::Proxy>();
  const ptx::Space space = x.form().space();
  const bool is_restricted = proxy == ptx::Proxy::AsyncGeneric;  // to shared memory
  const auto semantics = x.form().get<Semantics>();
  const bool is_shared = space != ptx::Space::Global;
  if (proxy == ptx::Proxy::Async || is_restricted)
    x.add(machine::FenceProxyAsync{.shared = is_shared,
                                   .global = !ptx::is_shared(space) && !is_restricted,
                                   .peers = is_shared && space != ptx::Space::SharedCta,
                                   .releases = !is_restricted || semantics != Semantics::Acquire,
                                   .acquires = !is_restricted || semantics != Semantics::Release},
          x.group.active);
  if (proxy == ptx::Proxy::TensormapGeneric) add_tensormap_fence(x);
  if (is_restricted) return make_memory_fence(x);
  if (proxy != ptx::Proxy::Async) x.add(machine::FenceMemory{}, x.group.active);
  return true;
}

// --- wgmma -----------------------------------------------------------------------------------------

machine::RegisterRange range_of(const Executor& x, const Value& vector) {
  const Slot first = first_of(x.kernel(), vector);
  return first == no_slot
             ? machine::RegisterRange{}
             : machine::RegisterRange{static_cast<int>(first), static_cast<int>(vector.value)};
}

// d, a-desc or {a}, b-desc, {metadata, selector,} scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a, imm-trans-b}}
bool make_wgmma(Executor& x) {
  const int lane = first_lane(x);
  machine::WgmmaMma mma;
  mma.op.form = std::get<wgmma::Form>(x.form().tensor);
  wgmma::Form& form = mma.op.form;
  mma.d = range_of(x, x.value(0));
  if (mma.d.count == 0) return false;
  if (x.value(1).kind == ValueKind::Vector) {
    form.a_place = wgmma::Place::Registers;
    mma.a = range_of(x, x.value(1));
    if (mma.a.count == 0) return false;
  } else {
    mma.op.desc_a = x.number(x.value(1), lane);
  }
  mma.op.desc_b = x.number(x.value(2), lane);
  std::uint32_t next = 3;
  if (form.sparse) {
    mma.metadata = {static_cast<int>(x.slot(x.value(3))), 1};
    mma.op.selector = static_cast<int>(small(x, 4, lane));
    next = 5;
  }
  const auto flag = [&](std::uint32_t operand) {
    return operand < x.operand_count() ? static_cast<std::int32_t>(small(x, operand, lane)) : 1;
  };
  mma.op.accumulate = (flag(next) & 1) != 0;
  x.for_each_lane(x.group.active, [&](int other) {
    const auto differs = [&](std::uint32_t operand) {
      return operand < x.operand_count() && x.value(operand).kind != ValueKind::Vector &&
             x.number(x.value(operand), other) != x.number(x.value(operand), lane);
    };
    if (!x.c.finding && (differs(1) || differs(2) || differs(next)))
      x.fail(Fault::WgmmaOperandsDiffer, other);
  });
  if (x.c.finding) return true;
  if (!mma.op.accumulate) define_rows(x);
  form.negate_a = flag(next + 1) == -1;
  form.negate_b = flag(next + 2) == -1;
  const bool a_in_registers = form.a_place == wgmma::Place::Registers;
  const std::uint32_t trans_b = a_in_registers ? next + 3 : next + 4;
  const auto is_mn = [&](std::uint32_t operand) {
    return operand < x.operand_count() && small(x, operand, lane) != 0;
  };
  if (!a_in_registers && is_mn(next + 3)) form.major_a = Major::MN;
  if (is_mn(trans_b)) form.major_b = Major::MN;
  if (const Fault fault = mma.check({}); fault != Fault::None) {
    x.fail(fault, lane);
    return true;
  }
  x.group.result = Result::Rows;
  x.add(mma, x.group.active);
  return true;
}

bool make_setmaxnreg(Executor& x) {
  const bool increases = x.form().get<ptx::Operation>() == ptx::Operation::Inc;
  x.add(machine::SetMaxRegisters{increases, static_cast<int>(small(x, 0, first_lane(x)))},
        x.group.active);
  return true;
}

// --- ldmatrix, stmatrix ----------------------------------------------------------------------------

constexpr std::uint32_t matrix_row_bytes = 16;

bool is_shape(const ptx::Form& form, int rows, int columns) {
  return form.shape[0] == rows && form.shape[1] == columns;
}

// .b8, or .b8x16 from something narrower. False: there is no such form.
bool read_packing(const ptx::Form& form, matrix::Packing& packing) {
  if (form.types[0] == ptx::Type::B8) return form.types[1] == ptx::Type::None;
  packing = form.types[1] == ptx::Type::B4x16P64 ? matrix::Packing::B4x16_p64
                                                 : matrix::Packing::B6x16_p32;
  return form.types[0] == ptx::Type::B8x16 &&
         (form.types[1] == ptx::Type::B4x16P64 || form.types[1] == ptx::Type::B6x16P32);
}

// The form's shape and elements. False: there is no such form.
bool read_matrices(const ptx::Form& form, machine::LaneMatrices& m) {
  using enum matrix::ByteShape;
  m.stores = form.opcode == Opcode::Stmatrix;
  if (is_shape(form, 8, 8)) return form.types[0] == ptx::Type::B16;
  if (!read_packing(form, m.packing)) return false;
  const bool widens = m.packing != matrix::Packing::Bytes;
  if (m.stores) {
    m.bytes = M16n8;
    return is_shape(form, 16, 8) && form.has(Flag::Trans) && !widens;
  }
  m.bytes = is_shape(form, 16, 16) ? M16n16 : M8n16;
  if (*m.bytes == M16n16) return form.has(Flag::Trans);
  return is_shape(form, 8, 16) && !form.has(Flag::Trans) && widens;
}

// The lanes whose register holds elements of a row of an 8 x 8 matrix in memory.
// Source: PTX ISA 9.2, 9.7.15.5.15 "ldmatrix"
std::uint32_t lanes_of_row(int row, bool is_transposed) {
  return is_transposed ? 0x11111111u << row / 2 : 0xfu << 4 * row;
}

// Rows that stmatrix fills with values that nothing defines; of matrices of bytes, all. Those of a load that races are used.
std::vector<machine::UndefinedBytes> undefined_rows(Executor& x, const machine::LaneMatrices& m) {
  const Value& data = x.value(1);
  const int count = data.kind == ValueKind::Vector ? static_cast<int>(data.value) : 1;
  const int each = m.bytes ? matrix::rows(*m.bytes) * m.count / count : 8;  // rows of a register
  std::vector<machine::UndefinedBytes> rows;
  for (int r = 0; r < count; ++r) {
    const Undefined u = undefined_in(
        x, data.kind == ValueKind::Vector ? x.item(data, static_cast<std::uint32_t>(r)) : data,
        ~0u);
    if (is_racing(x, u)) use(x, u);
    for (int row = 0; row < each; ++row) {
      const std::uint32_t holders = m.bytes ? ~0u : lanes_of_row(row, m.transposed);
      if ((u.lanes & holders) == 0) continue;
      const std::uint32_t at = m.rows[static_cast<std::size_t>(each * r + row)];
      rows.push_back({{at, at + matrix_row_bytes}, u.from});
    }
  }
  return rows;
}

bool make_matrices(Executor& x) {
  const ptx::Form& form = x.form();
  machine::LaneMatrices m;
  if (!read_matrices(form, m)) return false;
  m.count = 1 << (static_cast<int>(form.get<ptx::MatrixCount>()) - 1);
  m.transposed = form.has(Flag::Trans);
  m.data = &x.group.data;
  const Value& address = x.value(m.stores ? 0 : 1);
  const Value& data = x.value(m.stores ? 1 : 0);
  const int registers = m.count * (m.bytes ? matrix::registers(*m.bytes) : 1);
  if (data.kind == ValueKind::Vector ? data.value != registers : registers != 1) return false;
  for (int lane = 0; lane < 32; ++lane)
    m.rows[static_cast<std::size_t>(lane)] = offset_of(own_shared_at(x, address, lane));
  for (int r = 0; r < registers; ++r) {
    const Value& reg =
        data.kind == ValueKind::Vector ? x.item(data, static_cast<std::uint32_t>(r)) : data;
    if (!m.stores) m.loaded.push_back(static_cast<int>(x.slot(reg)));
    for (int lane = 0; lane < 32; ++lane)
      std::memcpy(x.group.data[static_cast<std::size_t>(lane)].data() + 4 * r,
                  x.words(x.slot(reg)) + lane, 4);
  }
  if (!m.stores) x.group.result = Result::Matrices;
  m.is_followed = !m.stores;
  if (m.stores) m.source = x.source();
  if (m.stores && has_undefined(x)) m.undefined = undefined_rows(x, m);
  x.add(std::move(m), x.group.active);
  return true;
}

// What ldmatrix has brought that nothing defines.
void follow_matrices(Executor& x) {
  machine::LaneMatrices m;
  if (x.c.unwritten_reads.empty() || !read_matrices(x.form(), m)) return;
  m.transposed = x.form().has(Flag::Trans);
  const std::uint32_t mine = follow_reads(x), unwritten = unwritten_read(x, mine);
  const auto bytes = static_cast<std::uint32_t>(matrix::packed_bytes(m.packing));
  const Value& data = x.value(0);
  const int count = data.kind == ValueKind::Vector ? static_cast<int>(data.value) : 1;
  const int rows =
      m.bytes ? matrix::rows(*m.bytes) * count / matrix::registers(*m.bytes) : 8 * count;
  std::vector<Undefined> values(static_cast<std::size_t>(count));
  const auto add = [&](Undefined& to, Undefined more) { to = both(x, to, more); };
  for (int row = 0; row < rows; ++row) {
    const std::uint32_t at = offset_of(shared_at(x, x.value(1), row));
    auto from = racing_read(x, mine, row);
    if (!from) from = undefined_from(x.c, x.warp.cta, {at, at + bytes}, unwritten);
    if (!from) continue;
    if (m.bytes)
      for (Undefined& value : values) add(value, {~0u, *from});
    else
      add(values[static_cast<std::size_t>(row / 8)], {lanes_of_row(row % 8, m.transposed), *from});
  }
  for (int r = 0; r < count; ++r)
    set_undefined(
        x, data.kind == ValueKind::Vector ? x.item(data, static_cast<std::uint32_t>(r)) : data,
        values[static_cast<std::size_t>(r)], ~0u);
}

void finish_matrices(Executor& x) {
  follow_matrices(x);
  const Value& data = x.value(0);
  const int count = data.kind == ValueKind::Vector ? static_cast<int>(data.value) : 1;
  for (int r = 0; r < count; ++r) {
    const Value& reg =
        data.kind == ValueKind::Vector ? x.item(data, static_cast<std::uint32_t>(r)) : data;
    for (int lane = 0; lane < 32; ++lane)
      std::memcpy(x.words(x.slot(reg)) + lane,
                  x.group.data[static_cast<std::size_t>(lane)].data() + 4 * r, 4);
  }
}

void finish_token(Executor& x) {
  x.for_each_lane(x.group.active, [&](int lane) {
    std::uint64_t state = 0;
    std::memcpy(&state, x.group.data[static_cast<std::size_t>(lane)].data(), sizeof state);
    x.set_wide(x.slot(x.value(0)), lane, token_of(state, shared_at(x, x.value(1), lane)));
  });
}

}  // namespace

namespace {

// An instruction that ptxas refuses for the kernel's target: wgmma, and setmaxnreg, which has no Fault for it.
// Source: ptxas 13.0 for sm_90
bool lacks_target(Executor& x) {
  using enum Opcode;
  const Opcode opcode = x.form().opcode;
  const bool is_wgmma = opcode == WgmmaMmaAsync || opcode == WgmmaFence ||
                        opcode == WgmmaCommitGroup || opcode == WgmmaWaitGroup;
  if (!is_wgmma && opcode != Setmaxnreg) return false;
  if (!ptx::is_for_any_sm90(x.kernel().program->unit)) return false;
  if (is_wgmma) x.fail(Fault::TargetLacksWgmma, first_lane(x));
  return true;
}

}  // namespace

bool make_statements(Executor& x) {
  using enum Opcode;
  const ptx::Form& form = x.form();
  const std::uint32_t active = x.group.active;
  if (lacks_target(x)) return x.c.finding.has_value();
  switch (form.opcode) {
    case BarSync:
    case BarArrive: return make_barrier(x);
    case BarRed: return make_vote(x);
    case BarrierClusterArrive:
      x.add(machine::ClusterArrive{is_relaxed(form), form.has(ptx::Flag::Aligned)}, active);
      return true;
    case BarrierClusterWait:
      x.add(machine::ClusterWait{form.has(ptx::Flag::Aligned)}, active);
      return true;
    case Fence:
    case Membar: return make_memory_fence(x);
    case FenceProxy:
    case MembarProxy: return make_proxy_fence(x);
    case CpAsyncMbarrierArrive: return make_copy_arrive(x);
    case FenceMbarrierInit: x.add(machine::FenceMbarrierInit{}, active); return true;
    case MbarrierInit: return make_init(x);
    case MbarrierInval: return make_inval(x);
    case MbarrierArrive:
    case MbarrierArriveDrop: return make_arrive(x);
    case MbarrierExpectTx:
    case MbarrierCompleteTx: return make_tx(x);
    case MbarrierTestWait:
    case MbarrierTryWait: return make_try_wait(x);
    case Atom:
    case Red:
    case MultimemRed: return make_atomic(x);
    case WgmmaMmaAsync: return make_wgmma(x);
    case WgmmaFence: x.add(machine::WgmmaFence{}, active); return true;
    case WgmmaCommitGroup: x.add(machine::WgmmaCommit{}, active); return true;
    case WgmmaWaitGroup:
      x.add(machine::WgmmaWait{static_cast<int>(small(x, 0, first_lane(x)))}, active);
      return true;
    case Setmaxnreg: return make_setmaxnreg(x);
    case Ldmatrix:
    case Stmatrix: return make_matrices(x);
    case WmmaLoad:
    case WmmaStore: return make_fragment(x);
    default: return make_copy(x);
  }
}

void query_pending(Executor& x) {
  x.for_each_lane(x.group.active, [&](int lane) {
    x.words(x.slot(x.value(0)))[lane] = mbarrier::pending_count(x.number(x.value(1), lane));
  });
}

void finish_statements(Executor& x) {
  switch (x.group.result) {
    case Result::None: return;
    case Result::Load: return finish_load(x);
    case Result::Matrices: return finish_matrices(x);
    case Result::Fragment: return finish_fragment(x);
    case Result::Cells: return follow_cells(x);
    case Result::Rows: return follow_rows(x);
    case Result::Token: return finish_token(x);
    case Result::Vote: return finish_vote(x);
    case Result::Test:
      if (x.group.passed == x.group.active) x.group.tests = 0;
      [[fallthrough]];
    case Result::Passed: return x.set_mask(x.slot(x.value(0)), x.group.active, x.group.passed);
  }
}

}  // namespace tcq::run
