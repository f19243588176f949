// Which of two floats is less, and what min and max make of NaN.
//
// -0 is below +0. A number wins over NaN unless .NaN is said; a result that is NaN is canonical. Formats differ in
// the place of their exponent only, so that words do. Example: min(-0, +0) = -0.
//
// Source: PTX ISA 9.2, 9.7.3.11 "min", 9.7.3.12 "max", 9.7.4.7 and 9.7.4.8 for f16 and bf16
#pragma once

#include <cstdint>

namespace tcq::alu {

// Words of a float format of `bits` bits.
template <int bits, std::uint64_t infinity>
struct Order {
  static constexpr std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  static constexpr std::uint64_t magnitude = sign - 1;
  static constexpr std::uint64_t nan = bits == 64 ? 0x7ff8000000000000 : magnitude;

  static constexpr bool is_nan(std::uint64_t x) { return (x & magnitude) > infinity; }
  // Grows with the value.
  static constexpr std::uint64_t key(std::uint64_t x) {
    return (x & sign) != 0 ? sign - (x & magnitude) - 1 : sign + x;
  }
  static constexpr std::uint64_t flush(std::uint64_t x) {
    constexpr std::uint64_t least_normal = infinity & (0 - infinity);  // its lowest bit
    return (x & magnitude) < least_normal ? x & sign : x;
  }
  static constexpr std::uint64_t extreme(bool is_min, bool keeps_nan, std::uint64_t x,
                                         std::uint64_t y) {
    const bool x_nan = is_nan(x);
    const bool y_nan = is_nan(y);
    if (x_nan || y_nan) return keeps_nan || x_nan == y_nan ? nan : x_nan ? y : x;
    return (key(x) < key(y)) == is_min ? x : y;
  }
};
using OrderF32 = Order<32, 0x7f800000>;
using OrderF64 = Order<64, 0x7ff0000000000000>;
using OrderF16 = Order<16, 0x7c00>;
using OrderBF16 = Order<16, 0x7f80>;

}  // namespace tcq::alu
