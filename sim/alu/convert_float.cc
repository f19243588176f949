// cvt from and to floats, one by one and in pairs: which conversions exist, and what they do to each element.
//
// The table holds every conversion with the words that matter, and a function for each. Packed results take their upper
// element from the first operand; packed operands hold 4-bit elements side by side and 6-bit ones in bytes.
// The common ones once more, for speed: convert_direct.cc. Those that draw random bits (.rs): convert_random.cc.
//
// Source: PTX ISA 9.2, 9.7.9.22 "cvt"
// Measured: tests/vectors/scalar.tcqv: converted_nan(), which is not PTX's canonical NaN where f64 or tf32 take part or
// where the conversion is a move of bits; .ftz of f16 from f32 does nothing; .relu and .sat make +0 of -0
#include <array>

#include "sim/alu/conversion.h"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/number.h"
#include "sim/num/round.h"

namespace tcq::alu {
namespace {

using ptx::Rounding;
using ptx::Saturate;
using ptx::Type;

constexpr std::array integers = {Type::U8, Type::U16, Type::U32, Type::U64,
                                 Type::S8, Type::S16, Type::S32, Type::S64};
constexpr std::array floats = {Type::F16, Type::BF16, Type::F32, Type::F64};
constexpr std::array small_pairs = {Type::E4M3x2, Type::E5M2x2, Type::E2M1x2, Type::E2M3x2,
                                    Type::E3M2x2};
constexpr std::array directions = {Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp};
constexpr std::array integral_directions = {Rounding::Rni, Rounding::Rzi, Rounding::Rmi,
                                            Rounding::Rpi};

constexpr bool is_one_of(Type type, const auto& types) {
  for (const Type each : types)
    if (each == type) return true;
  return false;
}

// ---- elements -----------------------------------------------------------------------------------

constexpr Type element_of(Type type) {
  switch (type) {
    case Type::F16x2: return Type::F16;
    case Type::BF16x2: return Type::BF16;
    case Type::E4M3x2: return Type::E4M3;
    case Type::E5M2x2: return Type::E5M2;
    case Type::E2M1x2: return Type::E2M1;
    case Type::E2M3x2: return Type::E2M3;
    case Type::E3M2x2: return Type::E3M2;
    case Type::UE8M0x2: return Type::UE8M0;
    default: return type;
  }
}
constexpr bool is_packed(Type type) { return element_of(type) != type; }
constexpr int element_width(Type pair) { return ptx::bits(pair) / 2; }

Number flushed(Type type, const Number& x) {
  constexpr std::uint64_t hidden = std::uint64_t{1} << 23;
  const bool is_small = type == Type::F32 && x.magnitude < hidden;
  return is_small && x.kind == NumberKind::Finite ? Number{x.kind, x.negative, 0, 0} : x;
}

// Clamped to what .relu and .sat let pass; +1 is the word of 1.
Number bounded(const Conversion& c, const Number& x) {
  const bool saturates = c.saturate == Saturate::Sat;
  if (!saturates && !c.relu) return x;
  if (x.kind == NumberKind::Nan) return saturates ? Number{} : x;
  if (x.negative) return {};
  if (!saturates) return x;
  const Number one = {NumberKind::Finite, false, 1, 0};
  if (x.kind == NumberKind::Infinite) return one;
  const bool is_large = x.magnitude != 0 && floor_log2(x.magnitude) + x.exponent >= 0;
  return is_large ? one : x;
}

constexpr int fraction_bits(Type type) {
  switch (type) {
    case Type::F64: return 52;
    case Type::F32: return 23;
    case Type::BF16: return 7;
    default: return 10;
  }
}

// Sign and payload as they are, the payload's high bits in place; quiet.
std::uint64_t moved_nan(Type to, Type from, std::uint64_t word) {
  const int shift = fraction_bits(to) - fraction_bits(from);
  const std::uint64_t fraction = word & ((std::uint64_t{1} << fraction_bits(from)) - 1);
  const std::uint64_t sign = word >> (ptx::bits(from) - 1) & 1;
  const std::uint64_t payload = shift < 0 ? fraction >> -shift : fraction << shift;
  const std::uint64_t above = (std::uint64_t{1} << (ptx::bits(to) - 1 - fraction_bits(to))) - 1;
  return sign << (ptx::bits(to) - 1) | above << fraction_bits(to) |
         std::uint64_t{1} << (fraction_bits(to) - 1) | payload;
}

// tf32: cut where rounding is away from zero, ties too; .satfinite then takes a step down, which makes the largest
// number of infinity and of the NaN next to it.
std::uint32_t tf32_nan(const Conversion& c, std::uint32_t word) {
  constexpr std::uint32_t step = 0x2000;
  if (c.mode != Rounding::Rna) return 0x7fffe000;
  const std::uint32_t cut = word & ~(step - 1);
  return c.saturate == Saturate::Satfinite ? cut - step : cut;
}

// The result of a NaN, unless it is an integer or .sat makes it 0.
std::uint64_t converted_nan(const Conversion& c, Type to, Type from, std::uint64_t word) {
  constexpr std::uint32_t nan_f32 = 0x7fffffff;
  const bool is_plain = !c.flushes && c.mode < Rounding::Rni;
  if (to == from && is_plain && (to == Type::F64 || to == Type::F32)) return word;
  if (to == Type::F64 || from == Type::F64)
    return moved_nan(to, from, c.flushes && from == Type::F32 ? nan_f32 : word);
  if (to == Type::F32 && from == Type::BF16 && is_plain) return (word & 0xffff) << 16;
  if (to == Type::TF32) return tf32_nan(c, static_cast<std::uint32_t>(word));
  return encode_number({to, c.mode}, {NumberKind::Nan});
}

std::uint64_t converted(const Conversion& c, std::uint64_t word) {
  const Type from = element_of(c.from);
  const Type to = element_of(c.to);
  Number x = decode_number(from, word);
  if (c.flushes) x = flushed(from, x);
  const bool is_integral = is_one_of(to, integers) || c.mode >= Rounding::Rni;
  if (is_integral && c.mode <= Rounding::Rpi) x = integral(c.mode, x);
  if (is_one_of(to, integers)) return encode_integer(to, from, x);
  if (x.kind == NumberKind::Nan && c.saturate != Saturate::Sat)
    return converted_nan(c, to, from, word);
  const std::uint64_t result =
      encode_number({to, c.mode, c.saturate == Saturate::Satfinite}, bounded(c, x));
  constexpr std::uint32_t exponent_f32 = 0x7f800000;
  const bool is_small = to == Type::F32 && (result & exponent_f32) == 0;
  return c.flushes && is_small ? result & 0x80000000 : result;
}

std::uint64_t cell(const void* p, int lane, Type type) {
  return ptx::bits(type) == 64 ? cells<std::uint64_t>(p)[lane] : cells<std::uint32_t>(p)[lane];
}

// Integers of 8 bits fill a register of 16.
std::uint64_t extended(Type type, std::uint64_t word) {
  return type == Type::S8 ? static_cast<std::uint16_t>(static_cast<std::int8_t>(word)) : word;
}

void convert_lane(const Conversion& c, const Arguments& a, int lane) {
  std::uint64_t result = 0;
  if (!is_packed(c.to)) {
    result = extended(c.to, converted(c, cell(a.in[0], lane, c.from)));
  } else if (is_packed(c.from)) {
    const std::uint64_t pair = cell(a.in[0], lane, c.from);
    result =
        converted(c, pair >> element_width(c.from)) << element_width(c.to) | converted(c, pair);
  } else {
    result = converted(c, cell(a.in[0], lane, c.from)) << element_width(c.to) |
             converted(c, cell(a.in[1], lane, c.from));
  }
  if (ptx::bits(c.to) == 64)
    cells<std::uint64_t>(a.out[0])[lane] = result;
  else
    cells<std::uint32_t>(a.out[0])[lane] = static_cast<std::uint32_t>(result);
}

// ---- the table ----------------------------------------------------------------------------------

struct List {
  std::array<Conversion, 1024> rows = {};
  std::size_t count = 0;

