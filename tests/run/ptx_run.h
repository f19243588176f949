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
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/async/explore.h"
#include "sim/run/address_map.h"
#include "sim/run/inline_calls.h"
#include "sim/run/launch.h"
#include "sim/run/pending_clusters.h"

namespace tcq::tests {

using Pointer = std::uint64_t;

struct Shape {
  run::Dim3 grid = {}, block = {32}, cluster = {};
  std::uint32_t shared = 0;
  bool has_cluster = true;
  std::uint64_t explore = 0;      // random executions
  std::uint64_t executions = 20;  // of the exhaustive part
  std::uint64_t resident = 0;     // clusters that begin; 0: all
};

// A text and what it was read as, which all launches of it share.
struct PtxKernel {
  PtxKernel(std::string ptx, std::string_view entry)
      : text(std::move(ptx)), program(run::load(text)) {
    for (const auto& d : program.diagnostics) ADD_FAILURE() << d.at.line << ": " << d.message;
    kernel = std::make_shared<const run::Kernel>(run::lower(program, entry, "test.ptx"));
  }
  PtxKernel(const PtxKernel&) = delete;  // the program's words are the text's
  PtxKernel& operator=(const PtxKernel&) = delete;

  std::string text;
  ptx::Program program;
  std::shared_ptr<const run::Kernel> kernel;
};

class PtxRun {
 public:
  explicit PtxRun(std::string text, std::string_view entry = "k")
      : PtxRun(std::make_shared<const PtxKernel>(std::move(text), entry)) {}
  explicit PtxRun(std::shared_ptr<const PtxKernel> ptx)
      : ptx_(std::move(ptx)), global_(ptx_->kernel->global_bytes) {}

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
  Fault go(const Shape& shape) {
    launch_.grid = shape.grid;
    launch_.block = shape.block;
    launch_.cluster = shape.cluster;
    launch_.has_cluster = shape.has_cluster;
    launch_.dynamic_shared = shape.shared;
    std::vector<std::uint64_t> all(run::clusters(launch_));
    std::iota(all.begin(), all.end(), 0);
    run::PendingClusters clusters(all, shape.resident);
    ran_ = 0;
    for (; !clusters.is_done(); clusters.ran(report_.cancelled), ++ran_) {
      launch_.pending = clusters.share();
      program_of_run_ = std::make_unique<machine::Program>(
          run::make_program(ptx_->kernel, launch_, clusters.next(), global_));
      std::vector<std::uint8_t> memory = program_of_run_->initial_global();
      report_ = machine::explore(*program_of_run_, {.max_executions = shape.executions,
                                                    .random_executions = shape.explore,
                                                    .max_instructions = 1'000'000,
                                                    .names_right = false});
      EXPECT_TRUE(program_of_run_->initial_global() == memory) << "an execution's writes are left";
      if (report_.outcome == machine::Outcome::Refused) return report_.refused.fault;
      if (report_.finding) return report_.finding->fault;
      machine::apply(report_.changes, memory);
      EXPECT_TRUE(report_.global == memory) << "a write is not among the changes";
      global_ = report_.global;
    }
    return Fault::None;
  }

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
  const std::string& place() const {
    return ptx_->kernel->texts[static_cast<std::size_t>(report_.finding->at.statement)];
  }

 private:
  std::shared_ptr<const PtxKernel> ptx_;
  run::Launch launch_;
  std::vector<std::uint8_t> global_;
  std::unique_ptr<machine::Program> program_of_run_;
  machine::Report report_;
  std::uint64_t ran_ = 0;
};

// An entry k with one pointer, in %rd1; %r1 is %tid.x and %rd2 the address of the thread's word.
inline std::string kernel(const std::string& body, const std::string& variables = "") {
  return ".version 8.5\n.target sm_90a\n.address_size 64\n" + variables +
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 "
         "%f<40>;\n"
         "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
         "mad.wide.u32 %rd2, %r1, 4, %rd1;\n" +
         body + "\nret;\n}\n";
}

}  // namespace tcq::tests
