// `decode` and `encode`: matrix descriptors as words and as fields.
//
// Decides formats of questions and answers; fields are sim/isa/wgmma/descriptor.h, lints lint.h, words
// of tcgen05 tcgen05_words.cc. Example: decode wgmma.desc 0x4000004000010040 ends in
// "bits [62,64)  swizzle  1  128B".
#include <fmt/format.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/nearest_field.h"
#include "oracle/answer/ruler.h"
#include "oracle/answer/svg.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/descriptor/lint.h"
#include "oracle/descriptor/tcgen05_words.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;
using wgmma::MatrixDescriptorFormat;
using wgmma::Multiplicand;

// ---- Formats ------------------------------------------------------------------------------------

constexpr std::string_view wgmma_format = "wgmma.desc";
constexpr int wgmma_word_bits = 64;

// What CuTe and Mojo call the words, behind their namespaces.
struct CalledFormat {
  std::string_view name, format;
};
constexpr std::array<CalledFormat, 4> called = {{{"GmmaDescriptor", wgmma_format},
                                                 {"WGMMADescriptor", wgmma_format},
                                                 {"SmemDescriptor", "tcgen05.desc"},
                                                 {"MMASmemDescriptor", "tcgen05.desc"}}};

// The question with PTX's name of its format.
Question plain(Question question) {
  if (question.words.empty()) return question;
  const std::string_view word = question.words[0];
  const std::size_t colon = word.rfind(':');
  const std::string_view last = colon == word.npos ? word : word.substr(colon + 1);
  for (const CalledFormat& one : called)
    if (same_word(one.name, last)) question.words[0] = one.format;
  return question;
}

// True for a format of tcgen05, false for wgmma's; throws UsageError for other words.
bool is_tcgen05_word(std::string_view format) {
  if (same_word(format, wgmma_format)) return false;
  if (is_tcgen05_format(format)) return true;
  std::vector<std::string_view> known = {wgmma_format};
  known.insert(known.end(), tcgen05_formats().begin(), tcgen05_formats().end());
  throw_unknown("format", format, known);
}

// ---- decode -------------------------------------------------------------------------------------

DecodedWord decode_wgmma(std::uint64_t word, const DescriptorRemarks& remarks) {
  const auto value = [&](auto field) {
    using F = decltype(field);
    if constexpr (std::is_same_v<F, wgmma::SwizzleMode>)
      return std::string(name(wgmma::decode(word).swizzle));
    else
      return fmt::format("{}", F::decode(word));
  };
  return {std::string(wgmma_format),
          hex_word(word, wgmma_word_bits),
          field_lines(MatrixDescriptorFormat{}, word, value),
          rest_lines(MatrixDescriptorFormat{}, word, "ignored", "no effect"),
          "ignored",
          remarks};
}

// The instruction of mnemonic=, without its major-ness: asking for an impossible one is a lint's
// job.
wgmma::Form form_from(const Question& question, const Keys& keys) {
  std::vector<std::string_view> words;
  for (const std::string_view word : words_from(question, 1))
    if (word.starts_with("a=")) words.push_back(word);
  const Keys own(words, instruction_keys);
  return parse_instruction(keys.text("mnemonic", ""), own).form;
}

// The keys that say how an instruction uses the word, for decode and encode.
constexpr std::array<std::string_view, 9> use_keys = {"mnemonic", "matrix", "a", "major", "major_a",
                                                      "major_b",  "rows",   "k", "from"};

DescriptorUse use_from(const Question& question, const Keys& keys) {
  constexpr std::uint64_t longest = 16384;
  DescriptorUse use;
  use.operand = parse_multiplicand(keys.text("matrix", "A"));
  const char* major_key = use.operand == Multiplicand::A ? "major_a" : "major_b";
  if (keys.has("major") || keys.has(major_key))
    use.major = keys.major("major", keys.major(major_key));
  if (keys.has("from")) use.advanced_from = parse_number(keys.text("from", ""), "from=");
  const bool tile = keys.has("rows") || keys.has("k");
  if (!keys.has("mnemonic")) {
    if (tile || keys.has("matrix") || keys.has("from") || use.major)
      throw UsageError(
          "matrix=, major=, rows=, k= and from= say how an instruction uses the word: "
          "expected mnemonic= as well");
    return use;
  }
  use.form = form_from(question, keys);
  if (!use.major) use.major = Major::K;
  if (tile) {
    const Extent one = wgmma::operand_extent(*use.form, use.operand);
    use.tile = Extent{static_cast<std::uint32_t>(keys.number_or("rows", 1, longest, one.mn)),
                      static_cast<std::uint32_t>(keys.number_or("k", 1, longest, one.k))};
  }
  return use;
}

