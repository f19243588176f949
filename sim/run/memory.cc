// ld, st, atom and red of compiled kernels; see executor.h.
//
// Parameters, constants and local memory are the executor's own. Shared and global memory are the machine's: one
// statement for all lanes that reach the same of them.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sim/run/executor.h"
#include "sim/run/heap.h"
#include "sim/run/local_bytes.h"
#include "sim/run/poll.h"
#include "sim/run/read_only.h"
#include "sim/run/undefined.h"
#include "sim/run/update.h"

namespace tcq::run {
namespace {

using machine::LaneAddresses;
using ptx::Opcode;
using ptx::Semantics;
using ptx::Space;
using ptx::Value;
using ptx::ValueKind;

// Registers of a value or of a vector of them.
std::span<const Value> registers_of(const Executor& x, const Value& value) {
  if (value.kind != ValueKind::Vector) return {&value, 1};
  return {&x.item(value, 0), static_cast<std::size_t>(value.value)};
}

int element_bytes(const Executor& x) { return std::max(1, ptx::bits(x.form().types[0]) / 8); }

// Of the text "ld d, [a]" and "st [a], b".
const Value& address_operand(const Executor& x, bool stores) { return x.value(stores ? 0 : 1); }
const Value& data_operand(const Executor& x, bool stores) { return x.value(stores ? 1 : 0); }

// Where one lane's bytes are.
struct Target {
  enum class Memory : std::uint8_t { Shared, Global, Local, Const, Param, Nowhere };
  Memory memory = Memory::Nowhere;
  int cta = machine::own_cta;
  std::uint64_t at = 0;
  auto operator<=>(const Target&) const = default;
};

// Of a grid that runs at once, where no CTA reaches another one's bytes: a number that no variable gave has no rank.
std::uint32_t ranked(const Executor& x, std::uint32_t address) {
  const bool has_none = x.feeder.launch().whole_grid && rank_of(address) == 0;
  return has_none ? at_rank(address, static_cast<std::uint32_t>(x.warp.cta)) : address;
}

Target shared_target(const Executor& x, std::uint32_t number) {
  const std::uint32_t address = ranked(x, number);
  const int rank = rank_of(address);
  return {Target::Memory::Shared, rank == x.warp.cta ? machine::own_cta : rank, offset_of(address)};
}

Target generic_target(const Executor& x, std::uint64_t address) {
  using enum Target::Memory;
  if (in_window(address, global_window)) return {Global, machine::own_cta, address - global_window};
  if (in_window(address, shared_window))
    return shared_target(x, static_cast<std::uint32_t>(address - shared_window));
  if (in_window(address, local_window)) return {Local, machine::own_cta, address - local_window};
  if (in_window(address, const_window)) return {Const, machine::own_cta, address - const_window};
  if (in_window(address, param_window)) return {Param, machine::own_cta, address - param_window};
  return {Nowhere, machine::own_cta, address};
}

Target target_of(const Executor& x, Space space, std::uint64_t address) {
  using enum Target::Memory;
  switch (space) {
    case Space::Shared:
    case Space::SharedCta:
    case Space::SharedCluster: return shared_target(x, static_cast<std::uint32_t>(address));
    case Space::Local: return {Local, machine::own_cta, address & (window_bytes - 1)};
    case Space::Const: return {Const, machine::own_cta, address & (window_bytes - 1)};
    case Space::Param:
    case Space::ParamEntry: {
      const bool local = in_window(address, local_window);  // a variable for a call
      return {local ? Local : Param, machine::own_cta, address & (window_bytes - 1)};
    }
    default: return generic_target(x, address);
  }
}

// In another memory than the instruction names. What the system has of shared memory is told by numbers without a rank.
bool is_elsewhere(Space space, const Target& t) {
  if (space == Space::Global) return t.memory != Target::Memory::Global;
  return ptx::is_own_shared(space) && t.memory == Target::Memory::Shared &&
         t.cta != machine::own_cta && t.at >= shared_base_sm90;
}

// --- bytes and registers ---------------------------------------------------------------------------

bool is_extended(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::S16 || type == ptx::Type::S32;
}

std::uint64_t read_number(const std::uint8_t* bytes, int count, bool is_signed) {
  std::uint64_t low = 0;
  std::memcpy(&low, bytes, static_cast<std::size_t>(std::min(count, 8)));
  if (!is_signed) return low;
  const unsigned shift = 64 - 8 * static_cast<unsigned>(count);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(low << shift) >> shift);
}

// `count` bytes of each lane, `begin` behind the first of its data.
void put(Executor& x, const Value& reg, int begin, int count) {
  if (reg.kind == ValueKind::Sink) return;
  const bool is_signed = is_extended(x.form().types[0]) && count < 8;
  const auto [words, each] = x.cells(reg);
  const std::uint8_t* const data = x.group.data.front().data() + begin;
  const auto bytes_of = [&](int lane) { return data + machine::max_lane_bytes * lane; };
  if (each == 1 && count == 4)  // as mostly: in place
    return x.for_each_lane(x.group.active, [&, words = words](int lane) {
      std::memcpy(words + lane, bytes_of(lane), 4);
    });
  x.for_each_lane(x.group.active, [&, words = words, each = each](int lane) {
    const std::uint8_t* bytes = bytes_of(lane);
    const std::uint64_t low = read_number(bytes, count, is_signed);
    if (each == 1)
      words[lane] = static_cast<std::uint32_t>(low);
    else if (each == 2)
      std::memcpy(words + 2 * lane, &low, sizeof low);
    else if (each == 4)
      std::memcpy(words + 4 * lane, bytes, static_cast<std::size_t>(std::min(count, 16)));
  });
}

void get(Executor& x, const Value& reg, int begin, int count) {
  const auto [words, each] = x.cells(reg);
  const int stride = std::max(1, each);
  const auto size = static_cast<std::size_t>(std::min(count, 4 * stride));
  std::uint8_t* const data = x.group.data.front().data() + begin;
  const auto bytes_of = [&](int lane) { return data + machine::max_lane_bytes * lane; };
  if (size == 4)  // as mostly: in place
    return x.for_each_lane(x.group.active, [&, words = words](int lane) {
      std::memcpy(bytes_of(lane), words + stride * lane, 4);
    });
  x.for_each_lane(x.group.active, [&, words = words](int lane) {
    std::memcpy(bytes_of(lane), words + stride * lane, size);
  });
}

void gather(Executor& x, const Value& data, int bytes) {
  int begin = 0;
  for (const Value& reg : registers_of(x, data)) {
    get(x, reg, begin, bytes);
    begin += bytes;
  }
}

// --- memory that only the thread can see -----------------------------------------------------------

std::uint8_t* own_bytes(Executor& x, const Target& target, int lane, std::size_t count) {
  const auto within = [&](std::size_t size) {
    return target.at <= size && count <= size - target.at;
  };
  if (target.memory == Target::Memory::Local) {
    const std::size_t each = x.kernel().local_bytes;
    return within(each) ? x.state.local.data() + static_cast<std::size_t>(lane) * each + target.at
                        : nullptr;
  }
  const auto& bytes = target.memory == Target::Memory::Const ? x.kernel().const_bytes
                                                             : x.feeder.launch().parameters;
  if (!within(bytes.size())) return nullptr;
  return const_cast<std::uint8_t*>(bytes.data()) + target.at;
}

void access_own(Executor& x, const Target& target, int lane, std::size_t count, bool stores) {
  if (target.at % count != 0)
    return x.fail(Fault::AddressUnaligned, lane, static_cast<std::int64_t>(target.at));
  std::uint8_t* memory = own_bytes(x, target, lane, count);
  if (memory == nullptr || (stores && target.memory != Target::Memory::Local))
    return x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(target.at));
  std::uint8_t* value = x.group.data[static_cast<std::size_t>(lane)].data();
  std::memcpy(stores ? memory : value, stores ? value : memory, count);
}

