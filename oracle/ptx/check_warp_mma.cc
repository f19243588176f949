// Statements of the warp's mma; see check_warp_mma.h.
#include "oracle/ptx/check_warp_mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/letters.h"
#include "oracle/ptx/quoted_asm.h"
#include "oracle/ptx/warp_mma.h"
#include "oracle/ptx/warp_mma_words.h"
#include "sim/isa/base/mma_fragment.h"
#include "sim/isa/base/mma_scales.h"

namespace tcq::oracle {
namespace {

using OperandKind = PtxOperand::Kind;
using enum RegisterClass;

// A fragment: how many registers, of which types; of C the constants that may stand for a register.
struct Fragment {
  std::string_view name;
  int count;
  std::vector<RegisterClass> classes;
  bool takes_integers = false, takes_floats = false, takes_doubles = false;
};

// Measured against ptxas 13.0.88: every type that .reg takes, in every operand.
std::vector<RegisterClass> classes_of_sums(std::string_view type) {
  if (type == "f64") return {B64, I64, F64};
  if (type == "s32") return {B32, I32};
  return type == "f32" ? std::vector{B32, F32} : std::vector{B32, F16x2};
}

std::vector<RegisterClass> classes_of_operand(const WarpMma& mma, std::string_view type) {
  if (type == "f64") return {B64, I64, F64};
  if (type == "f16") return {B32, F16x2};
  if (type == "bf16" || type == "tf32" || !mma.kind.empty()) return {B32};
  return {B32, I32, F16x2, F32};
}

Fragment c_fragment(const WarpMma& mma, int count) {
  return {"C",
          count,
          classes_of_sums(mma.c),
          mma.c == "s32",
          mma.c == "f32" || mma.c == "f64",
          mma.c == "f64"};
}

// Of m8n8k4 of f16 a thread has four halves of A and B, and eight sums.
std::array<Fragment, 4> fragments_of(const WarpMma& mma) {
  using namespace warp_mma;
  const auto sums = [&](int bits) { return mma.quad_pairs ? bits / 4 : d_registers(mma.m, bits); };
  const int of_a = mma.quad_pairs ? 2 : a_registers(mma.m, mma.k, mma.a_bits);
  const int of_b = mma.quad_pairs ? 2 : b_registers(mma.k, mma.b_bits);
  return {{{"D", sums(mma.d_bits), classes_of_sums(mma.d)},
           {"A", of_a, classes_of_operand(mma, mma.a)},
           {"B", of_b, classes_of_operand(mma, mma.b)},
           c_fragment(mma, sums(mma.c_bits))}};
}

bool holds_only(const PtxOperand& vector, const std::vector<RegisterClass>& classes) {
  for (std::size_t i = 0; i < register_class_count; ++i) {
    const auto c = static_cast<RegisterClass>(i);
    const bool fine = c == RegisterClass::Unknown ||
                      std::find(classes.begin(), classes.end(), c) != classes.end();
    if (vector.holds[i] && !fine) return false;
  }
  return true;
}

Verdict wrong_kind(std::string_view name, const PtxOperand& given, std::string_view expected) {
  return illegal(Fault::OperandKind,
                 fmt::format("{} is {}, expected {}", name, quoted(given.text), expected));
}

std::string types_text(const std::vector<RegisterClass>& classes) {
  if (classes.front() == B64) return ".f64";
  const auto has = [&](RegisterClass c) {
    return std::find(classes.begin(), classes.end(), c) != classes.end();
  };
  return has(F32) && !has(I32) ? ".f32 or .b32" : ".b32";
}

// Constants are C's, of its own type. Measured: with a register beside it ptxas 13.0.88 takes others, by the type of
// that register.
Verdict check_constants(const Fragment& fragment, const PtxOperand& given) {
  const bool own = (given.integers == 0 || fragment.takes_integers) &&
                   (given.floats == 0 || fragment.takes_floats) &&
                   (given.doubles == 0 || fragment.takes_doubles);
  if (own) return legal();
  const bool is_f64 = fragment.takes_doubles;
  if (fragment.name == "D" || (given.integers == given.count && !is_f64))
    return wrong_kind(fragment.name, given,
                      fragment.takes_floats
                          ? "registers, or constants such as 0f00000000"
                          : fmt::format("{} registers", types_text(fragment.classes)));
  return unmodelled(fmt::format(
      "{} is {}: constants are modelled as C of f32, s32 and f64, of its own type; ptxas goes by "
      "the registers beside them",
      fragment.name, quoted(given.text)));
}

// {%0, %1}: of inline assembly, whose constraints are not read.
bool holds_placeholder(std::string_view text) {
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1))
    if (at + 1 < text.size() && is_digit(text[at + 1])) return true;
  return false;
}

// A vector, of one register, too.
Verdict check_fragment(const Fragment& fragment, const PtxOperand& given) {
  const bool is_d = fragment.name == "D";
  const auto& [name, count, classes, integers, floats, doubles] = fragment;
  const std::string registers =
      fmt::format("{} {} register{} in braces", count, types_text(classes), count == 1 ? "" : "s");
  if (is_expression(given))
    return unmodelled(
        fmt::format("{} is {}: expressions are not evaluated", name, quoted(given.text)));
  if (given.kind != OperandKind::Vector || !given.only_values || (given.has_sink && !is_d))
    return wrong_kind(name, given, registers);
  if (given.count != static_cast<std::uint64_t>(count))
    return illegal(Fault::OperandCount,
                   fmt::format("{} has {} registers, expected {}", name, given.count, count));
  if (is_d && given.sinks == given.count) return wrong_kind(name, given, registers);
  if (!holds_only(given, classes)) return wrong_kind(name, given, registers);
  // Measured: ptxas 13.0.88 takes a sink as D of bf16 and s8, refuses it as D of e4m3 and of some f64.
  if (given.has_sink)
    return unmodelled(fmt::format(
        "D is {}: the manual has no sink here, ptxas takes it for some types", quoted(given.text)));
  if (holds_placeholder(given.text)) return legal_if_it_is(given, types_text(classes));
  return check_constants(fragment, given);
}

