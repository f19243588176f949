// `check`: is a PTX statement of wgmma or tcgen05 legal on a target, and if not, why not.
//
// Decides how a statement of wgmma becomes a wgmma::Form and operands (tcgen05: check_tcgen05.cc);
// what is legal is sim/isa/shape.h, which operands there are is sim/isa/ptx_operands.h, the
// sentences are sim/isa/fault.h. Taking the text apart is ptx_statement.h. Example:
// "wgmma.fence.aligned;" is illegal: SyncMissing.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracle/check_tcgen05.h"
#include "oracle/json.h"
#include "oracle/mnemonic.h"
#include "oracle/ptx_statement.h"
#include "oracle/verbs.h"
#include "oracle/verdict.h"
#include "oracle/words.h"
#include "sim/isa/fault.h"
#include "sim/isa/ptx_operands.h"
#include "sim/isa/shape.h"
#include "sim/isa/wgmma_fragment.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;
using wgmma::Operand;
using Kind = PtxOperand::Kind;

// ---- Qualifiers ---------------------------------------------------------------------------------

// The places of the manual's syntax; `satfinite` has two.
enum class Part { Sparse, Sync, Aligned, Shape, Satfinite, Types, LateSatfinite, And, Popc };

struct Qualifiers {
  std::vector<Part> parts;  // as written
  std::optional<OpcodeShape> shape;
  std::vector<Type> types;

  bool has(Part part) const {
    for (const Part p : parts)
      if (p == part) return true;
    return false;
  }
};

std::optional<Part> plain_part(std::string_view word, bool after_types) {
  if (word == "sp") return Part::Sparse;
  if (word == "sync") return Part::Sync;
  if (word == "aligned") return Part::Aligned;
  if (word == "satfinite") return after_types ? Part::LateSatfinite : Part::Satfinite;
  if (word == "and") return Part::And;
  if (word == "popc") return Part::Popc;
  return std::nullopt;
}

// False, and the word in `unknown`, at the first qualifier that wgmma does not have.
bool read_qualifiers(std::span<const std::string_view> words, Qualifiers& q,
                     std::string_view& unknown) {
  for (const std::string_view word : words) {
    if (const auto part = plain_part(word, !q.types.empty())) {
      q.parts.push_back(*part);
    } else if (const auto type = parse_type(word)) {
      if (q.types.empty() || q.parts.back() != Part::Types) q.parts.push_back(Part::Types);
      q.types.push_back(*type);
    } else if (const auto shape = parse_shape(word)) {
      q.parts.push_back(Part::Shape);
      q.shape = *shape;
    } else {
      unknown = word;
      return false;
    }
  }
  return true;
}

Verdict check_sync(const Qualifiers& q) {
  if (!q.has(Part::Sync)) return illegal(Fault::SyncMissing);
  if (!q.has(Part::Aligned)) return illegal(Fault::AlignedMissing);
  return legal();
}

Verdict check_order(const Qualifiers& q) {
  for (std::size_t i = 1; i < q.parts.size(); ++i)
    if (q.parts[i] <= q.parts[i - 1])
      return illegal(Fault::QualifierOrder,
                     "expected [.sp].sync.aligned.shape[.satfinite].d.a.b[.satfinite][.and.popc]");
  if (q.has(Part::Satfinite) && q.has(Part::LateSatfinite))
    return illegal(Fault::QualifierOrder, ".satfinite is given twice");
  return legal();
}

Verdict check_b1(const Qualifiers& q, const Form& form) {
  const bool both = q.has(Part::And) && q.has(Part::Popc);
  if (form.a == Type::b1) return both ? legal() : illegal(Fault::B1OperationMissing);
  if (q.has(Part::And) || q.has(Part::Popc))
    return illegal(Fault::QualifierUnknown, ".and.popc exists for b1 only");
  return legal();
}

// What sim/isa/shape.h says, with the numbers of this statement.
Verdict check_form(const Qualifiers& q, const Form& form) {
  const std::string types =
      fmt::format("{}.{}.{}", tcq::name(form.d), tcq::name(form.a), tcq::name(form.b));
  if (!wgmma::types_exist(form.d, form.a, form.b)) return illegal(Fault::TypesDoNotExist, types);
  if (q.shape->m != wgmma::m) return illegal(Fault::ShapeM64, fmt::format("got {}", q.shape->m));
  const Fault fault = check(form);
  if (fault == Fault::ShapeN8 || fault == Fault::ShapeN16)
    return illegal(fault, fmt::format("got {}", form.n));
  if (fault != Fault::None) return illegal(fault, types);
  if (q.shape->k != wgmma::k(form))
    return illegal(Fault::ShapeK, fmt::format("got {}, expected {}", q.shape->k, wgmma::k(form)));
  return legal();
}