// --- statements ------------------------------------------------------------------------------------

bool synchronises(const ptx::Form& form) {
  const auto semantics = form.get<Semantics>();
  return semantics != Semantics::None && semantics != Semantics::Weak;
}

void list_loaded(const Executor& x, bool stores, std::vector<int>& slots) {
  if (stores || x.form().opcode != Opcode::Ld) return;
  for (const Value& reg : registers_of(x, data_operand(x, stores)))
    if (reg.kind == ValueKind::Register) slots.push_back(static_cast<int>(x.slot(reg)));
}

struct Filled {
  int lane = 0;
  machine::UndefinedBytes bytes;
};

// `access` knows where.
void make_plain(Executor& x, bool stores, std::span<const Filled> filled,
                machine::LaneAccess& access) {
  access.stores = stores;
  access.data = &x.group.data;
  access.loaded.clear();
  if (!access.where.global) list_loaded(x, stores, access.loaded);
  access.is_followed = x.form().opcode == Opcode::Ld || x.form().opcode == Opcode::St;
  access.source = stores ? x.source() : 0;
  access.undefined.clear();
  if (!access.where.global)
    for (const Filled& f : filled) access.undefined.push_back(f.bytes);
}

// Of all active lanes.
void issue(Executor& x, const machine::LaneAccess& access) {
  Group& g = x.group;
  if (!x.executes_at_once()) return x.add(access, g.active);
  x.c.trim_log();
  if (!x.count_instruction()) return;
  machine::Step step = x.step(g.active);
  x.warp.pc = x.number() + 1;
  access.execute(step);
  if (access.stores && access.where.global) ++x.state.stores_at_once;
  g.acted = !note_round(x, access.stores);
  g.polled = g.pc;
}

