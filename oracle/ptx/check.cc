// `check`: is a PTX statement of wgmma, tcgen05 or mma legal on a target, and if not, why not.
//
// Decides how a statement of wgmma becomes a wgmma::Form and operands (tcgen05: check_tcgen05.cc, mma: check_warp_mma.cc);
// what is legal is sim/isa/wgmma/shape.h, which operands there are is sim/isa/wgmma/ptx_operands.h, the
// sentences are sim/isa/fault/fault.h. Taking the text apart is ptx_statement.h, a whole stream of
// statements check_stream.h. Example:
// "wgmma.fence.aligned;" is illegal: SyncMissing.
#include "oracle/ptx/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/words.h"
#include "oracle/ptx/check_tcgen05.h"
#include "oracle/ptx/check_warp_mma.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/quoted_asm.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/ptx_operands.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/ptx/opcode_reader.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;
using wgmma::GroupStep;
using wgmma::Operand;
using OperandKind = PtxOperand::Kind;

// ---- Opcodes ------------------------------------------------------------------------------------

// What sim/isa/wgmma/shape.h says, with the numbers of this statement.
Verdict check_shape(const OpcodeShape& shape, const Form& form) {
  const std::string types =
      fmt::format("{}.{}.{}", tcq::name(form.d), tcq::name(form.a), tcq::name(form.b));
  if (!wgmma::types_exist(form.d, form.a, form.b)) return illegal(Fault::TypesDoNotExist, types);
  if (shape.m != wgmma::m) return illegal(Fault::ShapeM64, fmt::format("got {}", shape.m));
  const Fault fault = check(form);
  if (fault == Fault::ShapeN8 || fault == Fault::ShapeN16)
    return illegal(fault, fmt::format("got {}", form.n));
  if (fault != Fault::None) return illegal(fault, types);
  if (shape.k != wgmma::k(form))
    return illegal(Fault::ShapeK, fmt::format("got {}, expected {}", shape.k, wgmma::k(form)));
  return legal();
}

// ---- Operands -----------------------------------------------------------------------------------

Verdict wrong_kind(Operand operand, const PtxOperand& given) {
  return illegal(Fault::OperandKind, fmt::format("{} is {}, expected {}", name(operand),
                                                 quoted(given.text), values(operand)));
}

Verdict check_vector(Operand operand, const PtxOperand& given, std::uint64_t expected,
                     std::initializer_list<RegisterClass> allowed, const char* types) {
  if (given.kind != OperandKind::Vector || !given.only_registers || given.has_sink)
    return wrong_kind(operand, given);
  if (given.count != expected)
    return illegal(operand == Operand::D ? Fault::RegisterCountD : Fault::RegisterCountA,
                   fmt::format("got {}, expected {}", given.count, expected));
  return is_vector_of(given, allowed)
             ? legal()
             : illegal(Fault::OperandKind, fmt::format("{} is {}, expected {} registers",
                                                       name(operand), quoted(given.text), types));
}

// Measured against ptxas 13.0.88: every type that .reg takes, in every operand. One type more
// passes where integers are expected as A, and as sp-meta: .pred, on which ptxas crashes.
Verdict check_d(const Form& form, const PtxOperand& given) {
  using enum RegisterClass;
  const auto count = static_cast<std::uint64_t>(wgmma::accumulator_registers(form.d, form.n));
  if (form.d == Type::f32)
    return check_vector(Operand::D, given, count, {B32, F32}, ".f32 or .b32");
  if (form.d == Type::f16) return check_vector(Operand::D, given, count, {B32, F16x2}, ".b32");
  return check_vector(Operand::D, given, count, {B32, I32}, ".b32");
}

Verdict check_a(const Form& form, const PtxOperand& given) {
  using enum RegisterClass;
  constexpr auto count = std::uint64_t{wgmma::a_registers};
  if (is_float(form.a))
    return check_vector(Operand::ARegisters, given, count, {B32, F16x2}, ".b32");
  return check_vector(Operand::ARegisters, given, count, {B32, I32, F16x2, F32}, ".f32 or .b32");
}

Verdict check_immediate(Operand operand, const PtxOperand& given, Fault fault, std::int64_t low,
                        std::int64_t high, std::int64_t step) {
  if (is_placeholder(given.text)) return legal_if_it_is(given, values(operand));
  if (given.kind != OperandKind::Immediate || given.negated) return wrong_kind(operand, given);
  if (given.value >= low && given.value <= high && (given.value - low) % step == 0) return legal();
  return illegal(fault, fmt::format("{} is {}", name(operand), quoted(given.text)));
}

