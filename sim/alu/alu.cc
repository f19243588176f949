#include "sim/alu/alu.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tcq::alu {
namespace {
using ptx::Opcode;
using ptx::Type;

template <class T>
struct Cell { using type = std::uint32_t; };
template <> struct Cell<std::uint64_t> { using type = std::uint64_t; };
template <> struct Cell<std::int64_t> { using type = std::uint64_t; };
template <> struct Cell<double> { using type = std::uint64_t; };

template <class T>
T get(const void* p, int lane) {
  using C = typename Cell<T>::type;
  const C c = static_cast<const C*>(p)[lane];
  if constexpr (std::is_floating_point_v<T>) return std::bit_cast<T>(c);
  else return static_cast<T>(c);
}
template <class T>
void put(void* p, int lane, T v) {
  using C = typename Cell<T>::type;
  if constexpr (std::is_floating_point_v<T>) static_cast<C*>(p)[lane] = std::bit_cast<C>(v);
  else if constexpr (sizeof(T) < 4) static_cast<C*>(p)[lane] = static_cast<C>(static_cast<std::make_unsigned_t<T>>(v));
  else static_cast<C*>(p)[lane] = static_cast<C>(v);
}
template <class F>
void each(std::uint32_t lanes, F f) { for (; lanes; lanes &= lanes - 1) f(std::countr_zero(lanes)); }
bool bit(const void* p, int lane) { return *static_cast<const std::uint32_t*>(p) >> lane & 1; }
void set_bit(void* p, int lane, bool v) {
  auto& w = *static_cast<std::uint32_t*>(p);
  w = (w & ~(1u << lane)) | (static_cast<std::uint32_t>(v) << lane);
}

template <class T, class F, F f>
void unary(const Arguments& a) { each(a.lanes, [&](int l) { put<T>(a.out[0], l, f(get<T>(a.in[0], l))); }); }
#define BIN(NAME, EXPR) template <class T> void NAME(const Arguments& a) { each(a.lanes, [&](int l) { const T x = get<T>(a.in[0], l); const T y = get<T>(a.in[1], l); static_cast<void>(x); static_cast<void>(y); put<T>(a.out[0], l, static_cast<T>(EXPR)); }); }
BIN(add, x + y) BIN(sub, x - y) BIN(mul, x * y) BIN(and_, x & y) BIN(or_, x | y) BIN(xor_, x ^ y)
BIN(min_, x < y ? x : y) BIN(max_, x > y ? x : y)
BIN(div_, y == 0 ? T(-1) : x / y) BIN(rem_, y == 0 ? x : x % y)
BIN(fdiv, x / y)
#define UN(NAME, EXPR) template <class T> void NAME(const Arguments& a) { each(a.lanes, [&](int l) { const T x = get<T>(a.in[0], l); put<T>(a.out[0], l, static_cast<T>(EXPR)); }); }
UN(mov, x) UN(not_, ~x) UN(neg, -x) UN(abs_, x < 0 ? -x : x)
template <class T> void shl(const Arguments& a) { each(a.lanes, [&](int l) { const T x = get<T>(a.in[0], l); const auto s = get<std::uint32_t>(a.in[1], l); put<T>(a.out[0], l, s >= 8 * sizeof(T) ? T(0) : static_cast<T>(x << s)); }); }
template <class T> void shr(const Arguments& a) { each(a.lanes, [&](int l) { const T x = get<T>(a.in[0], l); auto s = get<std::uint32_t>(a.in[1], l); if (s >= 8 * sizeof(T)) { put<T>(a.out[0], l, static_cast<T>(std::is_signed_v<T> && x < 0 ? -1 : 0)); } else put<T>(a.out[0], l, static_cast<T>(x >> s)); }); }
template <class T> void mad(const Arguments& a) { each(a.lanes, [&](int l) { put<T>(a.out[0], l, static_cast<T>(get<T>(a.in[0], l) * get<T>(a.in[1], l) + get<T>(a.in[2], l))); }); }
void fma32(const Arguments& a) { each(a.lanes, [&](int l) { put<float>(a.out[0], l, std::fma(get<float>(a.in[0], l), get<float>(a.in[1], l), get<float>(a.in[2], l))); }); }
template <class T, class W> void mul_wide(const Arguments& a) { each(a.lanes, [&](int l) { put<W>(a.out[0], l, static_cast<W>(get<T>(a.in[0], l)) * static_cast<W>(get<T>(a.in[1], l))); }); }
template <class T, class W> void mad_wide(const Arguments& a) { each(a.lanes, [&](int l) { put<W>(a.out[0], l, static_cast<W>(get<T>(a.in[0], l)) * static_cast<W>(get<T>(a.in[1], l)) + get<W>(a.in[2], l)); }); }
template <class T, class W> void mul_hi(const Arguments& a) { each(a.lanes, [&](int l) { put<T>(a.out[0], l, static_cast<T>((static_cast<W>(get<T>(a.in[0], l)) * static_cast<W>(get<T>(a.in[1], l))) >> (8 * sizeof(T)))); }); }
template <class T, class W> void mad_hi(const Arguments& a) { each(a.lanes, [&](int l) { put<T>(a.out[0], l, static_cast<T>(((static_cast<W>(get<T>(a.in[0], l)) * static_cast<W>(get<T>(a.in[1], l))) >> (8 * sizeof(T)))) + get<T>(a.in[2], l)); }); }
template <class T> void selp(const Arguments& a) { each(a.lanes, [&](int l) { put<T>(a.out[0], l, bit(a.in[2], l) ? get<T>(a.in[0], l) : get<T>(a.in[1], l)); }); }

template <class T, ptx::Compare C> bool compare(T x, T y) {
  using enum ptx::Compare;
  if constexpr (C == Eq) return x == y;
  if constexpr (C == Ne) return x < y || x > y || (std::is_integral_v<T> && x != y);
  if constexpr (C == Lt || C == Lo) return x < y;
  if constexpr (C == Le || C == Ls) return x <= y;
  if constexpr (C == Gt || C == Hi) return x > y;
  if constexpr (C == Ge || C == Hs) return x >= y;
  if constexpr (C == Equ) return !(x < y || x > y);
  if constexpr (C == Neu) return x != y;
  if constexpr (C == Ltu) return !(x >= y);
  if constexpr (C == Leu) return !(x > y);
  if constexpr (C == Gtu) return !(x <= y);
  if constexpr (C == Geu) return !(x < y);
  if constexpr (C == Num) return x == x && y == y;
  if constexpr (C == Nan) return !(x == x && y == y);
  return false;
}
template <class T, ptx::Compare C, ptx::BoolOp B> void setp(const Arguments& a) {
  each(a.lanes, [&](int l) {
    bool p = compare<T, C>(get<T>(a.in[0], l), get<T>(a.in[1], l));
    if constexpr (B == ptx::BoolOp::And) p = p && bit(a.in[2], l);
    if constexpr (B == ptx::BoolOp::Or) p = p || bit(a.in[2], l);
    if constexpr (B == ptx::BoolOp::Xor) p = p != bit(a.in[2], l);
    set_bit(a.out[0], l, p);
  });
}
template <class T, ptx::Compare C> Evaluate setp_of(ptx::BoolOp b) {
  switch (b) {
    case ptx::BoolOp::None: return setp<T, C, ptx::BoolOp::None>;
    case ptx::BoolOp::And: return setp<T, C, ptx::BoolOp::And>;
    case ptx::BoolOp::Or: return setp<T, C, ptx::BoolOp::Or>;
    default: return setp<T, C, ptx::BoolOp::Xor>;
  }
}
template <class T> Evaluate setp_for(ptx::Compare c, ptx::BoolOp b) {
  using enum ptx::Compare;
  switch (c) {
#define C(X) case X: return setp_of<T, X>(b);
    C(Eq) C(Ne) C(Lt) C(Le) C(Gt) C(Ge) C(Lo) C(Ls) C(Hi) C(Hs) C(Equ) C(Neu) C(Ltu) C(Leu) C(Gtu) C(Geu) C(Num) C(Nan)
#undef C
    default: return nullptr;
  }
}
void pand(const Arguments& a) { each(a.lanes, [&](int l) { set_bit(a.out[0], l, bit(a.in[0], l) && bit(a.in[1], l)); }); }
void por(const Arguments& a) { each(a.lanes, [&](int l) { set_bit(a.out[0], l, bit(a.in[0], l) || bit(a.in[1], l)); }); }
void pxor(const Arguments& a) { each(a.lanes, [&](int l) { set_bit(a.out[0], l, bit(a.in[0], l) != bit(a.in[1], l)); }); }
void pnot(const Arguments& a) { each(a.lanes, [&](int l) { set_bit(a.out[0], l, !bit(a.in[0], l)); }); }
void pmov(const Arguments& a) { each(a.lanes, [&](int l) { set_bit(a.out[0], l, bit(a.in[0], l)); }); }
void elect(const Arguments& a) {
  const int leader = std::countr_zero(a.lanes);
  each(a.lanes, [&](int l) { static_cast<std::uint32_t*>(a.out[0])[l] = static_cast<std::uint32_t>(leader); set_bit(a.out[1], l, l == leader); });
}
template <ptx::Shuffle S> void shfl(const Arguments& a) {
  std::uint32_t from[32];
  std::memcpy(from, a.in[0], sizeof from);
  each(a.lanes, [&](int l) {
    const auto b = get<std::uint32_t>(a.in[1], l) & 31, c = get<std::uint32_t>(a.in[2], l);
    const std::uint32_t clamp = c & 31, seg = c >> 8 & 31, lane = static_cast<std::uint32_t>(l);
    const std::uint32_t max_lane = (lane & seg) | (clamp & ~seg), min_lane = lane & seg;
    std::uint32_t j = lane; bool p = true;
    if constexpr (S == ptx::Shuffle::Up) { j = lane - b; p = static_cast<int>(j) >= static_cast<int>(max_lane); }
    if constexpr (S == ptx::Shuffle::Down) { j = lane + b; p = j <= max_lane; }
    if constexpr (S == ptx::Shuffle::Bfly) { j = lane ^ b; p = j <= max_lane; }
    if constexpr (S == ptx::Shuffle::Idx) { j = min_lane | (b & ~seg); p = j <= max_lane; }
    if (!p) j = lane;
    static_cast<std::uint32_t*>(a.out[0])[l] = from[j & 31];
  });
}
template <class D, class S> void cvt(const Arguments& a) { each(a.lanes, [&](int l) { put<D>(a.out[0], l, static_cast<D>(get<S>(a.in[0], l))); }); }
template <class D> Evaluate cvt_from(Type s) {
  switch (s) {
    case Type::U8: return cvt<D, std::uint8_t>; case Type::S8: return cvt<D, std::int8_t>;
    case Type::U16: return cvt<D, std::uint16_t>; case Type::S16: return cvt<D, std::int16_t>;
    case Type::U32: return cvt<D, std::uint32_t>; case Type::S32: return cvt<D, std::int32_t>;
    case Type::U64: return cvt<D, std::uint64_t>; case Type::S64: return cvt<D, std::int64_t>;
    default: return nullptr;
  }
}
void mov_any(const Arguments&) {}

std::uint32_t bf16_of(float f) { auto u = std::bit_cast<std::uint32_t>(f); if (f != f) return 0x7fff; u += 0x7fff + (u >> 16 & 1); return u >> 16; }
void cvt_bf16(const Arguments& a) { each(a.lanes, [&](int l) { static_cast<std::uint32_t*>(a.out[0])[l] = bf16_of(get<float>(a.in[0], l)); }); }
void cvt_f32_bf16(const Arguments& a) { each(a.lanes, [&](int l) { static_cast<std::uint32_t*>(a.out[0])[l] = get<std::uint32_t>(a.in[0], l) << 16; }); }
void cvt_bf16x2(const Arguments& a) { each(a.lanes, [&](int l) { static_cast<std::uint32_t*>(a.out[0])[l] = bf16_of(get<float>(a.in[0], l)) << 16 | bf16_of(get<float>(a.in[1], l)); }); }
#define INT(F) switch (t) { case Type::U16: case Type::B16: return F<std::uint16_t>; case Type::S16: return F<std::int16_t>; case Type::U32: case Type::B32: return F<std::uint32_t>; case Type::S32: return F<std::int32_t>; case Type::U64: case Type::B64: return F<std::uint64_t>; case Type::S64: return F<std::int64_t>; default: return nullptr; }
#define ALL(F) switch (t) { case Type::F32: return F<float>; case Type::F64: return F<double>; default: INT(F) }
}  // namespace

