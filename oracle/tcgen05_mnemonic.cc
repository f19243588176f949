// Parsing and spelling of tcgen05 mnemonics and the keys that complete them; see
// tcgen05_mnemonic.h.
#include "oracle/tcgen05_mnemonic.h"

#include <fmt/format.h>

#include <vector>

#include "oracle/mnemonic.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::string_view prefix = "tcgen05";

std::vector<std::string_view> split_opcode(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

std::string nearest_opcode(std::string_view word) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const Tcgen05Form& form : all_tcgen05_forms()) {
      all.push_back(short_opcode(form));
      all.push_back(full_opcode(form));
    }
    return all;
  }();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return std::string(nearest(word, views));
}

std::string hint(std::string_view word) {
  return fmt::format("did you mean '{}'?", nearest_opcode(word));
}

// Words that are wrong, not forms.
bool is_misspelt(const Verdict& problem) {
  return problem.fault == Fault::Tcgen05Unknown || problem.fault == Fault::QualifierUnknown ||
         problem.fault == Fault::Tcgen05QualifierMissing || problem.fault == Fault::QualifierOrder;
}

[[noreturn]] void throw_fault(Fault fault, const std::string& rest) {
  if (info(fault).kind == FaultKind::Unmodelled)
    throw UnmodelledError(fmt::format("not modelled: {}{}", info(fault).sentence, rest));
  throw FaultError(fault, rest);
}

Tcgen05Form parse_opcode(std::string_view word) {
  const std::vector<std::string_view> words = split_opcode(word);
  if (!same_word(words[0], prefix))
    throw UsageError(
        fmt::format("unknown mnemonic {}: expected a PTX opcode such as "
                    "tcgen05.mma.cta_group::1.kind::f16; {}",
                    quoted(word), hint(word)));
  const Tcgen05Reading reading = read_form(std::span(words).subspan(1), Spelling::Mnemonic);
  for (const Verdict& verdict : {reading.problem, reading.order}) {
    if (is_legal(verdict)) continue;
    if (is_misspelt(verdict))
      throw UsageError(fmt::format("unknown mnemonic {}: {}; {}", quoted(word),
                                   sentence_of(verdict), hint(word)));
    throw_fault(verdict.fault, fmt::format("; {}: {}", quoted(word), hint(word)));
  }
  return *reading.form;
}

// ---- Keys ---------------------------------------------------------------------------------------

Type parse_type_key(const Keys& keys, std::string_view key, Type fallback) {
  if (!keys.has(key)) return fallback;
  const std::string text = lowered(keys.text(key, ""));
  std::vector<std::string_view> known;
  for (int i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    if (text == name(type)) return type;
    known.push_back(name(type));
  }
  throw_unknown(fmt::format("element type in {}=", key), keys.text(key, ""), known);
}

InstructionDescriptor default_descriptor(const MmaOpcode& op) {
  InstructionDescriptor d;
  switch (op.kind) {
    case Kind::f16: d.a = d.b = Type::f16; break;
    case Kind::tf32: d.a = d.b = Type::tf32; break;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4: d.a = d.b = Type::e4m3; break;
    case Kind::i8: d.a = d.b = Type::s8; break;
    case Kind::mxf4:
    case Kind::mxf4nvf4: d.a = d.b = Type::e2m1; break;
  }
  d.d = op.kind == Kind::i8 ? Type::s32 : Type::f32;
  d.m = 128 * op.cta_group;
  d.n = 128;
  d.sparse = op.sparse;
  if (!scale_type_exists(op, d.scale_type)) d.scale_type = ScaleType::ue4m3;
  return d;
}

int number(const Keys& keys, std::string_view key, int high, int fallback) {
  return static_cast<int>(keys.number_or(key, 0, static_cast<std::uint64_t>(high),
                                         static_cast<std::uint64_t>(fallback)));
}

bool flag(const Keys& keys, std::string_view key, bool fallback = false) {
  return number(keys, key, 1, fallback ? 1 : 0) == 1;
}

