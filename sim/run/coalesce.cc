#include "sim/run/coalesce.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/run/bits.h"

namespace tcq::run {
namespace {

using ptx::Access;
using ptx::Index;
using ptx::Instruction;
using ptx::Value;
using ptx::ValueKind;

// What an instruction does to registers that are D of some wgmma, by their numbers here.
struct Effects {
  std::vector<Index> reads, writes;
  Index copy_to = ptx::none, copy_from = ptx::none;
  bool kills = true;  // without a guard
};

class Coalescing {
 public:
  explicit Coalescing(const Kernel& kernel) : kernel_(kernel), program_(*kernel.program) {}

  std::vector<Index> representatives() {
    std::vector<Index> result(kernel_.code->registers.count);
    std::iota(result.begin(), result.end(), Index{0});
    number_accumulators();
    collect_copies();
    constexpr std::size_t most = 8192;  // the sets are as large as the square
    if (copies_.empty() || registers_.size() > most) return result;
    follow_liveness();
    for (const auto& [to, from] : copies_) merge(to, from);
    while (dissolve_broken_vector()) {
    }
    for (Index n = 0; n < registers_.size(); ++n) result[registers_[n]] = registers_[class_[n]];
    return result;
  }

 private:
  // --- which registers -------------------------------------------------------------------------

  void number_accumulators() {
    number_.assign(kernel_.code->registers.count, ptx::none);
    for (Index i = 0; i < kernel_.code->instructions.count; ++i) {
      const Instruction& instruction = kernel_.instruction(i);
      if (instruction.opcode != ptx::Opcode::WgmmaMmaAsync) continue;
      const Value& d = program_.values[instruction.values.first];
      std::vector<Index> vector;
      for (Index v = 0; v < static_cast<Index>(d.value); ++v) {
        const Value& item = program_.values[d.index + v];
        if (d.kind != ValueKind::Vector || item.kind != ValueKind::Register) return;
        vector.push_back(number_of(item.index));
      }
      vectors_.push_back(std::move(vector));
    }
    class_.resize(registers_.size());
    std::iota(class_.begin(), class_.end(), Index{0});
  }
  Index number_of(Index reg) {
    if (number_[reg] == ptx::none) {
      number_[reg] = static_cast<Index>(registers_.size());
      registers_.push_back(reg);
    }
    return number_[reg];
  }

  Effects effects(Index at) const {
    const Instruction& instruction = kernel_.instruction(at);
    Effects e;
    e.kills = instruction.guard == ptx::none;
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) note(e, v);
    if (instruction.opcode == ptx::Opcode::Mov && e.writes.size() == 1 && e.reads.size() == 1 &&
        program_.values[instruction.values.first].kind == ValueKind::Register &&
        program_.operand(instruction, 1).kind == ValueKind::Register) {
      e.copy_to = e.writes[0];
      e.copy_from = e.reads[0];
    }
    return e;
  }
  void note(Effects& e, Index v) const {
    const Value& value = program_.values[v];
    switch (value.kind) {
      case ValueKind::Vector:
      case ValueKind::Pair:
      case ValueKind::List:
      case ValueKind::AtTensor:
        for (Index i = 0; i < static_cast<Index>(value.value); ++i) note(e, value.index + i);
        return;
      case ValueKind::Register:
      case ValueKind::AtRegister: {
        const Index n = number_[value.index];
        if (n == ptx::none) return;
        const bool writes = value.kind == ValueKind::Register && value.access != Access::Read;
        if (writes) e.writes.push_back(n);
        if (!writes || value.access == Access::ReadWrite) e.reads.push_back(n);
        return;
      }
      default: return;
    }
  }

  void collect_copies() {
    for (Index i = 0; i < kernel_.code->instructions.count; ++i)
      if (const Effects e = effects(i); e.copy_to != ptx::none)
        copies_.emplace_back(e.copy_to, e.copy_from);
  }

  // --- which of them are alive together ----------------------------------------------------------

