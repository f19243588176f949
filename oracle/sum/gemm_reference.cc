// Tiles of D are dealt to threads. A tile runs through K a stretch at a time, whose rows and columns
// are decoded once for all of its sums (sim/num/fast/chain.h, packed.h): what that needs beside the matrices is
// a few MiB for each thread, whatever their size.
#include "oracle/sum/gemm_reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "oracle/sum/gemm_chain.h"
#include "oracle/answer/in_parallel.h"
#include "sim/num/fast/chain.h"
#include "sim/num/fast/packed.h"
#include "sim/num/quantize.h"

namespace tcq::oracle {
namespace {

constexpr std::int64_t tile_side = 512;  // whole blocks of columns that share a factor of D
static_assert(quantized_block == 128, "block_of_d()");
constexpr std::int64_t stretch = 256;  // of K, whole instructions of every kind

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

// One operand of a product: where its lines are, and what a tile needs of them.
class OperandLines {
 public:
  static OperandLines of_a(const Gemm& g, const GemmData& data, std::int64_t batch) {
    return {g, g.in, g.major_a, g.a, data.a, g.codes_a, data.sfa, batch};
  }
  static OperandLines of_b(const Gemm& g, const GemmData& data, std::int64_t batch) {
    return {g, g.b_type(), g.major_b, g.b, data.b, g.codes_b, data.sfb, batch};
  }

  // Lines from `line` on, K from `k` on, of which there are `count`.
  void load(fast::Lines& lines, std::int64_t line, std::int64_t k, std::int64_t count) const {
    for (int i = 0; i < lines.count(); ++i) copy(line + i, k, count, lines.words(i));
    if (is_block_scaled(g_)) {
      const int products = step_of(g_).products;
      for (int i = 0; i < lines.count(); ++i)
        for (std::int64_t at = 0; at < count; at += products)
          lines.scales.push_back(code(line + i, k + at));
    }
    lines.pack();
  }

  // One instruction of a packed kind; what `count` does not fill are zeros.
  void load(fast::PackedLines& lines, std::int64_t line, std::int64_t k, std::int64_t count) const {
    const int block = scale_block(g_);
    for (int i = 0; i < lines.count(); ++i) {
      std::array<std::uint32_t, tcgen05::packed_products> words{};
      std::array<std::uint8_t, tcgen05::group_count> codes{};
      copy(line + i, k, count, words.data());
      for (std::int64_t at = 0; at < count; at += block)
        codes[static_cast<std::size_t>(at / block)] = code(line + i, k + at);
      lines.set(i, fast::packed_row(words.data(), false, g_.chain.scale_type, codes.data(), block));
    }
  }

 private:
  OperandLines(const Gemm& g, Type type, Major major, const GemmStrides& strides, const void* data,
               const GemmFactors& factors, const std::uint8_t* codes, std::int64_t batch)
      : g_(g),
        type_(type),
        major_(major),
        strides_(strides),
        data_(data),
        factors_(factors),
        codes_(codes),
        batch_(batch) {}

  void copy(std::int64_t line, std::int64_t k, std::int64_t count, std::uint32_t* to) const {
    const std::int64_t step = major_ == Major::K ? 1 : strides_.ld;
    const std::int64_t first = index_of(major_, strides_, batch_, line, k);
    switch (bits(type_)) {
      case 16: return copy_line<std::uint16_t>(data_, first, step, count, to);
      case 32: return copy_line<std::uint32_t>(data_, first, step, count, to);
      default: return copy_line<std::uint8_t>(data_, first, step, count, to);
    }
  }
  std::uint8_t code(std::int64_t line, std::int64_t k) const {
    return code_at(g_, factors_, codes_, batch_, line, k);
  }

