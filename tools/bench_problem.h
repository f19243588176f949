// The problems that bench_gemm measures: shapes, and what a problem is besides. In device memory: tools/bench_operands.h.
//
// Example: parse_shape("4096x2112x7168") is M, N and K of one of the suite's 40 shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gemm/gemm.h"

namespace tcq::tools {

struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

std::string name(const Shape& shape);
// MxNxK, each from 1 to 2^20. Throws oracle::UsageError.
Shape parse_shape(std::string_view text);

struct Group {
  std::string name;
  bool (*holds)(const Shape&);
};

// Forty shapes: squares, layers of language models, small K, few rows, ragged sizes.
const std::vector<Shape>& suite();
// Of any shapes; they overlap.
const std::vector<Group>& groups();

// What D is for operands of this type: 16-bit types themselves, tf32 f32, FP8 and e2m1 bf16, integers s32.
Type result_of(Type in);

// What an epilogue may be joined of: "bias, c, relu, ...".
std::string epilogue_words();

// "none, tensor, row-column, block, vector", and of kinds that tcgen05 scales: "mx" (ue8m0 of 32 of K: MXFP8, MXFP4),
// "nv" (ue4m3 of 16: NVFP4).
std::string scaling_words();

// "ends, counts, numbers".
std::string rows_by_words();

// What a problem is besides its shape and type, and whether it has a workspace. M of the shape is dealt to the products of a batch
// evenly, to groups by chance; by counts each group has a matrix of twice the rows that it has in the mean, but not of more than all.
struct Variant {
  std::string majors = "KK";      // of A and B, K or M for MN
  std::string epilogue = "none";  // words joined by +: bias, c (beta 1), an activation
  std::string out = {};           // a type; none: result_of()
  std::string scaling = "none";   // scaling_words()
  bool promotes = false;
  int groups =
      0;  // the rows are dealt to so many products of one launch, each with a B of its own; 0: one product
  bool batch_invariant = false;
  bool along_k = false;              // the groups are of K, each with a D of its own
  std::string factor_majors = "KK";  // of A's and B's factors of blocks
  std::string rows_by = "ends";      // how groups of rows are told: rows_by_words()
  int batch = 1;                     // so many products in one launch, each with a B of its own
  bool shared_b = false;             // or all with one
  int pad = 0;                       // elements between the lines of A, B, C and D
  bool has_workspace = true;

  // "none" if it is nothing special, else like "bias+gelu f32 KM".
  std::string name() const;
  // Gated activations take one column more of an odd N. Throws oracle::UsageError if a word is unknown or the
  // library has no such problem.
  gemm::Problem problem(const Shape& shape, Type in) const;
};

// 2 * M * N * K, of each product of a batch. Requires: no groups.
double operations(const gemm::Problem& problem);

}  // namespace tcq::tools
