// The design's rules that a compiler cannot check: what sim includes from outside, what a layer never
// contains, evidence lines that name existing recordings, and plain hygiene. It reads the project's
// folders at source_tree() as text and reports `file:line: rule: the line`.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_tree.h"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = tcq::source_tree();

// One file, split into lines three ways; line i of every view is line i of the file.
struct File {
  std::string path;                // relative to the root, with '/'
  std::vector<std::string> lines;  // as written
  std::vector<std::string> code;   // comments and the inside of literals are blank (C++ files only)
  std::vector<std::string> comments;  // everything but comments is blank (C++ files only)

  bool under(std::string_view folder) const { return path.starts_with(std::string(folder) + "/"); }
  bool ends_with_any(std::initializer_list<std::string_view> endings) const {
    return std::any_of(endings.begin(), endings.end(),
                       [this](std::string_view e) { return path.ends_with(e); });
  }
  bool header() const { return ends_with_any({".h", ".cuh", ".hpp", ".inc"}); }
  bool cpp() const { return header() || ends_with_any({".cc", ".cu", ".cpp"}); }
  bool data() const {
    return ends_with_any({".txt", ".json", ".csv", ".md", ".svg", ".in", ".ptx"});
  }
};

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Fills `code` and `comments`. Example: `x = "a//b";  // c` has code `x = "    ";` and comment `//
// c`.
void separate_comments(const std::string& text, File& file) {
  std::string code(text.size(), ' '), comments(text.size(), ' ');
  size_t i = 0;
  const auto keep = [&](std::string& view, size_t end) {
    for (end = std::min(end, text.size()); i < end; ++i) view[i] = text[i];
  };
  const auto past = [&](std::string_view what, size_t from) {
    const size_t at = text.find(what, from);
    return at == std::string::npos ? text.size() : at + what.size();
  };
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (i < text.size()) {
    const char c = text[i];
    const char before = i > 0 ? text[i - 1] : ' ';
    if (text.compare(i, 2, "//") == 0) {
      keep(comments, std::min(text.find('\n', i), text.size()));
    } else if (text.compare(i, 2, "/*") == 0) {
      keep(comments, past("*/", i + 2));
    } else if (c == '"' && before == 'R') {
      const size_t open = std::min(text.find('(', i), text.size());
      const size_t end = past(")" + text.substr(i + 1, open - i - 1) + "\"", open);
      code[i] = code[end - 1] = '"';
      i = end;
    } else if (c == '"' || (c == '\'' && !word(before))) {  // a ' after a digit separates digits
      code[i++] = c;
      while (i < text.size() && text[i] != c && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
      if (i < text.size()) code[i++] = c;
    } else {
      code[i++] = c;
    }
  }
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\n') code[k] = comments[k] = '\n';
  }
  file.code = split_lines(code);
  file.comments = split_lines(comments);
}

std::vector<File> read_tree() {
  std::vector<File> files;
  const auto add = [&files](const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.find('\0') != std::string::npos) return;
    File file{fs::relative(path, kRoot).generic_string(), split_lines(text), {}, {}};
    if (file.cpp()) separate_comments(text, file);
    files.push_back(std::move(file));
  };
  for (const char* folder : {"sim", "oracle", "cuda", "tests", "tools", "docs"}) {
    if (!fs::is_directory(kRoot / folder)) continue;
    for (fs::recursive_directory_iterator it(kRoot / folder), end; it != end; ++it) {
      const std::string name = it->path().filename().string();
      if (it->is_directory()) {
        if (name == "vectors" || name == "corpus" || name.starts_with("__") || name[0] == '.')
          it.disable_recursion_pending();
      } else if (it->is_regular_file() && name[0] != '.') {
        add(it->path());
      }
    }
  }
  for (const char* name : {"CMakeLists.txt", "CMakePresets.json", "README.md"}) {
    if (fs::is_regular_file(kRoot / name)) add(kRoot / name);
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree();
  return files;
}

