// How well the inputs of sim/num/inputs/mixture.h tell rival models of the arithmetic apart: for every
// float kind and every rule that can be observed, the weighted mixture must differ often enough.
// The tables it prints are rates per million outputs. Rivals: tests/num/rivals.h.
#include "sim/num/inputs/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/sparse.h"
#include "sim/num/dot.h"
#include "tests/num/rivals.h"
#include "tests/support/effort.h"

namespace tcq {
namespace {

using rivals::Model;
using rivals::Rule;
using rivals::Term;

constexpr int sub_rows = 16;
constexpr int sub_cols = 8;
constexpr int least_per_million = 300;

struct Kind {
  DotTypes types;
  std::string text() const {
    return std::string(name(types.d)) + "." + name(types.a) + "." + name(types.b);
  }
};

std::vector<Kind> float_kinds() {
  std::vector<Kind> kinds;
  for (const Type d : {Type::f32, Type::f16})
    for (int a = 0; a < type_count; ++a)
      for (int b = 0; b < type_count; ++b)
        if (wgmma::types_exist(d, static_cast<Type>(a), static_cast<Type>(b)))
          kinds.push_back({{d, static_cast<Type>(a), static_cast<Type>(b)}});
  return kinds;
}

// The rates of every rule, and those of the model against dot() in the entry of Rule::None.
using Rates = std::array<double, rivals::rule_count>;

struct Detection {
  Rates total{};
  std::array<Rates, mixture_class_count> by_class{};
  std::array<int, mixture_class_count> class_tiles{};
};

// Operands of one sub-tile: for every output the products that take part.
struct Operands {
  std::vector<std::uint32_t> a;  // [row][k]
  std::vector<std::uint32_t> b;  // [row][col][k], as row selects them
};

Operands draw_operands(const DotTypes& types, const Mixture& mixture, bool sparse) {
  const int k = wgmma::stored_k(types.a);
  const int per_chunk = wgmma::stored_per_chunk(types.a);
  Operands drawn;
  for (int row = 0; row < sub_rows; ++row) {
    for (int i = 0; i < k; ++i) drawn.a.push_back(mixture.a(row, i));
    for (int col = 0; col < sub_cols; ++col) {
      for (int i = 0; i < k; ++i) {
        const int chunk = i / per_chunk;
        const std::uint32_t code = sparse ? mixture.metadata_code(row, chunk) : 0;
        const int at = sparse ? wgmma::logical_k(types.a, chunk, code, i % per_chunk) : i;
        drawn.b.push_back(sparse ? mixture.sparse_b(col, at) : mixture.b(col, at));
      }
    }
  }
  return drawn;
}

std::vector<Decoded> decode_all(Type type, const std::vector<std::uint32_t>& words) {
  std::vector<Decoded> decoded;
  for (const std::uint32_t word : words) decoded.push_back(decode_float(type, word));
  return decoded;
}

void count_tile(const DotTypes& types, const Mixture& mixture, bool sparse, Rates& differ) {
  const auto k = static_cast<std::size_t>(wgmma::stored_k(types.a));
  const Operands drawn = draw_operands(types, mixture, sparse);
  const std::vector<Decoded> a = decode_all(types.a, drawn.a);
  const std::vector<Decoded> b = decode_all(types.b, drawn.b);
  for (int output = 0; output < sub_rows * sub_cols; ++output) {
    const int row = output / sub_cols;
    const std::uint32_t c = mixture.c(row, output % sub_cols);
    const std::size_t at_a = static_cast<std::size_t>(row) * k;
    const std::size_t at_b = static_cast<std::size_t>(output) * k;
    const std::uint32_t truth = dot(types, &drawn.a[at_a], &drawn.b[at_b], static_cast<int>(k), c);
    const std::span<const Decoded> row_a = std::span(a).subspan(at_a, k);
    const std::span<const Decoded> col_b = std::span(b).subspan(at_b, k);
    const Decoded decoded_c = decode_float(types.d, c);
    const std::vector<Term> terms = Model{types}.terms(row_a, col_b, decoded_c);
    for (int r = 0; r < rivals::rule_count; ++r) {
      const Model model{types, static_cast<Rule>(r)};
      const std::uint32_t answer =
          model.changes_terms() ? model(model.terms(row_a, col_b, decoded_c)) : model(terms);
      differ[static_cast<std::size_t>(r)] += answer != truth;
    }
  }
}

Detection detect(const DotTypes& types, int tiles, bool sparse) {
  Detection found;
  for (int tile = 0; tile < tiles; ++tile) {
    const auto seed = static_cast<std::uint64_t>(tile) * 7919 + 12345;
    const MixtureClass c = mixture_class(seed);
    const auto index = static_cast<std::size_t>(c);
    Rates differ{};
    count_tile(types, Mixture(types, wgmma::stored_k(types.a), c, seed), sparse, differ);
    ++found.class_tiles[index];
    for (std::size_t r = 0; r < differ.size(); ++r) {
      found.total[r] += differ[r];
      found.by_class[index][r] += differ[r];
    }
  }
  return found;
}

struct Best {
  std::size_t index = 0;
  double rate = 0;
};

Best best_class(const Detection& found, std::size_t rule) {
  Best best;
  for (std::size_t c = 0; c < found.by_class.size(); ++c) {
    const double outputs = found.class_tiles[c] * sub_rows * sub_cols;
    if (outputs != 0 && found.by_class[c][rule] / outputs > best.rate)
      best = {c, found.by_class[c][rule] / outputs};
  }
  return best;
}

// Prints the table of one kind and expects every observable rule to be seen, no other.
void expect_detection(const Kind& kind, int tiles, bool sparse) {
  const Detection found = detect(kind.types, tiles, sparse);
  const int outputs = tiles * sub_rows * sub_cols;
  std::printf("%s%s, %d outputs\n", kind.text().c_str(), sparse ? " (sparse)" : "", outputs);
  for (std::size_t r = 0; r < found.total.size(); ++r) {
    const auto rule = static_cast<Rule>(r);
    const double rate = found.total[r] * 1e6 / outputs;
    if (rule == Rule::None || !rivals::observable(kind.types, rule)) {
      EXPECT_EQ(rate, 0) << kind.text() << ": " << name(rule);
      continue;
    }
    const Best best = best_class(found, r);
    std::printf("  %-26s %8.0f per million, %8.0f in %s\n", name(rule), rate, best.rate * 1e6,
                name(static_cast<MixtureClass>(best.index)));
    if (tests::sanitized) continue;
    EXPECT_GE(rate, least_per_million) << kind.text() << ": " << name(rule);
  }
}

class MixtureDetects : public testing::TestWithParam<Kind> {};

TEST_P(MixtureDetects, EveryRivalThatCanBeObserved) {
  expect_detection(GetParam(), tests::effort(500), false);
}

TEST_P(MixtureDetects, EveryRivalThatCanBeObservedWithSparseA) {
  expect_detection(GetParam(), tests::effort(250), true);
}

INSTANTIATE_TEST_SUITE_P(AllFloatKinds, MixtureDetects, testing::ValuesIn(float_kinds()),
                         [](const testing::TestParamInfo<Kind>& info) {
                           std::string text = info.param.text();
                           for (char& c : text)
                             if (c == '.') c = '_';
                           return text;
                         });

// --- the bell -------------------------------------------------------------------------------------

TEST(Bell, IsBalancedFiniteAndAboutOneWide) {
  for (const Type type : {Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::e5m2, Type::e2m3,
                          Type::e3m2, Type::e2m1}) {
    Draw draw(3);
    int negative = 0, near_one = 0, values = 0;
    for (int i = 0; i < 10000; ++i) {
      const Decoded x = decode_float(type, bell(type, draw));
      ASSERT_FALSE(is_special(x.kind)) << name(type);
      if (x.kind == Class::Zero) continue;
      ++values;
      EXPECT_LE(x.exponent, 2);
      negative += x.negative ? 1 : 0;
      near_one += x.exponent >= -2 ? 1 : 0;
    }
    EXPECT_NEAR(negative, values / 2, 300) << name(type);
    EXPECT_GT(near_one, values * 3 / 4) << name(type);
    EXPECT_GT(values, 6000) << name(type);
  }
}

TEST(Bell, IntegersAreAllValues) {
  Draw draw(4);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 10000; ++i) seen.insert(bell(Type::s8, draw));
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_EQ(*seen.rbegin(), 255u);
}

// --- integers ------------------------------------------------------------------------------------

std::int64_t products(const DotTypes& types, const Mixture& mixture, int row, int col, int begin,
                      int end) {
  std::int64_t sum = 0;
  for (int k = begin; k < end; ++k)
    sum += std::int64_t{decode_integer(types.a, mixture.a(row, k))} *
           decode_integer(types.b, mixture.b(col, k));
  return sum;
}

std::int64_t clamped(std::int64_t sum) {
  return decode_integer(Type::s32, finish_integer(sum, true));
}

struct IntegerRates {
  int overflows = 0;  // clamping and wrapping differ
  int halves = 0;     // clamping each half of K differs from clamping once
  int outputs = 0;
};

IntegerRates integer_rates(const DotTypes& types) {
  IntegerRates rates;
  const int k = wgmma::stored_k(types.a);
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Mixture mixture(types, k, mixture_class(seed), seed);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 8; ++col) {
        const std::int64_t c = decode_integer(Type::s32, mixture.c(row, col));
        const std::int64_t first = products(types, mixture, row, col, 0, k / 2);
        const std::int64_t sum = c + first + products(types, mixture, row, col, k / 2, k);
        rates.overflows += clamped(sum) != sum;
        rates.halves += clamped(clamped(c + first) + sum - first - c) != clamped(sum);
        ++rates.outputs;
      }
    }
  }
  return rates;
}

