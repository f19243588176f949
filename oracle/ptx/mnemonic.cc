// Parsing and spelling of wgmma mnemonics, targets and the keys that complete them; see mnemonic.h.
#include "oracle/ptx/mnemonic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/ptx/remembered.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/ptx/form.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;

constexpr std::string_view wgmma_example = "wgmma.m64n24k16.f32.bf16.bf16";

std::string full_mnemonic(const Form& form) {
  const PtxText text = wgmma::opcode(form);
  return {text.chars, static_cast<std::size_t>(text.size)};
}

// Both spellings of everything legal, for the nearest one to a wrong word.
struct Spellings {
  std::vector<std::string> texts;
  std::vector<std::string_view> full;
  std::vector<std::string_view> abbreviated;

  Spellings() {
    for (Form form : all_forms()) {
      add(form);
      form.satfinite = true;
      if (check(form) == Fault::None) add(form);
    }
    for (std::size_t i = 0; i < texts.size(); i += 2) {
      full.push_back(texts[i]);
      abbreviated.push_back(texts[i + 1]);
    }
  }
  void add(const Form& form) {
    texts.push_back(full_mnemonic(form));
    texts.push_back(short_mnemonic(form));
  }
};

std::string_view nearest_mnemonic(std::string_view word) {
  static const Spellings spellings;
  const bool full = word.find("sync") != std::string_view::npos;
  return nearest(word, full ? spellings.full : spellings.abbreviated);
}

[[noreturn]] void throw_bad_mnemonic(std::string_view word, std::string_view reason) {
  throw UsageError(fmt::format("unknown mnemonic {}: {}; did you mean '{}'?", quoted(word), reason,
                               nearest_mnemonic(word)));
}

// What N is legal with these types, as near as can be: the larger one of two.
std::optional<Form> with_nearest_n(Form form) {
  std::optional<Form> best;
  const int asked = form.n;
  for (form.n = 256; form.n > 0; --form.n)
    if (check(form) == Fault::None &&
        (!best || std::abs(form.n - asked) < std::abs(best->n - asked)))
      best = form;
  return best;
}

// M and K follow from the types; what has other types is found by its spelling.
std::string nearest_form(const Form& form, std::string_view word) {
  const bool full = word.find("sync") != std::string_view::npos;
  const std::optional<Form> legal = with_nearest_n(form);
  if (!legal) return std::string(nearest_mnemonic(word));
  return full ? full_mnemonic(*legal) : short_mnemonic(*legal);
}

Fault check_opcode(const Form& form, const OpcodeShape& shape) {
  if (shape.m != wgmma::m) return Fault::ShapeM64;
  const Fault fault = check(form);
  if (fault != Fault::None) return fault;
  return shape.k == k(form) ? Fault::None : Fault::ShapeK;
}

Form parse_mnemonic(std::string_view word) {
  const std::string text = lowered(word);
  if (text.starts_with("tcgen05"))
    throw UnmodelledError(fmt::format(
        "{} is not modelled here: for tcgen05 ask 'tcq layout' for a tile and 'tcq decode "
        "tcgen05.desc' for a descriptor",
        quoted(word)));
  const std::string_view name = text;
  const bool has_words = name.find('.') != name.npos;
  if (name.starts_with("mma.") ||
      (has_words && !name.starts_with("wgmma.mma") && is_ptx_opcode(word)))
    throw UnmodelledError(fmt::format(
        "{} is not modelled here: only wgmma.mma_async and tcgen05.mma are", quoted(word)));
  const std::vector<std::string_view> words = ptx::split_opcode(word);
  if (!same_word(words[0], "wgmma"))
    throw_bad_mnemonic(word, fmt::format("expected a PTX opcode such as {}", wgmma_example));
  Form form{};
  const OpcodeReading reading = read_wgmma(form, std::span(words).subspan(1), Spelling::Mnemonic);
  for (const Verdict& verdict : {reading.problem, reading.disagreement, reading.order})
    if (!is_legal(verdict)) throw_bad_mnemonic(word, sentence_of(verdict));
  const Fault fault = check_opcode(form, *reading.shape);
  if (fault != Fault::None)
    throw FaultError(fault, fmt::format("; {} is no instruction, did you mean '{}'?", quoted(word),
                                        nearest_form(form, word)));
  return form;
}

struct Alias {
  std::string_view word;
  Target target;
};

constexpr std::array<Alias, 16> aliases = {{{"hopper", Target::sm_90a},
                                            {"h100", Target::sm_90a},
                                            {"h200", Target::sm_90a},
                                            {"h800", Target::sm_90a},
                                            {"h20", Target::sm_90a},
                                            {"gh200", Target::sm_90a},
                                            {"blackwell", Target::sm_100a},
                                            {"b100", Target::sm_100a},
                                            {"b200", Target::sm_100a},
                                            {"gb200", Target::sm_100a},
                                            {"b300", Target::sm_103a},
                                            {"gb300", Target::sm_103a},
                                            {"thor", Target::sm_110a},
                                            {"rtx5090", Target::sm_120a},
                                            {"gb10", Target::sm_121a},
                                            {"spark", Target::sm_121a}}};

