// Weighted operands for differential tests: inputs that tell rival models of the arithmetic apart.
//
// Uniform bits cannot see floors, zero signs, subnormals or the adder's width: their sums are
// nearly always NaN or dominated by one term. A Mixture draws whole tiles: the class and the
// exponents of every slot k belong to the tile, fractions and signs to the element, so that each of
// the tile's outputs is a directed case. Every value is a pure function of (seed, tile, position):
// the CPU and the GPU draw the same tile without storing it.
//
// tests/num/mixture_test.cc shows for every kind how often each rival of the arithmetic is told apart.
// Inferred: the classes follow the arithmetic in fused_sum.h; nothing here is a fact about
// hardware.
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/dot.h"
#include "sim/num/inputs/draw.h"

namespace tcq {

enum class MixtureClass : std::uint8_t {
  UniformBits,
  Normal,
  Cluster,     // product exponents within the width of the adder
  Cancel,      // pairs that cancel, and a tail near the last bit kept
  Floor,       // the smallest results the kind can produce
  Zeros,       // signed zeros against large partners
  Overflow,    // sums near the largest D
  CGap,        // C far above or below the products
  Specials,    // some operands infinite or NaN
  OutputTies,  // sums on a rounding tie of D plus a tail
  Headroom,    // everything as large as it gets, same sign
};
inline constexpr int mixture_class_count = 11;

HOST_DEVICE constexpr const char* name(MixtureClass c) {
  switch (c) {
    case MixtureClass::UniformBits: return "uniform";
    case MixtureClass::Normal: return "normal";
    case MixtureClass::Cluster: return "cluster";
    case MixtureClass::Cancel: return "cancel";
    case MixtureClass::Floor: return "floor";
    case MixtureClass::Zeros: return "zeros";
    case MixtureClass::Overflow: return "overflow";
    case MixtureClass::CGap: return "c-gap";
    case MixtureClass::Specials: return "specials";
    case MixtureClass::OutputTies: return "ties";
    case MixtureClass::Headroom: return "headroom";
  }
  return "?";
}

// One tile of a mixture: M x K times K x N with C, of one kind. Requires: k a power of two.
class Mixture {
 public:
  HOST_DEVICE constexpr Mixture(const DotTypes& types, int k, MixtureClass mixture_class,
                                std::uint64_t seed)
      : Mixture(types, k, mixture_class, seed, wgmma_dot_traits(types.d, types.a)) {}

  // The same for other constants; scale factors will add `scale_exponent` to every product.
  HOST_DEVICE constexpr Mixture(const DotTypes& types, int k, MixtureClass mixture_class,
                                std::uint64_t seed, const DotTraits& traits, int scale_exponent = 0)
      : types_(types),
        traits_(traits),
        scale_exponent_(scale_exponent),
        k_(k),
        class_(mixture_class),
        seed_(mix(seed)) {
    Draw draw(seed_);
    shuffle_multiplier_ = 2 * draw.below(k) + 1;
    shuffle_offset_ = draw.below(k);
    policy_ = draw.below(4);
    pairs_ = draw.in(1, k > 4 ? k / 2 - 1 : 1);
    if (is_float(types.a)) choose_exponents(draw);
  }

  // Element `k` of row `row` of A, of column `col` of B, and C[row][col]: raw bits.
  HOST_DEVICE constexpr std::uint32_t a(int row, int k) const { return operand(0, row, k); }
  HOST_DEVICE constexpr std::uint32_t b(int col, int k) const { return operand(1, col, k); }
  HOST_DEVICE constexpr std::uint32_t c(int row, int col) const {
    Draw draw(key(2, row, col));
    if (!is_float(types_.a)) return integer_c(draw);
    return float_c(draw);
  }

