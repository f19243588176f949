// What exists of tcgen05, and everything about one instruction; see tcgen05_describe.h.
//
// Shapes, operands and legality are read from sim/isa; arithmetic is tcgen05_arithmetic.h. The notes about ptxas are those that
// tests/silicon/tcgen05_ptxas_test.cc holds it to.
#include "oracle/sum/tcgen05_describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "oracle/answer/facts.h"
#include "oracle/explain/instructions.h"
#include "oracle/map/maps_tcgen05.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/tcgen05_arithmetic.h"
#include "sim/isa/tcgen05/operands.h"
#include "sim/isa/tcgen05/syntax.h"
#include "sim/isa/tmem/allocation.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::string_view silicon = "has not run on silicon here: no sm_100 device";
constexpr std::string_view form_evidence =
    "Documented PTX ISA 9.2, 9.7.16.7 to 9.7.16.12; ptxas 13.0 agrees "
    "(tests/silicon/tcgen05_ptxas_test.cc)";
constexpr std::string_view descriptor_evidence =
    "Documented PTX ISA 9.2, 9.7.16.2.1 (table 39) and 9.7.16.4.2; ptxas does not read the "
    "instruction descriptor";

constexpr std::string_view k96_evidence =
    "Inferred from CUTLASS, which issues it on sm_103a (cute/arch/mma_sm100_umma.hpp); PTX ISA "
    "9.2, "
    "9.7.16.2.1 (table 39) does not list it";

// ---- list ---------------------------------------------------------------------------------------

std::string family_of(const Tcgen05Form& form) {
  return fmt::format("tcgen05.{}", instruction_name(form));
}

