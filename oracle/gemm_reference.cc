// Rows are dealt to threads; a row runs through panels of 16 columns, whose sums advance together in
// integers of 32 bits. A row or panel with a NaN or an infinity takes sim/num/fused_sum.h itself.
#include "oracle/gemm_reference.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <thread>

#include "oracle/gemm_epilogue.h"
#include "sim/isa/shape.h"
#include "sim/num/dot.h"

// Compiled twice, with and without wide vectors; the loader chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TCQ_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define TCQ_WIDE_VECTORS
#endif

namespace tcq::oracle {
namespace {

constexpr int lanes = 16;  // columns of a panel
constexpr DotTraits traits = wgmma_dot_traits(Type::f32, Type::bf16);
static_assert(traits == wgmma_dot_traits(Type::f32, Type::f16));
static_assert(traits == wgmma_dot_traits(Type::f32, Type::tf32));
static_assert(traits.conversion == Conversion::F32TowardZero);

// Elements of A's rows or B's columns. Of floats, significand and exponent, of integers the value.
struct Line {
  std::vector<std::int16_t> significands;
  std::vector<std::int16_t> exponents;
  bool special = false;
};

std::int64_t index_of(Major major, const GemmStrides& s, std::int64_t batch, std::int64_t mn,
                      std::int64_t k) {
  return batch * s.batch + (major == Major::K ? mn * s.ld + k : k * s.ld + mn);
}

std::uint32_t element_a(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row,
                        std::int64_t k) {
  return load_element(g.in, data.a, index_of(g.major_a, g.a, batch, row, k));
}

std::uint32_t element_b(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t col,
                        std::int64_t k) {
  return load_element(g.in, data.b, index_of(g.major_b, g.b, batch, col, k));
}

std::vector<GemmSegment> segments_of(const Gemm& g) {
  return g.segments.empty() ? std::vector<GemmSegment>{{0, g.k}} : g.segments;
}

struct Small {
  std::int16_t significand;
  std::int16_t exponent;
  bool special;
};

Small small_of(Type type, std::uint32_t word) {
  if (!is_float(type)) return {static_cast<std::int16_t>(decode_integer(type, word)), 0, false};
  const Decoded d = decode_float(type, word);
  return {static_cast<std::int16_t>(d.significand), d.exponent, is_special(d.kind)};
}

// --- vectors of sums -------------------------------------------------------------------------------

// One fused sum in every lane: products of one row with a panel, `count` of them, and C.
// Bit budget: a product cut to 25 fraction bits is below 2^27, so are eight of them below 2^30, C
// below 2^26; lows and highs take half of the products each.
struct Terms {
  std::array<std::int32_t, lanes> c;  // significand, cut and scaled like a product
  std::array<std::int32_t, lanes> c_exponents;
  std::array<std::int32_t, lanes> exponents;  // the largest
  std::array<std::int32_t, lanes> lows;
  std::array<std::int32_t, lanes> highs;
};

// Toward zero, as align() of fused_sum.h.
inline std::int32_t cut(std::int32_t value, std::int32_t distance) {
  const std::int32_t sign = value >> 31;
  const std::int32_t count = distance > 31 ? 31 : distance;
  const auto magnitude = static_cast<std::uint32_t>((value ^ sign) - sign);
  return (static_cast<std::int32_t>(magnitude >> count) ^ sign) - sign;
}

TCQ_WIDE_VECTORS
void add_products(Terms& t, const std::int16_t* row, const std::int16_t* row_exponents,
                  const std::int16_t* panel, const std::int16_t* panel_exponents, int count,
                  std::int32_t scale) {
  for (int j = 0; j < lanes; ++j)
    t.exponents[j] =
        t.c_exponents[j] > traits.floor_exponent ? t.c_exponents[j] : traits.floor_exponent;
  for (int i = 0; i < count; ++i) {
    const std::int32_t exponent = row_exponents[i];
    const std::int16_t* exponents = panel_exponents + i * lanes;
    for (int j = 0; j < lanes; ++j) {
      const std::int32_t sum = exponent + exponents[j];
      t.exponents[j] = sum > t.exponents[j] ? sum : t.exponents[j];
    }
  }
  for (int j = 0; j < lanes; ++j) {
    t.lows[j] = cut(t.c[j], t.exponents[j] - t.c_exponents[j]);
    t.highs[j] = 0;
  }
  for (int i = 0; i < count; ++i) {
    const std::int32_t significand = row[i] * scale;
    const std::int32_t exponent = row_exponents[i];
    const std::int16_t* significands = panel + i * lanes;
    const std::int16_t* exponents = panel_exponents + i * lanes;
    auto& half = i % 2 == 0 ? t.lows : t.highs;
    for (int j = 0; j < lanes; ++j)
      half[j] += cut(significand * significands[j], t.exponents[j] - exponent - exponents[j]);
  }
}

TCQ_WIDE_VECTORS
void add_integers(std::uint32_t* sums, const std::int16_t* row, const std::int16_t* panel,
                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t value = row[i];
    for (int j = 0; j < lanes; ++j)
      sums[j] += static_cast<std::uint32_t>(value * panel[i * lanes + j]);
  }
}

using Sums = std::array<std::uint32_t, lanes>;

// C of the next instruction. False if it is an infinity, which stays.
bool set_c(Terms& t, std::size_t lane, std::uint32_t word) {
  const Decoded c = decode_float(Type::f32, word);
  constexpr int missing = traits.fraction_bits - float_format(Type::f32).fraction_bits;
  t.c[lane] = c.significand * (1 << missing);
  t.c_exponents[lane] = c.exponent;
  return !is_special(c.kind);
}

// The chain of instructions over one segment. Requires: nothing special in row or panel.
Sums chain(Type type, const Line& row, const Line& panel, const GemmSegment& segment) {
  const int step = wgmma::stored_k(type);
  const int left = traits.fraction_bits - 2 * float_format(type).fraction_bits;
  Terms t{};
  t.c_exponents.fill(zero_exponent);
  Sums sums{};
  std::array<bool, lanes> infinite{};
  for (std::int64_t k = segment.first; k < segment.first + segment.count; k += step) {
    const auto count =
        static_cast<int>(std::min<std::int64_t>(step, segment.first + segment.count - k));
    const auto at = static_cast<std::size_t>(k);
    add_products(t, &row.significands[at], &row.exponents[at], &panel.significands[at * lanes],
                 &panel.exponents[at * lanes], count, 1 << left);
    for (std::size_t j = 0; j < lanes; ++j) {
      if (infinite[j]) continue;
      sums[j] = round_sum(traits.conversion, std::int64_t{t.lows[j]} + t.highs[j],
                          t.exponents[j] - traits.fraction_bits);
      infinite[j] = !set_c(t, j, sums[j]);
    }
  }
  return sums;
}

Sums integer_chain(const Line& row, const Line& panel, std::int64_t k) {
  Sums sums{};
  add_integers(sums.data(), row.significands.data(), panel.significands.data(), k);
  return sums;
}

// --- one output, by the definition -----------------------------------------------------------------

std::uint32_t segment_sum(const Gemm& g, const GemmData& data, const GemmSegment& segment,
                          std::int64_t batch, std::int64_t row, std::int64_t col) {
  std::array<std::uint32_t, max_products> a{};
  std::array<std::uint32_t, max_products> b{};
  const Type accumulator = is_float(g.in) ? Type::f32 : Type::s32;
  const int step = wgmma::stored_k(g.in);
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; k < segment.count; k += step) {
    for (int i = 0; i < step; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool inside = k + i < segment.count;
      a[at] = inside ? element_a(g, data, batch, row, segment.first + k + i) : 0;
      b[at] = inside ? element_b(g, data, batch, col, segment.first + k + i) : 0;
    }
    sum = dot({accumulator, g.in, g.in}, a.data(), b.data(), step, sum, {.accumulate = k > 0});
  }
  return sum;
}