// ld.acquire and its like; `update` writes.
machine::Instruction ordered(Executor& x, const LaneAddresses& where,
                             std::function<void(int, std::uint8_t*)> update, bool reads) {
  const auto semantics = x.form().get<Semantics>();
  const bool both = semantics == Semantics::AcqRel;
  machine::LaneAtomic atomic{.where = where, .data = &x.group.data, .update = std::move(update)};
  if (atomic.update == nullptr) atomic.data = &x.group.seen;
  atomic.acquires = both || semantics == Semantics::Acquire;
  atomic.releases = both || semantics == Semantics::Release;
  atomic.reads = reads;
  atomic.finds = x.form().get<ptx::Operation>() != ptx::Operation::Exch;
  atomic.is_volatile = semantics == Semantics::Volatile;
  atomic.is_narrow = x.form().get<ptx::Scope>() == ptx::Scope::Cta;
  wait_for_change(x, atomic);
  return atomic;
}

bool check_blocks(Executor& x, const std::array<Target, 32>& targets, int bytes) {
  if (!x.kernel().heap) return true;
  x.for_each_lane(x.group.active, [&](int lane) {
    const Target& t = targets[static_cast<std::size_t>(lane)];
    const bool is_fine = t.memory != Target::Memory::Global ||
                         are_in_block(x, t.at, static_cast<std::uint64_t>(bytes));
    if (!is_fine && !x.c.finding)
      x.fail(Fault::HeapBlockMissing, lane, static_cast<std::int64_t>(global_window + t.at));
  });
  return !x.c.finding;
}

bool check_gaps(Executor& x, const std::array<Target, 32>& targets, int bytes) {
  const Launch& launch = x.feeder.launch();
  if (launch.gaps.empty()) return true;
  x.for_each_lane(x.group.active, [&](int lane) {
    const Target& t = targets[static_cast<std::size_t>(lane)];
    const bool is_fine = t.memory != Target::Memory::Global ||
                         are_somebodys(launch, t.at, static_cast<std::uint64_t>(bytes));
    if (!is_fine && !x.c.finding)
      x.fail(Fault::GlobalOutOfRange, lane, static_cast<std::int64_t>(t.at));
  });
  return !x.c.finding;
}

// All that lies between the lanes' bytes, too.
bool lie_apart_from_gaps(const Executor& x, const LaneAddresses& where) {
  const Launch& launch = x.feeder.launch();
  if (launch.gaps.empty()) return true;
  std::uint64_t lowest = window_bytes, end = 0;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t at = where.at[static_cast<std::size_t>(lane)];
    lowest = std::min(lowest, at);
    end = std::max(end, at + static_cast<std::uint64_t>(where.bytes));
  });
  return are_somebodys(launch, lowest, end - lowest);
}