// What one rule found; fails the test at its end when that is anything.
class Violations {
 public:
  Violations() = default;
  Violations(const Violations&) = delete;
  Violations& operator=(const Violations&) = delete;
  ~Violations() {
    if (!text_.empty()) ADD_FAILURE() << text_;
  }
  void add(const File& file, size_t line, const std::string& rule) {
    text_ += file.path + ":" + std::to_string(line + 1) + ": " + rule;
    if (line < file.lines.size()) text_ += ": " + file.lines[line].substr(0, 120);
    text_ += "\n";
  }

 private:
  std::string text_;
};

bool finds(const std::string& line, const std::regex& pattern) {
  return std::regex_search(line, pattern);
}

// ---- What each layer may include ----------------------------------------------------------------

// What follows a product in the GEMM's epilogue: f32 operations, the same on host and device, which
// the reference path of an instruction never uses.
bool is_float_arithmetic(const File& file) {
  return file.path == "sim/num/activation.h" || file.path == "sim/num/quantize.h";
}

// Which folders of the project a layer may include the compiler says (CMakeLists.txt, tcq_layer); it
// cannot say what comes from outside.
// The layers that nvcc compiles, too; sim/num/fast, the same sums in vectors, is for the host.
bool is_for_devices(const File& file) {
  return (file.under("sim/isa") || file.under("sim/num")) && !file.under("sim/num/fast");
}

TEST(Lint, SimIncludesLittleFromOutside) {
  static const std::regex include(R"re(^\s*#\s*include\s*<([^>]+)>)re");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.cpp() || !file.under("sim") || is_float_arithmetic(file)) continue;
    const bool device = is_for_devices(file);
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (file.code[i].find("include") == std::string::npos) continue;
      if (!std::regex_search(file.lines[i], match, include)) continue;
      const std::string name = match[1];
      if (file.under("sim/num/fast") && name.starts_with("hwy/")) continue;
      if (device && name != "cstdint")
        bad.add(file, i, "sim/isa and sim/num may include only <cstdint> from outside");
      else if (name.find_first_of("./") != std::string::npos)
        bad.add(file, i, "sim may include only the standard library from outside");
    }
  }
}

// ---- What a layer never contains ----------------------------------------------------------------

TEST(Lint, IsaAndNumHaveNoFloatingPointContainersOrExceptions) {
  static const std::regex word(
      R"(\b(float|double|throw)\b|\bstd::(vector|string|map|optional|array)\b)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.cpp() || !is_for_devices(file) || is_float_arithmetic(file)) continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      if (finds(file.code[i], word))
        bad.add(file, i, "no float, double, throw or std containers here");
    }
  }
}

// True when `line` has a shift: `<<` that is no launch, or `>>` that closes no templates. A closer
// touches the word before it, has no number after it and two open `<` in its statement; `open`
// counts those across lines.
bool has_shift(const std::string& line, int& open) {
  bool shift = false;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    const size_t end = std::min(line.find_first_not_of(c, i), line.size());
    if (c == ';') open = 0;
    if (c == '<') {
      shift = shift || end - i == 2;
      if (end - i == 1) ++open;
    } else if (c == '>' && !(i > 0 && line[i - 1] == '-')) {  // not ->
      const size_t next = std::min(line.find_first_not_of(' ', end), line.size());
      const bool closes =
          open >= 2 && i > 0 && line[i - 1] != ' ' &&
          !(next < line.size() && std::isdigit(static_cast<unsigned char>(line[next])));
      shift = shift || (end - i == 2 && !closes);
      if (end - i != 3 || open >= 3) open = std::max(0, open - static_cast<int>(end - i));
    }
    i = c == '<' || c == '>' ? end : i + 1;
  }
  return shift;
}

TEST(Lint, CudaNeverShiftsOrMasks) {
  static const std::regex mask(R"((^|[^&])&=?\s*0[xX]|%=?\s*8\b)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.cpp() || !file.under("cuda")) continue;
    int open = 0;
    for (size_t i = 0; i < file.code.size(); ++i) {
      if (has_shift(file.code[i], open)) bad.add(file, i, "no shifts in cuda; ask sim/isa");
      if (finds(file.code[i], mask)) bad.add(file, i, "no masks and no % 8 in cuda; ask sim/isa");
    }
  }
}

