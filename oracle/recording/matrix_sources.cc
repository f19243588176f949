#include "oracle/recording/matrix_sources.h"

#include <utility>

#include "oracle/recording/float_words.h"
#include "sim/isa/base/mma_fragment.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::oracle {
namespace {

using Word = std::uint64_t;

constexpr int warp_size = warp_mma::lanes;
constexpr int case_warps = 128;      // of a case's rows
constexpr int mixed_warps = 96;      // the others ask for groups
constexpr int wide_tile = 0x100000;  // apart from every k

// The matrices of one warp, element by element.
struct Place {
  int row, col;
};

// What element `at` of matrix `role` is drawn with.
std::uint64_t key_of(std::uint64_t seed, int role, Place at) {
  return seed ^ mix(static_cast<std::uint64_t>(role * wide_tile + at.row * 0x1000 + at.col));
}

// The type of elements among those of sim/isa; s4 and u4 are none.
Type element_type(ptx::Type type) {
  switch (type) {
    case ptx::Type::F16: return Type::f16;
    case ptx::Type::BF16: return Type::bf16;
    case ptx::Type::TF32: return Type::tf32;
    case ptx::Type::E4M3: return Type::e4m3;
    case ptx::Type::E5M2: return Type::e5m2;
    case ptx::Type::F32: return Type::f32;
    default: return Type::s32;
  }
}

// ---- floats of up to 32 bits ----------------------------------------------------------------------

// Which sums keep a small product: see the head of the header.
class Groups {
 public:
  Groups(const DotTypes& types, int k, std::uint64_t seed)
      : types_(types), k_(k), seed_(mix(seed)) {
    Draw draw(seed_);
    first_ = draw.below(k);
    second_ = (first_ + draw.in(1, k - 1)) % k;
    least_ = draw.in(2, 8);
    many_ = draw.one_in(2);
    with_c_ = draw.one_in(3);
    only_ = draw.below(k);
  }

  Word a(Place at) const {
    Draw draw(key_of(seed_, 0, at));
    if (at.col == first_) return power(types_.a, large, at.row % 2 != 0);
    if (at.col == second_) return with_c_ ? 0 : power(types_.a, large, at.row % 2 == 0);
    const bool is_small = many_ ? draw.one_in(2) : at.col == only_;
    const auto fraction = static_cast<Fraction>(draw.below(4));
    return is_small ? make_float(types_.a, 0, fraction, draw.one_in(2), draw) : 0;
  }
  Word b(Place at) const {
    if (at.row == first_ || at.row == second_) return power(types_.b, raised, false);
    return power(types_.b, -least_ - at.col, false);
  }
  Word c(Place at) const {
    if (with_c_) return power(types_.d, large + raised, at.row % 2 == 0);
    Draw draw(key_of(seed_, 2, at));
    if (draw.one_in(2)) return 0;
    const bool negative = draw.one_in(2);
    return power(types_.d, -draw.in(0, 12), negative);
  }

 private:
  static constexpr int large = 8, raised = 4;

  static Word power(Type type, int exponent, bool negative) {
    Draw none(0);
    return make_float(type, exponent, Fraction::Zero, negative, none);
  }

  DotTypes types_;
  int k_;
  std::uint64_t seed_;
  int first_, second_, least_, only_;
  bool many_, with_c_;
};

// FP8 is summed as f16 or as FP8 of wgmma is: drawn for both.
DotTraits traits_of(const DotTypes& types, int warp) {
  const bool is_narrow = bits(types.a) == 8 && warp % 2 != 0;
  return wgmma_dot_traits(types.d, is_narrow ? Type::f16 : types.a);
}

class Floats {
 public:
  Floats(const DotTypes& types, int k, int warp, std::uint64_t seed)
      : asks_(warp >= mixed_warps),
        mixture_(types, k, static_cast<MixtureClass>(warp % mixture_class_count), seed,
                 traits_of(types, warp)),
        groups_(types, k, seed) {}

  Word a(Place at) const { return asks_ ? groups_.a(at) : mixture_.a(at.row, at.col); }
  Word b(Place at) const { return asks_ ? groups_.b(at) : mixture_.b(at.col, at.row); }
  Word c(Place at) const { return asks_ ? groups_.c(at) : mixture_.c(at.row, at.col); }

 private:
  bool asks_;
  Mixture mixture_;
  Groups groups_;
};

// ---- f64 ----------------------------------------------------------------------------------------

class Doubles {
 public:
  Doubles(int warp, std::uint64_t seed) : kind_(warp % 4), seed_(mix(seed)) {}

