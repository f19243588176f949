// The kernels of the tcgen05 probes: ptxas accepts their text for the devices they are for, that of
// allocations keeps the protocol of pairs (all others: tcgen05_protocol_test.cc), the wrappers
// compile for no device that lacks tcgen05, and errors are what they are taken for. Nothing here runs
// on a device.
#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "cuda/probe/tcgen05_text_sm100.h"
#include "cuda/runtime/launch.h"
#include "tests/silicon/ptxas.h"
#include "tests/support/source_tree.h"
#include "tests/support/tcgen05_forms.h"
#include "tests/support/tcgen05_protocol.h"
#include "tests/support/temporary_folder.h"

namespace tcq::tests {
namespace {

using namespace tcgen05;
using oracle::have_ptxas;
using oracle::kNoPtxas;

// Kernels of several probes as one module: the header once, the entries numbered.
class Module {
 public:
  void add(const std::string& ptx) {
    const std::size_t body = ptx.find(".visible .entry");
    if (count_ == 0) text_ = ptx.substr(0, body);
    std::string kernel = ptx.substr(body);
    kernel.replace(kernel.find("tcq_probe"), 9, "tcq_probe_" + std::to_string(count_++));
    text_ += kernel;
  }
  int count() const { return count_; }

  void expect_assembles(Target target) const {
    const oracle::PtxasRun run = oracle::run_ptxas(text_, target, "-Werror");
    EXPECT_EQ(run.status, 0) << (run.lines.empty() ? "no message" : run.lines.front());
    std::printf("%s: %d kernels\n", name(target), count_);
  }

