// Files first, then what their shapes say to each other.
#include "oracle/gemm/problem.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/gemm/drawn.h"
#include "oracle/sum/gemm_epilogue.h"

namespace tcq::oracle::gemm {
namespace {

Matrix read_matrix(const Request& request, const std::string& path, Type type) {
  return matrix_of(request.read(path), path, type);
}

// --- batches ---------------------------------------------------------------------------------------

// How many products there are, and whose shape says so.
class Batch {
 public:
  void join(std::string_view name, const Matrix& m) {
    join(name, m.has_batch, m.batch, shape_text(m));
  }
  void join(std::string_view name, bool has_batch, std::int64_t batch, std::string shape) {
    has_batch_ = has_batch_ || has_batch;
    if (batch == 1) return;
    if (!shape_.empty() && batch != count_)
      throw UsageError(
          fmt::format("{} is {} and {} is {}: expected as many matrices in both, or one", name_,
                      shape_, name, shape));
    count_ = batch;
    name_ = name;
    shape_ = std::move(shape);
  }

  bool has_batch() const { return has_batch_; }
  std::int64_t count() const { return count_; }

 private:
  bool has_batch_ = false;
  std::int64_t count_ = 1;
  std::string name_;
  std::string shape_;  // empty: nothing says more than one
};

// --- shapes ----------------------------------------------------------------------------------------

// Steps of 1 along rows or columns, as an operand has them; of a batch in Fortran order elements move.
Matrix operand_of(Type type, Matrix m) {
  return m.row_step == 1 || m.col_step == 1 ? m : row_major(type, std::move(m));
}

// M x K, or K x N with is_b. Two e2m1 of a byte are neighbours along K.
Matrix read_operand(const Request& request, const std::string& path, Type type, bool transposes,
                    bool is_b) {
  const bool is_packed = request.packed && type == Type::e2m1;
  Matrix m = is_packed ? bytes_of(request.read(path), path, "packed e2m1")
                       : read_matrix(request, path, type);
  if (transposes) m = transposed(std::move(m));
  if (!is_packed) return operand_of(type, std::move(m));
  return is_b ? transposed(unpacked(transposed(std::move(m)))) : unpacked(m);
}

void read_operands(const Request& request, Problem& problem) {
  problem.a = read_operand(request, request.operands[0], request.a, request.transpose_a, false);
  problem.b = read_operand(request, request.operands[1], request.b, request.transpose_b, true);
  const Matrix& a = problem.a;
  const Matrix& b = problem.b;
  if (a.cols != b.rows)
    throw UsageError(fmt::format("A is {} and B is {}: expected A's columns to be B's rows{}",
                                 shape_text(a), shape_text(b),
                                 a.cols == b.cols   ? "; --transpose-b reads B as N x K"
                                 : a.rows == b.rows ? "; --transpose-a reads A as K x M"
                                                    : ""));
}

void check_output_type(const Request& request, const Problem& problem) {
  const EpilogueWords& e = problem.epilogue;
  if (problem.out != Type::s32) return;
  if (is_float(request.a))
    throw UsageError(fmt::format("--out-type s32: sums of {} are f32", tcq::name(request.a)));
  if (e.alpha != 1 || e.beta != 0 || e.activation != Activation::None || !request.bias.empty() ||
      request.scaling != Scaling::None)
    throw UsageError(
        "s32 results have no epilogue and no factors: expected --out-type f32, f16 or bf16 with "
        "it");
}

void check_output_shape(const std::string& path, const Matrix& matrix, const Problem& problem) {
  if (matrix.rows == problem.m && matrix.cols == problem.columns()) return;
  throw UsageError(fmt::format("{}: has shape {}: expected {} x {}", shown_path(path),
                               shape_text(matrix), problem.m, problem.columns()));
}

void check_columns(const Problem& problem) {
  const Activation activation = problem.epilogue.activation;
  if (is_gated(activation) && problem.n % 2 != 0)
    throw UsageError(fmt::format(
        "activation={} makes a column of D of two of the product: expected an even N, and B has "
        "{} columns",
        name(activation), problem.n));
}

void read_c(const Request& request, Problem& problem, Batch& batch) {
  if (request.c.empty()) return;
  Matrix c = read_matrix(request, request.c, problem.out);
  check_output_shape(request.c, c, problem);
  batch.join(shown_path(request.c), c);
  problem.c = row_major(problem.out, std::move(c));
}

// N elements as a vector, row or column; of each product: B x N, B x 1 x N, B x N x 1.
void read_bias(const Request& request, Problem& problem, Batch& batch) {
  if (request.bias.empty()) return;
  Matrix bias = read_matrix(request, request.bias, problem.out);
  const std::string shape = shape_text(bias);
  if (bias.rows != 1 && bias.cols == 1 && bias.rows == problem.n)
    bias = transposed(std::move(bias));
  if (!bias.has_batch && bias.rows != 1 && bias.rows == batch.count()) {
    bias.has_batch = true;
    bias.batch = std::exchange(bias.rows, 1);
    bias.batch_step = bias.row_step;
  }
  if (bias.rows != 1 || bias.cols != problem.n)
    throw UsageError(fmt::format("{}: has shape {}: expected {} elements, one for each column",
                                 shown_path(request.bias), shape, problem.n));
  batch.join(shown_path(request.bias), bias.has_batch, bias.batch, shape);
  problem.bias = row_major(problem.out, std::move(bias));
}

// How an operand lies whose elements are so far apart along K and along its rows or columns.
void place(Major& major, GemmStrides& strides, std::int64_t k_step, std::int64_t mn_step) {
  major = k_step == 1 ? Major::K : Major::MN;
  strides.ld = major == Major::K ? mn_step : k_step;
}

const void* at(Type type, const Matrix& m, std::int64_t entry, std::int64_t row) {
  const std::int64_t first = entry * m.product_step() + m.index(row, 0);
  return m.array.bytes.data() + m.array.first +
         static_cast<std::size_t>(first) * element_bytes(type);
}

void check_rows(std::int64_t batch, std::int64_t m) {
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(batch, m, &rows))
    throw UsageError(fmt::format("{} x {} rows of D overflow 2^63", batch, m));
}

void read_factors(const Request& request, Problem& problem, Batch& batch) {
  const auto read = gemm::read_factors(request, {problem.m, problem.n, problem.product.k});
  const auto& matrices = read ? read : problem.drawn_factors;
  if (!matrices) return;
  if (read) {
    batch.join(shown_path(request.scale_a), matrices->a);
    batch.join(shown_path(request.scale_b), matrices->b);
  }
  problem.factors = factors_of(request.scaling, *matrices);
}

}  // namespace

