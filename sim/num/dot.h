// One output element of wgmma from raw element bits: the arithmetic's front door.
//
// dot() decodes, sums and rounds one output of any kind; floats go through fused_sum.h, integers
// are summed exactly here. Whoever computes many outputs decodes rows and columns once and calls
// fused_sum() or integer_sum() (sim/machine/wgmma.cc does). Example: e4m3, one product 1 * 1 and C
// = 0x3f8007ff gives 0x40000000.
//
// Source: PTX ISA 9.2, 9.7.15.5.2 (satfinite, scale-d, scale-a, scale-b).
// Measured: tests/vectors/wgmma_directed.txt, tests/vectors/wgmma_numeric.tcqv
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot_traits.h"
#include "sim/num/float_bits.h"
#include "sim/num/fused_sum.h"

namespace tcq {

struct DotTypes {
  Type d;
  Type a;
  Type b;
};

struct DotOptions {
  bool accumulate = true;  // false: C counts as +0, whatever its bits
  bool negate_a = false;
  bool negate_b = false;
  bool satfinite = false;
};

// No wgmma sums more products at once; b1 sums this many.
inline constexpr int max_products = 256;

// C plus the sum of products, wrapped to 32 bits or clamped once at the end.
HOST_DEVICE constexpr std::uint32_t finish_integer(std::int64_t sum, bool satfinite) {
  constexpr std::int64_t low = -2147483648;
  constexpr std::int64_t high = 2147483647;
  if (satfinite) sum = sum < low ? low : sum > high ? high : sum;
  return static_cast<std::uint32_t>(sum);
}

HOST_DEVICE constexpr Decoded decode_c(Type d, std::uint32_t c, bool accumulate) {
  return decode_float(d, accumulate ? c : 0);
}

// Requires: wgmma::types_exist(types), count <= max_products. Elements are raw bits in the low part
// of each word (tf32: the whole word; b1: 0 or 1).
HOST_DEVICE constexpr std::uint32_t dot(const DotTypes& types, const std::uint32_t* a,
                                        const std::uint32_t* b, int count, std::uint32_t c,
                                        const DotOptions& options = {}) {
  if (!is_float(types.a)) {
    std::int64_t sum = options.accumulate ? decode_integer(Type::s32, c) : 0;
    for (int i = 0; i < count; ++i)
      sum += decode_integer(types.a, a[i]) * decode_integer(types.b, b[i]);
    return finish_integer(sum, options.satfinite);
  }
  Decoded rows[max_products] = {};
  Decoded cols[max_products] = {};
  for (int i = 0; i < count; ++i) {
    rows[i] = decode_float(types.a, a[i], options.negate_a);
    cols[i] = decode_float(types.b, b[i], options.negate_b);
  }
  return fused_sum(wgmma_dot_traits(types.d, types.a), types.d, types.a, types.b, rows, cols, count,
                   decode_c(types.d, c, options.accumulate));
}

}  // namespace tcq
