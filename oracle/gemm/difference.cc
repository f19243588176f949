#include "oracle/gemm/difference.h"

#include <algorithm>

#include "oracle/sum/gemm_epilogue.h"
#include "sim/num/float_bits.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::int64_t sampled = 32;  // of either sort

bool is_nan(Type type, std::uint32_t word) {
  return is_float(type) && decode_float(type, word).kind == Class::Nan;
}

// Numbers in their order, both zeros at 0.
std::int64_t position(Type type, std::uint32_t word) {
  if (!is_float(type)) return decode_integer(type, word);
  const std::uint32_t sign = sign_bit(type);
  return word >= sign ? -static_cast<std::int64_t>(word - sign) : static_cast<std::int64_t>(word);
}

// Calls see(difference) for every output, equal ones too.
template <class See>
void each(Type type, const void* predicted, const void* other, Rows rows, std::int64_t n, See see) {
  for (std::int64_t i = 0; i < rows.count() * n; ++i) {
    const std::uint32_t p = load_element(type, predicted, i);
    const std::uint32_t o = load_element(type, other, rows.first * n + i);
    see(Difference{rows.first + i / n, i % n, p, o});
  }
}

}  // namespace

std::uint64_t ulps(Type type, std::uint32_t a, std::uint32_t b) {
  if (is_nan(type, a) || is_nan(type, b))
    return is_nan(type, a) == is_nan(type, b) ? 0 : one_is_nan;
  const std::int64_t apart = position(type, a) - position(type, b);
  return static_cast<std::uint64_t>(apart < 0 ? -apart : apart);
}

Comparison compare(Type type, const void* predicted, const void* other, Rows rows, std::int64_t n) {
  Comparison c;
  c.outputs = rows.count() * n;
  each(type, predicted, other, rows, n, [&](Difference d) {
    if (d.predicted == d.other) return;
    d.ulps = ulps(type, d.predicted, d.other);
    ++c.differing;
    if (is_nan(type, d.predicted) && is_nan(type, d.other)) ++c.nan_payloads;
    if (!c.first) c.first = d;
    if (!c.worst || d.ulps > c.worst->ulps) c.worst = d;
  });
  return c;
}

Sample sample(Type type, const void* predicted, const void* other, Rows rows, std::int64_t n,
              const Comparison& counts) {
  Sample s;
  const std::int64_t of_differing = std::max<std::int64_t>(1, counts.differing / sampled);
  const std::int64_t of_equal =
      std::max<std::int64_t>(1, (counts.outputs - counts.differing) / sampled);
  std::int64_t differing = 0;
  std::int64_t equal = 0;
  each(type, predicted, other, rows, n, [&](const Difference& d) {
    const bool differs = d.predicted != d.other;
    std::vector<Difference>& out = differs ? s.differing : s.equal;
    const bool taken = differs ? differing++ % of_differing == 0 : equal++ % of_equal == 0;
    if (taken && static_cast<std::int64_t>(out.size()) < sampled) out.push_back(d);
  });
  return s;
}

}  // namespace tcq::oracle::gemm
