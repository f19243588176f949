// Which dtypes of .npy hold the elements of a type, and matrices of such elements from files.
//
// f16 may be a float16; bf16, fp8 and narrower travel as unsigned integers of 16 and 8 bits (an element
// to a byte, its bits the low ones), or as what ml_dtypes writes, V2 and V1. Only little-endian files are
// taken. Example: the dtypes of bf16 are <u2 <V2 |V2, and <u2 is what is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "oracle/gemm/npy.h"
#include "sim/isa/base/element.h"

namespace tcq::oracle::gemm {

// The first is the one that is written.
std::span<const std::string_view> dtypes_of(Type type);

// Bytes of an element in memory and in files.
std::size_t element_bytes(Type type);

// A matrix in memory: element [row][col] lies at row * row_step + col * col_step.
struct Matrix {
  npy::Array array;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_step = 0;
  std::int64_t col_step = 0;

  std::int64_t index(std::int64_t row, std::int64_t col) const {
    return row * row_step + col * col_step;
  }
};

// The matrix of a file, as its shape and order say; a vector is one row. Throws UsageError: another
// dtype, another byte order, bits where a narrow type has none.
Matrix read_matrix(const std::string& path, Type type);
// The same of an array that was read; `name` names it in complaints.
Matrix matrix_of(npy::Array array, const std::string& name, Type type);

// Throws UsageError if there is no memory for such a matrix.
void check_fits(Type type, std::int64_t rows, std::int64_t cols);

// Of this many zeros, rows one behind the other. Throws what check_fits() throws.
Matrix zeros(Type type, std::int64_t rows, std::int64_t cols);

// The same matrix with rows and columns exchanged: nothing moves.
Matrix transposed(Matrix matrix);

// The same elements with rows one behind the other: elements move unless they lie so.
Matrix row_major(Type type, Matrix matrix);

}  // namespace tcq::oracle::gemm
