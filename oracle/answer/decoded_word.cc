// Text and JSON of a decoded word; see decoded_word.h.
#include "oracle/answer/decoded_word.h"

#include <fmt/format.h>

#include "oracle/answer/json.h"

namespace tcq::oracle {
namespace {

std::string line_text(const FieldLine& line) {
  return fmt::format("{}  {}  {}  {}", bits_text(line.low, line.end), line.name, line.code,
                     line.value);
}

std::string line_json(const FieldLine& line) {
  return json_object({{"low", fmt::format("{}", line.low)},
                      {"end", fmt::format("{}", line.end)},
                      {"name", json_string(line.name)},
                      {"code", fmt::format("{}", line.code)},
                      {"value", json_value(line.value)}});
}

std::string lines_json(const std::vector<FieldLine>& lines) {
  std::vector<std::string> objects;
  for (const FieldLine& line : lines) objects.push_back(line_json(line));
  return json_array(objects);
}

std::string sentences_json(const std::vector<std::string>& sentences) {
  std::vector<std::string> strings;
  for (const std::string& sentence : sentences) strings.push_back(json_string(sentence));
  return json_array(strings);
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

std::string encoded_json(std::string_view format, const EncodedWord& encoded) {
  return json_object({{"format", json_string(format)},
                      {"word", json_string(encoded.word)},
                      {"lints", sentences_json(encoded.lints)}});
}

std::string lint_lines(const EncodedWord& encoded) {
  std::string text;
  for (const std::string& lint : encoded.lints)
    text += fmt::format("{}lint: {}", text.empty() ? "" : "\n", lint);
  return text;
}

std::string decoded_json(const DecodedWord& decoded) {
  return json_object({{"format", json_string(decoded.format)},
                      {"word", json_string(decoded.word)},
                      {"fields", lines_json(decoded.fields)},
                      {decoded.rest_key, lines_json(decoded.rest)},
                      {"lints", sentences_json(decoded.remarks.lints)},
                      {"notes", sentences_json(decoded.remarks.notes)}});
}

}  // namespace tcq::oracle