TEST(MixtureOfIntegers, OverflowsBothWaysOfReadingTheSum) {
  for (const Type a : {Type::s8, Type::u8, Type::b1}) {
    for (const Type b : {Type::s8, Type::u8, Type::b1}) {
      if (!wgmma::types_exist(Type::s32, a, b)) continue;
      const IntegerRates rates = integer_rates({Type::s32, a, b});
      const double overflows = rates.overflows * 1e6 / rates.outputs;
      const double halves = rates.halves * 1e6 / rates.outputs;
      std::printf("s32.%s.%s: overflow %.0f, halves clamped %.0f per million\n", name(a), name(b),
                  overflows, halves);
      EXPECT_GE(overflows, 10 * least_per_million);
      const bool has_sign = a == Type::s8 || b == Type::s8;
      EXPECT_GE(halves, has_sign ? least_per_million : 0);
    }
  }
}

// --- the mixture itself --------------------------------------------------------------------------

TEST(Mixture, IsAPureFunctionOfSeedAndPosition) {
  constexpr DotTypes types{Type::f32, Type::bf16, Type::bf16};
  constexpr Mixture mixture(types, 16, MixtureClass::Cancel, 42);
  static_assert(mixture.a(3, 5) == Mixture(types, 16, MixtureClass::Cancel, 42).a(3, 5));
  static_assert(mixture.c(3, 5) == Mixture(types, 16, MixtureClass::Cancel, 42).c(3, 5));
  static_assert(mixture.a(3, 5) != Mixture(types, 16, MixtureClass::Cancel, 43).a(3, 5));
}