  // Sparse A: B at logical k, planned for the stored slot that most often meets it.
  HOST_DEVICE constexpr std::uint32_t sparse_b(int col, int logical_k) const {
    const int slot = types_.a == Type::tf32 ? logical_k / 2 : 2 * (logical_k / 4) + logical_k % 2;
    return operand(1, col * 2 + logical_k % 4 / 2, slot);
  }
  // A metadata code for one chunk of one row. In most tiles a row keeps the same half of every
  // chunk, so that the plan of the slots holds for it; in the others any ascending code may come.
  HOST_DEVICE constexpr std::uint32_t metadata_code(int row, int chunk) const {
    const bool any = Draw(key(13, 0, 0)).one_in(4);
    Draw draw(any ? key(12, row, chunk) : key(14, row, 0));
    if (types_.a == Type::tf32) return draw.one_in(2) ? 0b0100u : 0b1110u;
    if (!any) return draw.one_in(2) ? 0b0100u : 0b1110u;
    const int first = draw.below(3);
    return static_cast<std::uint32_t>(first + 4 * draw.in(first + 1, 3));
  }

 private:
  HOST_DEVICE constexpr std::uint64_t key(int role, int major, int minor) const {
    return seed_ ^
           mix(static_cast<std::uint64_t>(role) * 0x100000000 +
               static_cast<std::uint64_t>(major) * 0x10000 + static_cast<std::uint64_t>(minor));
  }

  HOST_DEVICE constexpr int product_fraction_bits() const { return traits_.fraction_bits; }

  // Exponents of products, scale factors included.
  HOST_DEVICE constexpr int lowest_product() const {
    return exponent_range(types_.a).lowest + exponent_range(types_.b).lowest + scale_exponent_;
  }
  HOST_DEVICE constexpr int highest_product() const {
    return exponent_range(types_.a).highest + exponent_range(types_.b).highest + scale_exponent_;
  }

  // Low fraction bits of a result that the kind never writes.
  HOST_DEVICE constexpr int ulp_shift() const {
    const OutputFormat f = output_format(traits_.conversion);
    return f.fraction_bits + 1 - f.significant_bits;
  }

  // E0: a reference exponent that both products and C can reach.
  HOST_DEVICE constexpr void choose_exponents(Draw& draw) {
    const ExponentRange d = exponent_range(types_.d);
    const int high = d.highest < highest_product() ? d.highest : highest_product();
    int low = d.lowest > lowest_product() ? d.lowest : lowest_product();
    if (low > high) low = high;  // C does not reach the products
    reference_ = draw.in(low, high);
    if (class_ == MixtureClass::Normal) reference_ = scale_exponent_;
    if (class_ == MixtureClass::Floor) reference_ = low;
    if (class_ == MixtureClass::Overflow) reference_ = high - draw.below(3);
    if (class_ == MixtureClass::OutputTies || class_ == MixtureClass::Headroom) {
      const int middle = (low + high) / 2;
      reference_ = draw.in(middle, high - 8 > middle ? high - 8 : middle);
    }
  }

  // The slot's place in the tile's plan: slots are shuffled so that no class depends on k's order.
  HOST_DEVICE constexpr int plan_slot(int k) const {
    return (k * shuffle_multiplier_ + shuffle_offset_) % k_;
  }

  HOST_DEVICE constexpr std::uint32_t operand(int role, int major, int k) const {
    const Type type = role == 0 ? types_.a : types_.b;
    Draw draw(key(role, major, k));
    if (!is_float(type)) return integer_operand(type, draw);
    if (class_ == MixtureClass::UniformBits) return draw.word() >> (32 - bits(type));
    return float_operand(type, role, major, plan_slot(k), draw);
  }

  // What the tile plans for the product of one slot.
  struct Plan {
    int exponent;     // of the product
    bool exact;       // fractions zero, so that sums are exactly planned
    bool negative_b;  // sign added to B
    int pair;         // slots of one pair share A's fraction and B's; -1: no pair
    int zero;         // 0: none, 1: A is zero, 2: B is zero, 3: both
  };

  HOST_DEVICE constexpr Plan plan(int slot) const {
    Draw draw(key(3, slot, 0));
    const int kept = product_fraction_bits();
    Plan p{reference_, false, false, -1, 0};
    switch (class_) {
      case MixtureClass::Normal: p.exponent = reference_ - draw.below(6); break;
      case MixtureClass::Cluster:
      case MixtureClass::Specials: p.exponent = reference_ - draw.below(kept + 4); break;
      case MixtureClass::Cancel: return cancel_plan(slot, kept);
      case MixtureClass::Floor: return floor_plan(draw, slot);
      case MixtureClass::Zeros: return zeros_plan(draw);
      case MixtureClass::Overflow: return overflow_plan(draw, slot);
      case MixtureClass::CGap: p.exponent = reference_ - draw.below(4); break;
      case MixtureClass::OutputTies: return tie_plan(draw, slot, kept);
      default: break;
    }
    return p;
  }

