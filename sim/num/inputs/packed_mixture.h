// Weighted operands of kinds mxf4 and mxf4nvf4: tiles whose groups of 16 cancel, vanish and meet
// exactly where the arithmetic of block_scaled_sum.h has its edges.
//
// As in mixture.h a tile plans, here per group: the exponent that its scale factors have together
// and the shape of its products; signs, values and the split of the exponent belong to the element,
// row or column. Classes are those of mixture.h; OutputTies, which cannot exist where D is cut,
// makes C the negated result of the products instead, so that D is what rounding left over.
// Example: in class Cancel one group sums to zero at exponent E0 and C lies near 2^(E0 - 35).
//
// Inferred: the classes follow the arithmetic in block_scaled_sum.h; nothing here is a fact about
// hardware.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/num/block_scaled_sum.h"
#include "sim/num/dot_traits.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::tcgen05 {

class PackedMixture {
 public:
  HOST_DEVICE constexpr PackedMixture(ScaleType scale_type, int scale_block,
                                      MixtureClass mixture_class, std::uint64_t seed)
      : scale_type_(scale_type),
        scale_block_(scale_block),
        class_(mixture_class),
        seed_(mix(seed ^ 0x3c6ef372)) {
    Draw draw(seed_);
    swap_ = draw.below(group_count);
    policy_ = draw.below(4);
    const bool wide = scale_type == ScaleType::ue8m0;
    reference_ = wide ? draw.in(-120, 110) : draw.in(-12, 16);
    if (class_ == MixtureClass::Normal) reference_ = draw.in(-3, 3);
    if (class_ == MixtureClass::Overflow && wide) reference_ = draw.in(112, 130);
    if (class_ == MixtureClass::Floor && wide) reference_ = lowest_kept() + draw.in(-4, 3);
  }

  // Raw bits of element `k` of a row of A and of a column of B, and of C.
  HOST_DEVICE constexpr std::uint32_t a(int row, int k) const { return element(0, row, k); }
  HOST_DEVICE constexpr std::uint32_t b(int col, int k) const { return element(1, col, k); }
  HOST_DEVICE constexpr std::uint32_t c(int row, int col) const {
    Draw draw(key(2, row, col));
    return class_ == MixtureClass::OutputTies ? negated_result(row, col, draw) : float_c(draw);
  }
  // The byte that scales block `block` of a row of A, of a column of B.
  HOST_DEVICE constexpr std::uint8_t scale_a(int row, int block) const {
    return scale(0, row, block);
  }
  HOST_DEVICE constexpr std::uint8_t scale_b(int col, int block) const {
    return scale(1, col, block);
  }

 private:
  static constexpr std::uint32_t one_ = 2;  // e2m1

  static HOST_DEVICE constexpr DotTraits traits() {
    return tcgen05_dot_traits(Kind::mxf4, Type::f32);
  }

  enum class Shape : std::uint8_t {
    Dense,   // any values
    Sparse,  // most of them zero
    One,     // a single product +-1
    Pairs,   // neighbours that cancel; one pair in eight off by one code
    None,    // every product is zero
    Full,    // the largest, all of one sign
  };

  HOST_DEVICE constexpr std::uint64_t key(int role, int major, int minor) const {
    return seed_ ^
           mix(static_cast<std::uint64_t>(role) * 0x100000000 +
               static_cast<std::uint64_t>(major) * 0x10000 + static_cast<std::uint64_t>(minor));
  }
  HOST_DEVICE constexpr int lowest_kept() const {
    return traits().floor_exponent - traits().fraction_bits;
  }

  // Groups are planned in an order that no tile shares with the next; 0 and 1 share a block of 32.
  HOST_DEVICE constexpr int planned(int group) const { return group ^ swap_; }

  HOST_DEVICE constexpr Shape shape(int group) const {
    const int plan = planned(group);
    switch (class_) {
      case MixtureClass::Cancel:
        if (plan == 0) return Shape::Pairs;
        return policy_ < 2 ? Shape::None : plan == 1 ? Shape::Pairs : Shape::Sparse;
      case MixtureClass::Floor:
        if (policy_ == 3) return Shape::Dense;
        return plan == 0 ? Shape::One : plan == 1 ? Shape::None : Shape::Sparse;
      case MixtureClass::Zeros: return plan == 3 && policy_ != 3 ? Shape::Sparse : Shape::None;
      case MixtureClass::CGap: return plan <= policy_ ? Shape::Sparse : Shape::None;
      case MixtureClass::Headroom: return Shape::Full;
      case MixtureClass::Specials: return policy_ == 0 ? Shape::None : Shape::Dense;
      default: return policy_ == 0 ? Shape::Sparse : Shape::Dense;
    }
  }