// Only a named value shifted by a number counts: sizes such as `1 << 20` and streams are fine.
TEST(Lint, OracleAndToolsHaveNoBitFormulas) {
  static const std::regex mask(R"((^|[^&])&=?\s*0[xX][0-9a-fA-F]+)");
  static const std::regex shift(R"((\b[A-Za-z_]\w*|[)\]])\s*(<<|>>)=?\s*[0-9])");
  static const std::regex stream(R"(<<\s*"|"\s*<<|\b(out|os|ss|cout|cerr|stream|text)\s*<<)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.cpp() || !(file.under("oracle") || file.under("tools"))) continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      const std::string& line = file.code[i];
      if (finds(line, mask)) bad.add(file, i, "no hex masks outside sim; ask sim/isa");
      if (finds(line, shift) && !finds(line, stream)) {
        bad.add(file, i, "no shifts by constants outside sim; ask sim/isa");
      }
    }
  }
}

// ---- Evidence -----------------------------------------------------------------------------------

// The comment paragraph that starts at `line`, up to the next tagged line or the comment's end.
std::string evidence_at(const File& file, size_t line) {
  static const std::regex next(R"((Shape|Unit|Requires|Faults|Source|Measured|Inferred):)");
  std::string text = file.comments[line];
  for (size_t i = line + 1; i < file.comments.size(); ++i) {
    const std::string& more = file.comments[i];
    if (more.find_first_not_of(" \t/*") == std::string::npos || finds(more, next)) break;
    text += "\n" + more;
  }
  return text;
}

bool recording_exists(std::string name) {
  while (name.ends_with('.')) name.pop_back();
  return name != "tests/vectors/" && fs::exists(kRoot / name);
}

TEST(Lint, MeasuredLinesNameExistingRecordings) {
  static const std::regex recording(R"(tests/vectors/[A-Za-z0-9_.-]*)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.cpp() || !file.under("sim")) continue;
    for (size_t i = 0; i < file.comments.size(); ++i) {
      if (file.comments[i].find("Measured:") == std::string::npos) continue;
      const std::string text = evidence_at(file, i);
      const std::sregex_iterator begin(text.begin(), text.end(), recording), end;
      if (begin == end) bad.add(file, i, "Measured: names no tests/vectors/ file");
      for (auto it = begin; it != end; ++it) {
        if (!recording_exists(it->str())) bad.add(file, i, "there is no recording " + it->str());
      }
    }
  }
}

TEST(Lint, EveryIsaHeaderCarriesEvidence) {
  static const std::set<std::string> no_facts = {"sim/isa/base/host_device.h",
                                                 "sim/isa/base/field.h"};
  static const std::regex evidence(R"((Source|Measured|Inferred):)");
  Violations bad;
  int headers = 0;
  for (const File& file : tree()) {
    if (!file.header() || !file.under("sim/isa")) continue;
    ++headers;
    if (no_facts.contains(file.path)) continue;
    if (std::none_of(file.comments.begin(), file.comments.end(),
                     [&](const std::string& line) { return finds(line, evidence); })) {
      bad.add(file, 0, "a fact needs a Source:, Measured: or Inferred: line");
    }
  }
  EXPECT_GT(headers, 0) << "no headers in sim/isa: is this the source tree? " << kRoot;
}

// ---- Hygiene ------------------------------------------------------------------------------------

TEST(Lint, NothingIsLeftToDo) {
  static const std::regex words(R"(\b(TO[D]O|FIX[M]E|XX[X])\b)");  // does not match itself
  Violations bad;
  for (const File& file : tree()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (finds(file.lines[i], words)) bad.add(file, i, "do it, or write a named skipped test");
    }
  }
}

TEST(Lint, NoPathsOfOneMachine) {
  static const std::regex path(R"((^|[^A-Za-z0-9_.])/(work|farm|tmp|root|home)/)");
  Violations bad;
  for (const File& file : tree()) {
    if (file.path.ends_with(".svg")) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (finds(file.lines[i], path))
        bad.add(file, i, "a path of one machine; ask for a temporary folder");
    }
  }
}

