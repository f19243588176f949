// A GEMM's result beside float64, where only the input's rounding is left.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "oracle/sum/gemm_chain.h"
#include "oracle/sum/gemm_epilogue.h"
#include "oracle/sum/gemm_reference.h"

namespace tcq::oracle {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix matrix_of(Type type, Major major, const void* data, const GemmStrides& s, std::int64_t batch,
                 std::int64_t mn, std::int64_t k) {
  Matrix out(mn, k);
  for (std::int64_t i = 0; i < mn; ++i) {
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t at = batch * s.batch + (major == Major::K ? i * s.ld + j : j * s.ld + i);
      out(i, j) = element_value(type, load_element(type, data, at));
    }
  }
  return out;
}

// Factors of an operand multiply its elements.
void scale(Matrix& m, const GemmFactors& f, const float* factors, std::int64_t batch, bool blocks) {
  if (factors == nullptr) return;
  for (std::int64_t i = 0; i < m.rows(); ++i)
    for (std::int64_t k = 0; k < m.cols(); ++k)
      m(i, k) *= static_cast<double>(factors[batch * f.batch_step + i / f.per * f.line_step +
                                             (blocks ? k / 128 : 0) * f.block_step]);
}

double value_of(const tcgen05::Scale& scale) {
  if (scale.nan) return std::nan("");
  return std::ldexp(scale.significand, scale.exponent - tcgen05::scale_fraction_bits);
}

// Scale factors of a block-scaled kind do, too.
void scale(Matrix& m, const Gemm& g, const GemmFactors& f, const std::uint8_t* codes,
           std::int64_t batch) {
  if (codes == nullptr) return;
  for (std::int64_t i = 0; i < m.rows(); ++i)
    for (std::int64_t k = 0; k < m.cols(); ++k)
      m(i, k) *= value_of(decode_scale(g.chain.scale_type, code_at(g, f, codes, batch, i, k)));
}

double activated(Activation activation, double x) {
  constexpr double sqrt_2_over_pi = 0.79788456080286536;
  switch (activation) {
    case Activation::Relu: return std::max(x, 0.0);
    case Activation::Gelu:
      return x / 2 * (1 + std::tanh(sqrt_2_over_pi * (x + 0.044715 * x * x * x)));
    case Activation::Silu: return x / (1 + std::exp(-x));
    case Activation::GeluErf: return x / 2 * std::erfc(-x * M_SQRT1_2);
    default: return x;
  }
}

}  // namespace

GemmErrors gemm_errors(const Gemm& g, const GemmData& data, const void* d) {
  GemmErrors errors;
  double squares = 0;
  double exact_squares = 0;
  for (std::int64_t batch = 0; batch < g.batch; ++batch) {
    Matrix a = matrix_of(g.in, g.major_a, data.a, g.a, batch, g.m, g.k);
    Matrix b = matrix_of(g.b_type(), g.major_b, data.b, g.b, batch, g.n, g.k);
    scale(a, g.factors_a, data.scale_a, batch, g.scales_blocks);
    scale(b, g.factors_b, data.scale_b, batch, g.scales_blocks);
    scale(a, g, g.codes_a, data.sfa, batch);
    scale(b, g, g.codes_b, data.sfb, batch);
    const Matrix sum = a * b.transpose();
    const Matrix size = a.cwiseAbs() * b.cwiseAbs().transpose();
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        double want = static_cast<double>(g.alpha) * sum(i, j);
        if (g.beta != 0)
          want +=
              static_cast<double>(g.beta) *
              element_value(g.out, load_element(g.out, data.c, batch * g.c.batch + i * g.c.ld + j));
        if (data.bias != nullptr)
          want += element_value(g.out, load_element(g.out, data.bias, batch * g.bias_batch + j));
        const std::uint32_t got = load_element(g.out, d, batch * g.d.batch + i * g.d.ld + j);
        const double exact = activated(g.activation, want);
        const double error = std::abs(element_value(g.out, got) - exact);
        if (!std::isfinite(error) || !std::isfinite(exact)) {
          ++errors.not_finite;
          continue;
        }
        ++errors.compared;
        errors.max_absolute = std::max(errors.max_absolute, error);
        if (size(i, j) > 0) errors.max_relative = std::max(errors.max_relative, error / size(i, j));
        squares += error * error;
        exact_squares += exact * exact;
      }
    }
  }
  if (errors.compared == 0) return errors;
  const auto count = static_cast<double>(errors.compared);
  errors.root_mean_square = std::sqrt(squares / count);
  errors.exact_root_mean_square = std::sqrt(exact_squares / count);
  return errors;
}

}  // namespace tcq::oracle
