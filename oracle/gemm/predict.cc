#include "oracle/gemm/predict.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <iterator>
#include <vector>

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
  read_line(p.product.a, p.a, p.a.index(row, 0), p.a.col_step, p.product.k, line.data(), 1);
  return line;
}

// As many columns as there are from this one on, at most a panel; zeros behind them.
Line panel_of(const Problem& p, std::int64_t first, std::int64_t count) {
  Line panel(static_cast<std::size_t>(p.product.k * fast::plain_columns));
  for (std::int64_t i = 0; i < count; ++i)
    read_line(p.product.b, p.b, p.b.index(0, first + i), p.b.row_step, p.product.k,
              panel.data() + i, fast::plain_columns);
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

void predict_loose(const Problem& problem, const Order& order, const Gemm& g, std::int64_t first,
                   void* d) {
  const GemmData data = data_from(problem, first);
  std::vector<Line> rows;
  for (std::int64_t row = 0; row < g.m; ++row) rows.push_back(row_of(problem, first + row));
  for (std::int64_t panel = 0; panel < g.n; panel += fast::plain_columns) {
    const std::int64_t count = std::min<std::int64_t>(fast::plain_columns, g.n - panel);
    const Line columns = panel_of(problem, panel, count);
    for (std::int64_t row = 0; row < g.m; ++row) {
      const Sums sums = sums_of(order.engine, rows[static_cast<std::size_t>(row)], columns);
      for (std::int64_t i = 0; i < count; ++i)
        store_element(
            g.out, d, row * g.d.ld + panel + i,
            finish_output(g, data, word_of(sums[static_cast<std::size_t>(i)]), 0, row, panel + i));
    }
  }
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

void predict_band(const Problem& problem, const Order& order, Rows band, int threads, void* d) {
  Gemm g = gemm_of(problem, order);
  g.m = band.count();
  if (!is_instruction(order))
    predict_loose(problem, order, g, band.first, d);
  else
    compute_gemm(g, data_from(problem, band.first), d, threads);
}

}  // namespace

bool predict(const Problem& problem, const Order& order, Rows rows, int threads, void* d,
             const Pulse& pulse) {
  using Clock = std::chrono::steady_clock;
  Bands bands(problem);
  const std::size_t row_bytes = static_cast<std::size_t>(problem.n) * element_bytes(problem.out);
  for (std::int64_t row = rows.first; row < rows.end;) {
    if (!pulse(row - rows.first)) return false;
    const Rows band{row, std::min(rows.end, row + bands.rows())};
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
  const Sums sums = sums_of(order.engine, row_of(problem, row), panel_of(problem, col, 1));
  return finish_output(g, data, word_of(sums[0]), 0, 0, col);
}

GemmErrors errors_of(const Problem& problem, const Order& order, Rows rows, const void* d) {
  Gemm g = gemm_of(problem, order);
  g.m = rows.count();
  return gemm_errors(g, data_from(problem, rows.first), d);
}

}  // namespace tcq::oracle::gemm
