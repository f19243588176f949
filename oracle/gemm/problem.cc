// Files first, then what their shapes say to each other.
#include "oracle/gemm/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/sum/gemm_epilogue.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::int64_t drawn_k = 64;
constexpr std::string_view bell_word = "bell";

// --- drawn operands --------------------------------------------------------------------------------

MixtureClass class_of(const std::string& word, std::uint64_t tile_seed) {
  std::vector<std::string_view> names = {bell_word, "weighted"};
  if (word == names[1]) return mixture_class(tile_seed);
  for (int i = 0; i < mixture_class_count; ++i) {
    names.emplace_back(tcq::name(static_cast<MixtureClass>(i)));
    if (word == names.back()) return static_cast<MixtureClass>(i);
  }
  throw_unknown("mixture", word, names);
}

Mixture mixture_of(const Request& request, std::int64_t tile) {
  const std::uint64_t seed = mix(request.seed) + static_cast<std::uint64_t>(tile);
  const DotTypes types{wgmma::widest_d(request.a), request.a, request.b};
  return {types, static_cast<int>(drawn_k), class_of(request.mixture, seed), seed};
}

template <class Element>
void draw(Type type, Matrix& matrix, std::int64_t first, std::int64_t count, Element element) {
  char* to = matrix.array.bytes.data() + matrix.array.first;
  const std::int64_t lines = matrix.rows;
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t k = 0; k < count; ++k)
      store_element(type, to, matrix.index(line, first + k),
                    element(static_cast<int>(line), static_cast<int>(k)));
}

// Tiles of inputs that find wrong sums.
void draw_mixture(const Request& request, Matrix& a, Matrix& b) {
  class_of(request.mixture, 0);
  for (std::int64_t first = 0; first < a.cols; first += drawn_k) {
    const Mixture mixture = mixture_of(request, first / drawn_k);
    const std::int64_t count = std::min(drawn_k, a.cols - first);
    draw(request.a, a, first, count, [&](int i, int k) { return mixture.a(i, k); });
    draw(request.b, b, first, count, [&](int i, int k) { return mixture.b(i, k); });
  }
}

// Inputs as users have them; a line's are a stream of their own.
void draw_bell(Type type, Matrix& matrix, std::uint64_t seed) {
  std::int64_t drawn_line = -1;
  Draw stream(seed);
  draw(type, matrix, 0, matrix.cols, [&](int line, int) {
    if (line != drawn_line) stream = Draw(mix(seed) ^ static_cast<std::uint64_t>(line));
    drawn_line = line;
    return bell(type, stream);
  });
}

// Both K-major: B is drawn as N x K.
void draw_operands(const Request& request, Problem& problem) {
  const Sizes& s = request.sizes;
  problem.a = zeros(request.a, s.m, s.k);
  Matrix b = zeros(request.b, s.n, s.k);
  if (request.mixture == bell_word) {
    draw_bell(request.a, problem.a, 2 * request.seed);
    draw_bell(request.b, b, 2 * request.seed + 1);
  } else {
    draw_mixture(request, problem.a, b);
  }
  problem.b = transposed(std::move(b));
}

// --- shapes ----------------------------------------------------------------------------------------

Matrix read_matrix(const Request& request, const std::string& path, Type type) {
  return matrix_of(request.read(path), path, type);
}

void read_operands(const Request& request, Problem& problem) {
  problem.a = read_matrix(request, request.operands[0], request.a);
  problem.b = read_matrix(request, request.operands[1], request.b);
  if (request.transpose_a) problem.a = transposed(std::move(problem.a));
  if (request.transpose_b) problem.b = transposed(std::move(problem.b));
  const Matrix& a = problem.a;
  const Matrix& b = problem.b;
  if (a.cols != b.rows)
    throw UsageError(
        fmt::format("A is {} x {} and B is {} x {}: expected A's columns to be B's rows{}", a.rows,
                    a.cols, b.rows, b.cols,
                    a.cols == b.cols   ? "; --transpose-b reads B as N x K"
                    : a.rows == b.rows ? "; --transpose-a reads A as K x M"
                                       : ""));
}

