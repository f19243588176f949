// Statements of tcgen05: from opcode and operands to a form, and then to a verdict; see
// check_tcgen05.h.
//
// What is legal is sim/isa/tcgen05/instruction.h, which operands there are is
// sim/isa/tcgen05/operands.h, words are tcgen05_form.h. An immediate instruction descriptor is read
// (sim/isa/tcgen05/instruction_descriptor.h), one in a register cannot be. Where ptxas accepts more than the manual
// (any order of qualifiers, no .aligned on ld and st, any number for enable-input-d, any address
// for cp), the manual is followed.
#include "oracle/ptx/check_tcgen05.h"

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/quoted_asm.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operands.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/allocation.h"

namespace tcq::oracle {
namespace {

using tcgen05::MmaForm;
using tcgen05::Operand;
using tcgen05::OperandList;
using Kind = PtxOperand::Kind;
using enum RegisterClass;

// Measured against ptxas 13.0.88: every type that .reg takes, in every operand.
constexpr std::initializer_list<RegisterClass> any_32_bits = {B32, I32, F16x2, F32};

// ---- One operand --------------------------------------------------------------------------------

Verdict wrong_kind(Operand operand, const PtxOperand& given) {
  return illegal(Fault::OperandKind, fmt::format("{} is {}, expected {}", name(operand),
                                                 quoted(given.text), values(operand)));
}

Verdict legal_if(bool fine, Operand operand, const PtxOperand& given) {
  return fine ? legal() : wrong_kind(operand, given);
}

bool is_immediate(const PtxOperand& given) {
  return given.kind == Kind::Immediate && !given.negated;
}

bool is_address(const PtxOperand& given, std::initializer_list<RegisterClass> base) {
  if (given.kind != Kind::Address || !given.has_base) return false;
  if (given.register_class == RegisterClass::Unknown) return true;
  for (const RegisterClass c : base)
    if (c == given.register_class) return true;
  return false;
}

Verdict check_vector(Operand operand, const PtxOperand& given, int expected) {
  const bool is_source = operand != Operand::Loaded;
  if (given.kind != Kind::Vector || !given.only_registers || (is_source && given.has_sink))
    return wrong_kind(operand, given);
  if (given.count != static_cast<std::uint64_t>(expected))
    return illegal(
        operand == Operand::DisableOutputLane ? Fault::RegisterCountMask : Fault::RegisterCountLd,
        fmt::format("got {}, expected {}", given.count, expected));
  return legal_if(is_vector_of(given, any_32_bits), operand, given);
}

Verdict check_idesc(const PtxOperand& given) {
  if (!is_immediate(given)) return legal_if(is_register(given, {B32, I32}), Operand::Idesc, given);
  const bool fits = given.value >= std::numeric_limits<std::int32_t>::min() &&
                    given.value <= std::numeric_limits<std::uint32_t>::max();
  return fits ? legal() : illegal(Fault::ImmediateIdesc, fmt::format("got {}", quoted(given.text)));
}

Verdict check_enable(const PtxOperand& given) {
  PtxOperand plain = given;
  plain.negated = false;
  if (given.kind != Kind::Immediate)
    return legal_if(is_register(plain, {RegisterClass::Pred}), Operand::EnableInputD, given);
  if (given.value != 0 && given.value != 1)
    return illegal(Fault::ImmediateEnableD, fmt::format("got {}", quoted(given.text)));
  return given.negated ? unmodelled("a negated immediate as enable-input-d is not in the manual")
                       : legal();
}

Verdict check_scale_input_d(const PtxOperand& given) {
  if (is_placeholder(given.text)) return legal_if_it_is(given, values(Operand::ScaleInputD));
  if (!is_immediate(given)) return wrong_kind(Operand::ScaleInputD, given);
  return given.value >= 0 && given.value <= tcgen05::max_scale_input_d
             ? legal()
             : illegal(Fault::ImmediateScaleInputD, fmt::format("got {}", quoted(given.text)));
}

Verdict check_columns(const PtxOperand& given) {
  if (!is_immediate(given))
    return legal_if(is_register(given, {B32, I32}), Operand::Columns, given);
  return tcgen05::is_allocation_size(given.value)
             ? legal()
             : illegal(Fault::TmemAllocSize, fmt::format("got {}", quoted(given.text)));
}

Verdict check_operand(Operand operand, const PtxOperand& given, int vector_registers) {
  if (is_expression(given) && given.text.front() != '[')
    return unmodelled(
        fmt::format("{} is {}: expressions are not evaluated", name(operand), quoted(given.text)));
  if (is_tmem_address(operand))
    return legal_if(
        operand == Operand::Taddr ? is_address(given, {B32, I32, F16x2}) : is_address(given, {B32}),
        operand, given);
  switch (operand) {
    case Operand::ADesc:
    case Operand::BDesc:
    case Operand::SourceDesc:
    case Operand::ZeroColumnMask:
      return legal_if(is_immediate(given) || is_register(given, {B64, I64}), operand, given);
    case Operand::Idesc: return check_idesc(given);
    case Operand::DisableOutputLane:
    case Operand::Loaded:
    case Operand::Stored: return check_vector(operand, given, vector_registers);
    case Operand::EnableInputD: return check_enable(given);
    case Operand::ScaleInputD: return check_scale_input_d(given);
    case Operand::Reduced: return legal_if(is_register(given, any_32_bits), operand, given);
    case Operand::HalfSplit:
      return is_placeholder(given.text) ? legal_if_it_is(given, values(operand))
                                        : legal_if(is_immediate(given), operand, given);
    case Operand::AllocDst:
    case Operand::Mbar: return legal_if(is_address(given, {B32, I32, B64, I64}), operand, given);
    case Operand::AllocTaddr:
      return legal_if(is_immediate(given) || is_register(given, {B32, I32}), operand, given);
    case Operand::Columns: return check_columns(given);
    case Operand::CtaMask:
      return legal_if(is_register(given, {RegisterClass::B16}), operand, given);
    default: return legal();
  }
}

// ---- All operands -------------------------------------------------------------------------------

Verdict check_operands(const OperandList& expected, int vector_registers,
                       std::span<const PtxOperand> given) {
  if (given.size() != static_cast<std::size_t>(expected.size)) {
    std::string names;
    for (int i = 0; i < expected.size; ++i)
      names += fmt::format("{}{}", i > 0 ? ", " : "", name(expected.items[i]));
    return illegal(Fault::OperandCount,
                   fmt::format("got {}, expected {}{}{}", given.size(), expected.size,
                               names.empty() ? "" : ": ", names));
  }
  std::string conditions;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Verdict verdict = check_operand(expected.items[i], given[i], vector_registers);
    if (!is_legal(verdict)) return verdict;
    add_condition(conditions, verdict);
  }
  return {FaultKind::None, Fault::None, conditions};
}

using oracle::complete;
template <class Form>
void complete(Form&, std::span<const PtxOperand>) {}

// An immediate instruction descriptor says M, N, types and modifiers at once.
Verdict check_descriptor(const MmaForm& form, std::span<const PtxOperand> given, Target target) {
  const PtxOperand& idesc = given[form.opcode.sparse ? 4 : 3];
  if (!is_immediate(idesc)) return legal();
  const auto word = static_cast<std::uint32_t>(idesc.value);
  Fault fault = tcgen05::check_word(word, form.opcode.kind);
  if (fault == Fault::None)
    fault = check(form.opcode, tcgen05::decode(word, form.opcode.kind), target);
  return fault == Fault::None ? legal()
                              : illegal(fault, fmt::format("idesc is {}", hex_word(word, 32)));
}
template <class Form>
Verdict check_descriptor(const Form&, std::span<const PtxOperand>, Target) {
  return legal();
}

// What of the form is illegal, with the target named where that is the reason.
template <class Form>
Verdict check_form_of(const Form& form, Target target) {
  if (const Fault fault = check(form); fault != Fault::None) return illegal(fault);
  const Fault fault = check(form, target);
  return fault == Fault::None ? legal() : illegal(fault, fmt::format("got {}", name(target)));
}

template <class Form>
Verdict check_completed(Form form, const PtxStatement& statement, Target target,
                        const Tcgen05Reading& reading) {
  complete(form, statement.operands);
  const Verdict of_operands =
      check_operands(operands(form), vector_registers(form), statement.operands);
  for (const Verdict& verdict :
       {check_form_of(form, target), reading.sync, reading.order, of_operands})
    if (!is_legal(verdict)) return verdict;
  const Verdict of_word = check_descriptor(form, statement.operands, target);
  return is_legal(of_word) ? of_operands : of_word;
}

}  // namespace

