// Lines are found by how they begin; numbers are what std::from_chars takes.
#include "oracle/gemm/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/recording/container.h"
#include "oracle/recording/files.h"

namespace tcq::oracle::gemm {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw UsageError(fmt::format("{}: {}", shown_path(name), what));
}

// What follows `title` on its line.
std::string_view line_of(std::string_view text, std::string_view title, std::string_view name) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with(title)) return rest.substr(title.size(), end - title.size());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  refuse(name, fmt::format("is no plan: it has no line '{}'", title));
}

bool take_number(std::string_view& text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text.remove_prefix(token.size());
  return true;
}

// "MxNxK, ..., bf16 -> f32, ..."
void check_problem(std::string_view line, std::string_view name, const Product& product) {
  std::int64_t m = 0, n = 0, k = 0;
  std::string_view rest = line;
  if (!take_number(rest, m) || !take(rest, "x") || !take_number(rest, n) || !take(rest, "x") ||
      !take_number(rest, k))
    refuse(name, fmt::format("is no plan: its problem is {}", quoted(line)));
  const std::string in = fmt::format(", {} -> ", tcq::name(product.a));
  if (k != product.k || rest.find(in) == std::string_view::npos || product.a != product.b)
    refuse(name, fmt::format("is a plan of another product, {}: expected K = {} and {}",
                             printable(line), product.k, tcq::name(product.a)));
}

}  // namespace

std::vector<GemmSegment> parse_plan(std::string_view text, std::string_view name,
                                    const Product& product) {
  check_problem(line_of(text, "problem: ", name), name, product);
  const std::string_view line = line_of(text, "order: ", name);
  if (line.starts_with("one chain of wgmmas") || line.starts_with("the sum is 0")) return {};
  std::string_view rest = line;
  std::int64_t chains = 0;
  constexpr std::string_view before = ", from k =";
  const std::size_t at = line.find(before);
  if (!take_number(rest, chains) || !take(rest, " chains of wgmmas") ||
      at == std::string_view::npos)
    refuse(name, fmt::format("its order is {}: expected that of a plan", quoted(line)));
  rest = line.substr(at + before.size());
  std::vector<GemmSegment> parts;
  for (std::int64_t first = 0; take(rest, " ") && take_number(rest, first);)
    parts.push_back({first, product.k - first});
  for (std::size_t i = 1; i < parts.size(); ++i)
    parts[i - 1].count = parts[i].first - parts[i - 1].first;
  bool ascends = !parts.empty() && parts[0].first == 0;
  for (const GemmSegment& part : parts) ascends = ascends && part.count > 0;
  if (!ascends || static_cast<std::int64_t>(parts.size()) != chains)
    refuse(name,
           fmt::format("its order is {}: expected {} ascending parts of K", quoted(line), chains));
  return parts;
}

std::vector<GemmSegment> read_plan(std::string_view path, const Product& product) {
  try {
    return parse_plan(read_file(std::string(path)), path, product);
  } catch (const BadFile& error) {
    throw UsageError(error.what());
  }
}

}  // namespace tcq::oracle::gemm
