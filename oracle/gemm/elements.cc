// A table of dtypes, and steps instead of copies wherever steps will do.
#include "oracle/gemm/elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/sum/gemm_epilogue.h"

namespace tcq::oracle::gemm {
namespace {

using Dtypes = std::span<const std::string_view>;

constexpr std::array<std::string_view, 3> of_f16 = {"<f2", "<u2", "<i2"};
constexpr std::array<std::string_view, 4> of_bf16 = {"<u2", "<i2", "<V2", "|V2"};
constexpr std::array<std::string_view, 3> of_f32 = {"<f4", "<u4", "<i4"};
constexpr std::array<std::string_view, 2> of_s32 = {"<i4", "<u4"};
constexpr std::array<std::string_view, 4> of_bytes = {"|u1", "|i1", "|V1", "<V1"};
constexpr std::array<std::string_view, 2> of_s8 = {"|i1", "|u1"};
constexpr std::array<std::string_view, 2> of_u8 = {"|u1", "|i1"};

// numpy's other spelling of the order of single bytes, "<u1" and "=u1", is never written by it.
void check_dtype(const std::string& path, const std::string& dtype, Dtypes known,
                 std::string_view what) {
  if (std::ranges::find(known, dtype) != known.end()) return;
  if (dtype.starts_with('>'))
    throw UsageError(
        fmt::format("{}: its elements are big-endian ({}): expected little-endian ones, as {}",
                    shown_path(path), quoted(dtype), known[0]));
  throw UsageError(fmt::format("{}: its dtype is {}: {} is read from {}", shown_path(path),
                               quoted(dtype), what, fmt::join(known, ", ")));
}

// The element types narrower than their container.
void check_narrow(const std::string& path, Type type, const npy::Array& array) {
  if (bits(type) >= 8) return;
  const auto* bytes = static_cast<const unsigned char*>(array.data());
  const std::size_t count = array.bytes.size() - array.first;
  const unsigned limit = 1u << bits(type);
  const auto* bad = std::find_if(bytes, bytes + count, [&](unsigned b) { return b >= limit; });
  if (bad != bytes + count)
    throw UsageError(fmt::format("{}: element {} is 0x{:02x}: {} has {} bits", shown_path(path),
                                 bad - bytes, *bad, name(type), bits(type)));
}

void check_dimensions(const std::string& path, const npy::Header& header) {
  if (header.shape.size() > 3)
    throw UsageError(fmt::format("{}: has {} dimensions: expected 1 to 3", shown_path(path),
                                 header.shape.size()));
}

// What its shape and order say of how its elements lie. Requires: at most three dimensions.
Matrix laid_out(npy::Array array) {
  Matrix m;
  m.array = std::move(array);
  const npy::Header& header = m.array.header;
  const std::size_t dimensions = header.shape.size();
  m.has_batch = dimensions == 3;
  m.batch = m.has_batch ? header.shape[0] : 1;
  m.rows = dimensions == 1 ? 1 : header.shape[dimensions - 2];
  m.cols = header.shape.back();
  m.batch_step = header.fortran_order ? 1 : m.rows * m.cols;
  m.row_step = header.fortran_order ? m.batch : m.cols;
  m.col_step = header.fortran_order ? m.batch * m.rows : 1;
  return m;
}

}  // namespace

std::span<const std::string_view> dtypes_of(Type type) {
  switch (type) {
    case Type::f16: return of_f16;
    case Type::bf16: return of_bf16;
    case Type::tf32:
    case Type::f32: return of_f32;
    case Type::s32: return of_s32;
    case Type::s8: return of_s8;
    case Type::u8: return of_u8;
    default: return of_bytes;
  }
}

std::size_t element_bytes(Type type) { return npy::item_bytes(dtypes_of(type)[0]); }

Matrix read_matrix(const std::string& path, Type type) {
  return matrix_of(npy::read(path), path, type);
}

Matrix matrix_of(npy::Array array, const std::string& name, Type type) {
  check_dtype(name, array.header.dtype, dtypes_of(type), tcq::name(type));
  check_narrow(name, type, array);
  check_dimensions(name, array.header);
  return laid_out(std::move(array));
}

Matrix bytes_of(npy::Array array, const std::string& name, std::string_view what) {
  check_dtype(name, array.header.dtype, of_bytes, what);
  check_dimensions(name, array.header);
  return laid_out(std::move(array));
}

std::string shape_text(const Matrix& m) {
  const std::string text = fmt::format("{} x {}", m.rows, m.cols);
  return m.has_batch ? fmt::format("{} x {}", m.batch, text) : text;
}

void check_fits(Type type, std::int64_t rows, std::int64_t cols, std::int64_t batch) {
  std::uint64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(rows, cols, &bytes) ||
                         __builtin_mul_overflow(bytes, batch, &bytes) ||
                         __builtin_mul_overflow(bytes, std::uint64_t{element_bytes(type)}, &bytes);
  if (overflows || bytes > npy::memory_bytes())
    throw UsageError(fmt::format("{}{} x {} elements of {} do not fit this machine's memory",
                                 batch == 1 ? "" : fmt::format("{} x ", batch), rows, cols,
                                 name(type)));
}

namespace {

// Requires: it fits.
Matrix zeros_of_shape(Type type, std::vector<std::int64_t> shape) {
  npy::Array array;
  std::size_t bytes = element_bytes(type);
  for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
  array.header = {std::string(dtypes_of(type)[0]), false, std::move(shape)};
  array.bytes = npy::header_bytes(array.header);
  array.first = array.bytes.size();
  array.bytes.resize(array.first + bytes);
  return laid_out(std::move(array));
}

}  // namespace

Matrix zeros(Type type, std::int64_t rows, std::int64_t cols) {
  check_fits(type, rows, cols);
  return zeros_of_shape(type, {rows, cols});
}

Matrix batch_of_zeros(Type type, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  check_fits(type, rows, cols, batch);
  return zeros_of_shape(type, {batch, rows, cols});
}

Matrix zeros_like(Type type, const Matrix& m) {
  return m.has_batch ? batch_of_zeros(type, m.batch, m.rows, m.cols) : zeros(type, m.rows, m.cols);
}

Matrix transposed(Matrix m) {
  std::swap(m.rows, m.cols);
  std::swap(m.row_step, m.col_step);
  return m;
}

namespace {

// Calls visit(entry, row, col) for every element.
template <class Visit>
void each_place(const Matrix& m, Visit visit) {
  for (std::int64_t e = 0; e < m.batch; ++e)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j) visit(e, i, j);
}

}  // namespace

