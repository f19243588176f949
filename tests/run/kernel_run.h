// A kernel given as PTX text, run as one cluster of a launch: what becomes of global memory, or which Fault.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "sim/ptx/decode.h"
#include "sim/run/address_map.h"
#include "sim/run/launch.h"

namespace tcq::run {

struct Bytes {
  std::vector<std::uint8_t> all;

  template <class T>
  T at(std::size_t byte) const {
    T value;
    std::memcpy(&value, all.data() + byte, sizeof value);
    return value;
  }
  template <class T>
  void put(std::size_t byte, T value) {
    std::memcpy(all.data() + byte, &value, sizeof value);
  }
};

// Its parameters are 64-bit addresses: offsets into `global`.
class KernelRun {
 public:
  KernelRun(std::string ptx, Launch launch, std::vector<std::uint64_t> pointers, Bytes global)
      : text_(std::move(ptx)), program_(ptx::load(text_)) {
    EXPECT_TRUE(program_.diagnostics.empty()) << program_.diagnostics[0].message;
    const auto names = entry_names(program_);
    auto kernel = std::make_shared<const Kernel>(lower(program_, names.at(0), "kernel.ptx"));
    for (std::size_t i = 0; i < kernel->problems.size(); ++i)
      EXPECT_EQ(kernel->problems[i], "") << kernel->texts[i];
    for (const std::uint64_t offset : pointers) {
      const std::uint64_t address = global_window + offset;
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(&address);
      launch.parameters.insert(launch.parameters.end(), bytes, bytes + sizeof address);
    }
    machine::Program program = make_program(kernel, launch, 0, std::move(global.all));
    const machine::Report report = explore(program, {.max_executions = 1, .random_executions = 4});
    if (report.outcome == machine::Outcome::Refused) what_ = report.refused.what;
    if (report.finding) {
      fault_ = report.finding->fault;
      what_ = oracle::diagnosis(program, *report.finding);
    }
    for (const machine::Finding& suspicion : report.suspicions)
      suspicions_.push_back(suspicion.fault);
    global_ = {report.global};
  }

  Fault fault() const { return fault_; }
  const std::string& what() const { return what_; }
  const std::vector<Fault>& suspicions() const { return suspicions_; }
  const Bytes& global() const { return global_; }

 private:
  std::string text_;
  ptx::Program program_;
  Fault fault_ = Fault::None;
  std::string what_;
  std::vector<Fault> suspicions_;
  Bytes global_;
};

// Without the one line of the text that holds `words`.
inline std::string without(std::string text, std::string_view words) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, text.npos) << words;
  EXPECT_EQ(text.find(words, at + 1), text.npos) << words << " stands there twice";
  const std::size_t begin = text.rfind('\n', at);
  return text.erase(begin, text.find('\n', at) - begin);
}

inline std::string replaced(std::string text, std::string_view words, std::string_view by) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, text.npos) << words;
  EXPECT_EQ(text.find(words, at + 1), text.npos) << words << " stands there twice";
  return text.replace(at, words.size(), by);
}

}  // namespace tcq::run
