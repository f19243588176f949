#include "sim/run/unwritten_registers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "sim/run/local_bytes.h"

namespace tcq::run {
namespace {

using ptx::Index;

// The registers that may be read, before anything is written to them, behind the begin of each block.
class Liveness {
 public:
  explicit Liveness(const Kernel& kernel)
      : kernel_(kernel), blocks_(kernel.code->blocks), live_(blocks_.count) {
    for (std::vector<bool>& slots : live_) slots.assign(kernel.slot_count, false);
  }

  std::vector<bool> at_begin() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Index b = blocks_.end(); b-- > blocks_.first;) {
        std::vector<bool> live = before(kernel_.program->blocks[b]);
        std::vector<bool>& known = live_[b - blocks_.first];
        if (live == known) continue;
        known = std::move(live);
        changed = true;
      }
    }
    return live_.empty() ? std::vector<bool>(kernel_.slot_count, false) : live_.front();
  }

 private:
  std::vector<bool> before(const ptx::Block& block) const {
    std::vector<bool> live(kernel_.slot_count, false);
    const ptx::Range next = block.next;
    for (Index e = next.first; e < next.end(); ++e) {
      const std::vector<bool>& of = live_[kernel_.program->edges[e] - blocks_.first];
      for (std::size_t slot = 0; slot < live.size(); ++slot)
        if (of[slot]) live[slot] = true;
    }
    for (Index i = block.last; i-- > block.first;) step(live, kernel_.ops[i - kernel_.first()]);
    return live;
  }

  void step(std::vector<bool>& live, const Op& op) const {
    const auto ins = kernel_.ins(op);
    const bool is_nothing =
        op.action == Action::Nothing;  // a copy within one slot, or createpolicy
    if (op.guard == no_slot) {
      for (const Slot slot : kernel_.outs(op))
        if (!is_nothing || std::ranges::find(ins, slot) == ins.end()) live[slot] = false;
      if (op.sets_carry) live[kernel_.carry] = false;
    }
    if (is_nothing) return;
    if (op.guard != no_slot) live[op.guard] = true;
    for (const Slot slot : ins) live[slot] = true;
    if (op.reads_carry) live[kernel_.carry] = true;
  }

  const Kernel& kernel_;
  ptx::Range blocks_;
  std::vector<std::vector<bool>> live_;
};

}  // namespace

void list_unwritten(Kernel& kernel) {
  const std::vector<bool> live = Liveness(kernel).at_begin();
  const auto is_register = [&](Slot slot) {
    return slot == kernel.carry || (slot >= kernel.owned_slots && slot < kernel.scratch);
  };
  for (Slot slot = 0; slot < kernel.slot_count; ++slot)
    if (live[slot] && is_register(slot)) kernel.unwritten.push_back(slot);
}

namespace {

// What they hold in an execution that takes them for something.
void assume(machine::Contents contents, const Kernel& kernel, machine::Warp& warp,
            WarpState& state) {
  using Words = std::array<std::uint32_t, machine::warp_threads>;
  std::vector<std::uint8_t> bytes(kernel.unwritten.size() * sizeof(Words));
  machine::fill(bytes, contents);
  const std::uint8_t* next = bytes.data();
  for (const Slot slot : kernel.unwritten) {
    if (slot == kernel.carry)
      std::memcpy(&state.carry, next, sizeof state.carry);
    else
      std::memcpy(&warp.registers.of_reg[slot], next, sizeof(Words));
    next += sizeof(Words);
  }
}

}  // namespace

void follow_unwritten(const Kernel& kernel, machine::ClusterState& c, machine::Warp& warp,
                      WarpState& state) {
  begin_local(c, state);
  if (kernel.unwritten.empty()) return;
  UndefinedValues& undefined = state.undefined;
  undefined.lanes.assign(kernel.slot_count, 0);
  undefined.from.assign(kernel.slot_count, 0);
  for (const Slot slot : kernel.unwritten) {
    undefined.lanes[slot] = machine::all_lanes;
    undefined.from[slot] = static_cast<std::uint32_t>(c.unwritten_reads.size());
  }
  undefined.held = kernel.unwritten.size();
  if (c.contents) assume(*c.contents, kernel, warp, state);
  machine::UnwrittenRead& read = c.unwritten_reads.emplace_back();
  read.finding = {.fault = Fault::RegisterUninitialized, .at = {0, warp.number, -1}};
  read.is_followed = true;
}

}  // namespace tcq::run
