// rcp.approx.ftz.f64 and rsqrt.approx{.ftz}.f64. None of it is the chip's to the bit, and PTX states no bound.
//
// With .ftz, from which libraries begin their iterations: the upper 32 bits of the operand alone count, and the lower 32 bits
// of the result are 0; here the rounded quotient, cut to that. Without, which is software: here 1 / sqrt, each rounded.
//
// Source: PTX ISA 9.2, 9.7.3.14 "rcp.approx.ftz.f64", 9.7.3.18 "rsqrt.approx.ftz.f64", 9.7.3.17 "rsqrt"
#include <bit>
#include <cmath>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

constexpr std::uint64_t upper = 0xffffffff00000000;
constexpr std::uint64_t exponent_f64 = 0x7ff0000000000000;
constexpr std::uint64_t sign_f64 = 0x8000000000000000;
constexpr std::uint64_t nan_f64 = 0x7fffffff00000000;

constexpr std::uint64_t flushed(std::uint64_t x) {
  return (x & exponent_f64) == 0 ? x & sign_f64 : x;
}

template <bool is_root, bool flushes>
std::uint64_t approximated(std::uint64_t word) {
  const double x = std::bit_cast<double>(flushes ? flushed(word & upper) : word);
  const double result = 1 / (is_root ? std::sqrt(x) : x);
  if (result != result) return nan_f64;
  const auto bits = std::bit_cast<std::uint64_t>(result);
  return flushes ? flushed(bits & upper) : bits;
}

template <bool is_root, bool flushes>
void evaluate(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) {
    cells<double>(a.out[0])[lane] = approximated<is_root, flushes>(cells<double>(a.in[0])[lane]);
  });
}

constexpr const char* bound = "no bound: PTX states none";

}  // namespace

Operation double_approximation(const ptx::Form& form) {
  if (form.get<ptx::Precision>() != ptx::Precision::Approx) return {};
  const bool flushes = form.has(ptx::Flag::Ftz);
  if (form.opcode == ptx::Opcode::Rsqrt)
    return {flushes ? evaluate<true, true> : evaluate<true, false>, true, bound};
  if (form.opcode == ptx::Opcode::Rcp && flushes) return {evaluate<false, true>, true, bound};
  return {};
}

}  // namespace tcq::alu
