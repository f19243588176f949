// A line for each scalar form of which results differ: how many, and the first of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "oracle/recording/explain.h"

namespace tcq::oracle {
namespace {

constexpr std::size_t shown_rows = 4;

std::uint64_t number_at(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t width) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, width);
  return number;
}

std::string differing_rows(const Case& c, const Prediction& p) {
  const std::size_t width = output_width(c);
  const int digits = static_cast<int>(2 * width);
  std::size_t count = 0;
  std::string rows;
  for (std::size_t at = 0; at + width <= std::min(c.output.size(), p.output.size()); at += width) {
    const std::uint64_t got = number_at(c.output, at, width);
    const std::uint64_t want = number_at(p.output, at, width);
    if (got == want || ++count > shown_rows) continue;
    rows += fmt::format("    {}: device {:0{}x}, simulator {:0{}x}\n", place(c, at), got, digits,
                        want, digits);
  }
  return count == 0 ? ""
                    : fmt::format("  {}: {} of {} results differ\n{}", describe(c), count,
                                  c.output.size() / width, rows);
}

std::string explain_form(const Case& c, const ScalarCase& e) {
  if (c.outcome != Outcome::Completed)
    return fmt::format("  {}: {}\n", e.spelling, name(c.outcome));
  if (c.output.empty()) return "";
  return differing_rows(c, predict(c));
}

}  // namespace

std::string explain_scalar_forms(const Recording& recording) {
  std::string text;
  for (const Case& c : recording.cases)
    if (const auto* e = std::get_if<ScalarCase>(&c.experiment)) text += explain_form(c, *e);
  return text;
}

}  // namespace tcq::oracle
