// What the build does about registers that ptxas spills: tools/nvcc_strict holds each kernel of the GEMM to its bound in
// cuda/gemm/spills.txt, and every bound there says why it is not 0.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"

namespace tcq::tests {
namespace {

// Does the build go on with a compiler whose ptxas says that a kernel<Config<256>> spills so many bytes, with these bounds?
bool passes(const std::string& bounds, int stores, int loads) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("bounds")) << bounds;
  std::ofstream(folder.file("said"))
      << "ptxas info    : Compiling entry function '_ZN3tcq4gemm6kernelINS0_6ConfigILi256EEEEEvv' "
         "for 'sm_90a'\nptxas info    : Function properties for "
         "_ZN3tcq4gemm6kernelINS0_6ConfigILi256EEEEEvv\n    8 bytes stack frame, "
      << stores << " bytes spill stores, " << loads << " bytes spill loads\n";
  const std::string command = (source_tree() / "tools/nvcc_strict").string() + " --spills " +
                              folder.file("bounds") + " cat " + folder.file("said") +
                              " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

TEST(Spills, BeyondTheirBoundTheyFailTheBuild) {
  const std::string bounds =
      "# why\n100 kernel<.*Config<128>\n20 kernel<.*Config<256>\n90 kernel<\n";
  EXPECT_TRUE(passes(bounds, 0, 0));
  EXPECT_TRUE(passes(bounds, 8, 12));
  EXPECT_FALSE(passes(bounds, 8, 16));              // the first line that fits counts
  EXPECT_FALSE(passes("20 copy_kernel<\n", 4, 0));  // none fits
  EXPECT_TRUE(passes("20 copy_kernel<\n", 0, 0));
  EXPECT_FALSE(passes("# no bounds\n", 0, 0));
}

TEST(Spills, EveryBoundHasAReason) {
  std::ifstream in(source_tree() / "cuda/gemm/spills.txt");
  int bounds = 0;
  bool has_reason = false;
  for (std::string line; std::getline(in, line); has_reason = line.starts_with("# ")) {
    if (line.empty() || line.starts_with('#')) continue;
    ++bounds;
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(line[0])) != 0) << line;
    EXPECT_TRUE(has_reason) << line;
  }
  EXPECT_GT(bounds, 0);
}

}  // namespace
}  // namespace tcq::tests