  Word a(Place at) const { return value(0, at); }
  Word b(Place at) const { return value(1, at); }
  Word c(Place at) const { return value(2, at); }

 private:
  Word value(int role, Place at) const {
    Draw draw(key_of(seed_, role, at));
    constexpr int drawn = 3;
    if (kind_ == drawn) return draw_float(f64_words, draw);
    constexpr int spans[] = {2, 30, 120};
    const Word sign = draw.one_in(2) ? f64_words.sign() : 0;
    const Word fraction = draw.one_in(3) ? 0 : word64(draw) & f64_words.fraction();
    return sign | f64_words.at(-draw.below(spans[kind_])) | fraction;
  }

  int kind_;
  std::uint64_t seed_;
};

// ---- integers -----------------------------------------------------------------------------------

class Integers {
 public:
  Integers(int width, int warp, std::uint64_t seed)
      : width_(width), kind_(warp % 4), seed_(mix(seed)) {}

  Word a(Place at) const { return element(0, at); }
  Word b(Place at) const { return element(1, at); }
  // So near the limits that sums cross them now and then.
  Word c(Place at) const {
    Draw draw(key_of(seed_, 2, at));
    const std::uint32_t near = draw.word() >> draw.in(width_ == 1 ? 22 : 12, 26);
    switch (draw.below(4)) {
      case 0: return draw.word();
      case 1: return 0x7fffffffu - near;
      case 2: return 0x80000000u + near;
      default: return near;
    }
  }

 private:
  Word element(int role, Place at) const {
    Draw draw(key_of(seed_, role, at));
    const Word drawn = draw.word() & low_word(width_);
    const Word least = Word{1} << (width_ - 1);
    if (kind_ == 1) return draw.one_in(2) ? least : least - 1;
    if (kind_ == 2) return draw.one_in(2) ? least : low_word(width_);
    return kind_ == 3 && !draw.one_in(4) ? 0 : drawn;
  }

  int width_, kind_;
  std::uint64_t seed_;
};

// ---- lanes --------------------------------------------------------------------------------------

// Register `reg` of a fragment whose elements are `width` bits wide.
template <class At>
Word fragment_word(int width, int lane, int reg, At at) {
  Word word = 0;
  for (int part = 0; part < warp_mma::parts(width); ++part)
    word |= at(warp_mma::Slot{lane, reg, part}) << (width * part);
  return word;
}

template <class Matrices>
void put(const alu::ScalarForm& s, int lane, const Matrices& x, std::span<Word> out) {
  const int m = s.form.shape[0];
  const int width = ptx::bits(s.form.types[1]);
  const int sum_width = ptx::bits(s.form.types[0]);
  auto next = out.begin();
  const auto places = [](warp_mma::Element e) { return Place{e.row, e.col}; };
  for (int reg = 0; reg < s.vectors[1]; ++reg)
    *next++ = fragment_word(width, lane, reg, [&](warp_mma::Slot slot) {
      return x.a(places(warp_mma::a_element(m, width, slot)));
    });
  for (int reg = 0; reg < s.vectors[2]; ++reg)
    *next++ = fragment_word(width, lane, reg, [&](warp_mma::Slot slot) {
      return x.b(places(warp_mma::b_element(width, slot)));
    });
  for (int reg = 0; reg < s.vectors[3]; ++reg)
    *next++ = fragment_word(sum_width, lane, reg, [&](warp_mma::Slot slot) {
      return x.c(places(warp_mma::d_element(sum_width, slot)));
    });
}

}  // namespace

void draw_fragments(const alu::ScalarForm& s, std::uint64_t seed, std::uint32_t row,
                    std::span<Word> out) {
  const int lane = static_cast<int>(row) % warp_size;
  const int warp = static_cast<int>(row) / warp_size % case_warps;
  const std::uint64_t key = mix(seed + static_cast<std::uint64_t>(row / warp_size));
  const auto& types = s.form.types;
  const int width = ptx::bits(types[1]);
  if (types[1] == ptx::Type::F64) return put(s, lane, Doubles(warp, key), out);
  if (element_type(types[1]) == Type::s32) return put(s, lane, Integers(width, warp, key), out);
  const DotTypes t{element_type(types[0]), element_type(types[1]), element_type(types[2])};
  put(s, lane, Floats(t, s.form.shape[2], warp, key), out);
}

}  // namespace tcq::oracle
