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
      {"Error: Failed to initialize the TMA descriptor 700", "TmaDescriptorRefused"}};
  for (const auto& [text, name] : printed)
    EXPECT_TRUE(text_of(std::string("explain ") + text)
                    .starts_with(std::string(name) + "  cuda\nwhat: CUDA "))
        << text;
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
