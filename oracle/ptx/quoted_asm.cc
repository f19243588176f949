// Quotes, escapes and operands of inline assembly; see quoted_asm.h.
#include "oracle/ptx/quoted_asm.h"

#include <algorithm>
#include <array>

namespace tcq::oracle {
namespace {

constexpr std::array<std::string_view, 3> beginnings = {"asm", "__asm__", "\""};

std::string_view without_indent(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// The character of \n and its like; of a line's end the blank that separates what follows.
char unescaped(char c) { return c == 'n' || c == 't' || c == 'r' ? ' ' : c; }

}  // namespace

void QuotedAsm::begin(std::string_view text) {
  const std::string_view first = without_indent(text);
  const bool begins = std::any_of(beginnings.begin(), beginnings.end(),
                                  [&](std::string_view word) { return first.starts_with(word); });
  if (begins && text.find('"') != text.npos) where_ = Where::Template;
  // asm volatile( alone on its line
  if (begins && !first.starts_with('"') && text.find('(') != text.npos) where_ = Where::Template;
}

std::string QuotedAsm::line(std::string_view text) {
  if (where_ == Where::Ptx) begin(text);
  if (where_ == Where::Ptx) return std::string(text);
  is_any_ = true;
  const std::string_view first = without_indent(text);
  std::string ptx;
  bool quoted = false;
  bool any = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (quoted) {
      const bool escape =
          (c == '\\' || (c == '%' && text.substr(i + 1, 1) == "%")) && i + 1 < text.size();
      const char kept = !escape ? c : c == '%' ? '%' : unescaped(text[i + 1]);
      if (escape) ++i;
      if (where_ == Where::Template) ptx += kept;
    } else if (c == ':') {
      where_ = Where::Operands;
    } else if (c == ';') {
      where_ = Where::Ptx;
    } else if (where_ == Where::Ptx) {
      begin(text.substr(i));  // the next asm of the line
      if (where_ == Where::Ptx) break;
    }
  }
  // Lines of a template follow each other; whatever else begins one ends it.
  const bool goes_on = any || first.empty() || first.starts_with(':') || first.starts_with(')') ||
                       first.starts_with("asm") || first.starts_with("//");
  if (where_ == Where::Template && !goes_on) {
    where_ = Where::Ptx;
    return std::string(text);
  }
  return ptx;
}

bool is_placeholder(std::string_view operand) {
  return operand.size() > 1 && operand[0] == '%' &&
         std::all_of(operand.begin() + 1, operand.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace tcq::oracle
