// Parsing and spelling of wgmma mnemonics, targets and the keys that complete them; see mnemonic.h.
#include "oracle/ptx/mnemonic.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "oracle/answer/answer.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/wgmma/opcode.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;

constexpr std::string_view example = "wgmma.m64n24k16.f32.bf16.bf16";

std::string full_mnemonic(const Form& form) {
  const PtxText text = wgmma::opcode(form);
  return {text.chars, static_cast<std::size_t>(text.size)};
}

void erase_part(std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at != std::string::npos) text.erase(at, part.size());
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

// The dot-separated parts of a mnemonic, taken one by one.
class Parts {
 public:
  explicit Parts(std::string_view text) : rest_(text), more_(true) {}

  std::string_view peek() const { return more_ ? rest_.substr(0, rest_.find('.')) : ""; }
  bool at_end() const { return !more_; }
  std::string_view take() {
    const std::string_view part = peek();
    const std::size_t dot = more_ ? rest_.find('.') : std::string_view::npos;
    more_ = dot != std::string_view::npos;
    if (more_) rest_.remove_prefix(dot + 1);
    return part;
  }
  bool take_if(std::string_view part) {
    if (at_end() || peek() != part) return false;
    take();
    return true;
  }

 private:
  std::string_view rest_;
  bool more_;
};

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
  for (const char* known : {"wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "mma."})
    if (text.starts_with(known))
      throw UnmodelledError(
          fmt::format("{} is not modelled: only wgmma.mma_async is", quoted(word)));
  Parts parts(text);
  Form form{};
  if (!parts.take_if("wgmma"))
    throw_bad_mnemonic(word, fmt::format("expected a PTX opcode such as {}", example));
  parts.take_if("mma_async");
  form.sparse = parts.take_if("sp");
  parts.take_if("sync");
  parts.take_if("aligned");
  const std::string_view shape_part = parts.take();
  const std::optional<OpcodeShape> shape = parse_shape(shape_part);
  if (!shape)
    throw_bad_mnemonic(word, fmt::format("{} is no shape such as m64n24k16", quoted(shape_part)));
  form.satfinite = parts.take_if("satfinite");
  for (Type* type : {&form.d, &form.a, &form.b}) {
    if (parts.at_end())
      throw_bad_mnemonic(word, "expected the types of D, A and B after the shape");
    const std::string_view part = parts.take();
    const std::optional<Type> found = parse_type(part);
    if (!found) throw_bad_mnemonic(word, fmt::format("{} is no element type", quoted(part)));
    *type = *found;
  }
  if (!form.satfinite) form.satfinite = parts.take_if("satfinite");
  if (form.a == Type::b1 && parts.take_if("and") && !parts.take_if("popc"))
    throw_bad_mnemonic(word, "expected .and.popc");
  if (!parts.at_end())
    throw_bad_mnemonic(
        word, fmt::format("nothing may follow the types, but {} does", quoted(parts.peek())));
  form.n = shape->n;
  const Fault fault = check_opcode(form, *shape);
  if (fault != Fault::None)
    throw FaultError(fault, fmt::format("; {} is no instruction, did you mean '{}'?", quoted(word),
                                        nearest_mnemonic(word)));
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

}  // namespace

std::optional<OpcodeShape> parse_shape(std::string_view part) {
  OpcodeShape shape{};
  const char* at = part.data();
  const char* const end = at + part.size();
  for (const auto& [letter, value] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end || *at++ != letter || at == end || *at < '1' || *at > '9') return std::nullopt;
    const auto [rest, error] = std::from_chars(at, end, *value);
    if (error != std::errc()) return std::nullopt;
    at = rest;
  }
  if (at != end) return std::nullopt;
  return shape;
}

std::optional<Type> parse_type(std::string_view part) {
  for (int i = 0; i < type_count; ++i)
    if (part == name(static_cast<Type>(i))) return static_cast<Type>(i);
  return std::nullopt;
}

Instruction parse_instruction(std::string_view mnemonic, const Keys& keys) {
  Instruction result;
  Form& form = result.form;
  form = parse_mnemonic(mnemonic);
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

std::string short_mnemonic(const Form& form) {
  std::string text = full_mnemonic(form);
  erase_part(text, ".mma_async");
  erase_part(text, ".sync.aligned");
  return text;
}

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
  throw_unknown("target", word, known);
}

Target target_of(const Question& question) {
  return question.options.arch.empty() ? Target::sm_90a : parse_target(question.options.arch);
}

Instruction instruction_of(const Question& question, const Keys& keys) {
  const Instruction instruction = parse_instruction(
      word_at(question, 0, "a mnemonic such as wgmma.m64n24k16.f32.bf16.bf16"), keys);
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
