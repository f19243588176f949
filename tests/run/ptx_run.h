// A kernel's text, its arguments and what came of running it: for tests of sim/run.
//
// Example:
//   PtxRun run(kernel("add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;"));
//   const Pointer out = run.array<int>(32);
//   run.pass(out);
//   EXPECT_EQ(run.go({.block = {32}}), Fault::None);
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/async/explore.h"
#include "sim/run/address_map.h"
#include "sim/run/launch.h"

namespace tcq::tests {

using Pointer = std::uint64_t;

struct Shape {
  run::Dim3 grid = {}, block = {32}, cluster = {};
  std::uint32_t shared = 0;
  bool has_cluster = true;
  std::uint64_t explore = 0;               // random executions
  std::uint64_t executions = 20;           // of the exhaustive part
  std::uint64_t resident = 0;              // clusters that begin; 0: all
  std::uint64_t instructions = 1'000'000;  // of an execution
};

// A text and what it was read as, which all launches of it share.
struct PtxKernel {
  PtxKernel(std::string ptx, std::string_view entry);
  ~PtxKernel();
  PtxKernel(const PtxKernel&) = delete;  // the program's words are the text's
  PtxKernel& operator=(const PtxKernel&) = delete;

  std::string text;
  ptx::Program program;
  std::shared_ptr<const run::Kernel> kernel;
};

class PtxRun {
 public:
  explicit PtxRun(std::string text, std::string_view entry = "k");
  explicit PtxRun(std::shared_ptr<const PtxKernel> ptx);
  PtxRun(PtxRun&&) noexcept;
  ~PtxRun();

  template <class T>
  Pointer array(const std::vector<T>& values) {
    global_.resize((global_.size() + 255) / 256 * 256);
    const Pointer pointer = run::global_window + global_.size();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    global_.insert(global_.end(), bytes, bytes + sizeof(T) * values.size());
    return pointer;
  }
  template <class T>
  Pointer array(std::size_t count) {
    return array(std::vector<T>(count));
  }
  // The next parameter, at its alignment.
  template <class T>
  void pass(T value) {
    auto& p = launch_.parameters;
    p.resize((p.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof value);
    std::memcpy(p.data() + p.size() - sizeof value, &value, sizeof value);
  }

  // Cluster after cluster; the first Fault ends it.
  Fault go(const Shape& shape);

  template <class T>
  std::vector<T> read(Pointer pointer, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), global_.data() + (pointer - run::global_window), count * sizeof(T));
    return values;
  }

  std::uint64_t clusters_run() const { return ran_; }  // without those that were cancelled
  const machine::Report& report() const { return report_; }
  const machine::Program& program() const { return *program_of_run_; }
  const run::Kernel& kernel() const { return *ptx_->kernel; }
  run::Launch& launch() { return launch_; }
  // The words of the instruction at which the run ended.
  const std::string& place() const;

 private:
  std::shared_ptr<const PtxKernel> ptx_;
  run::Launch launch_;
  std::vector<std::uint8_t> global_;
  std::unique_ptr<machine::Program> program_of_run_;
  machine::Report report_;
  std::uint64_t ran_ = 0;
};

// An entry k with one pointer, in %rd1; %r1 is %tid.x and %rd2 the address of the thread's word.
std::string kernel(const std::string& body, const std::string& variables = "");

}  // namespace tcq::tests