Major major_key(const Keys& keys, std::string_view key) {
  return keys.choice(key, {"K", "MN"}, 0) == 1 ? Major::MN : Major::K;
}

// Any number is understood, whether the chip has it or not: check() says that.
constexpr int any_number = 4096;

InstructionDescriptor parse_descriptor(const MmaOpcode& op, const Keys& keys) {
  InstructionDescriptor d = default_descriptor(op);
  d.a = parse_type_key(keys, "type_a", d.a);
  d.b = parse_type_key(keys, "type_b", d.b);
  d.d = parse_type_key(keys, "type_d", parse_type_key(keys, "d", d.d));
  d.m = number(keys, "m", any_number, d.m);
  d.n = number(keys, "n", any_number, d.n);
  d.major_a = major_key(keys, "major_a");
  d.major_b = major_key(keys, "major_b");
  d.negate_a = flag(keys, "negate_a");
  d.negate_b = flag(keys, "negate_b");
  d.sparse = flag(keys, "sparse", op.sparse);
  d.selector = number(keys, "selector", any_number, 0);
  d.saturate = flag(keys, "saturate");
  d.max_shift_b = number(keys, "max_shift_b", any_number, 0);
  d.scale_type = static_cast<ScaleType>(
      keys.choice("scale_type", {"ue4m3", "ue8m0"}, static_cast<int>(d.scale_type)));
  d.scale_a_id = number(keys, "scale_a_id", any_number, 0);
  d.scale_b_id = number(keys, "scale_b_id", any_number, 0);
  d.k96 = flag(keys, "k96") || number(keys, "k", any_number, 0) == 96;
  return d;
}

void check_k(const MmaForm& form, const InstructionDescriptor& d, const Keys& keys) {
  const int expected = k(form.opcode, d);
  if (keys.has("k") && number(keys, "k", any_number, 0) != expected)
    throw UsageError(
        fmt::format("k={}: K of this instruction is {}", keys.text("k", ""), expected));
}

void parse_mma_keys(Tcgen05Instruction& instruction, const Keys& keys) {
  MmaForm& form = std::get<MmaForm>(instruction.form);
  const int place = keys.choice("a", {"smem", "tmem"}, form.opcode.ashift ? 1 : 0);
  form.opcode.a_place = static_cast<Place>(place);
  form.disable_output_lane = flag(keys, "disable_output_lane");
  form.scale_input_d = flag(keys, "scale_input_d");
  form.zero_column_mask = flag(keys, "zero_column_mask");
  instruction.idesc = parse_descriptor(form.opcode, keys);
  instruction.accumulate = flag(keys, "accumulate", true);
  check_k(form, instruction.idesc, keys);
}

void refuse_keys(const Keys& keys, std::string_view instruction, std::string_view allowed) {
  for (const std::string_view key : tcgen05_keys)
    if (keys.has(key) && key != allowed)
      throw UsageError(fmt::format("{}= does not apply to tcgen05.{}", key, instruction));
}

void refuse_half_split(const Keys& keys) {
  if (keys.has("half_split")) throw UsageError("half_split= is for .16x32bx2 of ld and st only");
}

void parse_other_keys(Tcgen05Instruction& instruction, const Keys& keys, bool split) {
  refuse_keys(keys, instruction_name(instruction.form), split ? "half_split" : "");
  instruction.half_split = number(keys, "half_split", any_number, 0);
}

struct HasHalfSplit {
  bool operator()(const LdForm& f) const { return has_half_split(f.shape); }
  bool operator()(const StForm& f) const { return has_half_split(f.shape); }
  bool operator()(const LdRedForm& f) const { return has_half_split(f.shape); }
  template <class Form>
  bool operator()(const Form&) const {
    return false;
  }
};

// ---- Spelling -----------------------------------------------------------------------------------

void add_key(std::string& text, std::string_view key, std::string_view value, bool given = true) {
  if (given) text += fmt::format(" {}={}", key, value);
}