// Fields in place of the word: what makes one is another verb.
void refuse_fields(const Question& question) {
  if (question.words.size() < 2 || question.words[1].find('=') == std::string_view::npos) return;
  throw UsageError(fmt::format(
      "{} is a field and no word: expected a number such as 0x4000004000010040; 'tcq encode' makes "
      "the word of its fields",
      quoted(question.words[1])));
}

DecodedWord decoded_word(const Question& question) {
  refuse_fields(question);
  if (is_tcgen05_word(word_at(question, 0, "a format such as wgmma.desc")))
    return decode_tcgen05(question);
  const std::uint64_t word =
      parse_number(word_at(question, 1, "a 64-bit word such as 0x4000004000010040"), "word");
  const Keys keys(words_from(question, 2), use_keys);
  return decode_wgmma(word, remarks_on(word, use_from(question, keys)));
}

// ---- encode -------------------------------------------------------------------------------------

MatrixDescriptor descriptor_from(const Keys& keys) {
  MatrixDescriptor d;
  d.start_bytes = keys.either_number("start", StartAddress::name);
  d.lbo_bytes = keys.either_number("lbo", LeadingByteOffset::name);
  d.sbo_bytes = keys.either_number("sbo", StrideByteOffset::name);
  d.base_offset = static_cast<std::uint32_t>(keys.number_or(BaseOffset::name, 0, 0xffffffff, 0));
  const int swizzle = keys.choice(wgmma::SwizzleMode::name,
                                  {name(swizzles_by_width[0]), name(swizzles_by_width[1]),
                                   name(swizzles_by_width[2]), name(swizzles_by_width[3])},
                                  3);
  d.swizzle = swizzles_by_width[swizzle];
  return d;
}

std::string nearest_wgmma(MatrixDescriptor d) {
  Rounded rounded;
  rounded.to_field(StartAddress{}, d.start_bytes);
  rounded.to_field(LeadingByteOffset{}, d.lbo_bytes);
  rounded.to_field(StrideByteOffset{}, d.sbo_bytes);
  rounded.to_field(BaseOffset{}, d.base_offset);
  return rounded.words(check(d) == Fault::None);
}

EncodedWord encode_wgmma(const Question& question) {
  const Keys keys(words_from(question, 1), use_keys,
                  {"start", "lbo", "sbo", BaseOffset::name, wgmma::SwizzleMode::name,
                   StartAddress::name, LeadingByteOffset::name, StrideByteOffset::name});
  const MatrixDescriptor d = descriptor_from(keys);
  if (const Fault fault = check(d); fault != Fault::None) throw FaultError(fault, nearest_wgmma(d));
  const DescriptorUse use = use_from(question, keys);
  if (use.form && use.major == Major::MN &&
      !wgmma::has_major(wgmma::operand_type(*use.form, use.operand)))
    throw FaultError(Fault::MnMajorNeeds16Bit, "; nearest legal: major=K");
  const std::uint64_t word = wgmma::encode(d);
  return {hex_word(word, wgmma_word_bits), remarks_on(word, use).lints};
}

// So many digits were rather copied from a printed word without its 0x; more than 16 are none, nor has one a suffix.
std::string decimal_text(std::string_view word) {
  constexpr std::size_t digits_of_a_word = 8, most_digits = 16;
  const bool digits = word.find_first_not_of("0123456789") == word.npos;
  if (!digits || word.size() < digits_of_a_word || word.size() > most_digits) return "";
  return fmt::format("note: {} was read as a decimal number: write 0x{} if it is hexadecimal", word,
                     word);
}

}  // namespace

Answer decode(const Question& asked) {
  const Question question = plain(asked);
  const DecodedWord decoded = decoded_word(question);
  const Options& options = question.options;
  if (!options.svg_path.empty()) write_whole_file(options.svg_path, svg_text(drawing_of(decoded)));
  const bool json = options.style == Style::Json;
  return {Status::Yes, json ? json_text(value_of(decoded)) : decoded_text(decoded),
          decimal_text(question.words[1])};
}

Answer encode(const Question& asked) {
  const Question question = plain(asked);
  const std::string_view format = word_at(question, 0, "a format such as wgmma.desc");
  const EncodedWord encoded =
      is_tcgen05_word(format) ? encode_tcgen05(question) : encode_wgmma(question);
  if (question.options.style == Style::Json)
    return {Status::Yes, json_text(value_of(lowered(format), encoded)), ""};
  return {Status::Yes, encoded.word, lint_lines(encoded)};
}

}  // namespace tcq::oracle
