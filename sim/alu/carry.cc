// Sums that set or read the condition code: add.cc, addc, sub.cc, subc, mad.cc, madc.
//
// CC.CF is a carry of differences, too: x - y is the sum of x, of y's complement and of 1, which subc takes from CC.CF.
// A borrow is a carry that is missing: sub.cc of equal numbers sets CC.CF, and addc behind it adds 1. Without .cc it
// stays as it is.
//
// Source: PTX ISA 9.2, 9.7.2 "Extended-Precision Integer Arithmetic Instructions", which calls it a borrow there
// Measured: tests/vectors/scalar.tcqv, the spellings with "borrow" and "carry"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Part;
using ptx::Type;

template <class T>
T high_product(T x, T y) {
  constexpr bool negative = std::is_signed_v<T>;
  using Wide = std::conditional_t<sizeof(T) == 4, std::conditional_t<negative, std::int64_t, std::uint64_t>,
                                  std::conditional_t<negative, S128, U128>>;
  return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> (8 * sizeof(T)));
}

enum class Left { Operand, LowProduct, HighProduct };

template <class T, Left left>
std::make_unsigned_t<T> left_of(const Arguments& a, int lane) {
  using U = std::make_unsigned_t<T>;
  const T x = value_at<T>(a.in[0], lane);
  if constexpr (left == Left::Operand) return static_cast<U>(x);
  const T y = value_at<T>(a.in[1], lane);
  if constexpr (left == Left::HighProduct) return static_cast<U>(high_product(x, y));
  return static_cast<U>(x) * static_cast<U>(y);
}

template <class T, Left left, bool subtracts, bool reads, bool sets>
void with_carry(const Arguments& a) {
  using U = std::make_unsigned_t<T>;
  const std::uint32_t before = reads ? *a.carry : subtracts ? all_lanes : 0;
  constexpr int right = left == Left::Operand ? 1 : 2;
  std::uint32_t after = 0;
  each_lane(a.lanes, [&](int lane) {
    const U x = left_of<T, left>(a, lane);
    const U right_word = value_at<U>(a.in[right], lane);
    const U y = subtracts ? ~right_word : right_word;
    U sum = 0;
    U all = 0;
    const U carry = has_lane(before, lane) ? 1 : 0;
    const bool first = __builtin_add_overflow(x, y, &sum);
    const bool second = __builtin_add_overflow(sum, carry, &all);
    cells<U>(a.out[0])[lane] = all;
    after |= static_cast<std::uint32_t>(first || second) << lane;
  });
  if constexpr (sets) write_mask(a.carry, after, a.lanes);
}

template <Left left, bool subtracts, bool reads>
Evaluate of_type(const ptx::Form& form) {
  const bool sets = form.has(ptx::Flag::Cc);
  return for_integer(form.types[0], [&](auto zero) -> Evaluate {
    using T = decltype(zero);
    if constexpr (sizeof(T) < 4) {
      return nullptr;
    } else {
      return sets ? with_carry<T, left, subtracts, reads, true>
                  : with_carry<T, left, subtracts, reads, false>;
    }
  });
}

template <bool reads>
Evaluate mad(const ptx::Form& form) {
  switch (form.get<Part>()) {
    case Part::Lo: return of_type<Left::LowProduct, false, reads>(form);
    case Part::Hi: return of_type<Left::HighProduct, false, reads>(form);
    default: return nullptr;
  }
}

}  // namespace

Evaluate carry_operation(const ptx::Form& form) {
  switch (form.opcode) {
    case Opcode::Add: return of_type<Left::Operand, false, false>(form);
    case Opcode::Addc: return of_type<Left::Operand, false, true>(form);
    case Opcode::Sub: return of_type<Left::Operand, true, false>(form);
    case Opcode::Subc: return of_type<Left::Operand, true, true>(form);
    case Opcode::Mad: return mad<false>(form);
    case Opcode::Madc: return mad<true>(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
