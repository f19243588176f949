// The verb mma: data lines `a b c` -> the bits of D, through sim/num/dot.h.
//
// a and b are the K elements of one row of A and one column of B, comma separated, each in
// fixed-width hex (8-bit 2 digits, 16-bit 4, tf32 8); b1 rows are one hex number of one digit per
// four bits, bit 0 = k 0. c and the answer are fixed-width hex. Sparse: a holds the stored
// elements, b all of logical K, and a fourth word the metadata codes, one hex digit per chunk,
// chunk 0 first. Lines of tcgen05.mma are tcgen05_mma.h's.
#include <fmt/format.h>

#include <array>

#include "oracle/answer/data_line.h"
#include "oracle/answer/value.h"
#include "oracle/answer/verbs.h"
#include "oracle/map/metadata.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/tcgen05_evidence.h"
#include "oracle/sum/tcgen05_mma.h"
#include "sim/isa/wgmma/place.h"
#include "sim/num/dot.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;

constexpr int bits_per_digit = 4;
constexpr std::string_view mnemonic_expected = "a mnemonic such as wgmma.m64n24k16.f32.bf16.bf16";
constexpr std::array<std::string_view, 3> mma_keys = {"accumulate", "negate_a", "negate_b"};

Instruction mma_instruction(const Question& question) {
  return instruction_of(question, Keys(words_from(question, 1), mma_keys));
}

std::vector<std::uint32_t> parse_bit_row(std::string_view word, int count, std::string_view what) {
  const auto digits = static_cast<std::size_t>(count / bits_per_digit);
  if (word.size() != digits)
    throw UsageError(fmt::format("{} has {} characters: {} needs one hex number of {} digits",
                                 quoted(word), word.size(), what, digits));
  std::vector<std::uint32_t> elements;
  for (std::size_t i = digits; i-- > 0;) {
    std::uint32_t digit = parse_hex(word.substr(i, 1), 1, what);
    for (int bit = 0; bit < bits_per_digit; ++bit, digit /= 2) elements.push_back(digit % 2);
  }
  return elements;
}

std::vector<std::uint32_t> parse_operand(std::string_view word, Type type, int count,
                                         std::string_view what) {
  return type == Type::b1 ? parse_bit_row(word, count, what) : parse_row(word, type, count, what);
}

// What the stored elements of A meet, for every code: the chip gives undefined codes a meaning,
// too.
std::vector<std::uint32_t> select(const Form& form, const std::vector<std::uint32_t>& b,
                                  const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint32_t> met;
  for (int col = 0; col < wgmma::stored_k(form.a); ++col) {
    const int chunk = wgmma::stored_chunk(form.a, col);
    met.push_back(wgmma::selected_b(form.a, chunk, codes[static_cast<std::size_t>(chunk)],
                                    wgmma::stored_index(form.a, col), b.data()));
  }
  return met;
}

// What the numbers of a tcgen05.mma depend on; throws FaultError where nobody knows them.
tcgen05::DotForm tcgen05_form_of(const Question& question) {
  const Tcgen05Instruction instruction =
      tcgen05_instruction_of(question, Keys(words_from(question, 1), tcgen05_keys));
  const auto* mma = std::get_if<tcgen05::MmaForm>(&instruction.form);
  if (mma == nullptr)
    throw UsageError(fmt::format("tcgen05.{} sums nothing: expected tcgen05.mma",
                                 instruction_name(instruction.form)));
  const tcgen05::DotForm form = {mma->opcode, instruction.idesc, instruction.accumulate,
                                 instruction.scale_input_d};
  if (const Fault fault = check_modelled(form); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {}", sentence(tcgen05::Reason::K96)));
  return form;
}

}  // namespace

Answer mma_line(const Question& question, std::string_view line) {
  if (is_tcgen05(word_at(question, 0, mnemonic_expected)))
    return tcgen05_mma_line(tcgen05_form_of(question), line, question.options.style);
  const Instruction instruction = mma_instruction(question);
  const Form& form = instruction.form;
  const std::vector<std::string_view> words =
      split_data_line(line, form.sparse ? 4 : 3, form.sparse ? "'a b c codes'" : "'a b c'");
  const std::vector<std::uint32_t> a =
      parse_operand(words[0], form.a, wgmma::stored_k(form.a), "a");
  std::vector<std::uint32_t> b = parse_operand(words[1], form.b, k(form), "b");
  const std::uint32_t c = parse_hex(words[2], hex_digits(form.d), "c");
  if (form.sparse) b = select(form, b, parse_codes(words[3], form.a));
  const std::uint32_t d =
      dot({form.d, form.a, form.b}, a.data(), b.data(), static_cast<int>(a.size()), c,
          {instruction.accumulate, form.negate_a, form.negate_b, form.satfinite});
  const std::string text = fmt::format("{:0{}x}", d, hex_digits(form.d));
  const bool json = question.options.style == Style::Json;
  return {Status::Yes, json ? json_text(Value::Members{{"d", text}}) : text, ""};
}

std::string check_line_words(const Question& question) {
  if (question.verb == "mma") {
    if (is_tcgen05(word_at(question, 0, mnemonic_expected)))
      return tcgen05_mma_evidence(tcgen05_form_of(question));
    mma_instruction(question);
    return "";
  }
  target_of(question);
  if (!question.words.empty())
    throw UsageError(
        fmt::format("unexpected word {}: {} reads its lines from stdin, expected only "
                    "options after it",
                    quoted(question.words[0]), question.verb));
  return "";
}

}  // namespace tcq::oracle
