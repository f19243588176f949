// Matrices in the registers of a warp: mma.sync and movmatrix.
//
// mma.sync: m16n8, A row-major and B column-major, of f16, bf16, tf32 and of bytes; other integers: matrix_integer.cc, FP8:
// matrix_fp8.cc, f64: matrix_double.cc. Fragments: matrix_operands.h; the arithmetic is that of sim/num. Sums of bytes are
// exact; floats are summed as wgmma sums them, all products of one instruction and C at once. All lanes take part (alu.h,
// of_all_lanes()).
//
// Source: PTX ISA 9.2, 9.7.14.5 "Matrix multiply-accumulate operation using mma instruction", "movmatrix"
// Measured: tests/vectors/warp_mma.tcqv, every form that sm_90a has
#include <array>
#include <cstddef>

#include "sim/alu/families.h"
#include "sim/alu/matrix_operands.h"
#include "sim/num/dot.h"
#include "sim/num/fused_sum.h"

namespace tcq::alu {
namespace {

using Kind = ptx::Type;
using Bits = std::uint32_t;

constexpr int rows = 16;

struct Types {
  Type d;
  Type a;
  Type b;
};

template <Types types, bool satfinite, std::size_t k>
Bits sum_of(const std::array<Bits, k>& a, const std::array<Bits, k>& b, Bits c) {
  if constexpr (!is_float(types.a)) {
    std::int64_t sum = decode_integer(Type::s32, c);
    for (std::size_t i = 0; i < k; ++i)
      sum += decode_integer(types.a, a[i]) * decode_integer(types.b, b[i]);
    return finish_integer(sum, satfinite);
  } else {
    std::array<Decoded, k> x;
    std::array<Decoded, k> y;
    for (std::size_t i = 0; i < k; ++i) {
      x[i] = decode_float(types.a, a[i]);
      y[i] = decode_float(types.b, b[i]);
    }
    return fused_sum(wgmma_dot_traits(types.d, types.a), types.d, types.a, types.b, x.data(),
                     y.data(), static_cast<int>(k), decode_float(types.d, c));
  }
}

template <Types types, int k, bool satfinite>
void multiply(const Arguments& arguments) {
  const Sources<rows, k, bits(types.a)> x(arguments);
  constexpr int registers = warp_mma::d_registers(rows, bits(types.d));
  std::array<std::array<Bits, warp_size>, static_cast<std::size_t>(registers)> d;
  for (int reg = 0; reg < registers; ++reg) {
    auto& words = d[static_cast<std::size_t>(reg)];
    for (int lane = 0; lane < warp_size; ++lane) {
      const Bits c = cells<Bits>(x.c[reg])[lane];
      Bits word = 0;
      for (int part = 0; part < parts_per_register(types.d); ++part) {
        const auto [row, col] = warp_mma::d_element(bits(types.d), {lane, reg, part});
        const Bits element = sum_of<types, satfinite>(x.a[static_cast<std::size_t>(row)],
                                                      x.b[static_cast<std::size_t>(col)],
                                                      register_part(types.d, c, part));
        word |= in_register_part(types.d, element, part);
      }
      words[static_cast<std::size_t>(lane)] = word;
    }
  }
  for (int reg = 0; reg < registers; ++reg)
    write(arguments.out[reg], d[static_cast<std::size_t>(reg)].data(), arguments.lanes);
}

// ---- Which exist ----------------------------------------------------------------------------------

bool has_types(const ptx::Form& form, Kind d, Kind a, Kind b) {
  return form.types[0] == d && form.types[1] == a && form.types[2] == b && form.types[3] == d;
}

template <Types types, int k>
Evaluate of_floats(const ptx::Form& form) {
  return form.has(ptx::Slot::Saturate) || form.shape[2] != k ? nullptr : multiply<types, k, false>;
}

template <Types types, int k>
Evaluate of_bytes(const ptx::Form& form) {
  if (form.shape[2] != k) return nullptr;
  return form.has(ptx::Slot::Saturate) ? multiply<types, k, true> : multiply<types, k, false>;
}

template <Types types, int k>
Evaluate of_depth(const ptx::Form& form) {
  if constexpr (is_float(types.a)) {
    const Evaluate whole = of_floats<types, k>(form);
    return whole != nullptr ? whole : of_floats<types, k / 2>(form);
  } else {
    const Evaluate whole = of_bytes<types, k>(form);
    return whole != nullptr ? whole : of_bytes<types, k / 2>(form);
  }
}

Evaluate product_of_floats(const ptx::Form& form) {
  if (has_types(form, Kind::F32, Kind::F16, Kind::F16))
    return of_depth<Types{Type::f32, Type::f16, Type::f16}, 16>(form);
  if (has_types(form, Kind::F16, Kind::F16, Kind::F16))
    return of_depth<Types{Type::f16, Type::f16, Type::f16}, 16>(form);
  if (has_types(form, Kind::F32, Kind::BF16, Kind::BF16))
    return of_depth<Types{Type::f32, Type::bf16, Type::bf16}, 16>(form);
  if (has_types(form, Kind::F32, Kind::TF32, Kind::TF32))
    return of_depth<Types{Type::f32, Type::tf32, Type::tf32}, 8>(form);
  return nullptr;
}

Evaluate product_of_bytes(const ptx::Form& form) {
  if (has_types(form, Kind::S32, Kind::S8, Kind::S8))
    return of_depth<Types{Type::s32, Type::s8, Type::s8}, 32>(form);
  if (has_types(form, Kind::S32, Kind::S8, Kind::U8))
    return of_depth<Types{Type::s32, Type::s8, Type::u8}, 32>(form);
  if (has_types(form, Kind::S32, Kind::U8, Kind::S8))
    return of_depth<Types{Type::s32, Type::u8, Type::s8}, 32>(form);
  if (has_types(form, Kind::S32, Kind::U8, Kind::U8))
    return of_depth<Types{Type::s32, Type::u8, Type::u8}, 32>(form);
  return nullptr;
}

Evaluate product_of(const ptx::Form& form) {
  const bool is_plain = form.shape[1] == warp_mma::n && form.type_count == 4 &&
                        !form.has(ptx::Flag::Sparse) && !form.has(ptx::Flag::OrderedMetadata) &&
                        !form.has(ptx::Flag::BlockScale) && !form.has(ptx::Slot::MmaKind) &&
                        (!form.has(ptx::Slot::BoolOp) || form.types[1] == Kind::B1);
  const bool is_row_col =
      form.get<ptx::MajorA>() == ptx::MajorA::Row && form.get<ptx::MajorB>() == ptx::MajorB::Col;
  if (!is_plain || !is_row_col) return nullptr;
  if (form.types[0] == Kind::F64) return double_product(form);
  if (const Evaluate found = integer_product(form)) return found;
  if (form.shape[0] != rows || form.has(ptx::Slot::Operation)) return nullptr;
  for (const auto family : {product_of_floats, fp8_product, product_of_bytes})
    if (const Evaluate found = family(form)) return found;
  return nullptr;
}

// An 8 x 8 matrix of halves: lane l holds row l / 4, columns 2 * (l % 4) and the next.
void transpose(const Arguments& a) {
  const auto* const in = cells<Bits>(a.in[0]);
  Bits out[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) {
    const int row = lane / 4;
    const auto half = [&](int col) {
      return register_part(Type::f16, in[4 * col + row / 2], row % 2);
    };
    const int col = 2 * (lane % 4);
    out[lane] =
        in_register_part(Type::f16, half(col), 0) | in_register_part(Type::f16, half(col + 1), 1);
  }
  write(a.out[0], out, a.lanes);
}

}  // namespace

Evaluate matrix_operation(const ptx::Form& form) {
  if (form.opcode == ptx::Opcode::Mma) return product_of(form);
  if (form.opcode != ptx::Opcode::Movmatrix) return nullptr;
  const bool exists = form.shape[0] == 8 && form.shape[1] == 8 && form.types[0] == Kind::B16;
  return exists ? transpose : nullptr;
}

}  // namespace tcq::alu