void check_output_type(const Request& request, const Problem& problem) {
  const EpilogueWords& e = problem.epilogue;
  if (problem.out != Type::s32) return;
  if (is_float(request.a))
    throw UsageError(fmt::format("--out-type s32: sums of {} are f32", tcq::name(request.a)));
  if (e.alpha != 1 || e.beta != 0 || e.activation != Activation::None || !request.bias.empty())
    throw UsageError("s32 results have no epilogue: expected --out-type f32, f16 or bf16 with it");
}

void read_epilogue(const Request& request, Problem& problem) {
  if (!request.c.empty())
    problem.c = read_output(request, request.c, problem.out, problem.m, problem.n);
  if (request.bias.empty()) return;
  Matrix bias = read_matrix(request, request.bias, problem.out);
  if (bias.rows != 1) bias = transposed(std::move(bias));
  if (bias.rows != 1 || bias.cols != problem.n)
    throw UsageError(fmt::format("{}: has shape {} x {}: expected {} elements, one for each column",
                                 shown_path(request.bias), bias.rows, bias.cols, problem.n));
  problem.bias = row_major(problem.out, std::move(bias));
}

// How an operand lies whose elements are so far apart along K and along its rows or columns.
void place(Major& major, GemmStrides& strides, std::int64_t k_step, std::int64_t mn_step) {
  major = k_step == 1 ? Major::K : Major::MN;
  strides.ld = major == Major::K ? mn_step : k_step;
}

const void* at(Type type, const Matrix& m, std::int64_t row) {
  return m.array.bytes.data() + m.array.first +
         static_cast<std::size_t>(m.index(row, 0)) * element_bytes(type);
}

}  // namespace

Matrix read_output(const Request& request, const std::string& path, Type type, std::int64_t m,
                   std::int64_t n) {
  Matrix matrix = read_matrix(request, path, type);
  if (matrix.rows != m || matrix.cols != n)
    throw UsageError(fmt::format("{}: has shape {} x {}: expected {} x {}", shown_path(path),
                                 matrix.rows, matrix.cols, m, n));
  return row_major(type, std::move(matrix));
}

Problem load_problem(const Request& request) {
  Problem problem;
  problem.out = request.has_out_type ? request.out_type : wgmma::widest_d(request.a);
  if (request.generated) check_fits(problem.out, request.sizes.m, request.sizes.n);
  if (request.generated)
    draw_operands(request, problem);
  else
    read_operands(request, problem);
  problem.product = {request.a, request.b, problem.a.cols};
  problem.m = problem.a.rows;
  problem.n = problem.b.cols;
  problem.epilogue = request.epilogue;
  check_output_type(request, problem);
  read_epilogue(request, problem);
  return problem;
}

Gemm gemm_of(const Problem& problem, const Order& order) {
  Gemm g{.m = problem.m, .n = problem.n, .k = problem.product.k, .in = problem.product.a};
  g.out = problem.out;
  place(g.major_a, g.a, problem.a.col_step, problem.a.row_step);
  place(g.major_b, g.b, problem.b.row_step, problem.b.col_step);
  g.c.ld = g.d.ld = problem.n;
  g.alpha = problem.epilogue.alpha;
  g.beta = problem.epilogue.beta;
  g.activation = problem.epilogue.activation;
  g.segments = order.segments;
  g.in_b = problem.product.b;
  g.chain.d = order.accumulator;
  g.chain.saturate = order.saturate;
  if (order.engine == Engine::Tcgen05)
    g.chain.kind = tcgen05_form_of(order, problem.product).opcode.kind;
  return g;
}

GemmData data_from(const Problem& problem, std::int64_t row) {
  return {at(problem.product.a, problem.a, row), problem.b.array.data(),
          problem.c ? at(problem.out, *problem.c, row) : nullptr,
          problem.bias ? problem.bias->array.data() : nullptr};
}

}  // namespace tcq::oracle::gemm
