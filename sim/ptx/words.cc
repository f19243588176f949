// Showing and comparing words; see words.h.
#include "sim/ptx/words.h"

#include <algorithm>

namespace tcq::ptx {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string escaped(std::string_view text, std::string_view kept) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    if ((c >= ' ' && c <= '~') || kept.find(c) != std::string_view::npos) {
      result += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    result += "\\x";
    result += digits[byte / 16];
    result += digits[byte % 16];
  }
  return result;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 80;
  const std::string text = "'" + escaped(word.substr(0, longest));
  if (word.size() <= longest) return text + "'";
  return text + "...' (" + std::to_string(word.size()) + " characters)";
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string lowered(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

}  // namespace tcq::ptx
