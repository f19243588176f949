// The verbs list and describe: which instructions exist, and everything about one of them.
//
// Shapes, operands and legality are read from sim/isa, the arithmetic from sim/num; the recordings
// named as evidence are those of the headers that decide each fact. tcgen05: tcgen05_describe.cc; fences, barriers and
// copies: machine_describe.cc.
#include "oracle/explain/instructions.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/facts.h"
#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/machine_describe.h"
#include "oracle/sum/sum_story.h"
#include "oracle/sum/tcgen05_describe.h"
#include "oracle/sum/warp_describe.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/fragment.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/ptx_operands.h"
#include "sim/isa/wgmma/rate.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/num/dot_traits.h"
#include "sim/num/round.h"
#include "sim/ptx/form.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;

// ---- list ---------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 11> families = {
    "wgmma", "dense", "sparse", "wgmma.sp", "f16",    "bf16",
    "tf32",  "fp8",   "int8",   "b1",       "tcgen05"};  // is_about_tcgen05() answers the last one

bool in_family(const Form& form, std::string_view family) {
  if (family.empty() || family == "wgmma") return true;
  if (family == "dense") return !form.sparse;
  if (family == "sparse" || family == "wgmma.sp") return form.sparse;
  if (family == "fp8") return is_fp8(form.a);
  if (family == "int8") return is_int8(form.a);
  return family == name(form.a);
}

std::string parse_family(std::string_view word) {
  const std::string family = lowered(word);
  if (!family.empty() && std::find(families.begin(), families.end(), family) == families.end())
    throw_unknown("family", word, families);
  return family;
}

// ---- describe -----------------------------------------------------------------------------------

constexpr std::string_view slots_evidence = "Measured tests/vectors/wgmma_slots.tcqv";
constexpr std::string_view sparse_evidence = "Measured tests/vectors/wgmma_sparse.tcqv";
constexpr std::string_view desc_evidence = "Measured tests/vectors/wgmma_descriptors.tcqv";
constexpr std::string_view dot_evidence =
    "Measured tests/vectors/wgmma_directed.txt, tests/vectors/wgmma_numeric.tcqv";
constexpr std::string_view legality_evidence =
    "Documented PTX ISA 9.2, 9.7.15.2 and 9.7.15.5.2; ptxas agrees (tests/silicon/ptxas_test.cc)";

bool a_in_registers(const Form& f) { return f.a_place == wgmma::Place::Registers; }

std::string operands_text(const Form& f) {
  std::string text;
  for (int i = 0; i < wgmma::operand_count; ++i) {
    const auto operand = static_cast<wgmma::Operand>(i);
    if (!wgmma::has_operand(f, operand)) continue;
    if (!text.empty()) text += ", ";
    text += name(operand);
  }
  return text;
}

std::string immediates_text(const Form& f) {
  std::string text;
  for (const wgmma::Operand operand :
       {wgmma::Operand::SpSelector, wgmma::Operand::ScaleD, wgmma::Operand::ScaleA,
        wgmma::Operand::ScaleB, wgmma::Operand::TransA, wgmma::Operand::TransB}) {
    if (!wgmma::has_operand(f, operand)) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", name(operand), values(operand));
  }
  return text;
}

std::string a_place_text(const Form& f) {
  if (a_in_registers(f))
    return fmt::format("{} .b32 registers per thread, {} per register, K-major", wgmma::a_registers,
                       parts_per_register(f.a));
  return wgmma::has_major(f.a) ? "shared memory, K-major or MN-major (also: a=regs)"
                               : "shared memory, K-major (also: a=regs)";
}

