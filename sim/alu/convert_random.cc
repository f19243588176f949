// cvt.rs: f32 to two halves or to four 8- or 6-bit floats, rounded away from zero where the random bits, added to what is
// cut off, carry into what is kept.
//
// Decides which forms exist, which random bits an element gets, and the rounding. Of an element's random bits the highest
// meets the highest bit that is cut off. Example: to bf16, a word of 0x3f808000 becomes 3f81 where the highest random bit is
// set, else 3f80. To four elements of 4 bits: which random bits each gets is told in a figure alone, so that they are not here.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt", semantics of .rs; 13 bits for f16, 16 for the others
// Inferred: that a subnormal result, and a type of which more is cut off than there are random bits, meet them from above, too
#include <algorithm>
#include <array>
#include <utility>

#include "sim/alu/exact_float.h"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using Kind = ptx::Type;
using ptx::Saturate;
using Bits = std::uint32_t;

// `width` is that of an element's place in the result.
struct RandomRow {
  Kind to;
  Type element;
  int width;
  int random_bits;
};

constexpr std::array random_rows = {
    RandomRow{Kind::F16x2, Type::f16, 16, 13},  RandomRow{Kind::BF16x2, Type::bf16, 16, 16},
    RandomRow{Kind::E4M3x4, Type::e4m3, 8, 16}, RandomRow{Kind::E5M2x4, Type::e5m2, 8, 16},
    RandomRow{Kind::E2M3x4, Type::e2m3, 8, 16}, RandomRow{Kind::E3M2x4, Type::e3m2, 8, 16},
};

constexpr int count(const RandomRow& r) { return 32 / r.width; }

// `random` counts below the last place that is kept.
Bits rounded(const RandomRow& r, Bits word, Bits random, bool satfinite, bool relu) {
  const Format f = format_of(r.element);
  Exact x = unpack(f32_format, word);
  if (relu && x.negative && x.kind != Class::Nan) return 0;
  if (x.kind != Class::Finite) return static_cast<Bits>(pack(f, x, ptx::Rounding::Rz, satfinite));
  const int last =
      std::max(bit_length(x.magnitude) - 1 + x.exponent - f.fraction_bits, f.min_quantum());
  // An f32 reaches at least as far down. What ends below it does not reach the last place, whatever the random bits.
  const int below = last - r.random_bits;
  if (bit_length(x.magnitude) + x.exponent <= below)
    return static_cast<Bits>(x.negative ? f.sign() : 0);
  x.magnitude += Uint128{random} << (below - x.exponent);
  const bool is_beyond = bit_length(x.magnitude) - 1 + x.exponent > f.bias();
  const bool overflows = is_beyond && f.specials == Specials::Ieee && !satfinite;
  if (overflows) return static_cast<Bits>((x.negative ? f.sign() : 0) | f.top());
  return static_cast<Bits>(pack(f, x, ptx::Rounding::Rz, satfinite));
}

// The upper half of the random bits is for the upper half of the results.
template <std::size_t i, bool satfinite, bool relu>
void convert(const Arguments& a) {
  static constexpr const RandomRow& r = random_rows[i];
  constexpr int elements = count(r);
  constexpr Bits mask = (Bits{1} << r.random_bits) - 1;
  each_lane(a.lanes, [&](int lane) {
    const Bits random = cells<Bits>(a.in[elements])[lane];
    Bits result = 0;
    for (int e = 0; e < elements; ++e) {
      const Bits own = (e < elements / 2 ? random >> 16 : random) & mask;
      const Bits word = rounded(r, cells<Bits>(a.in[e])[lane], own, satfinite, relu);
      result |= word << (r.width * (elements - 1 - e));
    }
    cells<Bits>(a.out[0])[lane] = result;
  });
}

template <std::size_t i>
Evaluate with_words(bool satfinite, bool relu) {
  if (satfinite) return relu ? convert<i, true, true> : convert<i, true, false>;
  if (count(random_rows[i]) == 4) return nullptr;  // there .satfinite is mandatory
  return relu ? convert<i, false, true> : convert<i, false, false>;
}

template <std::size_t... i>
Evaluate with_row(std::size_t row, bool satfinite, bool relu, std::index_sequence<i...>) {
  Evaluate found = nullptr;
  ((found = i == row ? with_words<i>(satfinite, relu) : found), ...);
  return found;
}

std::size_t row_of(const ptx::Form& form) {
  std::size_t row = 0;
  while (row < random_rows.size() && random_rows[row].to != form.types[0]) ++row;
  return row;
}

}  // namespace

bool draws_random_bits(const ptx::Form& form) {
  return form.opcode == ptx::Opcode::Cvt && form.get<ptx::Rounding>() == ptx::Rounding::Rs;
}

Operation convert_random_operation(const ptx::Form& form) {
  const bool is_from_f32 = form.type_count == 2 && form.types[1] == Kind::F32 &&
                           !form.has(ptx::Flag::Ftz) && !form.has(ptx::Slot::ScaleVector) &&
                           form.get<Saturate>() != Saturate::Sat;
  if (!is_from_f32) return {};
  const Evaluate evaluate =
      with_row(row_of(form), form.get<Saturate>() == Saturate::Satfinite, form.has(ptx::Flag::Relu),
               std::make_index_sequence<random_rows.size()>{});
  if (evaluate == nullptr) return {};
  return {evaluate, true, "random bits meet the highest of what is cut off; not recorded"};
}

bool takes_random(const ptx::Form& form, std::size_t outs, std::size_t ins) {
  const std::size_t row = row_of(form);
  return row < random_rows.size() && outs == 1 &&
         ins == static_cast<std::size_t>(count(random_rows[row])) + 1;
}

}  // namespace tcq::alu
