// A GEMM's result beside float64, where only the input's rounding is left.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

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
  for (std::int64_t batch = 0; batch < g.batch; ++batch) {
    const Matrix a = matrix_of(g.in, g.major_a, data.a, g.a, batch, g.m, g.k);
    const Matrix b = matrix_of(g.b_type(), g.major_b, data.b, g.b, batch, g.n, g.k);
    const Matrix sum = a * b.transpose();
    const Matrix scale = a.cwiseAbs() * b.cwiseAbs().transpose();
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        double want = static_cast<double>(g.alpha) * sum(i, j);
        if (g.beta != 0)
          want +=
              static_cast<double>(g.beta) *
              element_value(g.out, load_element(g.out, data.c, batch * g.c.batch + i * g.c.ld + j));
        if (data.bias != nullptr) want += element_value(g.out, load_element(g.out, data.bias, j));
        const std::uint32_t got = load_element(g.out, d, batch * g.d.batch + i * g.d.ld + j);
        const double error = std::abs(element_value(g.out, got) - activated(g.activation, want));
        errors.max_absolute = std::max(errors.max_absolute, error);
        if (scale(i, j) > 0)
          errors.max_relative = std::max(errors.max_relative, error / scale(i, j));
        squares += error * error;
      }
    }
  }
  const auto count = static_cast<double>(g.batch * g.m * g.n);
  errors.root_mean_square = count > 0 ? std::sqrt(squares / count) : 0;
  return errors;
}

}  // namespace tcq::oracle