// PTX has these, too; no instruction of wgmma or tcgen05 is theirs.
// Source: PTX ISA 9.2, 11.1.2 ".target"
constexpr std::array<std::string_view, 25> other_targets = {
    "sm_20", "sm_30",  "sm_32",  "sm_35",  "sm_37",  "sm_50",  "sm_52",  "sm_53", "sm_60",
    "sm_61", "sm_62",  "sm_70",  "sm_72",  "sm_75",  "sm_80",  "sm_86",  "sm_87", "sm_88",
    "sm_89", "sm_103", "sm_110", "sm_120", "sm_121", "sm_101", "sm_101a"};

}  // namespace

bool is_ptx_opcode(std::string_view word) {
  for (const std::string& spelling : {lowered(word), std::string(word)}) {
    const ptx::Form form = ptx::read_form(spelling);
    if (form.opcode != ptx::Opcode::Unknown || form.problem.starts_with("lacks")) return true;
  }
  return false;
}

Instruction parse_instruction(std::string_view mnemonic, const Keys& keys) {
  Instruction result;
  Form& form = result.form;
  form = remembered<parse_mnemonic>(mnemonic);
  form.a_place =
      keys.choice("a", {"smem", "regs"}, 0) == 1 ? wgmma::Place::Registers : wgmma::Place::Smem;
  form.major_a = keys.major("major_a");
  form.major_b = keys.major("major_b");
  form.negate_a = keys.flag("negate_a");
  form.negate_b = keys.flag("negate_b");
  result.accumulate = keys.flag("accumulate", true);
  Fault fault = check(form);
  if (keys.has("selector")) {
    if (!form.sparse)
      throw UsageError(fmt::format(
          "selector= is for wgmma.sp only: {} is dense, expected no selector", quoted(mnemonic)));
    const std::uint64_t selector = parse_number(keys.text("selector", ""), "selector=");
    if (selector > static_cast<std::uint64_t>(wgmma::max_selector(form.a)))
      fault = Fault::SelectorOutOfRange;
    else
      result.selector = static_cast<int>(selector);
  }
  if (fault != Fault::None)
    throw FaultError(fault, fmt::format("; {} with these keys", quoted(mnemonic)));
  return result;
}

std::string short_mnemonic(const Form& form) { return shortened(full_mnemonic(form)); }

std::string mnemonic_with_keys(const Instruction& instruction) {
  const Form& form = instruction.form;
  std::string text = short_mnemonic(form);
  if (form.a_place == wgmma::Place::Registers) text += " a=regs";
  if (form.major_a == Major::MN) text += " major_a=MN";
  if (form.major_b == Major::MN) text += " major_b=MN";
  if (!instruction.accumulate) text += " accumulate=0";
  if (form.negate_a) text += " negate_a=1";
  if (form.negate_b) text += " negate_b=1";
  if (instruction.selector != 0) text += fmt::format(" selector={}", instruction.selector);
  return text;
}

Target parse_target(std::string_view word) {
  std::vector<std::string_view> known;
  for (int i = 0; i < target_count; ++i) {
    const Target target = static_cast<Target>(i);
    if (same_word(word, name(target))) return target;
    known.push_back(name(target));
  }
  for (const Alias& alias : aliases) {
    if (same_word(word, alias.word)) return alias.target;
    known.push_back(alias.word);
  }
  for (const std::string_view other : other_targets)
    if (same_word(word, other))
      throw UnmodelledError(fmt::format("target {} is not modelled", quoted(word)));
  throw_unknown("target", word, known);
}

Target target_of(const Question& question) {
  return question.options.arch.empty() ? Target::sm_90a : parse_target(question.options.arch);
}

Instruction instruction_of(const Question& question, const Keys& keys) {
  const Instruction instruction = parse_instruction(word_at(question, 0, mnemonic_expected), keys);
  const Fault fault = check(instruction.form, target_of(question));
  if (fault != Fault::None) throw FaultError(fault);
  return instruction;
}

std::string_view word_at(const Question& question, std::size_t index, std::string_view expected) {
  if (index < question.words.size()) return question.words[index];
  throw UsageError(fmt::format("'{}' has too few words: expected {}", question.verb, expected));
}

std::span<const std::string_view> words_from(const Question& question, std::size_t first) {
  const std::span<const std::string_view> words = question.words;
  return words.subspan(std::min(first, words.size()));
}

std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const bool sparse : {false, true})
    for (int d = 0; d < type_count; ++d)
      for (int a = 0; a < type_count; ++a)
        for (int b = 0; b < type_count; ++b)
          for (int n = 1; n <= 256; ++n) {
            Form form{static_cast<Type>(d), static_cast<Type>(a), static_cast<Type>(b), n};
            form.sparse = sparse;
            if (check(form) == Fault::None) forms.push_back(form);
          }
  return forms;
}

}  // namespace tcq::oracle
