// Which problems a kernel fits, and how long it is estimated to take, of kernels made up here. Needs no CUDA; the real ones are
// gemm_estimate_test.cc's.
#include <gtest/gtest.h>

#include "cuda/gemm/check.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"

namespace tcq::gemm {
namespace {

// Tiles of 16 rows of D by 64 columns, two to an SM.
Kernel few_rows() {
  Kernel k{};
  k.in = k.in_b = Type::bf16;
  k.skinny = Skinny::Rows;
  k.block_m = 16;
  k.block_n = k.block_k = 64;
  k.cluster_m = k.cluster_n = k.split = 1;
  k.stages = 8;
  k.threads = 2 * warpgroup_threads;
  k.ctas_per_sm = 2;
  return k;
}

TEST(Gemm_KernelFit, AClusterOfFewRowsHasNoCtaWithoutAny) {
  Kernel k = few_rows();
  k.cluster_m = 2;
  EXPECT_FALSE(suits(k, {.m = 16, .n = 4096, .k = 512}));
  EXPECT_TRUE(suits(k, {.m = 17, .n = 4096, .k = 512}));
  k.skinny = Skinny::No;
  k.ctas_per_sm = 1;
  EXPECT_TRUE(suits(k, {.m = 16, .n = 4096, .k = 512}));
}

TEST(Gemm_KernelFit, SmallTilesAreForBatches) {
  Kernel k = few_rows();
  k.skinny = Skinny::No;
  k.block_m = k.block_n = 64;
  EXPECT_FALSE(suits(k, {.m = 4096, .n = 64, .k = 64}));
  EXPECT_TRUE(suits(k, {.m = 4096, .n = 64, .k = 64, .batch = 2}));
  EXPECT_TRUE(suits(k, {.m = 4096, .n = 64, .k = 64, .sm_limit = 1}));
  k.block_m = 128;
  EXPECT_TRUE(suits(k, {.m = 4096, .n = 64, .k = 64}));
  EXPECT_FALSE(suits(k, {.m = 4096, .n = 72, .k = 64}));
}

// Where memory is the bound, half as many CTAs again as SMs take half as long again, though the others have ended by then.
TEST(Gemm_KernelFit, CtasThatAreMoreThanSmsAreRead) {
  Device slow;
  slow.memory /= 20;
  const auto time = [&](std::int64_t tiles) {
    const Problem p = resolved({.m = 16, .n = 64 * tiles, .k = 16384});
    return microseconds(few_rows(), p, slow, 2 * slow.sm_count);
  };
  EXPECT_GT(time(slow.sm_count * 3 / 2), 1.4 * time(slow.sm_count));
}

// Slots hold the factors of blocks of 128 columns, or those of each, in lines of 16 bytes.
TEST(Gemm_KernelFit, FactorsThatTmaBringsAreAsTheKernelHasThem) {
  Kernel k{};
  for (const bool stages : {false, true}) {
    for (const Promotion promotion : {Promotion::ColumnBlocks, Promotion::EachColumn}) {
      k.stages_factors = stages;
      k.promotion = promotion;
      for (const Scaling scaling : {Scaling::Block128, Scaling::Vector128}) {
        Problem p{.m = 512, .n = 1024, .k = 2048, .in = Type::e4m3};
        p.scaling = scaling;
        const bool each = promotion == Promotion::EachColumn;
        EXPECT_EQ(stages_as(k, resolved(p)), !stages || each == (scaling == Scaling::Vector128));
        p.k += 128;
        EXPECT_EQ(stages_as(k, resolved(p)), !stages);
      }
    }
  }
}

}  // namespace
}  // namespace tcq::gemm