void add_flag(std::string& text, std::string_view key, bool value) {
  add_key(text, key, "1", value);
}

void add_number(std::string& text, std::string_view key, int value) {
  add_key(text, key, std::to_string(value), value != 0);
}

std::string mma_text(const Tcgen05Instruction& instruction) {
  const MmaForm& form = std::get<MmaForm>(instruction.form);
  const InstructionDescriptor& d = instruction.idesc;
  std::string text = short_opcode(form);
  add_key(text, "m", std::to_string(d.m));
  add_key(text, "n", std::to_string(d.n));
  add_flag(text, "k96", d.k96);
  add_key(text, "type_a", name(d.a));
  add_key(text, "type_b", name(d.b));
  add_key(text, "type_d", name(d.d));
  add_key(text, "a", "tmem", form.opcode.a_place == Place::Tmem);
  add_key(text, "major_a", "MN", d.major_a == Major::MN);
  add_key(text, "major_b", "MN", d.major_b == Major::MN);
  add_key(text, "accumulate", "0", !instruction.accumulate);
  add_flag(text, "negate_a", d.negate_a);
  add_flag(text, "negate_b", d.negate_b);
  add_number(text, "selector", d.selector);
  add_flag(text, "saturate", d.saturate);
  add_number(text, "max_shift_b", d.max_shift_b);
  add_key(text, "scale_type", name(d.scale_type), is_block_scaled(form.opcode.kind));
  add_number(text, "scale_a_id", d.scale_a_id);
  add_number(text, "scale_b_id", d.scale_b_id);
  add_flag(text, "disable_output_lane", form.disable_output_lane);
  add_flag(text, "scale_input_d", form.scale_input_d);
  add_flag(text, "zero_column_mask", form.zero_column_mask);
  return text;
}

}  // namespace

bool is_tcgen05(std::string_view mnemonic) {
  return same_word(mnemonic.substr(0, prefix.size()), prefix);
}

Tcgen05Instruction parse_tcgen05(std::string_view mnemonic, const Keys& keys) {
  Tcgen05Instruction instruction{parse_opcode(mnemonic)};
  if (std::holds_alternative<MmaForm>(instruction.form)) {
    refuse_half_split(keys);
    parse_mma_keys(instruction, keys);
  } else {
    parse_other_keys(instruction, keys, std::visit(HasHalfSplit{}, instruction.form));
  }
  if (const Fault fault = check_instruction(instruction); fault != Fault::None)
    throw_fault(fault, fmt::format("; {}", quoted(mnemonic)));
  return instruction;
}

std::string mnemonic_with_keys(const Tcgen05Instruction& instruction) {
  if (std::holds_alternative<MmaForm>(instruction.form)) return mma_text(instruction);
  std::string text = short_opcode(instruction.form);
  add_number(text, "half_split", instruction.half_split);
  return text;
}

Fault check_instruction(const Tcgen05Instruction& instruction) {
  const Fault fault = check_form(instruction.form);
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  return fault != Fault::None || mma == nullptr ? fault : check(mma->opcode, instruction.idesc);
}

Fault check_instruction(const Tcgen05Instruction& instruction, Target target) {
  const Fault fault = check_form(instruction.form, target);
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  return fault != Fault::None || mma == nullptr ? fault
                                                : check(mma->opcode, instruction.idesc, target);
}

Target tcgen05_target_of(const Question& question) {
  return question.options.arch.empty() ? Target::sm_100a : parse_target(question.options.arch);
}

Tcgen05Instruction tcgen05_instruction_of(const Question& question, const Keys& keys) {
  const Tcgen05Instruction instruction = parse_tcgen05(
      word_at(question, 0, "a mnemonic such as tcgen05.mma.cta_group::1.kind::f16"), keys);
  if (question.options.arch.empty()) return instruction;
  const Fault fault = check_instruction(instruction, tcgen05_target_of(question));
  if (fault != Fault::None) throw_fault(fault, "");
  return instruction;
}

}  // namespace tcq::oracle
