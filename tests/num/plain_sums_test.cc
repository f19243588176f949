// Sums in f64 and of f32 multiply-adds, beside one loop for each sum, on every set of vector instructions.
#include "sim/num/fast/plain_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/num/fast_subject.h"

namespace tcq::fast {
namespace {

// Neighbours of 1, or any word at all: subnormals, infinities, NaN.
float element(bool any, std::mt19937& random) {
  const auto word = static_cast<std::uint32_t>(random());
  return std::bit_cast<float>(any ? word : (word & 0x807fffff) | (124 + word % 7) << 23);
}

float defined_sum(PlainSum sum, const std::vector<float>& row, const float* column) {
  double wide = 0;
  float narrow = 0;
  for (const float a : row) {
    const double product = static_cast<double>(a) * static_cast<double>(*column);
    wide += product;
    narrow = std::fma(a, *column, narrow);
    column += plain_columns;
  }
  return sum == PlainSum::Float64 ? static_cast<float>(wide) : narrow;
}

TEST(PlainSums, EqualOneLoopForEachSum) {
  std::mt19937 random(drawing_seed());
  for (int i = 0; i < 400; ++i) {
    const auto k = static_cast<std::size_t>(random() % 100);
    const bool any = i % 4 == 0;
    std::vector<float> row(k);
    std::vector<float> panel(k * plain_columns);
    for (float& x : row) x = element(any, random);
    for (float& x : panel) x = element(any, random);
    for (const PlainSum sum : {PlainSum::Float64, PlainSum::Fma})
      on_every_target([&](const std::string& target) {
        std::vector<float> d(plain_columns);
        sum_plain(sum, row.data(), panel.data(), static_cast<std::int64_t>(k), d.data());
        for (std::size_t col = 0; col < d.size(); ++col) {
          const float want = defined_sum(sum, row, k == 0 ? nullptr : panel.data() + col);
          if (std::isnan(want))
            ASSERT_TRUE(std::isnan(d[col])) << target;
          else
            ASSERT_EQ(std::bit_cast<std::uint32_t>(d[col]), std::bit_cast<std::uint32_t>(want))
                << target << ", sum " << static_cast<int>(sum) << ", K " << k;
        }
      });
  }
}

}  // namespace
}  // namespace tcq::fast
