// Draws the cases of a suite one by one: each gets a seed of its own, and all share one stream of
// choices. Example: CaseDraw suite(seed); suite.add(MatrixMove{...}).keep = true; return suite.take();
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "oracle/recording/experiment.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {

class CaseDraw {
 public:
  explicit CaseDraw(std::uint64_t seed) : seed_(seed), draw_(seed) {}

  // Valid until the next one.
  Case& add(Experiment e) {
    Case& c = cases_.emplace_back(std::move(e));
    c.seed = mix(seed_ + cases_.size() - 1);
    return c;
  }
  Case& last() { return cases_.back(); }
  std::vector<Case> take() { return std::move(cases_); }

  Draw& draw() { return draw_; }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(draw_.below(static_cast<int>(n)));
  }

 private:
  std::uint64_t seed_;
  Draw draw_;
  std::vector<Case> cases_;
};

}  // namespace tcq::oracle
