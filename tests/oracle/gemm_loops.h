// GEMMs by loops, for tests of oracle/gemm: what an array holds, which product meets which matrix, the chains and the
// epilogue, from one index to the next. Only the sum of one instruction is sim/num's; where elements lie in a file is
// written down here a second time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/gemm/npy.h"
#include "oracle/gemm/scaling.h"
#include "oracle/sum/gemm_epilogue.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/activation.h"
#include "sim/num/dot.h"
#include "sim/num/narrow.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle::gemm::loops {

using tcgen05::Kind;

// --- arrays ----------------------------------------------------------------------------------------

// batch 0: two dimensions.
struct Tensor {
  Type type = Type::f32;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::uint32_t> words = {};

  std::int64_t entries() const { return std::max<std::int64_t>(1, batch); }
  std::uint32_t& at(std::int64_t e, std::int64_t i, std::int64_t j) {
    return words[static_cast<std::size_t>((e * rows + i) * cols + j)];
  }
  // Of a product of the batch: the one matrix serves all.
  std::uint32_t of(std::int64_t product, std::int64_t i, std::int64_t j) const {
    const std::int64_t e = entries() == 1 ? 0 : product;
    return words[static_cast<std::size_t>((e * rows + i) * cols + j)];
  }
};

inline Tensor shaped(Type type, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  Tensor t{type, batch, rows, cols};
  t.words.resize(static_cast<std::size_t>(t.entries() * rows * cols));
  return t;
}

inline Tensor turned(Tensor t) {
  Tensor out = shaped(t.type, t.batch, t.cols, t.rows);
  for (std::int64_t e = 0; e < t.entries(); ++e)
    for (std::int64_t i = 0; i < t.rows; ++i)
      for (std::int64_t j = 0; j < t.cols; ++j) out.at(e, j, i) = t.at(e, i, j);
  return out;
}

// Two e2m1 to a byte, neighbours along the columns.
inline Tensor packed(Tensor t) {
  Tensor out = shaped(Type::u8, t.batch, t.rows, t.cols / 2);
  for (std::int64_t e = 0; e < t.entries(); ++e)
    for (std::int64_t i = 0; i < t.rows; ++i)
      for (std::int64_t j = 0; j < out.cols; ++j)
        out.at(e, i, j) = t.at(e, i, 2 * j) + 16 * t.at(e, i, 2 * j + 1);
  return out;
}

inline const char* dtype_of(Type type) {
  switch (type) {
    case Type::f16: return "<f2";
    case Type::bf16: return "<u2";
    case Type::tf32:
    case Type::f32: return "<f4";
    case Type::s32: return "<i4";
    case Type::s8: return "|i1";
    default: return "|u1";
  }
}

// The file that NumPy writes.
inline npy::Array file_of(Tensor t, bool fortran) {
  npy::Header header{dtype_of(t.type), fortran, {t.rows, t.cols}};
  if (t.batch > 0) header.shape.insert(header.shape.begin(), t.batch);
  std::string bytes = npy::header_bytes(header);
  const std::size_t width = npy::item_bytes(header.dtype);
  const auto put = [&](std::uint32_t word) {
    for (std::size_t b = 0; b < width; ++b, word >>= 8) bytes += static_cast<char>(word & 255);
  };
  if (!fortran)
    for (const std::uint32_t word : t.words) put(word);
  else
    for (std::int64_t j = 0; j < t.cols; ++j)
      for (std::int64_t i = 0; i < t.rows; ++i)
        for (std::int64_t e = 0; e < t.entries(); ++e) put(t.at(e, i, j));
  return npy::parse(std::move(bytes), "drawn");
}

// --- what a request is -----------------------------------------------------------------------------

struct Part {
  std::int64_t first;
  std::int64_t count;
};

struct Case {
  Type a = Type::bf16, b = Type::bf16, out = Type::f32, accumulator = Type::f32;
  std::int64_t batch = 0, m = 0, n = 0, k = 0;  // batch 0: no array of three dimensions
  std::optional<Kind> kind;                     // none: wgmma
  Scaling scaling = Scaling::None;
  std::vector<Part> parts;
  bool promotes = false, saturates = false;
  float alpha = 1, beta = 0;
  bool relu = false;
  Tensor in_a, in_b;  // M x K, K x N
  std::optional<Tensor> c, bias, scale_a, scale_b;
  std::vector<std::string> words = {"a", "b"};
  std::map<std::string, npy::Array> files;
  std::set<std::string> traits;  // what the draw chose
};

inline float f32(std::uint32_t word) {
  const float value = std::bit_cast<float>(word);
  return std::isnan(value) ? std::bit_cast<float>(canonical_nan_f32) : value;
}
inline std::uint32_t bits_of(float value) {
  return std::isnan(value) ? canonical_nan_f32 : std::bit_cast<std::uint32_t>(value);
}
inline float value_of(Type type, std::uint32_t word) {
  return type == Type::f32 ? f32(word) : static_cast<float>(element_value(type, word));
}