static Evaluate find(const ptx::Form& f) {
  const Type t = f.types[0];
  using enum Opcode;
  switch (f.opcode) {
    case Add: ALL(add)
    case Sub: ALL(sub)
    case Mul:
      if (f.get<ptx::Part>() == ptx::Part::Wide) { switch (t) { case Type::U16: return mul_wide<std::uint16_t, std::uint32_t>; case Type::S16: return mul_wide<std::int16_t, std::int32_t>; case Type::U32: return mul_wide<std::uint32_t, std::uint64_t>; case Type::S32: return mul_wide<std::int32_t, std::int64_t>; default: return nullptr; } }
      if (f.get<ptx::Part>() == ptx::Part::Hi) { switch (t) { case Type::U32: return mul_hi<std::uint32_t, std::uint64_t>; case Type::S32: return mul_hi<std::int32_t, std::int64_t>; default: return nullptr; } }
      ALL(mul)
    case Mad:
      if (f.get<ptx::Part>() == ptx::Part::Wide) { switch (t) { case Type::U32: return mad_wide<std::uint32_t, std::uint64_t>; case Type::S32: return mad_wide<std::int32_t, std::int64_t>; default: return nullptr; } }
      if (f.get<ptx::Part>() == ptx::Part::Hi) { switch (t) { case Type::U32: return mad_hi<std::uint32_t, std::uint64_t>; default: return nullptr; } }
      INT(mad)
    case Fma: return t == Type::F32 ? fma32 : nullptr;
    case And: if (t == Type::Pred) return pand; INT(and_)
    case Or: if (t == Type::Pred) return por; INT(or_)
    case Xor: if (t == Type::Pred) return pxor; INT(xor_)
    case Not: if (t == Type::Pred) return pnot; INT(not_)
    case Neg: ALL(neg)
    case Abs: ALL(abs_)
    case Min: ALL(min_)
    case Max: ALL(max_)
    case Div: if (t == Type::F32) return fdiv<float>; INT(div_)
    case Rem: INT(rem_)
    case Shl: INT(shl)
    case Shr: INT(shr)
    case Selp: switch (ptx::bits(t)) { case 16: return selp<std::uint16_t>; case 32: return selp<std::uint32_t>; case 64: return selp<std::uint64_t>; default: return nullptr; }
    case Mov: if (t == Type::Pred) return pmov; switch (ptx::bits(t)) { case 16: return mov<std::uint16_t>; case 32: return mov<std::uint32_t>; case 64: return mov<std::uint64_t>; default: return mov_any; }
    case Setp: switch (t) { case Type::U16: case Type::B16: return setp_for<std::uint16_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::S16: return setp_for<std::int16_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::U32: case Type::B32: return setp_for<std::uint32_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::S32: return setp_for<std::int32_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::U64: case Type::B64: return setp_for<std::uint64_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::S64: return setp_for<std::int64_t>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); case Type::F32: return setp_for<float>(f.get<ptx::Compare>(), f.get<ptx::BoolOp>()); default: return nullptr; }
    case Cvt: if (t == Type::BF16 && f.types[1] == Type::F32) return cvt_bf16; if (t == Type::BF16x2) return cvt_bf16x2; if (t == Type::F32 && f.types[1] == Type::BF16) return cvt_f32_bf16; switch (t) { case Type::U8: return cvt_from<std::uint8_t>(f.types[1]); case Type::S8: return cvt_from<std::int8_t>(f.types[1]); case Type::U16: return cvt_from<std::uint16_t>(f.types[1]); case Type::S16: return cvt_from<std::int16_t>(f.types[1]); case Type::U32: return cvt_from<std::uint32_t>(f.types[1]); case Type::S32: return cvt_from<std::int32_t>(f.types[1]); case Type::U64: return cvt_from<std::uint64_t>(f.types[1]); case Type::S64: return cvt_from<std::int64_t>(f.types[1]); default: return nullptr; }
    case ElectSync: return elect;
    case ShflSync: switch (f.get<ptx::Shuffle>()) { case ptx::Shuffle::Up: return shfl<ptx::Shuffle::Up>; case ptx::Shuffle::Down: return shfl<ptx::Shuffle::Down>; case ptx::Shuffle::Bfly: return shfl<ptx::Shuffle::Bfly>; default: return shfl<ptx::Shuffle::Idx>; }
    default: return nullptr;
  }
}
Operation operation(const ptx::Form& form) { return {find(form)}; }
}  // namespace tcq::alu
