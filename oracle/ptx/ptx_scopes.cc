// Declared registers; see ptx_scopes.h.
#include "oracle/ptx/ptx_scopes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "oracle/ptx/letters.h"

namespace tcq::oracle {
namespace {

// Takes the first word and the blanks behind it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
  text = trimmed(text.substr(word.size()));
  return word;
}

RegisterClass class_of_type(std::string_view type) {
  using enum RegisterClass;
  static constexpr std::array<std::pair<std::string_view, RegisterClass>, 14> types = {
      {{".pred", Pred},
       {".b16", B16},
       {".u16", B16},
       {".s16", B16},
       {".b32", B32},
       {".u32", I32},
       {".s32", I32},
       {".f16x2", F16x2},
       {".f32", F32},
       {".b64", B64},
       {".u64", I64},
       {".s64", I64},
       {".f64", F64},
       {"", Unknown}}};
  for (const auto& [word, register_class] : types)
    if (word == type) return register_class;
  return Other;
}

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || rest != end || error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

int PtxScopes::open(int parent) {
  scopes_.emplace_back();
  scopes_.back().parent = parent;
  return static_cast<int>(scopes_.size()) - 1;
}

void PtxScopes::declare(int scope, std::string_view directive) {
  if (take_word(directive) != ".reg") return;
  RegisterClass type = RegisterClass::Unknown;
  while (directive.starts_with('.')) {
    const std::string_view word = take_word(directive);
    const bool is_vector = word == ".v2" || word == ".v4" || type == RegisterClass::Other;
    type = is_vector ? RegisterClass::Other : class_of_type(word);
  }
  Scope& here = scopes_[static_cast<std::size_t>(scope)];
  while (!directive.empty()) {
    const std::size_t comma = std::min(directive.find(','), directive.size());
    const std::string_view item = trimmed(directive.substr(0, comma));
    directive.remove_prefix(std::min(comma + 1, directive.size()));
    const std::size_t angle = item.find('<');
    const std::string name(trimmed(item.substr(0, angle)));
    if (angle == std::string_view::npos) {
      here.names[name] = type;
    } else if (const auto count =
                   number(trimmed(item.substr(angle + 1, item.find('>') - angle - 1)))) {
      here.ranges[name] = {type, *count};
    }
  }
}

std::optional<PtxScopes::Declared> PtxScopes::find(int scope, std::string_view name) const {
  constexpr std::size_t most_digits = 10;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::size_t first = std::max(digits, name.size() - std::min(most_digits, name.size()));
  for (; scope >= 0; scope = parent(scope)) {
    const Scope& here = scopes_[static_cast<std::size_t>(scope)];
    if (const auto found = here.names.find(name); found != here.names.end())
      return Declared{found->second, scope};
    // %f<20> declares %f7 and %f12; a prefix may end with digits, an index has few.
    for (std::size_t split = first; split < name.size(); ++split) {
      const auto range = here.ranges.find(name.substr(0, split));
      if (range == here.ranges.end()) continue;
      const auto index = number(name.substr(split));
      if (index && *index < range->second.count) return Declared{range->second.type, scope};
    }
  }
  return std::nullopt;
}

}  // namespace tcq::oracle
