// Rows are dealt to threads; a row runs through panels of columns, whose sums advance together
// (sim/machine/panel_sums.h). A row or panel with a NaN or an infinity takes sim/num/fused_sum.h.
#include "oracle/sum/gemm_reference.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <thread>

#include "oracle/sum/gemm_epilogue.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/machine/panel_sums.h"
#include "sim/num/dot.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {
namespace {

using sums::lanes;
using sums::Line;
using sums::Sums;

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
  return load_element(g.b_type(), data.b, index_of(g.major_b, g.b, batch, col, k));
}

std::vector<GemmSegment> segments_of(const Gemm& g) {
  return g.segments.empty() ? std::vector<GemmSegment>{{0, g.k}} : g.segments;
}

// --- one output, by the definition -----------------------------------------------------------------

// What one instruction of the chain multiplies and adds to.
struct Step {
  DotTypes types;
  int products;
};

Step step_of(const Gemm& g) {
  const Type d = g.chain.d.value_or(wgmma::widest_d(g.in));
  return {{d, g.in, g.b_type()},
          g.chain.kind ? tcgen05::products(*g.chain.kind) : wgmma::stored_k(g.in)};
}

// The bits of C plus the products of one instruction.
std::uint32_t step_sum(const GemmChain& chain, const DotTypes& types, int count,
                       const std::uint32_t* a, const std::uint32_t* b, std::uint32_t c) {
  if (!chain.kind) return dot(types, a, b, count, c, {.satfinite = chain.saturate});
  tcgen05::DotForm form;
  form.opcode.kind = *chain.kind;
  form.idesc.d = types.d;
  form.idesc.a = types.a;
  form.idesc.b = types.b;
  form.idesc.saturate = chain.saturate;
  return tcgen05::dot(form, {a, b, c});
}

// f32, or s32 for integers.
std::uint32_t widened(Type d, std::uint32_t sum) {
  if (d != Type::f16) return sum;
  const auto value = std::bit_cast<std::uint32_t>(static_cast<float>(element_value(d, sum)));
  return sum == canonical_nan_f16 ? canonical_nan_f32 : value;
}

std::uint32_t segment_sum(const Gemm& g, const GemmData& data, const GemmSegment& segment,
                          std::int64_t batch, std::int64_t row, std::int64_t col) {
  std::array<std::uint32_t, max_products> a{};
  std::array<std::uint32_t, max_products> b{};
  const Step step = step_of(g);
  std::uint32_t sum = 0;
  for (std::int64_t k = 0; k < segment.count; k += step.products) {
    for (int i = 0; i < step.products; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool inside = k + i < segment.count;
      a[at] = inside ? element_a(g, data, batch, row, segment.first + k + i) : 0;
      b[at] = inside ? element_b(g, data, batch, col, segment.first + k + i) : 0;
    }
    sum = step_sum(g.chain, step.types, step.products, a.data(), b.data(), sum);
  }
  return widened(step.types.d, sum);
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
        const sums::Small s = sums::small_of(g.in, element_b(g, data, batch, p * lanes + j, k));
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
    const sums::Small s = sums::small_of(g.in, element_a(g, data, batch, row, k));
    line.significands.push_back(s.significand);
    line.exponents.push_back(s.exponent);
    line.special = line.special || s.special;
  }
  return line;
}

Sums panel_sums(const Gemm& g, const Line& row, const Line& panel) {
  if (!is_float(g.in)) return sums::integer_chain(row, panel, g.k);
  const auto segments = segments_of(g);
  Sums total = sums::chain(g.in, row, panel, segments[0].first, segments[0].count);
  for (std::size_t s = 1; s < segments.size(); ++s) {
    const Sums next = sums::chain(g.in, row, panel, segments[s].first, segments[s].count);
    for (std::size_t j = 0; j < lanes; ++j) total[j] = add_f32(total[j], next[j]);
  }
  return total;
}

// What sim/machine/panel_sums.h can sum.
bool has_panels(const Gemm& g) {
  const bool is_known =
      is_int8(g.in) || g.in == Type::f16 || g.in == Type::bf16 || g.in == Type::tf32;
  return is_known && g.b_type() == g.in && step_of(g).types.d != Type::f16 && !g.chain.saturate;
}

void compute_row_slowly(const Gemm& g, const GemmData& data, void* d, std::int64_t batch,
                        std::int64_t row) {
  for (std::int64_t col = 0; col < g.n; ++col)
    store_element(g.out, d, batch * g.d.batch + row * g.d.ld + col,
                  gemm_output(g, data, batch, row, col));
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
    if (!has_panels(g)) {
      in_parallel(g.m, threads,
                  [&](std::int64_t row) { compute_row_slowly(g, data, d, batch, row); });
      continue;
    }
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
