#include "sim/run/moved_copies.h"

#include <optional>
#include <set>

namespace tcq::run {
namespace {

using ptx::Opcode;

// From a fence on, of one block.
class Behind {
 public:
  // True if the copy may be executed before the fence.
  bool moves(const Kernel& kernel, const Op& op) const {
    const auto outs = kernel.outs(op);
    const auto ins = kernel.ins(op);
    if (op.action != Action::Alu || op.guard != no_slot || outs.size() != 1 || ins.size() > 1)
      return false;
    return !touched_.contains(outs[0]) && (ins.empty() || !changed_.contains(ins[0]));
  }
  void note(const Kernel& kernel, const Op& op) {
    for (const Slot slot : kernel.ins(op)) touched_.insert(slot);
    for (const Slot slot : kernel.outs(op)) {
      touched_.insert(slot);
      changed_.insert(slot);
    }
  }

 private:
  std::set<Slot> touched_, changed_;
};

}  // namespace

void mark_moved_copies(Kernel& kernel) {
  const ptx::Range blocks = kernel.code->blocks;
  for (ptx::Index b = 0; b < blocks.count; ++b) {
    const ptx::Block& block = kernel.program->blocks[blocks.first + b];
    std::optional<Behind> behind;
    for (ptx::Index i = block.first; i < block.last; ++i) {
      const ptx::Index at = i - kernel.first();
      Op& op = kernel.ops[at];
      const Opcode opcode = kernel.instruction(at).opcode;
      if (opcode == Opcode::WgmmaFence) behind.emplace();
      if (opcode == Opcode::WgmmaMmaAsync) behind.reset();
      if (!behind || opcode == Opcode::WgmmaFence) continue;
      op.moved = opcode == Opcode::Mov && behind->moves(kernel, op);
      if (!op.moved) behind->note(kernel, op);
    }
  }
}

}  // namespace tcq::run