// The lanes' bytes in a few memories, each of them one statement.
template <class Make>
void split_by_memory(Executor& x, const std::array<Target, 32>& targets, int bytes, Make make) {
  std::uint32_t left = x.group.active;
  if (!check_blocks(x, targets, bytes) || !check_gaps(x, targets, bytes)) return;
  while (left != 0) {
    const Target first = targets[static_cast<std::size_t>(std::countr_zero(left))];
    LaneAddresses where;
    where.global = first.memory == Target::Memory::Global;
    where.cta = first.cta;
    where.bytes = bytes;
    std::uint32_t lanes = 0;
    x.for_each_lane(left, [&](int lane) {
      const Target& t = targets[static_cast<std::size_t>(lane)];
      if (t.memory != first.memory || t.cta != first.cta) return;
      lanes |= 1u << lane;
      where.at[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(t.at);
    });
    left &= ~lanes;
    x.add(make(where), lanes);
  }
}

template <class AddressOf>
std::optional<std::array<Target, 32>> targets_where(Executor& x, AddressOf address_of) {
  std::array<Target, 32> targets;
  bool fine = true;
  const Space space = x.form().space();
  const Opcode opcode = x.form().opcode;
  const bool needs_device =
      is_multimem(opcode) || opcode == Opcode::StAsync || opcode == Opcode::RedAsync;
  x.for_each_lane(x.group.active, [&](int lane) {
    const std::uint64_t at = address_of(lane);
    Target& t = targets[static_cast<std::size_t>(lane)];
    t = target_of(x, space, at);
    const bool is_device = t.memory == Target::Memory::Global;
    if (is_elsewhere(space, t) || (needs_device && !is_device)) t.memory = Target::Memory::Nowhere;
    if (t.memory != Target::Memory::Nowhere || !fine) return;
    fine = false;
    x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(at));
  });
  if (!fine) return std::nullopt;
  return targets;
}

std::optional<std::array<Target, 32>> targets_of(Executor& x, const Value& address) {
  const auto base = x.cells(address);
  const auto offset = static_cast<std::uint64_t>(address.value);
  return targets_where(x, [&](int lane) { return base.number(lane) + offset; });
}

bool is_own(const Target& t) {
  return t.memory != Target::Memory::Shared && t.memory != Target::Memory::Global;
}

// --- values that nothing defines -------------------------------------------------------------------

int cta_of(const Executor& x, const Target& t) {
  return t.cta == machine::own_cta ? x.warp.cta : t.cta;
}
machine::ByteRange bytes_in(const Target& t, int begin, int count) {
  const auto at = static_cast<std::uint32_t>(t.at) + static_cast<std::uint32_t>(begin);
  return {at, at + static_cast<std::uint32_t>(count)};
}

LocalRange local_range(const Target& t, int lane, int begin, int count) {
  return {lane, t.at + static_cast<std::uint64_t>(begin), count};
}
bool may_be_local(const Executor& x) {
  const Space space = x.form().space();
  return x.kernel().local_bytes != 0 && space != Space::Global && space != Space::Const &&
         !ptx::is_shared(space);
}

// What a store stores of them: kept with the bytes, and used where those are not the CTA's or the thread's own.
void follow_stored(Executor& x, const std::array<Target, 32>& targets, int each,
                   std::vector<Filled>& filled) {
  using enum Target::Memory;
  int begin = 0;
  for (const Value& reg : registers_of(x, data_operand(x, true))) {
    const Undefined value = undefined_in(x, reg, x.group.active);
    x.for_each_lane(x.group.active, [&](int lane) {
      const auto l = static_cast<std::size_t>(lane);
      const Target& t = targets[l];
      const std::uint32_t bit = value.lanes & 1u << lane;
      if (t.memory == Local) mark_local(x, local_range(t, lane, begin, each), value);
      if (bit == 0 || t.memory == Local) return;
      const bool stays = t.memory == Shared && !synchronises(x.form());
      if (!stays || is_racing(x, value)) return use(x, value);
      filled.push_back({lane, {bytes_in(t, begin, each), value.from}});
    });
    begin += each;
  }
  std::ranges::stable_sort(filled, {}, &Filled::lane);
}

