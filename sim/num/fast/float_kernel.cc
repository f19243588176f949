// Sums of floats, exactly as fused_sum.h makes them, in vectors of f32 and of 32-bit integers.
//
// The product of two significands of at most 11 bits is exact in f32, and stays normal in the range
// of exponents that kernel.h states. E is a maximum of 16-bit sums of exponents. A term is cut by
// one conversion to an integer, toward zero, of product * 2^(fraction_bits - E): the factor is a
// power of two, so only what underflows far below 1 is not exact, and that is cut to 0 anyway.
//
// Bit budget: a product is below 4, cut to 25 fraction bits below 2^27, C below 2^26. Eight products
// and C fit 32 bits; more are added eight at a time, and a lane whose addition overflows says so in
// `again`. With 13 fraction bits nothing overflows.
//
// Subnormal results do not occur: E is at least -100, so every sum is a multiple of 2^-125. The
// floors of f32 (-133) lie below that and never win over something that is not zero; that of f16
// (-21) is in the maximum.
//
// The wide loop takes products of any exponent. What counts of them is at least 2^(E - 25). Where E is
// above 100, both factors and C, twice, are multiplied by 2^-64 first: products are then below
// 2^128, and those that count have factors from 2^-54 on, which stay normal. Elsewhere those that
// count are above 2^-102 and exact, and one that underflows is cut to 0 whichever way it rounds.
// Sums of products that align below 2^-74 are marked. Underflow is flushed meanwhile.
//
// A compiler may fuse a multiplication and an addition: every product that is added is exact.
#include "sim/num/fast/kernel.h"
#include "sim/num/fast/targets.h"
#include "sim/num/float_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/num/fast/float_kernel.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tcq::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = HWY_CAPPED(float, 16);
using I = hn::RebindToSigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;

constexpr int columns = 32;
constexpr int group = 8;  // products between two checks of the bit budget

// Toward zero. What does not fit becomes anything.
HWY_INLINE VI cut(VF x) {
#if HWY_TARGET == HWY_AVX3
  return VI{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(I(), x);
#endif
}

// 2^exponent. Requires: a normal f32.
HWY_INLINE VF power_of_two(VI exponent) {
  return hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(I(), 127))));
}

