// Blocks: a panel's columns stay in the nearest cache for all rows, a stretch of K at a time.
#include "sim/num/fast/chain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "sim/num/fast/flush_underflow.h"
#include "sim/num/fast/kernel.h"
#include "sim/num/fused_sum.h"
#include "sim/num/narrow.h"
#include "sim/num/scale_bits.h"

namespace tcq::fast {
namespace {

constexpr int stretch = 128;  // of K: 24 KiB of a panel
constexpr auto width = static_cast<std::size_t>(panel_columns);

float value_of(Type d, std::uint32_t word) {
  if (d != Type::f16) return std::bit_cast<float>(word);
  const Decoded x = decode_float(d, word);
  if (x.kind == Class::Nan) return std::nanf("");
  if (x.kind == Class::Infinite) return x.negative ? -INFINITY : INFINITY;
  return std::ldexp(static_cast<float>(x.significand), x.exponent - float_format(d).fraction_bits);
}

// A value of D's type; every NaN is the canonical one.
std::uint32_t word_of(Type d, float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  if (d == Type::f16) return value == 0 ? 0 : narrow(d, word);
  return value != value ? canonical_nan_f32 : word;
}

// One panel beside all rows: what the kernels read, and the sums on their way.
struct Panel {
  const Lines& rows;
  const Lines& columns;
  int first;                 // column
  const std::uint16_t* met;  // null: dense

  int count() const { return std::min(panel_columns, columns.count() - first); }
  int met_k(int row, int k) const {
    return met == nullptr ? k : met[static_cast<std::size_t>(row * rows.k() + k)];
  }
};

// --- single sums, by the definition ----------------------------------------------------------------

Decoded lowered(Decoded x, int scale) {
  x.exponent = static_cast<std::int16_t>(x.exponent - scale);
  return x;
}

// A row or a column is decoded with the first of its sums, and kept for the others.
class DefinedSums {
 public:
  DefinedSums(const Instruction& in, const Panel& panel) : in_(in), p_(panel) {}

  std::uint32_t sum(int row, int col, std::uint32_t c) {
    const std::vector<Decoded>& b = column(col);
    if (row != row_) decode(p_.rows, row, a_);
    row_ = row;
    for (int first = 0; first < p_.rows.k(); first += in_.products) {
      const Decoded old = lowered(decode_float(in_.types.d, c), first == 0 ? in_.scale_c : 0);
      c = p_.rows.scale(row, first).nan || p_.columns.scale(p_.first + col, first).nan
              ? nan_bits(in_.traits.conversion)
              : fused_sum(in_.traits, in_.types.d, in_.types.a, in_.types.b, a_.data() + first,
                          met(row, first, b), in_.products, old);
    }
    return c;
  }

 private:
  void decode(const Lines& lines, int line, std::vector<Decoded>& out) const {
    out.clear();
    tcgen05::Scale scale = {};
    for (int k = 0; k < lines.k(); ++k) {
      if (k % in_.products == 0) scale = lines.scale(line, k);
      out.push_back(tcgen05::scaled(lines.decoded(line, k), scale));
    }
  }

  const std::vector<Decoded>& column(int col) {
    std::vector<Decoded>& out = columns_[static_cast<std::size_t>(col)];
    if (out.empty()) decode(p_.columns, p_.first + col, out);
    return out;
  }

  // What the products of one instruction meet of a column.
  const Decoded* met(int row, int first, const std::vector<Decoded>& column) {
    if (p_.met == nullptr) return column.data() + first;
    for (int i = 0; i < in_.products; ++i)
      met_[static_cast<std::size_t>(i)] =
          column[static_cast<std::size_t>(p_.met_k(row, first + i))];
    return met_.data();
  }

  const Instruction& in_;
  const Panel& p_;
  int row_ = -1;
  std::vector<Decoded> a_;
  std::array<std::vector<Decoded>, width> columns_;
  std::array<Decoded, max_products> met_;
};

bool is_narrow(const Range& a, const Range& b) {
  return a.least + b.least >= least_product_exponent && a.most + b.most <= most_product_exponent;
}

// --- a panel ---------------------------------------------------------------------------------------

// The elements of a panel that a sparse row meets.
struct Gathered {
  std::vector<float> values;
  std::vector<std::int16_t> exponents;

  void gather(const Panel& p, int row) {
    const int panel = p.first / panel_columns;
    values.resize(static_cast<std::size_t>(p.rows.k()) * width);
    exponents.resize(p.columns.has_exponents() ? values.size() : 0);
    for (int k = 0; k < p.rows.k(); ++k) {
      const auto from = static_cast<std::size_t>(p.met_k(row, k)) * width;
      const auto to = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * width);
      std::copy_n(p.columns.panel_values(panel) + from, width, values.begin() + to);
      if (!exponents.empty())
        std::copy_n(p.columns.panel_exponents(panel) + from, width, exponents.begin() + to);
    }
  }
};

struct Slice {
  const float* values;
  const std::int16_t* exponents;
};

// Sums of one panel on their way, and marks of those that are made again; used by one panel after the other.
struct Room {
  std::vector<float> values;
  std::vector<std::uint32_t> again;
};

class PanelSums {
 public:
  PanelSums(const Instruction& in, const Panel& panel, const Outputs& d, Room& room)
      : in_(in), p_(panel), d_(d), room_(room), defined_(in, panel) {}

  void floats() {
    const auto count = static_cast<std::size_t>(p_.rows.count()) * width;
    room_.values.assign(count, 0);
    room_.again.assign(count, 0);
    for (int j = 0; j < p_.count(); ++j) widen(columns_, p_.columns.range(p_.first + j));
    for (int row = 0; row < p_.rows.count(); ++row) load(row);
    advance_floats();
    for (int row = 0; row < p_.rows.count(); ++row) store(row);
  }

