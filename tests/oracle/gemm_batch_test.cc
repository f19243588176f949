// Arrays of three dimensions in `tcq gemm`: products of a batch are the products one by one, and shapes that do not go
// together are named. Drawn batches beside every other option: gemm_drawn_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/gemm/run.h"
#include "sim/num/inputs/draw.h"
#include "tests/oracle/gemm_loops.h"

namespace tcq::oracle::gemm {
namespace {

using loops::file_of;
using loops::shaped;
using loops::Tensor;

struct Answer {
  Report report;
  std::vector<npy::Array> d;
};

class GemmBatch : public testing::Test {
 protected:
  // Elements that are told apart by where they are.
  void put(const std::string& name, Type type, std::vector<std::int64_t> shape) {
    const bool has_batch = shape.size() == 3;
    if (has_batch && shape[0] == 0) {
      const npy::Header header{loops::dtype_of(type), false, shape};
      files_[name] = npy::parse(npy::header_bytes(header), name);
      return;
    }
    Tensor t = has_batch ? shaped(type, shape[0], shape[1], shape[2])
                         : shaped(type, 0, shape[0], shape[1]);
    Draw draw(std::hash<std::string>{}(name));
    for (std::uint32_t& word : t.words) word = bell(type, draw);
    files_[name] = file_of(t, false);
  }

  // Entry e of a file, as a file of two dimensions.
  void put_entry(const std::string& name, const std::string& from, std::int64_t e) {
    const npy::Array& all = files_.at(from);
    const std::vector<std::int64_t>& shape = all.header.shape;
    const npy::Header header{all.header.dtype, false, {shape[1], shape[2]}};
    const auto size = static_cast<std::size_t>(shape[1] * shape[2]) * npy::item_bytes(header.dtype);
    files_[name] =
        npy::parse(npy::header_bytes(header) +
                       all.bytes.substr(all.first + static_cast<std::size_t>(e) * size, size),
                   name);
  }

  Answer run(const std::string& text) const {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    Request request = parse_request(words);
    Answer answer;
    request.read = [&](const std::string& name) { return files_.at(name); };
    request.keep = [&](const npy::Array& d) { answer.d.push_back(d); };
    Progress progress(nullptr);
    answer.report = run_request(request, progress);
    return answer;
  }