  // What the scale factors of one group's block have together.
  HOST_DEVICE constexpr int exponent(int group) const {
    const int plan = scale_block_ == group_products ? planned(group) : planned(group) & ~1;
    Draw draw(key(3, plan, 0));
    const int kept = traits().fraction_bits;
    switch (class_) {
      case MixtureClass::Normal: return reference_ - draw.below(4);
      case MixtureClass::Cluster: return reference_ - draw.below(kept + 8);
      case MixtureClass::Cancel: return plan < 2 ? reference_ : reference_ - kept + draw.in(-9, 4);
      case MixtureClass::Floor:
        if (policy_ == 3) return draw.in(-162, -146);
        return plan == 0 ? -149 : reference_ + draw.below(2);
      case MixtureClass::Zeros: return plan < 2 ? reference_ + draw.below(60) : reference_;
      case MixtureClass::OutputTies: return reference_ - draw.below(30);
      case MixtureClass::UniformBits: return draw.in(-254, 254);
      case MixtureClass::Headroom: return reference_;
      default: return reference_ - draw.below(4);
    }
  }

  HOST_DEVICE constexpr std::uint32_t element(int role, int major, int k) const {
    const int group = k / group_products;
    Draw draw(key(role, major, k));
    const std::uint32_t any = draw.word() >> 28;
    const std::uint32_t sign = any & sign_bit(Type::e2m1);
    Draw slot(key(4, 0, k));
    const int zero = 1 + slot.below(3);  // 1: A, 2: B, 3: both
    const bool mine = zero == 3 || zero == role + 1;
    switch (shape(group)) {
      case Shape::Dense: return any;
      case Shape::Sparse: return !slot.one_in(4) && mine ? sign : any;
      case Shape::One: return k % group_products == swap_ ? one_ | sign : mine ? sign : any;
      case Shape::Pairs: return paired(role, major, k);
      case Shape::None: return mine ? sign : any;
      case Shape::Full: return role == 1 && policy_ % 2 != 0 ? 0xf : 0x7;
    }
    return 0;
  }

  HOST_DEVICE constexpr std::uint32_t paired(int role, int major, int k) const {
    Draw shared(key(5 + role, major, k / 2));
    const std::uint32_t word = shared.word() >> 28;
    if (k % 2 == 0) return word;
    if (role == 1) return word ^ sign_bit(Type::e2m1);
    return Draw(key(7, 0, k / 2)).one_in(8) ? word ^ 1 : word;
  }

  HOST_DEVICE constexpr std::uint8_t scale(int role, int major, int block) const {
    const int group = block * scale_block_ / group_products;
    Draw draw(key(8 + role, major, block));
    const bool often = class_ == MixtureClass::Zeros || class_ == MixtureClass::Specials;
    if (class_ == MixtureClass::UniformBits) return static_cast<std::uint8_t>(draw.word() >> 24);
    const bool special = draw.one_in(often ? 16 : 128);
    // The tile's split: rows and columns that are not special have the planned sum.
    const int plan = scale_block_ == group_products ? planned(group) : planned(group) & ~1;
    Draw split(key(10, plan, 0));
    return scale_type_ == ScaleType::ue8m0 ? ue8m0(role, exponent(group), split, special, draw)
                                           : ue4m3(role, exponent(group), split, special, draw);
  }

  static HOST_DEVICE constexpr int clamp(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
  }

  HOST_DEVICE constexpr std::uint8_t ue8m0(int role, int total, Draw& split, bool special,
                                           Draw& draw) const {
    if (special) {
      const int choice = draw.below(4);
      return static_cast<std::uint8_t>(choice == 0 ? 0x00 : choice == 1 ? 0xfe : 0xff);
    }
    total = clamp(total, -254, 254);
    const int of_a = split.in(clamp(total - 127, -127, 127), clamp(total + 127, -127, 127));
    return static_cast<std::uint8_t>((role == 0 ? of_a : total - of_a) + 127);
  }

