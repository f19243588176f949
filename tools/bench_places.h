// Where the operands of bench_gemm's problems lie, how rows or K are dealt to groups, and which of them are checked: no device.
//
// Example: two groups by counts, of 4 and 8 rows, have matrices of 8 rows each; rows 4 to 7 of the first are nobody's, and row 4
// is looked at: it has to stay as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/gemm/check.h"
#include "cuda/gemm/gemm.h"

namespace tcq::tools {

std::size_t bytes_of(Type type, std::int64_t elements);

// From the first matrix to the end of the last one, with what lies between lines and behind the last one. Requires: strides are numbers.
std::int64_t elements_of(const gemm::View& view, const gemm::Strides& strides, std::int64_t batch);

// A, B, C and D in memory, each matrix of them.
double operand_bytes(const gemm::Problem& problem);

// Of groups, by chance: shares fall off exponentially, so that a few are large and some empty. By counts what a group's matrix
// has no room for is left out. By numbers each group has some of 128 rows, in any order, of the last of which some are nobody's,
// and an eighth of all are.
std::vector<std::int32_t> drawn_sizes(const gemm::Problem& problem, std::uint64_t seed);

// What one product has of A, C and D: rows, which are beside each other, of one of their matrices; along K a part of it.
struct Part {
  std::int64_t matrix = 0;
  std::int64_t matrix_b = 0;
  std::int64_t first = 0;  // row, or k
  std::int64_t count = 0;
  std::int64_t first_of_codes = 0;  // its first row among those of A's factors of blocks

  friend bool operator==(const Part&, const Part&) = default;
};
// Of a batch, of which there are no sizes, every product.
std::vector<Part> parts_of(const gemm::Problem& problem, const std::vector<std::int32_t>& sizes);

// The largest one, and the first and the last that have any.
std::vector<Part> checked_parts(const std::vector<Part>& parts);

// Rows of D that no product may write: by counts the one behind each group's, by numbers the first of 128 that are nobody's.
struct Row {
  std::int64_t matrix = 0;
  std::int64_t row = 0;

  friend bool operator==(const Row&, const Row&) = default;
};
std::vector<Row> rows_of_nobody(const gemm::Problem& problem,
                                const std::vector<std::int32_t>& sizes);

// Rows of A and columns of B that have places among factors of blocks, those of all matrices.
std::int64_t lines_of_codes_a(const gemm::Problem& problem);
std::int64_t lines_of_codes_b(const gemm::Problem& problem);

// The problem that a library without groups has instead: one product of all rows that groups have, or of all K. Its strides are
// numbers.
gemm::Problem one_product(const gemm::Problem& problem, const std::vector<Part>& parts);

}  // namespace tcq::tools