  HOST_DEVICE constexpr Plan cancel_plan(int slot, int kept) const {
    Plan p{reference_, false, false, -1, 0};
    if (slot < 2 * pairs_) {
      Draw pair(key(4, slot / 2, 0));
      p.exponent = reference_ - pair.below(3);
      p.pair = slot / 2;
      p.negative_b = slot % 2 != 0;
      return p;
    }
    Draw tail(key(4, slot, 1));
    p.exponent = reference_ - kept + tail.in(-3, 3);
    p.zero = tail.one_in(3) ? 2 : 0;
    return p;
  }

  // Some results at the smallest step of D (and one at half of it, where D is rounded to nearest),
  // and one or two tails just around the last bit that the lowest E keeps.
  HOST_DEVICE constexpr Plan floor_plan(Draw& draw, int slot) const {
    Plan p{reference_, false, false, -1, 0};
    const ExponentRange d = exponent_range(types_.d);
    const int least = lowest_product();
    const int half_step = types_.d == Type::f16 ? 1 : 0;
    const int mains = 1 + pairs_ % 3;
    if (least >= d.lowest - 1) {
      p.exponent = least + draw.below(12);
      return p;
    }
    p.exact = policy_ != 3;
    if (policy_ == 3) {
      const int lowest = d.lowest - 23;
      // Scaled products of narrow types lie close together: all of them shall take part.
      const int low = scale_exponent_ != 0 && lowest < least ? least : lowest;
      p.exponent = draw.in(low, low < d.lowest + 3 ? d.lowest + 3 : low);
    } else if (slot < mains) {
      p.exponent = d.lowest + (slot == 0 ? -half_step : draw.below(3) / 2);
    } else if (slot <= mains + policy_ % 2) {
      p.exponent = traits_.floor_exponent - product_fraction_bits() + draw.in(-2, 2);
      if (p.exponent < least) p.exponent = least;
    } else {
      p.zero = 1 + draw.below(3);
    }
    return p;
  }

  HOST_DEVICE constexpr Plan zeros_plan(Draw& draw) const {
    Plan p{reference_ - draw.below(4), false, false, -1, 0};
    if (policy_ == 3 || draw.below(5) != 0) {
      p.zero = 1 + draw.below(3);
      p.exponent = highest_product() - 2 * draw.below(8);
    }
    return p;
  }

  HOST_DEVICE constexpr Plan overflow_plan(Draw& draw, int slot) const {
    Plan p{reference_ - draw.below(3), false, false, -1, 0};
    const int reach = highest_product();
    if (policy_ == 3 && reach > reference_) {
      p.exponent = draw.in(reference_, reach);
      p.pair = slot / 2;
      p.negative_b = slot % 2 != 0;
      Draw pair(key(4, slot / 2, 2));
      p.exponent = pair.in(reference_, reach);
    }
    return p;
  }

  // 2^E0 + half a step of D + a tail at the last bit kept.
  HOST_DEVICE constexpr Plan tie_plan(Draw& draw, int slot, int kept) const {
    Plan p{reference_, true, false, -1, 0};
    const OutputFormat out = output_format(traits_.conversion);
    if (slot == 0) return p;
    if (slot == 1)
      p.exponent = reference_ - out.significant_bits;
    else if (slot == 2)
      p.exponent = reference_ - kept + draw.in(-2, 2);
    else if (slot == 3 && policy_ != 0)
      p.exponent = reference_ - out.significant_bits + 1;
    else
      p.zero = 1 + draw.below(2);
    return p;
  }