// ---- Scale factors ------------------------------------------------------------------------------

Verdict check_scale_data(std::string_view name, const PtxOperand& given) {
  if (is_placeholder(given.text)) return legal_if_it_is(given, ".b32");
  return is_register(given, {B32, I32, F16x2, F32}) ? legal()
                                                    : wrong_kind(name, given, "one .b32 register");
}

// One half of {byte-id, thread-id}: a number of those that exist, or a .b16 register, whose value is not in the text.
Verdict check_selector_half(std::string_view name, std::string_view text, int last, int step) {
  const auto value = immediate_value(text);
  if (!value || (*value >= 0 && *value <= last && *value % step == 0)) return legal();
  const std::string expected = last == 0   ? "0"
                               : step == 1 ? fmt::format("0 to {}", last)
                                           : fmt::format("0 or {}", step);
  return illegal(Fault::OperandKind, fmt::format("{} is {}, expected {}", name, *value, expected));
}

Verdict check_selector(const WarpMma& mma, char matrix, const PtxOperand& given) {
  const std::string name = fmt::format("{{byte-id-{0}, thread-id-{0}}}", matrix);
  if (is_expression(given))
    return unmodelled(
        fmt::format("{} is {}: expressions are not evaluated", name, quoted(given.text)));
  const bool fits = given.kind == OperandKind::Vector && given.only_values && !given.has_sink &&
                    given.count == 2 && given.floats + given.doubles == 0 &&
                    holds_only(given, {RegisterClass::B16});
  if (!fits) return wrong_kind(name, given, "two numbers or .b16 registers in braces");
  if (holds_placeholder(given.text)) return legal_if_it_is(given, ".b16 or numbers in range");
  const std::string_view inside = given.text.substr(1, given.text.size() - 2);
  const std::size_t comma = inside.find(',');
  const int last_byte = warp_mma::scale_bytes - mma.factors;
  const int threads = matrix == 'a' ? warp_mma::a_scale_threads : warp_mma::b_scale_threads;
  if (comma == inside.npos) return legal();  // {%rs0..%rs1}
  const Verdict byte = check_selector_half(
      fmt::format("byte-id-{}", matrix), trimmed(inside.substr(0, comma)), last_byte, mma.factors);
  if (!is_legal(byte)) return byte;
  return check_selector_half(fmt::format("thread-id-{}", matrix), trimmed(inside.substr(comma + 1)),
                             threads - 1, 1);
}

std::vector<Verdict> check_each(const WarpMma& mma, std::span<const PtxOperand> given) {
  std::vector<Verdict> verdicts;
  for (const Fragment& fragment : fragments_of(mma))
    verdicts.push_back(check_fragment(fragment, given[verdicts.size()]));
  if (mma.kind.empty()) return verdicts;
  verdicts.push_back(check_scale_data("scale-a-data", given[4]));
  verdicts.push_back(check_selector(mma, 'a', given[5]));
  verdicts.push_back(check_scale_data("scale-b-data", given[6]));
  verdicts.push_back(check_selector(mma, 'b', given[7]));
  return verdicts;
}

Verdict check_operands(const WarpMma& mma, const PtxStatement& statement) {
  const std::size_t expected = mma.kind.empty() ? 4 : 8;
  if (statement.operands.size() != expected)
    return illegal(
        Fault::OperandCount,
        fmt::format("got {}, expected {}: D, A, B, C{}", statement.operands.size(), expected,
                    mma.kind.empty() ? ""
                                     : ", scale-a-data, {byte-id-a, thread-id-a}, "
                                       "scale-b-data, {byte-id-b, thread-id-b}"));
  std::string conditions;
  for (const Verdict& verdict : check_each(mma, statement.operands)) {
    if (!is_legal(verdict)) return verdict;
    add_condition(conditions, verdict);
  }
  return {FaultKind::None, Fault::None, conditions};
}

std::string opcode_of(const PtxStatement& statement) {
  std::string text(statement.opcode);
  for (const std::string_view word : statement.qualifiers) text += fmt::format(".{}", word);
  return text;
}

}  // namespace

Verdict check_warp_mma(const PtxStatement& statement, std::optional<Target> asked) {
  constexpr std::string_view begin = "illegal: ";
  if (const Verdict verdict = check_guard(statement); !is_legal(verdict)) return verdict;
  try {
    const WarpMma mma = parse_warp_mma(opcode_of(statement));
    const Verdict target = check_target(mma, asked);
    if (target.kind == FaultKind::Illegal) return target;
    if (const Verdict verdict = check_words(mma, statement.qualifiers); !is_legal(verdict))
      return verdict;
    const Verdict operands = check_operands(mma, statement);
    return is_legal(operands) && !is_legal(target) ? target : operands;
  } catch (const UnmodelledError& error) {
    return unmodelled(error.what());
  } catch (const FaultError& error) {
    std::string_view why = error.what();
    if (why.starts_with(begin)) why.remove_prefix(begin.size());
    return illegal(Fault::QualifierUnknown, std::string(why));
  } catch (const UsageError& error) {
    return illegal(Fault::QualifierUnknown, error.what());
  }
}

}  // namespace tcq::oracle