// The families of a form, from the widest: tcgen05, tcgen05.mma, tcgen05.mma.f16.
std::vector<std::string> families_of(const Tcgen05Form& form) {
  std::vector<std::string> families = {"tcgen05", family_of(form)};
  if (std::holds_alternative<LdRedForm>(form)) families.push_back("tcgen05.ld");
  if (const auto* mma = std::get_if<MmaForm>(&form)) {
    families.push_back(fmt::format("tcgen05.mma.{}", name(mma->opcode.kind)));
    if (mma->opcode.ws) families.push_back("tcgen05.mma.ws");
    if (mma->opcode.sparse) families.push_back("tcgen05.mma.sp");
  }
  return families;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void check_family(std::string_view family, std::string_view word) {
  std::vector<std::string> known;
  for (const Tcgen05Form& form : all_tcgen05_forms())
    for (const std::string& one : families_of(form))
      if (!contains(known, one)) known.push_back(one);
  if (contains(known, family)) return;
  const std::vector<std::string_view> views(known.begin(), known.end());
  throw_unknown("family", word, views);
}

// ---- describe: mma ------------------------------------------------------------------------------

std::string majors_text(const MmaOpcode& op, Type type) {
  return can_be_mn_major(op.kind, type) ? "K-major or MN-major" : "K-major";
}

std::string a_text(const MmaOpcode& op, const InstructionDescriptor& d) {
  if (op.a_place == Place::Tmem) return "Tensor Memory, K-major";
  return fmt::format("shared memory, {} (also: a=tmem)", majors_text(op, d.a));
}

void add_mma_operands(Facts& facts, const MmaOpcode& op, const InstructionDescriptor& d) {
  const std::string per_cta =
      op.cta_group == 2 ? fmt::format(", {} rows in each CTA of the pair", m_per_cta(op, d)) : "";
  facts.push_back({"A", fmt::format("{} x {} {}{}, {}{}", d.m, stored_k(op, d), name(d.a),
                                    op.sparse ? " as stored" : "", a_text(op, d), per_cta)});
  facts.push_back(
      {"B", fmt::format("{} x {} {}, shared memory, {}{}", k(op, d), d.n, name(d.b),
                        majors_text(op, d.b), op.cta_group == 2 ? ", half of N in each CTA" : "")});
  facts.push_back({"D", fmt::format("{} x {} {}, Tensor Memory{}", d.m, d.n, name(d.d), per_cta)});
  if (op.sparse)
    facts.push_back({"metadata", fmt::format("Tensor Memory, selector {}: {}", d.selector,
                                             selector_text(op, d.selector))});
  if (const int factors = scale_factors(op, d); factors > 0)
    facts.push_back(
        {"scale factors",
         fmt::format("{0}, one per {1} stored elements of A: scale_A {2} x {3}, scale_B {3} "
                     "x {4}, Tensor Memory, ids {5} and {6}",
                     name(d.scale_type), scale_block(op), d.m, factors, d.n, d.scale_a_id,
                     d.scale_b_id)});
}

// "64, 128", by asking about every number.
template <class Exists>
std::string numbers_text(int last, Exists&& exists) {
  std::string text;
  int first = 0;
  int step = 0;
  int previous = 0;
  const auto close = [&] {
    if (first == 0) return;
    text += text.empty() ? "" : ", ";
    text += step == 0 ? std::to_string(first)
            : previous - first == step
                ? fmt::format("{}, {}", first, previous)
                : fmt::format("{} to {} in steps of {}", first, previous, step);
  };
  for (int value = 1; value <= last; ++value) {
    if (!exists(value)) continue;
    if (first != 0 && (step == 0 || value - previous == step)) {
      step = value - previous;
    } else {
      close();
      first = value;
      step = 0;
    }
    previous = value;
  }
  close();
  return text;
}

void add_mma_shape(Facts& facts, const MmaOpcode& op, const InstructionDescriptor& d) {
  facts.push_back({"shape", fmt::format("M {}, N {}, K {}{}", d.m, d.n, k(op, d),
                                        op.sparse ? " (logical; A stores half)" : "")});
  const auto exists = [&](int InstructionDescriptor::*member, int value) {
    InstructionDescriptor other = d;
    other.*member = value;
    return check(op, other) == Fault::None;
  };
  const auto with_m = [&](int m) { return exists(&InstructionDescriptor::m, m); };
  const auto with_n = [&](int n) { return exists(&InstructionDescriptor::n, n); };
  facts.push_back({"legal M", numbers_text(256, with_m)});
  facts.push_back({"legal N", numbers_text(max_n, with_n)});
  facts.push_back({"types", fmt::format("D {}, A {}, B {}", name(d.d), name(d.a), name(d.b))});
}

std::string options_text(const MmaOpcode& op) {
  std::string text;
  const auto add = [&](MmaForm form, std::string_view option) {
    form.opcode = op;
    if (check(form) == Fault::None) text += fmt::format("{}{}", text.empty() ? "" : ", ", option);
  };
  add({{}, {CollectorBuffer::A, CollectorUse::Fill}}, ".collector::a");
  add({{}, {CollectorBuffer::B0, CollectorUse::Fill}}, ".collector::b0 to ::b3");
  add({{}, {}, true}, "disable-output-lane");
  add({{}, {}, false, true}, "scale-input-d");
  add({{}, {}, false, false, true}, "zero-column-mask-desc");
  return text.empty() ? "none" : text;
}

void add_disputes(Facts& facts, const MmaOpcode& op, const InstructionDescriptor& d) {
  std::string text;
  for (int i = 0; i < dispute_count; ++i)
    if (const auto dispute = static_cast<Dispute>(i); is_disputed(dispute, op, d))
      text += fmt::format("{}{}", text.empty() ? "" : "; ", sentence(dispute));
  if (!text.empty()) facts.push_back({"disputed", text});
}

// ---- describe: the others -----------------------------------------------------------------------

std::string vector_text(LdShape shape, int num) {
  return fmt::format("{} registers per thread", registers(shape, num));
}

void add_form(Facts& facts, const LdForm& f) {
  facts.push_back({"moves", "Tensor Memory to registers of one warp, asynchronously"});
  facts.push_back({"registers", vector_text(f.shape, f.num)});
}
void add_form(Facts& facts, const LdRedForm& f) {
  facts.push_back({"moves", "Tensor Memory to registers of one warp, asynchronously"});
  facts.push_back({"registers", vector_text(f.shape, f.num) + ", and one for the reduced value"});
}
void add_form(Facts& facts, const StForm& f) {
  facts.push_back({"moves", "registers of one warp to Tensor Memory, asynchronously"});
  facts.push_back({"registers", vector_text(f.shape, f.num)});
}
void add_form(Facts& facts, const CpForm& f) {
  facts.push_back({"moves", fmt::format("shared memory to Tensor Memory{}, asynchronously",
                                        f.cta_group == 2 ? " of both CTAs" : "")});
}
void add_form(Facts& facts, const ShiftForm&) {
  facts.push_back({"moves", "rows of Tensor Memory down by one, asynchronously"});
}
void add_form(Facts& facts, const AllocForm&) {
  facts.push_back({"columns", numbers_text(tmem_columns, [](int columns) {
                     return is_allocation_size(columns);
                   })});
}
template <class Form>
void add_form(Facts&, const Form&) {}

// ---- describe: all ------------------------------------------------------------------------------

// Where ptxas and the manual differ about instructions of this sort.
std::string assembler_note(const Tcgen05Form& form) {
  struct Note {
    std::string_view operator()(const MmaForm& f) const {
      if (is_scale_vec_x(f.opcode.scale_vec))
        return "the manual gives .scale_vec to sm_100a, ptxas to sm_103a and sm_110a, too";
      if (f.opcode.kind == Kind::i8 && !f.opcode.ws)
        return "ptxas takes a scale-input-d of any value, the manual none";
      return "ptxas takes most orders of the qualifiers and any immediate as enable-input-d";
    }
    std::string_view operator()(const LdForm&) const { return "ptxas does not insist on .aligned"; }
    std::string_view operator()(const StForm&) const { return "ptxas does not insist on .aligned"; }
    std::string_view operator()(const LdRedForm&) const {
      return "ptxas does not insist on .aligned; syntax and example of the manual differ in the "
             "order of the last qualifiers, ptxas takes both";
    }
    std::string_view operator()(const CpForm&) const {
      return "ptxas takes an address of any type";
    }
    std::string_view operator()(const ShiftForm&) const {
      return "syntax and example of the manual differ in the place of .down, ptxas takes both";
    }
    std::string_view operator()(const DeallocForm&) const {
      return "ptxas takes any multiple of 32 as nCols";
    }
    std::string_view operator()(const AllocForm&) const { return ""; }
    std::string_view operator()(const RelinquishForm&) const { return ""; }
    std::string_view operator()(const CommitForm&) const { return ""; }
    std::string_view operator()(const WaitForm&) const { return ""; }
    std::string_view operator()(const FenceForm&) const { return ""; }
  };
  return std::string(std::visit(Note{}, form));
}

template <class Form>
std::string operands_text(const Form& form) {
  const OperandList list = operands(form);
  std::string text;
  for (int i = 0; i < list.size; ++i)
    text += (i > 0 ? ", " : "") + std::string(name(list.items[i]));
  return text.empty() ? "none" : text;
}

// Operands that take the same are told together.
template <class Form>
std::string values_text(const Form& form) {
  const OperandList list = operands(form);
  std::string text;
  std::vector<std::string> told;
  for (int i = 0; i < list.size; ++i) {
    const std::string value = values(list.items[i]);
    if (contains(told, value)) continue;
    told.push_back(value);
    text += text.empty() ? "" : "; ";
    for (int j = i; j < list.size; ++j)
      if (value == values(list.items[j]))
        text += fmt::format("{}{}", j > i ? ", " : "", name(list.items[j]));
    text += ": " + value;
  }
  return text;
}

void add_issue(Facts& facts, const Tcgen05Form& form) {
  const bool warp = std::visit([](const auto& f) { return is_issued_by_warp(f); }, form);
  facts.push_back({"issued by", warp ? "all lanes of one warp" : "one thread"});
  facts.push_back(
      {"operand order", std::visit([](const auto& f) { return operands_text(f); }, form)});
  const std::string operand_values = std::visit([](const auto& f) { return values_text(f); }, form);
  if (!operand_values.empty()) facts.push_back({"operands", operand_values});
}

void add_legality(Facts& facts, const Tcgen05Instruction& instruction) {
  std::string legal_on;
  std::map<Fault, std::string> illegal_on;
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    const Fault fault = check_instruction(instruction, target);
    std::string& list = fault == Fault::None ? legal_on : illegal_on[fault];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name(target));
  }
  std::string reasons;
  for (const auto& [fault, targets] : illegal_on)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", targets, info(fault).sentence);
  facts.push_back({"legal on", legal_on});
  facts.push_back({"illegal on", reasons});
}

