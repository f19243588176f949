#include "oracle/gemm/predict.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "oracle/answer/in_parallel.h"
#include "oracle/sum/gemm_epilogue.h"
#include "sim/num/fast/plain_sums.h"
#include "sim/num/round.h"

namespace tcq::oracle::gemm {
namespace {

bool is_instruction(const Order& order) {
  return order.engine == Engine::Wgmma || order.engine == Engine::Tcgen05;
}

// --- sums that are no instruction's ------------------------------------------------------------------

using Line = std::vector<float>;

// Elements of a line of A or B, `step` apart in `to`.
void read_line(Type type, const Matrix& m, std::int64_t start, std::int64_t m_step, std::int64_t k,
               float* to, std::int64_t step) {
  for (std::int64_t i = 0; i < k; ++i)
    to[i * step] = static_cast<float>(
        element_value(type, load_element(type, m.array.data(), start + i * m_step)));
}

Line row_of(const Problem& p, std::int64_t row) {
  Line line(static_cast<std::size_t>(p.product.k));
  const std::int64_t start = row / p.m * p.a.product_step() + p.a.index(row % p.m, 0);
  read_line(p.product.a, p.a, start, p.a.col_step, p.product.k, line.data(), 1);
  return line;
}

// As many columns as there are from this one on, at most a panel; zeros behind them.
Line panel_of(const Problem& p, std::int64_t entry, std::int64_t first, std::int64_t count) {
  Line panel(static_cast<std::size_t>(p.product.k * fast::plain_columns));
  for (std::int64_t i = 0; i < count; ++i)
    read_line(p.product.b, p.b, entry * p.b.product_step() + p.b.index(0, first + i), p.b.row_step,
              p.product.k, panel.data() + i, fast::plain_columns);
  return panel;
}

using Sums = std::array<float, fast::plain_columns>;

Sums sums_of(Engine engine, const Line& row, const Line& panel) {
  Sums sums;
  const auto sum = engine == Engine::Float64 ? fast::PlainSum::Float64 : fast::PlainSum::Fma;
  fast::sum_plain(sum, row.data(), panel.data(), std::ssize(row), sums.data());
  return sums;
}

std::uint32_t word_of(float sum) {
  return std::isnan(sum) ? canonical_nan_f32 : std::bit_cast<std::uint32_t>(sum);
}

std::int64_t sums_of_output(const Gemm& g) { return is_gated(g.activation) ? 2 : 1; }
static_assert(fast::plain_columns % 2 == 0);  // a pair is in one panel

// `col` of the product is the column of the first sum.
std::uint32_t finished(const Gemm& g, const GemmData& data, const float* sums, std::int64_t row,
                       std::int64_t col) {
  if (sums_of_output(g) == 1) return finish_output(g, data, word_of(sums[0]), 0, row, col);
  return finish_pair(g, data, word_of(sums[0]), word_of(sums[1]), 0, row, col);
}

constexpr std::int64_t piece_rows = 128;  // of a panel: enough to be worth decoding its columns

// Rows [first, end) of an entry's band, and the columns of a panel.
struct Piece {
  std::int64_t entry;
  std::int64_t first;
  std::int64_t end;
  std::int64_t panel;
};

void predict_piece(const Problem& problem, Engine engine, const Gemm& g, const GemmData& data,
                   std::span<const Line> rows, const Piece& piece, void* d) {
  const std::int64_t count = std::min<std::int64_t>(fast::plain_columns, g.n - piece.panel);
  const Line columns = panel_of(problem, piece.entry, piece.panel, count);
  const std::int64_t halves = sums_of_output(g);
  for (std::int64_t row = piece.first; row < piece.end; ++row) {
    const Sums sums = sums_of(engine, rows[static_cast<std::size_t>(row)], columns);
    for (std::int64_t i = 0; i < count; i += halves) {
      const std::int64_t col = piece.panel + i;
      store_element(g.out, d, row * g.d.ld + col / halves,
                    finished(g, data, sums.data() + i, row, col));
    }
  }
}

// Rows of one entry, from row `first` of D on.
void predict_loose(const Problem& problem, const Order& order, const Gemm& g, std::int64_t first,
                   int threads, char* d) {
  const GemmData data = data_from(problem, first);
  threads = thread_count(threads);
  std::vector<Line> rows(static_cast<std::size_t>(g.m));
  in_parallel(g.m, threads, [&](std::int64_t row) {
    rows[static_cast<std::size_t>(row)] = row_of(problem, first + row);
  });
  const std::int64_t down = (g.m + piece_rows - 1) / piece_rows;
  const std::int64_t across = (g.n + fast::plain_columns - 1) / fast::plain_columns;
  in_parallel(down * across, threads, [&](std::int64_t i) {
    const std::int64_t begin = i / across * piece_rows;
    predict_piece(problem, order.engine, g, data, rows,
                  {first / problem.m, begin, std::min(g.m, begin + piece_rows),
                   i % across * fast::plain_columns},
                  d);
  });
}

// --- bands -----------------------------------------------------------------------------------------

class Bands {
 public:
  explicit Bands(const Problem& problem) {
    const std::int64_t k = std::max<std::int64_t>(1, problem.product.k);
    const std::int64_t row = k * std::max<std::int64_t>(1, problem.n);
    most_rows_ = std::max<std::int64_t>(1, most_elements / k);
    rows_ = std::clamp<std::int64_t>(first_products / row, 1, most_rows_);
  }

