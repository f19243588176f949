#include "sim/isa/base/divisor.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace tcq {
namespace {

TEST(Divisor, DividesAsDivisionDoes) {
  constexpr int most = std::numeric_limits<int>::max();
  std::mt19937 random(5);
  std::vector<int> values = {1, 2, 3, 7, 64, 65, 65535, 65536, 65537, most / 2, most / 2 + 1, most};
  for (unsigned i = 0; i < 200; ++i)
    values.push_back(static_cast<int>(random() >> (1 + i % 30)) | 1);
  for (const int value : values) {
    const Divisor divisor(value);
    for (std::int64_t i = 0; i < 2000; ++i) {
      const std::int64_t multiple =
          most / value * i / 2000 * value;  // beside them a wrong bit shows
      const auto any = static_cast<std::int64_t>(random() >> 1);
      for (const std::int64_t n : {multiple - 1, multiple, multiple + i, any}) {
        if (n < 0 || n > most) continue;
        ASSERT_EQ(divisor.quotient(static_cast<int>(n)), n / value) << n << " / " << value;
      }
    }
  }
}

TEST(Divisor, RemaindersOfPowersOfTwo) {
  for (const int power : {1, 2, 16, 128, 1 << 20})
    for (const int n : {0, 1, 15, 16, 127, 128, 1000003, INT32_MAX})
      EXPECT_EQ(remainder_of_power(n, power), n % power) << n << ", " << power;
}

TEST(Divisor, WithoutANumberItIsOne) {
  EXPECT_EQ(Divisor().quotient(48), 48);
  EXPECT_EQ(Divisor(0).quotient(48), 48);
}

}  // namespace
}  // namespace tcq
