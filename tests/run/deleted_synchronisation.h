// Every statement of a kernel's PTX that synchronises, deleted in turn: which deletions does the machine not find?
//
// Example: run_gemm_test.cc, run_tensor_gemm_test.cc.
#pragma once

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {

inline bool synchronises(const std::string& line) {
  for (const char* word : {"fence.", "tcgen05.fence", "mbarrier.arrive", "mbarrier.try_wait",
                           "expect_tx", "wgmma.commit", "wgmma.wait", "tcgen05.commit",
                           "tcgen05.wait", "bar.sync", "commit_group", "wait_group"})
    if (line.find(word) != line.npos && line.find("//") == line.npos) return true;
  return false;
}

// A wait that is deleted leaves its loop: its predicate is true.
inline std::string without(const std::string& line) {
  return line.find("try_wait") == line.npos ? "" : "setp.eq.u32 p, 0, 0;";
}

struct Deletions {
  std::size_t count = 0;
  std::vector<std::string> missed;

  void print(const char* how = "deleted") const {
    std::printf("%zu %s, %zu not found\n", count, how, missed.size());
    for (const std::string& line : missed) std::printf("  %s\n", line.c_str());
  }
};

// A wait for what is there already is a suspicion, and no finding.
inline bool is_found(GemmKernelRun gemm) {
  if (gemm.go(1) != Fault::None) return true;
  const auto& suspicions = gemm.run().report().suspicions;
  return std::any_of(suspicions.begin(), suspicions.end(),
                     [](const machine::Finding& f) { return f.fault != Fault::WaitForNothing; });
}

using Lines = std::vector<std::string>;

inline Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Has one of the launches a finding? `run(text, launch)`: a run of a changed text. Without a change none has.
template <class Launch, class Run>
class Finder {
 public:
  Finder(const std::string& ptx, std::span<const Launch> launches, Run run) : run_(run) {
    for (const Launch& launch : launches) {
      order_.push_back(&launch);
      EXPECT_FALSE(is_found(run_(ptx, launch)))
          << "launch " << order_.size() << ", nothing changed";
    }
  }
  bool finds(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    const auto finder = std::find_if(order_.begin(), order_.end(), [&](const Launch* launch) {
      return is_found(run_(text, *launch));
    });
    if (finder == order_.end()) return false;
    std::rotate(order_.begin(), finder, finder + 1);
    return true;
  }

 private:
  Run run_;
  // The launch that found the last one comes first: neighbours in the text are mostly reached by the same launches.
  std::vector<const Launch*> order_;
};

// `which`: of a line, whether it is deleted.
template <class Launch, class Run, class Which = bool (*)(const std::string&)>
Deletions delete_each(const std::string& ptx, std::span<const Launch> launches, Run run,
                      Which which = synchronises) {
  Lines lines = lines_of(ptx);
  Finder<Launch, Run> finder(ptx, launches, run);
  const auto is_found_with = [&](std::size_t at, const std::string& instead) {
    const std::string kept = std::exchange(lines[at], instead);
    const bool found = finder.finds(lines);
    lines[at] = kept;
    return found;
  };
  Deletions out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!which(lines[i])) continue;
    ++out.count;
    if (is_found_with(i, without(lines[i]))) continue;
    const char* reached = is_found_with(i, "trap;") ? "" : "  (no launch reaches it)";
    out.missed.push_back(std::to_string(i + 1) + ": " + lines[i] + reached);
  }
  return out;
}

}  // namespace tcq::tests