std::uint32_t slow_sum(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row,
                       std::int64_t col) {
  std::uint32_t total = 0;
  bool first = true;
  for (const GemmSegment& segment : segments_of(g)) {
    const std::uint32_t sum = segment_sum(g, data, segment, batch, row, col);
    total = first ? sum : add_f32(total, sum);
    first = false;
  }
  return total;
}

// --- whole matrices --------------------------------------------------------------------------------

// Calls work(i) for i in [0, count) on several threads.
template <class Work>
void in_parallel(std::int64_t count, int threads, Work work) {
  std::atomic<std::int64_t> next = 0;
  const auto run = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < std::min<std::int64_t>(threads, count); ++t)
    others.emplace_back(run);
  run();
  for (std::thread& t : others) t.join();
}

std::vector<Line> panels_of(const Gemm& g, const GemmData& data, std::int64_t batch, int threads) {
  std::vector<Line> panels(static_cast<std::size_t>((g.n + lanes - 1) / lanes));
  in_parallel(static_cast<std::int64_t>(panels.size()), threads, [&](std::int64_t p) {
    Line& line = panels[static_cast<std::size_t>(p)];
    const auto size = static_cast<std::size_t>(g.k * lanes);
    line.significands.assign(size, 0);
    line.exponents.assign(size, zero_exponent);
    for (std::int64_t j = 0; j < std::min<std::int64_t>(lanes, g.n - p * lanes); ++j) {
      for (std::int64_t k = 0; k < g.k; ++k) {
        const Small s = small_of(g.in, element_b(g, data, batch, p * lanes + j, k));
        const auto at = static_cast<std::size_t>(k * lanes + j);
        line.significands[at] = s.significand;
        line.exponents[at] = s.exponent;
        line.special = line.special || s.special;
      }
    }
  });
  return panels;
}

