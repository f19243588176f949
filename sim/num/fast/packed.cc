#include "sim/num/fast/packed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "sim/num/fast/packed_kernel.h"

namespace tcq::fast {
namespace {

using tcgen05::group_count;
using tcgen05::packed_products;

constexpr auto width = static_cast<std::size_t>(panel_columns);

std::size_t padded(Side side, int count) {
  const auto lines = static_cast<std::size_t>(count);
  return side == Side::Rows ? lines : (lines + width - 1) / width * width;
}

constexpr std::size_t element_codes = 16;

constexpr std::array<std::int16_t, 2 * element_codes> all_halves() {
  std::array<std::int16_t, 2 * element_codes> all{};
  for (std::uint32_t code = 0; code < 2 * element_codes; ++code)
    all[code] = tcgen05::decode_halves(code % element_codes, code >= element_codes);
  return all;
}

}  // namespace

tcgen05::PackedRow packed_row(const std::uint32_t* words, bool negate,
                              tcgen05::ScaleType scale_type, const std::uint8_t* scales,
                              int scale_block) {
  static constexpr std::array<std::int16_t, 2 * element_codes> halves = all_halves();
  constexpr std::array<std::uint32_t, packed_products> zeros{};
  tcgen05::PackedRow row =
      tcgen05::decode_packed_row(zeros.data(), false, scale_type, scales, scale_block);
  const std::size_t sign = negate ? element_codes : 0;
  for (std::size_t i = 0; i < packed_products; ++i) {
    row.halves[i] = halves[words[i] % element_codes + sign];
    if (row.halves[i] != 0)
      row.nonzero[i / tcgen05::group_products] |= 1u << (i % tcgen05::group_products);
  }
  return row;
}

PackedLines::PackedLines(Side side, int count)
    : side_(side),
      rows_(static_cast<std::size_t>(count)),
      halves_(padded(side, count) * packed_products),
      significands_(padded(side, count) * group_count),
      exponents_(padded(side, count) * group_count, zero_exponent),
      nonzero_(padded(side, count) * group_count) {}

void PackedLines::set(int line, const tcgen05::PackedRow& row) {
  rows_[static_cast<std::size_t>(line)] = row;
  const auto at = static_cast<std::size_t>(line);
  const bool is_row = side_ == Side::Rows;
  const std::size_t step = is_row ? 1 : width;
  const std::size_t first =
      is_row ? at * packed_products : at / width * width * packed_products + at % width;
  for (std::size_t k = 0; k < packed_products; ++k)
    halves_[first + k * step] = static_cast<float>(row.halves[k]);
  const std::size_t group =
      is_row ? at * group_count : at / width * width * group_count + at % width;
  for (std::size_t g = 0; g < group_count; ++g) {
    significands_[group + g * step] = static_cast<float>(row.significand[g]);
    exponents_[group + g * step] = row.scale_exponent[g];
    nonzero_[group + g * step] = static_cast<std::int32_t>(row.nonzero[g]);
  }
}

std::size_t PackedLines::groups_at(int line) const {
  return static_cast<std::size_t>(line) * group_count;
}
const float* PackedLines::halves(int first) const {
  return halves_.data() + static_cast<std::size_t>(first) * packed_products;
}
const float* PackedLines::significands(int first) const {
  return significands_.data() + groups_at(first);
}
const std::int32_t* PackedLines::exponents(int first) const {
  return exponents_.data() + groups_at(first);
}
const std::int32_t* PackedLines::nonzero(int first) const {
  return nonzero_.data() + groups_at(first);
}

void advance_packed(const tcgen05::DotForm& form, const PackedLines& rows,
                    const PackedLines& columns, const Outputs& d) {
  assert(is_packed_4bit(form.opcode.kind));
  const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, form.idesc.d);
  for (int first = 0; first < columns.count(); first += panel_columns) {
    const int count = std::min(panel_columns, columns.count() - first);
    for (int row = 0; row < rows.count(); ++row) {
      std::uint32_t* words = d.words + row * d.stride + first;
      std::array<float, width> c{};
      std::array<std::int32_t, width> again{};
      for (int j = 0; j < count; ++j)
        c[static_cast<std::size_t>(j)] = std::bit_cast<float>(words[j]);
      sum_packed(
          {{rows.halves(row), rows.significands(row), rows.exponents(row), rows.nonzero(row)},
           {columns.halves(first), columns.significands(first), columns.exponents(first),
            columns.nonzero(first)},
           traits.fraction_bits,
           traits.floor_exponent,
           c.data(),
           again.data()});
      for (int j = 0; j < count; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const tcgen05::PackedRow& a = rows.row(row);
        const tcgen05::PackedRow& b = columns.row(first + j);
        words[j] = again[at] != 0 || a.nan || b.nan
                       ? block_scaled_sum(traits, a, b, decode_input_d(form, words[j]))
                       : std::bit_cast<std::uint32_t>(c[at]);
      }
    }
  }
}

}  // namespace tcq::fast
