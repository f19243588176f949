// Rows and columns are decoded once, then every output is one sum; see tcgen05_mma.h.
#include "sim/machine/tcgen05_mma.h"

#include <array>
#include <cassert>
#include <cstddef>

namespace tcq::tcgen05 {
namespace {

std::size_t index(int row, int count) { return static_cast<std::size_t>(row * count); }

// A row of A or a column of B of kinds that are neither integer nor packed.
struct FloatRow {
  std::array<Decoded, most_products> elements;
  bool nan = false;  // its scale factor is NaN
};

struct IntegerRow {
  std::array<std::int32_t, most_products> elements;
};

// What a row of A and a column of B have in common.
struct Side {
  Type type;
  bool negate;
};

void decode(const DotForm& form, const Side& side, const std::uint32_t* words,
            const std::uint8_t* scales, FloatRow& row) {
  const Scale scale = row_scale(form, scales);
  row.nan = scale.nan;
  for (int k = 0; k < products(form.opcode.kind); ++k)
    row.elements[static_cast<std::size_t>(k)] =
        scaled(decode_float(side.type, words[k], side.negate), scale);
}

void decode(const DotForm& form, const Side& side, const std::uint32_t* words,
            const std::uint8_t* scales, PackedRow& row) {
  row = decode_packed_row(words, side.negate, form.idesc.scale_type, scales,
                          scale_block(form.opcode));
}

void decode(const DotForm& form, const Side& side, const std::uint32_t* words, const std::uint8_t*,
            IntegerRow& row) {
  for (int k = 0; k < products(form.opcode.kind); ++k)
    row.elements[static_cast<std::size_t>(k)] = decode_integer(side.type, words[k]);
}

std::uint32_t output(const DotForm& form, const FloatRow& a, const FloatRow& b, std::uint32_t c) {
  const DotTraits traits = tcgen05_dot_traits(form.opcode.kind, form.idesc.d);
  if (a.nan || b.nan) return nan_bits(traits.conversion);
  return fused_sum(traits, form.idesc.d, form.idesc.a, form.idesc.b, a.elements.data(),
                   b.elements.data(), products(form.opcode.kind), decode_input_d(form, c));
}

std::uint32_t output(const DotForm& form, const PackedRow& a, const PackedRow& b, std::uint32_t c) {
  return block_scaled_sum(tcgen05_dot_traits(form.opcode.kind, form.idesc.d), a, b,
                          decode_input_d(form, c));
}

std::uint32_t output(const DotForm& form, const IntegerRow& a, const IntegerRow& b,
                     std::uint32_t c) {
  std::int64_t sum = form.accumulate ? decode_integer(Type::s32, c) : 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(products(form.opcode.kind)); ++k)
    sum += a.elements[k] * b.elements[k];
  return finish_integer(sum, form.idesc.saturate);
}

// One instruction for one kind of decoded row.
template <class Row>
class Product {
 public:
  explicit Product(const MmaTile& tile) : tile_(tile), form_(tile.form) {}

  void run(std::vector<std::uint32_t>& d) const {
    const int n = form_.idesc.n;
    const std::vector<Row> columns = form_.opcode.sparse ? std::vector<Row>() : all_columns();
    Row row;
    Row selected;
    for (int i = 0; i < form_.idesc.m; ++i) {
      decode(form_, {form_.idesc.a, form_.idesc.negate_a}, &tile_.a[index(i, k_)],
             tile_.scales_a.data() + index(i, scales_), row);
      for (int j = 0; j < n; ++j) {
        if (form_.opcode.sparse) select_column(i, j, selected);
        std::uint32_t& word = d[index(i, n) + index(j, 1)];
        word = output(form_, row,
                      form_.opcode.sparse ? selected : columns[static_cast<std::size_t>(j)], word);
      }
    }
  }

 private:
  void decode_column(int j, const std::uint32_t* words, Row& column) const {
    decode(form_, {form_.idesc.b, form_.idesc.negate_b}, words,
           tile_.scales_b.data() + index(j, scales_), column);
  }

  std::vector<Row> all_columns() const {
    std::vector<Row> columns(static_cast<std::size_t>(form_.idesc.n));
    for (int j = 0; j < form_.idesc.n; ++j)
      decode_column(j, &tile_.b[index(j, k_)], columns[static_cast<std::size_t>(j)]);
    return columns;
  }

  // The elements of column j that the stored elements of row i meet.
  void select_column(int i, int j, Row& column) const {
    const std::size_t logical_k = tile_.b.size() / static_cast<std::size_t>(form_.idesc.n);
    const std::uint32_t* words = &tile_.b[static_cast<std::size_t>(j) * logical_k];
    std::array<std::uint32_t, most_products> met{};
    for (int k = 0; k < k_; ++k)
      met[static_cast<std::size_t>(k)] = words[tile_.selected_k[index(i, k_) + index(k, 1)]];
    decode_column(j, met.data(), column);
  }

  const MmaTile& tile_;
  const DotForm& form_;
  const int k_ = products(form_.opcode.kind);
  const int scales_ = scale_count(form_.opcode);
};

}  // namespace

Fault multiply(const MmaTile& tile, std::vector<std::uint32_t>& d) {
  if (const Fault fault = check_modelled(tile.form); fault != Fault::None) return fault;
  const Kind kind = tile.form.opcode.kind;
  assert(tile.a.size() == index(tile.form.idesc.m, products(kind)));
  assert(tile.scales_a.size() == index(tile.form.idesc.m, scale_count(tile.form.opcode)));
  assert(tile.scales_b.size() == index(tile.form.idesc.n, scale_count(tile.form.opcode)));
  assert(d.size() == index(tile.form.idesc.m, tile.form.idesc.n));
  assert(!tile.form.opcode.sparse || tile.selected_k.size() == tile.a.size());
  if (kind == Kind::i8)
    Product<IntegerRow>(tile).run(d);
  else if (is_packed_4bit(kind))
    Product<PackedRow>(tile).run(d);
  else
    Product<FloatRow>(tile).run(d);
  return Fault::None;
}

}  // namespace tcq::tcgen05
