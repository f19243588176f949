// mma.sync of e4m3 and e5m2 as Hopper carries it out: by two sums of f16.
//
// The elements widen to f16. Those whose place along K is 0 or 1 modulo 4 are summed first, the others on top of them, both
// in D's type; C is added to that, rounded to nearest. So C comes through where wgmma would cut it, and nothing here tells
// of FP8 on wgmma or tcgen05.
//
// Source: PTX ISA 9.2, 9.7.14.5, for the forms. For the sums: Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores",
// whose published outputs of an H100 with D of f16 agree with this.
// Measured: tests/vectors/warp_mma.tcqv, of f16 and of f32, each sum as wgmma's of f16
#include <array>
#include <bit>
#include <cstddef>

#include "sim/alu/exact_arithmetic.h"
#include "sim/alu/families.h"
#include "sim/alu/matrix_operands.h"
#include "sim/alu/odd_double.h"
#include "sim/alu/small_float.h"
#include "sim/num/dot.h"
#include "sim/num/fused_sum.h"
#include "sim/num/narrow.h"

namespace tcq::alu {
namespace {

using Kind = ptx::Type;
using Bits = std::uint32_t;

constexpr int rows = 16;
constexpr int width = 8;

// Exact: f16 has every number of both.
template <Type type>
Bits widened(Bits code) {
  if constexpr (type == Type::e5m2) {
    const Bits word = code << 8;
    return (word & 0x7fff) > 0x7c00 ? canonical_nan_16 : word;
  } else {
    const Bits magnitude = code & 0x7f;
    const Bits sign = (code & 0x80) << 8;
    if (magnitude == 0x7f) return canonical_nan_16;
    constexpr float bias = 0x1p8f;  // that of f16 is larger by 8
    return sign | narrow(Type::f16, std::bit_cast<Bits>(f16_value(magnitude << 7) * bias));
  }
}

template <Type d>
Bits added(Bits x, Bits y) {
  if constexpr (d == Type::f32) {
    const float sum = std::bit_cast<float>(x) + std::bit_cast<float>(y);
    return sum == sum ? std::bit_cast<Bits>(sum) : canonical_nan_f32;
  } else {
    const double sum = odd_sum(f16_value(x), f16_value(y));
    return narrow(Type::f16, std::bit_cast<Bits>(to_odd_float(sum)));
  }
}

template <Type d, Type a_type, Type b_type, std::size_t k>
Bits sum_of(const std::array<Bits, k>& a, const std::array<Bits, k>& b, Bits c) {
  Bits sum = 0;
  for (const std::size_t half : {0, 2}) {
    std::array<Decoded, k / 2> x;
    std::array<Decoded, k / 2> y;
    for (std::size_t i = 0; i < k / 2; ++i) {
      const std::size_t at = i / 2 * 4 + half + i % 2;
      x[i] = decode_float(Type::f16, widened<a_type>(a[at]));
      y[i] = decode_float(Type::f16, widened<b_type>(b[at]));
    }
    sum = fused_sum(wgmma_dot_traits(d, Type::f16), d, Type::f16, Type::f16, x.data(), y.data(),
                    static_cast<int>(k / 2), decode_float(d, sum));
  }
  return added<d>(c, sum);
}

template <Type d, Type a, Type b, int k>
void multiply(const Arguments& arguments) {
  const Sources<rows, k, width> x(arguments);
  constexpr int registers = warp_mma::d_registers(rows, bits(d));
  std::array<std::array<Bits, warp_size>, static_cast<std::size_t>(registers)> words{};
  for (int reg = 0; reg < registers; ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int part = 0; part < parts_per_register(d); ++part) {
        const auto [row, col] = warp_mma::d_element(bits(d), {lane, reg, part});
        const Bits c = register_part(d, cells<Bits>(x.c[reg])[lane], part);
        const Bits sum = sum_of<d, a, b>(x.a[static_cast<std::size_t>(row)],
                                         x.b[static_cast<std::size_t>(col)], c);
        words[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)] |=
            in_register_part(d, sum, part);
      }
  for (std::size_t reg = 0; reg < words.size(); ++reg)
    write(arguments.out[reg], words[reg].data(), arguments.lanes);
}

// ---- Which exist ----------------------------------------------------------------------------------

template <Type d, Type a, Type b>
Evaluate of_depth(const ptx::Form& form) {
  if (form.shape[2] == 32) return multiply<d, a, b, 32>;
  return form.shape[2] == 16 ? multiply<d, a, b, 16> : nullptr;
}

template <Type d>
Evaluate of_pair(const ptx::Form& form) {
  const auto has = [&](Kind a, Kind b) { return form.types[1] == a && form.types[2] == b; };
  if (has(Kind::E4M3, Kind::E4M3)) return of_depth<d, Type::e4m3, Type::e4m3>(form);
  if (has(Kind::E4M3, Kind::E5M2)) return of_depth<d, Type::e4m3, Type::e5m2>(form);
  if (has(Kind::E5M2, Kind::E4M3)) return of_depth<d, Type::e5m2, Type::e4m3>(form);
  return has(Kind::E5M2, Kind::E5M2) ? of_depth<d, Type::e5m2, Type::e5m2>(form) : nullptr;
}

}  // namespace

Evaluate fp8_product(const ptx::Form& form) {
  if (form.has(ptx::Slot::Saturate) || form.types[0] != form.types[3]) return nullptr;
  if (form.types[0] == Kind::F32) return of_pair<Type::f32>(form);
  return form.types[0] == Kind::F16 ? of_pair<Type::f16>(form) : nullptr;
}

}  // namespace tcq::alu