DotForm dot_form_of(const Tcgen05Instruction& instruction) {
  return {std::get<MmaForm>(instruction.form).opcode, instruction.idesc, instruction.accumulate,
          instruction.scale_input_d};
}

void add_mma(Facts& facts, const Tcgen05Instruction& instruction) {
  const auto& form = std::get<MmaForm>(instruction.form);
  const InstructionDescriptor& d = instruction.idesc;
  add_mma_shape(facts, form.opcode, d);
  add_mma_operands(facts, form.opcode, d);
  facts.push_back({"also takes", options_text(form.opcode)});
  facts.push_back({is_float(d.a) ? "FLOPs" : "operations",
                   fmt::format("{} (2*M*N*K)", 2 * d.m * d.n * k(form.opcode, d))});
  add_arithmetic(facts, dot_form_of(instruction));
}

Facts facts_of(const Tcgen05Instruction& instruction) {
  Facts facts = {{"instruction", mnemonic_with_keys(instruction)},
                 {"PTX", full_opcode(instruction.form)}};
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  if (mma != nullptr)
    add_mma(facts, instruction);
  else
    std::visit([&](const auto& f) { add_form(facts, f); }, instruction.form);
  add_issue(facts, instruction.form);
  add_page_facts(facts, full_opcode(instruction.form));
  add_legality(facts, instruction);
  if (mma != nullptr) add_disputes(facts, mma->opcode, instruction.idesc);
  if (const std::string note = assembler_note(instruction.form); !note.empty())
    facts.push_back({"manual and ptxas", note});
  facts.push_back({"evidence, form", std::string(form_evidence)});
  if (mma != nullptr) {
    const bool cutlass = is_disputed(Dispute::K96M128, mma->opcode, instruction.idesc);
    facts.push_back({"evidence, M N K", std::string(cutlass ? k96_evidence : descriptor_evidence)});
    add_arithmetic_evidence(facts, dot_form_of(instruction));
  }
  facts.push_back({"evidence, silicon", std::string(silicon)});
  return facts;
}

