// record and sweep without a GPU: arguments, existing files, state files. Their work on a device is
// live_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/run_tcq.h"
#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::tests {
namespace {

class ToolsTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
    return folder_.file(name);
  }
  static std::string read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string path(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
};

using Record = ToolsTest;
using Sweep = ToolsTest;

TEST_F(Record, RefusesToOverwriteWithoutForceAndLeavesTheFileAlone) {
  const std::string file = write("old.tcqv", "precious");
  const Finished f = run(TCQ_RECORD, {"slots", "--out", file});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.err.find("--force"), std::string::npos) << f.err;
  EXPECT_EQ(read(file), "precious");
}

TEST_F(Record, BadArgumentsAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{},
        {"slots"},
        {"slots", "--frobnicate"},
        {"directed", "--out", path("x")},
        {"tcgen05"},
        {"slots", "--out", path("x"), "--limit", "0"},
        {"tcgen05_shfit", "--out", path("x")},
        {"check", "--only", "shfit"},
        {"check", "--stage", "pair"},
        {"tcgen05_cp", "--out", path("x"), "--stage", "cp"},
        {"slots", "--out", path("x"), "--seed", "many"}}) {
    const Finished f = run(TCQ_RECORD, arguments);
    EXPECT_EQ(f.status, 2) << f.err;
    EXPECT_FALSE(f.err.empty() && f.out.empty());
    EXPECT_FALSE(std::filesystem::exists(path("x")));
  }
}

TEST_F(Record, UnknownSuiteNamesTheNearest) {
  const Finished f = run(TCQ_RECORD, {"slot", "--out", path("x")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.err.find("slots"), std::string::npos) << f.err;
}

TEST_F(Record, ATcgen05FolderKeepsAnyOfItsFiles) {
  write("tcgen05_cp.tcqv", "precious");
  const Finished f = run(TCQ_RECORD, {"tcgen05", "--out", path("")});
  EXPECT_EQ(f.status, 2);
  EXPECT_NE(f.err.find("tcgen05_cp.tcqv"), std::string::npos) << f.err;
}

// With such a device it records, or compares: then the simulator equals it.
TEST_F(Record, WithoutADeviceItSaysSoInOneSentenceAndWritesNothing) {
  for (const std::string suite : {"tcgen05_shift", "matrix"})
    for (const char* command : {suite.c_str(), "check"}) {
      const Finished f = run(TCQ_RECORD, {command, "--out", path("x"), "--only", suite});
      const bool has_device = f.err.empty() && !f.out.empty();
      if (has_device) {
        EXPECT_EQ(f.status, 0) << f.out;
        if (command == std::string("check")) continue;
        const Finished verified = run_tcq({"verify", path("x")});
        EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
        std::filesystem::remove(path("x"));
        continue;
      }
      EXPECT_EQ(f.status, 3) << f.err;
      EXPECT_EQ(f.out, "");
      EXPECT_EQ(std::ranges::count(f.err, '\n'), 1) << f.err;
      EXPECT_FALSE(std::filesystem::exists(path("x")));
      EXPECT_FALSE(std::filesystem::exists(path("x.journal")));
    }
}

// What a stage of tests/blackwell takes for skipped.
TEST_F(Record, AStageWithoutItsDeviceIsStatusThree) {
  for (const char* stage : {"ld-st", "cp", "mma", "pairs", "alloc"}) {
    const Finished f = run(TCQ_RECORD, {"check", "--stage", stage});
    const bool has_device = !f.out.empty();
    EXPECT_EQ(f.status, has_device ? 0 : 3) << f.out << f.err;
  }
}

// What record explains needs no device.
TEST_F(Record, ExplainsARecordingThatDiffersNowhere) {
  const std::string file = source_file("tests/vectors/matrix.tcqv").string();
  const Finished f = run(TCQ_RECORD, {"explain", "--in", file});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_EQ(f.out, "240 cases, 233472 outputs, 0 differ\n");
}

constexpr const char* header = "{\"tcq sweep\":1,\"seed\":5,\"tiles_per_unit\":4096}\n";

std::string unit(int form, int index, int bits) {
  std::string line = "{\"form\":" + std::to_string(form) + ",\"unit\":" + std::to_string(index) +
                     ",\"outputs\":[100,0,0,0,0,0,0,0,0,0,0],\"differing_bits\":[" +
                     std::to_string(bits) + ",0,0,0,0,0,0,0,0,0,0]}\n";
  return line;
}

TEST_F(Sweep, ReportAddsUpTheShards) {
  const std::string first = write("a", std::string(header) + unit(0, 0, 0) + unit(1, 0, 0));
  const std::string second = write("b", std::string(header) + unit(0, 1, 0));
  const Finished f = run(TCQ_SWEEP, {"--report", first, second});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_NE(f.out.find("300"), std::string::npos) << f.out;
}

TEST_F(Sweep, OneDifferingBitIsStatusOne) {
  const std::string file = write("a", std::string(header) + unit(0, 0, 0) + unit(3, 0, 1));
  EXPECT_EQ(run(TCQ_SWEEP, {"--report", file}).status, 1);
}

TEST_F(Sweep, ALineThatWasCutOffDoesNotCount) {
  const std::string file = write("a", std::string(header) + unit(0, 0, 0) + "{\"form\":1,\"uni");
  const Finished f = run(TCQ_SWEEP, {"--report", file, "--csv"});
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_NE(f.out.find(",100,0,5"), std::string::npos) << f.out;
}

TEST_F(Sweep, DamagedStateFilesAreUsageErrors) {
  for (const std::string& text :
       {std::string(), std::string("nonsense\n"), unit(0, 0, 0), std::string(header) + "[]\n",
        std::string(header) + unit(9999, 0, 0),
        std::string(header) + "{\"form\":0,\"unit\":0,\"outputs\":[1],\"differing_bits\":7}\n"}) {
    const Finished f = run(TCQ_SWEEP, {"--report", write("a", text)});
    EXPECT_EQ(f.status, 2) << text << f.out;
    EXPECT_FALSE(f.err.empty());
  }
  EXPECT_EQ(run(TCQ_SWEEP, {"--report", path("missing")}).status, 2);
}

TEST_F(Sweep, BadShardsAreUsageErrors) {
  for (const char* shard : {"3", "3/3", "a/b", "1/0", "-1/4", "/"}) {
    const Finished f = run(TCQ_SWEEP, {"--shard", shard, "--state", path("s")});
    EXPECT_EQ(f.status, 2) << shard;
    EXPECT_NE(f.err.find("shard"), std::string::npos) << f.err;
  }
}

}  // namespace
}  // namespace tcq::tests
