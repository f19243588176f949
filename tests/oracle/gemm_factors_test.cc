// Factors in `tcq gemm`: what their files hold, and which factor meets which sum. The sums themselves are
// gemm_promotion_test.cc's.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/gemm/run.h"
#include "oracle/recording/files.h"
#include "oracle/sum/gemm_epilogue.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle::gemm {
namespace {

constexpr std::int64_t m = 5, n = 150, k = 256;

float float_at(const Matrix& matrix, std::int64_t row, std::int64_t col) {
  return std::bit_cast<float>(load_element(Type::f32, matrix.array.data(), matrix.index(row, col)));
}

class GemmFactorsRun : public testing::Test {
 protected:
  void SetUp() override {
    run("--generate 5,150,256 --type e4m3 --order chain --save-a @a --save-b @b --out @plain");
    for (int block = 0; block < 2; ++block) {
      half("a", block, true);
      half("b", block, false);
      const std::string at = std::to_string(block);
      run("@a" + at + " @b" + at + " --type e4m3 --order chain --out @chain" + at);
    }
  }

  Report run(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
      words.push_back(word[0] == '@' ? folder_.file(word.substr(1)) : word);
    Progress progress(nullptr);
    return run_request(parse_request(words), progress);
  }

  std::string refusal(const std::string& text) {
    try {
      run(text);
    } catch (const std::runtime_error& error) {
      std::string what = error.what();
      const std::string folder = folder_.file("");
      for (std::size_t at = 0; (at = what.find(folder)) != std::string::npos;)
        what.erase(at, folder.size());
      return what;
    }
    return "";
  }

  Matrix result(const std::string& name) const {
    return read_matrix(folder_.file(name), Type::f32);
  }

  // Factors that are told apart by where they are, none of them a power of two.
  void write_factors(const std::string& name, std::int64_t rows, std::int64_t cols, float first) {
    Matrix matrix = zeros(Type::f32, rows, cols);
    for (std::int64_t i = 0; i < rows * cols; ++i)
      store_element(Type::f32, matrix.array.bytes.data() + matrix.array.first, i,
                    std::bit_cast<std::uint32_t>(first + 0.37f * static_cast<float>(i)));
    write_file(folder_.file(name), matrix.array.bytes);
  }

  // D of files whose factors are these, beside what `want(row, col)` says.
  template <class Want>
  void expect(const std::string& words, Want want) {
    run("@a @b --type e4m3 --scale-a @sa --scale-b @sb --out @d " + words);
    const Matrix d = result("d");
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t col = 0; col < n; ++col)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(float_at(d, row, col)),
                  std::bit_cast<std::uint32_t>(want(row, col)))
            << row << " " << col;
  }

  template <class FactorA, class FactorB>
  void expect_promoted(const std::string& words, FactorA a, FactorB b) {
    const Matrix chains[2] = {result("chain0"), result("chain1")};
    expect(words, [&](std::int64_t row, std::int64_t col) {
      float sum = 0;
      for (std::int64_t block = 0; block < 2; ++block)
        sum = std::fmaf(a(row, block) * b(col, block), float_at(chains[block], row, col), sum);
      return sum;
    });
  }

  // 128 of K of a saved operand, as a file of its own.
  void half(const std::string& name, int block, bool is_a) {
    const Matrix whole = read_matrix(folder_.file(name), Type::e4m3);
    Matrix part = zeros(Type::e4m3, is_a ? m : k / 2, is_a ? k / 2 : n);
    for (std::int64_t i = 0; i < part.rows; ++i)
      for (std::int64_t j = 0; j < part.cols; ++j)
        store_element(
            Type::e4m3, part.array.bytes.data() + part.array.first, part.index(i, j),
            load_element(Type::e4m3, whole.array.data(),
                         whole.index(i + (is_a ? 0 : 128 * block), j + (is_a ? 128 * block : 0))));
    write_file(folder_.file(name + std::to_string(block)), part.array.bytes);
  }

  TemporaryFolder folder_;
};

TEST_F(GemmFactorsRun, OneOfEachMatrixMultipliesTheSum) {
  write_factors("sa", 1, 1, 1.3f);
  write_factors("sb", 1, 1, 0.7f);
  const Matrix plain = result("plain");
  expect("--scaling tensor --order chain", [&](std::int64_t row, std::int64_t col) {
    return 1.3f * 0.7f * float_at(plain, row, col);
  });
}

