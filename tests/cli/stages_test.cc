// The stages of the first hour on a chip (tests/blackwell), driven with made-up ones that pass, fail, hang, crash and
// are skipped: their order, what is stopped, what is said, and the exit status. No GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq {
namespace {

class Stages : public testing::Test {
 protected:
  // Stages of a project of their own, in CMake's words.
  tests::Finished go(const std::string& stages, const std::string& options = "") const {
    std::ofstream(folder_.file("CMakeLists.txt"))
        << "cmake_minimum_required(VERSION 3.25)\nproject(stages NONE)\nenable_testing()\n"
        << "include(" << source_file("tests/blackwell/stage.cmake").string() << ")\n"
        << stages;
    const std::string at = folder_.file("build");
    return tests::run("/bin/sh", {"-c", "cmake -S '" + folder_.file("") + "' -B '" + at +
                                            "' >&2 && ctest --output-on-failure --test-dir '" + at +
                                            "' " + options});
  }

 private:
  TemporaryFolder folder_;
};

std::string stage(const std::string& name, const std::string& needs, const std::string& shell,
                  const std::string& more = "") {
  return "tcq_stage(" + name + " SECONDS 1 NEEDS " + needs + " ASSUMES \"" + name +
         " is right; so it is\" " + more + " COMMAND sh -c \"" + shell + "\")\n";
}

bool has(const tests::Finished& f, const std::string& text) {
  return f.out.find(text) != f.out.npos;
}

TEST_F(Stages, RunInTheirOrderHoweverTheyAreWritten) {
  const tests::Finished f =
      go(stage("c", "b", "true") + stage("b", "a", "true") + stage("a", "", "true"));
  EXPECT_EQ(f.status, 0) << f.out << f.err;
  EXPECT_TRUE(has(f, "1/3 Test #3: a ")) << f.out;
  EXPECT_TRUE(has(f, "2/3 Test #2: b ")) << f.out;
  EXPECT_TRUE(has(f, "3/3 Test #1: c ")) << f.out;
}

TEST_F(Stages, AFailureStopsWhatNeedsItAndNothingElse) {
  const tests::Finished f =
      go(stage("a", "", "echo running: x && exit 1", "MORE \"look there\"") +
         stage("b", "a", "echo b ran") + stage("c", "b", "echo c ran") + stage("d", "", "true"));
  EXPECT_NE(f.status, 0);
  EXPECT_TRUE(
      has(f, "running: x\nstage a FAILED with status 1; in question: a is right; so it is."))
      << f.out;
  EXPECT_TRUE(has(f, "more: look there\n")) << f.out;
  EXPECT_TRUE(has(f, "Failed test dependencies: a\n")) << f.out;
  EXPECT_TRUE(has(f, "Failed test dependencies: b\n")) << f.out;
  EXPECT_FALSE(has(f, "ran\n")) << f.out;
  EXPECT_TRUE(has(f, "2 - b (Not Run)")) << f.out;
  EXPECT_TRUE(has(f, "Test #4: d")) << f.out;
  EXPECT_TRUE(has(f, "25% tests passed, 3 tests failed out of 4")) << f.out;
}

TEST_F(Stages, AHangIsKilledAndNamed) {
  const auto begin = std::chrono::steady_clock::now();
  const tests::Finished f = go(stage("a", "", "echo running: the launch that hangs && sleep 600") +
                               stage("b", "a", "true"));
  EXPECT_NE(f.status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_TRUE(
      has(f, "running: the launch that hangs\nstage a HUNG and was killed after 1 s; in question"))
      << f.out;
  EXPECT_TRUE(has(f, "2 - b (Not Run)")) << f.out;
}

TEST_F(Stages, AHangThatNoSignalButSigkillEndsIsAHangToo) {
  const tests::Finished f = go(stage("a", "", "trap '' TERM && sleep 600"));
  EXPECT_NE(f.status, 0);
  EXPECT_TRUE(has(f, "stage a HUNG and was killed after 1 s; in question: a is right")) << f.out;
}

TEST_F(Stages, ACrashIsNamed) {
  const tests::Finished f = go(stage("a", "", "kill -SEGV $$"));
  EXPECT_NE(f.status, 0);
  EXPECT_TRUE(has(f, "stage a CRASHED, killed by signal SIGSEGV; in question: a is right"))
      << f.out;
  const tests::Finished killed = go(stage("a", "", "kill -KILL $$"));  // not by the watchdog
  EXPECT_TRUE(has(killed, "stage a CRASHED, killed by signal SIGKILL")) << killed.out;
}

// Never passed; and what needs it finds out by itself.
TEST_F(Stages, WithoutADeviceAllAreSkipped) {
  const tests::Finished f = go(stage("a", "", "exit 77") + stage("b", "a", "exit 3", "SKIPPED 3") +
                               stage("c", "b", "exit 3"));  // there it is a failure
  EXPECT_NE(f.status, 0);
  EXPECT_TRUE(has(f, "***Skipped")) << f.out;
  EXPECT_TRUE(has(f, "1 - a (Skipped)")) << f.out;
  EXPECT_TRUE(has(f, "2 - b (Skipped)")) << f.out;
  EXPECT_TRUE(has(f, "stage c FAILED with status 3")) << f.out;
  EXPECT_FALSE(has(f, "Passed")) << f.out;
}

TEST_F(Stages, OneAloneOrWithAllThatItNeeds) {
  const std::string stages =
      stage("a", "", "exit 1") + stage("b", "a", "true") + stage("c", "", "true");
  EXPECT_EQ(go(stages, "-R '^b$'").status, 8);
  const tests::Finished alone = go(stages, "-R '^b$' -FA .");
  EXPECT_EQ(alone.status, 0) << alone.out;
  EXPECT_TRUE(has(alone, "100% tests passed, 0 tests failed out of 1")) << alone.out;
}

std::string text_of(const std::string& file) {
  std::ifstream in(source_file(file));
  return {std::istreambuf_iterator<char>(in), {}};
}

// The page for whoever has such a chip: every stage, and the label that the command takes.
TEST(StagesPage, NamesEveryStageAndTheCommand) {
  const std::string page = text_of("docs/first_hour.md");
  const std::string stages = text_of("tests/blackwell/stages.cmake");
  static const std::regex name(R"(\ntcq_(instruction|gemm)_stage\((\w+))");
  std::size_t count = 0;
  for (std::sregex_iterator it(stages.begin(), stages.end(), name), end; it != end; ++it, ++count)
    EXPECT_NE(page.find("| `blackwell." + (*it)[2].str() + "` |"), page.npos) << (*it)[2];
  EXPECT_EQ(count, 15u);
  EXPECT_NE(page.find("\n$ tools/test --label blackwell\n"), page.npos);
  const tests::Finished help =
      tests::run("/bin/bash", {source_file("tools/test").string(), "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("blackwell"), help.out.npos) << help.out;
}

}  // namespace
}  // namespace tcq
