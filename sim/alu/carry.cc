// Sums that set or read the condition code: add.cc, addc, sub.cc, subc, mad.cc, madc.
//
// CC.CF is a carry of sums and a borrow of differences; without .cc it stays as it is.
//
// Source: PTX ISA 9.2, 9.7.2 "Extended-Precision Integer Arithmetic Instructions"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Part;
using ptx::Type;

template <class T>
T high_product(T x, T y) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<T>((static_cast<std::int64_t>(x) * static_cast<std::int64_t>(y)) >> 32);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, S128, U128>;
    return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> 64);
  }
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
  const std::uint32_t before = reads ? *a.carry : 0;
  constexpr int right = left == Left::Operand ? 1 : 2;
  std::uint32_t after = 0;
  each_lane(a.lanes, [&](int lane) {
    const U x = left_of<T, left>(a, lane);
    const U y = value_at<U>(a.in[right], lane);
    U sum = 0;
    U all = 0;
    const U carry = has_lane(before, lane) ? 1 : 0;
    const bool first =
        subtracts ? __builtin_sub_overflow(x, y, &sum) : __builtin_add_overflow(x, y, &sum);
    const bool second = subtracts ? __builtin_sub_overflow(sum, carry, &all)
                                  : __builtin_add_overflow(sum, carry, &all);
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
