// The sum behind an output of tcgen05.mma: which elements of A, B and D, and which scale factors, go
// into D[row][col], and where they lie. Dense forms only.
#pragma once

#include <optional>
#include <string>

#include "oracle/map/tcgen05_smem_view.h"
#include "oracle/map/tcgen05_view.h"

namespace tcq::oracle {

struct TmemInputs {
  TmemView d;
  int k;                             // logical K of the instruction
  std::optional<TmemView> a = {};    // A in Tensor Memory
  std::optional<TmemView> sfa = {};  // both or none
  std::optional<TmemView> sfb = {};
  int terms = 0;                        // products to write out before "..."; 0: all
  std::optional<SmemView> smem_a = {};  // where their descriptors are known
  std::optional<SmemView> smem_b = {};
  bool accumulate = true;
  bool negate_a = false;
  bool negate_b = false;
};

// "A[37][0]@69:0.0 * B[0][10]@0x2140 + ...": places as lane:column.bit or as bytes; scale factors as
// "SFA[37][0]@5:1.0".
std::string inputs_text(const TmemInputs& inputs, tcgen05::Element element);

// {"products":[{"a":{...},"b":{...},"sfa":{...},"sfb":{...}}],"c":{...} or null}.
std::string inputs_json(const TmemInputs& inputs, tcgen05::Element element);

}  // namespace tcq::oracle
