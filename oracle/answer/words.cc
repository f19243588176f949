// Numbers, keys and the nearest spelling: how the words of a question are read, and what is said
// when one of them cannot be.
#include "oracle/answer/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "oracle/answer/answer.h"

namespace tcq::oracle {
namespace {

constexpr std::size_t longest_number = 80;
constexpr std::size_t longest_compared = 120;
constexpr std::size_t longest_path = 400;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// What people call types and kinds -> PTX's words.
struct Colloquial {
  std::string_view said, meant;
};
constexpr std::array<Colloquial, 16> colloquial = {{{"fp8", "e4m3"},
                                                    {"fp16", "f16"},
                                                    {"half", "f16"},
                                                    {"bfloat16", "bf16"},
                                                    {"fp32", "f32"},
                                                    {"float", "f32"},
                                                    {"int8", "s8"},
                                                    {"uint8", "u8"},
                                                    {"fp4", "e2m1"},
                                                    {"kind::fp8", "kind::f8f6f4"},
                                                    {"kind::bf16", "kind::f16"},
                                                    {"kind::nvfp4", "kind::mxf4nvf4"},
                                                    {"r", "row"},
                                                    {"i", "row"},
                                                    {"c", "col"},
                                                    {"j", "col"}}};

std::vector<std::string_view> parts_of(std::string_view word) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= word.size();) {
    const std::size_t end = std::min(word.find('.', at), word.size());
    parts.push_back(word.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The parts between dots, each as PTX calls it.
std::string in_ptx(std::string_view word) {
  std::string text;
  for (std::string_view part : parts_of(word)) {
    for (const Colloquial& one : colloquial)
      if (same_word(part, one.said)) part = one.meant;
    text += fmt::format("{}{}", text.empty() ? "" : ".", part);
  }
  return text;
}

// Parts that the candidate has besides those of the word, which it has in their order; -1 if it lacks one.
int parts_left_out(const std::vector<std::string_view>& word, std::string_view candidate) {
  const std::vector<std::string_view> all = parts_of(candidate);
  std::size_t next = 0;
  for (const std::string_view part : all)
    if (next < word.size() && same_word(part, word[next])) ++next;
  return next == word.size() ? static_cast<int>(all.size() - word.size()) : -1;
}

// The word with the fewest parts left out, tcgen05.mma for tcgen05.mma.cta_group::1.kind::f16.
std::string_view with_parts_left_out(std::string_view word,
                                     std::span<const std::string_view> candidates) {
  const std::vector<std::string_view> parts = parts_of(word);
  std::string_view best;
  int fewest = std::numeric_limits<int>::max();
  for (const std::string_view candidate : candidates) {
    const int left_out = parts_left_out(parts, candidate);
    if (left_out < 0 || left_out >= fewest) continue;
    fewest = left_out;
    best = candidate;
  }
  return best;
}

// The first key of which the word is a part, lane for tmem_lane.
std::string_view key_with(std::string_view word, std::span<const std::string_view> candidates) {
  for (const std::string_view candidate : candidates) {
    const std::size_t begin = candidate.rfind('_');
    if (begin != candidate.npos && same_word(candidate.substr(begin + 1), word)) return candidate;
  }
  return "";
}

std::string joined_with_or(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap >= limit) return limit;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    std::size_t smallest = row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      smallest = std::min(smallest, row[j + 1]);
    }
    if (smallest >= limit) return limit;
  }
  return std::min(row[b.size()], limit);
}

std::string printable(std::string_view text) { return ptx::escaped(text); }

std::string terminal_text(std::string_view text) { return ptx::escaped(text, "\n\t"); }

std::string joined(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string shown_path(std::string_view path) {
  if (path.size() <= longest_path) return printable(path);
  return "..." + printable(path.substr(path.size() - longest_path));
}

namespace {

// As C and C++ write it: without a suffix (ULL) and without what separates digits (_ and ').
std::string plain_digits(std::string_view word) {
  const std::size_t last = word.find_last_not_of("uUlL");
  std::string digits(word.substr(0, last + 1));
  const bool separated = digits.find_first_of("_'") != digits.npos && digits.back() != '_' &&
                         digits.front() != '_';
  if (separated) std::erase_if(digits, [](char c) { return c == '_' || c == '\''; });
  return digits;
}

}  // namespace

std::uint64_t parse_number(std::string_view word, std::string_view what) {
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  const std::string digits = plain_digits(hex ? word.substr(2) : word);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range)
    throw UsageError(fmt::format("{} is too large: {} needs 64 bits at most", quoted(word), what));
  if (error != std::errc() || end != digits.data() + digits.size())
    throw UsageError(fmt::format("{} is no number: {} needs a decimal or 0x hexadecimal number",
                                 quoted(word), what));
  return value;
}

std::uint32_t parse_hex(std::string_view word, int digits, std::string_view what) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
  if (word.size() != static_cast<std::size_t>(digits) || error != std::errc() ||
      end != word.data() + word.size())
    throw UsageError(
        fmt::format("{} is wrong: {} needs exactly {} hex digits", quoted(word), what, digits));
  return value;
}

std::string_view name(AtomOrder order) {
  return order == AtomOrder::MnFirst ? "mn-first" : "k-first";
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string meant = in_ptx(word.substr(0, longest_compared));
  word = meant;
  std::string_view best = with_parts_left_out(word, candidates);
  if (best.empty()) best = key_with(word, candidates);
  if (!best.empty()) return best;
  std::size_t distance = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::size_t d = edit_distance(word, candidate, distance);
    if (d >= distance) continue;
    distance = d;
    best = candidate;
  }
  return best;
}

