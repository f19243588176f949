// Which dtypes of .npy hold the elements of a type, and matrices of such elements from files: one of two dimensions,
// as many as the first of three says.
//
// f16 may be a float16; bf16, fp8 and narrower travel as unsigned integers of 16 and 8 bits (an element
// to a byte, its bits the low ones), or as what ml_dtypes writes, V2 and V1. Only little-endian files are
// taken. Two e2m1 may share a byte, neighbours along K, the first in the low bits. Example: the dtypes of bf16 are <u2 <V2 |V2, and <u2 is what is written.
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

// Matrices in memory, of one shape: element [row][col] of entry e lies at e * batch_step + row * row_step +
// col * col_step.
struct Matrix {
  npy::Array array;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_step = 0;
  std::int64_t col_step = 0;
  bool has_batch = false;  // three dimensions
  std::int64_t batch = 1;  // entries
  std::int64_t batch_step = 0;

  std::int64_t index(std::int64_t row, std::int64_t col) const {
    return row * row_step + col * col_step;
  }
  std::int64_t index(std::int64_t entry, std::int64_t row, std::int64_t col) const {
    return entry * batch_step + index(row, col);
  }
  // From one product to the next: nothing where all of them have the same entry.
  std::int64_t product_step() const { return batch == 1 ? 0 : batch_step; }
};

// "24 x 200", of three dimensions "4 x 24 x 200".
std::string shape_text(const Matrix& matrix);

// The matrix of a file, as its shape and order say; a vector is one row. Throws UsageError: another
// dtype, another byte order, bits where a narrow type has none.
Matrix read_matrix(const std::string& path, Type type);
// The same of an array that was read; `name` names it in complaints.
Matrix matrix_of(npy::Array array, const std::string& name, Type type);
// Bytes that are no elements: `what` says in complaints what they are.
Matrix bytes_of(npy::Array array, const std::string& name, std::string_view what);
// Of bytes that hold two e2m1 each, neighbours along their columns.
Matrix unpacked(const Matrix& bytes);

// Throws UsageError if there is no memory for such matrices.
void check_fits(Type type, std::int64_t rows, std::int64_t cols, std::int64_t batch = 1);

// Of this many zeros, rows one behind the other. Throws what check_fits() throws.
Matrix zeros(Type type, std::int64_t rows, std::int64_t cols);
Matrix batch_of_zeros(Type type, std::int64_t batch, std::int64_t rows, std::int64_t cols);
// Zeros in the shape of another one.
Matrix zeros_like(Type type, const Matrix& matrix);

// The same matrices with rows and columns exchanged: nothing moves.
Matrix transposed(Matrix matrix);

// The same elements with rows one behind the other: elements move unless they lie so.
Matrix row_major(Type type, Matrix matrix);

}  // namespace tcq::oracle::gemm
