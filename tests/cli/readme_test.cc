// Every README.md of the tree and every page of docs/ tells the truth: each `$ tcq ...` line in a
// console block prints exactly what stands below it, each link to a file or folder of the tree leads
// somewhere, and each picture in docs/pictures is, byte for byte, what a command of its page draws.
//
// A line `...` stands for any number of lines. Other `$` lines (the two commands) are checked to exist.
// Pictures are drawn into a temporary folder: no command writes into the tree.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string at;  // file:line
  std::string command;
  std::vector<std::string> output;
};

const std::string pictures = "docs/pictures/";

std::vector<fs::path> guide() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(source_tree() / "docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found = guide();
  found.push_back(source_tree() / "README.md");
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

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A page says `tcq`; the shell runs the binary under test, from the top of the source tree.
std::string shell_line(const std::string& command) {
  return std::string("cd '") + source_tree().string() + "' && tcq() { '" + TCQ_BINARY +
         "' \"$@\"; }; " + command;
}

// What the command prints; the pictures that it draws are in `drawn`. What several pages ask runs once.
std::string output_of(const Example& example, const TemporaryFolder& drawn) {
  static std::map<std::string, std::string> known;
  const std::string there = drawn.file("");
  const std::string command = replaced(example.command, pictures, there);
  const auto [at, is_new] = known.try_emplace(command);
  if (is_new)
    at->second = replaced(tests::run("/bin/sh", {"-c", shell_line(command)}).out, there, pictures);
  return at->second;
}

// The file that a command with --svg draws, or nothing.
std::string picture_of(const std::string& command) {
  static const std::regex option(R"(--svg (\S+))");
  std::smatch found;
  return std::regex_search(command, found, option) ? found[1].str() : "";
}

void expect_true(const Example& example, const TemporaryFolder& drawn) {
  if (example.command.find("tcq ") == std::string::npos) {
    const std::string script = example.command.substr(0, example.command.find(' '));
    EXPECT_TRUE(fs::exists(source_tree() / script)) << example.at;
    return;
  }
  const std::string picture = picture_of(example.command);
  ASSERT_TRUE(picture.empty() || picture.starts_with(pictures))
      << example.at << " draws outside " << pictures;
  const std::vector<std::string> got = lines_of(output_of(example, drawn));
  EXPECT_TRUE(matches(example.output, got))
      << example.at << ": $ " << example.command << "\nprints\n"
      << testing::PrintToString(got);
}

TEST(Readme, EveryCommandPrintsWhatStandsBelowIt) {
  const TemporaryFolder drawn;
  std::size_t ran = 0;
  for (const fs::path& page : pages())
    for (const Example& example : examples_of(page)) {
      expect_true(example, drawn);
      ++ran;
    }
  EXPECT_GE(ran, 90u);
}

TEST(Readme, EveryPictureIsWhatItsPageDraws) {
  const TemporaryFolder drawn;
  for (const fs::path& page : guide()) {
    const std::string text = text_of(page);
    for (const Example& example : examples_of(page)) {
      const fs::path picture = fs::path(picture_of(example.command)).filename();
      if (picture.empty()) continue;
      output_of(example, drawn);
      EXPECT_EQ(text_of(drawn.file(picture.string())), text_of(source_tree() / pictures / picture))
          << example.at << ": $ " << example.command;
      EXPECT_NE(text.find("](pictures/" + picture.string() + ")"), std::string::npos)
          << example.at << " draws " << picture << " and does not show it";
    }
  }
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(source_tree() / pictures)) {
    EXPECT_TRUE(fs::exists(drawn.file(entry.path().filename().string())))
        << "no page draws " << entry.path();
    ++kept;
  }
  EXPECT_GE(kept, 10u);
}

TEST(Readme, TheIndexNamesEveryPage) {
  const std::string index = text_of(source_tree() / "docs/README.md");
  for (const fs::path& page : guide()) {
    if (page.filename() == "README.md") continue;
    EXPECT_NE(index.find("](" + page.filename().string() + ")"), std::string::npos) << page;
  }
}

TEST(Readme, EveryLinkLeadsSomewhere) {
  static const std::regex link(R"(\]\(([^)#:]+)\))");
  std::size_t links = 0;
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      EXPECT_TRUE(fs::exists(page.parent_path() / (*it)[1].str())) << page << ": " << (*it)[1];
      ++links;
    }
  }
  EXPECT_GE(links, 5u);
}

}  // namespace
}  // namespace tcq