// What a load has brought of them.
void follow_loaded(Executor& x) {
  const bool may_bring = !x.c.unwritten_reads.empty() || may_be_local(x);
  if (!may_bring || x.form().opcode != Opcode::Ld || synchronises(x.form())) return;
  const auto targets = targets_of(x, address_operand(x, false));
  if (!targets) return;
  const std::uint32_t mine = follow_reads(x), unwritten = unwritten_read(x, mine);
  const int each = element_bytes(x);
  int begin = 0;
  for (const Value& reg : registers_of(x, data_operand(x, false))) {
    Undefined value;
    x.for_each_lane(x.group.active, [&](int lane) {
      using enum Target::Memory;
      const Target& t = (*targets)[static_cast<std::size_t>(lane)];
      std::optional<std::uint32_t> from;
      if (!is_own(t)) from = racing_read(x, mine, lane);
      if (!from && t.memory == Shared)
        from = undefined_from(x.c, cta_of(x, t), bytes_in(t, begin, each), unwritten);
      else if (t.memory == Local)
        from = local_from(x, local_range(t, lane, begin, each));
      if (!from) return;
      value = both(x, value, {1u << lane, *from});
    });
    set_undefined(x, reg, value, x.group.active);
    begin += each;
  }
}

}  // namespace

std::uint32_t shared_at(const Executor& x, const Value& address, int lane) {
  const std::uint64_t a = x.address(address, lane);
  return ranked(x, static_cast<std::uint32_t>(in_window(a, shared_window) ? a - shared_window : a));
}

std::uint32_t own_shared_at(Executor& x, const Value& address, int lane) {
  const std::uint32_t at = shared_at(x, address, lane);
  if (rank_of(at) != x.warp.cta && !x.c.finding) x.fail(Fault::AddressNowhere, lane, at);
  return at;
}

std::uint32_t named_shared_at(Executor& x, const Value& address, int lane) {
  return ptx::is_own_shared(x.form().space()) ? own_shared_at(x, address, lane)
                                              : shared_at(x, address, lane);
}

machine::Address shared_address(const Executor& x, std::uint32_t address) {
  machine::Address result(offset_of(address));
  if (rank_of(address) != x.warp.cta) result.cta = rank_of(address);
  return result;
}

