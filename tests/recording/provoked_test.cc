// The recording of provoked bugs (tools/provoke): correct programs misbehaved never.
//
// What the mutants did is evidence and not a law: it is read and counted, and printed by the tool.
// The laws themselves are held by a small sample. The file: oracle/recording/provoked.h.
#include "oracle/recording/provoked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle/recording/files.h"
#include "tests/support/sealed_file.h"
#include "tests/support/source_tree.h"

namespace tcq {
namespace {

struct Line {
  std::string row, program, version;
  std::uint64_t runs = 0, wrong = 0, timeouts = 0;
  std::string end;
};

struct Recording {
  oracle::Header header;
  std::vector<Line> lines;
};

// Throws oracle::BadFile or std::invalid_argument for text that is no recording.
Recording parse(const std::string& text) {
  const oracle::ProvokedFile file = oracle::parse_provoked(text);
  Recording recording{file.header, {}};
  for (const std::vector<std::string>& f : file.lines)
    recording.lines.push_back(
        {f[0], f[1], f[2], std::stoull(f[3]), std::stoull(f[4]), std::stoull(f[5]), f[6]});
  return recording;
}

const std::set<std::string>& known_rows() {
  static const std::set<std::string> rows = {"P1", "P2", "P3", "P4", "W2", "W3", "W5", "B1",  "B2",
                                             "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "R1"};
  return rows;
}

// Empty if the recording keeps every law, else the first line that does not.
std::string broken_law(const Recording& recording) {
  std::map<std::string, int> versions;
  for (const Line& l : recording.lines) {
    const std::string name = l.row + " " + l.program + " " + l.version;
    const bool correct = l.version == "correct";
    if (!known_rows().contains(l.row)) return name + ": no such row";
    if (!correct && l.version != "mutant") return name + ": no such version";
    if (l.wrong > l.runs) return name + ": more wrong runs than runs";
    if (correct && (l.end != "completed" || l.runs == 0 || l.wrong != 0 || l.timeouts != 0))
      return name + ": a correct program misbehaved";
    versions[l.row + " " + l.program] += correct ? 1 : 2;
  }
  for (const auto& [program, seen] : versions)
    if (seen != 3) return program + ": not once correct and once mutant";
  return "";
}

const std::string sample =
    "W5\tearly release\tcorrect\t10\t0\t0\tcompleted\n"
    "W5\tearly release\tmutant\t10\t7\t0\tcompleted\n"
    "R1\tpool exceeded\tcorrect\t10\t0\t0\tcompleted\n"
    "R1\tpool exceeded\tmutant\t0\t0\t0\tkilled\n";

// A recording of these lines, with checksums that are right.
Recording parse_lines(const std::string& lines) {
  const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  return parse(sealed("# tcq provoked 2\n# device: a sample\n", lines, count));
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = sample;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Provoked, ARecordingIsReadWhole) {
  const Recording recording = parse_lines(sample);
  ASSERT_EQ(recording.lines.size(), 4u);
  EXPECT_EQ(recording.header.at("device"), "a sample");
  EXPECT_EQ(recording.lines[1].wrong, 7u);
  EXPECT_EQ(recording.lines[3].end, "killed");
  EXPECT_EQ(broken_law(recording), "");
}

TEST(Provoked, EveryBrokenLawIsNoticed) {
  const auto law_of = [](const std::string& from, const std::string& to) {
    return broken_law(parse_lines(replaced(from, to)));
  };
  EXPECT_NE(law_of("correct\t10\t0\t0", "correct\t10\t1\t0"), "");
  EXPECT_NE(law_of("correct\t10\t0\t0", "correct\t10\t0\t1"), "");
  EXPECT_NE(law_of("0\t0\tcompleted", "0\t0\tkilled"), "");
  EXPECT_NE(law_of("correct\t10\t0\t0", "correct\t0\t0\t0"), "");
  EXPECT_NE(law_of("mutant\t10\t7", "mutant\t10\t11"), "");
  EXPECT_NE(law_of("W5\tearly", "W9\tearly"), "");
  EXPECT_NE(law_of("release\tmutant", "release\tcorrected"), "");
  EXPECT_NE(law_of("W5\tearly release\tmutant\t10\t7\t0\tcompleted\n", ""), "");
}

TEST(Provoked, DamagedTextIsRefused) {
  EXPECT_ANY_THROW(parse(""));
  EXPECT_ANY_THROW(parse(sealed("# tcq provoked 2\n", sample, 3)));
  EXPECT_ANY_THROW(parse_lines(replaced("\tkilled", "")));
  EXPECT_ANY_THROW(parse_lines(replaced("\t7\t", "\tseven\t")));
}

TEST(Provoked, CorrectProgramsNeverMisbehavedOnTheDevice) {
  const Recording recording =
      parse(oracle::read_file(source_file("tests/vectors/provoked.txt").string()));
  EXPECT_EQ(broken_law(recording), "");
  std::set<std::string> rows;
  for (const Line& line : recording.lines) rows.insert(line.row);
  EXPECT_EQ(rows, known_rows());
  for (const char* key : {"device", "driver", "cuda", "date"})
    EXPECT_TRUE(recording.header.contains(key)) << key;
}

TEST(Provoked, SerializeIsTheInverseOfParse) {
  const std::string bytes = oracle::read_file(source_file("tests/vectors/provoked.txt").string());
  EXPECT_EQ(oracle::serialize(oracle::parse_provoked(bytes)), bytes);
}

}  // namespace
}  // namespace tcq
