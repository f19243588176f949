// A lane is a column: every sum has its own order, K ascending, whatever the vectors' length.
//
// The product of two f32 is exact in f64, so there a compiler may fuse it or not.
#include "sim/num/fast/plain_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/num/fast/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/num/fast/plain_sums.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tcq::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = HWY_CAPPED(double, 8);
using F = HWY_CAPPED(float, 16);
using Half = hn::Rebind<float, D>;
using VD = hn::Vec<D>;
using VF = hn::Vec<F>;

// Not Highway's DemoteTo: without vectors it never becomes infinity.
void store(VD sums, float* to) {
  std::array<double, 8> wide;
  hn::StoreU(sums, D(), wide.data());
  for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = static_cast<float>(wide[i]);
}

// Four vectors of sums hide the latency of an addition.
void sum_float64(const float* row, const float* panel, std::int64_t count, float* d) {
  const std::size_t lanes = hn::Lanes(D());
  for (std::size_t first = 0; first < plain_columns; first += 4 * lanes) {
    VD s0 = hn::Zero(D());
    VD s1 = s0;
    VD s2 = s0;
    VD s3 = s0;
    const float* b = panel + first;
    for (std::int64_t k = 0; k < count; ++k, b += plain_columns) {
      const VD a = hn::Set(D(), static_cast<double>(row[k]));
      const auto at = [&](std::size_t i) {
        return hn::PromoteTo(D(), hn::LoadU(Half(), b + i * lanes));
      };
      s0 = hn::MulAdd(a, at(0), s0);
      s1 = hn::MulAdd(a, at(1), s1);
      s2 = hn::MulAdd(a, at(2), s2);
      s3 = hn::MulAdd(a, at(3), s3);
    }
    store(s0, d + first);
    store(s1, d + first + lanes);
    store(s2, d + first + 2 * lanes);
    store(s3, d + first + 3 * lanes);
  }
}

#if HWY_ARCH_ARM_A64 || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
void sum_fma(const float* row, const float* panel, std::int64_t count, float* d) {
  const std::size_t lanes = hn::Lanes(F());
  for (std::size_t first = 0; first < plain_columns; first += 2 * lanes) {
    VF low = hn::Zero(F());
    VF high = low;
    const float* b = panel + first;
    for (std::int64_t k = 0; k < count; ++k, b += plain_columns) {
      const VF a = hn::Set(F(), row[k]);
      low = hn::MulAdd(a, hn::LoadU(F(), b), low);
      high = hn::MulAdd(a, hn::LoadU(F(), b + lanes), high);
    }
    hn::StoreU(low, F(), d + first);
    hn::StoreU(high, F(), d + first + lanes);
  }
}
#else
// What Highway calls MulAdd rounds twice here.
void sum_fma(const float* row, const float* panel, std::int64_t count, float* d) {
  for (int i = 0; i < plain_columns; ++i) {
    d[i] = 0;
    for (std::int64_t k = 0; k < count; ++k)
      d[i] = std::fma(row[k], panel[k * plain_columns + i], d[i]);
  }
}
#endif

void sum_plain(PlainSum sum, const float* row, const float* panel, std::int64_t k, float* d) {
  sum == PlainSum::Fma ? sum_fma(row, panel, k, d) : sum_float64(row, panel, k, d);
}

}  // namespace tcq::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tcq::fast {

HWY_EXPORT(sum_plain);

void sum_plain(PlainSum sum, const float* row, const float* panel, std::int64_t k, float* d) {
  if (k == 0) {  // there need be no panel then
    std::fill_n(d, plain_columns, 0.0F);
    return;
  }
  HWY_DYNAMIC_DISPATCH(sum_plain)(sum, row, panel, k, d);
}

}  // namespace tcq::fast
#endif
