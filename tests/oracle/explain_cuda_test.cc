// Errors of CUDA as programs print them, and what explain says of them.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "oracle/explain/explain.h"
#include "tests/support/ask.h"

namespace tcq::oracle {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// As programs print them: the runtime's and the driver's names, their sentences and numbers, cuda-gdb's exceptions.
TEST(ExplainCuda, AnErrorIsFoundByItsNameItsSentenceAndItsNumber) {
  const std::pair<const char*, const char*> printed[] = {
      {"CUDA error: an illegal instruction was encountered", "IllegalInstruction"},
      {"cudaErrorIllegalInstruction", "IllegalInstruction"},
      {"CUDA_ERROR_ILLEGAL_INSTRUCTION: an illegal instruction was encountered",
       "IllegalInstruction"},
      {"715", "IllegalInstruction"},
      {"error 700", "IllegalAddress"},
      {"CUDA Exception: Warp Out-of-range Address", "IllegalAddress"},
      {"CUDA_EXCEPTION_1, Lane Illegal Address", "IllegalAddress"},
      {"CUDA_EXCEPTION_17, Cluster target block not present.", "ClusterTargetGone"},
      {"RuntimeError: CUDA error: misaligned address", "MisalignedAddress"},
      {"CUDA error: unspecified launch failure", "LaunchFailed"},
      {"CUDA_ERROR_INVALID_CLUSTER_SIZE", "ClusterLaunch"},
      {"too many resources requested for launch", "OutOfResources"},
      {"no kernel image is available for execution on the device", "KernelImageMissing"},
      {"Error: Failed to initialize the TMA descriptor 700", "TmaDescriptorRefused"},
      {"Xid 13", "KernelException"},
      {"NVRM: Xid (PCI:0000:70:00): 13, Graphics Exception: ESR 0x5167b0=0x80f0017",
       "KernelException"},
      {"Xid (PCI:0000:70:00): 13, Graphics SM Warp Exception on (GPC 1, TPC 1, SM 1): MMU Fault",
       "IllegalAddress"},
      {"Graphics SM Warp Exception on (GPC 0, TPC 0): Misaligned Address", "MisalignedAddress"},
      {"Graphics SM Warp Exception: Illegal Instruction Parameter", "IllegalInstruction"},
      {"Invalid __shared__ read of size 16 bytes", "IllegalAddress"},
      {"Address 0x400 is out of bounds", "IllegalAddress"},
      {"Invalid __shared__ read of size 16 bytes. Address 0x8 is misaligned", "MisalignedAddress"},
      {"Barrier error detected. Divergent thread(s) in block", "DivergentBarrier"},
      {"Error: Potential RAW hazard detected at __shared__ 0x0 in block", "SharedHazard"},
      {"Uninitialized __global__ memory read of size 4 bytes", "UninitializedMemory"},
      {"Warp Barrier Arrival Mismatch", "ArrivalMismatch"},
      {"LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.tcgen05.wait.st", "IntrinsicMissing"},
      {"failed to legalize operation 'cute_nvgpu.make_gmma_smem_desc'", "LoweringMissing"},
      {"cudaFuncSetAttribute() returned error: invalid resource handle", "InvalidHandle"},
      {"nvcc fatal : Unsupported gpu architecture 'sm_89a'", "PtxTooNew"}};
  for (const auto& [text, name] : printed)
    EXPECT_TRUE(text_of(std::string("explain ") + text)
                    .starts_with(std::string(name) + "  cuda\nwhat: CUDA "))
        << text;
  // The beginning of a number is not that number, and a gap has both of its sides.
  for (const char* other : {"explain CUDA_EXCEPTION_15", "explain CUDA_EXCEPTION_50"})
    EXPECT_NE(ask(other).status, Status::Yes) << other;
  EXPECT_FALSE(text_of("explain what is out of bounds in TMA").starts_with("IllegalAddress "));
  // A name that has one of them, and words about what is wrong, are no errors.
  EXPECT_TRUE(text_of("explain misaligned TMA store").starts_with("TileUnaligned "));
  EXPECT_TRUE(contains(text_of("explain 715", styled(Style::Json)), R"("kind":"cuda")"));
  for (const PtxasMessage& error : cuda_errors()) {
    EXPECT_TRUE(error.fix.ends_with('.')) << error.code;
    EXPECT_TRUE(contains(text_of("explain"), "\n  " + error.code + " ")) << error.code;
  }
}

}  // namespace
}  // namespace tcq::oracle
