// `decode`, `encode` and `bytes`: matrix descriptors as words, as fields, and as shared-memory
// bytes.
//
// Decides formats of questions and answers; fields are sim/isa/wgmma_desc.h, addresses
// sim/isa/wgmma_operand.h, lints lint.h. Example: decode wgmma.desc 0x4000004000010040 ends in
// "bits [62,64)  swizzle  1  128B".
#include <fmt/format.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "oracle/json.h"
#include "oracle/lint.h"
#include "oracle/mnemonic.h"
#include "oracle/table.h"
#include "oracle/tiling.h"
#include "oracle/verbs.h"
#include "oracle/words.h"
#include "sim/isa/field_gaps.h"
#include "sim/isa/wgmma_operand.h"
#include "sim/isa/wgmma_place.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;
using wgmma::MatrixDescriptorFormat;
using wgmma::Multiplicand;

// ---- Formats ------------------------------------------------------------------------------------

constexpr std::string_view modelled_format = "wgmma.desc";
constexpr std::array<std::string_view, 5> known_formats = {
    modelled_format, "tcgen05.desc", "tcgen05.idesc.f16", "tcgen05.idesc.i8", "tmem.addr"};

void require_format(std::string_view word) {
  if (same_word(word, modelled_format)) return;
  const std::string text = lowered(word);
  if (text.starts_with("tcgen05.desc") || text.starts_with("tcgen05.idesc") ||
      text.starts_with("tmem.addr"))
    throw UnmodelledError(
        fmt::format("format {} is not modelled yet: it belongs to tcgen05 (Blackwell); expected {}",
                    quoted(word), modelled_format));
  throw_unknown("format", word, known_formats);
}

// ---- decode -------------------------------------------------------------------------------------

struct FieldLine {
  int low;
  int end;
  std::string name;
  std::uint64_t code;
  std::string value;
};

template <class F>
FieldLine field_line(F, std::uint64_t word) {
  std::string value;
  if constexpr (std::is_same_v<F, wgmma::SwizzleMode>) {
    value = name(wgmma::decode(word).swizzle);
  } else {
    value = fmt::format("{}", F::decode(word));
  }
  return {F::low, F::low + F::width, F::name, F::code(word), value};
}

std::vector<FieldLine> field_lines(std::uint64_t word) {
  std::vector<FieldLine> lines;
  MatrixDescriptorFormat::for_each([&](auto field) { lines.push_back(field_line(field, word)); });
  return lines;
}

// Bits that belong to no field and are set.
std::vector<FieldLine> ignored_lines(std::uint64_t word) {
  std::vector<FieldLine> lines;
  for_each_gap(MatrixDescriptorFormat{}, [&](auto gap) {
    using Gap = decltype(gap);
    if (Gap::code(word) == 0) return;
    lines.push_back({Gap::low, Gap::low + Gap::width, "ignored", Gap::code(word), "no effect"});
  });
  return lines;
}

std::string line_text(const FieldLine& line) {
  return fmt::format("bits [{},{})  {}  {}  {}", line.low, line.end, line.name, line.code,
                     line.value);
}

std::string line_json(const FieldLine& line) {
  return json_object({{"low", fmt::format("{}", line.low)},
                      {"end", fmt::format("{}", line.end)},
                      {"name", json_string(line.name)},
                      {"code", fmt::format("{}", line.code)},
                      {"value", json_value(line.value)}});
}

std::string sentences_json(const std::vector<std::string>& sentences) {
  std::vector<std::string> strings;
  for (const std::string& sentence : sentences) strings.push_back(json_string(sentence));
  return json_array(strings);
}

std::string decode_json(std::uint64_t word, const DescriptorRemarks& remarks) {
  std::vector<std::string> fields, ignored;
  for (const FieldLine& line : field_lines(word)) fields.push_back(line_json(line));
  for (const FieldLine& line : ignored_lines(word)) ignored.push_back(line_json(line));
  return json_object({{"format", json_string(modelled_format)},
                      {"word", json_string(fmt::format("0x{:016x}", word))},
                      {"fields", json_array(fields)},
                      {"ignored", json_array(ignored)},
                      {"lints", sentences_json(remarks.lints)},
                      {"notes", sentences_json(remarks.notes)}});
}

std::string decode_text(std::uint64_t word, const DescriptorRemarks& remarks) {
  std::string text = fmt::format("0x{:016x}", word);
  for (const FieldLine& line : field_lines(word)) text += "\n" + line_text(line);
  for (const FieldLine& line : ignored_lines(word)) text += "\n" + line_text(line);
  for (const std::string& lint : remarks.lints) text += "\nlint: " + lint;
  for (const std::string& note : remarks.notes) text += "\nnote: " + note;
  return text;
}

// The instruction of mnemonic=, without its major-ness: asking for an impossible one is a lint's
// job.
wgmma::Form form_from(const Question& question, const Keys& keys) {
  std::vector<std::string_view> words;
  for (const std::string_view word : words_from(question, 2))
    if (word.starts_with("a=")) words.push_back(word);
  const Keys own(words, instruction_keys);
  return parse_instruction(keys.text("mnemonic", ""), own).form;
}

