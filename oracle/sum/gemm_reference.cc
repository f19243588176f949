// Tiles of D are dealt to threads. A tile runs through K a stretch at a time, whose rows and columns
// are decoded once for all of its sums (sim/num/fast/chain.h): what that needs beside the matrices is
// a few MiB for each thread, whatever their size.
#include "oracle/sum/gemm_reference.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>
#include <thread>

#include "oracle/sum/gemm_epilogue.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot.h"
#include "sim/num/fast/chain.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {
namespace {

constexpr std::int64_t tile_side = 512;
constexpr std::int64_t stretch = 256;  // of K, whole instructions of every kind

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

fast::Instruction instruction_of(const Gemm& g) {
  const DotTypes types = step_of(g).types;
  fast::Instruction out = g.chain.kind ? fast::tcgen05_instruction(*g.chain.kind, types)
                                       : fast::wgmma_instruction(types);
  out.saturate = g.chain.saturate;
  return out;
}

template <class Word>
void copy_line(const void* data, std::int64_t first, std::int64_t step, std::int64_t count,
               std::uint32_t* to) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, bytes + (first + i * step) * std::int64_t{sizeof word}, sizeof word);
    to[i] = word;
  }
}

// One operand: where its lines are, and those of a tile.
struct Operand {
  Type type;
  Major major;
  const GemmStrides& strides;
  const void* data;

  void load(fast::Lines& lines, std::int64_t batch, std::int64_t line, std::int64_t k,
            std::int64_t count) const {
    const std::int64_t step = major == Major::K ? 1 : strides.ld;
    for (int i = 0; i < lines.count(); ++i) {
      const std::int64_t first = index_of(major, strides, batch, line + i, k);
      switch (bits(type)) {
        case 16: copy_line<std::uint16_t>(data, first, step, count, lines.words(i)); break;
        case 32: copy_line<std::uint32_t>(data, first, step, count, lines.words(i)); break;
        default: copy_line<std::uint8_t>(data, first, step, count, lines.words(i)); break;
      }
    }
    lines.pack();
  }
};

struct Tile {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t col;
  std::int64_t rows;
  std::int64_t cols;
};

using Words = std::vector<std::uint32_t>;

Words tile_segment(const Gemm& g, const GemmData& data, const Tile& t, const GemmSegment& segment) {
  const fast::Instruction in = instruction_of(g);
  const Operand a{g.in, g.major_a, g.a, data.a};
  const Operand b{g.b_type(), g.major_b, g.b, data.b};
  Words sums(static_cast<std::size_t>(t.rows * t.cols));
  for (std::int64_t k = 0; k < segment.count; k += stretch) {
    const auto count = static_cast<int>(std::min(stretch, segment.count - k));
    fast::Lines rows(in, fast::Side::Rows, static_cast<int>(t.rows), count);
    fast::Lines columns(in, fast::Side::Columns, static_cast<int>(t.cols), count);
    a.load(rows, t.batch, t.row, segment.first + k, count);
    b.load(columns, t.batch, t.col, segment.first + k, count);
    fast::advance(in, rows, columns, {sums.data(), t.cols});
  }
  if (in.types.d == Type::f16)
    for (std::uint32_t& sum : sums) sum = widened(Type::f16, sum);
  return sums;
}

void compute_tile(const Gemm& g, const GemmData& data, void* d, const Tile& t) {
  const auto segments = segments_of(g);
  Words total = tile_segment(g, data, t, segments[0]);
  for (std::size_t s = 1; s < segments.size(); ++s) {
    const Words next = tile_segment(g, data, t, segments[s]);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = add_f32(total[i], next[i]);
  }
  const int halves = is_gated(g.activation) ? 2 : 1;
  auto sum = total.begin();
  for (std::int64_t row = t.row; row < t.row + t.rows; ++row)
    for (std::int64_t col = t.col; col < t.col + t.cols; col += halves, sum += halves)
      store_element(g.out, d, t.batch * g.d.batch + row * g.d.ld + col / halves,
                    halves == 2 ? finish_pair(g, data, sum[0], sum[1], t.batch, row, col)
                                : finish_output(g, data, *sum, t.batch, row, col));
}

}  // namespace

void compute_gemm(const Gemm& g, const GemmData& data, void* d, int threads) {
  assert(is_float(g.in) || g.segments.size() <= 1);
  if (threads == 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  // Every thread has a tile, if that leaves rows enough to be worth decoding the columns.
  const std::int64_t share = std::max<std::int64_t>(64, (g.m + threads - 1) / threads);
  const std::int64_t tile_rows = std::min(tile_side, share);
  const std::int64_t down = (g.m + tile_rows - 1) / tile_rows;
  const std::int64_t across = (g.n + tile_side - 1) / tile_side;
  in_parallel(g.batch * down * across, threads, [&](std::int64_t i) {
    const std::int64_t row = i / across % down * tile_rows;
    const std::int64_t col = i % across * tile_side;
    compute_tile(g, data, d,
                 {i / across / down, row, col, std::min(tile_rows, g.m - row),
                  std::min(tile_side, g.n - col)});
  });
}

std::uint32_t gemm_output(const Gemm& g, const GemmData& data, std::int64_t batch, std::int64_t row,
                          std::int64_t col) {
  if (is_gated(g.activation))
    return finish_pair(g, data, slow_sum(g, data, batch, row, 2 * col),
                       slow_sum(g, data, batch, row, 2 * col + 1), batch, row, 2 * col);
  return finish_output(g, data, slow_sum(g, data, batch, row, col), batch, row, col);
}

}  // namespace tcq::oracle
