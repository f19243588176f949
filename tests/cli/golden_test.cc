// Answers do not change unnoticed: every question of tests/cli/golden.txt, asked of the tcq
// binary in text and as JSON, answers with the bytes that stand below it.
//
// The file: `$ ` begins a question (words after tcq), `< ` a line of its stdin; what follows, up to the
// next question, is written by this test: `> ` stdout, `! ` stderr, `= ` the status unless it is 0, and
// after a line `json` the same with --json. Long answers keep their beginning and a hash of all.
//
// With TCQ_UPDATE_GOLDEN=1 in the environment the test writes the file anew and skips; what changed is
// then read in review. To add a question, add its line and update.
#include "tests/cli/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace tcq::tests {
namespace {

constexpr std::size_t kept_lines = 10;
constexpr std::size_t kept_bytes = 240;

std::uint64_t fnv(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string shortened(const std::string& line) {
  if (line.size() <= kept_bytes) return line;
  return fmt::format("{} ~ {} bytes, {:016x}", line.substr(0, kept_bytes), line.size(), fnv(line));
}

std::string marked(const char* mark, const std::string& text) {
  const std::vector<std::string> lines = split(text, '\n');
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < kept_lines; ++i)
    out += mark + shortened(lines[i]) + "\n";
  if (lines.size() > kept_lines)
    out += fmt::format("{}~ {} lines, {:016x}\n", mark, lines.size(), fnv(text));
  return out;
}

std::string answer(const Asked& asked, bool json) {
  const Finished done = asked_of_tcq(asked, json);
  return marked("> ", done.out) + marked("! ", done.err) +
         (done.status == 0 ? "" : fmt::format("= {}\n", done.status));
}

std::string answers(const Asked& asked) {
  return answer(asked, false) + "json\n" + answer(asked, true);
}

void write(const Golden& golden) {
  std::ofstream file(source_file(golden_file));
  file << golden.head;
  for (const Asked& asked : golden.questions) {
    file << "$ " << asked.question << "\n";
    for (const std::string& line : asked.input) file << "< " << line << "\n";
    file << answers(asked);
  }
}

TEST(Golden, EveryQuestionAnswersWithTheRecordedBytes) {
  const Golden golden = read_golden();
  ASSERT_GE(golden.questions.size(), 500u);
  if (std::getenv("TCQ_UPDATE_GOLDEN") != nullptr) {
    write(golden);
    GTEST_SKIP() << golden_file << " is written anew: read its difference";
  }
  for (const Asked& asked : golden.questions)
    EXPECT_EQ(answers(asked), asked.recorded) << "tcq " << asked.question;
}

}  // namespace
}  // namespace tcq::tests