void add_operands(Facts& facts, const Form& f) {
  const int registers = wgmma::accumulator_registers(f.d, f.n);
  facts.push_back({"A", fmt::format("{} x {} {}{}, {}", wgmma::m, wgmma::stored_k(f.a), name(f.a),
                                    f.sparse ? " as stored" : "", a_place_text(f))});
  facts.push_back({"B", fmt::format("{} x {} {}, shared memory, {}", k(f), f.n, name(f.b),
                                    wgmma::has_major(f.b) ? "K-major or MN-major" : "K-major")});
  facts.push_back(
      {"C, D", fmt::format("{} x {} {}, {} registers per thread, {} per register", wgmma::m, f.n,
                           name(f.d), registers, parts_per_register(f.d))});
  if (f.sparse)
    facts.push_back(
        {"E",
         fmt::format("{} x {} metadata codes of {} bits, one per {} elements of K, "
                     "one .b32 register per thread, selector 0{}",
                     wgmma::m, wgmma::chunks_per_row(f.a), wgmma::metadata_code_bits,
                     wgmma::chunk_elements(f.a), wgmma::max_selector(f.a) > 0 ? " or 1" : "")});
  facts.push_back({"registers per thread",
                   fmt::format("D {}{}{}", registers,
                               a_in_registers(f) ? fmt::format(", A {}", wgmma::a_registers) : "",
                               f.sparse ? ", E 1" : "")});
  facts.push_back({"operand order", operands_text(f)});
  facts.push_back({"immediates", immediates_text(f)});
  facts.push_back({"alignment",
                   "descriptor start, LBO and SBO: multiples of 16 bytes; registers: "
                   "any, in the order of the vector"});
}

std::string rate_text(const Form& f) {
  if (!wgmma::rate_is_published(f.a)) return "no published rate";
  return fmt::format("at least {} per SM", wgmma::tensor_clocks(f));
}

void add_work(Facts& facts, const Form& f) {
  facts.push_back(
      {is_float(f.a) ? "FLOPs" : "operations", fmt::format("{} (2*M*N*K)", wgmma::operations(f))});
  facts.push_back({"tensor clocks", rate_text(f)});
  facts.push_back({"bytes of A", std::to_string(wgmma::a_bytes(f))});
  facts.push_back({"bytes of B", std::to_string(wgmma::b_bytes(f))});
}

void add_float_arithmetic(Facts& facts, const Form& f) {
  const DotTraits traits = wgmma_dot_traits(f.d, f.a);
  facts.push_back({"sum", fmt::format("exact products and C, cut to multiples of 2^(E - {}), added "
                                      "exactly, rounded once; E = largest exponent of a term",
                                      traits.fraction_bits)});
  facts.push_back({"fraction bits kept", std::to_string(traits.fraction_bits)});
  facts.push_back({"floor", fmt::format("E is at least {}", traits.floor_exponent)});
  facts.push_back({"exponent of a term", std::string(term_exponent_text)});
  facts.push_back({"rounding", name(traits.conversion)});
  facts.push_back({"overflow", std::string(float_overflow_text)});
  facts.push_back({"NaN", fmt::format("{:#x}, always positive", nan_bits(traits.conversion))});
  facts.push_back({"subnormals", "kept in A, B, C and D"});
}

void add_integer_arithmetic(Facts& facts, const Form& f) {
  facts.push_back({"sum", f.a == Type::b1 ? "C plus the population count of A and B, exact"
                                          : "C plus the products, exact"});
  facts.push_back({"overflow", f.satfinite ? "clamped to s32 once at the end (.satfinite)"
                                           : "wraps to 32 bits"});
}

void add_legality(Facts& facts, const Form& f) {
  std::string yes;
  std::string no;
  for (int i = 0; i < target_count; ++i) {
    const auto target = static_cast<Target>(i);
    std::string& list = check(f, target) == Fault::None ? yes : no;
    list += (list.empty() ? "" : ", ") + std::string(name(target));
  }
  facts.push_back({"legal on", yes});
  facts.push_back(
      {"illegal on", fmt::format("{}: {}", no, info(Fault::TargetLacksWgmma).sentence)});
}

