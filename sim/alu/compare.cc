// setp, set and testp: comparisons, joined with a predicate where the form says so.
//
// setp p|q: q joins the opposite of the comparison; of pairs p is of the lower halves, q of the upper ones. set writes all
// ones or 1.0, or 0, of pairs in each half. Comparisons of NaN hold for the unordered words only. lo, ls, hi, hs are lt,
// le, gt, ge of unsigned numbers.
//
// Source: PTX ISA 9.2, 9.7.6 "Comparison and Select Instructions", 9.7.3.1 "testp"
#include "sim/alu/families.h"
#include "sim/alu/lanes.h"
#include "sim/alu/small_float.h"

namespace tcq::alu {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::FloatTest;
using ptx::Opcode;
using ptx::Type;

template <Compare c>
constexpr auto holds = []<class T>(T x, T y) {
  using enum Compare;
  const bool unordered = x != x || y != y;
  switch (c) {
    case Eq: return x == y;
    case Ne: return x != y && !unordered;
    case Lt:
    case Lo: return x < y;
    case Le:
    case Ls: return x <= y;
    case Gt:
    case Hi: return x > y;
    case Ge:
    case Hs: return x >= y;
    case Equ: return x == y || unordered;
    case Neu: return x != y;
    case Ltu: return x < y || unordered;
    case Leu: return x <= y || unordered;
    case Gtu: return x > y || unordered;
    case Geu: return x >= y || unordered;
    case Num: return !unordered;
    case Nan: return unordered;
    case None: break;
  }
  return false;
};

constexpr std::uint32_t one_f16 = 0x3c00;
constexpr std::uint32_t one_bf16 = 0x3f80;

// How the bits of a cell are a number.
// clang-format off
template <class T> struct Plain { using Word = T; static T value(T x) { return x; } };
struct Flushed { using Word = float; static float value(float x) { return flush(x); } };
struct Half { using Word = std::uint16_t; static float value(Word x) { return f16_value(x); } };
struct FlushedHalf { using Word = std::uint16_t; static float value(Word x) {
  return f16_value((x & 0x7c00) == 0 ? x & 0x8000 : x); } };
struct Brain { using Word = std::uint16_t; static float value(Word x) { return bf16_value(x); } };
template <class V> struct Pair { using Element = V; };
template <class V> constexpr bool is_pair_value = false;
template <class V> constexpr bool is_pair_value<Pair<V>> = true;
template <class V> constexpr bool is_half = std::is_same_v<V, Half> || std::is_same_v<V, FlushedHalf> || std::is_same_v<V, Brain>;
// clang-format on

// Once for all that a form does with the lanes, of which there are a dozen.
template <class V, Compare c>
[[gnu::noinline]] std::uint32_t compared(const Arguments& a) {
  using T = typename V::Word;
  return lanes_where<[](T x, T y) { return holds<c>(V::value(x), V::value(y)); }, T, T>(a);
}

template <class V, Compare c, int shift>
[[gnu::noinline]] std::uint32_t compared_half(const Arguments& a) {
  using U32 = std::uint32_t;
  constexpr auto compare = [](U32 x, U32 y) {
    const auto half = [](U32 word) { return V::value(static_cast<std::uint16_t>(word >> shift)); };
    return holds<c>(half(x), half(y));
  };
  return lanes_where<compare, U32, U32>(a);
}

constexpr std::uint32_t joined(BoolOp with, std::uint32_t x, std::uint32_t p) {
  switch (with) {
    case BoolOp::And: return x & p;
    case BoolOp::Or: return x | p;
    case BoolOp::Xor: return x ^ p;
    case BoolOp::None: break;
  }
  return x;
}

// The predicate that a comparison is joined with; one without is joined by And, with all.
std::uint32_t other_mask(const Arguments& a) { return a.ins > 2 ? mask_at(a.in[2]) : all_lanes; }

// What follows the comparison is compiled once, for there are thousands of forms.
[[gnu::noinline]] void write_predicates(const Arguments& a, BoolOp with, std::uint32_t p,
                                        std::uint32_t q) {
  const std::uint32_t other = other_mask(a);
  write_mask(a.out[0], joined(with, p, other), a.lanes);
  if (a.outs > 1) write_mask(a.out[1], joined(with, q, other), a.lanes);
}

[[gnu::noinline]] void write_word(const Arguments& a, BoolOp with, std::uint32_t yes,
                                  std::uint32_t mask) {
  mask = joined(with, mask, other_mask(a));
  each_lane(a.lanes, [&](int lane) {
    cells<std::uint32_t>(a.out[0])[lane] = has_lane(mask, lane) ? yes : 0;
  });
}

[[gnu::noinline]] void write_halves(const Arguments& a, BoolOp with, std::uint32_t yes,
                                    std::uint32_t lower, std::uint32_t upper) {
  const std::uint32_t other = other_mask(a);
  lower = joined(with, lower, other);
  upper = joined(with, upper, other);
  each_lane(a.lanes, [&](int lane) {
    const auto half = [&](std::uint32_t mask) { return has_lane(mask, lane) ? yes : 0; };
    cells<std::uint32_t>(a.out[0])[lane] = half(lower) | half(upper) << 16;
  });
}

template <class V, Compare c, BoolOp with>
void setp(const Arguments& a) {
  const std::uint32_t mask = compared<V, c>(a);
  write_predicates(a, with, mask, ~mask);
}

template <class V, Compare c, BoolOp with, std::uint32_t yes>
void set(const Arguments& a) {
  write_word(a, with, yes, compared<V, c>(a));
}

template <class V, Compare c, BoolOp with>
Evaluate of_single_result(const ptx::Form& form) {  // 16 bits of halves alone, f32 of all others
  if (form.opcode == Opcode::Setp) return setp<V, c, with>;
  switch (form.types[0]) {
    case Type::U16:
    case Type::S16: return is_half<V> ? set<V, c, with, 0xffff> : nullptr;
    case Type::U32:
    case Type::S32: return set<V, c, with, 0xffffffff>;
    case Type::F16: return set<V, c, with, one_f16>;
    case Type::BF16: return set<V, c, with, one_bf16>;
    case Type::F32: return is_half<V> ? nullptr : set<V, c, with, 0x3f800000>;
    default: return nullptr;
  }
}

// ---- pairs of halves ------------------------------------------------------------------------------

template <class V, Compare c, BoolOp with>
void setp_pair(const Arguments& a) {
  write_predicates(a, with, compared_half<V, c, 0>(a), compared_half<V, c, 16>(a));
}

template <class V, Compare c, BoolOp with, std::uint32_t yes>
void set_pair(const Arguments& a) {
  write_halves(a, with, yes, compared_half<V, c, 0>(a), compared_half<V, c, 16>(a));
}

template <class V, Compare c, BoolOp with>
Evaluate of_pair_result(const ptx::Form& form) {
  if (form.opcode == Opcode::Setp) return setp_pair<V, c, with>;
  switch (form.types[0]) {
    case Type::U32:
    case Type::S32: return set_pair<V, c, with, 0xffff>;
    case Type::F16x2: return set_pair<V, c, with, one_f16>;
    case Type::BF16x2: return set_pair<V, c, with, one_bf16>;
    default: return nullptr;
  }
}

// ---- which exist ----------------------------------------------------------------------------------

template <class V, Compare c, BoolOp with>
Evaluate of_result(const ptx::Form& form) {
  if constexpr (is_pair_value<V>)
    return of_pair_result<typename V::Element, c, with>(form);
  else
    return of_single_result<V, c, with>(form);
}

template <class V, Compare c>
Evaluate of_joint(const ptx::Form& form) {
  switch (form.get<BoolOp>()) {
    case BoolOp::None:
    case BoolOp::And: return of_result<V, c, BoolOp::And>(form);
    case BoolOp::Or: return of_result<V, c, BoolOp::Or>(form);
    case BoolOp::Xor: return of_result<V, c, BoolOp::Xor>(form);
  }
  return nullptr;
}

template <class V>
Evaluate of_order(const ptx::Form& form) {
  using enum Compare;
  switch (form.get<Compare>()) {
    case Eq: return of_joint<V, Eq>(form);
    case Ne: return of_joint<V, Ne>(form);
    case Lt:
    case Lo: return of_joint<V, Lt>(form);
    case Le:
    case Ls: return of_joint<V, Le>(form);
    case Gt:
    case Hi: return of_joint<V, Gt>(form);
    case Ge:
    case Hs: return of_joint<V, Ge>(form);
    default: return nullptr;
  }
}

template <class V>
Evaluate of_any(const ptx::Form& form) {
  using enum Compare;
  switch (form.get<Compare>()) {
    case Equ: return of_joint<V, Equ>(form);
    case Neu: return of_joint<V, Neu>(form);
    case Ltu: return of_joint<V, Ltu>(form);
    case Leu: return of_joint<V, Leu>(form);
    case Gtu: return of_joint<V, Gtu>(form);
    case Geu: return of_joint<V, Geu>(form);
    case Num: return of_joint<V, Num>(form);
    case Nan: return of_joint<V, Nan>(form);
    default: return of_order<V>(form);
  }
}

Evaluate compare(const ptx::Form& form) {
  const bool flushes = form.has(ptx::Flag::Ftz);
  const Type type = form.types[form.opcode == Opcode::Set ? 1 : 0];
  switch (type) {
    case Type::F32: return flushes ? of_any<Flushed>(form) : of_any<Plain<float>>(form);
    case Type::F64: return of_any<Plain<double>>(form);
    case Type::F16: return flushes ? of_any<FlushedHalf>(form) : of_any<Half>(form);
    case Type::BF16: return flushes ? nullptr : of_any<Brain>(form);
    case Type::F16x2: return flushes ? of_any<Pair<FlushedHalf>>(form) : of_any<Pair<Half>>(form);
    case Type::BF16x2: return flushes ? nullptr : of_any<Pair<Brain>>(form);
    default: break;
  }
  return for_integer(type, [&](auto zero) { return of_order<Plain<decltype(zero)>>(form); });
}

// ---- testp --------------------------------------------------------------------------------------

template <class U, int fraction_bits, FloatTest test>
void classify(const Arguments& a) {
  constexpr auto is = [](U x) {
    constexpr U least_normal = U{1} << fraction_bits;
    constexpr U sign = U{1} << (8 * sizeof(U) - 1);
    constexpr U infinite = sign - least_normal;
    const U magnitude = x & (sign - 1);
    switch (test) {
      case FloatTest::Finite: return magnitude < infinite;
      case FloatTest::Infinite: return magnitude == infinite;
      case FloatTest::Number: return magnitude <= infinite;
      case FloatTest::NotANumber: return magnitude > infinite;
      case FloatTest::Normal:  // zeros are, PTX says
        return magnitude == 0 || (magnitude >= least_normal && magnitude < infinite);
      case FloatTest::Subnormal: return magnitude != 0 && magnitude < least_normal;
      case FloatTest::None: break;
    }
    return false;
  };
  write_mask(a.out[0], lanes_where<is, U>(a), a.lanes);
}

template <class U, int fraction_bits>
Evaluate testp(FloatTest test) {
  using enum FloatTest;
  switch (test) {
    case Finite: return classify<U, fraction_bits, Finite>;
    case Infinite: return classify<U, fraction_bits, Infinite>;
    case Number: return classify<U, fraction_bits, Number>;
    case NotANumber: return classify<U, fraction_bits, NotANumber>;
    case Normal: return classify<U, fraction_bits, Normal>;
    case Subnormal: return classify<U, fraction_bits, Subnormal>;
    case None: break;
  }
  return nullptr;
}

}  // namespace

Evaluate compare_operation(const ptx::Form& form) {
  if (form.opcode != Opcode::Testp) return compare(form);
  const auto test = form.get<FloatTest>();
  if (form.types[0] == Type::F32) return testp<std::uint32_t, 23>(test);
  return form.types[0] == Type::F64 ? testp<std::uint64_t, 52>(test) : nullptr;
}

}  // namespace tcq::alu
