// The kernels of the tcgen05 probes: ptxas accepts their text for the devices they are for, and the
// wrappers compile for no device that lacks tcgen05. Nothing here runs on a device.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cuda/probe_sm100_text.h"
#include "tests/ptxas.h"
#include "tests/source_tree.h"
#include "tests/tcgen05_forms.h"
#include "tests/temporary_folder.h"

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
// wrapper with that opcode is compiled elsewhere.
template <class List>
void add_probes(Module& module, const List& forms, int stride, Target target) {
  for (int i = 0; i < forms.size; i += stride)
    module.add(cuda::probe_ptx(forms.list[i].form, forms.list[i].immediate, target));
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

// Preprocessing is enough: the guard is an #error.
TEST(Tcgen05_Wrappers, DoNotCompileForOtherTargets) {
  const auto preprocesses = [](const std::string& arch) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("in.cu")) << "#include \"cuda/ptx_tmem.cuh\"\n";
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
