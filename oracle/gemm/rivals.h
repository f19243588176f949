// Orders that would explain a difference: chains of other lengths, other splits of K, the other
// instruction, the other accumulator, and sums that are no tensor core's.
//
// Every rival is asked about a sample of outputs, some that differ from the prediction and some that do
// not; one that gives the other result's bits for all of them explains the difference. Example: FP8
// predicted as one chain and computed with promotion: `every=128:wgmma` explains it.
#pragma once

#include <string>
#include <vector>

#include "oracle/gemm/difference.h"

namespace tcq::oracle::gemm {

// All that compute something else than `order`.
std::vector<Order> rivals(const Order& order, const Product& product);

struct Explanation {
  std::vector<std::string> by;  // specs of all rivals that explain the whole sample
  int asked = 0;                // rivals
  int outputs = 0;              // of the sample
  std::string nearest;          // if nothing does: the spec that explains most
  int nearest_outputs = 0;      // of the sample that it explains
};

// `go_on` is asked before every rival; false ends it, and the explanation is of those asked.
Explanation explain(const Problem& problem, const Order& order, const Sample& sample,
                    const Pulse& go_on);

}  // namespace tcq::oracle::gemm
