#include "sim/num/fast/lines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>

#include "sim/num/fast/kernel.h"

namespace tcq::fast {
namespace {

// Scaled exponents further from 0 than this are left to sim/num: a value must fit an f32.
constexpr int scaled_limit = 100;

constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// An element in the engines' form, before its scale factor. NaN and infinity: value 0, zero_exponent.
struct Unpacked {
  float value;
  std::int32_t exponent;
  bool special;
};

constexpr float value_of(const Decoded& x, int fraction_bits) {
  if (x.kind != Class::Finite) return 0;
  return static_cast<float>(x.significand) * power_of_two(x.exponent - fraction_bits);
}

template <Type type>
constexpr Unpacked decode(std::uint32_t word, bool negate) {
  const Decoded x = decode_float(type, word, negate);
  return {value_of(x, float_format(type).fraction_bits), x.exponent, is_special(x.kind)};
}

// All elements of a byte: decoding one costs what some thirty multiply-adds do.
constexpr std::size_t codes = 256;

template <Type type>
constexpr std::array<Unpacked, 2 * codes> unpacked_codes() {
  std::array<Unpacked, 2 * codes> all{};
  for (std::size_t code = 0; code < 2 * codes; ++code)
    all[code] = decode<type>(static_cast<std::uint32_t>(code % codes), code >= codes);
  return all;
}

// Elements of at most 8 bits.
template <Type type>
void unpack_codes(Batch& batch, bool negate) {
  static constexpr std::array<Unpacked, 2 * codes> all = unpacked_codes<type>();
  for (std::size_t i = 0; i < Batch::lanes; ++i) {
    const std::uint32_t word = batch.words[i];
    const Unpacked x = word < codes ? all[word + (negate ? codes : 0)] : decode<type>(word, negate);
    batch.values[i] = x.value;
    batch.exponents[i] = x.exponent;
    batch.special[i] |= x.special ? 1 : 0;
  }
}

void scale(Batch& batch, std::size_t i, const tcgen05::Scale& s) {
  const bool fits = !s.nan && std::abs(s.exponent) < scaled_limit;
  batch.special[i] |= fits ? 0 : 1;
  batch.values[i] *= power_of_two(fits ? s.exponent : 0);
  batch.exponents[i] += s.exponent;
}

void widen(Batch& batch) {
  for (std::size_t i = 0; i < Batch::lanes; ++i) {
    const int exponent = batch.exponents[i];
    const bool counts = exponent > zero_exponent / 2;
    batch.least[i] = std::min(batch.least[i], counts ? exponent : Range().least);
    batch.most[i] = std::max(batch.most[i], counts ? exponent : Range().most);
  }
}

// scale_at(i): the scale factor of an element.
template <Type type, class ScaleAt>
void unpack(Batch& batch, bool negate, std::size_t scaled, ScaleAt scale_at) {
  if constexpr (bits(type) > 8) {
    assert(scaled == 0);  // a kind with scale factors has elements of 8 bits and fewer
    unpack_wide(type, negate, batch);
  } else {
    unpack_codes<type>(batch, negate);
    for (std::size_t i = 0; i < scaled; ++i) scale(batch, i, scale_at(i));
    widen(batch);
  }
}

Range range_of(const Batch& batch, std::size_t i) {
  return {batch.least[i], batch.most[i], batch.special[i] != 0};
}

Batch empty_batch() {
  Batch batch;
  batch.special.fill(0);
  batch.least.fill(Range().least);
  batch.most.fill(Range().most);
  return batch;
}

void load(Batch& batch, const std::uint32_t* from, std::size_t step, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) batch.words[i] = from[i * step];
  for (std::size_t i = count; i < Batch::lanes; ++i) batch.words[i] = 0;
}

}  // namespace

void Lines::assign(const Instruction& in, Side side, int count, int k) {
  side_ = side;
  type_ = side == Side::Rows ? in.types.a : in.types.b;
  negate_ = side == Side::Rows ? in.negate_a : in.negate_b;
  products_ = in.products;
  count_ = count;
  k_ = (k + in.products - 1) / in.products * in.products;
  const int lines =
      side == Side::Rows ? count : (count + panel_columns - 1) / panel_columns * panel_columns;
  const bool is_row_of_floats = is_float(type_) && side == Side::Rows;
  const bool is_panel_of_floats = is_float(type_) && side == Side::Columns;
  scales.clear();
  words_.assign(at(count, 0), 0);
  ranges_.assign(static_cast<std::size_t>(count), {});
  values_.assign(at(lines, 0), 0);
  pairs_.assign(is_row_of_floats ? at(lines, 0) : 0, 0);
  exponents_.assign(is_panel_of_floats ? at(lines, 0) : 0, zero_exponent);
}

