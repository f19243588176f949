// Parsing and spelling of tcgen05 mnemonics and the keys that complete them; see
// tcgen05_mnemonic.h.
#include "oracle/ptx/tcgen05_mnemonic.h"

#include <fmt/format.h>

#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/remembered.h"
#include "oracle/ptx/tcgen05_idesc_use.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr std::string_view prefix = "tcgen05";

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

Tcgen05Form parse_opcode(std::string_view word) {
  const std::vector<std::string_view> words = ptx::split_opcode(word);
  if (!same_word(words[0], prefix))
    throw UsageError(
        fmt::format("unknown mnemonic {}: expected a PTX opcode such as "
                    "tcgen05.mma.cta_group::1.kind::f16; {}",
                    quoted(word), hint(word)));
  const Tcgen05Reading reading = read_form(std::span(words).subspan(1), Spelling::Mnemonic);
  for (const Verdict& verdict : {reading.problem, reading.order}) {
    if (is_legal(verdict)) continue;
    if (is_misspelt(verdict))
      throw UsageError(fmt::format(
          "unknown mnemonic {}: {}{}; {}", quoted(word), sentence_of(verdict),
          verdict.fault == Fault::QualifierUnknown ? "; known are those of PTX ISA 9.2" : "",
          hint(word)));
    throw FaultError(verdict.fault, fmt::format("; {}: {}", quoted(word), hint(word)));
  }
  return *reading.form;
}

// ---- Keys ---------------------------------------------------------------------------------------

InstructionDescriptor default_descriptor(const MmaOpcode& op) {
  InstructionDescriptor d = default_types(op.kind);
  d.m = 128 * op.cta_group;
  d.n = 128;
  d.sparse = op.sparse;
  if (!scale_type_exists(op, d.scale_type)) d.scale_type = ScaleType::ue4m3;
  return d;
}

// immHalfSplitoff and K: any number that could be meant is understood, whether it exists or not.
constexpr int any_number = 4096;

int number(const Keys& keys, std::string_view key, int high, int fallback) {
  return static_cast<int>(keys.number_or(key, 0, static_cast<std::uint64_t>(high),
                                         static_cast<std::uint64_t>(fallback)));
}

// Scale factors of a kind that has none: whatever the keys say, it is not so.
void require_scales(const MmaOpcode& op, const Keys& keys) {
  if (is_block_scaled(op.kind)) return;
  if (keys.has(idesc::ScaleFormat::name))
    throw FaultError(
        Fault::ScaleTypeOfKind,
        fmt::format("; kind {} has no scale factors: expected no scale_type=", name(op.kind)));
  for (const std::string_view key : {idesc::ScaleAId::name, idesc::ScaleBId::name})
    if (keys.has(key))
      throw FaultError(
          Fault::ScaleId,
          fmt::format("; kind {} has no scale factors: expected no {}=", name(op.kind), key));
}

InstructionDescriptor parse_descriptor(const MmaOpcode& op, const Keys& keys) {
  require_scales(op, keys);
  if (keys.has("d") && keys.has(idesc::TypeD::name))
    throw UsageError("d= and type_d= are the same: expected one of them");
  InstructionDescriptor d = default_descriptor(op);
  d.d = keys.type("d", d.d);
  d = read_descriptor(keys, d);
  d.k96 = d.k96 || number(keys, "k", any_number, 0) == 96;
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
  form.disable_output_lane = keys.flag("disable_output_lane");
  instruction.scale_input_d = number(keys, "scale_input_d", max_scale_input_d, 0);
  form.scale_input_d = instruction.scale_input_d != 0;
  form.zero_column_mask = keys.flag("zero_column_mask");
  instruction.idesc = parse_descriptor(form.opcode, keys);
  instruction.accumulate = keys.flag("accumulate", true);
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

// What the instruction descriptor could say instead; "" if the opcode is at fault.
std::string nearest_to(const Tcgen05Instruction& instruction) {
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  if (mma == nullptr || check_form(instruction.form) != Fault::None) return "";
  return nearest_legal(instruction.idesc, [&](const InstructionDescriptor& d) {
    return check(mma->opcode, d) == Fault::None;
  });
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
  add_number(text, "scale_input_d", instruction.scale_input_d);
  add_flag(text, "zero_column_mask", form.zero_column_mask);
  return text;
}

}  // namespace

bool is_tcgen05(std::string_view mnemonic) {
  return same_word(mnemonic.substr(0, prefix.size()), prefix);
}

Tcgen05Instruction parse_tcgen05(std::string_view mnemonic, const Keys& keys) {
  Tcgen05Instruction instruction{remembered<parse_opcode>(mnemonic)};
  if (std::holds_alternative<MmaForm>(instruction.form)) {
    refuse_half_split(keys);
    parse_mma_keys(instruction, keys);
  } else {
    parse_other_keys(instruction, keys, std::visit(HasHalfSplit{}, instruction.form));
  }
  if (const Fault fault = check_instruction(instruction); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {}{}", quoted(mnemonic), nearest_to(instruction)));
  return instruction;
}

InstructionDescriptor default_types(Kind kind) {
  InstructionDescriptor d;
  switch (kind) {
    case Kind::f16: d.a = d.b = Type::f16; break;
    case Kind::tf32: d.a = d.b = Type::tf32; break;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4: d.a = d.b = Type::e4m3; break;
    case Kind::i8: d.a = d.b = Type::s8; break;
    case Kind::mxf4:
    case Kind::mxf4nvf4: d.a = d.b = Type::e2m1; break;
  }
  d.d = kind == Kind::i8 ? Type::s32 : Type::f32;
  return d;
}

InstructionDescriptor read_descriptor(const Keys& keys, InstructionDescriptor d) {
  d.m = keys.integer(idesc::M::name, d.m);
  d.n = keys.integer(idesc::N::name, d.n);
  d.d = keys.type(idesc::TypeD::name, d.d);
  d.a = keys.type(idesc::TypeA::name, d.a);
  d.b = keys.type(idesc::TypeB::name, d.b);
  d.major_a = keys.major(idesc::MajorA::name, d.major_a);
  d.major_b = keys.major(idesc::MajorB::name, d.major_b);
  d.negate_a = keys.flag(idesc::NegateA::name, d.negate_a);
  d.negate_b = keys.flag(idesc::NegateB::name, d.negate_b);
  d.sparse = keys.flag(idesc::Sparse::name, d.sparse);
  d.selector = keys.integer(idesc::Selector::name, d.selector);
  d.saturate = keys.flag(idesc::Saturate::name, d.saturate);
  d.max_shift_b = keys.integer(idesc::MaxShiftB::name, d.max_shift_b);
  d.scale_type = static_cast<ScaleType>(
      keys.choice(idesc::ScaleFormat::name, {name(ScaleType::ue4m3), name(ScaleType::ue8m0)},
                  static_cast<int>(d.scale_type)));
  d.scale_a_id = keys.integer(idesc::ScaleAId::name, d.scale_a_id);
  d.scale_b_id = keys.integer(idesc::ScaleBId::name, d.scale_b_id);
  d.k96 = keys.flag(idesc::K96::name, d.k96);
  return d;
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
  if (fault != Fault::None) throw FaultError(fault);
  return instruction;
}

}  // namespace tcq::oracle
