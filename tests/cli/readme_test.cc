// The READMEs tell the truth: every `$ tcq ...` line in a console block prints exactly what stands
// below it.
//
// A line `...` in a README stands for any number of lines. Other `$` lines (the two commands) are
// checked to exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"

namespace tcq {
namespace {

struct Example {
  std::string place;  // file and line
  std::string command;
  std::vector<std::string> output;
};

void add_examples(const std::string& path, std::vector<Example>& found) {
  std::ifstream file(source_tree() / path);
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```"))
      in_block = line == "```console";
    else if (in_block && line.starts_with("$ "))
      found.push_back({path + ":" + std::to_string(number), line.substr(2), {}});
    else if (in_block && !found.empty())
      found.back().output.push_back(line);
  }
}

std::vector<Example> examples() {
  std::vector<Example> found;
  for (const char* path : {"README.md", "tests/vectors/README.md"}) add_examples(path, found);
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool matches(const std::vector<std::string>& want, const std::vector<std::string>& got) {
  std::size_t g = 0;
  for (std::size_t w = 0; w < want.size(); ++w) {
    if (want[w] == "...") {
      if (w + 1 == want.size()) return true;
      while (g < got.size() && got[g] != want[w + 1]) ++g;
    } else if (g >= got.size() || got[g++] != want[w]) {
      return false;
    }
  }
  return g == got.size();
}

// The README says `tcq`; the shell runs the binary under test, from the top of the source tree.
std::string shell_line(const std::string& command) {
  return std::string("cd '") + source_tree().string() + "' && tcq() { '" + TCQ_BINARY +
         "' \"$@\"; }; " + command;
}

TEST(Readme, EveryCommandPrintsWhatStandsBelowIt) {
  const std::vector<Example> all = examples();
  int ran = 0;
  for (const Example& example : all) {
    if (example.command.find("tcq ") == std::string::npos) {
      const std::string script = example.command.substr(0, example.command.find(' '));
      EXPECT_TRUE(std::filesystem::exists(source_tree() / script)) << example.place;
      continue;
    }
    ++ran;
    const std::vector<std::string> got =
        lines_of(tests::run("/bin/sh", {"-c", shell_line(example.command)}).out);
    EXPECT_TRUE(matches(example.output, got))
        << example.place << ": $ " << example.command << "\nprints\n"
        << testing::PrintToString(got);
  }
  EXPECT_GE(ran, 5);
}

}  // namespace
}  // namespace tcq
