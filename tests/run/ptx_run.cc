// What every test of sim/run would else compile for itself.
#include "tests/run/ptx_run.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/run/inline_calls.h"
#include "sim/run/pending_clusters.h"

namespace tcq::tests {

PtxKernel::PtxKernel(std::string ptx, std::string_view entry)
    : text(std::move(ptx)), program(run::load(text)) {
  for (const auto& d : program.diagnostics) ADD_FAILURE() << d.at.line << ": " << d.message;
  kernel = std::make_shared<const run::Kernel>(run::lower(program, entry, "test.ptx"));
}
PtxKernel::~PtxKernel() = default;

PtxRun::PtxRun(std::string text, std::string_view entry)
    : PtxRun(std::make_shared<const PtxKernel>(std::move(text), entry)) {}
PtxRun::PtxRun(std::shared_ptr<const PtxKernel> ptx)
    : ptx_(std::move(ptx)), global_(ptx_->kernel->global_bytes) {}
PtxRun::PtxRun(PtxRun&&) noexcept = default;
PtxRun::~PtxRun() = default;

Fault PtxRun::go(const Shape& shape) {
  launch_.grid = shape.grid;
  launch_.block = shape.block;
  launch_.cluster = shape.cluster;
  launch_.has_cluster = shape.has_cluster;
  launch_.dynamic_shared = shape.shared;
  std::vector<std::uint64_t> all(run::clusters(launch_));
  std::iota(all.begin(), all.end(), 0);
  run::PendingClusters clusters(all, shape.resident);
  auto given = std::make_shared<machine::LaunchMemory>();
  given->bytes = global_;
  ran_ = 0;
  for (; !clusters.is_done(); clusters.ran(report_.cancelled), ++ran_) {
    launch_.pending = clusters.share();
    program_of_run_ = std::make_unique<machine::Program>(
        run::make_program(ptx_->kernel, launch_, clusters.next(), given));
    const std::vector<std::uint8_t> memory = program_of_run_->initial_global();
    report_ = machine::explore(*program_of_run_, {.max_executions = shape.executions,
                                                  .random_executions = shape.explore,
                                                  .max_instructions = shape.instructions,
                                                  .names_right = false});
    EXPECT_TRUE(program_of_run_->initial_global() == memory) << "an execution's writes are left";
    if (report_.outcome == machine::Outcome::Refused) return report_.refused.fault;
    if (report_.finding) return report_.finding->fault;
    given = std::make_shared<machine::LaunchMemory>(*given);
    machine::apply(report_.changes, *given);
    EXPECT_TRUE(report_.global == given->bytes) << "a write is not among the changes";
    global_ = report_.global;
  }
  return Fault::None;
}

const std::string& PtxRun::place() const {
  return ptx_->kernel->texts[static_cast<std::size_t>(report_.finding->at.statement)];
}

std::string kernel(const std::string& body, const std::string& variables) {
  return ".version 8.5\n.target sm_90a\n.address_size 64\n" + variables +
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 "
         "%f<40>;\n"
         "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
         "mad.wide.u32 %rd2, %r1, 4, %rd1;\n" +
         body + "\nret;\n}\n";
}

}  // namespace tcq::tests
