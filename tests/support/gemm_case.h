// One GEMM with its operands in host memory: random, with everything between and around the matrices
// poisoned, so that whatever reads or writes there is seen in D.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "oracle/sum/gemm_epilogue.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/num/inputs/draw.h"

namespace tcq {

// Operands and results that the library computes.
inline constexpr std::array<std::pair<Type, Type>, 16> gemm_types = {{{Type::f16, Type::f16},
                                                                      {Type::f16, Type::f32},
                                                                      {Type::bf16, Type::bf16},
                                                                      {Type::bf16, Type::f32},
                                                                      {Type::tf32, Type::f32},
                                                                      {Type::s8, Type::s32},
                                                                      {Type::s8, Type::f32},
                                                                      {Type::s8, Type::bf16},
                                                                      {Type::u8, Type::s32},
                                                                      {Type::u8, Type::f32},
                                                                      {Type::u8, Type::bf16},
                                                                      {Type::e4m3, Type::bf16},
                                                                      {Type::e4m3, Type::f16},
                                                                      {Type::e4m3, Type::f32},
                                                                      {Type::e5m2, Type::bf16},
                                                                      {Type::e5m2, Type::f32}}};

enum class Values : std::uint8_t {
  Near,      // exponents within a few of 0
  Wide,      // exponents further apart than the adder is wide
  Specials,  // some NaNs and infinities
};

inline constexpr std::size_t guard_bytes = 256;
inline constexpr std::uint8_t poison_of_d = 0xa5;  // and of its factors

// A matrix or a vector: bytes, of which the elements begin at `first`.
struct Buffer {
  std::vector<std::uint8_t> bytes;
  std::size_t first = 0;

  void* data() { return bytes.data() + first; }
  const void* data() const { return bytes.data() + first; }
};

// `shift` elements away from an address that every copy would like.
inline Buffer poisoned(Type type, std::int64_t elements, int shift, std::uint8_t poison) {
  const auto width = static_cast<std::size_t>((bits(type) + 7) / 8);
  Buffer buffer;
  buffer.first = guard_bytes + static_cast<std::size_t>(shift) * width;
  buffer.bytes.assign(buffer.first + static_cast<std::size_t>(elements) * width + guard_bytes,
                      poison);
  return buffer;
}

inline std::uint32_t random_element(Type type, Values values, Draw& draw) {
  if (!is_float(type)) return draw.word() >> (32 - bits(type));
  if (values == Values::Specials && draw.one_in(200))
    return infinity_of(type) | (draw.one_in(2) ? sign_bit(type) : 0) |
           (draw.one_in(3) ? infinity_of(type) >> 1 : 0);
  if (draw.one_in(30)) return draw.one_in(2) ? sign_bit(type) : 0;
  const int spread = values == Values::Wide ? 14 : 3;
  return make_float(type, draw.in(-spread, spread), Fraction::Uniform, draw.one_in(2), draw);
}

// How far the elements of a strided matrix reach.
inline std::int64_t reach(const oracle::GemmStrides& s, std::int64_t inner, std::int64_t outer,
                          std::int64_t batch) {
  if (inner == 0 || outer == 0 || batch == 0) return 0;
  return (batch - 1) * s.batch + (outer - 1) * s.ld + inner;
}

inline void fill(Buffer& buffer, Type type, const oracle::GemmStrides& s, std::int64_t inner,
                 std::int64_t outer, std::int64_t batch, Values values, std::uint64_t seed) {
  Draw draw(seed);
  for (std::int64_t l = 0; l < batch; ++l) {
    for (std::int64_t i = 0; i < outer; ++i) {
      for (std::int64_t j = 0; j < inner; ++j)
        oracle::store_element(type, buffer.data(), l * s.batch + i * s.ld + j,
                              random_element(type, values, draw));
    }
  }
}

// Of a row of D that is quantized.
inline std::int64_t blocks_of_d(const oracle::Gemm& g) {
  const std::int64_t columns = is_gated(g.activation) ? g.n / 2 : g.n;
  return (columns + oracle::block_of_d(g) - 1) / oracle::block_of_d(g);
}

struct GemmCase {
  oracle::Gemm gemm;
  Buffer a;
  Buffer b;
  Buffer c;
  Buffer bias;          // empty: none
  Buffer d;             // poison everywhere
  Buffer scale_a = {};  // empty: none
  Buffer scale_b = {};
  Buffer sfa = {};  // of block-scaled kinds; empty: none
  Buffer sfb = {};
  Buffer scale_d = {};  // poison everywhere; empty: D is not quantized

