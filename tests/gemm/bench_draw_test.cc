// The shapes of bench_gemm --draw: a pure function of the seed, spread as its header says.
#include "tools/bench_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda/gemm/check.h"
#include "oracle/answer/answer.h"
#include "tools/bench_places.h"

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

TEST(BenchDraw, BatchesOfSmallProducts) {
  const std::vector<DrawnBatch> batches = drawn_batches(5, 1000);
  int few = 0, odd = 0;
  double least = 1e9, most = 0;
  for (const auto& [shape, products] : batches) {
    ASSERT_EQ(shape.m % products, 0) << name(shape);
    const Shape one = {shape.m / products, shape.n, shape.k};
    const std::int64_t elements = one.m * one.k + one.n * one.k + one.m * one.n;
    ASSERT_LT(elements * products, std::int64_t{1} << 28) << name(shape);
    for (const std::int64_t size : {one.m, one.n, one.k}) {
      ASSERT_TRUE(size >= 8 && size <= 512) << name(one);
      least = std::min(least, static_cast<double>(size));
      most = std::max(most, static_cast<double>(size));
    }
    few += products < 512;
    odd += (one.m | one.n | one.k) % 8 != 0;
  }
  EXPECT_EQ(least, 8);
  EXPECT_EQ(most, 512);
  EXPECT_NEAR(odd, 250, 60);
  EXPECT_NEAR(few, 520, 60);  // 500, and those that are halved
  EXPECT_EQ(drawn_batches(5, 10)[9].shape, batches[9].shape);
}

// Whose options are drawn besides.
TEST(BenchDraw, OptionsOfABatchThatIsDrawn) {
  std::set<std::string> drawn;
  for (int i = 0; i < 200; ++i) {
    const Shape shape{640, 48, 80};
    const Variant v = drawn_variant(6, i, shape, Type::bf16, 20);
    const gemm::Problem p = v.problem(shape, Type::bf16);
    ASSERT_EQ(gemm::check(p), gemm::Status::Ok) << v.name();
    EXPECT_EQ(p.batch, 20);
    EXPECT_EQ(p.m, 32);
    drawn.insert(v.majors);
    drawn.insert(v.epilogue);
  }
  EXPECT_GT(drawn.size(), 10u);
}

// What one draw has of batches, groups, pads and workspaces.
std::set<std::string> words_of(const Variant& v, Type in) {
  std::set<std::string> words;
  if (v.batch > 1) words.insert(v.shared_b ? "batch of one B" : "batch");
  if (v.groups > 0) words.insert(v.along_k ? "along K" : v.rows_by);
  if (v.pad > 0) words.insert(v.pad * bits(in) % 128 == 0 ? "pad" : "pad that TMA cannot address");
  if (!v.has_workspace) words.insert("no workspace");
  return words;
}

// Every one of them is drawn with every other, and all are problems.
TEST(BenchDraw, EachOptionWithEachOther) {
  const std::vector<Shape> shapes = drawn_shapes(3, 2000);
  for (const Type in : {Type::bf16, Type::f16, Type::tf32, Type::e4m3, Type::e5m2, Type::s8}) {
    std::set<std::string> pairs;
    for (int i = 0; i < 2000; ++i) {
      const Shape& shape = shapes[static_cast<std::size_t>(i)];
      const Variant v = drawn_variant(3, i, shape, in);
      const gemm::Problem p = v.problem(shape, in);
      ASSERT_EQ(gemm::check(p), gemm::Status::Ok) << v.name();
      std::set<std::string> options = words_of(v, in);
      if (p.has_bias) options.insert("bias");
      if (p.beta != 0) options.insert("c");
      if (p.activation != Activation::None) options.insert("activation");
      if (v.majors != "KK") options.insert("majors");
      if (v.batch_invariant) options.insert("invariant");
      if (!v.out.empty()) options.insert("out");
      if (is_fp8(in)) options.insert(v.scaling);
      for (const std::string& one : options)
        for (const std::string& other : options)
          if (one < other) pairs.insert(one + " " + other);
    }
    // All that there are: groups of rows of 8 bits are K-major, and of what excludes each other one is drawn.
    const std::size_t all = is_fp8(in) ? 161 : bits(in) == 16 ? 89 : in == Type::s8 ? 53 : 43;
    EXPECT_EQ(pairs.size(), all) << name(in);
  }
}

TEST(BenchDraw, BatchesGroupsPadsAndWorkspacesOfEachType) {
  const std::vector<Shape> shapes = drawn_shapes(4, 300);
  for (const Type in : {Type::bf16, Type::f16, Type::tf32, Type::e4m3, Type::e5m2, Type::s8,
                        Type::u8, Type::e2m1}) {
    std::map<std::string, int> drawn;
    for (int i = 0; i < 300; ++i) {
      Shape shape = shapes[static_cast<std::size_t>(i)];
      if (in == Type::e2m1) shape.k += shape.k % 2;
      const Variant v = drawn_variant(4, i, shape, in);
      const gemm::Problem p = v.problem(shape, in);
      ASSERT_EQ(gemm::check(p), gemm::Status::Ok) << v.name();
      ASSERT_TRUE(p.batch == 1 || operand_bytes(p) < 8.0 * 1024 * 1024 * 1024) << v.name();
      for (const std::string& word : words_of(v, in)) ++drawn[word];
    }
    std::vector<std::string> all = {"batch", "batch of one B", "pad", "pad that TMA cannot address",
                                    "no workspace"};
    const bool groups_rows = is_float(in) && in != Type::tf32;
    if (groups_rows) all.insert(all.end(), {"ends", "counts", "numbers"});
    if (groups_rows && in != Type::e2m1) all.push_back("along K");
    EXPECT_EQ(drawn.size(), all.size()) << name(in);
    for (const std::string& word : all) EXPECT_GT(drawn[word], 0) << name(in) << " " << word;
    EXPECT_NEAR(drawn["batch"] + drawn["batch of one B"], 60, 30) << name(in);
    EXPECT_NEAR(drawn["pad"] + drawn["pad that TMA cannot address"], 50, 25) << name(in);
    EXPECT_NEAR(drawn["no workspace"], 30, 20) << name(in);
  }
}

// e2m1 is nothing without factors, and has no problem of an odd K: that one is said to be none, in the end.
TEST(BenchDraw, OptionsOfE2m1) {
  std::set<std::string> scalings;
  for (int i = 0; i < 100; ++i) {
    const Shape shape{300, 256, 416};
    const Variant v = drawn_variant(3, i, shape, Type::e2m1);
    EXPECT_EQ(gemm::check(v.problem(shape, Type::e2m1)), gemm::Status::Ok) << v.name();
    scalings.insert(v.scaling);
  }
  EXPECT_EQ(scalings, (std::set<std::string>{"mx", "nv"}));
  const Shape odd{300, 256, 417};
  EXPECT_THROW(drawn_variant(3, 0, odd, Type::e2m1).problem(odd, Type::e2m1), oracle::UsageError);
}

TEST(BenchDraw, OptionsAreAFunctionOfTheSeed) {
  const Shape shape{128, 4096, 4096};
  EXPECT_EQ(drawn_variant(5, 7, shape, Type::e4m3).name(),
            drawn_variant(5, 7, shape, Type::e4m3).name());
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(drawn_variant(5, i, shape, Type::e4m3).name());
  EXPECT_GE(names.size(), 80u);
}

}  // namespace
}  // namespace tcq::tools
