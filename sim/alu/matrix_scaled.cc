// mma.sync of sm_120a whose kinds are those of tcgen05: f8f6f4, and with scale factors mxf8f6f4, mxf4 and mxf4nvf4.
//
// Decides which exist, where elements of less than 8 bits lie in their bytes, and which lane has which scale factor; the sums
// are those of tcgen05.mma (sim/num/tcgen05_dot.h). Elements of mxf4 and mxf4nvf4 are packed, others have a byte each: 4 bits
// in its middle, 6 bits at its low end. Of four lanes those of a pair hold the factors of rows g and g + 8 of A, one those of
// column g of B; a word has the factors of four blocks along K. Sparse ones are not here.
//
// Source: PTX ISA 9.2, 9.7.14.3 "Block scaling for mma.sync", 9.7.14.5; ptxas 13.0 for which exist
// Source: CuTe, cute/atom/mma_traits_sm120.hpp: fp4_shift_A, SFALayout, SFBLayout
// Inferred: that sm_120a sums as tcgen05.mma does. Not recorded
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/isa/base/mma_fragment.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::alu {
namespace {

using Bits = std::uint32_t;
using tcgen05::Kind;
using tcgen05::ScaleType;
using tcgen05::ScaleVec;

constexpr int scaled_rows = 16;

struct ScaledRow {
  Kind kind;
  Type d, a, b;
  ScaleVec scale_vec = ScaleVec::Default;
  ScaleType scale_type = ScaleType::ue8m0;
};

constexpr std::array byte_types = {Type::e4m3, Type::e5m2, Type::e3m2, Type::e2m3, Type::e2m1};

constexpr auto scaled_forms = [] {
  constexpr std::size_t pairs = byte_types.size() * byte_types.size();
  std::array<ScaledRow, 3 * pairs + 3> all{};
  std::size_t i = 0;
  for (const Type a : byte_types)
    for (const Type b : byte_types) {
      all[i++] = {Kind::f8f6f4, Type::f32, a, b};
      all[i++] = {Kind::f8f6f4, Type::f16, a, b};
      all[i++] = {Kind::mxf8f6f4, Type::f32, a, b, ScaleVec::X1};
    }
  all[i++] = {Kind::mxf4, Type::f32, Type::e2m1, Type::e2m1, ScaleVec::X2};
  all[i++] = {Kind::mxf4nvf4, Type::f32, Type::e2m1, Type::e2m1, ScaleVec::X2};
  all[i++] = {Kind::mxf4nvf4, Type::f32, Type::e2m1, Type::e2m1, ScaleVec::X4, ScaleType::ue4m3};
  return all;
}();

constexpr int depth(const ScaledRow& r) { return tcgen05::products(r.kind); }
constexpr int container_bits(const ScaledRow& r) { return is_packed_4bit(r.kind) ? 4 : 8; }
constexpr int factors(const ScaledRow& r) {
  return tcgen05::scale_count({.kind = r.kind, .scale_vec = r.scale_vec});
}
constexpr int a_registers(const ScaledRow& r) {
  return warp_mma::a_registers(scaled_rows, depth(r), container_bits(r));
}
constexpr int b_registers(const ScaledRow& r) {
  return warp_mma::b_registers(depth(r), container_bits(r));
}
constexpr int d_registers(const ScaledRow& r) {
  return warp_mma::d_registers(scaled_rows, bits(r.d));
}
// D's sources stand before the factors: a word, then which byte and which lanes of it; of A, then of B.
constexpr int first_factor(const ScaledRow& r) {
  return a_registers(r) + b_registers(r) + d_registers(r);
}
constexpr int source_count(const ScaledRow& r) {
  return first_factor(r) + (factors(r) != 0 ? 6 : 0);
}

Bits payload(const ScaledRow& r, Type type, Bits container) {
  const int low_bit = is_packed_4bit(r.kind) ? 0 : warp_mma::payload_low_bit(bits(type));
  return container >> low_bit & ((Bits{1} << bits(type)) - 1);
}

using Line = std::array<Bits, static_cast<std::size_t>(tcgen05::most_products)>;
using Factors = std::array<std::uint8_t, 4>;

// Row `mn` of A from m rows, or column `mn` of B with m = 8.
Line line(const ScaledRow& r, const void* const* registers, int m, Type type, int mn) {
  Line x{};
  for (int k = 0; k < depth(r); ++k) {
    const auto [lane, reg, part] = warp_mma::a_slot(m, container_bits(r), {mn, k});
    x[static_cast<std::size_t>(k)] =
        payload(r, type, cells<Bits>(registers[reg])[lane] >> (container_bits(r) * part));
  }
  return x;
}

// `operands`: the word, the first byte, the lanes; those in registers count modulo 4. A's pair of lanes is named by its number,
// B's lane by its own.
Factors factors_of(const ScaledRow& r, const void* const* operands, bool of_a, int mn) {
  const auto first = static_cast<int>(cells<Bits>(operands[1])[0] % 4);
  const auto lanes = static_cast<int>(cells<Bits>(operands[2])[0] % 4);
  const int lane = of_a ? 4 * (mn % 8) + 2 * (lanes % 2) + mn / 8 : 4 * mn + lanes;
  Factors x{};
  for (int s = 0; s < factors(r); ++s)
    x[static_cast<std::size_t>(s)] =
        static_cast<std::uint8_t>(cells<Bits>(operands[0])[lane] >> (8 * ((first + s) % 4)));
  return x;
}

tcgen05::DotForm dot_form(const ScaledRow& r) {
  tcgen05::DotForm form;
  form.opcode = {.kind = r.kind, .scale_vec = r.scale_vec};
  form.idesc.d = r.d;
  form.idesc.a = r.a;
  form.idesc.b = r.b;
  form.idesc.scale_type = r.scale_type;
  return form;
}

void multiply_scaled(const ScaledRow& r, const Arguments& arguments) {
  const tcgen05::DotForm form = dot_form(r);
  std::array<Line, scaled_rows> a;
  std::array<Line, warp_mma::n> b;
  std::array<Factors, scaled_rows> scales_a{};
  std::array<Factors, warp_mma::n> scales_b{};
  const void* const* const of_a = arguments.in + first_factor(r);
  for (int row = 0; row < scaled_rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    a[at] = line(r, arguments.in, scaled_rows, r.a, row);
    if (factors(r) != 0) scales_a[at] = factors_of(r, of_a, true, row);
  }
  for (int col = 0; col < warp_mma::n; ++col) {
    const auto at = static_cast<std::size_t>(col);
    b[at] = line(r, arguments.in + a_registers(r), warp_mma::n, r.b, col);
    if (factors(r) != 0) scales_b[at] = factors_of(r, of_a + 3, false, col);
  }
  std::array<std::array<Bits, warp_size>, 4> d{};
  for (int reg = 0; reg < d_registers(r); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int part = 0; part < parts_per_register(r.d); ++part) {
        const auto [row, col] = warp_mma::d_element(bits(r.d), {lane, reg, part});
        const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(col);
        const Bits c = cells<Bits>(arguments.in[a_registers(r) + b_registers(r) + reg])[lane];
        const Bits sum = dot(form, {a[i].data(), b[j].data(), register_part(r.d, c, part),
                                    scales_a[i].data(), scales_b[j].data()});
        d[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)] |=
            in_register_part(r.d, sum, part);
      }
  for (int reg = 0; reg < d_registers(r); ++reg)
    write(arguments.out[reg], d[static_cast<std::size_t>(reg)].data(), arguments.lanes);
}

template <std::size_t i>
void multiply_row(const Arguments& arguments) {
  multiply_scaled(scaled_forms[i], arguments);
}

template <std::size_t... i>
Evaluate scaled_evaluate(std::size_t row, std::index_sequence<i...>) {
  static constexpr std::array<Evaluate, sizeof...(i)> all = {multiply_row<i>...};
  return all[row];
}

// ---- Which exist ----------------------------------------------------------------------------------

ptx::MmaKind kind_of(Kind kind) {
  switch (kind) {
    case Kind::mxf8f6f4: return ptx::MmaKind::Mxf8f6f4;
    case Kind::mxf4: return ptx::MmaKind::Mxf4;
    case Kind::mxf4nvf4: return ptx::MmaKind::Mxf4nvf4;
    case Kind::f8f6f4: return ptx::MmaKind::F8f6f4;
    default: return ptx::MmaKind::None;  // none of mma.sync's
  }
}

// What mxf8f6f4 and mxf4 need not say is what they have.
bool has_scale_vec(const ScaledRow& r, ptx::ScaleVector given) {
  if (given == ptx::ScaleVector::None) return r.kind != Kind::mxf4nvf4;
  switch (r.scale_vec) {
    case ScaleVec::X1: return given == ptx::ScaleVector::X1;
    case ScaleVec::X2: return given == ptx::ScaleVector::X2;
    case ScaleVec::X4: return given == ptx::ScaleVector::X4;
    default: return false;
  }
}

bool is_row(const ScaledRow& r, const ptx::Form& form) {
  const bool is_scaled = factors(r) != 0;
  const auto has_type = [&](std::size_t i, std::string_view word) {
    return ptx::name(form.types[i]) == word;
  };
  return form.get<ptx::MmaKind>() == kind_of(r.kind) && form.shape[2] == depth(r) &&
         form.has(ptx::Flag::BlockScale) == is_scaled &&
         has_scale_vec(r, form.get<ptx::ScaleVector>()) && form.type_count == (is_scaled ? 5 : 4) &&
         has_type(0, name(r.d)) && has_type(1, name(r.a)) && has_type(2, name(r.b)) &&
         has_type(3, name(r.d)) && (!is_scaled || has_type(4, tcgen05::name(r.scale_type)));
}

std::size_t scaled_row(const ptx::Form& form) {
  const bool is_plain = form.shape[0] == scaled_rows && form.shape[1] == warp_mma::n &&
                        !form.has(ptx::Slot::Saturate) && !form.has(ptx::Slot::BoolOp) &&
                        form.get<ptx::MajorA>() == ptx::MajorA::Row &&
                        form.get<ptx::MajorB>() == ptx::MajorB::Col;
  std::size_t i = is_plain ? 0 : scaled_forms.size();
  while (i < scaled_forms.size() && !is_row(scaled_forms[i], form)) ++i;
  return i;
}

}  // namespace