Value::Members value_of(const Facts& facts, const Tcgen05Instruction& instruction) {
  Value::Members members = facts_members(facts);
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  if (mma == nullptr) {
    members.push_back(
        {"register_count",
         std::visit([](const auto& f) { return vector_registers(f); }, instruction.form)});
    return members;
  }
  const InstructionDescriptor& d = instruction.idesc;
  members.push_back({"m", d.m});
  members.push_back({"n", d.n});
  members.push_back({"k", k(mma->opcode, d)});
  members.push_back({"m_per_cta", m_per_cta(mma->opcode, d)});
  members.push_back({"scale_factor_count", scale_factors(mma->opcode, d)});
  return members;
}

}  // namespace

std::vector<std::string> tcgen05_list(const Question& question) {
  const std::string family =
      question.options.family.empty() ? "tcgen05" : lowered(question.options.family);
  check_family(family, question.options.family);
  const Target target = tcgen05_target_of(question);
  std::vector<std::string> mnemonics;
  Fault fault = Fault::None;
  for (const Tcgen05Form& form : all_tcgen05_forms()) {
    if (!contains(families_of(form), family)) continue;
    fault = check_form(form, target);
    if (fault == Fault::None) mnemonics.push_back(short_opcode(form));
  }
  if (mnemonics.empty()) throw FaultError(fault);
  return mnemonics;
}

Answer describe_tcgen05(const Question& question) {
  const Tcgen05Instruction instruction =
      tcgen05_instruction_of(question, Keys(words_from(question, 1), tcgen05_keys));
  const Facts facts = facts_of(instruction);
  return facts_answer(facts, value_of(facts, instruction), question.options.style);
}

}  // namespace tcq::oracle