  void step_back(Bits& live, const Effects& e) const {
    if (e.kills)
      for (const Index w : e.writes) live.remove(w);
    for (const Index r : e.reads) live.add(r);
  }

  template <class Visit>
  void walk_back(const ptx::Block& block, Bits& live, Visit visit) const {
    for (Index i = block.last; i > block.first; --i) {
      const Effects e = effects(i - 1 - kernel_.first());
      visit(e, live);
      step_back(live, e);
    }
  }

  void follow_liveness() {
    const ptx::Range blocks = kernel_.code->blocks;
    std::vector<Bits> live_in(blocks.count, Bits(registers_.size()));
    const auto live_out = [&](const ptx::Block& block) {
      Bits live(registers_.size());
      for (Index e = block.next.first; e < block.next.end(); ++e)
        live.add_all(live_in[program_.edges[e] - blocks.first]);
      return live;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (Index b = blocks.count; b-- > 0;) {
        const ptx::Block& block = program_.blocks[blocks.first + b];
        Bits live = live_out(block);
        walk_back(block, live, [](const Effects&, const Bits&) {});
        changed = live_in[b].add_all(live) || changed;
      }
    }
    together_.assign(registers_.size(), Bits(registers_.size()));
    for (Index b = 0; b < blocks.count; ++b) {
      const ptx::Block& block = program_.blocks[blocks.first + b];
      Bits live = live_out(block);
      walk_back(block, live, [&](const Effects& e, const Bits& after) { note_together(e, after); });
    }
  }

  void note_together(const Effects& e, const Bits& after) {
    for (const Index w : e.writes) {
      Bits others = after;
      for (const Index other : e.writes) others.add(other);
      if (e.copy_from != ptx::none) others.remove(e.copy_from);
      others.remove(w);
      together_[w].add_all(others);
    }
  }

  // --- which become one --------------------------------------------------------------------------

  std::vector<Index> members(Index of_class) const {
    std::vector<Index> result;
    for (Index n = 0; n < class_.size(); ++n)
      if (class_[n] == of_class) result.push_back(n);
    return result;
  }

  void merge(Index to, Index from) {
    const Index into = class_[from];
    const Index gone = class_[to];
    if (into == gone) return;
    const std::vector<Index> joining = members(gone);
    for (const Index a : joining)
      for (const Index b : members(into))
        if (together_[a].has(b) || together_[b].has(a)) return;
    for (const Index a : joining) class_[a] = into;
  }

  // The elements of two vectors are the same registers, in the same order, or none of them are.
  bool dissolve_broken_vector() {
    std::vector<const std::vector<Index>*> vector_of(registers_.size(), nullptr);
    for (const std::vector<Index>& vector : vectors_) {
      const std::vector<Index>* known = vector_of[class_[vector[0]]];
      for (std::size_t i = 0; i < vector.size(); ++i) {
        const Index c = class_[vector[i]];
        const bool fits =
            vector_of[c] == known &&
            (known == nullptr || (known->size() == vector.size() && class_[(*known)[i]] == c));
        if (!fits && dissolve(vector)) return true;
      }
      for (const Index n : vector) vector_of[class_[n]] = &vector;
    }
    return false;
  }

  // False if nothing was merged.
  bool dissolve(const std::vector<Index>& vector) {
    bool any = false;
    for (const Index n : vector) {
      const std::vector<Index> all = members(class_[n]);
      any = any || all.size() > 1;
      for (const Index m : all) class_[m] = m;
    }
    return any;
  }

  const Kernel& kernel_;
  const ptx::Program& program_;
  std::vector<Index> number_;     // by register: its number here
  std::vector<Index> registers_;  // by number
  std::vector<std::vector<Index>> vectors_;
  std::vector<std::pair<Index, Index>> copies_;  // to, from
  std::vector<Bits> together_;
  std::vector<Index> class_;
};

}  // namespace

std::vector<Index> coalesced_registers(const Kernel& kernel) {
  return Coalescing(kernel).representatives();
}

}  // namespace tcq::run
