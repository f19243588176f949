// Cutting a function into blocks; see control_flow.h.
#include "sim/ptx/control_flow.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sim/ptx/post_dominators.h"

namespace tcq::ptx {
namespace {

class Blocks {
 public:
  Blocks(Program& program, Code& code)
      : program_(program), begin_(code.instructions.first), end_(code.instructions.end()) {}

  Range add() {
    find_leaders();
    const Range range{index_of(program_.blocks.size()), leaders_};
    for (Index i = begin_; i < end_; ++i) {
      if (block_of_[i - begin_] != none) {
        block_of_[i - begin_] += range.first;
        Block block;
        block.first = i;
        program_.blocks.push_back(block);
      }
      program_.blocks.back().last = i + 1;
    }
    for (Index i = range.first; i < range.end(); ++i) add_edges(program_.blocks[i]);
    add_post_dominators(range);
    return range;
  }

 private:
  static bool ends_block(Opcode opcode) {
    return opcode == Opcode::Bra || opcode == Opcode::BrxIdx || ends_thread(opcode);
  }
  static bool ends_thread(Opcode opcode) {
    return opcode == Opcode::Ret || opcode == Opcode::Exit || opcode == Opcode::Trap;
  }

  // Calls visit(instruction) for every target of a branch.
  template <class Visit>
  void for_targets(const Instruction& i, const Visit& visit) const {
    if (i.opcode != Opcode::Bra && i.opcode != Opcode::BrxIdx) return;
    const Value& last = program_.values[i.values.end() - 1];
    if (last.kind == ValueKind::Label) return visit(last.index);
    if (last.kind != ValueKind::Table) return;
    const Range table = program_.tables[last.index];
    for (Index k = table.first; k < table.end(); ++k)
      if (program_.table_targets[k] != none) visit(program_.table_targets[k]);
  }

  void find_leaders() {
    block_of_.assign(end_ - begin_, none);
    std::vector<bool> leads(end_ - begin_ + 1, false);
    leads[0] = true;
    for (Index i = begin_; i < end_; ++i) {
      const Instruction& one = program_.instructions[i];
      if (ends_block(one.opcode)) leads[i + 1 - begin_] = true;
      for_targets(one, [&](Index target) { leads[target - begin_] = true; });
    }
    for (Index i = 0; i < end_ - begin_; ++i)
      if (leads[i]) block_of_[i] = leaders_++;
  }

  void add_edges(Block& block) {
    const Instruction& last = program_.instructions[block.last - 1];
    block.next.first = index_of(program_.edges.size());
    const auto add = [&](Index instruction) {
      const Index to = block_of_[instruction - begin_];
      const auto from = program_.edges.begin() + block.next.first;
      if (std::find(from, program_.edges.end(), to) == program_.edges.end())
        program_.edges.push_back(to);
    };
    const bool goes_on = last.guard != none || !ends_block(last.opcode);
    if (goes_on && block.last < end_) add(block.last);
    for_targets(last, add);
    block.next.count = index_of(program_.edges.size()) - block.next.first;
  }

  void add_post_dominators(Range range) {
    std::vector<std::vector<Index>> local(range.count + 1);
    std::vector<std::span<const Index>> next(range.count + 1);
    for (Index i = 0; i < range.count; ++i) {
      const Block& block = program_.blocks[range.first + i];
      for (Index k = block.next.first; k < block.next.end(); ++k)
        local[i].push_back(program_.edges[k] - range.first);
      // A guarded ret goes on or ends; the last node is the end. A trap never comes there: lanes that go round it
      // meet behind it.
      const Instruction& last = program_.instructions[block.last - 1];
      if (last.opcode == Opcode::Trap && local[i].empty()) local[i].push_back(i);
      if (last.opcode != Opcode::Trap && ends_thread(last.opcode) && !local[i].empty())
        local[i].push_back(range.count);
      next[i] = local[i];
    }
    const std::vector<Index> found = post_dominators(next);
    for (Index i = 0; i < range.count; ++i) {
      const bool meets = found[i] != no_node && found[i] != range.count;
      program_.blocks[range.first + i].post_dominator = meets ? range.first + found[i] : none;
    }
  }

  Program& program_;
  Index begin_, end_;
  Index leaders_ = 0;
  std::vector<Index> block_of_;  // of each first instruction
};

}  // namespace

void add_blocks(Program& program, Code& code) { code.blocks = Blocks(program, code).add(); }

}  // namespace tcq::ptx
