// Running ptxas on generated statements: which lines does it reject?
//
// ptxas reports errors by line, so one file holds thousands of statements; its last line is always
// wrong, so that ptxas stops before it compiles. A syntax error stops it at once: no statement may
// have one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "sim/isa/wgmma/shape.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::oracle {

struct PtxasRun {
  int status = 0;
  std::vector<std::string> lines;  // of both streams
};

inline PtxasRun run_ptxas(const std::string& ptx, Target target, const std::string& options = "") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("in.ptx")) << ptx;
  const std::string command = std::string("\"") + TCQ_PTXAS + "\" " + options +
                              " -arch=" + name(target) + " \"" + folder.file("in.ptx") +
                              "\" -o \"" + folder.file("out") + "\" > \"" + folder.file("log") +
                              "\" 2>&1";
  PtxasRun run{std::system(command.c_str()), {}};
  std::ifstream in(folder.file("log"));
  for (std::string line; std::getline(in, line);) run.lines.push_back(line);
  return run;
}

// A header of 5 lines, then the kernel's body.
inline std::string kernel(const std::string& body, Target target) {
  return std::string(".version 9.0\n.target ") + name(target) +
         "\n.address_size 64\n.visible .entry f(.param .u64 in, .param .u64 out) {\n"
         ".reg .f32 %f<600>; .reg .b32 %r<600>; .reg .b64 %rd<16>; .reg .pred %p<4>; "
         ".reg .b16 %rs<16>; .reg .f64 %fd<16>;\n" +
         body + "}\n";
}
inline constexpr std::size_t kHeaderLines = 5;

// Indices of the statements that ptxas reports an error for; they may stand on several lines.
inline std::set<std::size_t> rejected(const std::vector<std::string>& statements, Target target) {
  std::string body;
  std::vector<std::size_t> of_line;  // the statement
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto ends = std::count(statements[i].begin(), statements[i].end(), '\n');
    of_line.insert(of_line.end(), static_cast<std::size_t>(ends) + 1, i);
    body += statements[i] + "\n";
  }
  const PtxasRun run = run_ptxas(kernel(body + "wgmma.fence;\n", target), target);
  EXPECT_NE(run.status, 0) << "the last line is always an error";
  std::set<std::size_t> found;
  bool last = false;
  for (const std::string& line : run.lines) {
    const std::size_t at = line.find(", line ");
    if (at == std::string::npos || line.find("error", at) == std::string::npos) continue;
    const std::size_t number = std::stoul(line.substr(at + 7)) - kHeaderLines - 1;
    if (number < of_line.size())
      found.insert(of_line[number]);
    else
      last = true;
  }
  EXPECT_TRUE(last) << "ptxas gave up before the last line: "
                    << (run.lines.empty() ? "no message" : run.lines.back());
  return found;
}

inline bool have_ptxas() { return std::filesystem::exists(TCQ_PTXAS); }
inline constexpr const char* kNoPtxas =
    "**** NOT RUN: no ptxas was found when the build was configured";

}  // namespace tcq::oracle