// --- the loops -------------------------------------------------------------------------------------

inline int products_of(const Case& x) {
  return x.kind ? tcgen05::products(*x.kind) : wgmma::stored_k(x.a);
}

inline std::uint32_t instruction(const Case& x, std::int64_t e, std::int64_t i, std::int64_t j,
                                 Part part, std::uint32_t sum) {
  std::array<std::uint32_t, max_products> a{}, b{};
  std::array<std::uint8_t, 4> sfa{}, sfb{};
  const int count = products_of(x);
  const int block = is_block_scaled(x.scaling) ? scale_block(x.scaling) : count;
  for (int p = 0; p < count && p < part.count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    a[at] = x.in_a.of(e, i, part.first + p);
    b[at] = x.in_b.of(e, part.first + p, j);
    if (!is_block_scaled(x.scaling)) continue;
    const auto factor = static_cast<std::size_t>(p / block);
    sfa[factor] = static_cast<std::uint8_t>(x.scale_a->of(e, i, (part.first + p) / block));
    sfb[factor] = static_cast<std::uint8_t>(x.scale_b->of(e, (part.first + p) / block, j));
  }
  const DotTypes types{x.accumulator, x.a, x.b};
  if (!x.kind) return dot(types, a.data(), b.data(), count, sum, {.satfinite = x.saturates});
  tcgen05::DotForm form;
  form.opcode.kind = *x.kind;
  form.opcode.scale_vec = block == 16                 ? tcgen05::ScaleVec::X4
                          : *x.kind == Kind::mxf8f6f4 ? tcgen05::ScaleVec::X1
                                                      : tcgen05::ScaleVec::X2;
  form.idesc.a = x.a;
  form.idesc.b = x.b;
  form.idesc.d = x.accumulator;
  form.idesc.saturate = x.saturates;
  form.idesc.scale_type =
      x.scaling == Scaling::Ue4m3Block16 ? tcgen05::ScaleType::ue4m3 : tcgen05::ScaleType::ue8m0;
  return tcgen05::dot(form, {a.data(), b.data(), sum, sfa.data(), sfb.data()});
}

inline std::uint32_t chain(const Case& x, std::int64_t e, std::int64_t i, std::int64_t j,
                           Part part) {
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; k < part.count; k += products_of(x))
    sum = instruction(x, e, i, j, {part.first + k, part.count - k}, sum);
  return x.accumulator == Type::f16 ? bits_of(value_of(Type::f16, sum)) : sum;
}

inline float factor(const Case& x, std::int64_t e, std::int64_t i, std::int64_t j,
                    std::int64_t block) {
  const bool one = x.scaling == Scaling::Tensor;
  const std::int64_t of_b = x.scaling == Scaling::Block128 ? j / 128 : j;
  const float a = f32(x.scale_a->of(e, one ? 0 : i, block));
  const float b = f32(x.scale_b->of(e, block, one ? 0 : of_b));
  return rounded::multiply(a, b);
}

inline float promoted(const Case& x, std::int64_t e, std::int64_t i, std::int64_t j, Part part) {
  float sum = 0;
  for (std::int64_t k = 0; k < part.count; k += 128) {
    const Part of{part.first + k, std::min<std::int64_t>(128, part.count - k)};
    const float by = scales_blocks(x.scaling) ? factor(x, e, i, j, of.first / 128) : 1;
    sum = f32(bits_of(rounded::multiply_add(by, f32(chain(x, e, i, j, of)), sum)));
  }
  return sum;
}

inline std::uint32_t output(const Case& x, std::int64_t e, std::int64_t i, std::int64_t j) {
  float sum = 0;
  if (!is_float(x.a)) {
    const std::uint32_t word = chain(x, e, i, j, {0, x.k});
    if (x.out == Type::s32) return word;
    sum = static_cast<float>(static_cast<std::int32_t>(word));
  } else {
    for (const Part& part : x.parts) {
      const float of = x.promotes ? promoted(x, e, i, j, part) : f32(chain(x, e, i, j, part));
      sum = &part == &x.parts[0] ? of : f32(bits_of(rounded::add(sum, of)));
    }
  }
  if (x.scaling == Scaling::Tensor || x.scaling == Scaling::RowColumn)
    sum = rounded::multiply(factor(x, e, i, j, 0), sum);
  float value = rounded::multiply(x.alpha, sum);
  if (x.beta != 0) value = rounded::multiply_add(x.beta, value_of(x.out, x.c->of(e, i, j)), value);
  if (x.bias) value = rounded::add(value, value_of(x.out, x.bias->of(e, 0, j)));
  if (x.relu && value < 0) value = 0;
  return x.out == Type::f32 ? bits_of(value) : narrow(x.out, bits_of(value));
}

}  // namespace tcq::oracle::gemm::loops
