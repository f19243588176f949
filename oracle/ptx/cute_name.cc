// From text to the parts of a C++ name; see cute_name.h.
#include "oracle/ptx/cute_name.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

constexpr std::array<std::string_view, 4> wrappers = {"MMA_Atom", "Copy_Atom", "MMA_Traits",
                                                      "Copy_Traits"};

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

std::size_t name_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_name_letter(text[size])) ++size;
  return size;
}

std::string_view last_of_path(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

// What stands between < and its >, which may hold others; empty if it is not closed.
std::string_view bracketed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return text.substr(1, i - 1);
  }
  return {};
}

std::vector<std::string_view> arguments_of(std::string_view list) {
  std::vector<std::string_view> all;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    std::string_view one = list.substr(begin, i - begin);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    all.push_back(one);
    begin = i + 1;
  }
  return all;
}

std::vector<std::string> parts_of_name(std::string_view name) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('_', begin), name.size());
    std::string part(name.substr(begin, end - begin));
    std::transform(part.begin(), part.end(), part.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

// A name, what its brackets hold, and how much text both are.
struct Taken {
  std::string_view name, list;
  std::size_t size;
};

Taken taken(std::string_view text) {
  Taken one{{}, {}, name_size(text)};
  one.name = last_of_path(text.substr(0, one.size));
  const std::string_view behind = text.substr(one.size);
  if (behind.starts_with("<>")) one.size += 2;
  if (behind.starts_with('<')) one.list = bracketed(behind);
  if (!one.list.empty()) one.size += one.list.size() + 2;
  const std::string_view end = text.substr(one.size, 2);
  if (end == "{}" || end == "()") one.size += 2;
  return one;
}

}  // namespace

CuteName read_cute_name(std::string_view text) {
  constexpr int most_wrapped = 3;
  const Taken outer = taken(text);
  Taken inner = outer;
  for (int i = 0; i < most_wrapped; ++i) {
    const bool wraps = std::find(wrappers.begin(), wrappers.end(), inner.name) != wrappers.end();
    if (wraps) inner = taken(inner.list);
  }
  if (inner.name.empty()) return {};
  CuteName read{parts_of_name(inner.name), {}, outer.size, std::string(inner.name)};
  if (inner.list.empty()) return read;
  for (const std::string_view one : arguments_of(inner.list)) {
    const std::string_view plain = one.substr(0, one.find('<'));
    read.arguments.push_back(lowered(last_of_path(plain)));
  }
  return read;
}

}  // namespace tcq::oracle
