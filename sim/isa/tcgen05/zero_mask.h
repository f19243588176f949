// The zero-column mask descriptor of tcgen05.mma.ws: which columns of B read as 0.
//
// Decides the 64-bit word and the mask that it stands for: runs of zeroed and of used columns by
// turns, in one pattern per sub-mask. M 128 has one sub-mask over all N columns, M 64 two over N/2
// each, M 32 four over N/4. Example: skip 3, use 4, start 0, first run used, M 128: columns 4 to 6,
// 11 to 13, ... are zeroed.
//
// Source: PTX ISA 9.2, 9.7.16.4.3 "Zero-column mask descriptor", table 45 and its examples 2 to 4.
// Source: CuTe's cute::UMMA::MaskAndShiftB writes the same fields.
// Inferred: the table's text exchanges the two spans; examples and CuTe agree that the skip span
// counts zeroed columns. One .ws mma with B all ones would refute it.
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"

namespace tcq::tcgen05 {

struct ZeroColumnMask {
  static constexpr int sub_masks =
      4;  // the word has room for; sub_mask_count() says how many count

  std::uint32_t start_count[sub_masks] = {};  // columns of the pattern left out at its beginning
  bool first_zeroed[sub_masks] = {};          // the pattern begins with a zeroed run
  bool non_zero = false;                      // false: nothing is zeroed, whatever the rest says
  std::uint32_t skip_columns = 1;             // length of a zeroed run
  std::uint32_t use_columns = 1;              // length of a used run
  std::uint32_t column_shift = 0;

  friend constexpr bool operator==(const ZeroColumnMask&, const ZeroColumnMask&) = default;
};

namespace zero_mask {

struct StartCount0 : Field<0, 8> {
  static constexpr const char* name = "start_count_0";
};
struct StartCount1 : Field<8, 8> {
  static constexpr const char* name = "start_count_1";
};
struct StartCount2 : Field<16, 8> {
  static constexpr const char* name = "start_count_2";
};
struct StartCount3 : Field<24, 8> {
  static constexpr const char* name = "start_count_3";
};
struct FirstSpan0 : Field<32, 1> {
  static constexpr const char* name = "first_span_0";
};
struct FirstSpan1 : Field<33, 1> {
  static constexpr const char* name = "first_span_1";
};
struct FirstSpan2 : Field<34, 1> {
  static constexpr const char* name = "first_span_2";
};
struct FirstSpan3 : Field<35, 1> {
  static constexpr const char* name = "first_span_3";
};
struct NonZero : Field<39, 1> {
  static constexpr const char* name = "non_zero";
};
struct SkipSpan : Field<40, 8> {
  static constexpr const char* name = "skip_columns";
};
struct UseSpan : Field<48, 8> {
  static constexpr const char* name = "use_columns";
};
struct ColumnShift : Field<56, 6> {
  static constexpr const char* name = "column_shift";
};

}  // namespace zero_mask

using ZeroColumnMaskFormat =
    Format<zero_mask::StartCount0, zero_mask::StartCount1, zero_mask::StartCount2,
           zero_mask::StartCount3, zero_mask::FirstSpan0, zero_mask::FirstSpan1,
           zero_mask::FirstSpan2, zero_mask::FirstSpan3, zero_mask::NonZero, zero_mask::SkipSpan,
           zero_mask::UseSpan, zero_mask::ColumnShift>;

inline constexpr std::uint32_t max_column_shift = 32;

// Spans are stored minus one.
HOST_DEVICE constexpr bool is_span(std::uint32_t columns) {
  return columns > 0 && zero_mask::SkipSpan::fits(columns - 1);
}

// Faults: ZeroMaskRange.
HOST_DEVICE constexpr Fault check(const ZeroColumnMask& z) {
  for (const std::uint32_t count : z.start_count)
    if (!zero_mask::StartCount0::fits(count)) return Fault::ZeroMaskRange;
  const bool fits =
      is_span(z.skip_columns) && is_span(z.use_columns) && z.column_shift <= max_column_shift;
  return fits ? Fault::None : Fault::ZeroMaskRange;
}

// With the M of the instruction. Faults: ZeroMaskRange, UnmodelledColumnShift.
HOST_DEVICE constexpr Fault check(const ZeroColumnMask& z, int m) {
  if (const Fault fault = check(z); fault != Fault::None) return fault;
  if (z.column_shift > (m == 32 ? max_column_shift / 2 : max_column_shift))
    return Fault::ZeroMaskRange;
  return z.column_shift == 0 ? Fault::None : Fault::UnmodelledColumnShift;
}

// Requires: check(z) == Fault::None.
HOST_DEVICE constexpr std::uint64_t encode(const ZeroColumnMask& z) {
  using namespace zero_mask;
  const auto flag = [](bool value) { return std::uint64_t{value ? 1u : 0u}; };
  return StartCount0::encode(z.start_count[0]) | StartCount1::encode(z.start_count[1]) |
         StartCount2::encode(z.start_count[2]) | StartCount3::encode(z.start_count[3]) |
         FirstSpan0::encode(flag(z.first_zeroed[0])) | FirstSpan1::encode(flag(z.first_zeroed[1])) |
         FirstSpan2::encode(flag(z.first_zeroed[2])) | FirstSpan3::encode(flag(z.first_zeroed[3])) |
         NonZero::encode(flag(z.non_zero)) | SkipSpan::encode(z.skip_columns - 1) |
         UseSpan::encode(z.use_columns - 1) | ColumnShift::encode(z.column_shift);
}

// The fields of any word; reserved bits are check_word()'s business.
HOST_DEVICE constexpr ZeroColumnMask decode_zero_mask(std::uint64_t word) {
  using namespace zero_mask;
  const auto number = [](std::uint64_t code) { return static_cast<std::uint32_t>(code); };
  return {{number(StartCount0::code(word)), number(StartCount1::code(word)),
           number(StartCount2::code(word)), number(StartCount3::code(word))},
          {FirstSpan0::code(word) != 0, FirstSpan1::code(word) != 0, FirstSpan2::code(word) != 0,
           FirstSpan3::code(word) != 0},
          NonZero::code(word) != 0,
          number(SkipSpan::code(word)) + 1,
          number(UseSpan::code(word)) + 1,
          number(ColumnShift::code(word))};
}

// Faults: WordReserved, ZeroMaskRange.
HOST_DEVICE constexpr Fault check_zero_mask_word(std::uint64_t word) {
  if ((word & ZeroColumnMaskFormat::unused) != 0) return Fault::WordReserved;
  return check(decode_zero_mask(word));
}

// Requires: m is 32, 64 or 128, the M that .ws instructions have.
HOST_DEVICE constexpr int sub_mask_count(int m) { return 128 / m; }

// Whether column `column` of the N columns of B reads as 0.
// Requires: check(z, m) == Fault::None; n_columns is 64, 128 or 256; column in [0, n_columns).
HOST_DEVICE constexpr bool column_is_zeroed(const ZeroColumnMask& z, int m, int n_columns,
                                            int column) {
  if (!z.non_zero) return false;
  const int width = n_columns / sub_mask_count(m);
  const int sub_mask = column / width;
  const std::uint32_t at = (static_cast<std::uint32_t>(column % width) + z.start_count[sub_mask]) %
                           (z.skip_columns + z.use_columns);
  return z.first_zeroed[sub_mask] ? at < z.skip_columns : at >= z.use_columns;
}

}  // namespace tcq::tcgen05