void throw_unknown(std::string_view what, std::string_view word,
                   std::span<const std::string_view> candidates) {
  throw UsageError(fmt::format("unknown {} {}: expected {}; did you mean '{}'?", what, quoted(word),
                               joined_with_or(candidates), nearest(word, candidates)));
}

Keys::Keys(std::span<const std::string_view> words, std::span<const std::string_view> allowed,
           std::initializer_list<std::string_view> also_allowed) {
  const auto is_allowed = [&](std::string_view key) {
    return std::find(allowed.begin(), allowed.end(), key) != allowed.end() ||
           std::find(also_allowed.begin(), also_allowed.end(), key) != also_allowed.end();
  };
  pairs_.reserve(words.size());
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (equals == std::string_view::npos || !is_allowed(key)) {
      std::vector<std::string_view> known(also_allowed);
      known.insert(known.end(), allowed.begin(), allowed.end());
      if (equals != std::string_view::npos) throw_unknown("key", key, known);
      const bool is_number = !word.empty() && word[0] >= '0' && word[0] <= '9';
      throw UsageError(fmt::format(
          "{} is not of the form key=value: expected {}{}", quoted(word), joined_with_or(known),
          is_number ? std::string("; a number needs its key")
                    : fmt::format("; did you mean '{}='?", nearest(word, known))));
    }
    if (find(key) != nullptr)
      throw UsageError(fmt::format("key '{}' is given twice: expected it once", key));
    pairs_.push_back({key, word.substr(equals + 1)});
  }
}

const Keys::Pair* Keys::find(std::string_view key) const {
  for (const Pair& pair : pairs_)
    if (pair.key == key) return &pair;
  return nullptr;
}

Keys Keys::without(std::string_view key) const {
  Keys rest = *this;
  std::erase_if(rest.pairs_, [key](const Pair& pair) { return pair.key == key; });
  return rest;
}

bool Keys::has(std::string_view key) const { return find(key) != nullptr; }

std::string_view Keys::text(std::string_view key, std::string_view fallback) const {
  const Pair* pair = find(key);
  return pair != nullptr ? pair->value : fallback;
}

std::uint64_t Keys::number(std::string_view key, std::uint64_t low, std::uint64_t high) const {
  const Pair* pair = find(key);
  if (pair == nullptr)
    throw UsageError(
        fmt::format("{}= is missing: expected {}= with a number in [{}, {}]", key, key, low, high));
  const std::uint64_t value = parse_number(pair->value, std::string(key) + "=");
  if (value < low || value > high)
    throw UsageError(fmt::format("{}={} is out of range: expected [{}, {}]", key,
                                 pair->value.substr(0, longest_number), low, high));
  return value;
}

std::uint64_t Keys::number_or(std::string_view key, std::uint64_t low, std::uint64_t high,
                              std::uint64_t fallback) const {
  return has(key) ? number(key, low, high) : fallback;
}

std::uint32_t Keys::either_number(std::string_view key, std::string_view long_key) const {
  if (has(key) && has(long_key))
    throw UsageError(fmt::format("{}= and {}= are the same: expected one of them", key, long_key));
  return static_cast<std::uint32_t>(
      number_or(has(long_key) ? long_key : key, 0, std::numeric_limits<std::uint32_t>::max(), 0));
}

int Keys::integer(std::string_view key, int fallback) const {
  constexpr std::uint64_t largest = std::numeric_limits<std::int32_t>::max();
  return static_cast<int>(number_or(key, 0, largest, static_cast<std::uint64_t>(fallback)));
}

bool Keys::flag(std::string_view key, bool fallback) const {
  return number_or(key, 0, 1, fallback ? 1 : 0) == 1;
}

Major Keys::major(std::string_view key, Major fallback) const {
  return choice(key, {"K", "MN"}, fallback == Major::MN ? 1 : 0) == 1 ? Major::MN : Major::K;
}

AtomOrder Keys::order(AtomOrder fallback) const {
  constexpr AtomOrder all[] = {AtomOrder::MnFirst, AtomOrder::KFirst};
  const int chosen = choice("order", {name(all[0]), name(all[1])}, -1);
  return chosen < 0 ? fallback : all[chosen];
}

Type Keys::type(std::string_view key, Type fallback) const {
  const Pair* pair = find(key);
  if (pair == nullptr) return fallback;
  std::vector<std::string_view> known;
  for (int i = 0; i < type_count; ++i) {
    known.push_back(name(static_cast<Type>(i)));
    if (same_word(known.back(), pair->value)) return static_cast<Type>(i);
  }
  throw_unknown(fmt::format("value of {}=", key), pair->value, known);
}

int Keys::choice(std::string_view key, std::initializer_list<std::string_view> choices,
                 int fallback) const {
  const Pair* pair = find(key);
  if (pair == nullptr) return fallback;
  int index = 0;
  for (const std::string_view choice : choices) {
    if (same_word(choice, pair->value)) return index;
    ++index;
  }
  const std::vector<std::string_view> known(choices);
  throw_unknown(fmt::format("value of {}=", key), pair->value, known);
}

}  // namespace tcq::oracle