tcgen05::Scale Lines::scale_of(int line, int k) const {
  const int factors = k_ / products_;
  return tcgen05::decode_scale(tcgen05::ScaleType::ue8m0,
                               scales[static_cast<std::size_t>(line * factors + k / products_)]);
}

template <Type type>
void Lines::pack_integers(int line) {
  const bool is_row = side_ == Side::Rows;
  const std::size_t step = is_row ? 1 : static_cast<std::size_t>(panel_columns);
  float* to = values_.data() + (is_row ? at(line, 0)
                                       : at(line / panel_columns * panel_columns, 0) +
                                             static_cast<std::size_t>(line % panel_columns));
  const std::uint32_t* from = words(line);
  for (std::size_t k = 0; k < static_cast<std::size_t>(k_); ++k)
    to[k * step] = static_cast<float>(decode_integer(type, from[k]));
}

template <Type type>
void Lines::pack_row(int line) {
  Batch batch = empty_batch();
  Range& range = ranges_[static_cast<std::size_t>(line)];
  for (int k = 0; k < k_; k += panel_columns) {
    const auto count = static_cast<std::size_t>(std::min(panel_columns, k_ - k));
    load(batch, words(line) + k, 1, count);
    unpack<type>(batch, negate_, scales.empty() ? 0 : count,
                 [&](std::size_t i) { return scale_of(line, k + static_cast<int>(i)); });
    std::copy_n(batch.values.begin(), count, values_.begin() + distance(line, k));
    std::transform(batch.exponents.begin(), batch.exponents.begin() + static_cast<int>(count),
                   pairs_.begin() + distance(line, k), [](std::int32_t exponent) {
                     const auto half = static_cast<std::uint16_t>(exponent);
                     return std::uint32_t{half} << 16 | half;
                   });
  }
  range = {};
  for (std::size_t i = 0; i < Batch::lanes; ++i) fast::widen(range, range_of(batch, i));
}

// A batch is a row of a panel.
static_assert(Batch::lanes == panel_columns);

template <Type type>
void Lines::pack_panel(int first) {
  Batch batch = empty_batch();
  const auto count = static_cast<std::size_t>(std::min(panel_columns, count_ - first));
  for (int k = 0; k < k_; ++k) {
    load(batch, words(first) + k, static_cast<std::size_t>(k_), count);
    unpack<type>(batch, negate_, scales.empty() ? 0 : count,
                 [&](std::size_t i) { return scale_of(first + static_cast<int>(i), k); });
    const auto to = distance(first, 0) + k * panel_columns;
    std::copy(batch.values.begin(), batch.values.end(), values_.begin() + to);
    std::transform(batch.exponents.begin(), batch.exponents.end(), exponents_.begin() + to,
                   [](std::int32_t exponent) { return static_cast<std::int16_t>(exponent); });
  }
  for (std::size_t i = 0; i < count; ++i)
    ranges_[static_cast<std::size_t>(first) + i] = range_of(batch, i);
}

template <Type type>
void Lines::pack_all() {
  const int step = side_ == Side::Columns && is_float(type) ? panel_columns : 1;
  for (int line = 0; line < count_; line += step) {
    if constexpr (!is_float(type))
      pack_integers<type>(line);
    else if (side_ == Side::Rows)
      pack_row<type>(line);
    else
      pack_panel<type>(line);
  }
}

void Lines::pack() {
  switch (type_) {
    case Type::f16: return pack_all<Type::f16>();
    case Type::bf16: return pack_all<Type::bf16>();
    case Type::tf32: return pack_all<Type::tf32>();
    case Type::e4m3: return pack_all<Type::e4m3>();
    case Type::e5m2: return pack_all<Type::e5m2>();
    case Type::e2m3: return pack_all<Type::e2m3>();
    case Type::e3m2: return pack_all<Type::e3m2>();
    case Type::e2m1: return pack_all<Type::e2m1>();
    case Type::s8: return pack_all<Type::s8>();
    default: return pack_all<Type::u8>();
  }
}

}  // namespace tcq::fast
