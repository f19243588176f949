// From instructions to steps; see emission_program.h.
#include "oracle/ptx/emission_program.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "oracle/ptx/instructions.h"

namespace tcq::oracle {
namespace {

using Kind = EmissionStep::Kind;
using ptx::Index;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Value;
using ptx::ValueKind;

// The state space that is written, which comes first where there are two.
bool writes_shared(const ptx::Form& form) {
  const ptx::Space space = form.space();
  return space != ptx::Space::Global && space != ptx::Space::Local && space != ptx::Space::Param;
}

// Writes shared memory, or tells others that they may: a wgmma in flight may still read it.
bool releases_shared_memory(const ptx::Form& form) {
  using enum Opcode;
  switch (form.opcode) {
    case BarSync:
    case BarArrive:
    case BarRed:
    case BarrierClusterArrive:
    case MbarrierArrive:
    case MbarrierArriveDrop:
    case MbarrierCompleteTx:
    case CpAsyncMbarrierArrive:
    case Stmatrix: return true;
    case CpAsync:
    case CpAsyncBulk:
    case CpAsyncBulkTensor:
    case CpReduceAsyncBulk:
    case CpReduceAsyncBulkTensor:
    case St:
    case StAsync:
    case StBulk:
    case Red:
    case RedAsync:
    case Atom:
    case WmmaStore: return writes_shared(form);
    default: return false;
  }
}

bool is_tcgen05(Opcode opcode) {
  return opcode >= Opcode::Tcgen05Mma && opcode <= Opcode::Tcgen05Fence;
}

class Builder {
 public:
  Builder(const ptx::Program& text, const ptx::Code& code, const EmissionStatements& statements,
          std::vector<EmissionFinding>& findings)
      : text_(text),
        code_(code),
        statements_(statements),
        findings_(findings),
        numbers_(code.registers.count, -1) {}

  EmissionProgram build() {
    const ptx::Function& function = text_.unit.functions[code_.declaration];
    program_.is_called = function.kind == ptx::FunctionKind::Func;
    program_.is_loose = function.kind == ptx::FunctionKind::Loose;
    program_.last_line = line_at(function.end == 0 ? 0 : function.end - 1);
    for (Index i = code_.instructions.first; i < code_.instructions.end(); ++i)
      if (is_mma(i)) number_registers(text_.instructions[i]);
    for (Index b = code_.blocks.first; b < code_.blocks.end(); ++b) add_block(text_.blocks[b]);
    program_.blocks.front().arrivals = 1;
    for (const EmissionBlock& block : program_.blocks)
      for (const std::size_t next : block.next) ++program_.blocks[next].arrivals;
    program_.is_metadata.assign(program_.registers.size(), true);
    for (const EmissionStep& step : program_.steps)
      for (const auto* list : {&step.d, &step.a})
        for (const int number : *list)
          program_.is_metadata[static_cast<std::size_t>(number)] = false;
    return std::move(program_);
  }

 private:
  std::size_t line_at(ptx::Offset at) const { return text_.unit.lines.at(at).line; }

  // --- registers ---------------------------------------------------------------------------------

  bool is_mma(Index i) const {
    return text_.instructions[i].opcode == Opcode::WgmmaMmaAsync && !statements_.illegal[i];
  }

  wgmma::Form form_of(const Instruction& mma) const {
    auto form = std::get<wgmma::Form>(text_.form_of(mma).tensor);
    if (text_.operand(mma, 1).kind == ValueKind::Vector) form.a_place = wgmma::Place::Registers;
    return form;
  }

  // Of D, of A where it is in registers, and of the metadata of a sparse form.
  void number_registers(const Instruction& mma) {
    program_.has_wgmma = true;
    const auto number = [&](Index index, ptx::Access) {
      if (numbers_[index] >= 0) return;
      numbers_[index] = static_cast<int>(program_.registers.size());
      const ptx::Register& one = text_.registers[code_.registers.first + index];
      program_.registers.emplace_back(text_.unit.names.text(one.name));
    };
    const wgmma::Form form = form_of(mma);
    for_registers(text_, text_.operand(mma, 0), number);
    if (form.a_place == wgmma::Place::Registers)
      for_registers(text_, text_.operand(mma, 1), number);
    if (form.sparse) for_registers(text_, text_.operand(mma, 3), number);
  }

  std::vector<int> numbers(const Value& value) const {
    std::vector<int> list;
    for_registers(text_, value, [&](Index index, ptx::Access) { list.push_back(numbers_[index]); });
    return list;
  }

  // --- steps -------------------------------------------------------------------------------------

