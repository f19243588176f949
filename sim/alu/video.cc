// Several small integers of a register at once, or one of them: video instructions and cvt.pack.
//
// What a video instruction says stands in its last source (sim/ptx/video.h). A scalar one takes a word, a half or a byte of a and b,
// computes exactly, saturates to d's type or to the part of d that it writes, then adds c or takes the smaller or the larger of the two, or
// leaves the rest of c. One of several parts computes part by part; c's parts stay where d's mask has none, and .add sums the results and c.
// cvt.pack: two numbers clamped, the first above the second, below what is left of c.
//
// Source: PTX ISA 9.2, 9.7.17.1 "vadd, vsub, vabsdiff, vmin, vmax", 9.7.17.2 "vshl, vshr", 9.7.17.3 "vmad", 9.7.17.4 "vset", 9.7.18,
// 9.7.9.23 "cvt.pack". No chip was asked for video instructions.
#include "sim/ptx/video.h"

#include <algorithm>
#include <bit>

#include "sim/alu/families.h"
#include "sim/alu/lanes.h"

namespace tcq::alu {
namespace {

using ptx::Type;
using U32 = std::uint32_t;
__extension__ using Exact = __int128;  // no sum, product or shifted word is too long

// ---- what a video instruction computes ------------------------------------------------------------

struct Range {
  Exact least, most;
};

// Of a part of so many bits.
constexpr Range range_of(unsigned width, bool is_signed) {
  const Exact half = Exact{1} << (width - 1);
  return is_signed ? Range{-half, half - 1} : Range{0, 2 * half - 1};
}

Exact extended(U32 word, unsigned width, bool is_signed) {
  const U32 part = width == 32 ? word : word & ((U32{1} << width) - 1);
  const bool is_negative = is_signed && (part >> (width - 1)) != 0;
  return static_cast<Exact>(part) - (is_negative ? Exact{1} << width : 0);
}

// .b0 to .b3, .h0 and .h1, or the word: where it begins, and how wide it is.
struct Place {
  unsigned begin, width;
};
constexpr Place place_of(unsigned part) {
  if (part == 0) return {0, 32};
  return part <= 4 ? Place{8 * (part - 1), 8} : Place{16 * (part - 5), 16};
}
Exact part_of(U32 word, unsigned part, bool is_signed) {
  const Place place = place_of(part);
  return extended(word >> place.begin, place.width, is_signed);
}

bool compares(ptx::Compare how, Exact a, Exact b) {
  switch (how) {
    case ptx::Compare::Eq: return a == b;
    case ptx::Compare::Ne: return a != b;
    case ptx::Compare::Lt: return a < b;
    case ptx::Compare::Le: return a <= b;
    case ptx::Compare::Gt: return a > b;
    default: return a >= b;
  }
}

Exact shift_of(const ptx::Video& v, Exact b) {
  return v.wraps != 0 ? b & 31 : std::min<Exact>(b, 32);
}

Exact result_of(const ptx::Video& v, Exact a, Exact b) {
  using enum ptx::VideoOp;
  switch (static_cast<ptx::VideoOp>(v.op)) {
    case Add: return a + b;
    case Sub: return a - b;
    case Absdiff: return a > b ? a - b : b - a;
    case Min: return std::min(a, b);
    case Max: return std::max(a, b);
    case Avrg: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Shl: return a * (Exact{1} << shift_of(v, b));
    case Shr: return a >> shift_of(v, b);
    case Set: return compares(static_cast<ptx::Compare>(v.compare), a, b) ? 1 : 0;
    case Mad: break;
  }
  return 0;
}

Exact clamped(Exact value, Range to) { return std::clamp(value, to.least, to.most); }

// ---- scalar ---------------------------------------------------------------------------------------

U32 second_of(const ptx::Video& v, Exact first, U32 word) {
  const Exact c = extended(word, 32, v.signed_d != 0);
  switch (static_cast<ptx::Operation>(v.second)) {
    case ptx::Operation::Add: return static_cast<U32>(first + c);
    case ptx::Operation::Min: return static_cast<U32>(std::min(first, c));
    case ptx::Operation::Max: return static_cast<U32>(std::max(first, c));
    default: return static_cast<U32>(first);
  }
}

U32 scalar(const ptx::Video& v, U32 a, U32 b, U32 c) {
  Exact first = result_of(v, part_of(a, v.a, v.signed_a != 0), part_of(b, v.b, v.signed_b != 0));
  const Place place = place_of(v.mask);
  if (v.saturates != 0) first = clamped(first, range_of(place.width, v.signed_d != 0));
  if (v.mask == 0) return second_of(v, first, c);
  const U32 mask = ((U32{1} << place.width) - 1) << place.begin;
  return (c & ~mask) | (static_cast<U32>(first) << place.begin & mask);
}

U32 multiplied(const ptx::Video& v, U32 a, U32 b, U32 c) {
  constexpr unsigned minus_a = 1, minus_b = 2, minus_c = 4;
  const bool minus_product = ((v.minus & minus_a) != 0) != ((v.minus & minus_b) != 0);
  const bool is_product_signed = v.signed_a != 0 || v.signed_b != 0 || minus_product;
  const bool minus_summand = (v.minus & minus_c) != 0;
  const bool is_signed = is_product_signed || minus_summand;
  Exact sum = part_of(a, v.a, v.signed_a != 0) * part_of(b, v.b, v.signed_b != 0);
  if (minus_product) sum = -sum;
  const Exact summand = extended(c, 32, is_product_signed);
  sum += minus_summand ? -summand : summand;
  sum += static_cast<Exact>(v.plus_one);
  const auto scaled = sum >> static_cast<unsigned>(v.shift);
  if (v.saturates == 0) return static_cast<U32>(scaled);
  const Range range = range_of(32, is_signed);
  return static_cast<U32>(std::clamp(scaled, range.least, range.most));
}

// ---- several parts --------------------------------------------------------------------------------

U32 parallel(const ptx::Video& v, U32 a, U32 b, U32 c) {
  const unsigned count = v.parts, width = 32 / count;
  const auto chosen = [&](std::uint64_t parts, unsigned i, bool is_signed) {
    const auto part = static_cast<unsigned>(parts >> (3 * i) & 7);
    const U32 word = part < count ? a : b;
    return extended(word >> (width * (part % count)), width, is_signed);
  };
  const bool adds = v.second != 0;
  U32 result = c;
  for (unsigned i = 0; i < count; ++i) {
    if ((v.mask >> i & 1) == 0) continue;
    Exact part = result_of(v, chosen(v.a, i, v.signed_a != 0), chosen(v.b, i, v.signed_b != 0));
    if (v.saturates != 0) part = clamped(part, range_of(width, v.signed_d != 0));
    const U32 mask = ((U32{1} << width) - 1) << (width * i);
    result = adds ? result + static_cast<U32>(part)
                  : (result & ~mask) | (static_cast<U32>(part) << (width * i) & mask);
  }
  return result;
}

void video(const Arguments& arguments) {
  const auto v = std::bit_cast<ptx::Video>(*cells<std::uint64_t>(arguments.in[arguments.ins - 1]));
  const bool has_c = arguments.ins > 3;
  const bool is_mad = v.op == static_cast<std::uint64_t>(ptx::VideoOp::Mad);
  const auto compute = v.parts != 1 ? parallel : is_mad ? multiplied : scalar;
  each_lane(arguments.lanes, [&](int lane) {
    const auto in = [&](int i) { return cells<U32>(arguments.in[i])[lane]; };
    cells<U32>(arguments.out[0])[lane] = compute(v, in(0), in(1), has_c ? in(2) : 0);
  });
}

// ---- cvt.pack -------------------------------------------------------------------------------------

template <int width, bool is_signed, bool has_c>
void pack(const Arguments& a) {
  constexpr std::int32_t least = is_signed ? -(1 << (width - 1)) : 0;
  constexpr std::int32_t most = (1 << (is_signed ? width - 1 : width)) - 1;
  constexpr U32 mask = (U32{1} << width) - 1;
  const auto clamped = [&](int operand, int lane) {
    const auto x = value_at<std::int32_t>(a.in[operand], lane);
    return static_cast<U32>(std::clamp(x, least, most)) & mask;
  };
  each_lane(a.lanes, [&](int lane) {
    U32 word = clamped(0, lane) << width | clamped(1, lane);
    if constexpr (has_c) word |= cells<U32>(a.in[2])[lane] << (2 * width);
    cells<U32>(a.out[0])[lane] = word;
  });
}

Evaluate packed(const ptx::Form& form) {
  const bool has_c = form.type_count == 3;
  if (form.types[1] != Type::S32 || form.get<ptx::Saturate>() != ptx::Saturate::Sat ||
      (has_c && form.types[2] != Type::B32))
    return nullptr;
  switch (form.types[0]) {
    case Type::S16: return has_c ? nullptr : pack<16, true, false>;
    case Type::U16: return has_c ? nullptr : pack<16, false, false>;
    case Type::S8: return has_c ? pack<8, true, true> : nullptr;
    case Type::U8: return has_c ? pack<8, false, true> : nullptr;
    case Type::S4: return has_c ? pack<4, true, true> : nullptr;
    case Type::U4: return has_c ? pack<4, false, true> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

Operation video_operation(const ptx::Form& form) {
  if (form.opcode == ptx::Opcode::CvtPack) return {packed(form)};
  return {video, true, "integers as PTX's text has video instructions; no chip was asked"};
}

}  // namespace tcq::alu