  HOST_DEVICE constexpr std::uint8_t ue4m3(int role, int total, Draw& split, bool special,
                                           Draw& draw) const {
    const std::uint32_t ignored_sign = draw.one_in(2) ? sign_bit(Type::e4m3) : 0;
    if (special) {
      const std::uint32_t word = draw.one_in(2) ? 0x7f : static_cast<std::uint32_t>(draw.below(8));
      return static_cast<std::uint8_t>(word | ignored_sign);
    }
    const ExponentRange range = exponent_range(Type::e4m3);
    total = clamp(total, 2 * range.normal, 2 * range.highest);
    const int of_a = split.in(clamp(total - range.highest, range.normal, range.highest),
                              clamp(total - range.normal, range.normal, range.highest));
    int exponent = role == 0 ? of_a : total - of_a;
    if (exponent == range.normal && draw.one_in(2)) exponent -= 1 + draw.below(3);
    auto fraction = static_cast<Fraction>(draw.below(4));
    if (class_ == MixtureClass::Headroom) fraction = Fraction::Ones;
    return static_cast<std::uint8_t>(make_float(Type::e4m3, exponent, fraction, false, draw) |
                                     ignored_sign);
  }

  HOST_DEVICE constexpr std::uint32_t float_c(Draw& draw) const {
    const int kept = traits().fraction_bits;
    const bool negative = class_ == MixtureClass::Headroom ? policy_ % 2 != 0 : draw.one_in(2);
    const std::uint32_t zero = negative ? sign_bit(Type::f32) : 0;
    const auto fraction = static_cast<Fraction>(draw.below(4));
    const auto near = [&](int exponent, Fraction shape) {
      return make_float(Type::f32, exponent, shape, negative, draw);
    };
    switch (class_) {
      case MixtureClass::UniformBits: return draw.word();
      case MixtureClass::Normal: return draw.one_in(2) ? zero : near(draw.in(-2, 4), fraction);
      case MixtureClass::Cancel:
        return draw.one_in(3) ? zero : near(reference_ - kept + draw.in(-3, 3), fraction);
      case MixtureClass::Floor: return draw.one_in(3) ? zero | (draw.word() & 7) : zero;
      case MixtureClass::Zeros:
        if (policy_ == 3) return zero | (draw.word() & 7);
        return draw.one_in(2) ? zero : near(reference_ - draw.below(kept), fraction);
      case MixtureClass::Overflow:
        if (policy_ == 3 && draw.one_in(2)) return zero | infinity_of(Type::f32);
        return near(127 - draw.below(3), fraction);
      case MixtureClass::CGap:
        if (policy_ % 2 == 0) return near(reference_ + draw.in(-kept, kept + 14), fraction);
        return near(reference_ + kept + draw.in(-6, 6), Fraction::Zero);  // one step below is seen
      case MixtureClass::Specials:
        if (draw.one_in(8)) return zero | infinity_of(Type::f32) | (draw.word() & 1);
        return near(reference_ - draw.below(kept), fraction);
      case MixtureClass::Headroom: return near(reference_, Fraction::Ones);
      default:
        return draw.one_in(4) ? zero : near(reference_ + 11 - draw.below(kept + 14), fraction);
    }
  }

  HOST_DEVICE constexpr PackedRow row(int role, int major) const {
    std::uint32_t words[packed_products] = {};
    std::uint8_t scales[group_count] = {};
    for (int k = 0; k < packed_products; ++k) words[k] = element(role, major, k);
    for (int i = 0; i < packed_products / scale_block_; ++i) scales[i] = scale(role, major, i);
    return decode_packed_row(words, false, scale_type_, scales, scale_block_);
  }

  // C = -(what the products alone give), now and then one step away.
  HOST_DEVICE constexpr std::uint32_t negated_result(int row_index, int col, Draw& draw) const {
    const std::uint32_t result =
        block_scaled_sum(traits(), row(0, row_index), row(1, col), decode_float(Type::f32, 0));
    const std::uint32_t step = draw.one_in(4) ? 1 : 0;
    return (result ^ sign_bit(Type::f32)) + step;
  }

  ScaleType scale_type_;
  int scale_block_;
  MixtureClass class_;
  std::uint64_t seed_;
  int swap_ = 0;
  int policy_ = 0;
  int reference_ = 0;
};

}  // namespace tcq::tcgen05
