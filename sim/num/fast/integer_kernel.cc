// Sums of 8-bit integers in f32: a product is below 2^16, 256 of them sum below 2^24, exactly. Then
// they are added to C in 32 bits, modulo 2^32 or clamped after every instruction.
#include "sim/num/fast/kernel.h"
#include "sim/num/fast/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/num/fast/integer_kernel.cc"
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

// c + sum, clamped.
HWY_INLINE VI saturated(VI c, VI sum) {
  const VI total = hn::Add(c, sum);
  const VI overflow = hn::And(hn::Xor(total, c), hn::Xor(total, sum));
  const VI limit = hn::Xor(hn::ShiftRight<31>(c), hn::Set(I(), 0x7fffffff));
  return hn::IfThenElse(hn::Lt(overflow, hn::Zero(I())), limit, total);
}

// Sums of at most 256 products, of every row with two vectors of columns.
template <int rows>
struct Products {
  VF low[rows];
  VF high[rows];

  HWY_INLINE Products() {}  // not defaulted: as in float_kernel.cc

  HWY_INLINE void sum(const float* row, std::int64_t stride, const float* panel,
                      std::int64_t count) {
    const F d;
    for (int r = 0; r < rows; ++r) low[r] = high[r] = hn::Zero(d);
    for (std::int64_t k = 0; k < count; ++k) {
      const VF b_low = hn::LoadU(d, panel + k * columns);
      const VF b_high = hn::LoadU(d, panel + k * columns + hn::Lanes(d));
      HWY_UNROLL(4)
      for (int r = 0; r < rows; ++r) {
        const VF a = hn::Set(d, row[r * stride + k]);
        low[r] = hn::MulAdd(a, b_low, low[r]);
        high[r] = hn::MulAdd(a, b_high, high[r]);
      }
    }
  }
};

HWY_INLINE void add_to(std::int32_t* c, VF sum, bool saturate) {
  const I i;
  const VI old = hn::LoadU(i, c);
  const VI more = hn::ConvertTo(i, sum);
  hn::StoreU(saturate ? saturated(old, more) : hn::Add(old, more), i, c);
}

template <int rows>
HWY_INLINE void sum_rows(const IntegerTask& t) {
  const std::int64_t count = t.instructions * t.products;
  const std::int64_t most = t.saturate ? t.products : 256;
  const std::size_t lanes = hn::Lanes(F());
  for (std::int64_t k = 0; k < count; k += most) {
    const std::int64_t here = count - k < most ? count - k : most;
    for (std::size_t slice = 0; slice < columns; slice += 2 * lanes) {
      Products<rows> products;
      products.sum(t.row + k, t.row_stride, t.panel + k * columns + slice, here);
      for (int r = 0; r < rows; ++r) {
        std::int32_t* c = t.c + r * columns + slice;
        add_to(c, products.low[r], t.saturate);
        add_to(c + lanes, products.high[r], t.saturate);
      }
    }
  }
}

void sum_integers(const IntegerTask& t) {
  if (t.rows == most_integer_rows)
    sum_rows<most_integer_rows>(t);
  else
    sum_rows<1>(t);
}

}  // namespace tcq::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tcq::fast {

HWY_EXPORT(sum_integers);

void sum_integers(const IntegerTask& task) { HWY_DYNAMIC_DISPATCH(sum_integers)(task); }

}  // namespace tcq::fast
#endif