// ---- Operands -----------------------------------------------------------------------------------

Verdict wrong_kind(Operand operand, const PtxOperand& given) {
  return illegal(Fault::OperandKind, fmt::format("{} is {}, expected {}", name(operand),
                                                 quoted(given.text), values(operand)));
}

Verdict check_vector(Operand operand, const PtxOperand& given, std::uint64_t expected,
                     bool f32_allowed) {
  if (given.kind != Kind::Vector || !given.only_registers) return wrong_kind(operand, given);
  if (given.count != expected)
    return illegal(operand == Operand::D ? Fault::RegisterCountD : Fault::RegisterCountA,
                   fmt::format("got {}, expected {}", given.count, expected));
  const bool fine = f32_allowed ? is_vector_of(given, {RegisterClass::B32, RegisterClass::F32})
                                : is_vector_of(given, {RegisterClass::B32});
  return fine ? legal()
              : illegal(Fault::OperandKind,
                        fmt::format("{} is {}, expected {} registers", name(operand),
                                    quoted(given.text), f32_allowed ? ".f32 or .b32" : ".b32"));
}

Verdict check_immediate(Operand operand, const PtxOperand& given, Fault fault, std::int64_t low,
                        std::int64_t high, std::int64_t step) {
  if (given.kind != Kind::Immediate || given.negated) return wrong_kind(operand, given);
  if (given.value >= low && given.value <= high && (given.value - low) % step == 0) return legal();
  return illegal(fault, fmt::format("{} is {}", name(operand), quoted(given.text)));
}

Verdict check_scale_d(const PtxOperand& given) {
  if (given.kind == Kind::Register && (given.register_class == RegisterClass::Pred ||
                                       given.register_class == RegisterClass::Unknown))
    return legal();
  if (given.kind == Kind::Immediate && (given.value == 0 || given.value == 1))
    return given.negated ? unmodelled("a negated immediate as scale-d is not in the manual")
                         : legal();
  return illegal(Fault::ImmediateScaleD, fmt::format("got {}", quoted(given.text)));
}