  // A's share of a product's exponent before scaling; now and then the factor is a subnormal.
  HOST_DEVICE constexpr int share_of_a(int exponent, int slot) const {
    const ExponentRange a = exponent_range(types_.a);
    const ExponentRange b = exponent_range(types_.b);
    int low = exponent - b.highest;
    int high = exponent - b.lowest;
    if (low < a.lowest) low = a.lowest;
    if (high > a.highest) high = a.highest;
    if (low > high) return exponent < 0 ? a.lowest : a.highest;
    Draw draw(key(5, slot, 0));
    if (!draw.one_in(4)) {
      // Both factors normal where that is possible.
      const int normal_low = low > a.normal ? low : a.normal;
      const int normal_high = exponent - b.normal < high ? exponent - b.normal : high;
      if (normal_low <= normal_high) return draw.in(normal_low, normal_high);
    }
    return draw.in(low, high);
  }

  HOST_DEVICE constexpr std::uint32_t float_operand(Type type, int role, int major, int slot,
                                                    Draw& draw) const {
    const Plan p = plan(slot);
    const int unscaled = p.exponent - scale_exponent_;
    const int a_share = share_of_a(unscaled, p.pair >= 0 ? 1000 + p.pair : slot);
    const int exponent = role == 0 ? a_share : unscaled - a_share;
    const bool negative = sign(role, slot, draw);
    if ((p.zero == 1 && role == 0) || (p.zero == 2 && role == 1) || p.zero == 3)
      return make_float(type, -100000, Fraction::Zero, negative, draw);
    if (class_ == MixtureClass::Specials && draw.one_in(slot == 0 ? 2 : 4 * k_))
      return special(type, negative, draw);
    Fraction fraction = static_cast<Fraction>(draw.below(4));
    const bool main_of_tie = class_ == MixtureClass::OutputTies && slot == 0 && role == 0;
    if (p.exact && !main_of_tie) fraction = Fraction::Zero;
    if (class_ == MixtureClass::Headroom) fraction = Fraction::Ones;
    if (p.pair < 0) return make_float(type, exponent, fraction, negative, draw);
    return paired(type, role, major, slot, p, exponent);
  }

  // Both slots of a pair draw the same bits per row or column; one pair in four is off by one ulp.
  HOST_DEVICE constexpr std::uint32_t paired(Type type, int role, int major, int slot,
                                             const Plan& p, int exponent) const {
    Draw shared(key(6 + role, major, p.pair));
    const bool negative = shared.one_in(2);
    std::uint32_t word =
        make_float(type, exponent, static_cast<Fraction>(shared.below(4)), negative, shared);
    if (role == 1 && p.negative_b) word ^= sign_bit(type);
    const bool off = role == 0 && slot % 2 != 0 && Draw(key(8, p.pair, 0)).one_in(4);
    return off ? word ^ (1u << float_format(type).ignored_low_bits) : word;
  }

  HOST_DEVICE constexpr bool sign(int role, int slot, Draw& draw) const {
    const bool slot_sign = Draw(key(9, slot, 0)).one_in(2);
    if (class_ == MixtureClass::Headroom) return role == 1 && policy_ % 2 != 0;
    if (class_ == MixtureClass::Zeros && policy_ != 2)
      return role == 0 ? slot_sign : slot_sign != (policy_ != 1);
    return draw.one_in(2);
  }

  // Infinity (e4m3 has none: zero), NaN now and then, zero, the smallest subnormal.
  HOST_DEVICE constexpr std::uint32_t special(Type type, bool negative, Draw& draw) const {
    const std::uint32_t sign = negative ? sign_bit(type) : 0;
    const int choice = draw.below(8);
    if (choice == 0) return sign | infinity_of(type) | draw.word() >> (33 - bits(type));
    if (choice < 4 && float_format(type).specials == Specials::Ieee)
      return sign | infinity_of(type);
    return choice < 6 ? sign : sign | 1u << float_format(type).ignored_low_bits;
  }

