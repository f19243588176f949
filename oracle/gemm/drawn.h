// Operands and scale factors from a seed: `--generate`.
//
// They depend on the seed and on where they are, so that a shape's are a part of a larger one's: of `bell`
// (sim/num/inputs/draw.h) a stream for each row or column, of the mixtures that find wrong sums (mixture.h; with scale
// factors scaled_mixture.h and packed_mixture.h) one tile of K behind the other. Entries of a batch have seeds of their
// own, the first the one that a product without batch has. Example: `--generate 64,48,100 --mixture cancel` draws two
// tiles of K = 64, the second one cut.
#pragma once

#include <optional>

#include "oracle/gemm/factors.h"
#include "oracle/gemm/request.h"

namespace tcq::oracle::gemm {

struct DrawnProduct {
  Matrix a;                               // M x K
  Matrix b;                               // K x N, columns one behind the other
  std::optional<FactorMatrices> factors;  // if the request says none of its own
};

// Throws UsageError. Requires: request.generated.
DrawnProduct draw_product(const Request& request);

}  // namespace tcq::oracle::gemm
