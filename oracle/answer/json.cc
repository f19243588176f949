// JSON texts through nlohmann's quoting; see json.h.
#include "oracle/answer/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tcq::oracle {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void append_joined(std::string& text, const std::vector<std::string>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += ',';
    text += parts[i];
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    std::string plain;
    plain.reserve(text.size() + 2);
    plain += '"';
    plain += text;
    plain += '"';
    return plain;
  }
  using nlohmann::json;
  constexpr bool ascii_only = true;  // 0x80 to 0x9f are control characters to terminals, too
  return json(text).dump(-1, ' ', ascii_only, json::error_handler_t::replace);
}

std::string json_key(std::string_view heading) {
  std::string key;
  for (const char c : heading)
    if (c != ',') key += c == ' ' ? '_' : c;
  return key;
}

std::string json_value(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool number =
      !digits.empty() && digits.size() <= 15 && (digits == "0" || digits[0] != '0') &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::string(text) : json_string(text);
}

std::string json_object(const std::vector<std::pair<std::string_view, std::string>>& members) {
  std::vector<std::string> parts;
  parts.reserve(members.size());
  for (const auto& [key, value] : members) parts.push_back(json_string(key) + ":" + value);
  std::string text = "{";
  append_joined(text, parts);
  return text + "}";
}

std::string json_array(const std::vector<std::string>& values) {
  std::string text = "[";
  append_joined(text, values);
  return text + "]";
}

}  // namespace tcq::oracle
