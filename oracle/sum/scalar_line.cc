// Data lines of instructions on registers; see scalar_line.h.
#include "oracle/sum/scalar_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/answer/data_line.h"
#include "oracle/answer/value.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/remembered.h"
#include "oracle/sum/data_row.h"
#include "oracle/sum/element_text.h"
#include "sim/alu/forms.h"
#include "sim/ptx/form.h"
#include "sim/ptx/video.h"

namespace tcq::oracle {
namespace {

using alu::ScalarForm;
using Word = std::uint64_t;

constexpr std::size_t warp_size = 32, most_operands = 8;

// ---- types --------------------------------------------------------------------------------------

// The elements of a register: how many, and of which type; none where the word alone is told.
struct Elements {
  std::optional<Type> type;
  int count = 1;
};

Elements elements_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::F16: return {Type::f16};
    case ptx::Type::F16x2: return {Type::f16, 2};
    case ptx::Type::BF16: return {Type::bf16};
    case ptx::Type::BF16x2: return {Type::bf16, 2};
    case ptx::Type::F32: return {Type::f32};
    case ptx::Type::TF32: return {Type::tf32};
    case ptx::Type::E4M3x2: return {Type::e4m3, 2};
    case ptx::Type::E5M2x2: return {Type::e5m2, 2};
    default: return {};
  }
}

bool is_signed(ptx::Type type) {
  return type == ptx::Type::S8 || type == ptx::Type::S16 || type == ptx::Type::S32 ||
         type == ptx::Type::S64;
}

// Registers have 16 bits at least, a predicate is one digit.
int digits_of(ptx::Type type) {
  const int bits = ptx::bits(type);
  return type == ptx::Type::Pred ? 1 : std::max(bits, 16) / 4;
}

int bits_of_register(ptx::Type type) {
  return type == ptx::Type::Pred ? 1 : std::max(ptx::bits(type), 16);
}

Word low_bits(Word word, int bits) { return bits >= 64 ? word : word & ((Word{1} << bits) - 1); }

// ---- sources ------------------------------------------------------------------------------------

// A number that is no element: an integer, or an f64.
Word read_number(std::string_view word, ptx::Type type, std::string_view what) {
  if (type == ptx::Type::F64) {
    double value = 0;
    const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size())
      return std::bit_cast<Word>(value);
    throw UsageError(fmt::format("{} is no number: {} needs a decimal", quoted(word), what));
  }
  const bool negative = word.starts_with('-');
  const std::string_view digits = word.substr(negative || word.starts_with('+') ? 1 : 0);
  Word size = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const int bits = bits_of_register(type);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() ||
      size != low_bits(size, bits))
    throw UsageError(fmt::format("{} is no integer of {} bits: {}", quoted(word), bits, what));
  return low_bits(negative ? ~size + 1 : size, bits);
}

Word read_hex(std::string_view word, ptx::Type type, std::string_view what) {
  const std::string_view digits = word.substr(word.starts_with("0x") ? 2 : 0);
  const int expected = digits_of(type);
  Word value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != static_cast<std::size_t>(expected) || read.ec != std::errc() ||
      read.ptr != digits.data() + digits.size())
    throw UsageError(fmt::format(
        "{} is no {} of {} hex digits: {} needs them, or a decimal with a point or a sign, or "
        "numbers=decimal",
        quoted(word), ptx::name(type), expected, what));
  if (type == ptx::Type::Pred && value > 1)
    throw UsageError(fmt::format("{} is no predicate: {} is 0 or 1", quoted(word), what));
  return value;
}

// Two elements with a comma, or one for both.
Word read_packed(std::string_view word, const Elements& of, std::string_view what, bool decimals) {
  const std::size_t comma = word.find(',');
  const Word low = read_element(word.substr(0, comma), *of.type, what, decimals);
  const Word high =
      comma == word.npos ? low : read_element(word.substr(comma + 1), *of.type, what, decimals);
  return low | high << bits(*of.type);
}