 private:
  std::string text_;
  int count_ = 0;
};

// Every stride-th probe of the list: what is left out differs in the opcode only, and every
// wrapper with that opcode is compiled elsewhere. Of the first, the control, too.
template <class List>
void add_probes(Module& module, const List& forms, int stride, Target target) {
  for (int i = 0; i < forms.size; i += stride)
    module.add(cuda::probe_ptx(forms.list[i].form, forms.list[i].immediate, target));
  if (forms.size != 0)
    module.add(cuda::probe_ptx(forms.list[0].form, forms.list[0].immediate, target,
                               cuda::Probed::Nothing));
}

TEST(Tcgen05_Probe, TextsAssembleForEveryInstruction) {
  if (!have_ptxas()) GTEST_SKIP() << kNoPtxas;
  for (const Target target : {Target::sm_100a, Target::sm_103a}) {
    Module module;
    for (const int cta_group : {1, 2}) {
      add_probes(module, mma_forms(target, cta_group), 23, target);
      add_probes(module, cp_forms(target, cta_group), 5, target);
      module.add(cuda::probe_ptx(ShiftForm{cta_group}, 0, target));
    }
    add_probes(module, ld_forms(target), 5, target);
    add_probes(module, st_forms(target), 5, target);
    add_probes(module, ld_red_forms(target), 23, target);
    EXPECT_GT(module.count(), 100);
    module.expect_assembles(target);
  }
}

// ---- Allocation, whose kernel is CUDA C++ -------------------------------------------------------

std::string alloc_kernels() {
  const TemporaryFolder folder;
  const std::string root = source_tree().string();
  const std::string command = std::string("\"") + TCQ_NVCC + "\" -std=c++20 -I \"" + root +
                              "\" -arch=sm_100a -ptx -o \"" + folder.file("out.ptx") + "\" \"" +
                              root + "/cuda/probe/alloc_sm100.cu\" > \"" + folder.file("log") +
                              "\" 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::stringstream text;
  text << std::ifstream(folder.file("out.ptx")).rdbuf();
  return text.str();
}

std::vector<std::string> broken_rules(const std::string& ptx) {
  std::vector<std::string> found;
  const PtxBody body = parse_ptx(ptx, "alloc_kernelILi2E");
  for (const ProtocolRule& rule : pair_rules())
    if (std::string what = broken(body, rule); !what.empty()) found.push_back(what);
  return found;
}

// Steps, what the watching warp does, and the end are loops: every path through them is followed.
TEST(Tcgen05_AllocProbe, BothCtasOfAPairMeetBeforeAndBetweenStepsAndBeforeTheEnd) {
  const std::string ptx = alloc_kernels();
  const PtxBody body = parse_ptx(ptx, "alloc_kernelILi2E");
  for (const char* what : {"alloc", "dealloc", "relinquish_alloc_permit"}) {
    const std::string opcode = std::string("tcgen05.") + what + ".cta_group::2";
    EXPECT_TRUE(std::ranges::any_of(body.statements, [&](const PtxStatement& s) {
      return s.text.starts_with(opcode);
    })) << opcode;
  }
  for (const std::string& what : broken_rules(ptx)) ADD_FAILURE() << what;
}

TEST(Tcgen05_AllocProbe, EveryMeetingOfAPairIsMissed) {
  const std::string ptx = alloc_kernels();
  int deleted = 0;
  for (const std::string what : {"barrier.cluster.arrive", "barrier.cluster.wait"})
    for (std::size_t at = ptx.find(what); at != std::string::npos; at = ptx.find(what, at + 1)) {
      std::string mutant = ptx;
      mutant.erase(at, mutant.find(';', at) + 1 - at);
      ++deleted;
      EXPECT_FALSE(broken_rules(mutant).empty()) << what << " at " << at;
    }
  EXPECT_GE(deleted, 6) << "the start, a step, the end";
}

// Numbers that recordings keep: the driver's and the runtime's are one.
TEST(Tcgen05_Errors, WhatALeakIsCalled) {
  static_assert(cudaErrorTensorMemoryLeak == 721);
  static_assert(CUDA_ERROR_TENSOR_MEMORY_LEAK == 721);
  EXPECT_FALSE(cuda::is_exception(cudaErrorTensorMemoryLeak)) << "an outcome of its own";
}

TEST(Tcgen05_Errors, FailuresOfAProbeAreNoExceptionsOfItsInstruction) {
  for (const cudaError_t e :
       {cudaSuccess, cudaErrorMemoryAllocation, cudaErrorInvalidValue, cudaErrorNoDevice,
        cudaErrorInvalidPtx, cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion,
        cudaErrorLaunchOutOfResources, cudaErrorInvalidConfiguration, cudaErrorInsufficientDriver,
        cudaErrorECCUncorrectable, cudaErrorContextIsDestroyed, cudaErrorMpsConnectionFailed,
        cudaErrorSystemNotReady, cudaErrorUnknown, cudaErrorLaunchTimeout, cudaErrorAssert})
    EXPECT_FALSE(cuda::is_exception(e)) << static_cast<int>(e);
  for (const cudaError_t e :
       {cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorIllegalInstruction,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
        cudaErrorHardwareStackError})
    EXPECT_TRUE(cuda::is_exception(e)) << static_cast<int>(e);
}

// Preprocessing is enough: the guard is an #error.
TEST(Tcgen05_Wrappers, DoNotCompileForOtherTargets) {
  const auto preprocesses = [](const std::string& arch) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("in.cu")) << "#include \"cuda/ptx/tmem.cuh\"\n";
    const std::string command = std::string("\"") + TCQ_NVCC + "\" -std=c++20 -I \"" +
                                source_tree().string() + "\" -gencode arch=compute_" + arch +
                                ",code=sm_" + arch + " -E \"" + folder.file("in.cu") + "\" > \"" +
                                folder.file("log") + "\" 2>&1";
    return std::system(command.c_str()) == 0;
  };
  for (const char* arch : {"100a", "100f", "103a", "110a"}) EXPECT_TRUE(preprocesses(arch)) << arch;
  for (const char* arch : {"90a", "100", "120a"}) EXPECT_FALSE(preprocesses(arch)) << arch;
}

}  // namespace
}  // namespace tcq::tests
