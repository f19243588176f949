// The order of accumulation in a plan of this project's GEMM, from the text that describe() of
// cuda/gemm/gemm.h prints.
//
// Decides what its lines `problem:`, `factors:` and `order:` say; orders of unaligned operands are other lines, which
// nothing reads. Example: "order: 2 chains of wgmmas, each over ascending k, 16 at a time, from k = 0
// 512; ..." of K = 1024 is 0-512, 512-1024.
#pragma once

#include <string_view>
#include <vector>

#include "oracle/gemm/order.h"

namespace tcq::oracle::gemm {

struct PlanOrder {
  std::vector<GemmSegment> segments = {};  // none: all of K is one
  bool promotes = false;

  friend bool operator==(const PlanOrder&, const PlanOrder&) = default;
};

// Throws UsageError: the file cannot be read, is no plan, or is the plan of another product.
PlanOrder read_plan(std::string_view path, const Product& product);
// The same for a text; `name` names it in complaints.
PlanOrder parse_plan(std::string_view text, std::string_view name, const Product& product);

}  // namespace tcq::oracle::gemm
