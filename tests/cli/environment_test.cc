// What tests take from where they run: the folder of the recordings, also of a build that has
// moved, and the seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/chosen_seed.h"
#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq {
namespace {

namespace fs = std::filesystem;

std::string sentence_of(const Whereabouts& at) {
  try {
    return "found " + find_source_tree(at).string();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

constexpr const char* recording = "tests/vectors/wgmma_directed.txt";
constexpr const char* first_line = "# tcq directed 2";

// A tree at `name` with one recording, whose second line is `text`.
fs::path make_tree(const TemporaryFolder& folder, const std::string& name,
                   const std::string& text = "") {
  const fs::path root = folder.file(name);
  fs::create_directories(root / "tests" / "vectors");
  fs::create_directories(root / "build" / "tests");
  std::ofstream(root / recording) << first_line << "\n" << text << "\n";
  return root;
}

TEST(SourceTree, TheVariableThenTheExecutableThenTheBuildThenTheCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path chosen = make_tree(folder, "chosen");
  const fs::path beside = make_tree(folder, "beside");
  const fs::path compiled = make_tree(folder, "compiled");
  const fs::path current = make_tree(folder, "current");
  const std::string text = chosen.string();
  const fs::path bare = folder.file("bare");
  Whereabouts at{text.c_str(), beside / "build" / "tests" / "x", compiled, current / "build"};
  EXPECT_EQ(find_source_tree(at), chosen);
  at.chosen = nullptr;
  EXPECT_EQ(find_source_tree(at), beside);
  at.executable = bare / "x";
  EXPECT_EQ(find_source_tree(at), compiled);
  at.compiled = folder.file("gone");
  EXPECT_EQ(find_source_tree(at), current);
  at.current = bare;
  EXPECT_EQ(sentence_of(at).find("no folder tests/vectors above the executable " + bare.string()),
            0u)
      << sentence_of(at);
  EXPECT_NE(sentence_of(at).find("set TCQ_SOURCE_DIR"), std::string::npos);
}

TEST(SourceTree, AVariableThatIsWrongIsNotPassedOver) {
  const TemporaryFolder folder;
  const fs::path compiled = make_tree(folder, "compiled");
  for (const char* wrong : {"/no/such/folder", "", "/"})
    EXPECT_EQ(
        sentence_of({wrong, compiled / "x", compiled, compiled}),
        std::string("TCQ_SOURCE_DIR is '") + wrong + "', where there is no folder tests/vectors");
}

TEST(SourceTree, AMissingFileIsNamed) {
  try {
    source_file("tests/vectors/no such file");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no such file is missing"), std::string::npos);
  }
}

// The test below runs it again, in a copy of this program that is no shard.
TEST(SourceTree, ARecordingLiesWhereItIsLookedFor) {
  std::ifstream in(source_file(recording));
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, first_line);
  ASSERT_TRUE(std::getline(in, line));
  std::printf("read %s\n", line.c_str());
}

std::string moved_prints(const fs::path& program, const std::string& before) {
  const std::string command = "unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX; " + before +
                              program.string() +
                              " --gtest_filter=SourceTree.ARecordingLiesWhereItIsLookedFor";
  return tests::run("/bin/sh", {"-c", command}).out;
}

TEST(SourceTree, AMovedProgramReadsTheRecordingsItLiesWith) {
  const TemporaryFolder folder;
  const fs::path here = make_tree(folder, "here", "beside the program");
  const fs::path there = make_tree(folder, "there", "elsewhere");
  const fs::path program = here / "build" / "tests" / "moved";
  fs::copy_file(fs::read_symlink("/proc/self/exe"), program);
  EXPECT_NE(moved_prints(program, "").find("read beside the program"), std::string::npos);
  const std::string elsewhere = "TCQ_SOURCE_DIR=" + there.string() + " ";
  EXPECT_NE(moved_prints(program, elsewhere).find("read elsewhere"), std::string::npos);
  const std::string wrong = moved_prints(program, "TCQ_SOURCE_DIR=/no/such/folder ");
  EXPECT_NE(wrong.find("TCQ_SOURCE_DIR is '/no/such/folder'"), std::string::npos) << wrong;
}

TEST(Seed, IsANumberOrRefused) {
  EXPECT_EQ(parse_seed("20261122"), 20261122u);
  EXPECT_EQ(parse_seed("0x10"), 16u);
  EXPECT_EQ(parse_seed("18446744073709551615"), ~std::uint64_t{0});
  for (const char* wrong : {"", "abc", "1x", "-1", " 1", "0x", "18446744073709551616", "1e3"})
    EXPECT_THROW(parse_seed(wrong), std::runtime_error) << wrong;
}

}  // namespace
}  // namespace tcq
