// f64 rounded toward zero, down and up: add, sub, mul, fma, mad, div, rcp, sqrt.
//
// Each result is exact and rounded once: exact_arithmetic.h. To nearest the host does it: float.cc. Example: add.rp.f64
// of 1 and 2^-60 is the successor of 1.
//
// Source: PTX ISA 9.2, 9.7.3 "Floating-Point Instructions"
// Measured: tests/vectors/scalar.tcqv: all roundings; NaN as in float_order.h
#include "sim/alu/exact_arithmetic.h"
#include "sim/alu/families.h"
#include "sim/alu/float_order.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using Word = std::uint64_t;

enum class Compute : std::uint8_t { Sum, Difference, Product, Fused, Quotient, Reciprocal, Root };

template <Compute op>
constexpr int sources = op == Compute::Fused                               ? 3
                        : op == Compute::Reciprocal || op == Compute::Root ? 1
                                                                           : 2;

template <Compute op>
constexpr Exact exact(const Exact& x, const Exact& y, const Exact& z, Rounding rounding) {
  switch (op) {
    case Compute::Sum: return sum(x, y, rounding);
    case Compute::Difference: return sum(x, negated(y), rounding);
    case Compute::Product: return product(x, y);
    case Compute::Fused: return fused(x, y, z, rounding);
    case Compute::Quotient: return quotient(x, y);
    case Compute::Reciprocal: return quotient({1, 0, false, Class::Finite}, x);
    case Compute::Root: return square_root(x);
  }
  return exact_nan;
}

template <Compute op, Rounding rounding>
constexpr Word computed(Word x, Word y, Word z) {
  if (const Word nan = passed_nan(op == Compute::Quotient, x, y, z); nan != 0) return nan;
  const Exact found =
      exact<op>(unpack(f64_format, x), unpack(f64_format, y), unpack(f64_format, z), rounding);
  if (found.kind == Class::Nan) return invalid_f64;
  return pack(f64_format, found, rounding);
}

template <Compute op, Rounding rounding>
void evaluate(const Arguments& a) {
  Word* const out = cells<Word>(a.out[0]);
  each_lane(a.lanes, [&](int lane) {
    const auto in = [&](int i) { return sources<op> > i ? cells<Word>(a.in[i])[lane] : Word{0}; };
    out[lane] = computed<op, rounding>(in(0), in(1), in(2));
  });
}

template <Compute op>
Evaluate rounded(Rounding rounding) {
  switch (rounding) {
    case Rounding::Rz: return evaluate<op, Rounding::Rz>;
    case Rounding::Rm: return evaluate<op, Rounding::Rm>;
    case Rounding::Rp: return evaluate<op, Rounding::Rp>;
    default: return nullptr;
  }
}

}  // namespace

Evaluate double_operation(const ptx::Form& form) {
  const bool is_plain = form.types[0] == ptx::Type::F64 && form.type_count == 1 &&
                        !form.has(ptx::Slot::Saturate) && !form.has(ptx::Slot::Precision) &&
                        form.flags == 0;
  if (!is_plain) return nullptr;
  const auto rounding = form.get<Rounding>();
  switch (form.opcode) {
    case Opcode::Add: return rounded<Compute::Sum>(rounding);
    case Opcode::Sub: return rounded<Compute::Difference>(rounding);
    case Opcode::Mul: return rounded<Compute::Product>(rounding);
    case Opcode::Fma:
    case Opcode::Mad: return rounded<Compute::Fused>(rounding);
    case Opcode::Div: return rounded<Compute::Quotient>(rounding);
    case Opcode::Rcp: return rounded<Compute::Reciprocal>(rounding);
    case Opcode::Sqrt: return rounded<Compute::Root>(rounding);
    default: return nullptr;
  }
}

}  // namespace tcq::alu