// Elsewhere it would be wrong as soon as the build has moved.
TEST(Lint, OneHeaderKnowsWhereTheTestsWereCompiled) {
  static const std::regex macro(R"(\bTCQ_SOURCE_DIR\b)");
  Violations bad;
  for (const File& file : tree()) {
    if (file.path == "tests/support/source_tree.h") continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      if (finds(file.code[i], macro))
        bad.add(file, i, "ask source_tree() of tests/support/source_tree.h");
    }
  }
}

// Tests run side by side, with those of other checkouts, too: all of them share a fixed name under /tmp.
TEST(Lint, OneHeaderMakesTemporaryFiles) {
  static const std::regex temporary(R"(\b(temp_directory_path|TempDir|tmpnam|mkstemp|mkdtemp)\b)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.under("tests") || file.path == "tests/support/temporary_folder.h") continue;
    for (size_t i = 0; i < file.code.size(); ++i) {
      if (finds(file.code[i], temporary))
        bad.add(file, i, "make a TemporaryFolder (tests/support/temporary_folder.h)");
    }
  }
}

TEST(Lint, HeadersBeginWithTheirPurpose) {
  Violations bad;
  for (const File& file : tree()) {
    if (!file.header() || !(file.under("sim") || file.under("oracle"))) continue;
    if (file.lines.empty() || !file.lines[0].starts_with("//")) {
      bad.add(file, 0, "the first line is a comment that says what the file decides");
    }
  }
}

TEST(Lint, NoSourceFileIsLongerThan600Lines) {
  Violations bad;
  for (const File& file : tree()) {
    if (!file.data() && file.lines.size() > 600)
      bad.add(file, 600, "more than 600 lines; split it");
  }
}

// A mutant whose text is no longer there proves nothing, and a draw of some notices it late. No more does one whose tests want
// CUDA's compiler for kernels, without which tests/run_mutants builds: of tests/gemm those that CMakeLists.txt names are left.
TEST(Lint, EveryMutantIsAboutOnePlace) {
  std::map<std::string, std::string> texts;
  const std::string built = text_of(kRoot / "tests/CMakeLists.txt");
  int line = 0;
  for (const std::string& mutant : split_lines(text_of(kRoot / "tests/mutants.txt"))) {
    ++line;
    if (mutant.empty() || mutant.starts_with("#")) continue;
    const std::size_t end = mutant.find(" | "), begin = end + 3;
    ASSERT_NE(end, std::string::npos) << line;
    const std::string file = mutant.substr(0, end);
    const std::string old = mutant.substr(begin, mutant.find(" | ", begin) - begin);
    std::string& text = texts[file];
    if (text.empty()) text = text_of(kRoot / file);
    const std::size_t at = text.find(old);
    EXPECT_TRUE(at != std::string::npos && text.find(old, at + 1) == std::string::npos)
        << "tests/mutants.txt:" << line << ": not once in " << file << ": " << old;
    const std::string test = "gemm/" + mutant.substr(mutant.rfind(" | ") + 3) + ".cc";
    EXPECT_TRUE(!fs::exists(kRoot / "tests" / test) || built.find(test) != std::string::npos)
        << "tests/mutants.txt:" << line << ": not built without CUDA: " << test;
  }
}

// A pattern that matches no test of its program proves nothing, and what runs the others does not say so.
TEST(Lint, EveryMutantNamesTestsOfItsProgram) {
  std::map<std::string, std::string> sources;  // of each test, and of the program of each folder
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = text_of(entry.path());
    sources[entry.path().stem().string()] += text;
    sources[entry.path().parent_path().filename().string() + "_tests"] += text;
  }
  int line = 0;
  for (const std::string& mutant : split_lines(text_of(kRoot / "tests/mutants.txt"))) {
    ++line;
    if (mutant.empty() || mutant.starts_with("#")) continue;
    const std::size_t last = mutant.rfind(" | "), before = mutant.rfind(" | ", last - 1);
    const std::string text = sources[mutant.substr(last + 3)];
    const std::string filter = mutant.substr(before + 3, last - before - 3);
    std::istringstream patterns(filter.substr(0, filter.find('-')));
    for (std::string pattern; std::getline(patterns, pattern, ':');) {
      const std::size_t dot = pattern.find('.');
      if (dot == std::string::npos) continue;  // part of a name
      std::string suite = pattern.substr(pattern.find_last_of('/', dot) + 1, dot);
      suite = suite.substr(0, suite.find('.'));
      std::erase(suite, '*');
      EXPECT_NE(text.find(suite), std::string::npos)
          << "tests/mutants.txt:" << line << ": no such tests there: " << pattern;
    }
  }
}