// An integer in f32, toward zero; lanes that cannot be decided are marked.
HWY_INLINE VF toward_zero(VI x, VI& again) {
#if HWY_TARGET == HWY_AVX3
  (void)again;
  return VF{_mm512_cvt_roundepi32_ps(x.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
#else
  const VF nearest = hn::ConvertTo(F(), x);
  again = hn::Or(
      again, hn::VecFromMask(
                 I(), hn::RebindMask(I(), hn::Ge(hn::Abs(nearest), hn::Set(F(), 2147483648.0f)))));
  const VI sign = hn::ShiftRight<31>(x);
  const VI rest = hn::Sub(hn::Xor(hn::Sub(x, cut(nearest)), sign), sign);
  return hn::BitCast(F(), hn::Add(hn::BitCast(I(), nearest), hn::ShiftRight<31>(rest)));
#endif
}

// sum * unit in the precision of D.
template <Conversion conversion>
HWY_INLINE VF rounded(VI sum, VF unit, VI& again) {
  const F d;
  const I i;
  if constexpr (conversion == Conversion::E8M13TowardZero) {
    const VI word = hn::BitCast(i, hn::ConvertTo(d, sum));
    return hn::Mul(hn::BitCast(d, hn::And(word, hn::Set(i, -1024))), unit);
  } else if constexpr (conversion == Conversion::F32TowardZero) {
    return hn::Mul(toward_zero(sum, again), unit);
  } else {
    // To odd in 24 bits, then to nearest even by adding 1.5 * 2^23 units of the result.
    const VF down = toward_zero(sum, again);
    const VI odd = hn::IfThenElseZero(hn::Ne(cut(down), sum), hn::Set(i, 1));
    const VF x = hn::Mul(hn::BitCast(d, hn::Or(hn::BitCast(i, down), odd)), unit);
    const VI field = hn::And(hn::BitCast(i, x), hn::Set(i, 0x7f800000));
    const VI least = hn::Set(i, 113 << 23);  // 2^-14
    const VF big =
        hn::BitCast(d, hn::Add(hn::Max(field, least), hn::Set(i, (13 << 23) + (1 << 22))));
    const VF nearest = hn::Sub(hn::Add(x, big), big);
    const VF infinity = hn::Inf(d);
    return hn::IfThenElse(hn::Ge(hn::Abs(nearest), hn::Set(d, 65536.0f)),
                          hn::CopySign(infinity, nearest), nearest);
  }
}

// As many sums as a vector has lanes. Wide: of products of any exponent.
template <Conversion conversion, bool wide>
struct Sums {
  VF c;
  VI again;
  VI c_least;
  VF scale;
  VF unit;
  hn::Mask<F> high;  // wide: where factors are multiplied by 2^-64
  VI total;

  // Not defaulted: GCC compiles an implicit one without the target's instructions, and then cannot inline vectors'.
  HWY_INLINE Sums() {}

  HWY_INLINE void start(const float* from, const std::uint32_t* marks, int least) {
    c = hn::LoadU(F(), from);
    const VF size = hn::Abs(c);
    const VF smallest = hn::BitCast(F(), hn::Set(I(), (least_product_exponent + 127) << 23));
    const auto tiny = hn::And(hn::Lt(size, smallest), hn::Gt(size, hn::Zero(F())));
    again = hn::LoadU(I(), reinterpret_cast<const std::int32_t*>(marks));
    if constexpr (conversion != Conversion::F16NearestEven)
      again = hn::Or(again, hn::VecFromMask(I(), hn::RebindMask(I(), tiny)));
    c_least = hn::Set(I(), least);
  }

  // `exponent` is the largest of the products and the floor.
  HWY_INLINE void align(VI exponent, int fraction_bits) {
    const F d;
    const I i;
    const VF finite = hn::IfThenElseZero(hn::Lt(hn::Abs(c), hn::Inf(d)), c);
    const VI field = hn::And(hn::ShiftRight<23>(hn::BitCast(i, finite)), hn::Set(i, 0xff));
    VI own = hn::Sub(field, hn::Set(i, 127));
    if constexpr (conversion == Conversion::F16NearestEven)
      own = hn::IfThenElse(hn::Eq(field, hn::Zero(i)), own, hn::Max(own, c_least));
    const VI bits = hn::Set(i, fraction_bits);
    if constexpr (wide) {
      align_wide(exponent, own, finite, bits);
    } else {
      const VI e = hn::Max(exponent, own);
      scale = power_of_two(hn::Sub(bits, e));
      unit = power_of_two(hn::Sub(e, bits));
      total = cut(hn::Mul(finite, scale));
    }
  }

  HWY_INLINE void align_wide(VI exponent, VI own, VF finite, VI bits) {
    const F d;
    const I i;
    const VI e = hn::Max(hn::Max(exponent, own), hn::Set(i, least_product_exponent));
    const auto nonzero = hn::Gt(exponent, hn::Set(i, zero_exponent / 2));
    const auto low = hn::And(nonzero, hn::Lt(e, hn::Set(i, least_wide_exponent)));
    again = hn::Or(again, hn::VecFromMask(i, low));
    const auto is_high = hn::Gt(e, hn::Set(i, 100));
    high = hn::RebindMask(d, is_high);
    const VI held = hn::Sub(e, hn::IfThenElseZero(is_high, hn::Set(i, 128)));
    scale = power_of_two(hn::Sub(bits, held));
    unit = power_of_two(hn::Sub(held, bits));
    total = cut(hn::Mul(shrunk(shrunk(finite)), scale));
  }

  // Elsewhere not a multiplication by 1: subnormals would underflow.
  HWY_INLINE VF shrunk(VF x) const {
    if constexpr (!wide) return x;
    return hn::IfThenElse(high, hn::Mul(x, hn::Set(F(), 0x1p-64f)), x);
  }

  HWY_INLINE VI product(float a, VF b) const {
    return cut(hn::Mul(hn::Mul(shrunk(hn::Set(F(), a)), shrunk(b)), scale));
  }

  HWY_INLINE void add_group(VI more, bool check) {
    const VI sum = hn::Add(total, more);
    if (check) again = hn::Or(again, hn::And(hn::Xor(sum, total), hn::Xor(sum, more)));
    total = sum;
  }

  HWY_INLINE void finish() {
    VF d = rounded<conversion>(total, unit, again);
    const VF up = hn::Set(F(), 0x1p64f);
    if constexpr (wide) d = hn::IfThenElse(high, hn::Mul(hn::Mul(d, up), up), d);
    c = hn::IfThenElse(hn::Lt(hn::Abs(c), hn::Inf(F())), d, c);  // infinity and NaN stay
    c_least = hn::Set(I(), -14);
  }
};

// The largest exponents of the products in two vectors of sums.
#if HWY_TARGET == HWY_SCALAR
struct Exponents {
  VI low;
  VI high;

  HWY_INLINE explicit Exponents(int floor) : low(hn::Set(I(), floor)), high(low) {}
  HWY_INLINE void add(std::uint32_t row, const std::int16_t* panel) {
    const int own = static_cast<std::int16_t>(row & 0xffff);
    low = hn::Max(low, hn::Set(I(), own + panel[0]));
    high = hn::Max(high, hn::Set(I(), own + panel[1]));
  }
  HWY_INLINE VI lower() const { return low; }
  HWY_INLINE VI upper() const { return high; }
};
#else
struct Exponents {
  using H = hn::Repartition<std::int16_t, F>;
  hn::Vec<H> most;

  HWY_INLINE explicit Exponents(int floor) : most(hn::Set(H(), static_cast<std::int16_t>(floor))) {}
  HWY_INLINE void add(std::uint32_t row, const std::int16_t* panel) {
    const auto own = hn::BitCast(H(), hn::Set(I(), static_cast<std::int32_t>(row)));
    most = hn::Max(most, hn::Add(own, hn::LoadU(H(), panel)));
  }
  HWY_INLINE VI lower() const { return hn::PromoteTo(I(), hn::LowerHalf(hn::Half<H>(), most)); }
  HWY_INLINE VI upper() const { return hn::PromoteTo(I(), hn::UpperHalf(hn::Half<H>(), most)); }
};
#endif

template <Conversion conversion, bool wide>
HWY_INLINE void sum_slice(const FloatTask& t, std::size_t slice) {
  const I i;
  const std::size_t lanes = hn::Lanes(F());
  Sums<conversion, wide> low;
  Sums<conversion, wide> high;
  low.start(t.c + slice, t.again + slice, t.c_least);
  high.start(t.c + slice + lanes, t.again + slice + lanes, t.c_least);
  const bool check = t.traits.fraction_bits > 13;
  const int least = wide ? zero_exponent : least_product_exponent;
  const int floor =
      t.traits.floor_exponent > least_product_exponent ? t.traits.floor_exponent : least;
  const float* row = t.row;
  const std::uint32_t* row_exponents = t.row_exponents;
  const float* panel = t.panel + slice;
  const std::int16_t* panel_exponents = t.panel_exponents + slice;
  for (std::int64_t n = 0; n < t.instructions; ++n) {
    Exponents e(floor);
    for (int k = 0; k < t.products; k += group) {
      HWY_UNROLL(8)
      for (int j = k; j < k + group; ++j) e.add(row_exponents[j], panel_exponents + j * columns);
    }
    low.align(e.lower(), t.traits.fraction_bits);
    high.align(e.upper(), t.traits.fraction_bits);
    for (int k = 0; k < t.products; k += group) {
      VI sum_low = hn::Zero(i);
      VI sum_high = hn::Zero(i);
      HWY_UNROLL(8)
      for (int j = 0; j < group; ++j) {
        const float* b = panel + (k + j) * columns;
        sum_low = hn::Add(sum_low, low.product(row[k + j], hn::LoadU(F(), b)));
        sum_high = hn::Add(sum_high, high.product(row[k + j], hn::LoadU(F(), b + lanes)));
      }
      low.add_group(sum_low, check && k > 0);
      high.add_group(sum_high, check && k > 0);
    }
    low.finish();
    high.finish();
    row += t.products;
    row_exponents += t.products;
    panel += t.products * columns;
    panel_exponents += t.products * columns;
  }
  hn::StoreU(low.c, F(), t.c + slice);
  hn::StoreU(high.c, F(), t.c + slice + lanes);
  hn::StoreU(low.again, i, reinterpret_cast<std::int32_t*>(t.again + slice));
  hn::StoreU(high.again, i, reinterpret_cast<std::int32_t*>(t.again + slice + lanes));
}

template <Conversion conversion, bool wide = false>
HWY_INLINE void sum_panel(const FloatTask& t) {
  for (std::size_t slice = 0; slice < columns; slice += 2 * hn::Lanes(F()))
    sum_slice<conversion, wide>(t, slice);
}

void sum_floats(const FloatTask& t) {
  switch (t.traits.conversion) {
    case Conversion::F32TowardZero:
      return t.wide ? sum_panel<Conversion::F32TowardZero, true>(t)
                    : sum_panel<Conversion::F32TowardZero>(t);
    case Conversion::E8M13TowardZero: return sum_panel<Conversion::E8M13TowardZero>(t);
    case Conversion::F16NearestEven: return sum_panel<Conversion::F16NearestEven>(t);
  }
}

}  // namespace tcq::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tcq::fast {

HWY_EXPORT(sum_floats);

void sum_floats(const FloatTask& task) { HWY_DYNAMIC_DISPATCH(sum_floats)(task); }

}  // namespace tcq::fast
#endif
