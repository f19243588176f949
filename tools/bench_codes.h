// Scale factors of block-scaled operands for bench_gemm: a byte each, in the atoms that cuBLASLt and our kernels read
// alike (ScaleCodes of cuda/gemm/arguments.h). In host memory.
//
// Example: 256 rows of NVFP4 with K of 128 have 8 factors each, 2 x 2 atoms of 512 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/gemm/gemm.h"

namespace tcq::tools {

// Of a row of A or column of B. Requires: the problem is block-scaled.
std::int64_t codes_along_k(const gemm::Problem& problem);

// Random factors about 1 for `lines` rows of A or columns of B, those that fill up atoms as well: no NaN is among them.
std::vector<std::uint8_t> drawn_codes(const gemm::Problem& problem, std::int64_t lines,
                                      std::uint64_t seed);

// Of the given lines, those of a line one behind the other.
std::vector<std::uint8_t> codes_of(const gemm::Problem& problem,
                                   const std::vector<std::uint8_t>& atoms,
                                   const std::vector<std::int64_t>& lines);

// e2m1 as the reference wants it, a byte for each element, of two to a byte.
std::vector<std::uint8_t> unpacked(const std::vector<std::uint8_t>& pairs);

}  // namespace tcq::tools
