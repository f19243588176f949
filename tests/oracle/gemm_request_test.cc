// Requests: which words go together, and what running one leaves behind. Files that are damaged and
// signals are tests/cli/gemm_cli_test.cc's.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "oracle/answer/answer.h"
#include "oracle/answer/pending_file.h"
#include "oracle/gemm/request.h"
#include "oracle/gemm/run.h"
#include "oracle/recording/files.h"
#include "sim/num/activation.h"
#include "tests/support/temporary_folder.h"

namespace tcq::oracle::gemm {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Request request(const std::string& text) { return parse_request(split(text)); }

std::string refusal(const std::string& text) {
  try {
    request(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(GemmRequest, WordsInAnyOrder) {
  const Request r = request(
      "--order chain a.npy --type E4M3 --shard 2/5 --type-b e5m2 b.npy --c c.npy --epilogue "
      "alpha=-0.5,activation=gelu --order every=32 --out x --out y --out-type bf16 --threads 3 "
      "--transpose-b --json");
  EXPECT_EQ(r.operands, (std::vector<std::string>{"a.npy", "b.npy"}));
  EXPECT_EQ(r.orders, (std::vector<std::string>{"chain", "every=32"}));
  EXPECT_EQ(r.outs, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(r.a, Type::e4m3);
  EXPECT_EQ(r.b, Type::e5m2);
  EXPECT_EQ(r.out_type, Type::bf16);
  EXPECT_EQ(r.shard.index, 2);
  EXPECT_EQ(r.shard.count, 5);
  EXPECT_EQ(r.threads, 3);
  EXPECT_EQ(r.epilogue.alpha, -0.5f);
  EXPECT_EQ(r.epilogue.beta, 1.0f);  // C is there
  EXPECT_EQ(r.epilogue.activation, Activation::Gelu);
  EXPECT_TRUE(r.transpose_b && r.json && !r.transpose_a);
}

TEST(GemmRequest, WhatDoesNotGoTogetherIsNamed) {
  const std::string drawn = "--generate 1,2,3 --type bf16 --order chain ";
  const std::string files = "a b --type bf16 --order chain ";
  EXPECT_EQ(refusal(drawn), "");
  EXPECT_EQ(refusal(files), "");
  EXPECT_EQ(refusal(drawn + "a.npy"), "--generate makes both operands: expected no 'a.npy'");
  EXPECT_EQ(refusal(drawn + "--transpose-a"),
            "--transpose-a and --transpose-b say how files lie: expected no --generate");
  EXPECT_EQ(refusal(files + "--save-a x"),
            "--save-a and --save-b write generated operands: expected --generate M,N,K");
  EXPECT_EQ(refusal(files + "--epilogue beta=1"),
            "beta is not 0 and there is no C: expected --c C.npy");
  EXPECT_EQ(refusal(drawn + "--save-a x --out x"),
            "x is to be written twice: expected another name");
  EXPECT_EQ(refusal(files + "--epilogue alpha=inf"), "alpha='inf': expected a finite f32");
  EXPECT_EQ(refusal(files + "--epilogue gamma=1"),
            "unknown key 'gamma': expected alpha, beta or activation; did you mean 'alpha'?");
  EXPECT_EQ(refusal(files + "--c c.npy --epilogue activation=swiglu"),
            "activation=swiglu makes a column of D of two of the product, and takes no C: expected "
            "no --c");
  EXPECT_EQ(
      refusal(drawn + "--errors --epilogue activation=swiglu"),
      "distances from float64 of activation=swiglu: expected another activation with --errors "
      "and --svg");
  EXPECT_EQ(refusal(files + "--shard 5/5"), "--shard '5/5': i must be in [0, n)");
  EXPECT_EQ(refusal(files + "--shard 0/0"), "--shard '0/0': i must be in [0, n)");
  EXPECT_EQ(refusal(files + "c"), "3 operands: expected A.npy B.npy, or --generate M,N,K");
  EXPECT_EQ(refusal("--list l --out d"), "--out beside --list l: expected it in the list's lines");
  EXPECT_EQ(refusal("--list l --shard 1/2 --threads 2 --json"), "");
}

class GemmRun : public testing::Test {
 protected:
  Report run(const std::string& text) {
    std::vector<std::string> words = split(text);
    for (std::string& word : words)
      if (word[0] == '@') word = folder_.file(word.substr(1));
    Progress progress(nullptr);
    return run_request(parse_request(words), progress);
  }
  TemporaryFolder folder_;
};

TEST_F(GemmRun, OneOrderWithTheDevicesBitsIsEnough) {
  const std::string drawn = "--generate 20,30,400 --type bf16 ";
  run(drawn + "--order every=128 --out @device");
  const Report none = run(drawn + "--order chain --compare @device");
  EXPECT_TRUE(none.mismatch());
  EXPECT_EQ(none.orders[0].explanation->by, std::vector<std::string>{"every=128:wgmma"});
  const Report one = run(drawn + "--order chain --order every=128 --compare @device");
  EXPECT_FALSE(one.mismatch());
  EXPECT_EQ(one.orders[1].device->differing, 0);
  EXPECT_FALSE(one.orders[1].explanation);
  EXPECT_EQ(one.orders[1].beside_first->differing, one.orders[0].device->differing);
  EXPECT_FALSE(run(drawn + "--order chain").mismatch());
}

TEST_F(GemmRun, SavedOperandsGiveTheSameBits) {
  const Report drawn =
      run("--generate 9,10,70 --seed 4 --type e4m3 --type-b e5m2 --order chain --save-a @a "
          "--save-b @b");
  EXPECT_EQ(drawn.saved.size(), 2u);
  const Report read = run("@a @b --type e4m3 --type-b e5m2 --order chain");
  EXPECT_EQ(read.orders[0].fingerprint, drawn.orders[0].fingerprint);
  const Report other = run("--generate 9,10,70 --seed 5 --type e4m3 --type-b e5m2 --order chain");
  EXPECT_NE(other.orders[0].fingerprint, drawn.orders[0].fingerprint);
}

// A is read from its transpose in C order and B from itself in C order: both are MN-major then.
TEST_F(GemmRun, MajorsMoveBytesOnly) {
  const Report drawn =
      run("--generate 9,10,70 --type bf16 --order every=16 --save-a @a --save-b @b");
  const Matrix at = row_major(Type::bf16, transposed(read_matrix(folder_.file("a"), Type::bf16)));
  write_file(folder_.file("at"), at.array.bytes);
  const Report a = run("@at @b --transpose-a --type bf16 --order every=16");
  EXPECT_EQ(a.orders[0].fingerprint, drawn.orders[0].fingerprint);
  const Matrix b = row_major(Type::bf16, read_matrix(folder_.file("b"), Type::bf16));
  write_file(folder_.file("bc"), b.array.bytes);
  const Report both = run("@at @bc --transpose-a --type bf16 --order every=16");
  EXPECT_EQ(both.orders[0].fingerprint, drawn.orders[0].fingerprint);
}

// D = gelu(alpha * sum + beta * C + bias), with what C and bias are chosen to cancel.
TEST_F(GemmRun, TheEpilogueIsApplied) {
  const std::string drawn = "--generate 4,6,64 --type f16 --order chain ";
  run(drawn + "--out @d");
  const auto bits = [&](const std::string& more) {
    run(drawn + more + " --out @out");
    const std::string file = read_file(folder_.file("out"));
    return file.substr(file.find('\n') + 1);
  };
  EXPECT_EQ(bits("--c @d --epilogue alpha=1,beta=-1"), std::string(96, '\0'));
  EXPECT_NE(bits("--c @d --epilogue alpha=1"), std::string(96, '\0'));
  EXPECT_EQ(bits("--c @d --epilogue beta=0"), bits(""));
  EXPECT_NE(bits("--epilogue activation=gelu"), bits(""));
}

// D is swiglu of the columns of the product that no activation was applied to, of every engine, batch and shard.
TEST_F(GemmRun, SwigluMakesAColumnOfTwo) {
  const std::int64_t n = 70;
  const auto floats = [&](const std::string& name) {
    const Matrix m = row_major(Type::f32, read_matrix(folder_.file(name), Type::f32));
    std::vector<float> values(static_cast<std::size_t>(m.batch * m.rows * m.cols));
    std::memcpy(values.data(), m.array.data(), values.size() * sizeof(float));
    return values;
  };
  for (const char* shape : {"9,70,200", "3,9,70,200"})
    for (const char* order : {"chain", "every=64", "float64", "fma"})
      for (const char* shard : {"", " --shard 1/2"}) {
        const std::string words = std::string("--generate ") + shape + " --type bf16 --order " +
                                  order + shard + " --epilogue alpha=0.125";
        run(words + " --out @whole");
        const Report gated = run(words + ",activation=swiglu --out @gated");
        const std::vector<float> whole = floats("whole"), d = floats("gated");
        ASSERT_EQ(2 * d.size(), whole.size()) << words;
        for (std::size_t i = 0; i < d.size(); ++i)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(d[i]),
                    std::bit_cast<std::uint32_t>(swiglu(whole[2 * i], whole[2 * i + 1])))
              << words << ": " << i;
        EXPECT_EQ(gated.n, n);
      }
  const std::string drawn = "--generate 20,70,400 --type bf16 --epilogue activation=swiglu ";
  run(drawn + "--order every=128 --out @device");
  const Report rivals = run(drawn + "--order chain --compare @device");
  EXPECT_EQ(rivals.orders[0].explanation->by, std::vector<std::string>{"every=128:wgmma"});
  EXPECT_EQ(rivals.orders[0].device->outputs, 20 * n / 2);
  EXPECT_THROW(run("--generate 2,3,16 --type bf16 --order chain --epilogue activation=swiglu"),
               UsageError);
}

TEST_F(GemmRun, ErrorsAreThoseOfTheWholeFormula) {
  const Report r = run("--generate 20,30,400 --type bf16 --type-b bf16 --order chain --errors");
  EXPECT_GT(r.orders[0].errors->max_absolute, 0);
  EXPECT_LT(r.orders[0].errors->max_relative, 1e-6);
}

// Of outputs that cannot be compared there is no "at most 0".
TEST_F(GemmRun, ErrorsOfWhatIsNotFiniteAreNone) {
  Report r = run("--generate 2,3,16 --type bf16 --order chain --errors");
  EXPECT_EQ(text_of(r).find("NaN or Inf"), std::string::npos);
  r.orders[0].errors->not_finite = 2;
  EXPECT_NE(text_of(r).find("; besides 2 outputs are NaN or Inf in D or in float64"),
            std::string::npos)
      << text_of(r);
  r.orders[0].errors = GemmErrors{.compared = 0, .not_finite = 6};
  EXPECT_NE(
      text_of(r).find("from float64: no output can be compared: all 6 outputs are NaN or Inf"),
      std::string::npos)
      << text_of(r);
  EXPECT_NE(json_text(value_of(r)).find(R"("max_absolute":null)"), std::string::npos);
}

TEST_F(GemmRun, BytesOfTheOtherSignAreSaid) {
  run("--generate 2,3,32 --type s8 --order chain --save-a @a --save-b @b");
  const Report other = run("@a @b --type u8 --order chain");
  ASSERT_EQ(other.notes.size(), 2u);
  EXPECT_EQ(other.notes[0], "A has dtype |i1 and is read as u8, bit for bit: -1 is 255");
  EXPECT_TRUE(run("@a @b --type s8 --order chain").notes.empty());
}

// --- files -----------------------------------------------------------------------------------------

TEST(PendingFile, IsThereWhenItIsWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  const std::string partial = path + ".partial";
  {
    PendingFile file(path, 1 << 20);
    EXPECT_EQ(std::filesystem::file_size(partial), 1u << 20);  // its room
    file.write(std::string_view("ab"));
    file.write(std::string_view("c"));
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_file(path), "abc");
  EXPECT_FALSE(std::filesystem::exists(partial));
  {
    PendingFile file(path, 10);
    file.write(std::string_view("never"));
  }
  EXPECT_EQ(read_file(path), "abc");
  EXPECT_EQ(folder.files(), 1);
}

TEST(PendingFile, MovedItIsDroppedOnce) {
  const TemporaryFolder folder;
  std::vector<PendingFile> files;
  for (const char* name : {"a", "b", "c"}) files.emplace_back(folder.file(name), 5);
  EXPECT_EQ(folder.files(), 3);
  files[1].write(std::string_view("b"));
  files[1].commit();
  files.clear();
  EXPECT_EQ(folder.files(), 1);
  EXPECT_EQ(read_file(folder.file("b")), "b");
}

TEST(PendingFile, WhatCannotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THROW(PendingFile(folder.file("no/x"), 1), FileError);
  EXPECT_THROW(PendingFile(folder.file(""), 1), FileError);
  EXPECT_THROW(PendingFile("/dev/null", 1), FileError);
  EXPECT_THROW(PendingFile(folder.file("x"), std::size_t{1} << 60), FileError);  // no room
  EXPECT_EQ(folder.files(), 0);
  std::filesystem::create_directory(folder.file("folder"));
  EXPECT_THROW(PendingFile(folder.file("folder"), 1), FileError);
}

}  // namespace
}  // namespace tcq::oracle::gemm
