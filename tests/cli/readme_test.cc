// Every README.md of the tree tells the truth: each `$ tcq ...` line in a console block prints exactly
// what stands below it, and each link to a file or folder of the tree leads somewhere.
//
// A line `...` stands for any number of lines. Other `$` lines (the two commands) are checked to exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"

namespace tcq {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string at;  // file:line
  std::string command;
  std::vector<std::string> output;
};

std::vector<fs::path> readmes() {
  std::vector<fs::path> found = {source_tree() / "README.md"};
  for (const char* folder : {"sim", "oracle", "cuda", "tests", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(source_tree() / folder))
      if (entry.path().filename() == "README.md") found.push_back(entry.path());
  return found;
}

std::vector<Example> examples_of(const fs::path& readme) {
  std::ifstream file(readme);
  std::vector<Example> found;
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```"))
      in_block = line == "```console";
    else if (in_block && line.starts_with("$ "))
      found.push_back({readme.string() + ":" + std::to_string(number), line.substr(2), {}});
    else if (in_block && !found.empty())
      found.back().output.push_back(line);
  }
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

void expect_true(const Example& example) {
  if (example.command.find("tcq ") == std::string::npos) {
    const std::string script = example.command.substr(0, example.command.find(' '));
    EXPECT_TRUE(fs::exists(source_tree() / script)) << example.at;
    return;
  }
  const std::vector<std::string> got =
      lines_of(tests::run("/bin/sh", {"-c", shell_line(example.command)}).out);
  EXPECT_TRUE(matches(example.output, got))
      << example.at << ": $ " << example.command << "\nprints\n"
      << testing::PrintToString(got);
}

TEST(Readme, EveryCommandPrintsWhatStandsBelowIt) {
  std::size_t ran = 0;
  for (const fs::path& readme : readmes())
    for (const Example& example : examples_of(readme)) {
      expect_true(example);
      ++ran;
    }
  EXPECT_GE(ran, 7u);
}

TEST(Readme, EveryLinkLeadsSomewhere) {
  static const std::regex link(R"(\]\(([^)#:]+)\))");
  std::size_t links = 0;
  for (const fs::path& readme : readmes()) {
    std::ifstream file(readme);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      EXPECT_TRUE(fs::exists(readme.parent_path() / (*it)[1].str())) << readme << ": " << (*it)[1];
      ++links;
    }
  }
  EXPECT_GE(links, 5u);
}

}  // namespace
}  // namespace tcq