void complete(tcgen05::MmaForm& form, std::span<const PtxOperand> given) {
  if (given.size() > 1 && given[1].text.starts_with('['))
    form.opcode.a_place = tcgen05::Place::Tmem;
  std::size_t next = form.opcode.sparse ? 5 : 4;  // after idesc
  const std::size_t most = next + (tcgen05::is_block_scaled(form.opcode.kind) ? 5 : 3);
  form.disable_output_lane =
      given.size() > next && (given[next].kind == Kind::Vector || given.size() == most);
  if (form.disable_output_lane) ++next;
  if (tcgen05::is_block_scaled(form.opcode.kind)) next += 2;
  const bool one_more = given.size() == next + 2;  // behind enable-input-d
  form.zero_column_mask = one_more && form.opcode.ws;
  form.scale_input_d = one_more && !form.opcode.ws;
}

Verdict check_tcgen05(const PtxStatement& statement, Target target) {
  if (!tcgen05::has_tcgen05(target))
    return illegal(Fault::TargetLacksTcgen05, fmt::format("got {}", name(target)));
  if (Verdict verdict = check_guard(statement); !is_legal(verdict)) return verdict;
  Tcgen05Reading reading = read_form(statement.qualifiers, Spelling::Statement);
  if (!reading.form) return std::move(reading.problem);
  return std::visit(
      [&](const auto& form) { return check_completed(form, statement, target, reading); },
      *reading.form);
}

}  // namespace tcq::oracle