  void integers() {
    for (int row = 0; row < p_.rows.count();) {
      const bool many = p_.met == nullptr && p_.rows.count() - row >= most_integer_rows;
      const int count = many ? most_integer_rows : 1;
      advance_integers(row, count);
      row += count;
    }
  }

 private:
  std::uint32_t& word(int row, int col) { return d_.words[row * d_.stride + p_.first + col]; }
  static std::size_t at(int row) { return static_cast<std::size_t>(row) * width; }

  Slice slice(int row, int k) {
    const int panel = p_.first / panel_columns;
    const std::size_t skipped = static_cast<std::size_t>(k) * width;
    if (p_.met != nullptr) {
      gathered_.gather(p_, row);
      return {gathered_.values.data() + skipped, gathered_.exponents.data() + skipped};
    }
    return {p_.columns.panel_values(panel) + skipped, p_.columns.panel_exponents(panel) + skipped};
  }

  void load(int row) {
    float* to = &room_.values[at(row)];
    const std::uint32_t* from = &word(row, 0);
    if (in_.types.d == Type::f16)
      std::transform(from, from + p_.count(), to,
                     [](std::uint32_t w) { return value_of(Type::f16, w); });
    else
      std::memcpy(to, from, static_cast<std::size_t>(p_.count()) * sizeof *to);
    if (in_.scale_c == 0) return;
    const float scale = std::ldexp(1.0f, -in_.scale_c);
    for (int j = 0; j < p_.count(); ++j) to[j] *= scale;
  }

  void advance_floats() {
    [[maybe_unused]] const FlushUnderflow flush;
    for (int k = 0; k < p_.rows.k(); k += stretch)
      for (int row = 0; row < p_.rows.count(); ++row) advance_floats(row, k);
  }

  void advance_floats(int row, int k) {
    const int count = std::min(stretch, p_.rows.k() - k);
    const Slice b = slice(row, k);
    constexpr int least = 1 - float_format(Type::f16).bias;
    sum_floats({p_.rows.row_values(row) + k, p_.rows.row_exponents(row) + k, b.values, b.exponents,
                count / in_.products, in_.products, in_.traits,
                !is_narrow(p_.rows.range(row), columns_), k == 0 ? least - in_.scale_c : least,
                &room_.values[at(row)], &room_.again[at(row)]});
  }

  void advance_integers(int row, int count) {
    std::array<std::int32_t, width * most_integer_rows> c{};
    for (int r = 0; r < count; ++r)
      for (int j = 0; j < p_.count(); ++j)
        c[at(r) + static_cast<std::size_t>(j)] = static_cast<std::int32_t>(word(row + r, j));
    sum_integers({p_.rows.row_values(row), p_.rows.k(), count, slice(row, 0).values,
                  p_.rows.k() / in_.products, in_.products, in_.saturate, c.data()});
    for (int r = 0; r < count; ++r)
      for (int j = 0; j < p_.count(); ++j)
        word(row + r, j) = static_cast<std::uint32_t>(c[at(r) + static_cast<std::size_t>(j)]);
  }

  // A NaN that was C already is not worth summing.
  bool is_nan(std::uint32_t c) const {
    const float value = value_of(in_.types.d, c);
    return value != value;
  }

  // Whether a sum of the row is made again.
  bool is_any_again(int row) const {
    std::uint32_t marks = 0;
    for (std::size_t i = at(row); i < at(row) + width; ++i) marks |= room_.again[i];
    return static_cast<std::int32_t>(marks) < 0 || p_.rows.range(row).special || columns_.special;
  }

  void store(int row) {
    const float* from = &room_.values[at(row)];
    std::uint32_t* to = &word(row, 0);
    if (is_any_again(row)) return store_singly(row);
    if (in_.types.d == Type::f16)
      std::transform(from, from + p_.count(), to, [](float x) { return word_of(Type::f16, x); });
    else
      std::transform(from, from + p_.count(), to, [](float x) { return word_of(Type::f32, x); });
  }

  void store_singly(int row) {
    for (int j = 0; j < p_.count(); ++j) {
      const std::size_t i = at(row) + static_cast<std::size_t>(j);
      const bool again = static_cast<std::int32_t>(room_.again[i]) < 0 ||
                         p_.rows.range(row).special || p_.columns.range(p_.first + j).special;
      std::uint32_t& c = word(row, j);
      if (!again)
        c = word_of(in_.types.d, room_.values[i]);
      else if (is_nan(c))
        c = nan_bits(in_.traits.conversion);
      else
        c = defined_.sum(row, j, c);
    }
  }

  const Instruction& in_;
  const Panel& p_;
  const Outputs& d_;
  Room& room_;
  DefinedSums defined_;
  Gathered gathered_;
  Range columns_;  // of the panel
};

}  // namespace

void advance_sparse(const Instruction& in, const Lines& rows, const Lines& columns,
                    const std::uint16_t* met, const Outputs& d) {
  assert(met == nullptr ? rows.k() == columns.k() : rows.k() == in.products);
  Room room;
  for (int first = 0; first < columns.count(); first += panel_columns) {
    const Panel panel{rows, columns, first, met};
    PanelSums sums(in, panel, d, room);
    if (is_float(in.types.a))
      sums.floats();
    else
      sums.integers();
  }
}

void advance(const Instruction& in, const Lines& rows, const Lines& columns, const Outputs& d) {
  advance_sparse(in, rows, columns, nullptr, d);
}

}  // namespace tcq::fast
