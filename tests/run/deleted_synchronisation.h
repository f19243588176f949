// Every statement of a kernel's PTX that synchronises, deleted in turn: which deletions does the machine not find?
//
// Example: run_gemm_test.cc, run_tensor_gemm_test.cc.
#pragma once

#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
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

  void print() const {
    std::printf("%zu deleted, %zu not found\n", count, missed.size());
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

// `run(text, launch)`: a run of a changed text; a deletion is found if one of the launches has a finding. `which`: of a
// line, whether it is deleted.
template <class Launch, class Run, class Which = bool (*)(const std::string&)>
Deletions delete_each(const std::string& ptx, std::span<const Launch> launches, Run run,
                      Which which = synchronises) {
  std::vector<std::string> lines;
  std::istringstream in(ptx);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  // The launch that found the last one comes first: neighbours in the text are mostly reached by the same launches.
  std::vector<const Launch*> order;
  for (const Launch& launch : launches) {
    order.push_back(&launch);
    EXPECT_FALSE(is_found(run(ptx, launch))) << "launch " << order.size() << ", nothing deleted";
  }
  const auto is_found_with = [&](std::size_t at, const std::string& instead) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) text += (i == at ? instead : lines[i]) + "\n";
    const auto finder = std::find_if(order.begin(), order.end(), [&](const Launch* launch) {
      return is_found(run(text, *launch));
    });
    if (finder == order.end()) return false;
    std::rotate(order.begin(), finder, finder + 1);
    return true;
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
