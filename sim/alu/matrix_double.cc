// mma.sync of f64: m8n8k4, and m16n8 of 4, 8 and 16.
//
// Source: PTX ISA 9.2, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction"
// Measured: tests/vectors/warp_mma.tcqv: products are added to C one by one along K, each rounded once, to nearest; NaN as of
// fma.rn.f64
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

#include "sim/alu/families.h"
#include "sim/alu/float_order.h"
#include "sim/alu/matrix_operands.h"

namespace tcq::alu {
namespace {

constexpr int width = 64;

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

// z + x * y; a NaN is the one that fma.rn.f64 gives.
std::uint64_t added(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  const double sum =
      std::fma(std::bit_cast<double>(x), std::bit_cast<double>(y), std::bit_cast<double>(z));
  if (sum == sum) return std::bit_cast<std::uint64_t>(sum);
  const std::uint64_t nan = passed_nan(false, x, y, z);
  return nan != 0 ? nan : invalid_f64;
}

template <int m, int k>
void multiply(const Arguments& arguments) {
  const Sources<m, k, width> x(arguments);
  std::array<std::array<std::uint64_t, warp_size>, at(warp_mma::d_registers(m, width))> d;
  for (int reg = 0; reg < warp_mma::d_registers(m, width); ++reg)
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto [row, col] = warp_mma::d_element(width, {lane, reg, 0});
      std::uint64_t sum = cells<std::uint64_t>(x.c[reg])[lane];
      for (int i = 0; i < k; ++i) sum = added(x.a[at(row)][at(i)], x.b[at(col)][at(i)], sum);
      d[at(reg)][at(lane)] = sum;
    }
  for (std::size_t reg = 0; reg < d.size(); ++reg)
    write(arguments.out[reg], d[reg].data(), arguments.lanes);
}

}  // namespace

Evaluate double_product(const ptx::Form& form) {
  for (int i = 0; i < 4; ++i)
    if (form.types[at(i)] != ptx::Type::F64) return nullptr;
  if (form.shape[0] == 8 && form.shape[2] == 4) return multiply<8, 4>;
  if (form.shape[0] != 16) return nullptr;
  switch (form.shape[2]) {
    case 4: return multiply<16, 4>;
    case 8: return multiply<16, 8>;
    case 16: return multiply<16, 16>;
    default: return nullptr;
  }
}

}  // namespace tcq::alu
