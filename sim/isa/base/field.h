// Bit fields of an encoded word: the only code in tcq that shifts and masks a descriptor.
//
// A descriptor header declares its fields as types and lists them in one Format; encode, decode,
// print, lint and fuzz are derived from that list. Example:
//
//   struct LeadingByteOffset : Field<16, 14, 4> { ... };
//   LeadingByteOffset::encode(1024) == 1024 >> 4 << 16
//
// What a field means is the descriptor header's business (sim/isa/wgmma/descriptor.h is the one to read next).
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

// Bits [Low, Low + Width) of a word hold value >> UnitLog2.
template <int Low, int Width, int UnitLog2 = 0>
struct Field {
  static_assert(Low >= 0 && Width > 0 && Low + Width <= 64);
  static constexpr int low = Low;
  static constexpr int width = Width;
  static constexpr int unit_log2 = UnitLog2;
  static constexpr std::uint64_t max_code = (std::uint64_t{1} << Width) - 1;
  static constexpr std::uint64_t max_value = max_code << UnitLog2;
  static constexpr std::uint64_t mask = max_code << Low;

  // True if `value` is a multiple of the unit and not too large: encode() loses nothing.
  HOST_DEVICE static constexpr bool fits(std::uint64_t value) { return (value & ~max_value) == 0; }
  // Bits of `value` outside the field are dropped, as hardware drops them.
  HOST_DEVICE static constexpr std::uint64_t encode(std::uint64_t value) {
    return ((value >> UnitLog2) & max_code) << Low;
  }
  HOST_DEVICE static constexpr std::uint64_t code(std::uint64_t word) {
    return (word >> Low) & max_code;
  }
  HOST_DEVICE static constexpr std::uint64_t decode(std::uint64_t word) {
    return code(word) << UnitLog2;
  }
};

// Bits that must hold one constant.
template <int Low, int Width, std::uint64_t Value>
struct Fixed : Field<Low, Width> {
  static_assert(Field<Low, Width>::fits(Value));
  static constexpr std::uint64_t bits = Field<Low, Width>::encode(Value);
  HOST_DEVICE static constexpr bool holds(std::uint64_t word) {
    return (word & Field<Low, Width>::mask) == bits;
  }
};

// The fields of one word, in ascending order of bits; they may not overlap.
template <class... Fields>
struct Format {
  static constexpr std::uint64_t mask = (std::uint64_t{0} | ... | Fields::mask);
  static constexpr std::uint64_t unused = ~mask;
  static constexpr int size = sizeof...(Fields);

  // Calls visit(field) for every field, lowest bits first.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    (visit(Fields{}), ...);
  }

 private:
  static constexpr int total_width = (0 + ... + Fields::width);
  static constexpr int population(std::uint64_t word) {
    int count = 0;
    for (; word != 0; word &= word - 1) ++count;
    return count;
  }
  static_assert(population(mask) == total_width, "fields overlap");
};

}  // namespace tcq