Verdict check_scale_d(const PtxOperand& given) {
  if (given.kind == OperandKind::Register && (given.register_class == RegisterClass::Pred ||
                                              given.register_class == RegisterClass::Unknown))
    return legal();
  if (given.kind == OperandKind::Immediate && (given.value == 0 || given.value == 1))
    return given.negated ? unmodelled("a negated immediate as scale-d is not in the manual")
                         : legal();
  return illegal(Fault::ImmediateScaleD, fmt::format("got {}", quoted(given.text)));
}

Verdict check_operand(const Form& form, Operand operand, const PtxOperand& given) {
  if (is_expression(given))
    return unmodelled(
        fmt::format("{} is {}: expressions are not evaluated", name(operand), quoted(given.text)));
  switch (operand) {
    case Operand::D: return check_d(form, given);
    case Operand::ARegisters: return check_a(form, given);
    case Operand::ADesc:
    case Operand::BDesc:
      return is_register(given, {RegisterClass::B64, RegisterClass::I64}) ||
                     (given.kind == OperandKind::Immediate && !given.negated)
                 ? legal()
                 : wrong_kind(operand, given);
    case Operand::SpMeta:
      return is_register(given, {RegisterClass::B32, RegisterClass::I32, RegisterClass::F16x2,
                                 RegisterClass::F32})
                 ? legal()
                 : wrong_kind(operand, given);
    case Operand::SpSelector:
      return check_immediate(operand, given, Fault::SelectorOutOfRange, 0,
                             wgmma::max_selector(form.a), 1);
    case Operand::ScaleD: return check_scale_d(given);
    case Operand::ScaleA:
    case Operand::ScaleB: return check_immediate(operand, given, Fault::ImmediateScale, -1, 1, 2);
    case Operand::TransA:
    case Operand::TransB:
      return check_immediate(operand, given, Fault::ImmediateTranspose, 0, 1, 1);
  }
  return legal();
}

std::vector<Operand> operands_of(const Form& form) {
  std::vector<Operand> operands;
  for (int i = 0; i < wgmma::operand_count; ++i)
    if (has_operand(form, static_cast<Operand>(i))) operands.push_back(static_cast<Operand>(i));
  return operands;
}

Verdict check_operands(const Form& form, const std::vector<PtxOperand>& given) {
  const std::vector<Operand> expected = operands_of(form);
  if (given.size() != expected.size()) {
    std::string names;
    for (const Operand operand : expected)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name(operand));
    return illegal(Fault::OperandCount,
                   fmt::format("got {}, expected {}: {}", given.size(), expected.size(), names));
  }
  std::string conditions;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Verdict verdict = check_operand(form, expected[i], given[i]);
    if (!is_legal(verdict)) return verdict;
    add_condition(conditions, verdict);
  }
  return {FaultKind::None, Fault::None, conditions};
}

// ---- Statements ---------------------------------------------------------------------------------

Verdict check_mma(const PtxStatement& statement) {
  Form form{};
  OpcodeReading reading = read_wgmma(form, statement.qualifiers, Spelling::Statement);
  if (!is_legal(reading.problem)) return std::move(reading.problem);
  if (statement.operands.size() > 1 && statement.operands[1].kind == OperandKind::Vector)
    form.a_place = wgmma::Place::Registers;
  for (const Verdict& verdict :
       {check_shape(*reading.shape, form), reading.disagreement, reading.sync, reading.order})
    if (!is_legal(verdict)) return verdict;
  return check_operands(form, statement.operands);
}

