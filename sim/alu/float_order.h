// Which of two floats is less, and which NaN a result is.
//
// -0 is below +0. A number wins over NaN in min and max unless .NaN is said. A NaN of up to 32 bits is canonical, f64
// passes on an operand's. Formats differ in the place of their exponent only, so that words do.
// Example: min(-0, +0) = -0.
//
// Source: PTX ISA 9.2, 9.7.3.11 "min", 9.7.3.12 "max", 9.7.4.7 and 9.7.4.8 for f16 and bf16
// Measured: tests/vectors/scalar.tcqv: nan_of() of min, max, neg and abs; passed_nan()
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tcq::alu {

// Words of a float format of `bits` bits.
template <int bits, std::uint64_t infinity>
struct Order {
  static constexpr std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  static constexpr std::uint64_t magnitude = sign - 1;
  static constexpr std::uint64_t quiet_bit = (infinity & (0 - infinity)) / 2;

  static constexpr bool is_nan(std::uint64_t x) { return (x & magnitude) > infinity; }
  // What a NaN becomes in a result: of f64 it is made quiet and keeps payload and sign.
  static constexpr std::uint64_t nan_of(std::uint64_t x) {
    return bits == 64 ? x | quiet_bit : magnitude;
  }
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
    if (x_nan && y_nan) return nan_of(y);
    if (x_nan) return keeps_nan ? nan_of(x) : y;
    if (y_nan) return keeps_nan ? nan_of(y) : x;
    return (key(x) < key(y)) == is_min ? x : y;
  }
};
using OrderF32 = Order<32, 0x7f800000>;
using OrderF64 = Order<64, 0x7ff0000000000000>;
using OrderF16 = Order<16, 0x7c00>;
using OrderBF16 = Order<16, 0x7f80>;

// Of the operands x, y, z of an f64 operation the NaN that its result is; 0: none is NaN. An operand that is missing is
// a number. The second one goes before the third and the first; in a quotient, which is code, the first before it.
constexpr std::uint64_t passed_nan(bool divides, std::uint64_t x, std::uint64_t y,
                                   std::uint64_t z) {
  for (const std::uint64_t operand : {divides ? x : y, divides ? y : z, x})
    if (OrderF64::is_nan(operand)) return OrderF64::nan_of(operand);
  return 0;
}
// What an operation of f64 without a result is: inf - inf, 0 * inf, the root of -1.
inline constexpr std::uint64_t invalid_f64 = 0xfff8000000000000;

}  // namespace tcq::alu
