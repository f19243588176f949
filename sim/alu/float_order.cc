// min, max, neg, abs and copysign of floats of every format, packed ones, too.
//
// All of them are done on the words. .xorsign.abs compares magnitudes and gives the result the product of the signs.
// neg and abs change the sign bit, of numbers alone: a NaN becomes that of any result.
//
// Source: PTX ISA 9.2, 9.7.3.9 to 9.7.3.12, 9.7.3.2 "copysign", 9.7.4
// Measured: tests/vectors/scalar.tcqv: neg and abs of NaN
#include "sim/alu/float_order.h"

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Flag;
using ptx::Opcode;
using ptx::Type;
using U64 = std::uint64_t;

struct Style {
  bool is_min, keeps_nan, flushes, xors_sign, absolute;
};

template <class O>
constexpr U64 extreme(const Style& style, U64 x, U64 y) {
  if (style.flushes) x = O::flush(x), y = O::flush(y);
  const U64 sign = style.xors_sign ? (x ^ y) & O::sign : 0;
  if (style.xors_sign || style.absolute) x &= O::magnitude, y &= O::magnitude;
  U64 result = O::extreme(style.is_min, style.keeps_nan, x, y);
  if (O::is_nan(result)) return result;
  return result | sign;
}

// The elements of a register of R bits, each of a format O.
template <class R, class O, class F, class... X>
R elements(F f, X... x) {
  constexpr int width = O::sign == U64{1} << 63 ? 64 : O::sign == U64{1} << 31 ? 32 : 16;
  constexpr U64 mask = O::sign | O::magnitude;
  U64 result = 0;
  for (int at = 0; at < 8 * static_cast<int>(sizeof(R)); at += width)
    result |= (f((U64{x} >> at) & mask...) & mask) << at;
  return static_cast<R>(result);
}

// The style is in bits, since a function has no other state than its name.
template <class R, class O, unsigned bits>
void extremes(const Arguments& a) {
  static constexpr Style style = {(bits & 1) != 0, (bits & 2) != 0,  (bits & 4) != 0,
                                  (bits & 8) != 0, (bits & 16) != 0};
  if (a.ins == 3) {
    lanewise<[](R x, R y, R z) {
      return elements<R, O>(
          [](U64 u, U64 v, U64 w) { return extreme<O>(style, extreme<O>(style, u, v), w); }, x, y,
          z);
    },
             R, R, R, R>(a);
  } else {
    lanewise<[](R x, R y) {
      return elements<R, O>([](U64 u, U64 v) { return extreme<O>(style, u, v); }, x, y);
    },
             R, R, R>(a);
  }
}

// No form has .xorsign.abs and a plain .abs, and f64 has neither, nor .ftz.
template <class O>
constexpr bool occurs(unsigned bits) {
  constexpr bool is_f64 = O::sign == U64{1} << 63;
  return (bits & 24) != 24 && (!is_f64 || bits < 4);
}

template <class R, class O, unsigned bits = 0>
Evaluate extremes_of(unsigned wanted) {
  if constexpr (bits == 32)
    return nullptr;
  else if constexpr (occurs<O>(bits))
    return wanted == bits ? extremes<R, O, bits> : extremes_of<R, O, bits + 1>(wanted);
  else
    return extremes_of<R, O, bits + 1>(wanted);
}

unsigned style_of(const ptx::Form& form) {
  const bool xors = form.has(Flag::Xorsign);
  return unsigned{form.opcode == Opcode::Min} | unsigned{form.has(Flag::NaN)} << 1 |
         unsigned{form.has(Flag::Ftz)} << 2 | unsigned{xors} << 3 |
         unsigned{form.has(Flag::Abs) && !xors} << 4;
}

enum class Sign { Flip, Clear, Copy };
template <class R, class O, Sign how, bool flushes>
Evaluate sign_operation() {
  if constexpr (how == Sign::Copy)
    return lanewise<[](R x, R y) { return static_cast<R>((x & O::sign) | (y & O::magnitude)); }, R,
                    R, R>;
  else
    return lanewise<[](R x) {
      return elements<R, O>(
          [](U64 u) {
            if (flushes) u = O::flush(u);
            if (O::is_nan(u)) return O::nan_of(u);
            return how == Sign::Flip ? u ^ O::sign : u & O::magnitude;
          },
          x);
    },
                    R, R>;
}

template <class R, class O>
Evaluate of_format(const ptx::Form& form) {
  const bool flushes = form.has(Flag::Ftz);
  switch (form.opcode) {
    case Opcode::Min:
    case Opcode::Max:  // .relu is of integers
      return form.has(Flag::Relu) ? nullptr : extremes_of<R, O>(style_of(form));
    case Opcode::Neg:
      return flushes ? sign_operation<R, O, Sign::Flip, true>()
                     : sign_operation<R, O, Sign::Flip, false>();
    case Opcode::Abs:
      return flushes ? sign_operation<R, O, Sign::Clear, true>()
                     : sign_operation<R, O, Sign::Clear, false>();
    case Opcode::Copysign: return sign_operation<R, O, Sign::Copy, false>();
    default: return nullptr;
  }
}

}  // namespace

Evaluate float_order_operation(const ptx::Form& form) {
  switch (form.types[0]) {
    case Type::F32: return of_format<std::uint32_t, OrderF32>(form);
    case Type::F64: return of_format<std::uint64_t, OrderF64>(form);
    case Type::F16: return of_format<std::uint16_t, OrderF16>(form);
    case Type::BF16: return of_format<std::uint16_t, OrderBF16>(form);
    case Type::F16x2: return of_format<std::uint32_t, OrderF16>(form);
    case Type::BF16x2: return of_format<std::uint32_t, OrderBF16>(form);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
