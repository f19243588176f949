#include "oracle/recording/float_words.h"

#include <array>
#include <bit>
#include <cmath>

namespace tcq::oracle {
namespace {

using Word = std::uint64_t;

// Half-way between two neighbours of a narrower format, or one step beside it.
Word tie(const FloatWords& f, Draw& draw) {
  constexpr std::array kept_bits = {23, 10, 7, 3, 2, 1, 0};
  int kept = kept_bits[static_cast<std::size_t>(draw.below(kept_bits.size()))];
  kept = std::min(kept, f.fraction_bits - 1);
  const int dropped = f.fraction_bits - kept;
  const Word half = Word{1} << (dropped - 1);
  const Word fraction = (word64(draw) & f.fraction() & ~low_word(dropped)) | half;
  const int reach = draw.one_in(2) ? 20 : 40 + f.bias();
  const Word word = f.at(draw.in(-reach, reach)) | fraction;
  return word + static_cast<Word>(draw.in(-1, 1));
}

// Multiples of 1/2 up to the widest integers, and their neighbours.
Word near_integer(const FloatWords& f, Draw& draw) {
  const int exponent = draw.one_in(3) ? draw.in(-2, 66) : draw.in(-2, 18);
  const Word finest = low_word(std::clamp(f.fraction_bits - exponent - 1, 0, f.fraction_bits));
  const Word shape = draw.one_in(2) ? word64(draw) : draw.one_in(2) ? ~Word{0} : 0;
  const Word word = f.at(exponent) | (shape & f.fraction() & ~finest);
  return draw.one_in(2) ? word : word + static_cast<Word>(draw.in(-1, 1));
}

Word anywhere(const FloatWords& f, int reach, Draw& draw) {
  const Word fraction = draw.one_in(4)   ? 0
                        : draw.one_in(4) ? f.fraction()
                        : draw.one_in(4) ? Word{1} << draw.below(f.fraction_bits)
                                         : word64(draw) & f.fraction();
  return f.at(draw.in(-reach, reach)) | fraction;
}

double value_of(const FloatWords& f, Word x) {
  const int field = static_cast<int>((x & f.infinity()) >> f.fraction_bits);
  const Word hidden = field == 0 ? 0 : Word{1} << f.fraction_bits;
  const int exponent = std::max(field, 1) - f.bias() - f.fraction_bits;
  const double size = std::ldexp(static_cast<double>((x & f.fraction()) | hidden), exponent);
  return (x & f.sign()) != 0 ? -size : size;
}

}  // namespace

Word word64(Draw& draw) {
  const Word high = draw.word();
  return high * 0x100000000 + draw.word();
}

std::vector<Word> special_floats(const FloatWords& f) {
  const Word normal = Word{1} << f.fraction_bits, quiet = normal / 2;
  const Word one = f.one(), infinity = f.infinity();
  std::vector<Word> values = {0,
                              1,
                              normal / 2,
                              normal - 1,
                              normal,
                              normal + 1,
                              one - normal,
                              one - 1,
                              one,
                              one + 1,
                              one + quiet,
                              one + normal,
                              infinity - 1,
                              infinity,
                              infinity + 1,
                              infinity + quiet,
                              infinity + quiet + 5,
                              infinity + f.fraction()};
  for (std::size_t i = 0, count = values.size(); i < count; ++i)
    values.push_back(values[i] | f.sign());
  return values;
}

Word draw_float(const FloatWords& f, Draw& draw) {
  const auto made = [&]() -> Word {
    switch (draw.below(6)) {
      case 0: return word64(draw);
      case 1: return tie(f, draw);
      case 2: return near_integer(f, draw);
      case 3: return anywhere(f, f.bias() + 1, draw);
      case 4: return anywhere(f, f.fraction_bits, draw);
      default: return anywhere(f, 3, draw);
    }
  };
  const Word sign = draw.one_in(2) ? f.sign() : 0;
  return (made() & low_word(f.width())) ^ sign;
}

Word related_float(const FloatWords& f, Word x, Draw& draw) {
  switch (draw.below(5)) {
    case 0: return x;
    case 1: return x ^ f.sign();
    case 2: return x + static_cast<Word>(draw.in(-2, 2));
    case 3: return x ^ f.sign() ^ static_cast<Word>(draw.in(0, 3));
    default: {
      const int exponent = static_cast<int>((x & f.infinity()) >> f.fraction_bits) - f.bias();
      const Word y = f.at(exponent + draw.in(-f.fraction_bits - 3, f.fraction_bits + 3));
      return y | (word64(draw) & (f.fraction() | f.sign()));
    }
  }
}

Word cancelling(const FloatWords& f, Word x, Word y, Draw& draw) {
  const double product = -value_of(f, x) * value_of(f, y);
  if (!std::isnormal(product)) return draw_float(f, draw);
  const Word bits = std::bit_cast<Word>(product);
  const Word cut = (bits & f64_words.fraction()) >> (f64_words.fraction_bits - f.fraction_bits);
  const Word sign = (bits & f64_words.sign()) != 0 ? f.sign() : 0;
  return (sign | f.at(std::ilogb(product)) | cut) + static_cast<Word>(draw.in(-1, 1));
}

Word at_a_limit(const FloatWords& f, Word x, bool divides, Draw& draw) {
  const double limit = std::ldexp(1, draw.one_in(3) ? f.bias() + 1 : 1 - f.bias());
  const double y = divides ? value_of(f, x) / limit : limit / value_of(f, x);
  if (!std::isnormal(y)) return draw_float(f, draw);
  const Word bits = std::bit_cast<Word>(y);
  const Word cut = (bits & f64_words.fraction()) >> (f64_words.fraction_bits - f.fraction_bits);
  const Word sign = draw.one_in(2) ? f.sign() : 0;
  return (sign | f.at(std::ilogb(y)) | cut) + static_cast<Word>(draw.in(-2, 2));
}

}  // namespace tcq::oracle
