// The page of each folder that is a link layer: it is there, it names every header and source of the
// folder and nothing that is not, and its line `May include:` has the layers that CMake gives the
// folder directly. What the words say is not checked. Example: `maps_*.cc` names all makers of Maps,
// and `tile.h` names tile.cc as well.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

const fs::path kRoot = tcq::source_tree();

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What `pattern` captures in `text`, one group.
std::vector<std::string> captured(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> all;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
    all.push_back((*it)[1]);
  return all;
}

// ---- What CMake says ----------------------------------------------------------------------------

std::string build_text() {
  std::string text = text_of(kRoot / "CMakeLists.txt");
  for (const fs::directory_entry& folder : fs::directory_iterator(kRoot / "cuda")) {
    if (!folder.is_directory()) continue;
    for (const fs::directory_entry& file : fs::directory_iterator(folder))
      if (file.path().extension() == ".cmake") text += "\n" + text_of(file.path());
  }
  return std::regex_replace(text, std::regex("#[^\n]*"), "");
}

// Layer -> the layers that its line names. A library that is no layer stands for what it is linked
// with: tcq_probe_text for sim/alu. Those from outside, hwy::hwy, are left out.
struct Layers {
  std::map<std::string, Words> lines;          // folder -> words of its line
  std::map<std::string, Words> links;          // library that is no layer -> what it is linked with
  std::map<std::string, std::string> folders;  // sim_isa_base -> sim/isa/base

  void add(const std::string& word, Words& out) const {
    const std::string target = std::regex_replace(word, std::regex("/"), "_");
    if (const auto folder = folders.find(target); folder != folders.end()) {
      out.insert(folder->second);
    } else if (const auto library = links.find(word); library != links.end()) {
      for (const std::string& next : library->second) add(next, out);
    }
  }
  Words below(const std::string& folder) const {
    Words out;
    for (const std::string& word : lines.at(folder)) add(word, out);
    return out;
  }
};

Words split(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

const Layers& layers() {
  static const Layers all = [] {
    static const std::regex line(R"(\btcq_(?:cuda_)?layer\(([a-z0-9_/]+)([^)]*)\))");
    static const std::regex library(R"(\btarget_link_libraries\(([a-z0-9_]+) PUBLIC ([^)]*)\))");
    Layers made;
    const std::string text = build_text();
    for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) {
      if (std::string(it->prefix()).ends_with("function(")) continue;
      const std::string folder = (*it)[1];
      made.lines[folder] = split((*it)[2]);
      made.folders[std::regex_replace(folder, std::regex("/"), "_")] = folder;
    }
    for (std::sregex_iterator it(text.begin(), text.end(), library), end; it != end; ++it)
      made.links[(*it)[1]].merge(split((*it)[2]));
    return made;
  }();
  return all;
}

// Folders that owe a page, link layers or not.
Words folders_with_pages() {
  Words all = {"sim/isa", "tools", "tests/support"};
  for (const auto& [folder, line] : layers().lines) all.insert(folder);
  return all;
}

// ---- What a page says ---------------------------------------------------------------------------

fs::path page_of(const std::string& folder) { return kRoot / folder / "README.md"; }