Matrix read_result(const Request& request, const Problem& problem) {
  Matrix d = read_matrix(request, request.compare, problem.out);
  check_output_shape(request.compare, d, problem);
  if (d.batch != problem.batch)
    throw UsageError(fmt::format("{}: has shape {}: expected {} x {} x {}",
                                 shown_path(request.compare), shape_text(d), problem.batch,
                                 problem.m, problem.columns()));
  return row_major(problem.out, std::move(d));
}

Problem load_problem(const Request& request) {
  Problem problem;
  Batch batch;
  problem.out = request.has_out_type ? request.out_type : wgmma::widest_d(request.a);
  const Sizes& s = request.sizes;
  if (request.generated) {
    check_fits(problem.out, s.m, request.epilogue.columns(s.n), s.batch.value_or(1));
    check_rows(s.batch.value_or(1), s.m);
    DrawnProduct drawn = draw_product(request);
    problem.a = std::move(drawn.a);
    problem.b = std::move(drawn.b);
    problem.drawn_factors = std::move(drawn.factors);
  } else {
    read_operands(request, problem);
  }
  batch.join("A", problem.a);
  batch.join("B", problem.b);
  problem.product = {request.a, request.b, problem.a.cols, request.scaling};
  problem.m = problem.a.rows;
  problem.n = problem.b.cols;
  problem.epilogue = request.epilogue;
  check_columns(problem);
  read_factors(request, problem, batch);
  check_output_type(request, problem);
  read_c(request, problem, batch);
  read_bias(request, problem, batch);
  problem.has_batch = batch.has_batch();
  problem.batch = batch.count();
  check_rows(problem.batch, problem.m);
  return problem;
}

Gemm gemm_of(const Problem& problem, const Order& order) {
  Gemm g{.m = problem.m, .n = problem.n, .k = problem.product.k, .in = problem.product.a};
  g.out = problem.out;
  place(g.major_a, g.a, problem.a.col_step, problem.a.row_step);
  place(g.major_b, g.b, problem.b.row_step, problem.b.col_step);
  g.batch = problem.batch;
  g.a.batch = problem.a.product_step();
  g.b.batch = problem.b.product_step();
  g.c.ld = g.d.ld = problem.columns();
  g.d.batch = problem.m * g.d.ld;
  if (problem.c) g.c.batch = problem.c->product_step();
  if (problem.bias) g.bias_batch = problem.bias->product_step();
  g.alpha = problem.epilogue.alpha;
  g.beta = problem.epilogue.beta;
  g.activation = problem.epilogue.activation;
  g.segments = order.segments;
  g.promotes = order.promotes;
  if (problem.factors) {
    g.scales_blocks = scales_blocks(problem.product.scaling);
    const bool codes = is_block_scaled(problem.product.scaling);
    (codes ? g.codes_a : g.factors_a) = problem.factors->a.layout;
    (codes ? g.codes_b : g.factors_b) = problem.factors->b.layout;
  }
  g.in_b = problem.product.b;
  g.chain.d = order.accumulator;
  g.chain.saturate = order.saturate;
  if (order.engine == Engine::Tcgen05) {
    const tcgen05::DotForm form = tcgen05_form_of(order, problem.product);
    g.chain.kind = form.opcode.kind;
    g.chain.scale_vec = form.opcode.scale_vec;
    g.chain.scale_type = form.idesc.scale_type;
  }
  return g;
}

GemmData data_from(const Problem& problem, std::int64_t row) {
  const std::int64_t entry = row / problem.m;
  row %= problem.m;
  GemmData data;
  data.a = at(problem.product.a, problem.a, entry, row);
  data.b = at(problem.product.b, problem.b, entry, 0);
  if (problem.c) data.c = at(problem.out, *problem.c, entry, row);
  if (problem.bias) data.bias = at(problem.out, *problem.bias, entry, 0);
  if (!problem.factors) return data;
  const Factors& a = problem.factors->a;
  const Factors& b = problem.factors->b;
  const std::int64_t first_a = entry * a.layout.batch_step + row * a.layout.line_step;
  const std::int64_t first_b = entry * b.layout.batch_step;
  if (is_block_scaled(problem.product.scaling)) {
    data.sfa = a.codes.data() + first_a;
    data.sfb = b.codes.data() + first_b;
  } else {
    data.scale_a = a.values.data() + first_a;
    data.scale_b = b.values.data() + first_b;
  }
  return data;
}

}  // namespace tcq::oracle::gemm
