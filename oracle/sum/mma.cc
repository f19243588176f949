// The verb mma: data lines `a b c` -> the bits of D, through sim/num/dot.h.
//
// a and b are the K elements of one row of A and one column of B, comma separated, each in
// fixed-width hex (8-bit 2 digits, 16-bit 4, tf32 8); b1 rows are one hex number of one digit per
// four bits, bit 0 = k 0. c and the answer are fixed-width hex. Sparse: a holds the stored
// elements, b all of logical K, and a fourth word the metadata codes, one hex digit per chunk,
// chunk 0 first. Rows may be shorter or longer than K and hold decimals (data_row.h); --explain tells the
// sum term by term (sum_story.h). Lines of tcgen05.mma are tcgen05_mma.h's, those of instructions on registers
// scalar_line.h's. Words of the question that are numbers are a line of their own, which is answered at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "oracle/answer/data_line.h"
#include "oracle/answer/verbs.h"
#include "oracle/map/metadata.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/sum/data_row.h"
#include "oracle/sum/element_text.h"
#include "oracle/sum/scalar_line.h"
#include "oracle/sum/tcgen05_mma.h"
#include "sim/isa/wgmma/place.h"
#include "sim/num/dot.h"

namespace tcq::oracle {
namespace {

using wgmma::Form;

constexpr int bits_per_digit = 4;
constexpr std::array<std::string_view, 4> mma_keys = {"accumulate", "negate_a", "negate_b",
                                                      numbers_key};

// "3f800000", "1.0,-2", "inf": of a data line, and no key.
bool is_data(std::string_view word) {
  return word.find('=') == word.npos &&
         (looks_decimal(word) || word.find_first_not_of("0123456789abcdefABCDEFx,") == word.npos);
}

Keys keys_of(const Question& question) {
  const std::span<const std::string_view> words = words_from(question, 1);
  if (is_scalar(question.words[0])) return Keys(words, {}, {numbers_key});
  if (is_tcgen05(question.words[0])) return Keys(words, tcgen05_keys, {numbers_key});
  refuse_unrecorded(question.words[0]);
  return Keys(words, mma_keys);
}

Target scalar_target(const Question& question) {
  return question.options.arch.empty() ? Target::sm_90a : parse_target(question.options.arch);
}

LineStyle style_of(const Question& question, const Keys& keys) {
  return {question.options.style, reads_decimals(keys), question.options.explain};
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
                                         std::string_view what, bool decimals) {
  return type == Type::b1 ? parse_bit_row(word, count, what) : read_row(word, type, what, decimals);
}

// What the stored elements of A meet, for every code: the chip gives undefined codes a meaning,
// too.
std::vector<std::uint32_t> select(const Form& form, const std::uint32_t* b,
                                  const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint32_t> met;
  for (int col = 0; col < wgmma::stored_k(form.a); ++col) {
    const int chunk = wgmma::stored_chunk(form.a, col);
    met.push_back(wgmma::selected_b(form.a, chunk, codes[static_cast<std::size_t>(chunk)],
                                    wgmma::stored_index(form.a, col), b));
  }
  return met;
}

// The rows of a line, each as long as its instructions read.
struct Rows {
  std::size_t instructions;
  std::vector<std::uint32_t> a, b;
  std::uint32_t c;
  std::string_view codes;
};

Rows read_rows(const Form& form, std::string_view line, bool decimals) {
  const std::vector<std::string_view> words = split_data_line(
      line, form.sparse ? 4 : 3, form.sparse ? "'a b c codes'" : "'a b c'", form.sparse ? 4 : 2);
  const int stored = wgmma::stored_k(form.a);
  Rows rows{1,
            parse_operand(words[0], form.a, stored, "a", decimals),
            parse_operand(words[1], form.b, k(form), "b", decimals),
            0,
            {}};
  if (words.size() > 2) rows.c = read_element(words[2], form.d, "c", decimals);
  if (form.sparse) rows.codes = words[3];
  rows.instructions =
      std::max(instructions_for(rows.a.size(), stored), instructions_for(rows.b.size(), k(form)));
  fill(rows.a, rows.instructions, stored);
  fill(rows.b, rows.instructions, k(form));
  return rows;
}

// Codes of one instruction of several; of one the word must fit.
std::string_view codes_of(const Form& form, const Rows& rows, std::size_t instruction) {
  if (rows.instructions == 1) return rows.codes;
  const auto chunks = static_cast<std::size_t>(wgmma::chunks_per_row(form.a));
  if (rows.codes.size() != rows.instructions * chunks)
    throw UsageError(fmt::format("{} has {} digits: the codes of {} instructions are {}",
                                 quoted(rows.codes), rows.codes.size(), rows.instructions,
                                 rows.instructions * chunks));
  return rows.codes.substr(instruction * chunks, chunks);
}

}  // namespace

Answer mma_line(const Question& question, std::string_view line) {
  word_at(question, 0, mnemonic_expected);
  const Keys keys = keys_of(question);
  const LineStyle style = style_of(question, keys);
  if (is_scalar(question.words[0]))
    return scalar_line(question.words[0], line, style, scalar_target(question));
  if (is_tcgen05(question.words[0]))
    return tcgen05_mma_line(dot_form_of(question, keys), line, style);
  const Instruction instruction = instruction_of(question, keys);
  const Form& form = instruction.form;
  const Rows rows = read_rows(form, line, style.decimals);
  const int stored = wgmma::stored_k(form.a);
  const DotTypes types = {form.d, form.a, form.b};
  DotOptions options = {instruction.accumulate, form.negate_a, form.negate_b, form.satfinite};
  std::uint32_t d = rows.c;
  std::vector<SumStory> stories;
  for (std::size_t i = 0; i < rows.instructions; ++i) {
    const std::uint32_t* a = rows.a.data() + i * static_cast<std::size_t>(stored);
    const std::uint32_t* b = rows.b.data() + i * static_cast<std::size_t>(k(form));
    std::vector<std::uint32_t> met;
    if (form.sparse) {
      met = select(form, b, parse_codes(codes_of(form, rows, i), form.a));
      b = met.data();
    }
    if (style.explain) stories.push_back(sum_story(types, a, b, stored, d, options));
    d = dot(types, a, b, stored, d, options);
    options.accumulate = true;
  }
  return mma_answer(form.d, d, stories, style, {});
}

Answer mma_words(const Question& question) {
  word_at(question, 0, mnemonic_expected);
  Question without = question;
  std::string line;
  std::erase_if(without.words, [&](std::string_view word) {
    if (word.data() == question.words[0].data() || !is_data(word)) return false;
    line += fmt::format("{}{}", line.empty() ? "" : " ", word);
    return true;
  });
  const std::string evidence = check_line_words(without);
  if (line.empty()) return {Status::Yes, "", evidence};
  Answer answer = mma_line(without, line);
  answer.complaint = evidence;
  return answer;
}

std::string check_line_words(const Question& question) {
  if (question.verb == "mma") {
    word_at(question, 0, mnemonic_expected);
    const Keys keys = keys_of(question);
    reads_decimals(keys);
    if (is_scalar(question.words[0]))
      return scalar_evidence(question.words[0], scalar_target(question));
    if (is_tcgen05(question.words[0])) return tcgen05_mma_evidence(dot_form_of(question, keys));
    instruction_of(question, keys);
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