Matrix row_major(Type type, Matrix m) {
  const bool rows_follow = m.col_step == 1 && m.row_step == m.cols;
  if (rows_follow && (m.batch == 1 || m.batch_step == m.rows * m.cols)) return m;
  Matrix moved = zeros_like(type, m);
  char* to = moved.array.bytes.data() + moved.array.first;
  each_place(m, [&](std::int64_t e, std::int64_t i, std::int64_t j) {
    store_element(type, to, moved.index(e, i, j),
                  load_element(type, m.array.data(), m.index(e, i, j)));
  });
  return moved;
}

Matrix unpacked(const Matrix& bytes) {
  constexpr std::uint32_t codes = 16;  // of an e2m1
  Matrix shape = bytes;
  shape.cols *= 2;
  Matrix elements = zeros_like(Type::e2m1, shape);
  char* to = elements.array.bytes.data() + elements.array.first;
  each_place(bytes, [&](std::int64_t e, std::int64_t i, std::int64_t j) {
    const std::uint32_t both = load_element(Type::u8, bytes.array.data(), bytes.index(e, i, j));
    store_element(Type::e2m1, to, elements.index(e, i, 2 * j), both % codes);
    store_element(Type::e2m1, to, elements.index(e, i, 2 * j + 1), both / codes);
  });
  return elements;
}

}  // namespace tcq::oracle::gemm
