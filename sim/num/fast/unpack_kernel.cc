// Elements of f16, bf16 and tf32 as values and exponents, without a branch.
//
// The bits of an f32 are those of the element, shifted; those of f16 stand for a value that is too small by 2^112, and
// a subnormal of it is its fraction times 2^-24.
#include "sim/num/fast/kernel.h"
#include "sim/num/fast/targets.h"
#include "sim/num/float_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/num/fast/unpack_kernel.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tcq::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = HWY_CAPPED(float, 16);
using I = hn::RebindToSigned<F>;
using VI = hn::Vec<I>;

constexpr int all_bits(int width) { return (1 << width) - 1; }

// Of f16: the bits of the f32, without the sign.
HWY_INLINE VI bits_of_f16(VI magnitude, VI field) {
  const VI normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(I(), (127 - 15) << 23));
  const auto small = hn::Mul(hn::ConvertTo(F(), magnitude), hn::Set(F(), 0x1p-24f));
  return hn::IfThenElse(hn::Eq(field, hn::Zero(I())), hn::BitCast(I(), small), normal);
}

template <Type type>
HWY_INLINE void unpack_lanes(bool negate, Batch& batch, std::size_t lane) {
  constexpr FloatFormat format = float_format(type);
  constexpr int low = format.ignored_low_bits;
  constexpr int top = format.fraction_bits + low;
  constexpr int sign_bit = top + format.exponent_bits;
  constexpr int magnitude_bits = all_bits(sign_bit - low) << low;
  const I i;
  const VI word = hn::Load(i, reinterpret_cast<const std::int32_t*>(&batch.words[lane]));
  const VI magnitude = hn::And(word, hn::Set(i, magnitude_bits));
  const VI field = hn::ShiftRight<top>(magnitude);
  const VI flipped = hn::Xor(hn::ShiftRight<sign_bit>(word), hn::Set(i, negate ? 1 : 0));
  const auto special = hn::Eq(field, hn::Set(i, all_bits(format.exponent_bits)));
  const auto counts = hn::AndNot(special, hn::Ne(magnitude, hn::Zero(i)));
  VI value = hn::ShiftLeft<23 - top>(magnitude);
  if constexpr (type == Type::f16) value = bits_of_f16(magnitude, field);
  value = hn::IfThenZeroElse(special, hn::Or(value, hn::ShiftLeft<31>(flipped)));
  const VI exponent = hn::Sub(hn::Max(field, hn::Set(i, 1)), hn::Set(i, format.bias));
  hn::Store(hn::BitCast(F(), value), F(), &batch.values[lane]);
  hn::Store(hn::IfThenElse(counts, exponent, hn::Set(i, zero_exponent)), i, &batch.exponents[lane]);
  const VI specials = hn::Load(i, &batch.special[lane]);
  hn::Store(hn::Or(specials, hn::VecFromMask(i, special)), i, &batch.special[lane]);
  const VI least = hn::Load(i, &batch.least[lane]);
  hn::Store(hn::IfThenElse(counts, hn::Min(least, exponent), least), i, &batch.least[lane]);
  const VI most = hn::Load(i, &batch.most[lane]);
  hn::Store(hn::IfThenElse(counts, hn::Max(most, exponent), most), i, &batch.most[lane]);
}

template <Type type>
HWY_INLINE void unpack_all(bool negate, Batch& batch) {
  for (std::size_t lane = 0; lane < Batch::lanes; lane += hn::Lanes(I()))
    unpack_lanes<type>(negate, batch, lane);
}

void unpack_wide(Type type, bool negate, Batch& batch) {
  if (type == Type::f16) return unpack_all<Type::f16>(negate, batch);
  if (type == Type::bf16) return unpack_all<Type::bf16>(negate, batch);
  unpack_all<Type::tf32>(negate, batch);
}

}  // namespace tcq::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tcq::fast {

HWY_EXPORT(unpack_wide);

void unpack_wide(Type type, bool negate, Batch& batch) {
  HWY_DYNAMIC_DISPATCH(unpack_wide)(type, negate, batch);
}

}  // namespace tcq::fast
#endif