bool has_mma_kind(const ptx::Form& form) { return form.has(ptx::Slot::MmaKind); }

Operation scaled_product(const ptx::Form& form) {
  const std::size_t i = scaled_row(form);
  if (i == scaled_forms.size()) return {};
  return {scaled_evaluate(i, std::make_index_sequence<scaled_forms.size()>{}), true,
          "the sums of tcgen05.mma; not recorded itself"};
}

bool takes_scaled(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const std::size_t i = scaled_row(form);
  return i < scaled_forms.size() &&
         outs == static_cast<std::size_t>(d_registers(scaled_forms[i])) &&
         ins == static_cast<std::size_t>(source_count(scaled_forms[i]));
}

// A word's bytes are told of in groups as long as the factors; lanes of A by pairs, of B one by one.
bool takes_factor_selector(const ptx::Form& form, std::size_t i, std::uint64_t constant) {
  const ScaledRow& r = scaled_forms[scaled_row(form)];
  if (factors(r) == 0) return true;
  switch (static_cast<int>(i) - first_factor(r)) {
    case 1:
    case 4: return constant < 4 && constant % static_cast<std::uint64_t>(factors(r)) == 0;
    case 2: return constant < 2;
    case 5: return constant < 4;
    default: return true;
  }
}

}  // namespace tcq::alu