TEST_F(GemmFactorsRun, OneOfEachRowAndColumnMultipliesTheSum) {
  write_factors("sa", 1, m, 1.3f);  // a vector of them
  write_factors("sb", 1, n, 0.7f);
  const Matrix plain = result("plain");
  const Matrix a = result("sa");
  const Matrix b = result("sb");
  const auto want = [&](std::int64_t row, std::int64_t col) {
    return float_at(a, 0, row) * float_at(b, 0, col) * float_at(plain, row, col);
  };
  expect("--scaling row_column --order chain", want);
  write_factors("sa", m, 1, 1.3f);  // and a column
  expect("--scaling row_column --order chain", want);
}

TEST_F(GemmFactorsRun, BlocksOfKMeetTheirChains) {
  write_factors("sa", m, 2, 1.3f);
  const Matrix a = result("sa");
  const auto of_a = [&](std::int64_t row, std::int64_t block) { return float_at(a, row, block); };
  write_factors("sb", 2, n, -0.7f);
  const Matrix columns = result("sb");
  expect_promoted(
      "--scaling vector_128 --order chain:wgmma,promoted", of_a,
      [&](std::int64_t col, std::int64_t block) { return float_at(columns, block, col); });
  write_factors("sb", 2, 2, -0.7f);
  const Matrix blocks = result("sb");
  expect_promoted(
      "--scaling block_128 --order chain:wgmma,promoted", of_a,
      [&](std::int64_t col, std::int64_t block) { return float_at(blocks, block, col / 128); });
}

// A shard begins at a row that is not 0, and so do its factors.
TEST_F(GemmFactorsRun, AShardHasTheFactorsOfItsRows) {
  write_factors("sa", m, 2, 1.3f);
  write_factors("sb", 2, 2, 0.7f);
  const std::string words =
      "@a @b --type e4m3 --scaling block_128 --scale-a @sa --scale-b @sb --order "
      "chain:wgmma,promoted ";
  run(words + "--out @whole");
  const Report report = run(words + "--shard 1/2 --compare @whole");
  EXPECT_EQ(report.rows.first, 3);
  EXPECT_EQ(report.orders[0].device->differing, 0);
  EXPECT_FALSE(report.mismatch());
}

TEST_F(GemmFactorsRun, ARivalExplainsWithTheSameFactors) {
  write_factors("sa", m, 2, 1.3f);
  write_factors("sb", 2, 2, 0.7f);
  const std::string words =
      "@a @b --type e4m3 --scaling block_128 --scale-a @sa --scale-b @sb --out-type f32 --order ";
  run(words + "every=128:wgmma,promoted --out @device");
  const Report none = run(words + "chain:wgmma,promoted --compare @device --errors");
  // The first sum of a part is fma(factors, chain, 0): rounded twice, once more than in one chain of sums.
  EXPECT_TRUE(none.mismatch());
  EXPECT_EQ(none.orders[0].explanation->by, std::vector<std::string>{"every=128:wgmma,promoted"});
  EXPECT_LT(none.orders[0].errors->max_relative, 1e-3);
  EXPECT_GT(none.orders[0].errors->max_relative, 0);
}

TEST_F(GemmFactorsRun, WhatDoesNotFitIsNamed) {
  const std::string words = "@a @b --type e4m3 --order chain:wgmma,promoted ";
  const std::string all = "--scaling NAME, --scale-a FILE and --scale-b FILE: expected all three";
  EXPECT_EQ(refusal(words + "--scaling tensor"), all);
  EXPECT_EQ(refusal(words + "--scale-a @sa --scale-b @sb"), all);
  EXPECT_EQ(refusal(words + "--scaling tensor --scale-b @sb"), all);
  write_factors("sa", m, 2, 1);
  write_factors("sb", 3, 2, 1);
  const std::string files = "--scale-a @sa --scale-b @sb ";
  EXPECT_EQ(refusal(words + files + "--scaling block_128"),
            "sb: has shape 3 x 2: expected 2 x 2, the factors of --scaling block_128");
  EXPECT_EQ(refusal(words + files + "--scaling row_column"),
            "sa: has shape 5 x 2: expected 5 x 1, the factors of --scaling row_column");
  EXPECT_EQ(refusal(words + files + "--scaling block-128"),
            "unknown --scaling 'block-128': expected tensor, row_column, block_128, vector_128, "
            "ue8m0_block32, ue8m0_block16 or ue4m3_block16; did you mean 'block_128'?");
  EXPECT_EQ(refusal("--generate 8,8,128 --type s8 --order chain --scaling block_128 " + files),
            "--scaling block_128: its factors meet chains that are promoted, and those of s8 are "
            "not: expected tensor or row_column");
  EXPECT_EQ(refusal("--generate 5,2,128 --type s8 --order chain --scaling tensor " + files),
            "sa: has shape 5 x 2: expected 1 x 1, the factors of --scaling tensor");
}

}  // namespace
}  // namespace tcq::oracle::gemm
