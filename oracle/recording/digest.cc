#include "oracle/recording/digest.h"

#include <charconv>

#include "oracle/recording/suites.h"

namespace tcq::oracle {
namespace {

std::uint64_t seed_of(const Recording& recording) {
  const auto found = recording.header.find("seed");
  std::uint64_t seed = 0;
  if (found == recording.header.end()) throw BadFile("recording does not say its seed");
  const std::string& text = found->second;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    throw BadFile("recording has a seed that is not a number");
  return seed;
}

bool agrees(const Case& c, std::size_t index) {
  Comparison found;
  compare(c, index, found);
  return found.cases == 1 && found.differing_outputs == 0;
}

}  // namespace

std::size_t drop_agreeing_outputs(Recording& recording) {
  const auto suite = recording.header.find("suite");
  if (suite == recording.header.end()) throw BadFile("recording does not say its suite");
  const std::vector<Case> drawn = draw_suite(suite->second, seed_of(recording));
  if (drawn.size() != recording.cases.size())
    throw BadFile("recording does not have the cases of its suite");
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Case& c = recording.cases[i];
    if (c.experiment != drawn[i].experiment || c.seed != drawn[i].seed)
      throw BadFile("recording does not have the cases of its suite");
    if (drawn[i].keep || !c.keep || !agrees(c, i)) continue;
    c.keep = false;
    c.output.clear();
    ++dropped;
  }
  return dropped;
}

}  // namespace tcq::oracle
