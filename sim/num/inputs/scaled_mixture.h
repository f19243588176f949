// Weighted operands of kind mxf8f6f4: a Mixture (mixture.h) whose products are moved by scale
// factors to where the arithmetic has its edges.
//
// A tile has one exponent that its scale factors add to every product; rows and columns split it,
// and now and then one is off by a little, or is 00, fe or ff. Example: in class Floor the products
// lie around 2^-149 although e4m3 alone never gets below 2^-18.
//
// Inferred: the classes follow the arithmetic in fused_sum.h; nothing here is a fact about
// hardware.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/num/dot_traits.h"
#include "sim/num/inputs/draw.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::tcgen05 {

class ScaledMixture {
 public:
  HOST_DEVICE constexpr ScaledMixture(const DotTypes& types, int k, MixtureClass mixture_class,
                                      std::uint64_t seed)
      : class_(mixture_class),
        seed_(mix(seed ^ 0x51ed270b)),
        exponent_(tile_exponent(types, mixture_class, seed)),
        base_(types, k, mixture_class, seed, tcgen05_dot_traits(Kind::mxf8f6f4, types.d),
              exponent_) {
    Draw draw(seed_);
    const int low = exponent_ > 0 ? exponent_ - 127 : -127;
    const int high = exponent_ < 0 ? exponent_ + 127 : 127;
    share_of_a_ = draw.in(low, high);
  }

  HOST_DEVICE constexpr std::uint32_t a(int row, int k) const { return base_.a(row, k); }
  HOST_DEVICE constexpr std::uint32_t b(int col, int k) const { return base_.b(col, k); }
  HOST_DEVICE constexpr std::uint32_t c(int row, int col) const { return base_.c(row, col); }
  HOST_DEVICE constexpr std::uint8_t scale_a(int row) const { return scale(0, row, share_of_a_); }
  HOST_DEVICE constexpr std::uint8_t scale_b(int col) const {
    return scale(1, col, exponent_ - share_of_a_);
  }

 private:
  static HOST_DEVICE constexpr int tile_exponent(const DotTypes& types, MixtureClass c,
                                                 std::uint64_t seed) {
    Draw draw(seed ^ 0x2545f491);
    const ExponentRange a = exponent_range(types.a);
    const ExponentRange b = exponent_range(types.b);
    const ExponentRange d = exponent_range(types.d);
    const DotTraits traits = tcgen05_dot_traits(Kind::mxf8f6f4, types.d);
    const int lowest_kept = traits.floor_exponent - traits.fraction_bits;
    switch (c) {
      case MixtureClass::Floor:  // the smallest products are near the last bit kept, or near D's
        return draw.one_in(4) ? d.lowest - draw.in(0, a.highest + b.highest)
                              : lowest_kept + draw.in(-4, 2) - a.lowest - b.lowest;
      case MixtureClass::Overflow: return d.highest - a.highest - b.highest + draw.in(-2, 12);
      case MixtureClass::UniformBits: return draw.in(-254, 254);
      default: return draw.in(d.lowest - a.lowest - b.lowest, d.highest - a.highest - b.highest);
    }
  }

  HOST_DEVICE constexpr std::uint8_t scale(int role, int major, int exponent) const {
    Draw draw(seed_ ^ mix(static_cast<std::uint64_t>(role + 1) * 0x10000 +
                          static_cast<std::uint64_t>(major)));
    const bool often = class_ == MixtureClass::Zeros || class_ == MixtureClass::Specials;
    if (draw.one_in(often ? 8 : 64)) {
      const int choice = draw.below(4);
      return static_cast<std::uint8_t>(choice == 0 ? 0x00 : choice == 1 ? 0xfe : 0xff);
    }
    if (class_ == MixtureClass::UniformBits) return static_cast<std::uint8_t>(draw.word() >> 24);
    const int code = exponent + 127 + (draw.one_in(8) ? draw.in(-3, 3) : 0);
    return static_cast<std::uint8_t>(code < 0 ? 0 : code > 254 ? 254 : code);
  }

  MixtureClass class_;
  std::uint64_t seed_;
  int exponent_;  // that the scale factors of a row and a column add
  Mixture base_;
  int share_of_a_ = 0;
};

}  // namespace tcq::tcgen05
