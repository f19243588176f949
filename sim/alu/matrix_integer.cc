// mma.sync of integers that are narrower than bytes, and of bytes in m8n8: sums are exact, wrap, and clamp once with
// .satfinite. One bit: a product is an exclusive or or an and, and what is summed are the ones.
//
// Source: PTX ISA 9.2, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction"
#include <array>
#include <bit>
#include <cstddef>

#include "sim/alu/families.h"
#include "sim/alu/matrix_operands.h"
#include "sim/num/dot.h"

namespace tcq::alu {
namespace {

using Kind = ptx::Type;
using Bits = std::uint32_t;

// How the elements of A and B are read, and what a product of two is.
enum class Product : std::uint8_t { Signed, SignedUnsigned, UnsignedSigned, Unsigned, Xor, And };

constexpr std::int64_t number(Bits element, int width, bool is_signed) {
  const Bits sign = Bits{1} << (width - 1);
  return is_signed ? static_cast<std::int64_t>(element ^ sign) - sign : element;
}

template <Product product, int width>
std::int64_t multiplied(Bits a, Bits b) {
  if constexpr (product == Product::Xor) return a ^ b;
  if constexpr (product == Product::And) return a & b;
  constexpr bool a_signed = product == Product::Signed || product == Product::SignedUnsigned;
  constexpr bool b_signed = product == Product::Signed || product == Product::UnsignedSigned;
  return number(a, width, a_signed) * number(b, width, b_signed);
}

constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

template <int m, int k, int width, Product product, bool satfinite>
void multiply(const Arguments& arguments) {
  const Sources<m, k, width> x(arguments);
  std::array<std::array<Bits, warp_size>, at(warp_mma::d_registers(m, 32))> d;
  for (int reg = 0; reg < warp_mma::d_registers(m, 32); ++reg)
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto [row, col] = warp_mma::d_element(32, {lane, reg, 0});
      std::int64_t sum = decode_integer(Type::s32, cells<Bits>(x.c[reg])[lane]);
      for (int i = 0; i < k; ++i)
        sum += multiplied<product, width>(x.a[at(row)][at(i)], x.b[at(col)][at(i)]);
      d[at(reg)][at(lane)] = finish_integer(sum, satfinite);
    }
  for (std::size_t reg = 0; reg < d.size(); ++reg)
    write(arguments.out[reg], d[reg].data(), arguments.lanes);
}

// ---- which exist ----------------------------------------------------------------------------------

template <int m, int k, int width>
Evaluate of_signs(const ptx::Form& form, Kind with_sign, Kind without) {
  const bool satfinite = form.has(ptx::Slot::Saturate);
  const auto has = [&](Kind a, Kind b) { return form.types[1] == a && form.types[2] == b; };
  const auto choose = [&](Evaluate wraps, Evaluate clamps) { return satfinite ? clamps : wraps; };
  using enum Product;
  if (has(with_sign, with_sign))
    return choose(multiply<m, k, width, Signed, false>, multiply<m, k, width, Signed, true>);
  if (has(with_sign, without))
    return choose(multiply<m, k, width, SignedUnsigned, false>,
                  multiply<m, k, width, SignedUnsigned, true>);
  if (has(without, with_sign))
    return choose(multiply<m, k, width, UnsignedSigned, false>,
                  multiply<m, k, width, UnsignedSigned, true>);
  if (has(without, without))
    return choose(multiply<m, k, width, Unsigned, false>, multiply<m, k, width, Unsigned, true>);
  return nullptr;
}

template <int m, int k>
Evaluate of_bits(const ptx::Form& form) {
  if (form.get<ptx::Operation>() != ptx::Operation::Popc) return nullptr;
  switch (form.get<ptx::BoolOp>()) {
    case ptx::BoolOp::Xor: return multiply<m, k, 1, Product::Xor, false>;
    case ptx::BoolOp::And: return multiply<m, k, 1, Product::And, false>;
    default: return nullptr;
  }
}

bool has_shape(const ptx::Form& form, int m, int k) {
  return form.shape[0] == m && form.shape[2] == k;
}

}  // namespace

Evaluate integer_product(const ptx::Form& form) {
  if (form.types[0] != Kind::S32 || form.types[3] != Kind::S32) return nullptr;
  if (form.types[1] == Kind::B1 && form.types[2] == Kind::B1) {
    if (has_shape(form, 8, 128)) return of_bits<8, 128>(form);
    if (has_shape(form, 16, 128)) return of_bits<16, 128>(form);
    return has_shape(form, 16, 256) ? of_bits<16, 256>(form) : nullptr;
  }
  if (form.has(ptx::Slot::Operation)) return nullptr;
  if (has_shape(form, 8, 16)) return of_signs<8, 16, 8>(form, Kind::S8, Kind::U8);
  if (has_shape(form, 8, 32)) return of_signs<8, 32, 4>(form, Kind::S4, Kind::U4);
  if (has_shape(form, 16, 32)) return of_signs<16, 32, 4>(form, Kind::S4, Kind::U4);
  return has_shape(form, 16, 64) ? of_signs<16, 64, 4>(form, Kind::S4, Kind::U4) : nullptr;
}

}  // namespace tcq::alu
