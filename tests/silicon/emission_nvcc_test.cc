// `emission` on what nvcc makes of this project's own kernels: no finding where there is nothing wrong,
// every wgmma followed, and a finding as soon as a part of the protocol is left out.
//
// nvcc writes the PTX when the test runs. What a leftover of one statement means is not decided here:
// some fences, commits and waits can go. Two kernels of cuda/litmus/wgmma.cu lack a proxy fence on purpose, behind
// an earlier store to the same variable that has one: that is said not to be followed. Laws on small streams:
// emission_test.cc.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "oracle/ptx/emission.h"
#include "tests/support/ask.h"
#include "tests/support/process.h"
#include "tests/support/source_tree.h"
#include "tests/support/temporary_folder.h"
#include "tests_where.h"

namespace tcq::oracle {
namespace {

using Lines = std::vector<std::string>;

Lines ptx_of(const std::string& source) {
  const TemporaryFolder folder;
  const std::string out = folder.file("kernel.ptx");
  const std::string root = source_tree().string();
  const tests::Finished nvcc =
      tests::run(TCQ_NVCC_CACHED,
                 {"-std=c++20", "-O3", "-DNDEBUG", "-gencode", "arch=compute_90a,code=compute_90a",
                  "-I" + root, "-c", "-ptx", "-o", out, (source_tree() / source).string()});
  EXPECT_EQ(nvcc.status, 0) << nvcc.err;
  std::ifstream in(out);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& line, const std::string& word) {
  return line.find(word) != std::string::npos;
}

// The text of each kernel that has a wgmma, with what stands before the first.
std::vector<Lines> kernels(const Lines& text) {
  std::vector<Lines> found;
  Lines head;
  bool any = false;
  const auto keep = [&](Lines& kernel) {
    const bool mma = std::any_of(kernel.begin(), kernel.end(),
                                 [](const auto& line) { return has(line, "mma_async"); });
    if (!mma) found.pop_back();
  };
  for (const std::string& line : text) {
    if (has(line, ".entry ")) {
      if (any) keep(found.back());
      found.push_back(head);
      any = true;
    }
    (any ? found.back() : head).push_back(line);
  }
  if (any) keep(found.back());
  return found;
}

Lines without(const Lines& kernel, const std::function<bool(const std::string&)>& drop) {
  Lines lines = kernel;
  for (std::string& line : lines)
    if (drop(line)) line.clear();
  return lines;
}

Status status(const Lines& lines) {
  return answer_stream(Question{"emission", {}, {}}, lines).status;
}

// NoFence and FenceOfOneThread of publish_kernel.
bool is_unpublished(const Lines& kernel) {
  return std::any_of(kernel.begin(), kernel.end(), [](const auto& line) {
    return has(line, ".entry ") && (has(line, "PublishE1E") || has(line, "PublishE2E"));
  });
}

class EmissionOfNvcc : public testing::TestWithParam<const char*> {};

TEST_P(EmissionOfNvcc, FindsNothingUntilAPartIsLeftOut) {
  const std::vector<Lines> all = kernels(ptx_of(GetParam()));
  ASSERT_GE(all.size(), 5u);
  std::map<std::string, int> single;
  for (const Lines& kernel : all) {
    bool asks_for_fence = false;
    for (const EmissionFinding& f : check_emission(kernel, std::nullopt)) {
      asks_for_fence = asks_for_fence || has(f.text, "fence.proxy.async");
      EXPECT_EQ(f.kind, FaultKind::Unmodelled) << f.line << ": " << f.text;
      EXPECT_TRUE(has(f.text, "shared memory that a wgmma in flight may still read") ||
                  has(f.text, "whether this reads, through the async proxy, bytes that line"))
          << f.text;
    }
    EXPECT_TRUE(asks_for_fence || !is_unpublished(kernel));
    const std::string proxy = "fence.proxy.async";
    const std::vector<std::string> parts = {"wgmma.fence", "wgmma.commit_group", "wgmma.wait_group",
                                            proxy};
    for (const std::string& part : parts) {
      const auto rest = without(kernel, [&](const auto& line) { return has(line, part); });
      if (part == proxy)  // not certain where bulk copies fill the same variable
        EXPECT_NE(rest == kernel ? Status::No : status(rest), Status::Yes) << "every " << part;
      else
        EXPECT_EQ(status(rest), Status::No) << "every " << part;
      for (std::size_t i = 0; i < kernel.size(); ++i) {
        if (!has(kernel[i], part)) continue;
        Lines lines = kernel;
        lines[i].clear();
        ++single[part + " deleted: status " + std::to_string(static_cast<int>(status(lines)))];
      }
    }
    EXPECT_EQ(status(without(kernel,
                             [&](const auto& line) {
                               return has(line, parts[0]) || has(line, parts[1]) ||
                                      has(line, parts[2]);
                             })),
              Status::No);
  }
  for (const auto& [what, count] : single) std::printf("%s: %d\n", what.c_str(), count);
}

INSTANTIATE_TEST_SUITE_P(Sources, EmissionOfNvcc,
                         testing::Values("cuda/gemm/bench_sm90.cu", "cuda/litmus/wgmma.cu",
                                         TCQ_GEMM_INSTANCES "/s8_Skinny.cu"),
                         [](const auto& source) {
                           return std::filesystem::path(source.param).stem().string();
                         });

}  // namespace
}  // namespace tcq::oracle
