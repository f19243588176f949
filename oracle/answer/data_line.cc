// Words and rows of a data line; see data_line.h.
#include "oracle/answer/data_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle {
namespace {

constexpr int bits_per_digit = 4;

// One more word than expected is kept, so that too many can be seen.
std::vector<std::string_view> split_words(std::string_view line, std::size_t most) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> words;
  while (words.size() <= most) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t size = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
  return words;
}

}  // namespace

int hex_digits(Type type) { return (bits(type) + bits_per_digit - 1) / bits_per_digit; }

std::vector<std::string_view> split_data_line(std::string_view line, std::size_t expected,
                                              std::string_view layout, std::size_t least) {
  std::vector<std::string_view> words = split_words(line, expected);
  if (words.size() < least || words.size() > expected)
    throw UsageError(fmt::format("the line has {}{} words: expected {}",
                                 words.size() > expected ? "more than " : "",
                                 std::min(words.size(), expected), layout));
  return words;
}

std::uint32_t parse_element(std::string_view word, Type type, std::string_view what) {
  const std::uint32_t element = parse_hex(word, hex_digits(type), what);
  const std::uint64_t codes = std::uint64_t{1} << bits(type);
  if (element >= codes)
    throw UsageError(fmt::format("{} does not fit in the {} bits of {}: {} is at most {:x}",
                                 quoted(word), bits(type), name(type), what, codes - 1));
  return element;
}

std::vector<std::uint32_t> parse_row(std::string_view word, Type type, int count,
                                     std::string_view what) {
  std::vector<std::uint32_t> elements;
  std::size_t seen = 0;
  for (bool more = true; more; ++seen) {
    const std::size_t comma = word.find(',');
    more = comma != std::string_view::npos;
    if (seen < static_cast<std::size_t>(count))
      elements.push_back(
          parse_element(word.substr(0, comma), type, fmt::format("element {} of {}", seen, what)));
    if (more) word.remove_prefix(comma + 1);
  }
  if (seen != static_cast<std::size_t>(count))
    throw UsageError(fmt::format("{} has {} elements: expected {} of {}, comma separated", what,
                                 seen, count, name(type)));
  return elements;
}

}  // namespace tcq::oracle