namespace {

// What all active lanes of a plain load or store reach, if it is of one memory of the machine, as it is mostly. False: it is not.
bool is_one_memory(const Executor& x, const Value& address, int bytes, LaneAddresses& where) {
  const Opcode opcode = x.form().opcode;
  const bool is_plain = (opcode == Opcode::Ld || opcode == Opcode::St) && !synchronises(x.form());
  if (!is_plain || x.kernel().heap) return false;
  const auto base = x.cells(address);
  const std::uint64_t first = base.number(std::countr_zero(x.group.active));
  const Target target =
      target_of(x, x.form().space(), first + static_cast<std::uint64_t>(address.value));
  if (is_own(target) || is_elsewhere(x.form().space(), target)) return false;
  where.global = target.memory == Target::Memory::Global;
  where.cta = target.cta;
  where.bytes = bytes;
  const std::uint64_t extent = where.global ? window_bytes : std::uint64_t{1} << rank_shift;
  const std::uint64_t from_first = target.at - first;
  std::uint64_t outside = 0;  // bits of addresses; an extent is a power of two
  const auto place = [&](auto number) {
    x.for_each_lane(x.group.active, [&](int lane) {
      const std::uint64_t at = from_first + number(lane);
      outside |= at;
      where.at[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(at);
    });
  };
  if (base.each == 1)
    place([words = base.words](int lane) { return std::uint64_t{words[lane]}; });
  else
    place([base](int lane) { return base.number(lane); });
  return outside < extent && (!where.global || lie_apart_from_gaps(x, where));
}

}  // namespace

void access_memory(Executor& x, bool stores) {
  const int each = element_bytes(x);
  const auto registers = registers_of(x, data_operand(x, stores));
  const int bytes = each * static_cast<int>(registers.size());
  const bool fits = bytes <= machine::max_lane_bytes;
  machine::LaneAccess& access = x.group.access;
  if (fits && !(stores && has_undefined(x)) &&
      is_one_memory(x, address_operand(x, stores), bytes, access.where)) {
    if (stores) gather(x, data_operand(x, stores), each);
    x.group.result = stores ? Result::None : Result::Load;
    make_plain(x, stores, {}, access);
    return issue(x, access);
  }
  const auto targets = targets_of(x, address_operand(x, stores));
  if (!targets) return;
  if (!fits) return x.fail(Fault::UnmodelledInstruction, std::countr_zero(x.group.active));
  if (stores) gather(x, data_operand(x, stores), each);
  std::vector<Filled> filled;
  if (stores && (has_undefined(x) || may_be_local(x))) follow_stored(x, *targets, each, filled);
  x.group.result = stores ? Result::None : Result::Load;
  const std::uint32_t all = x.group.active;
  std::uint32_t own = 0;
  x.for_each_lane(all, [&](int lane) {
    const Target& t = (*targets)[static_cast<std::size_t>(lane)];
    if (!is_own(t) || x.c.finding) return;
    own |= 1u << lane;
    access_own(x, t, lane, static_cast<std::size_t>(bytes), stores);
  });
  if (x.c.finding) return;
  x.group.active = all & ~own;
  split_by_memory(x, *targets, bytes, [&](const LaneAddresses& where) -> machine::Instruction {
    if (!synchronises(x.form())) {
      machine::LaneAccess plain;
      plain.where = where;
      make_plain(x, stores, filled, plain);
      return plain;
    }
    if (!stores) return ordered(x, where, nullptr, true);
    const auto copy = x.group.data;
    return ordered(
        x, where,
        [copy, bytes](int lane, std::uint8_t* to) {
          std::memcpy(to, copy[static_cast<std::size_t>(lane)].data(),
                      static_cast<std::size_t>(bytes));
        },
        false);
  });
  x.group.active = all;
}

void add_lane_accesses(Executor& x, const std::array<std::uint64_t, 32>& addresses,
                       const LanePart& part) {
  const auto targets =
      targets_where(x, [&](int lane) { return addresses[static_cast<std::size_t>(lane)]; });
  if (!targets) return;
  x.for_each_lane(x.group.active, [&](int lane) {
    const auto l = static_cast<std::size_t>(lane);
    if (is_own((*targets)[l]) && !x.c.finding)
      x.fail(Fault::AddressNowhere, lane, static_cast<std::int64_t>(addresses[l]));
  });
  if (x.c.finding) return;
  split_by_memory(x, *targets, part.bytes, [&](const LaneAddresses& where) -> machine::Instruction {
    return machine::LaneAccess{part.stores, where, &x.group.data,
                               where.global ? std::vector<int>{} : part.loaded, part.begin};
  });
}

void finish_load(Executor& x) {
  follow_loaded(x);
  const int each = element_bytes(x);
  const auto registers = registers_of(x, data_operand(x, false));
  if (is_read_only(x.form())) demand_read_only(x, each * static_cast<int>(registers.size()));
  int begin = 0;
  for (const Value& reg : registers) {
    put(x, reg, begin, each);
    begin += each;
  }
}

// atom d, [a], b{, c}; red [a], b.
bool make_atomic(Executor& x) {
  const bool has_result = x.form().opcode == Opcode::Atom;
  const std::uint32_t first = has_result ? 1 : 0;
  const auto targets = targets_of(x, x.value(first));
  if (!targets) return true;
  const int each = element_bytes(x);
  const auto elements = registers_of(x, x.value(first + 1)).size();
  const int bytes = each * static_cast<int>(elements);
  if (bytes > machine::max_lane_bytes) return false;
  gather(x, x.value(first + 1), each);
  const machine::LaneBytes operand = x.group.data;
  machine::LaneBytes swap = {};
  const auto operation = x.form().get<ptx::Operation>();
  if (operation == ptx::Operation::Cas) {
    gather(x, x.value(first + 2), each);
    swap = x.group.data;
  }
  const auto update_in = [&](bool is_shared) {
    return update_of(operation, x.form().types[0], is_shared);
  };
  if (update_in(false) == nullptr) return false;
  x.group.result = has_result ? Result::Load : Result::None;
  split_by_memory(x, *targets, bytes, [&](const LaneAddresses& where) {
    return ordered(
        x, where,
        [=, update = update_in(!where.global)](int lane, std::uint8_t* to) {
          const auto l = static_cast<std::size_t>(lane);
          for (int e = 0; e < bytes; e += each)
            update(to + e, operand[l].data() + e, swap[l].data() + e);
        },
        true);
  });
  return true;
}

}  // namespace tcq::run
