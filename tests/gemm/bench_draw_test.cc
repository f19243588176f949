// The shapes of bench_gemm --draw: a pure function of the seed, spread as its header says.
#include "tools/bench_draw.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tcq::tools {
namespace {

TEST(BenchDraw, ALongerDrawBeginsWithAShorterOne) {
  const std::vector<Shape> many = drawn_shapes(7, 100);
  const std::vector<Shape> few = drawn_shapes(7, 40);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(drawn_shapes(8, 40), few);
}

TEST(BenchDraw, EachDecadeOfRowsAndEachKindOfSizeIsDrawn) {
  int few = 0, middle = 0, many = 0, odd = 0;
  const std::vector<Shape> shapes = drawn_shapes(1, 1000);
  for (const Shape& s : shapes) {
    ASSERT_TRUE(s.m >= 1 && s.m <= 16384) << name(s);
    ASSERT_TRUE(s.n >= 64 && s.n <= 57344 && s.k >= 64 && s.k <= 28672) << name(s);
    few += s.m <= 64;
    middle += s.m > 64 && s.m <= 1024;
    many += s.m > 1024;
    odd += s.k % 8 != 0 || s.n % 8 != 0;
  }
  // log2: 6 of 14, 4 of 14, 4 of 14; the rounding of M moves a little.
  EXPECT_NEAR(few, 429, 60);
  EXPECT_NEAR(middle, 286, 60);
  EXPECT_NEAR(many, 286, 60);
  EXPECT_NEAR(odd, 197, 50);
}

}  // namespace
}  // namespace tcq::tools