void add_evidence(Facts& facts, const Form& f) {
  facts.push_back({"evidence, legality", std::string(legality_evidence)});
  facts.push_back({"evidence, registers", std::string(slots_evidence)});
  facts.push_back({"evidence, shared memory", std::string(desc_evidence)});
  if (f.sparse) facts.push_back({"evidence, sparsity", std::string(sparse_evidence)});
  facts.push_back({"evidence, arithmetic", std::string(dot_evidence)});
}

Facts facts_of(const Instruction& instruction) {
  const Form& f = instruction.form;
  Facts facts = {{"instruction", mnemonic_with_keys(instruction)},
                 {"PTX", std::string(wgmma::opcode(f).chars)},
                 {"shape", fmt::format("M {}, N {}, K {}{}", wgmma::m, f.n, k(f),
                                       f.sparse ? " (logical; A stores half)" : "")},
                 {"types", fmt::format("D {}, A {}, B {}", name(f.d), name(f.a), name(f.b))}};
  add_operands(facts, f);
  add_work(facts, f);
  if (is_float(f.a))
    add_float_arithmetic(facts, f);
  else
    add_integer_arithmetic(facts, f);
  add_page_facts(facts, "wgmma.mma_async");
  add_legality(facts, f);
  add_evidence(facts, f);
  return facts;
}

Value::Members value_of(const Facts& facts, const Form& f) {
  Value::Members members = facts_members(facts);
  members.push_back({"m", wgmma::m});
  members.push_back({"n", f.n});
  members.push_back({"k", k(f)});
  members.push_back({"d_registers", wgmma::accumulator_registers(f.d, f.n)});
  members.push_back({"operation_count", wgmma::operations(f)});
  return members;
}

Answer list_answer(const std::vector<std::string>& mnemonics, Style style) {
  if (style == Style::Json) return {Status::Yes, json_text(list_of(mnemonics)), ""};
  return {Status::Yes, fmt::format("{}", fmt::join(mnemonics, "\n")), ""};
}

// The family says so, or without one the target.
bool is_about_tcgen05(const Question& question) {
  const std::string& family = question.options.family;
  if (!family.empty()) return is_tcgen05(family);
  return !question.options.arch.empty() &&
         tcgen05::has_tcgen05(parse_target(question.options.arch));
}

}  // namespace

Answer list(const Question& question) {
  if (!question.words.empty())
    throw UsageError(fmt::format("unexpected word {}: expected only --arch and --family after list",
                                 quoted(question.words[0])));
  if (is_about_tcgen05(question))
    return list_answer(tcgen05_list(question), question.options.style);
  const std::string family = parse_family(question.options.family);
  const Target target = target_of(question);
  std::vector<std::string> mnemonics;
  for (Form form : all_forms()) {
    if (!in_family(form, family)) continue;
    const Fault fault = check(form, target);
    if (fault != Fault::None)
      throw FaultError(fault,
                       tcgen05::has_tcgen05(target)
                           ? std::string()
                           : fmt::format("; {} has neither wgmma nor tcgen05", name(target)));
    mnemonics.push_back(short_mnemonic(form));
    form.satfinite = true;
    if (check(form, target) == Fault::None) mnemonics.push_back(short_mnemonic(form));
  }
  return list_answer(mnemonics, question.options.style);
}

Answer describe(const Question& question) {
  if (is_machine_instruction(word_at(question, 0, "MNEMONIC")))
    return describe_machine_instruction(question);
  if (is_tcgen05(question.words[0])) return describe_tcgen05(question);
  if (is_warp_instruction(question.words[0])) return describe_warp_instruction(question);
  if (is_ptx_opcode(question.words[0]) && !same_word(question.words[0].substr(0, 5), "wgmma"))
    throw_undescribed(question.words[0]);
  const Instruction instruction =
      instruction_of(question, Keys(words_from(question, 1), instruction_keys));
  const Facts facts = facts_of(instruction);
  return facts_answer(facts, value_of(facts, instruction.form), question.options.style);
}

}  // namespace tcq::oracle