  const Gemm& g_;
  Type type_;
  Major major_;
  const GemmStrides& strides_;
  const void* data_;
  const GemmFactors& factors_;
  const std::uint8_t* codes_;
  std::int64_t batch_;
};

struct Tile {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t col;
  std::int64_t rows;
  std::int64_t cols;
};

using Words = std::vector<std::uint32_t>;

// A thread's memory, of one tile after the other.
struct Room {
  fast::Lines rows;
  fast::Lines columns;
};

// Kinds mxf4 and mxf4nvf4.
void advance_packed_tile(const Gemm& g, const GemmData& data, const Tile& t,
                         const GemmSegment& segment, Words& sums) {
  constexpr std::int64_t step = tcgen05::packed_products;
  const tcgen05::DotForm form = dot_form_of(g);
  fast::PackedLines rows(fast::Side::Rows, static_cast<int>(t.rows));
  fast::PackedLines columns(fast::Side::Columns, static_cast<int>(t.cols));
  for (std::int64_t k = 0; k < segment.count; k += step) {
    const std::int64_t count = std::min(step, segment.count - k);
    OperandLines::of_a(g, data, t.batch).load(rows, t.row, segment.first + k, count);
    OperandLines::of_b(g, data, t.batch).load(columns, t.col, segment.first + k, count);
    fast::advance_packed(form, rows, columns, {sums.data(), t.cols});
  }
}

void advance_tile(const Gemm& g, const GemmData& data, const Tile& t, const GemmSegment& segment,
                  Words& sums, Room& room) {
  const fast::Instruction in = instruction_of(g);
  for (std::int64_t k = 0; k < segment.count; k += stretch) {
    const auto count = static_cast<int>(std::min(stretch, segment.count - k));
    room.rows.assign(in, fast::Side::Rows, static_cast<int>(t.rows), count);
    room.columns.assign(in, fast::Side::Columns, static_cast<int>(t.cols), count);
    OperandLines::of_a(g, data, t.batch).load(room.rows, t.row, segment.first + k, count);
    OperandLines::of_b(g, data, t.batch).load(room.columns, t.col, segment.first + k, count);
    fast::advance(in, room.rows, room.columns, {sums.data(), t.cols});
  }
}

Words tile_chain(const Gemm& g, const GemmData& data, const Tile& t, const GemmSegment& segment,
                 Room& room) {
  Words sums(static_cast<std::size_t>(t.rows * t.cols));
  if (g.chain.kind && tcgen05::is_packed_4bit(*g.chain.kind))
    advance_packed_tile(g, data, t, segment, sums);
  else
    advance_tile(g, data, t, segment, sums, room);
  const Type d = step_of(g).types.d;
  if (d == Type::f16)
    for (std::uint32_t& sum : sums) sum = widened(d, sum);
  return sums;
}

Words tile_segment(const Gemm& g, const GemmData& data, const Tile& t, const GemmSegment& segment,
                   Room& room) {
  if (!g.promotes) return tile_chain(g, data, t, segment, room);
  Words total(static_cast<std::size_t>(t.rows * t.cols));
  for (const GemmSegment& chain : chains_of(g, segment)) {
    const Words sums = tile_chain(g, data, t, chain, room);
    for (std::size_t i = 0; i < total.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const OutputAt place = {t.batch, t.row + at / t.cols, t.col + at % t.cols};
      total[i] = multiply_add_f32(block_factor(g, data, place, chain.first / promoted_chain_k),
                                  sums[i], total[i]);
    }
  }
  return total;
}

// The factor of a block, also as it is stored, at `index`.
float store_factor(const Gemm& g, void* factors, std::int64_t index, float largest) {
  if (g.quantized_vec == tcgen05::ScaleVec::Default) {
    const float factor = block_factor_of(largest, *g.quantized, g.factors_d_power_of_two);
    store_element(Type::f32, factors, index, std::bit_cast<std::uint32_t>(factor));
    return factor;
  }
  const tcgen05::ScaleType code = tcgen05::scale_type_of(g.quantized_vec);
  const float factor = coded_factor_of(largest, *g.quantized, code);
  store_element(Type::u8, factors, index, code_of_factor(factor, code));
  return factor;
}

// Of a block's columns of D, or those of them that D has, from `col` on.
void store_quantized(const Gemm& g, const GemmOut& out, const std::vector<float>& values,
                     std::int64_t batch, std::int64_t row, std::int64_t col) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, finite_magnitude(value));
  const GemmFactors& f = g.factors_d;
  const std::int64_t index =
      batch * f.batch_step + row * f.line_step + col / block_of_d(g) * f.block_step;
  const float inverse = inverse_of(store_factor(g, out.scale_d, index, largest));
  for (const float value : values) {
    const auto word = std::bit_cast<std::uint32_t>(rounded::multiply(value, inverse));
    store_element(*g.quantized, out.d, batch * g.d.batch + row * g.d.ld + col++,
                  narrow_quantized(*g.quantized, word));
  }
}

// A row of a tile, whose results are in the bits of D's type, or of f32 if it is quantized.
void store_row(const Gemm& g, const GemmOut& out, const Words& results, std::int64_t batch,
               std::int64_t row, std::int64_t col) {
  if (!g.quantized) {
    for (const std::uint32_t word : results)
      store_element(g.out, out.d, batch * g.d.batch + row * g.d.ld + col++, word);
    return;
  }
  const auto count = static_cast<std::int64_t>(results.size());
  const int block = block_of_d(g);
  for (std::int64_t first = 0; first < count; first += block) {
    std::vector<float> values;
    for (std::int64_t i = first; i < std::min(first + block, count); ++i)
      values.push_back(rounded::multiply(
          g.global_scale_d, std::bit_cast<float>(results[static_cast<std::size_t>(i)])));
    store_quantized(g, out, values, batch, row, col + first);
  }
}

void compute_tile(const Gemm& g, const GemmData& data, const GemmOut& out, const Tile& t,
                  Room& room) {
  const auto segments = segments_of(g);
  Words total = tile_segment(g, data, t, segments[0], room);
  for (std::size_t s = 1; s < segments.size(); ++s) {
    const Words next = tile_segment(g, data, t, segments[s], room);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = add_f32(total[i], next[i]);
  }
  const int halves = is_gated(g.activation) ? 2 : 1;
  auto sum = total.begin();
  Words results;
  for (std::int64_t row = t.row; row < t.row + t.rows; ++row) {
    results.clear();
    for (std::int64_t col = t.col; col < t.col + t.cols; col += halves, sum += halves)
      results.push_back(halves == 2 ? finish_pair(g, data, sum[0], sum[1], t.batch, row, col)
                                    : finish_output(g, data, *sum, t.batch, row, col));
    store_row(g, out, results, t.batch, row, t.col / halves);
  }
}

}  // namespace

void compute_gemm(const Gemm& g, const GemmData& data, GemmOut out, int threads) {
  assert(is_float(g.in) || g.segments.size() <= 1);
  threads = thread_count(threads);
  // Every thread has a tile, if that leaves rows enough to be worth decoding the columns.
  const std::int64_t share = std::max<std::int64_t>(64, (g.m + threads - 1) / threads);
  const std::int64_t tile_rows = std::min(tile_side, share);
  const std::int64_t down = (g.m + tile_rows - 1) / tile_rows;
  const std::int64_t across = (g.n + tile_side - 1) / tile_side;
  in_parallel(g.batch * down * across, threads, [&, room = Room{}](std::int64_t i) mutable {
    const std::int64_t row = i / across % down * tile_rows;
    const std::int64_t col = i % across * tile_side;
    compute_tile(g, data, out,
                 {i / across / down, row, col, std::min(tile_rows, g.m - row),
                  std::min(tile_side, g.n - col)},
                 room);
  });
}

}  // namespace tcq::oracle
