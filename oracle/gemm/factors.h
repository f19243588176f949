// Factors of A and B: what their files hold for each scaling.
//
// An f32 factor of A times one of B, rounded to f32, multiplies a whole sum (Tensor, RowColumn) or the chain of each 128
// of K (Block128, Vector128; only promoted orders have such chains). Those of 16 or 32 of K are a byte each, ue8m0 or
// ue4m3, and multiply elements within the instruction. Factors of K lie as their operand does: of A M x ceil(K / block),
// of B ceil(K / block) x N (Block128: x ceil(N / 128)), transposed if their operand is. A file of three dimensions has
// those of each product. Example: of 300 x 200 * 200 x 400 block_128 takes 300 x 2 and 2 x 4 of them, ue8m0_block32
// 300 x 7 and 7 x 400. What they do: oracle/sum/gemm_reference.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/gemm/elements.h"
#include "oracle/gemm/request.h"
#include "oracle/gemm/scaling.h"
#include "oracle/sum/gemm_reference.h"

namespace tcq::oracle::gemm {

// Of one operand: those of a row or column one behind the other.
struct Factors {
  std::vector<float> values;
  std::vector<std::uint8_t> codes;  // of block-scaled instructions, instead
  GemmFactors layout;
};

struct BothFactors {
  Factors a;
  Factors b;
};

// Their matrices: of A lines x blocks, of B too. None if the request has none. Throws UsageError: files whose shapes do
// not fit an m x n x k product.
struct FactorMatrices {
  Matrix a;
  Matrix b;
};
std::optional<FactorMatrices> read_factors(const Request& request, const Sizes& sizes);

BothFactors factors_of(Scaling scaling, const FactorMatrices& matrices);

}  // namespace tcq::oracle::gemm