Line row_of(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row) {
  Line line;
  for (std::int64_t k = 0; k < g.k; ++k) {
    const Small s = small_of(g.in, element_a(g, data, batch, row, k));
    line.significands.push_back(s.significand);
    line.exponents.push_back(s.exponent);
    line.special = line.special || s.special;
  }
  return line;
}

Sums panel_sums(const Gemm& g, const Line& row, const Line& panel) {
  if (!is_float(g.in)) return integer_chain(row, panel, g.k);
  const auto segments = segments_of(g);
  Sums total = chain(g.in, row, panel, segments[0]);
  for (std::size_t s = 1; s < segments.size(); ++s) {
    const Sums next = chain(g.in, row, panel, segments[s]);
    for (std::size_t j = 0; j < lanes; ++j) total[j] = add_f32(total[j], next[j]);
  }
  return total;
}

void compute_row(const Gemm& g, const GemmData& data, const std::vector<Line>& panels, void* d,
                 std::int64_t batch, std::int64_t row) {
  const Line line = row_of(g, data, batch, row);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const bool special = line.special || panels[p].special;
    const Sums sums = special ? Sums{} : panel_sums(g, line, panels[p]);
    for (std::size_t j = 0; j < lanes; ++j) {
      const auto col = static_cast<std::int64_t>(p * lanes + j);
      if (col >= g.n) break;
      const std::uint32_t sum = special ? slow_sum(g, data, batch, row, col) : sums[j];
      store_element(g.out, d, batch * g.d.batch + row * g.d.ld + col,
                    finish_output(g, data, sum, batch, row, col));
    }
  }
}

}  // namespace

void compute_gemm(const Gemm& g, const GemmData& data, void* d, int threads) {
  assert(is_float(g.in) || g.segments.size() <= 1);
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (std::int64_t batch = 0; batch < g.batch; ++batch) {
    const std::vector<Line> panels = panels_of(g, data, batch, threads);
    in_parallel(g.m, threads,
                [&](std::int64_t row) { compute_row(g, data, panels, d, batch, row); });
  }
}

std::uint32_t gemm_output(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row,
                          std::int64_t col) {
  return finish_output(g, data, slow_sum(g, data, batch, row, col), batch, row, col);
}

}  // namespace tcq::oracle