  constexpr void add(const Conversion& c) { rows[count++] = c; }
  // With .ftz, too, where f32 is read or written.
  constexpr void add_flushing(Conversion c) {
    add(c);
    c.flushes = true;
    if (c.to == Type::F32 || c.from == Type::F32) add(c);
  }
  constexpr void add_clamping(Conversion c) {  // with .relu and .satfinite
    for (const auto saturate : {Saturate::None, Saturate::Satfinite})
      for (const bool relu : {false, true}) add({c.to, c.from, c.mode, saturate, false, relu});
  }
};

constexpr void add_scalars(List& list) {
  for (const Type x : floats)
    for (const Type i : integers) {
      for (const Rounding mode : integral_directions) list.add_flushing({i, x, mode});
      for (const Rounding mode : directions)
        for (const auto saturate : {Saturate::None, Saturate::Sat})
          list.add_flushing({x, i, mode, saturate});
    }
  for (const Type to : floats)
    for (const Type from : floats) {
      for (const Rounding mode : directions)
        for (const auto saturate : {Saturate::None, Saturate::Sat})
          list.add_flushing({to, from, mode, saturate});
      for (const Rounding mode : integral_directions)
        for (const auto saturate : {Saturate::None, Saturate::Sat})
          if (to == from) list.add_flushing({to, from, mode, saturate});
    }
}

constexpr void add_narrow(List& list) {
  for (const Rounding mode : {Rounding::Rn, Rounding::Rz}) {
    for (const Type to : {Type::F16x2, Type::BF16x2}) list.add_clamping({to, Type::F32, mode});
    for (const Type to : {Type::F16, Type::BF16})
      for (const bool relu : {false, true})
        for (const auto saturate : {Saturate::None, Saturate::Satfinite})
          if (relu || saturate != Saturate::None)
            list.add({to, Type::F32, mode, saturate, false, relu});
  }
  for (const Rounding mode : {Rounding::Rn, Rounding::Rz, Rounding::Rna})
    list.add_clamping({Type::TF32, Type::F32, mode});
}

constexpr void add_small(List& list) {
  for (const bool relu : {false, true})
    for (const Type pair : small_pairs) {
      list.add({pair, Type::F32, Rounding::Rn, Saturate::Satfinite, false, relu});
      list.add({Type::F16x2, pair, Rounding::Rn, Saturate::None, false, relu});
      for (const Type from : {Type::F16x2, Type::BF16x2})
        list.add({pair, from, Rounding::Rn, Saturate::Satfinite, false, relu});
    }
  for (const Type from : {Type::F32, Type::BF16x2})
    for (const Rounding mode : {Rounding::Rz, Rounding::Rp})
      for (const auto saturate : {Saturate::None, Saturate::Satfinite})
        list.add({Type::UE8M0x2, from, mode, saturate});
  list.add({Type::BF16x2, Type::UE8M0x2, Rounding::Rn});
}

constexpr List conversions = [] {
  List list;
  add_scalars(list);
  add_narrow(list);
  add_small(list);
  return list;
}();

template <std::size_t row>
void convert(const Arguments& a) {
  each_lane(a.lanes, [&](int lane) { convert_lane(conversions.rows[row], a, lane); });
}

template <std::size_t... row>
constexpr std::array<Evaluate, sizeof...(row)> functions_of(std::index_sequence<row...>) {
  return {convert<row>...};
}
constexpr auto functions = functions_of(std::make_index_sequence<conversions.count>{});

// Words without effect are dropped: what becomes an integer is clamped anyway, a wider float is exact.
Conversion wanted(const ptx::Form& form) {
  Conversion c = {form.types[0],
                  form.types[1],
                  form.get<Rounding>(),
                  form.get<Saturate>(),
                  form.has(ptx::Flag::Ftz),
                  form.has(ptx::Flag::Relu)};
  if (is_one_of(c.to, integers)) c.saturate = Saturate::None;
  if (c.mode == Rounding::None) c.mode = Rounding::Rn;
  if (c.to == Type::F16 && c.from == Type::F32) c.flushes = false;
  return c;
}

Evaluate exact(const Conversion& c) {
  for (std::size_t row = 0; row < conversions.count; ++row)
    if (conversions.rows[row] == c) return functions[row];
  return nullptr;
}

// PTX has them from ISA 9.1 on, for sm_100f and sm_120f.
bool is_pair_of_halves(const Conversion& c) {
  const bool is_of_sm90 = c.to == Type::E4M3x2 || c.to == Type::E5M2x2;
  return is_one_of(c.to, small_pairs) &&
         (c.from == Type::BF16x2 || (c.from == Type::F16x2 && !is_of_sm90));
}

bool is_modelled(const ptx::Form& form) {
  return form.type_count == 2 && !form.has(ptx::Slot::ScaleVector);
}

}  // namespace

Evaluate exact_conversion(const ptx::Form& form) {
  return is_modelled(form) ? exact(wanted(form)) : nullptr;
}

Operation convert_float_operation(const ptx::Form& form) {
  if (!is_modelled(form)) return {};
  const Conversion c = wanted(form);
  const Evaluate of_all = exact(c);
  const Evaluate direct = of_all == nullptr ? nullptr : direct_conversion(c);
  if (of_all != nullptr && is_pair_of_halves(c))
    return {of_all, true, "the nearest of its type, ties to even, as of f32; not recorded"};
  return {direct == nullptr ? of_all : direct};
}

}  // namespace tcq::alu
