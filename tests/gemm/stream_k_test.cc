// Blocks of K of a launch's last tiles, dealt to its clusters: without a GPU.
#include "cuda/gemm/stream_k.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {
namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

Kernel kernel_of_two_consumers() {
  Kernel kernel = {};
  kernel.block_m = 128;
  kernel.block_n = 64;
  kernel.cluster_m = kernel.cluster_n = kernel.split = 1;
  kernel.threads = 384;
  kernel.streams_k = true;
  return kernel;
}

Launch launch_of(const Kernel& kernel, const Runs& runs, int tiles, int clusters, int k_blocks) {
  Launch launch;
  launch.kernel = &kernel;
  launch.clusters = clusters;
  launch.schedule = {.rows = tiles, .cols = 1};
  launch.k_blocks = k_blocks;
  launch.runs = runs;
  return launch;
}

// What clusters do with runs: each block once, and of no tile more than two clusters a part, the second of which has the next number
// and ends with it.
void expect_dealt(const Runs& runs, int tiles, int clusters, int k_blocks) {
  const Kernel kernel = kernel_of_two_consumers();
  const Launch launch = launch_of(kernel, runs, tiles, clusters, k_blocks);
  const StreamK dealt = stream_k_of(launch, {at(4096), stream_k_bytes(launch)});
  EXPECT_EQ(dealt.whole, tiles - runs.tiles);
  EXPECT_EQ(dealt.whole % clusters, 0);
  StreamK::At end = {dealt.whole, 0};
  for (int cluster = 0; cluster < clusters; ++cluster) {
    const StreamK::At begin = dealt.at(cluster);
    ASSERT_EQ(begin.tile, end.tile);
    ASSERT_EQ(begin.block, end.block);
    end = dealt.at(cluster + 1);
    ASSERT_TRUE(begin.block == 0 || end.tile > begin.tile);
    ASSERT_LE(end.tile - begin.tile - (begin.block > 0 ? 1 : 0), 1);  // whole ones
  }
  EXPECT_EQ(end.tile, tiles);
  EXPECT_EQ(end.block, 0);
}

TEST(Gemm_StreamK, EveryBlockIsDealtOnceAndNoTileToThree) {
  const Kernel kernel = kernel_of_two_consumers();
  Kernel other = kernel;
  other.streams_k = false;
  int dealt = 0;
  for (const int clusters : {1, 2, 3, 7, 16, 66, 131, 132}) {
    for (const int k_blocks : {1, 2, 3, 7, 56, 148, 1000}) {
      for (int tiles = 1; tiles < 4 * clusters + 3; ++tiles) {
        EXPECT_EQ(runs_of(other, tiles, clusters, k_blocks).tiles, 0);
        const Runs runs = runs_of(kernel, tiles, clusters, k_blocks);
        EXPECT_TRUE(runs.tiles == 0 || (tiles > clusters && tiles % clusters != 0));
        if (runs.tiles == 0) continue;
        EXPECT_LE(runs.blocks, (3 * k_blocks + 1) / 2);
        expect_dealt(runs, tiles, clusters, k_blocks);
        ++dealt;
      }
    }
  }
  EXPECT_GT(dealt, 3000);
}

TEST(Gemm_StreamK, FlagsAndSumsLieWithinTheWorkspaceWhereverThatBegins) {
  const Kernel kernel = kernel_of_two_consumers();
  const Launch l = launch_of(kernel, runs_of(kernel, 150, 132, 40), 150, 132, 40);
  const std::size_t bytes = stream_k_bytes(l);
  EXPECT_FALSE(has_room(l, {}));
  EXPECT_FALSE(has_room(l, {at(3), bytes - 1}));
  EXPECT_TRUE(has_room(l, {at(3), bytes}));
  EXPECT_TRUE(has_room(launch_of(kernel, {}, 150, 132, 40), {}));
  std::set<std::uint64_t> values = {0};
  for (const std::uintptr_t first : {4096, 4097, 4223}) {
    const StreamK dealt = stream_k_of(l, {at(first), bytes});
    const auto flags = reinterpret_cast<std::uintptr_t>(dealt.flags);
    const auto sums = reinterpret_cast<std::uintptr_t>(dealt.sums);
    EXPECT_EQ(dealt.blocks, 150 * 40);
    const std::uintptr_t warps = 132 * 8;
    const std::uintptr_t outputs = 132 * 128 * 64;
    EXPECT_EQ(flags % 128, 0u);
    EXPECT_EQ(sums % 128, 0u);
    EXPECT_GE(flags, first);
    EXPECT_GE(sums, flags + warps * sizeof(std::uint64_t));
    EXPECT_LE(sums + outputs * sizeof(float), first + bytes);
    EXPECT_TRUE(values.insert(dealt.left).second);  // another one in each launch, never 0
  }
}

}  // namespace
}  // namespace tcq::gemm