TEST(Mixture, DrawsEveryClass) {
  std::array<int, mixture_class_count> seen{};
  for (std::uint64_t seed = 0; seed < 4000; ++seed)
    ++seen[static_cast<std::size_t>(mixture_class(seed))];
  for (std::size_t c = 0; c < seen.size(); ++c)
    EXPECT_GE(seen[c], 4000 / 25) << name(static_cast<MixtureClass>(c));
}

TEST(Mixture, MetadataCodesAreDefinedAndAllOfThemOccur) {
  for (const Type a : {Type::f16, Type::tf32, Type::e4m3}) {
    std::array<bool, 16> seen{};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Mixture mixture({Type::f32, a, a}, wgmma::stored_k(a), MixtureClass::Normal, seed);
      for (int row = 0; row < 8; ++row) {
        const std::uint32_t code = mixture.metadata_code(row, row);
        EXPECT_EQ(wgmma::check_metadata(a, code), Fault::None) << code;
        seen[code] = true;
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), a == Type::tf32 ? 2 : 6);
  }
}

TEST(Mixture, WordsHaveNoBitsBeyondTheirType) {
  for (const Kind& kind : float_kinds()) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const Mixture mixture(kind.types, wgmma::stored_k(kind.types.a), mixture_class(seed), seed);
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(std::uint64_t{mixture.a(i, i)} >> bits(kind.types.a), 0u);
        EXPECT_EQ(std::uint64_t{mixture.b(i, i)} >> bits(kind.types.b), 0u);
        EXPECT_EQ(std::uint64_t{mixture.c(i, i)} >> bits(kind.types.d), 0u);
      }
    }
  }
}

}  // namespace
}  // namespace tcq