  oracle::GemmData data() const {
    return {a.data(),
            b.data(),
            gemm.beta != 0 ? c.data() : nullptr,
            bias.bytes.empty() ? nullptr : bias.data(),
            factors(scale_a),
            factors(scale_b),
            codes(sfa),
            codes(sfb)};
  }
  static const float* factors(const Buffer& b) {
    return b.bytes.empty() ? nullptr : static_cast<const float*>(b.data());
  }
  static const std::uint8_t* codes(const Buffer& b) {
    return b.bytes.empty() ? nullptr : static_cast<const std::uint8_t*>(b.data());
  }
  // Of D and of its factors after the computation.
  std::pair<Buffer, Buffer> results(int threads = 0) const {
    std::pair<Buffer, Buffer> out = {d, scale_d};
    oracle::compute_gemm(gemm, data(), {out.first.data(), out.second.data()}, threads);
    return out;
  }
  // All bytes of both.
  std::vector<std::uint8_t> expected(int threads = 0) const {
    const auto [out, scales] = results(threads);
    return joined(out.bytes, scales.bytes);
  }
  static std::vector<std::uint8_t> joined(std::vector<std::uint8_t> bytes,
                                          const std::vector<std::uint8_t>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
  }
};

struct Shifts {
  int a = 0;  // elements
  int b = 0;
  int d = 0;
};

// Poison of operands is a NaN of every float type.
inline GemmCase make_case(const oracle::Gemm& g, bool has_bias, Values values, std::uint64_t seed,
                          Shifts shifts = {}) {
  const bool k_major_a = g.major_a == Major::K;
  const bool k_major_b = g.major_b == Major::K;
  const std::int64_t inner_a = k_major_a ? g.k : g.m;
  const std::int64_t outer_a = k_major_a ? g.m : g.k;
  const std::int64_t inner_b = k_major_b ? g.k : g.n;
  const std::int64_t outer_b = k_major_b ? g.n : g.k;
  GemmCase out{g, {}, {}, {}, {}, {}};
  out.a = poisoned(g.in, reach(g.a, inner_a, outer_a, g.batch), shifts.a, 0xff);
  out.b = poisoned(g.b_type(), reach(g.b, inner_b, outer_b, g.batch), shifts.b, 0xff);
  out.c = poisoned(g.out, reach(g.c, g.n, g.m, g.batch), 0, 0xff);
  const std::int64_t columns = is_gated(g.activation) ? g.n / 2 : g.n;
  out.d = poisoned(g.d_type(), reach(g.d, columns, g.m, g.batch), shifts.d, poison_of_d);
  fill(out.a, g.in, g.a, inner_a, outer_a, g.batch, values, seed);
  fill(out.b, g.b_type(), g.b, inner_b, outer_b, g.batch, values, mix(seed + 1));
  fill(out.c, g.out, g.c, g.n, g.m, g.batch, Values::Near, mix(seed + 2));
  if (g.quantized) {
    const oracle::GemmFactors& f = g.factors_d;
    const std::int64_t last = (g.m - 1) * f.line_step + (blocks_of_d(g) - 1) * f.block_step;
    const bool codes = g.quantized_vec != tcgen05::ScaleVec::Default;
    out.scale_d = poisoned(codes ? Type::u8 : Type::f32,
                           g.m == 0 || columns == 0 ? 0 : (g.batch - 1) * f.batch_step + last + 1,
                           0, poison_of_d);
  }
  if (has_bias) {
    out.bias = poisoned(g.out, g.n, 0, 0xff);
    fill(out.bias, g.out, {g.n, 0}, g.n, 1, 1, Values::Near, mix(seed + 3));
  }
  return out;
}

// Packed strides plus padding, in elements.
inline oracle::Gemm with_strides(oracle::Gemm g, int pad_a = 0, int pad_b = 0, int pad_d = 0,
                                 int pad_c = 0) {
  const bool k_major_a = g.major_a == Major::K;
  const bool k_major_b = g.major_b == Major::K;
  g.a.ld = (k_major_a ? g.k : g.m) + pad_a;
  g.b.ld = (k_major_b ? g.k : g.n) + pad_b;
  g.c.ld = g.n + pad_c;
  g.d.ld = g.n + pad_d;
  g.a.batch = g.a.ld * (k_major_a ? g.m : g.k);
  g.b.batch = g.b.ld * (k_major_b ? g.n : g.k);
  g.c.batch = g.c.ld * g.m;
  g.d.batch = g.d.ld * g.m;
  return g;
}

}  // namespace tcq