  void add_block(const ptx::Block& block) {
    EmissionBlock added;
    added.first = program_.steps.size();
    for (Index i = block.first; i < block.last; ++i) add(i);
    added.last = program_.steps.size();
    for (Index k = block.next.first; k < block.next.end(); ++k)
      added.next.push_back(text_.edges[k] - code_.blocks.first);
    program_.blocks.push_back(std::move(added));
  }

  EmissionStep& add_step(Kind kind, const Instruction& one) {
    EmissionStep step;
    step.kind = kind;
    step.line = line_at(one.at);
    step.guarded = one.guard != ptx::none;
    program_.steps.push_back(std::move(step));
    return program_.steps.back();
  }

  // It may have done anything.
  void add_unknown(const Instruction& one, const std::string& why) {
    add_step(Kind::Unknown, one);
    if (!why.empty()) findings_.push_back(not_followed(line_at(one.at), why));
  }

  void add(Index i) {
    const Instruction& one = text_.instructions[i];
    using enum Opcode;
    switch (one.opcode) {
      case Opcode::Unknown: return add_undecoded(one);
      case Bra:
      case BrxIdx: program_.is_straight = false; return;
      case Call: return add_unknown(one, "a call");
      case Ret:
      case Exit:
      case Trap:
        add_step(Kind::End, one).aborts = one.opcode == Trap;
        program_.is_straight = program_.is_straight && one.guard == ptx::none;
        return;
      case WgmmaMmaAsync:
      case WgmmaFence:
      case WgmmaCommitGroup:
      case WgmmaWaitGroup: return add_wgmma(one, statements_.illegal[i]);
      default: break;
    }
    if (!is_tcgen05(one.opcode)) return add_access(one);
    if (!statements_.illegal[i])
      findings_.push_back(not_followed(line_at(one.at), "the order of tcgen05"));
  }

  // There is a complaint about it. A branch that cannot be resolved may go to any label.
  void add_undecoded(const Instruction& one) {
    const Opcode opcode = text_.form_of(one).opcode;
    if (opcode == Opcode::Bra || opcode == Opcode::BrxIdx) {
      program_.goes_anywhere = true;
      program_.is_straight = false;
    }
    add_unknown(one, "");
  }

  void add_wgmma(const Instruction& one, bool is_illegal) {
    if (is_illegal) return add_unknown(one, "");
    if (one.guard != ptx::none) return add_unknown(one, "wgmma with a guard");
    if (one.opcode == Opcode::WgmmaFence) add_step(Kind::Fence, one);
    if (one.opcode == Opcode::WgmmaCommitGroup) add_step(Kind::Commit, one);
    if (one.opcode == Opcode::WgmmaWaitGroup) {
      const std::int64_t pending = text_.operand(one, 0).value;
      if (pending > max_pending)
        return add_unknown(one, fmt::format("a wait for all but {} groups", pending));
      add_step(Kind::Wait, one).pending = static_cast<int>(pending);
    }
    if (one.opcode == Opcode::WgmmaMmaAsync) add_mma(one);
  }

  void add_mma(const Instruction& one) {
    EmissionStep& step = add_step(Kind::Mma, one);
    step.form = form_of(one);
    step.d = numbers(text_.operand(one, 0));
    if (step.form.a_place == wgmma::Place::Registers) step.a = numbers(text_.operand(one, 1));
    if (step.form.sparse) step.metadata = numbers(text_.operand(one, 3));
    const Value& scale_d = text_.operand(one, step.form.sparse ? 5 : 3);
    // An unknown predicate may well be false: nothing is said about the first step then.
    step.accumulate = scale_d.kind == ValueKind::Immediate && scale_d.value != 0;
  }

  void add_access(const Instruction& one) {
    EmissionStep step;
    for_registers(text_, one, [&](Index index, ptx::Access access) {
      if (numbers_[index] < 0) return;
      if (access != ptx::Access::Write) step.reads.push_back(numbers_[index]);
      if (access != ptx::Access::Read) step.writes.push_back(numbers_[index]);
    });
    step.releases = releases_shared_memory(text_.form_of(one));
    if (step.reads.empty() && step.writes.empty() && !step.releases) return;
    EmissionStep& added = add_step(Kind::Access, one);
    added.reads = std::move(step.reads);
    added.writes = std::move(step.writes);
    added.releases = step.releases;
  }

  const ptx::Program& text_;
  const ptx::Code& code_;
  const EmissionStatements& statements_;
  std::vector<EmissionFinding>& findings_;
  EmissionProgram program_;
  std::vector<int> numbers_;  // by register of the function; -1: of no wgmma
};

}  // namespace

EmissionProgram emission_program(const ptx::Program& program, const ptx::Code& code,
                                 const EmissionStatements& statements,
                                 std::vector<EmissionFinding>& findings) {
  return Builder(program, code, statements, findings).build();
}

}  // namespace tcq::oracle