Word read_source(std::string_view word, ptx::Type type, std::string_view what, bool decimals) {
  const Elements of = elements_of(type);
  const bool is_decimal = decimals || looks_decimal(word);
  if (of.count == 2 && (is_decimal || word.find(',') != word.npos))
    return read_packed(word, of, what, decimals);
  if (!is_decimal || type == ptx::Type::Pred) return read_hex(word, type, what);
  return of.type ? parse_decimal(word, *of.type, what) : read_number(word, type, what);
}

std::string layout_of(const ScalarForm& s) {
  std::string names;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : " ", static_cast<char>('a' + i));
  if (s.immediate) names += " table";
  return fmt::format("'{}{}'", names, s.reads_carry ? " carry" : "");
}

// ---- one lane -----------------------------------------------------------------------------------

// The cells of an operand (sim/alu/alu.h), of which lane 0 counts.
struct Cell {
  alignas(16) std::array<Word, 2 * warp_size> words = {};

  void put(Word word) { words[0] = word; }
  Word get(ptx::Type type) const { return low_bits(words[0], bits_of_register(type)); }
};

struct Results {
  std::vector<Word> words;
  std::uint32_t carry = 0;
};

// A borrow is told as such; the condition code of a carry is its opposite.
bool has_carry(const ScalarForm& s, Word told) {
  return (told % 2 != 0) == (s.chain == alu::Chain::Carry);
}

Results computed(const ScalarForm& s, const std::vector<Word>& sources, Word carry_told) {
  std::array<Cell, most_operands> in, out;
  std::array<const void*, most_operands> from = {};
  std::array<void*, most_operands> to = {};
  for (std::size_t i = 0; i < most_operands; ++i) {
    if (i < sources.size()) in[i].put(sources[i]);
    from[i] = in[i].words.data();
    to[i] = out[i].words.data();
  }
  Results results;
  results.carry = s.reads_carry && has_carry(s, carry_told) ? 1 : 0;
  alu::operation(s.form).evaluate({to.data(), from.data(), 1, &results.carry,
                                   static_cast<int>(s.out.size()),
                                   static_cast<int>(sources.size())});
  for (std::size_t i = 0; i < s.out.size(); ++i) results.words.push_back(out[i].get(s.out[i]));
  return results;
}

// ---- answers ------------------------------------------------------------------------------------

std::string number_text(ptx::Type type, Word word) {
  const int bits = bits_of_register(type);
  if (type == ptx::Type::F64) {
    const double value = std::bit_cast<double>(word);
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
  }
  if (!is_signed(type)) return fmt::format("{}", word);
  const Word sign = Word{1} << (bits - 1);
  return fmt::format("{}", static_cast<std::int64_t>((word ^ sign) - sign));
}

std::vector<std::string> decimals_of(ptx::Type type, Word word) {
  const Elements of = elements_of(type);
  if (!of.type) return {number_text(type, word)};
  std::vector<std::string> texts;
  const int width = bits(*of.type);
  for (int i = 0; i < of.count; ++i)
    texts.push_back(
        decimal_text(*of.type, static_cast<std::uint32_t>(low_bits(word >> (i * width), width))));
  return texts;
}

std::string hex_of(ptx::Type type, Word word) {
  return fmt::format("{:0{}x}", word, digits_of(type));
}

// The row says how wide the sum of dp4a and dp2a is: it has a sign where a source has one (PTX ISA 9.2, 9.7.1 "dp4a", "dp2a").
ptx::Type result_type(const ScalarForm& s, std::size_t i) {
  const bool is_dot = s.form.opcode == ptx::Opcode::Dp4a || s.form.opcode == ptx::Opcode::Dp2a;
  const bool has_sign = is_signed(s.form.types[0]) || is_signed(s.form.types[1]);
  if (!is_dot) return s.out[i];
  return has_sign ? ptx::Type::S32 : ptx::Type::U32;
}