// What a build that TCQ_DRAW shortens draws from: a name that is missing there is never drawn, or always, and nothing says so.
std::multiset<std::string> drawn_from(const std::string& names) {
  const std::string text = text_of(kRoot / "tests/CMakeLists.txt");
  const std::regex list("set\\(" + names + "_[0-9] ([^)]*)\\)");
  std::multiset<std::string> all;
  for (std::sregex_iterator at(text.begin(), text.end(), list), end; at != end; ++at) {
    std::istringstream words((*at)[1]);
    for (std::string word; words >> word;) all.insert(word);
  }
  return all;
}

TEST(Lint, EverySuiteThatCompilesKernelsMayBeDrawn) {
  const std::regex suite(
      "(?:class|using) (\\w+) (?:=|: public) (?:CompiledKernels|TensorKernels)\\b");
  std::multiset<std::string> suites;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/run")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), suite), end; at != end; ++at)
      suites.insert((*at)[1]);
  }
  EXPECT_GT(suites.size(), 15u);
  EXPECT_EQ(drawn_from("kernels"), suites);
}

TEST(Lint, EveryFolderThatSanitizersWatchMayBeDrawn) {
  const std::string text = text_of(kRoot / "tests/CMakeLists.txt");
  const std::regex folder("tcq_test_folder\\(([a-z]+)");
  std::set<std::string> folders;
  for (std::sregex_iterator at(text.begin(), text.end(), folder), end; at != end; ++at)
    folders.insert((*at)[1]);
  for (const char* other : {"folder", "lint", "live", "silicon"}) folders.erase(other);
  const std::multiset<std::string> drawn = drawn_from("folders");
  EXPECT_EQ(drawn, std::multiset<std::string>(folders.begin(), folders.end()));
}

TEST(Lint, MacrosAreTheFewThatTheDesignNames) {
  static const std::regex define(R"(^\s*#\s*define\s+(\w+))");
  Violations bad;
  for (const File& file : tree()) {
    for (size_t i = 0; i < file.code.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.code[i], match, define)) continue;
      const std::string name = match[1];
      static const std::set<std::string> known = {"HOST_DEVICE", "CUDA_CHECK", "FAULT"};
      const bool highway = file.under("sim/num/fast") && name.starts_with("HWY_");
      if (!known.contains(name) && !name.starts_with("TCQ_") && !highway)
        bad.add(file, i, "only HOST_DEVICE, CUDA_CHECK, FAULT and TCQ_... are macros");
    }
  }
}

TEST(Lint, HeadersArePragmaOnce) {
  static const std::regex once(R"(^\s*#\s*pragma\s+once\b)");
  Violations bad;
  for (const File& file : tree()) {
    if (!file.header() || file.path.ends_with(".inc")) continue;
    if (std::none_of(file.code.begin(), file.code.end(),
                     [&](const std::string& line) { return finds(line, once); })) {
      bad.add(file, 0, "#pragma once is missing");
    }
  }
}

// --- the build ------------------------------------------------------------------------------------

// The exit status of tools/nvcc_strict around a compiler that prints `line` and exits with `status`.
int strict_status(const std::string& line, int status) {
  const std::string command = (kRoot / "tools/nvcc_strict").string() + " sh -c 'echo \"" + line +
                              "\" >&2; exit " + std::to_string(status) + "' 2>/dev/null";
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(Build, WhatPtxasSaysOfWgmmaFailsTheKernels) {
  EXPECT_EQ(strict_status("ptxas info    : Used 168 registers", 0), 0);
  EXPECT_EQ(strict_status("ptxas info    : Used 168 registers", 3), 3);
  for (const char* code : {"C7504", "C7508", "C7510", "C7514", "C7520"})
    EXPECT_EQ(
        strict_status("ptxas info    : (" + std::string(code) + ") Potential Performance Loss", 0),
        1)
        << code;
}

}  // namespace