Verdict check_operand(const Form& form, Operand operand, const PtxOperand& given) {
  if (is_expression(given))
    return unmodelled(
        fmt::format("{} is {}: expressions are not evaluated", name(operand), quoted(given.text)));
  switch (operand) {
    case Operand::D:
      return check_vector(operand, given,
                          static_cast<std::uint64_t>(wgmma::accumulator_registers(form.d, form.n)),
                          form.d == Type::f32);
    case Operand::ARegisters:
      return check_vector(operand, given, wgmma::a_registers, !is_float(form.a));
    case Operand::ADesc:
    case Operand::BDesc:
      return is_register(given, {RegisterClass::B64}) ||
                     (given.kind == Kind::Immediate && !given.negated)
                 ? legal()
                 : wrong_kind(operand, given);
    case Operand::SpMeta:
      return is_register(given, {RegisterClass::B32, RegisterClass::F32})
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
  for (std::size_t i = 0; i < given.size(); ++i)
    if (const Verdict verdict = check_operand(form, expected[i], given[i]); !is_legal(verdict))
      return verdict;
  return legal();
}

// ---- Statements ---------------------------------------------------------------------------------

Verdict check_mma(const PtxStatement& statement) {
  Qualifiers q;
  std::string_view unknown;
  if (!read_qualifiers(std::span(statement.qualifiers).subspan(1), q, unknown))
    return illegal(Fault::QualifierUnknown, fmt::format("got {}", quoted(unknown)));
  if (!q.shape) return illegal(Fault::QualifierMissing, "no shape such as .m64n8k16");
  if (q.types.size() < 3)
    return illegal(Fault::QualifierMissing, fmt::format("got {} of 3 types", q.types.size()));
  if (q.types.size() > 3)
    return illegal(Fault::TypesDoNotExist, fmt::format("got {} types, expected 3", q.types.size()));
  Form form{q.types[0], q.types[1], q.types[2], q.shape->n};
  form.sparse = q.has(Part::Sparse);
  form.satfinite = q.has(Part::Satfinite) || q.has(Part::LateSatfinite);
  if (statement.operands.size() > 1 && statement.operands[1].kind == Kind::Vector)
    form.a_place = wgmma::Place::Registers;
  for (const Verdict& verdict : {check_form(q, form), check_b1(q, form), check_sync(q),
                                 check_order(q), check_operands(form, statement.operands)})
    if (!is_legal(verdict)) return verdict;
  return legal();
}

// wgmma.fence, .commit_group and .wait_group: .sync.aligned and at most one immediate.
Verdict check_group(const PtxStatement& statement, bool takes_count) {
  Qualifiers q;
  std::string_view unknown;
  if (!read_qualifiers(std::span(statement.qualifiers).subspan(1), q, unknown))
    return illegal(Fault::QualifierUnknown, fmt::format("got {}", quoted(unknown)));
  for (const Part part : q.parts)
    if (part != Part::Sync && part != Part::Aligned)
      return illegal(Fault::QualifierUnknown, "expected .sync.aligned");
  if (const Verdict verdict = check_sync(q); !is_legal(verdict)) return verdict;
  if (const Verdict verdict = check_order(q); !is_legal(verdict))
    return illegal(Fault::QualifierOrder, "expected .sync.aligned");
  const std::size_t expected = takes_count ? 1 : 0;
  if (statement.operands.size() != expected)
    return illegal(Fault::OperandCount,
                   fmt::format("got {}, expected {}", statement.operands.size(), expected));
  if (!takes_count) return legal();
  const PtxOperand& count = statement.operands[0];
  return count.kind == Kind::Immediate && !count.negated && count.value >= 0
             ? legal()
             : illegal(Fault::ImmediateWaitGroup, fmt::format("got {}", quoted(count.text)));
}

Verdict check_wgmma(const PtxStatement& statement) {
  const std::string_view which =
      statement.qualifiers.empty() ? std::string_view() : statement.qualifiers[0];
  if (const Verdict verdict = check_guard(statement); !is_legal(verdict)) return verdict;
  if (which == "mma_async") return check_mma(statement);
  if (which == "fence" || which == "commit_group") return check_group(statement, false);
  if (which == "wait_group") return check_group(statement, true);
  return illegal(Fault::InstructionUnknown, fmt::format("got {}", quoted(which)));
}

// Without a target that of the instruction: sm_90a, or sm_100a for tcgen05.
Verdict check_text(std::string_view text, std::optional<Target> asked) {
  std::string malformed;
  const auto statement = parse_statement(text, malformed);
  const bool modelled = text.find("wgmma") != std::string_view::npos ||
                        text.find("tcgen05") != std::string_view::npos;
  if (!statement)
    return modelled ? illegal(Fault::StatementMalformed, malformed)
                    : unmodelled("only statements of wgmma and tcgen05 are modelled");
  if (statement->opcode.empty()) return unmodelled("there is no statement on this line");
  if (statement->opcode == "tcgen05")
    return check_tcgen05(*statement, asked.value_or(Target::sm_100a));
  if (statement->opcode != "wgmma")
    return unmodelled(fmt::format("opcode {}: only statements of wgmma and tcgen05 are modelled",
                                  quoted(statement->opcode)));
  const Target target = asked.value_or(Target::sm_90a);
  constexpr Form legal_form = {Type::f32, Type::f16, Type::f16, 8};
  if (check(legal_form, target) != Fault::None)
    return illegal(Fault::TargetLacksWgmma, fmt::format("got {}", name(target)));
  return check_wgmma(*statement);
}

Answer answer_of(const Verdict& verdict, Style style) {
  const Status status = is_legal(verdict)                       ? Status::Yes
                        : verdict.kind == FaultKind::Unmodelled ? Status::Unmodelled
                                                                : Status::No;
  const std::string word = is_legal(verdict) ? "legal" : name(verdict.kind);
  const std::string reason = reason_of(verdict);
  if (style == Style::Json)
    return {status,
            is_legal(verdict) ? json_object({{"verdict", json_string(word)}})
                              : json_object({{"verdict", json_string(word)},
                                             {"fault", json_string(info(verdict.fault).name)},
                                             {"reason", json_string(reason)}}),
            ""};
  return {status, is_legal(verdict) ? word : word + "\t" + reason, ""};
}

}  // namespace

Refusal check_statement(std::string_view text, Target target) {
  const Verdict verdict = check_text(text, target);
  if (is_legal(verdict)) return {};
  if (verdict.fault == Fault::None) return {true, Fault::None, verdict.specifics};
  return {true, verdict.fault, sentence_of(verdict)};
}

Answer check_line(const Question& question, std::string_view line) {
  const std::string text = without_comments(line);
  const std::string& arch = question.options.arch;
  const std::optional<Target> asked =
      arch.empty() ? std::nullopt : std::optional(parse_target(arch));
  return answer_of(check_text(text, asked), question.options.style);
}

}  // namespace tcq::oracle
