// `tcq run` on real files: results that come back, findings, damaged PTX, arguments that do not fit.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq::tests {
namespace {

const std::string& head() {
  static const std::string text = ".version 8.5\n.target sm_90a\n.address_size 64\n";
  return text;
}

class RunCli : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  // 64 words turned around; with `barrier` rightly.
  std::string reverse(bool barrier) const {
    std::ifstream in(source_file("docs/kernels/reverse.ptx"));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (barrier) text.replace(text.find("// bar.sync"), 11, "bar.sync");
    return write("reverse.ptx", text);
  }
  static Finished ask(std::vector<std::string> words) {
    words.insert(words.begin(), "run");
    return run(TCQ_BINARY, words);
  }
  static void expect_usage(std::vector<std::string> words, const std::string& part) {
    const Finished done = ask(std::move(words));
    EXPECT_EQ(done.status, 2) << done.out;
    EXPECT_NE(done.err.find(part), std::string::npos) << done.err;
    EXPECT_EQ(done.out, "");
  }
  TemporaryFolder folder_;
};

TEST_F(RunCli, ARightKernelsArrayComesBack) {
  const std::string out = folder_.file("x.npy");
  const Finished first = ask({reverse(true), "--grid", "1", "--block", "64", "--arg",
                              "words=nan:u32:64", "--out", "words=" + out, "--explore", "3"});
  EXPECT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("nothing undefined in 5 executions of 1 of 1 cluster"),
            std::string::npos)
      << first.out;
  // A file that was written is read again.
  const Finished again =
      ask({reverse(true), "--grid", "1", "--block", "64", "--arg", out, "--json"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("\"findings\":[]"), std::string::npos) << again.out;
}

TEST_F(RunCli, AFindingHasStatusOneBothLinesAndWritesNothing) {
  const std::string out = folder_.file("x.npy");
  const Finished done = ask({reverse(false), "--grid", "1", "--block", "64", "--arg",
                             "words=zeros:u32:64", "--out", "words=" + out});
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_NE(done.out.find("undefined DataRace"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("reverse.ptx:23"), std::string::npos) << done.out;
  EXPECT_FALSE(std::ifstream(out).good());
}

TEST_F(RunCli, ASpecSaysTheSame) {
  const std::string spec =
      write("spec.json", "{\"file\": \"" + reverse(true) +
                             "\", \"kernel\": \"reverse\", \"grid\": [1], \"block\": 64, "
                             "\"args\": [\"words=zeros:u32:64\"], \"out\": {\"words\": \"" +
                             folder_.file("o.npy") + "\"}}");
  EXPECT_EQ(ask({"--spec", spec}).status, 0);
  EXPECT_TRUE(std::ifstream(folder_.file("o.npy")).good());
  expect_usage({"--spec", write("bad.json", "{\"grids\": 1}")}, "did you mean 'grid'?");
  expect_usage({"--spec", write("worse.json", "[1")}, "expected one JSON object");
}

TEST_F(RunCli, ArgumentsThatDoNotFitAreSentences) {
  const std::string file = reverse(true);
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {file, "--grid", "1", "--block", "64"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_usage(with({}), "0 arguments: the kernel has 1 parameters");
  expect_usage(with({"--arg", "1", "--arg", "2"}), "the kernel has 1 parameters");
  expect_usage(with({"--arg", "zeros:f33:4"}), "unknown element type 'f33'");
  expect_usage(with({"--arg", "zeros:f32:99999999999"}), "expected at most 2^30");
  expect_usage(with({"--arg", "map:x:box=1"}), "there is no array 'x' before it");
  expect_usage(with({"--arg", "no.npy"}), "no.npy");
  expect_usage(with({"--arg", "zeros:u32:64", "--out", "y=y.npy"}), "unknown array 'y'");
  expect_usage(with({"--arg", "x"}), "is no number");
  expect_usage({file, "--grid", "1"}, "--block is missing");
  expect_usage({file, "--grid", "0", "--block", "64"}, "at least 1");
  expect_usage({file, "--grid", "1", "--block", "2048"}, "at most 1024");
  expect_usage({file, "--grid", "3", "--block", "64", "--cluster", "2"}, "no multiple");
  expect_usage({file, "--grid", "1", "--block", "64", "--kernel", "revers3"},
               "did you mean 'reverse'?");
  expect_usage({file, "--gird", "1"}, "--grid");
  expect_usage({file, "--grid", "2147483647,64", "--block", "64", "--arg", "zeros:u32:64"},
               "--sample");
}

TEST_F(RunCli, AnArrayThatIsTooSmallIsAFinding) {
  const Finished done =
      ask({reverse(true), "--grid", "1", "--block", "64", "--arg", "zeros:u32:40"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("GlobalOutOfRange"), std::string::npos) << done.out;
}

TEST_F(RunCli, DamagedFilesAreSentences) {
  expect_usage({folder_.file("missing.ptx"), "--list"}, "cannot be read");
  expect_usage({write("empty.ptx", ""), "--grid", "1", "--block", "32"}, "has no kernel");
  expect_usage({write("noise.ptx", "\x7f\x45LF\x01\x02 kernel"), "--grid", "1", "--block", "32"},
               "noise.ptx");
}

TEST_F(RunCli, WhatIsNotModelledHasStatusThreeAndItsLine) {
  const std::string file =
      write("odd.ptx", head() + ".visible .entry k()\n{\nfrobnicate.b32 %r1, 2;\nret;\n}\n");
  const Finished done = ask({file, "--grid", "1", "--block", "32"});
  EXPECT_EQ(done.status, 3) << done.out;
  EXPECT_NE(done.out.find("frobnicate"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("PTX line 6"), std::string::npos) << done.out;
  EXPECT_EQ(ask({file, "--coverage"}).status, 0);
}

TEST_F(RunCli, AnEndlessLoopEnds) {
  const std::string file = write(
      "loop.ptx",
      head() + ".visible .entry k()\n{\n.reg .b32 %r<2>;\na: add.u32 %r1, %r1, 1;\nbra a;\n}\n");
  const Finished done = ask({file, "--grid", "1", "--block", "32", "--limit", "100000"});
  EXPECT_EQ(done.status, 3) << done.out;
  EXPECT_NE(done.out.find("StepLimit"), std::string::npos) << done.out;
}

}  // namespace
}  // namespace tcq::tests