std::string result_text(ptx::Type type, Word word) {
  if (type == ptx::Type::Pred) return word != 0 ? "true" : "false";
  const std::vector<std::string> texts = decimals_of(type, word);
  if (texts.size() == 1) return fmt::format("{} = {}", hex_of(type, word), texts[0]);
  return fmt::format("{} = {} low, {} high", hex_of(type, word), texts[0], texts[1]);
}

Value result_value(ptx::Type type, Word word) {
  return Value::Members{{"d", hex_of(type, word)},
                        {"type", ptx::name(type)},
                        {"decimals", list_of(decimals_of(type, word))}};
}

// In small letters where it has none of its own (.NaN).
std::string spelled(std::string_view opcode) {
  const std::string small = lowered(opcode);
  return ptx::read_form(small).opcode == ptx::Opcode::Unknown ? std::string(opcode) : small;
}

std::optional<ScalarForm> read(std::string_view opcode, std::string_view table = "") {
  std::string spelling = spelled(opcode);
  if (!table.empty()) spelling += fmt::format(" {}", table);
  return alu::read_scalar_form(spelling);
}

// The table of lop3 is its last word.
bool has_table(std::string_view opcode) {
  return ptx::read_form(lowered(opcode)).opcode == ptx::Opcode::Lop3;
}

std::string table_of(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (last == line.npos) return "";
  const std::string_view word = line.substr(0, last + 1);
  const std::size_t blank = word.find_last_of(" \t");
  const std::string_view number = word.substr(blank == word.npos ? 0 : blank + 1);
  const std::uint64_t table = parse_number(number, "the table of lop3");
  if (table > 255)
    throw UsageError(fmt::format("{} is no table of lop3: expected 0 to 255", quoted(number)));
  return fmt::format("{}", table);
}

ScalarForm form_for(std::string_view opcode, std::string_view line) {
  if (!has_table(opcode)) return *read(opcode);
  if (const auto form = read(opcode, table_of(line))) return *form;
  throw UsageError(fmt::format("{} cannot be read with its table", quoted(opcode)));
}

bool asks_the_warp(const ptx::Form& form) {
  switch (form.opcode) {
    case ptx::Opcode::Shfl:
    case ptx::Opcode::ShflSync:
    case ptx::Opcode::Vote:
    case ptx::Opcode::VoteSync:
    case ptx::Opcode::MatchSync:
    case ptx::Opcode::ReduxSync:
    case ptx::Opcode::Activemask:
    case ptx::Opcode::ElectSync: return true;
    default: return alu::is_of_all_lanes(form);
  }
}

bool is_approximate(std::string_view opcode) {
  return ptx::read_form(spelled(opcode)).has(ptx::Slot::Precision);
}

// Of the same instruction.
std::string nearest_form(std::string_view opcode) {
  const std::string_view name = opcode.substr(0, opcode.find('.'));
  std::vector<std::string_view> forms;
  for (const std::string_view form : alu::scalar_forms())
    if (form.find(' ') == form.npos && same_word(form.substr(0, form.find('.')), name))
      forms.push_back(form);
  const std::string_view found = nearest(opcode, forms);
  return found.empty() ? "" : fmt::format("; did you mean {}?", quoted(found));
}

std::string recording_of(std::string_view opcode) {
  if (is_approximate(opcode))
    return "the chip's approximation, an H200's answers in tests/vectors/scalar_approx.tcqv";
  const std::string recorded = "an H100's answers in tests/vectors/scalar.tcqv";
  if (!has_table(opcode)) return recorded;
  const std::string begin = ptx::print(ptx::read_form(spelled(opcode))) + " ";
  const auto tables = std::ranges::count_if(
      alu::scalar_forms(), [&](const std::string& form) { return form.starts_with(begin); });
  return recorded + fmt::format(", with {} of the 256 tables", tables);
}

bool is_hopper(Target target) { return target == Target::sm_90 || target == Target::sm_90a; }

std::string of_another_chip(Target target) {
  return fmt::format("on {} as an sm_90 does: its chip was not asked", name(target));
}

