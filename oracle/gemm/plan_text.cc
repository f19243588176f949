// Lines are found by how they begin; numbers are what std::from_chars takes.
#include "oracle/gemm/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
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
std::optional<std::string_view> find_line(std::string_view text, std::string_view title) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with(title)) return rest.substr(title.size(), end - title.size());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string_view line_of(std::string_view text, std::string_view title, std::string_view name) {
  if (const auto line = find_line(text, title)) return *line;
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

// "MxNxK, ..., bf16 -> f32, ..." or "..., e4m3 * e5m2 -> f32, ..."
void check_problem(std::string_view line, std::string_view name, const Product& product) {
  std::int64_t m = 0, n = 0, k = 0;
  std::string_view rest = line;
  if (!take_number(rest, m) || !take(rest, "x") || !take_number(rest, n) || !take(rest, "x") ||
      !take_number(rest, k))
    refuse(name, fmt::format("is no plan: its problem is {}", quoted(line)));
  const std::string types =
      product.a == product.b ? std::string(tcq::name(product.a))
                             : fmt::format("{} * {}", tcq::name(product.a), tcq::name(product.b));
  if (k != product.k || rest.find(fmt::format(", {} -> ", types)) == std::string_view::npos)
    refuse(name, fmt::format("is a plan of another product, {}: expected K = {} and {}",
                             printable(line), product.k, types));
}

// The factors of the plan and those of the product are the same ones.
void check_factors(std::string_view text, std::string_view path, const Product& product) {
  const std::string_view of_plan = find_line(text, "factors: ").value_or("none");
  const std::string_view expected = scaling_words[static_cast<std::size_t>(product.scaling)].plan;
  if (of_plan == expected && !expected.empty()) return;
  for (const ScalingWords& words : scaling_words)
    if (!words.plan.empty() && words.plan == of_plan)
      refuse(path,
             fmt::format("is a plan with factors {}: expected --scaling {}, its product has {}",
                         of_plan, words.option, tcq::oracle::gemm::name(product.scaling)));
  refuse(path, fmt::format("its factors are {}: expected those of a plan", quoted(of_plan)));
}

// "from k = 0 320 640; ..." behind `chains` of them.
std::vector<GemmSegment> parts_from(std::string_view line, std::int64_t chains,
                                    std::string_view name, std::int64_t k) {
  constexpr std::string_view before = ", from k =";
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos)
    refuse(name, fmt::format("its order is {}: expected that of a plan", quoted(line)));
  std::string_view rest = line.substr(at + before.size());
  std::vector<GemmSegment> parts;
  for (std::int64_t first = 0; take(rest, " ") && take_number(rest, first);)
    parts.push_back({first, k - first});
  for (std::size_t i = 1; i < parts.size(); ++i)
    parts[i - 1].count = parts[i].first - parts[i - 1].first;
  bool ascends = !parts.empty() && parts[0].first == 0;
  for (const GemmSegment& part : parts) ascends = ascends && part.count > 0;
  if (!ascends || static_cast<std::int64_t>(parts.size()) != chains)
    refuse(name,
           fmt::format("its order is {}: expected {} ascending parts of K", quoted(line), chains));
  return parts;
}

}  // namespace

PlanOrder parse_plan(std::string_view text, std::string_view name, const Product& product) {
  check_problem(line_of(text, "problem: ", name), name, product);
  check_factors(text, name, product);
  const std::string_view line = line_of(text, "order: ", name);
  if (line.starts_with("the sum is 0")) return {{}, scales_blocks(product.scaling)};
  if (line.starts_with("one chain of wgmmas")) return {};
  if (line.starts_with("chains of 128 over")) return {{}, true};
  std::string_view rest = line;
  std::int64_t chains = 0;
  if (!take_number(rest, chains))
    refuse(name, fmt::format("its order is {}: expected that of a plan", quoted(line)));
  const bool promotes = take(rest, " sums of chains of 128,");
  if (!promotes && !take(rest, " chains of wgmmas"))
    refuse(name, fmt::format("its order is {}: expected that of a plan", quoted(line)));
  return {parts_from(line, chains, name, product.k), promotes};
}

PlanOrder read_plan(std::string_view path, const Product& product) {
  try {
    return parse_plan(read_file(std::string(path)), path, product);
  } catch (const BadFile& error) {
    throw UsageError(error.what());
  }
}

}  // namespace tcq::oracle::gemm
