// Sums of groups in f32, terms and their sum in f64, all of it exact.
//
// Bit budget: a group sums to at most 16 * 12 * 12 quarters, times two significands of at most 15
// below 2^19: exact in f32. A term is an integer times a power of two, cut toward zero to an integer
// of at most 2^46, and four of them and C are below 2^49 (block_scaled_sum.h): exact in f64, whose
// exponents hold all that scale factors can do. The result is cut to 24 bits; it is made again where
// these are not an f32's: below 2^-126, above 2^128.
#include "sim/num/fast/packed_kernel.h"

#include "sim/num/fast/targets.h"
#include "sim/num/float_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/num/fast/packed_kernel.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tcq::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = HWY_CAPPED(float, 16);
using I = hn::RebindToSigned<F>;
using D = HWY_CAPPED(double, 8);
using L = hn::RebindToSigned<D>;
using VD = hn::Vec<D>;

constexpr std::size_t columns = 32;
constexpr std::size_t groups = 4;
constexpr std::size_t group = 16;
constexpr int term_bits = 8;  // fraction bits of a term: 2 of the products, 6 of the scale factors

// Of every group and column: the term, an integer, and the exponent of its scale factors; the
// largest exponent of those that count.
struct Terms {
  float values[groups][columns];
  std::int32_t exponents[groups][columns];
  std::int32_t largest[columns];
};

HWY_INLINE hn::Vec<F> group_sum(const float* row, const float* panel) {
  auto even = hn::Zero(F());
  auto odd = even;
  for (std::size_t k = 0; k < group; k += 2) {
    even = hn::MulAdd(hn::Set(F(), row[k]), hn::LoadU(F(), panel + k * columns), even);
    odd = hn::MulAdd(hn::Set(F(), row[k + 1]), hn::LoadU(F(), panel + (k + 1) * columns), odd);
  }
  return hn::Add(even, odd);
}

HWY_INLINE void find_terms(const PackedTask& t, Terms& out) {
  const F d;
  const I i;
  for (std::size_t lane = 0; lane < columns; lane += hn::Lanes(d)) {
    auto largest = hn::Set(i, t.floor_exponent);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t at = g * columns + lane;
      const auto sum =
          group_sum(t.row.halves + g * group, t.panel.halves + g * group * columns + lane);
      const auto scale =
          hn::Mul(hn::Set(d, t.row.significands[g]), hn::LoadU(d, t.panel.significands + at));
      hn::StoreU(hn::Mul(sum, scale), d, out.values[g] + lane);
      const auto exponent =
          hn::Add(hn::Set(i, t.row.exponents[g]), hn::LoadU(i, t.panel.exponents + at));
      hn::StoreU(exponent, i, out.exponents[g] + lane);
      const auto met = hn::And(hn::Set(i, t.row.nonzero[g]), hn::LoadU(i, t.panel.nonzero + at));
      const auto none = hn::Eq(met, hn::Zero(i));
      largest = hn::Max(largest, hn::IfThenElse(none, largest, exponent));
    }
    const auto c = hn::And(hn::BitCast(i, hn::LoadU(d, t.c + lane)), hn::Set(i, 0x7fffffff));
    const auto field = hn::Max(hn::ShiftRight<23>(c), hn::Set(i, 1));  // subnormals: -126
    const auto own = hn::Sub(field, hn::Set(i, 127));
    largest = hn::IfThenElse(hn::Eq(c, hn::Zero(i)), largest, hn::Max(largest, own));
    hn::StoreU(largest, i, out.largest + lane);
  }
}

// Modulo 2048: a scale factor of zero has zero_exponent, a multiple of that, whose power is finite and multiplies a zero.
static_assert(zero_exponent % 2048 == 0);
HWY_INLINE VD power_of_two(hn::Vec<L> exponent) {
  return hn::BitCast(D(), hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(L(), 1023))));
}

HWY_INLINE hn::Vec<L> load_exponents(const std::int32_t* from) {
  const hn::Rebind<std::int32_t, D> narrow;
  return hn::PromoteTo(L(), hn::LoadU(narrow, from));
}

HWY_INLINE void add_terms(const PackedTask& t, const Terms& terms, std::size_t lane) {
  const D d;
  const L l;
  const hn::Rebind<float, D> narrow;
  const auto largest = load_exponents(terms.largest + lane);
  const auto bits = hn::Set(l, t.fraction_bits);
  const VD c = hn::PromoteTo(d, hn::LoadU(narrow, t.c + lane));
  const auto finite = hn::Lt(hn::Abs(c), hn::Inf(d));
  const VD old = hn::Mul(hn::IfThenElseZero(finite, c), power_of_two(hn::Sub(bits, largest)));
  VD sum = hn::Add(hn::Zero(d), hn::Trunc(old));  // no -0: a result of zero is +0
  for (std::size_t g = 0; g < groups; ++g) {
    const auto exponent = load_exponents(terms.exponents[g] + lane);
    const auto shift = hn::Add(hn::Sub(exponent, largest), hn::Set(l, t.fraction_bits - term_bits));
    const VD value = hn::PromoteTo(d, hn::LoadU(narrow, terms.values[g] + lane));
    sum = hn::Add(sum, hn::Trunc(hn::Mul(value, power_of_two(shift))));
  }
  const VD exact = hn::Mul(sum, power_of_two(hn::Sub(largest, bits)));
  const auto kept = hn::And(hn::BitCast(l, exact), hn::Set(l, -(std::int64_t{1} << 29)));
  const VD size = hn::Abs(exact);
  const auto tiny = hn::And(hn::Lt(size, hn::Set(d, 0x1p-126)), hn::Gt(size, hn::Zero(d)));
  const auto again = hn::And(finite, hn::Or(tiny, hn::Ge(size, hn::Set(d, 0x1p128))));
  const VD held = hn::IfThenElse(again, hn::Zero(d), hn::BitCast(d, kept));
  const auto result = hn::DemoteTo(narrow, held);
  alignas(64) double marks[8];
  alignas(64) float values[8];
  hn::StoreU(hn::IfThenElseZero(again, hn::Set(d, 1.0)), d, marks);
  hn::StoreU(result, narrow, values);
  for (std::size_t j = 0; j < hn::Lanes(d); ++j) {
    const float before = t.c[lane + j];
    const bool is_finite = before - before == 0;
    t.again[lane + j] = marks[j] != 0 || before != before ? 1 : 0;
    t.c[lane + j] = is_finite ? values[j] : before;
  }
}

void sum_packed(const PackedTask& t) {
  Terms terms;
  find_terms(t, terms);
  for (std::size_t lane = 0; lane < columns; lane += hn::Lanes(D())) add_terms(t, terms, lane);
}

}  // namespace tcq::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tcq::fast {

HWY_EXPORT(sum_packed);

void sum_packed(const PackedTask& task) { HWY_DYNAMIC_DISPATCH(sum_packed)(task); }

}  // namespace tcq::fast
#endif