// wgmma.fence, .commit_group and .wait_group: .sync.aligned and at most one immediate.
Verdict check_group(const PtxStatement& statement, GroupStep step) {
  const OpcodeReading reading = read_words(step, std::span(statement.qualifiers).subspan(1),
                                           Spelling::Statement, Fault::QualifierMissing);
  for (const Verdict& verdict : {reading.problem, reading.sync, reading.order})
    if (!is_legal(verdict)) return verdict;
  const bool takes_count = step == GroupStep::Wait;
  const std::size_t expected = takes_count ? 1 : 0;
  if (statement.operands.size() != expected)
    return illegal(Fault::OperandCount,
                   fmt::format("got {}, expected {}", statement.operands.size(), expected));
  if (!takes_count) return legal();
  const PtxOperand& count = statement.operands[0];
  if (is_placeholder(count.text)) return legal_if_it_is(count, "0 or more");
  if (is_expression(count))
    return unmodelled(
        fmt::format("the count is {}: expressions are not evaluated", quoted(count.text)));
  return count.kind == OperandKind::Immediate && !count.negated && count.value >= 0
             ? legal()
             : illegal(Fault::ImmediateWaitGroup, fmt::format("got {}", quoted(count.text)));
}

Verdict check_wgmma(const PtxStatement& statement) {
  const std::string_view which =
      statement.qualifiers.empty() ? std::string_view() : statement.qualifiers[0];
  if (const Verdict verdict = check_guard(statement); !is_legal(verdict)) return verdict;
  if (which == "mma_async") return check_mma(statement);
  for (const GroupStep step : {GroupStep::Fence, GroupStep::Commit, GroupStep::Wait})
    if (which == name(step)) return check_group(statement, step);
  return illegal(Fault::InstructionUnknown, fmt::format("got {}", quoted(which)));
}

}  // namespace

namespace {

// Whether a blank divides the name: wgmma.fence, tcgen05.mma.ws, tcgen05.ld.red.
// Measured against ptxas 13.0.88, which takes blanks before every other qualifier.
bool is_divided(const PtxStatement& statement) {
  const auto& words = statement.qualifiers;
  const bool three =
      statement.opcode == "tcgen05" && words.size() > 1 &&
      ((words[0] == "mma" && words[1] == "ws") || (words[0] == "ld" && words[1] == "red"));
  return statement.joined < std::min<std::size_t>(words.size(), three ? 2 : 1);
}

}  // namespace

Verdict check_statement(const PtxStatement& statement, std::optional<Target> asked) {
  if (statement.opcode.empty()) return unmodelled("there is no statement on this line");
  const bool is_ours = statement.opcode == "tcgen05" || statement.opcode == "wgmma";
  if (is_ours && is_divided(statement))
    return illegal(Fault::InstructionUnknown, "a blank divides its name");
  if (statement.opcode == "tcgen05")
    return check_tcgen05(statement, asked.value_or(Target::sm_100a));
  if (statement.opcode == "mma") return check_warp_mma(statement, asked);
  if (statement.opcode != "wgmma")
    return unmodelled(
        fmt::format("opcode {}: only statements of wgmma, tcgen05 and mma are modelled",
                    quoted(statement.opcode)));
  const Target target = asked.value_or(Target::sm_90a);
  constexpr Form legal_form = {Type::f32, Type::f16, Type::f16, 8};
  if (check(legal_form, target) != Fault::None)
    return illegal(Fault::TargetLacksWgmma, fmt::format("got {}", name(target)));
  return check_wgmma(statement);
}

void PtxTarget::read_directive(std::string_view directive) {
  constexpr std::string_view word = ".target";
  if (is_asked || !directive.starts_with(word)) return;
  directive.remove_prefix(word.size());
  directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
  const std::string_view value = directive.substr(0, directive.find_first_of(", \t"));
  unknown.clear();
  target.reset();
  for (int i = 0; i < target_count && !target; ++i)
    if (value == name(static_cast<Target>(i))) target = static_cast<Target>(i);
  if (!target) unknown = value;
}

Verdict check_text(std::string_view text, const PtxTarget& target, RegisterScope scope,
                   std::optional<PtxStatement>& statement) {
  std::string malformed;
  statement = parse_statement(text, malformed, scope);
  const bool is_ours = text.find("wgmma") != std::string_view::npos ||
                       text.find("tcgen05") != std::string_view::npos;
  if (!statement)
    return is_ours ? illegal(Fault::StatementMalformed, malformed)
                   : unmodelled(fmt::format(
                         "{}: only statements of wgmma, tcgen05 and mma are modelled", malformed));
  const bool depends =
      statement->opcode == "wgmma" || statement->opcode == "tcgen05" || statement->opcode == "mma";
  if (depends && !target.unknown.empty())
    return unmodelled(fmt::format("target {} is not modelled", quoted(target.unknown)));
  return check_statement(*statement, target.target);
}

}  // namespace tcq::oracle
