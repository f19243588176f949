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
void check_dtype(const std::string& path, const std::string& dtype, Type type) {
  const Dtypes known = dtypes_of(type);
  if (std::ranges::find(known, dtype) != known.end()) return;
  if (dtype.starts_with('>'))
    throw UsageError(
        fmt::format("{}: its elements are big-endian ({}): expected little-endian ones, as {}",
                    shown_path(path), quoted(dtype), known[0]));
  throw UsageError(fmt::format("{}: its dtype is {}: {} is read from {}", shown_path(path),
                               quoted(dtype), name(type), fmt::join(known, ", ")));
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
  Matrix m;
  m.array = std::move(array);
  const npy::Header& header = m.array.header;
  check_dtype(name, header.dtype, type);
  check_narrow(name, type, m.array);
  m.rows = header.shape.size() == 2 ? header.shape[0] : 1;
  m.cols = header.shape.back();
  m.row_step = header.fortran_order ? 1 : m.cols;
  m.col_step = header.fortran_order ? m.rows : 1;
  return m;
}

void check_fits(Type type, std::int64_t rows, std::int64_t cols) {
  std::uint64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(rows, cols, &bytes) ||
                         __builtin_mul_overflow(bytes, std::uint64_t{element_bytes(type)}, &bytes);
  if (overflows || bytes > npy::memory_bytes())
    throw UsageError(fmt::format("{} x {} elements of {} do not fit this machine's memory", rows,
                                 cols, name(type)));
}

Matrix zeros(Type type, std::int64_t rows, std::int64_t cols) {
  check_fits(type, rows, cols);
  Matrix m{{}, rows, cols, cols, 1};
  m.array.header = {std::string(dtypes_of(type)[0]), false, {rows, cols}};
  m.array.bytes = npy::header_bytes(m.array.header);
  m.array.first = m.array.bytes.size();
  m.array.bytes.resize(m.array.first + static_cast<std::size_t>(rows * cols) * element_bytes(type));
  return m;
}

Matrix transposed(Matrix m) {
  std::swap(m.rows, m.cols);
  std::swap(m.row_step, m.col_step);
  return m;
}

Matrix row_major(Type type, Matrix m) {
  if (m.col_step == 1 && m.row_step == m.cols) return m;
  Matrix moved = zeros(type, m.rows, m.cols);
  char* to = moved.array.bytes.data() + moved.array.first;
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t j = 0; j < m.cols; ++j)
      store_element(type, to, moved.index(i, j), load_element(type, m.array.data(), m.index(i, j)));
  return moved;
}

}  // namespace tcq::oracle::gemm
