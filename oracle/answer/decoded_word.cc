// Text and JSON of a decoded word; see decoded_word.h.
#include "oracle/answer/decoded_word.h"

#include <fmt/format.h>

namespace tcq::oracle {
namespace {

std::string line_text(const FieldLine& line) {
  return fmt::format("{}  {}  {}  {}", bits_text(line.low, line.end), line.name, line.code,
                     line.value);
}

Value value_of(const FieldLine& line) {
  return Value::Members{{"low", line.low},
                        {"end", line.end},
                        {"name", line.name},
                        {"code", line.code},
                        {"value", read_value(line.value)}};
}

Value::List lines_of(const std::vector<FieldLine>& lines) {
  return list_of(lines, [](const FieldLine& line) { return value_of(line); });
}

}  // namespace

std::string hex_word(std::uint64_t word, int bits) {
  return fmt::format("0x{:0{}x}", word, bits / 4);
}

std::string bits_text(int low, int end) { return fmt::format("bits [{},{})", low, end); }

std::string decoded_text(const DecodedWord& decoded) {
  std::string text = decoded.word;
  for (const FieldLine& line : decoded.fields) text += "\n" + line_text(line);
  for (const FieldLine& line : decoded.rest) text += "\n" + line_text(line);
  for (const std::string& lint : decoded.remarks.lints) text += "\nlint: " + lint;
  for (const std::string& note : decoded.remarks.notes) text += "\nnote: " + note;
  return text;
}

Value value_of(std::string_view format, const EncodedWord& encoded) {
  return Value::Members{
      {"format", format}, {"word", encoded.word}, {"lints", list_of(encoded.lints)}};
}

std::string lint_lines(const EncodedWord& encoded) {
  std::string text;
  for (const std::string& lint : encoded.lints)
    text += fmt::format("{}lint: {}", text.empty() ? "" : "\n", lint);
  return text;
}

Value value_of(const DecodedWord& decoded) {
  return Value::Members{{"format", decoded.format},
                        {"word", decoded.word},
                        {"fields", lines_of(decoded.fields)},
                        {std::string(decoded.rest_key), lines_of(decoded.rest)},
                        {"lints", list_of(decoded.remarks.lints)},
                        {"notes", list_of(decoded.remarks.notes)}};
}

}  // namespace tcq::oracle