  std::string refusal(const std::string& text) const {
    try {
      run(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  static std::string elements(const npy::Array& array) { return array.bytes.substr(array.first); }

  std::map<std::string, npy::Array> files_;
};

const std::string words =
    "a b --type bf16 --order chain --order every=64 --order float64 --order fma ";

// Large enough that a band of rows ends within a product.
TEST_F(GemmBatch, IsItsProductsOneByOne) {
  put("a", Type::bf16, {3, 300, 400});
  put("b", Type::bf16, {3, 400, 300});
  const Answer all = run(words);
  EXPECT_EQ(all.report.rows.count(), 900);
  std::vector<std::string> joined(4);
  for (std::int64_t e = 0; e < 3; ++e) {
    put_entry("a1", "a", e);
    put_entry("b1", "b", e);
    const Answer one = run("a1 b1" + words.substr(3));
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i] += elements(one.d[i]);
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    EXPECT_EQ(all.d[i].header.shape, (std::vector<std::int64_t>{3, 300, 300}));
    EXPECT_TRUE(elements(all.d[i]) == joined[i]) << i;
  }
}

TEST_F(GemmBatch, ShardsAreRowsOfAllProducts) {
  put("a", Type::bf16, {4, 5, 96});
  put("b", Type::bf16, {96, 7});
  const std::string whole = elements(run(words).d[1]);
  std::string joined;
  for (int i = 0; i < 3; ++i) {
    const Answer part = run(words + fmt::format("--shard {}/3", i));
    EXPECT_EQ(part.d[1].header.shape.size(), 2u);
    joined += elements(part.d[1]);
  }
  EXPECT_TRUE(joined == whole);
}

// The worst of all products; their root mean square is that of all outputs.
TEST_F(GemmBatch, ErrorsAreOfAllProducts) {
  put("a", Type::bf16, {2, 6, 160});
  put("b", Type::bf16, {2, 160, 5});
  const GemmErrors all = *run("a b --type bf16 --order chain --errors").report.orders[0].errors;
  double absolute = 0, relative = 0, squares = 0;
  for (std::int64_t e = 0; e < 2; ++e) {
    put_entry("a1", "a", e);
    put_entry("b1", "b", e);
    const GemmErrors one = *run("a1 b1 --type bf16 --order chain --errors").report.orders[0].errors;
    absolute = std::max(absolute, one.max_absolute);
    relative = std::max(relative, one.max_relative);
    squares += one.root_mean_square * one.root_mean_square / 2;
  }
  EXPECT_GT(absolute, 0);
  EXPECT_EQ(all.max_absolute, absolute);
  EXPECT_EQ(all.max_relative, relative);
  EXPECT_NEAR(all.root_mean_square, std::sqrt(squares), 1e-12);
}

TEST_F(GemmBatch, OnlyThreeDimensionsMakeThreeOfD) {
  put("a", Type::bf16, {4, 16});
  put("b", Type::bf16, {16, 6});
  put("c", Type::f32, {2, 4, 6});
  put("one", Type::bf16, {1, 4, 16});
  const auto shape = [&](const std::string& text) {
    return run(text + " --type bf16 --order chain").d[0].header.shape;
  };
  EXPECT_EQ(shape("a b"), (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(shape("one b"), (std::vector<std::int64_t>{1, 4, 6}));
  EXPECT_EQ(shape("a b --c c"), (std::vector<std::int64_t>{2, 4, 6}));
  EXPECT_EQ(shape("one b --c c"), (std::vector<std::int64_t>{2, 4, 6}));
}

TEST_F(GemmBatch, NothingIsAnAnswerToo) {
  put("b", Type::bf16, {16, 6});
  for (const auto& shape :
       {std::vector<std::int64_t>{0, 4, 16}, std::vector<std::int64_t>{3, 0, 16}}) {
    put("a", Type::bf16, shape);
    const Answer none = run(words + "--errors");
    EXPECT_EQ(none.d[0].header.shape, (std::vector<std::int64_t>{shape[0], shape[1], 6}));
    EXPECT_EQ(elements(none.d[0]), "");
    files_["d"] = none.d[0];
    EXPECT_FALSE(run(words + "--compare d").report.mismatch());
  }
}

TEST_F(GemmBatch, BothShapesAreNamed) {
  put("a", Type::bf16, {4, 24, 64});
  put("b", Type::bf16, {3, 64, 40});
  put("b4", Type::bf16, {4, 32, 40});
  put("w", Type::bf16, {64, 40});
  const std::string rest = " --type bf16 --order chain ";
  EXPECT_EQ(refusal("a b" + rest),
            "A is 4 x 24 x 64 and B is 3 x 64 x 40: expected as many matrices in both, or one");
  EXPECT_EQ(refusal("a b4" + rest),
            "A is 4 x 24 x 64 and B is 4 x 32 x 40: expected A's columns to be B's rows");
  EXPECT_EQ(refusal("a b --transpose-b" + rest),
            "A is 4 x 24 x 64 and B is 3 x 40 x 64: expected A's columns to be B's rows; "
            "--transpose-b reads B as N x K");
  put("c", Type::f32, {2, 24, 40});
  EXPECT_EQ(refusal("a w --c c" + rest),
            "A is 4 x 24 x 64 and c is 2 x 24 x 40: expected as many matrices in both, or one");
  put("c", Type::f32, {4, 40, 24});
  EXPECT_EQ(refusal("a w --c c" + rest), "c: has shape 4 x 40 x 24: expected 24 x 40");
  put("bias", Type::f32, {3, 40});
  EXPECT_EQ(refusal("a w --bias bias" + rest),
            "bias: has shape 3 x 40: expected 40 elements, one for each column");
  put("bias", Type::f32, {3, 1, 40});
  EXPECT_EQ(refusal("a w --bias bias" + rest),
            "A is 4 x 24 x 64 and bias is 3 x 1 x 40: expected as many matrices in both, or one");
  put("bias", Type::f32, {4, 40});
  EXPECT_EQ(refusal("a w --bias bias" + rest), "");
  put("d", Type::f32, {24, 40});
  EXPECT_EQ(refusal("a w --compare d" + rest), "d: has shape 24 x 40: expected 4 x 24 x 40");
  put("d", Type::f32, {3, 24, 40});
  EXPECT_EQ(refusal("a w --compare d" + rest), "d: has shape 3 x 24 x 40: expected 4 x 24 x 40");
}

TEST_F(GemmBatch, FactorsOfOtherShapesAreNamed) {
  put("a", Type::e4m3, {4, 24, 80});
  put("b", Type::e4m3, {80, 40});
  const std::string rest = "a b --type e4m3 --order chain --scaling ue8m0_block32 ";
  put("sa", Type::u8, {24, 3});
  put("sb", Type::u8, {3, 40});
  const std::string files = "--scale-a sa --scale-b sb";
  EXPECT_EQ(refusal(rest + files), "");
  EXPECT_EQ(refusal(rest), "--scaling NAME, --scale-a FILE and --scale-b FILE: expected all three");
  EXPECT_EQ(refusal(rest + "--scale-a sb --scale-b sb"),
            "sb: has shape 3 x 40: expected 24 x 3, the factors of --scaling ue8m0_block32");
  EXPECT_EQ(refusal(rest + "--scale-a sa --scale-b sa"),
            "sa: has shape 24 x 3: expected 3 x 40, the factors of --scaling ue8m0_block32");
  put("sa", Type::u8, {3, 24, 3});
  EXPECT_EQ(refusal(rest + files),
            "A is 4 x 24 x 80 and sa is 3 x 24 x 3: expected as many matrices in both, or one");
  put("sa", Type::f32, {24, 3});
  EXPECT_EQ(refusal(rest + files), "sa: its dtype is '<f4': ue8m0 is read from |u1, |i1, |V1, <V1");
  EXPECT_EQ(refusal("a b --type e4m3 --order chain --save-scale-a x"),
            "--save-scale-a and --save-scale-b write drawn factors: expected --generate M,N,K and "
            "--scaling ue8m0_block32, ue8m0_block16 or ue4m3_block16");
}

TEST_F(GemmBatch, PackedElementsAreE2m1) {
  put("a", Type::u8, {6, 40});
  put("b", Type::u8, {40, 5});
  put("half", Type::u8, {20, 5});
  const std::string rest = " --type e2m1 --order chain ";
  EXPECT_EQ(refusal("a b --packed" + rest), "");
  EXPECT_EQ(refusal("a half --packed" + rest),
            "A is 6 x 80 and B is 40 x 5: expected A's columns to be B's rows");
  EXPECT_EQ(refusal("a half --packed --type e4m3 --type-b e2m1 --order chain"), "");
  EXPECT_EQ(refusal("a b --packed --type e4m3 --order chain"),
            "--packed is for e2m1, and A is e4m3 and B is e4m3");
  EXPECT_EQ(refusal("--generate 4,4,4 --packed" + rest),
            "--packed says how files lie: expected no --generate");
  EXPECT_NE(refusal("a b" + rest), "");  // a byte each has no more than 4 bits
}

// What is drawn for a batch begins with what is drawn without one.
TEST_F(GemmBatch, DrawnBatches) {
  for (const char* more : {"--type bf16", "--type bf16 --mixture weighted",
                           "--type e2m1 --scaling ue4m3_block16 --mixture cancel"}) {
    const std::string rest = fmt::format(" --order chain {}", more);
    const Answer one = run("--generate 5,6,100" + rest);
    const Answer three = run("--generate 3,5,6,100" + rest);
    EXPECT_EQ(three.d[0].header.shape, (std::vector<std::int64_t>{3, 5, 6}));
    const std::string all = elements(three.d[0]);
    const std::size_t size = elements(one.d[0]).size();
    EXPECT_EQ(all.substr(0, size), elements(one.d[0])) << more;
    EXPECT_NE(all.substr(size, size), elements(one.d[0])) << more;
    EXPECT_NE(all.substr(size, size), all.substr(2 * size)) << more;
  }
  EXPECT_EQ(refusal("--generate 1,2,3,4,5 --type bf16 --order chain"),
            "--generate '1,2,3,4,5': expected M,N,K, for example 256,128,512, or BATCH,M,N,K");
  EXPECT_EQ(refusal("--generate 1099511627776,1099511627776,0,0 --type bf16 --order chain"),
            "1099511627776 x 1099511627776 rows of D overflow 2^63");
}

}  // namespace
}  // namespace tcq::oracle::gemm
