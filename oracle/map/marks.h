// What a picture outlines: `table ... thread=5 --svg FILE` all cells of thread 5, warp=1 register=0 those of a warp.
//
// Decides which words of a question are marks, and what they fit: a cell is outlined if one of its places and its
// element fit all of them. Example: lane=5 fits D[1][2] of wgmma, which thread 5 holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/map/map.h"

namespace tcq::oracle {

class Marks {
 public:
  // Takes the words that are marks out of the question, whose first two say whose matrix it is.
  explicit Marks(Question& question);

  bool any() const { return !marks_.empty(); }
  std::string words() const;  // "warp=1 register=0"

  // Throws UsageError for a mark that the Map knows nothing of, or that is out of its range.
  void require(const Map& map) const;

  bool fit_element(const Map& map, const Coords& element) const;
  bool fit(const Map& map, const Coords& element, const Coords& place) const;

 private:
  struct Mark {
    std::string_view key;
    int value;
  };
  std::vector<Mark> marks_;
};

}  // namespace tcq::oracle