  std::int64_t rows() const { return rows_; }
  void took(double seconds) {
    if (seconds < 1) rows_ = std::min(2 * rows_, most_rows_);
  }

 private:
  static constexpr std::int64_t first_products = std::int64_t{1} << 25;
  static constexpr std::int64_t most_elements = std::int64_t{1} << 25;  // of A, decoded
  std::int64_t most_rows_ = 1;
  std::int64_t rows_ = 1;
};

// The rows from `row` on that one Gemm computes: of one entry, or of several whole ones.
Rows band_from(const Problem& problem, std::int64_t row, std::int64_t end, std::int64_t most_rows) {
  const std::int64_t in_entry = row % problem.m;
  const std::int64_t most = std::min(end - row, most_rows);
  if (in_entry != 0 || most < problem.m) return {row, row + std::min(most, problem.m - in_entry)};
  return {row, row + most / problem.m * problem.m};
}

Gemm gemm_of(const Problem& problem, const Order& order, Rows band) {
  Gemm g = gemm_of(problem, order);
  g.m = std::min(band.count(), problem.m);
  g.batch = band.count() / g.m;
  return g;
}

void predict_band(const Problem& problem, const Order& order, Rows band, int threads, char* d) {
  const Gemm g = gemm_of(problem, order, band);
  if (is_instruction(order)) return compute_gemm(g, data_from(problem, band.first), d, threads);
  const std::int64_t bytes = g.m * g.d.ld * static_cast<std::int64_t>(element_bytes(g.out));
  for (std::int64_t e = 0; e < g.batch; ++e)
    predict_loose(problem, order, g, band.first + e * g.m, threads, d + e * bytes);
}

}  // namespace

bool predict(const Problem& problem, const Order& order, Rows rows, int threads, void* d,
             const Pulse& pulse) {
  using Clock = std::chrono::steady_clock;
  Bands bands(problem);
  const std::size_t row_bytes =
      static_cast<std::size_t>(problem.columns()) * element_bytes(problem.out);
  for (std::int64_t row = rows.first; row < rows.end;) {
    if (!pulse(row - rows.first)) return false;
    const Rows band = band_from(problem, row, rows.end, bands.rows());
    const Clock::time_point begin = Clock::now();
    predict_band(problem, order, band, threads,
                 static_cast<char*>(d) + static_cast<std::size_t>(row - rows.first) * row_bytes);
    bands.took(std::chrono::duration<double>(Clock::now() - begin).count());
    row = band.end;
  }
  return pulse(rows.count());
}

std::uint32_t predict_one(const Problem& problem, const Order& order, std::int64_t row,
                          std::int64_t col) {
  const Gemm g = gemm_of(problem, order);
  const GemmData data = data_from(problem, row);
  if (is_instruction(order)) return gemm_output(g, data, 0, 0, col);
  const std::int64_t halves = sums_of_output(g);
  const Line panel = panel_of(problem, row / problem.m, halves * col, halves);
  const Sums sums = sums_of(order.engine, row_of(problem, row), panel);
  return finished(g, data, sums.data(), 0, halves * col);
}

GemmErrors errors_of(const Problem& problem, const Order& order, Rows rows, const void* d) {
  GemmErrors all;
  double squares = 0;
  double exact_squares = 0;
  const auto row_bytes = problem.n * static_cast<std::int64_t>(element_bytes(problem.out));
  for (std::int64_t row = rows.first; row < rows.end;) {
    const Rows band = band_from(problem, row, rows.end, problem.m);
    const GemmErrors one =
        gemm_errors(gemm_of(problem, order, band), data_from(problem, row),
                    static_cast<const char*>(d) + (row - rows.first) * row_bytes);
    all.max_absolute = std::max(all.max_absolute, one.max_absolute);
    all.max_relative = std::max(all.max_relative, one.max_relative);
    all.compared += one.compared;
    all.not_finite += one.not_finite;
    const auto count = static_cast<double>(one.compared);
    squares += one.root_mean_square * one.root_mean_square * count;
    exact_squares += one.exact_root_mean_square * one.exact_root_mean_square * count;
    row = band.end;
  }
  if (all.compared == 0) return all;
  const auto count = static_cast<double>(all.compared);
  all.root_mean_square = std::sqrt(squares / count);
  all.exact_root_mean_square = std::sqrt(exact_squares / count);
  return all;
}

}  // namespace tcq::oracle::gemm