DescriptorUse use_from(const Question& question, const Keys& keys) {
  constexpr std::uint64_t longest = 16384;
  DescriptorUse use;
  use.operand = parse_multiplicand(keys.text("matrix", "A"));
  const char* major_key = use.operand == Multiplicand::A ? "major_a" : "major_b";
  const int major = keys.choice("major", {"K", "MN"}, keys.choice(major_key, {"K", "MN"}, -1));
  if (major >= 0) use.major = major == 1 ? Major::MN : Major::K;
  if (keys.has("from")) use.advanced_from = parse_number(keys.text("from", ""), "from=");
  const bool tile = keys.has("rows") || keys.has("k");
  if (!keys.has("mnemonic")) {
    if (tile || keys.has("matrix") || keys.has("from") || major >= 0)
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

// ---- encode -------------------------------------------------------------------------------------

std::uint32_t value_from(const Keys& keys, std::string_view key, std::string_view long_key) {
  if (keys.has(key) && keys.has(long_key))
    throw UsageError(fmt::format("{}= and {}= are the same: expected one of them", key, long_key));
  const std::string_view given = keys.has(long_key) ? long_key : key;
  return static_cast<std::uint32_t>(keys.number_or(given, 0, 0xffffffff, 0));
}

MatrixDescriptor descriptor_from(const Keys& keys) {
  MatrixDescriptor d;
  d.start_bytes = value_from(keys, "start", wgmma::StartAddress::name);
  d.lbo_bytes = value_from(keys, "lbo", wgmma::LeadingByteOffset::name);
  d.sbo_bytes = value_from(keys, "sbo", wgmma::StrideByteOffset::name);
  d.base_offset =
      static_cast<std::uint32_t>(keys.number_or(wgmma::BaseOffset::name, 0, 0xffffffff, 0));
  const int swizzle = keys.choice(wgmma::SwizzleMode::name,
                                  {name(swizzles_by_width[0]), name(swizzles_by_width[1]),
                                   name(swizzles_by_width[2]), name(swizzles_by_width[3])},
                                  3);
  d.swizzle = swizzles_by_width[swizzle];
  return d;
}

// ---- bytes --------------------------------------------------------------------------------------

struct BytesQuestion {
  wgmma::Form form;
  Multiplicand operand;
  MatrixDescriptor descriptor;
};

BytesQuestion bytes_question(const Question& question) {
  const Keys keys(words_from(question, 2), instruction_keys, {"desc"});
  BytesQuestion q{
      instruction_of(question, keys).form, parse_multiplicand(word_at(question, 1, "A or B")), {}};
  if (!keys.has("desc"))
    throw UsageError("desc= is missing: expected desc= with a 64-bit descriptor word");
  q.descriptor = wgmma::decode(parse_number(keys.text("desc", ""), "desc="));
  if (q.operand == Multiplicand::A && q.form.a_place == wgmma::Place::Registers)
    throw UsageError("a=regs: A in registers has no descriptor; expected B, or a=smem");
  return q;
}

Table bytes_table(const BytesQuestion& q, bool with_bit) {
  const Type type = wgmma::operand_type(q.form, q.operand);
  const Major major = wgmma::operand_major(q.form, q.operand);
  const Extent extent = wgmma::operand_extent(q.form, q.operand);
  Table table{{"mn", "k", "byte"}, {}};
  if (with_bit) table.header.push_back("bit");
  table.rows.reserve(std::size_t{extent.mn} * extent.k);
  for (std::uint32_t mn = 0; mn < extent.mn; ++mn) {
    for (std::uint32_t k = 0; k < extent.k; ++k) {
      const std::uint32_t byte = wgmma::element_address(q.descriptor, major, type, {mn, k});
      table.rows.push_back({fmt::format("{}", mn), fmt::format("{}", k), fmt::format("{}", byte)});
      if (with_bit)
        table.rows.back().push_back(
            fmt::format("{}", wgmma::bit_in_byte(type, static_cast<int>(k))));
    }
  }
  return table;
}

}  // namespace

Answer decode(const Question& question) {
  require_format(word_at(question, 0, "a format such as wgmma.desc"));
  const std::uint64_t word =
      parse_number(word_at(question, 1, "a 64-bit word such as 0x4000004000010040"), "word");
  const Keys keys(words_from(question, 2), {},
                  {"mnemonic", "matrix", "a", "major", "major_a", "major_b", "rows", "k", "from"});
  const DescriptorRemarks remarks = remarks_on(word, use_from(question, keys));
  return {Status::Yes,
          question.options.style == Style::Json ? decode_json(word, remarks)
                                                : decode_text(word, remarks),
          ""};
}

Answer encode(const Question& question) {
  require_format(word_at(question, 0, "a format such as wgmma.desc"));
  const Keys keys(
      words_from(question, 1), {},
      {"start", "lbo", "sbo", wgmma::BaseOffset::name, wgmma::SwizzleMode::name,
       wgmma::StartAddress::name, wgmma::LeadingByteOffset::name, wgmma::StrideByteOffset::name});
  const MatrixDescriptor d = descriptor_from(keys);
  if (const Fault fault = check(d); fault != Fault::None) throw FaultError(fault);
  const std::string word = fmt::format("0x{:016x}", wgmma::encode(d));
  return {Status::Yes,
          question.options.style == Style::Json
              ? json_object({{"format", json_string(modelled_format)}, {"word", json_string(word)}})
              : word,
          ""};
}

Answer bytes(const Question& question) {
  const BytesQuestion q = bytes_question(question);
  const bool bit =
      question.options.style == Style::Text && bits(wgmma::operand_type(q.form, q.operand)) < 8;
  const Table table = bytes_table(q, bit);
  return {Status::Yes,
          render(question.options.transpose ? transposed(table) : table, question.options.style),
          ""};
}

}  // namespace tcq::oracle
