// Values as JSON; see value.h.
#include "oracle/answer/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tcq::oracle {
namespace {

// Most texts are; the others are left to a library.
bool is_plain(std::string_view text) {
  bool plain = true;
  for (const char c : text) plain = plain && c >= ' ' && c <= '~' && c != '"' && c != '\\';
  return plain;
}

// 0x80 to 0x9f are control characters to terminals, too.
std::string escaped(std::string_view text) {
  using nlohmann::json;
  constexpr bool ascii_only = true;
  return json(text).dump(-1, ' ', ascii_only, json::error_handler_t::replace);
}

bool is_number(std::string_view text) {
  constexpr std::size_t most_digits = 15;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  return !digits.empty() && digits.size() <= most_digits && (digits == "0" || digits[0] != '0') &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Append {
  std::string& text;

  void operator()(std::monostate) const { text += "null"; }
  void operator()(bool yes) const { text += yes ? "true" : "false"; }
  void operator()(std::integral auto number) const {
    char digits[24];
    char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, end);
  }
  void operator()(double number) const {
    text += std::isfinite(number) ? fmt::format("{:.9g}", number) : "null";
  }
  void operator()(const std::string& words) const {
    if (!is_plain(words)) {
      text += escaped(words);
      return;
    }
    quote(words);
  }
  void operator()(const Value::List& list) const {
    each('[', list, ']', [&](const Value& item) { append_json(text, item); });
  }
  void operator()(const Value::Members& members) const {
    each('{', members, '}', [&](const Value::Member& member) {
      quote(member.key);
      text += ':';
      append_json(text, member.value);
    });
  }

  void quote(const std::string& words) const {
    const std::size_t at = text.size() + 1;
    text.resize(at + words.size() + 1, '"');
    words.copy(text.data() + at, words.size());
  }

  template <class Items, class One>
  void each(char open, const Items& items, char close, One&& one) const {
    text += open;
    for (const auto& item : items) {
      if (&item != items.data()) text += ',';
      one(item);
    }
    text += close;
  }
};

}  // namespace

Value read_value(std::string_view text) {
  if (!is_number(text)) return text;
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void append_read(std::string& text, std::string_view cell) {
  if (is_number(cell))
    text += cell;
  else
    append_json(text, cell);
}

std::string key_of(std::string_view heading) {
  std::string key;
  for (const char c : heading)
    if (c != ',') key += c == ' ' ? '_' : c;
  return key;
}

void append_json(std::string& text, const Value& value) { std::visit(Append{text}, value.any()); }

std::string json_text(const Value& value) {
  constexpr std::size_t usual_size = 512;
  std::string text;
  text.reserve(usual_size);
  append_json(text, value);
  return text;
}

}  // namespace tcq::oracle