// Without blocks of code, which may name anything.
std::string prose_of(const std::string& folder) {
  std::string prose;
  std::istringstream in(text_of(page_of(folder)));
  bool code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```"))
      code = !code;
    else if (!code)
      prose += line + "\n";
  }
  return prose;
}

std::vector<std::string> named_files(const std::string& prose) {
  static const std::regex name(
      R"(`([A-Za-z0-9_./*]*[A-Za-z0-9_*]\.(?:h|cuh|inc|cc|cu|md|cmake|map|sh|in|json|py|js))`)");
  return captured(prose, name);
}

std::vector<std::string> links_of(const std::string& prose) {
  static const std::regex link(R"(\]\(([^)#:]+)(?:#[^)]*)?\))");
  return captured(prose, link);
}

bool matches(const std::string& file, const std::string& pattern) {
  std::string regex;
  for (const char c : pattern) regex += c == '*' ? "[^/]*" : c == '.' ? "\\." : std::string(1, c);
  return std::regex_match(file, std::regex(regex));
}

// Headers and sources of the folder, relative to it; those of its folders that have no page of their
// own are its, too.
Words files_of(const std::string& folder) {
  static const Words kinds = {".h", ".cuh", ".inc", ".cc", ".cu"};
  static const Words elsewhere = {"python", "install",
                                  "explorer"};  // of tools: programs, no layers
  Words files;
  for (fs::recursive_directory_iterator it(kRoot / folder), end; it != end; ++it) {
    const std::string name = fs::relative(it->path(), kRoot / folder).generic_string();
    if (it->is_directory()) {
      const bool own =
          layers().lines.contains(folder + "/" + name) || fs::exists(it->path() / "README.md");
      if (own || (folder == "tools" && elsewhere.contains(name))) it.disable_recursion_pending();
    } else if (kinds.contains(it->path().extension().string())) {
      files.insert(name);
    }
  }
  return files;
}

// A header and the source beside it have one name.
bool is_named(const std::string& file, const Words& files, const std::vector<std::string>& names) {
  const fs::path stem = fs::path(file).replace_extension();
  for (const std::string& beside : files) {
    if (fs::path(beside).replace_extension() != stem) continue;
    for (const std::string& name : names)
      if (matches(beside, name)) return true;
  }
  return false;
}

// A name, or a pattern as its last part, seen from one of `places`.
bool exists(const std::string& name, const std::vector<fs::path>& places) {
  const fs::path last = fs::path(name).filename();
  for (const fs::path& place : places) {
    const fs::path folder = (place / name).parent_path();
    if (!fs::is_directory(folder)) continue;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (matches(entry.path().filename().string(), last.string())) return true;
  }
  return false;
}

// ---- The rules ----------------------------------------------------------------------------------

TEST(FolderReadme, TheBuildNamesLayers) {
  EXPECT_GT(layers().lines.size(), 30u) << "is this the source tree? " << kRoot;
  EXPECT_EQ(layers().below("sim/isa/tcgen05"), (Words{"sim/isa/tmem", "sim/isa/wgmma"}));
  EXPECT_EQ(layers().below("cuda/probe"),
            (Words{"cuda/ptx", "cuda/runtime", "sim/alu", "sim/num/inputs"}));
}

TEST(FolderReadme, EveryFolderHasAPageThatAPageAboveLinks) {
  for (const std::string& folder : folders_with_pages()) {
    ASSERT_TRUE(fs::exists(page_of(folder))) << folder << ": README.md is missing";
    fs::path above = fs::path(folder).parent_path();
    while (!above.empty() && !fs::exists(kRoot / above / "README.md")) above = above.parent_path();
    if (above.empty()) continue;
    const std::string link =
        fs::path(folder).lexically_relative(above).generic_string() + "/README.md)";
    EXPECT_NE(text_of(kRoot / above / "README.md").find("(" + link), std::string::npos)
        << above.generic_string() << "/README.md does not link " << link;
  }
}

TEST(FolderReadme, NamesEveryHeaderAndSource) {
  for (const std::string& folder : folders_with_pages()) {
    const std::vector<std::string> names = named_files(prose_of(folder));
    const Words files = files_of(folder);
    EXPECT_EQ(files.empty(), folder == "sim/isa") << folder;
    for (const std::string& file : files)
      EXPECT_TRUE(is_named(file, files, names)) << folder << "/README.md does not name " << file;
  }
}

// A name is seen from the page's folder, from the root or, in the row of a folder, from the page that
// the row links. Whether links lead somewhere: tests/cli/readme_test.cc.
TEST(FolderReadme, NamesNothingThatIsNotThere) {
  for (const std::string& folder : folders_with_pages()) {
    std::istringstream prose(prose_of(folder));
    for (std::string line; std::getline(prose, line);) {
      std::vector<fs::path> places = {kRoot / folder, kRoot};
      for (const std::string& link : links_of(line))
        places.push_back((kRoot / folder / link).parent_path());
      for (const std::string& name : named_files(line))
        EXPECT_TRUE(exists(name, places)) << folder << "/README.md: there is no " << name;
    }
  }
}

TEST(FolderReadme, MayIncludeWhatTheBuildLinks) {
  static const std::regex line(R"((?:^|\n)May include: ([^\n]*))"), name(R"(`([a-z0-9_/]+)`)");
  for (const auto& [folder, words] : layers().lines) {
    const std::vector<std::string> lines = captured(prose_of(folder), line);
    ASSERT_EQ(lines.size(), 1u) << folder << "/README.md: one line `May include:`";
    const std::vector<std::string> said = captured(lines[0], name);
    EXPECT_EQ(Words(said.begin(), said.end()), layers().below(folder))
        << folder << "/README.md, May include:";
  }
}

}  // namespace
