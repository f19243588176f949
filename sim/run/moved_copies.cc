#include "sim/run/moved_copies.h"

#include <vector>

#include "sim/run/bits.h"

namespace tcq::run {
namespace {

using ptx::Access;
using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Value;
using ptx::ValueKind;

class MovedCopies {
 public:
  explicit MovedCopies(Kernel& kernel)
      : kernel_(kernel),
        program_(*kernel.program),
        blocks_(kernel.code->blocks),
        waited_(static_cast<Index>(kernel.slot_count)),
        changed_(blocks_.count, none()) {}

  void mark() {
    for (bool grows = has_fence(); grows;) {
      grows = false;
      for (Index b = 0; b < blocks_.count; ++b) grows |= leave(block(b), changed_behind(b));
    }
  }

 private:
  const ptx::Block& block(Index b) const { return program_.blocks[blocks_.first + b]; }

  bool has_fence() const {
    for (Index i = 0; i < kernel_.code->instructions.count; ++i)
      if (kernel_.instruction(i).opcode == Opcode::WgmmaFence) return true;
    return false;
  }

  bool leave(const ptx::Block& from, const Bits& changed) {
    bool grows = false;
    for (Index e = from.next.first; e < from.next.end(); ++e)
      grows |= changed_[program_.edges[e] - blocks_.first].add_all(changed);
    return grows;
  }

  // The last visit knows all ways to the block, and what it moves stays moved.
  Bits changed_behind(Index b) {
    Bits changed = changed_[b];
    for (Index i = block(b).first; i < block(b).last; ++i) pass(i - kernel_.first(), changed);
    return changed;
  }

  void pass(Index at, Bits& changed) {
    const Instruction& instruction = kernel_.instruction(at);
    Op& op = kernel_.ops[at];
    if (instruction.opcode == Opcode::WgmmaFence && op.guard == no_slot) changed = none();
    if (instruction.opcode == Opcode::WgmmaWaitGroup) changed.add(waited_);
    op.moved = instruction.opcode == Opcode::Mov && moves(op, changed);
    if (op.moved || op.action == Action::Nothing) return;
    for (Index v = instruction.values.first; v < instruction.values.end(); ++v) note(v, changed);
  }

  bool moves(const Op& op, const Bits& changed) const {
    const auto ins = kernel_.ins(op);
    return op.action == Action::Alu && op.guard == no_slot && op.outs == 1 && ins.size() <= 1 &&
           !changed.has(waited_) && (ins.empty() || !changed.has(ins[0]));
  }

  void note(Index v, Bits& changed) const {
    const Value& value = program_.values[v];
    const bool holds = value.kind == ValueKind::Vector || value.kind == ValueKind::Pair ||
                       value.kind == ValueKind::List;
    for (Index i = 0; holds && i < static_cast<Index>(value.value); ++i)
      note(value.index + i, changed);
    if (value.kind == ValueKind::Register && value.access != Access::Read)
      changed.add(kernel_.slot_of_value[v]);
  }

  Kernel& kernel_;
  const ptx::Program& program_;
  ptx::Range blocks_;
  Bits none() const { return Bits(static_cast<std::size_t>(waited_) + 1); }

  Index
      waited_;  // behind the slots: something has waited for wgmmas, and what follows wants a fence of its own
  // By block: slots that something has changed since the last fence, or since the kernel began, on some way there.
  std::vector<Bits> changed_;
};

}  // namespace

void mark_moved_copies(Kernel& kernel) { MovedCopies(kernel).mark(); }

}  // namespace tcq::run
