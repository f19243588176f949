// Rows of A and columns of B in the engines' own form: what is decoded once for all sums.
//
// An element is its value as an f32, which every operand type fits, and the exponent that alignment
// sees: that of its format, also of subnormals, zero_exponent for zeros. Rows lie one behind the
// other; columns in panels of 32, so that a vector holds one k of neighbouring columns. K is filled
// up with zeros to whole instructions. A line with something that the engines cannot hold, NaN,
// infinity, a scaled value far from 1, is `special`; its sums are made from `words`.
// Example: 1.5 of bf16 has value 1.5 and exponent 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/num/fast/instruction.h"

namespace tcq::fast {

inline constexpr int panel_columns = 32;

enum class Side : std::uint8_t { Rows, Columns };

// Exponents of the elements of a line that are not zero.
struct Range {
  int least = 1 << 14;
  int most = -(1 << 14);
  bool special = false;
};
constexpr void widen(Range& all, const Range& more) {
  all.least = std::min(all.least, more.least);
  all.most = std::max(all.most, more.most);
  all.special = all.special || more.special;
}

class Lines {
 public:
  // `count` lines of `k` zeros.
  Lines(const Instruction& in, Side side, int count, int k) { assign(in, side, count, k); }
  Lines() = default;
  // The same in the memory that it has: pages that go back to the system and come anew take a tenth of a GEMM's time.
  void assign(const Instruction& in, Side side, int count, int k);

  // The raw bits of a line, to be written by the caller before pack(): k of them.
  std::uint32_t* words(int line) { return words_.data() + at(line, 0); }
  const std::uint32_t* words(int line) const { return words_.data() + at(line, 0); }
  // Scale factors of kind mxf8f6f4 (ue8m0), one for each instruction; none: 1.
  std::vector<std::uint8_t> scales;  // [line][instruction]

  void pack();

  int count() const { return count_; }
  int k() const { return k_; }
  const Range& range(int line) const { return ranges_[static_cast<std::size_t>(line)]; }
  // Element k as sim/num decodes it, without its scale factor.
  Decoded decoded(int line, int k) const { return decode_float(type_, words(line)[k], negate_); }
  std::int32_t integer(int line, int k) const { return decode_integer(type_, words(line)[k]); }
  tcgen05::Scale scale(int line, int k) const {
    if (scales.empty()) return {1 << tcgen05::scale_fraction_bits, 0, false};
    return scale_of(line, k);
  }

  // Of rows: values and exponents, the latter twice in a word, once for each half.
  const float* row_values(int line) const { return values_.data() + at(line, 0); }
  const std::uint32_t* row_exponents(int line) const { return pairs_.data() + at(line, 0); }
  bool has_exponents() const { return is_float(type_); }
  // Of panels: [k][panel_columns].
  const float* panel_values(int panel) const {
    return values_.data() + at(panel * panel_columns, 0);
  }
  const std::int16_t* panel_exponents(int panel) const {
    return has_exponents() ? exponents_.data() + at(panel * panel_columns, 0) : nullptr;
  }

 private:
  std::size_t at(int line, int k) const {
    return static_cast<std::size_t>(line) * static_cast<std::size_t>(k_) +
           static_cast<std::size_t>(k);
  }
  tcgen05::Scale scale_of(int line, int k) const;
  std::ptrdiff_t distance(int line, int k) const {
    return static_cast<std::ptrdiff_t>(at(line, k));
  }
  template <Type type>
  void pack_integers(int line);
  template <Type type>
  void pack_row(int line);
  template <Type type>
  void pack_panel(int first);
  template <Type type>
  void pack_all();

  Side side_ = Side::Rows;
  Type type_ = Type::f32;
  bool negate_ = false;
  int products_ = 1;
  int count_ = 0;
  int k_ = 0;
  std::vector<std::uint32_t> words_;
  std::vector<float> values_;
  std::vector<std::uint32_t> pairs_;
  std::vector<std::int16_t> exponents_;
  std::vector<Range> ranges_;
};

}  // namespace tcq::fast