Value::Members evidence_of(std::string_view opcode, Target target) {
  std::vector<std::string> reasons = {remembered<recording_of>(opcode)};
  if (!is_hopper(target)) reasons.push_back(of_another_chip(target));
  return {{"evidence", is_hopper(target) ? "measured" : "inferred"}, {"reasons", list_of(reasons)}};
}

bool is_listed(std::string_view opcode) {
  const auto form = read(opcode, has_table(opcode) ? "0" : "");
  return form && !asks_the_warp(form->form) && alu::is_scalar_form(form->form) &&
         std::none_of(form->in.begin(), form->in.end(),
                      [](ptx::Type type) { return ptx::bits(type) > 64; });
}

}  // namespace

bool is_scalar(std::string_view opcode) { return remembered<is_listed>(opcode); }

void refuse_unrecorded(std::string_view opcode) {
  const ptx::Form form = ptx::read_form(spelled(opcode));
  const bool is_of_matrices = ptx::Opcode::Mma <= form.opcode;  // whose refusals say more
  if (form.opcode == ptx::Opcode::Unknown || is_of_matrices || is_scalar(opcode)) return;
  if (asks_the_warp(form))
    throw UnmodelledError(fmt::format(
        "{} asks other lanes: tcq mma computes what a lane computes alone, tcq run executes it",
        quoted(opcode)));
  if (alu::is_scalar_form(form))
    throw UnmodelledError(fmt::format(
        "{} has registers of 128 bits: tcq mma reads those of up to 64", quoted(opcode)));
  if (ptx::is_video(form.opcode) || alu::operation(form).evaluate != nullptr)
    throw UnmodelledError(
        fmt::format("{} is no form that tcq mma answers: no chip of sm_90a was asked for it{}",
                    quoted(opcode), nearest_form(opcode)));
  throw UnmodelledError(fmt::format(
      "{} is nothing that tcq mma computes: expected wgmma.mma_async, tcgen05.mma or an "
      "instruction on a lane's registers",
      quoted(opcode)));
}

Answer scalar_line(std::string_view opcode, std::string_view line, LineStyle style, Target target) {
  const ScalarForm s = form_for(opcode, line);
  const std::size_t count = s.in.size() + (s.immediate ? 1 : 0) + (s.reads_carry ? 1 : 0);
  const std::vector<std::string_view> words = split_data_line(line, count, layout_of(s), count);
  std::vector<Word> sources;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    sources.push_back(read_source(
        words[i], s.in[i], fmt::format("source {}", static_cast<char>('a' + i)), style.decimals));
  if (s.immediate) sources.insert(sources.begin() + 3, *s.immediate);
  const Word told = s.reads_carry ? read_hex(words.back(), ptx::Type::Pred, "the carry") : 0;
  const Results results = computed(s, sources, told);
  const bool carries = s.sets_carry;
  const bool carry = carries && has_carry(s, results.carry & 1);
  if (style.style == Style::Json) {
    Value::List all;
    for (std::size_t i = 0; i < s.out.size(); ++i)
      all.push_back(result_value(result_type(s, i), results.words[i]));
    Value::Members members = {{"instruction", opcode}, {"results", all}};
    if (carries) members.push_back({"carry", carry});
    for (Value::Member& member : evidence_of(opcode, target)) members.push_back(std::move(member));
    return {Status::Yes, json_text(members), ""};
  }
  std::string text;
  for (std::size_t i = 0; i < s.out.size(); ++i)
    text += (i == 0 ? "" : ", ") + result_text(result_type(s, i), results.words[i]);
  if (carries) text += fmt::format(", carry {}", carry ? 1 : 0);
  return {Status::Yes, text, ""};
}

std::string scalar_evidence(std::string_view opcode, Target target) {
  const std::string text = fmt::format("evidence: measured: {}", recording_of(opcode));
  if (is_hopper(target)) return text;
  return text + fmt::format("\nevidence: inferred: {}", of_another_chip(target));
}

}  // namespace tcq::oracle