  HOST_DEVICE constexpr std::uint32_t float_c(Draw& draw) const {
    const Type d = types_.d;
    const ExponentRange range = exponent_range(d);
    const int kept = product_fraction_bits();
    const bool negative = draw.one_in(2);
    const std::uint32_t zero = negative ? sign_bit(d) : 0;
    const auto fraction = static_cast<Fraction>(draw.below(4));
    switch (class_) {
      case MixtureClass::UniformBits: return draw.word() >> (32 - bits(d));
      case MixtureClass::Normal:
        return draw.one_in(2)
                   ? zero
                   : make_float(d, reference_ + 2 - draw.below(5), fraction, negative, draw);
      case MixtureClass::Cluster:
        if (draw.one_in(4)) return zero;
        return make_float(d, reference_ + 1 - draw.below(kept + 5), fraction, negative, draw);
      case MixtureClass::Cancel:
        if (draw.one_in(2)) return zero;
        return make_float(d, reference_ - kept + draw.in(-3, 3), fraction, negative, draw);
      case MixtureClass::Floor:
      case MixtureClass::Zeros:
        if (!draw.one_in(3)) return zero;
        return zero | (draw.word() & 7) << (draw.one_in(2) ? ulp_shift() : 0);
      case MixtureClass::Overflow:
        if (policy_ == 3 && draw.one_in(2)) return zero | infinity_of(d);
        return make_float(d, range.highest - draw.below(3), fraction, negative, draw);
      case MixtureClass::CGap:
        return make_float(d, reference_ + draw.in(-kept - 3, kept + 3), fraction, negative, draw);
      case MixtureClass::Specials:
        if (draw.one_in(8)) return special(d, negative, draw);
        return make_float(d, reference_ - draw.below(kept), fraction, negative, draw);
      case MixtureClass::OutputTies: return zero;
      case MixtureClass::Headroom:
        return make_float(d, reference_, Fraction::Ones, policy_ % 2 != 0, draw);
    }
    return zero;
  }

  HOST_DEVICE constexpr std::uint32_t integer_operand(Type type, Draw& draw) const {
    if (type == Type::b1) {
      if (class_ == MixtureClass::Headroom) return 1;
      return draw.one_in(class_ == MixtureClass::Zeros ? 16 : 2) ? 1 : 0;
    }
    if (class_ == MixtureClass::Headroom || class_ == MixtureClass::Overflow) {
      const std::uint32_t extremes = draw.below(2) != 0 ? 0x7f80u : 0xff01u;
      return draw.one_in(2) ? extremes >> 8 : extremes & 0xffu;
    }
    if (class_ == MixtureClass::Zeros && draw.below(5) != 0) return 0;
    return draw.word() >> 24;
  }

  HOST_DEVICE constexpr std::uint32_t integer_c(Draw& draw) const {
    // So near the limits that sums of K products cross them now and then.
    const std::uint32_t near = draw.word() >> (types_.a == Type::b1 ? 24 : draw.in(12, 16));
    switch (policy_) {
      case 0: return draw.word();
      case 1: return 0x7fffffffu - near;
      case 2: return 0x80000000u + near;
      default: return draw.one_in(2) ? 0 : 0xffffffffu - near + 0x80000u;
    }
  }

  DotTypes types_;
  DotTraits traits_;
  int scale_exponent_;
  int k_;
  MixtureClass class_;
  std::uint64_t seed_;
  int shuffle_multiplier_ = 1;
  int shuffle_offset_ = 0;
  int policy_ = 0;
  int pairs_ = 1;
  int reference_ = 0;
};

// The weighted choice: percent per class in the order of MixtureClass.
HOST_DEVICE constexpr MixtureClass mixture_class(std::uint64_t seed) {
  constexpr int unit = 100;
  const int at = Draw(seed ^ 0x5bd1e995).below(unit);
  if (at < 5) return MixtureClass::UniformBits;
  if (at < 10) return MixtureClass::Normal;
  if (at < 25) return MixtureClass::Cluster;
  if (at < 45) return MixtureClass::Cancel;
  if (at < 65) return MixtureClass::Floor;
  if (at < 75) return MixtureClass::Zeros;
  if (at < 80) return MixtureClass::Overflow;
  if (at < 85) return MixtureClass::CGap;
  if (at < 90) return MixtureClass::Specials;
  if (at < 95) return MixtureClass::OutputTies;
  return MixtureClass::Headroom;
}

}  // namespace tcq
