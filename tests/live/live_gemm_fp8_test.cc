// FP8 on a real sm_90 GPU: every scaling, promotion, pair of types and epilogue, drawn. Skips loudly without one.
#include <array>

#include "cuda/gemm/stream_k.h"
#include "tests/live/live_gemm.h"

namespace tcq {
namespace {

TEST_F(LiveGemm, Fp8OfEveryScaling) {
  Draw draw(chosen_seed() + 6);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t m = draw.one_in(2) ? draw.in(1, 130) : draw.in(1, 900);
    oracle::Gemm g{.m = m, .n = draw.in(1, 900), .k = draw.in(1, 2000)};
    if (draw.one_in(2)) g.k = (g.k + 15) / 16 * 16;
    g.in = draw.one_in(2) ? Type::e4m3 : Type::e5m2;
    g.out = std::array{Type::bf16, Type::f16, Type::f32}[static_cast<std::size_t>(draw.below(3))];
    if (draw.one_in(6)) g.batch = draw.in(2, 4);
    Options options;
    choose_scaling(draw, g, options);
    choose_epilogue(draw, g, options);
    options.batch_invariant = draw.one_in(5);
    options.programmatic_launch = !draw.one_in(5);
    if (draw.one_in(5)) options.sm_limit = draw.in(1, 140);
    compare(maybe_quantized(draw, with_strides(g, 0, 0, draw.below(3)), options), options);
  }
}

// Runs of blocks of K, whatever the estimate says of them: on few SMs, so that few tiles suffice.
TEST_F(LiveGemm, Fp8TilesThatTwoCtasHavePartsOf) {
  Draw draw(chosen_seed() + 7);
  for (const gemm::Kernel& k : gemm::kernels()) {
    for (int i = 0; i < 16 && k.streams_k; ++i) {
      const int limit = draw.in(2, 9);
      const int tiles = limit * draw.in(1, 3) + draw.in(1, limit / 2);
      const bool below = draw.one_in(2);
      oracle::Gemm g{.in = k.in, .out = Type::bf16};
      g.m = (below ? tiles : 1) * k.block_m - draw.below(k.block_m);
      g.n = (below ? 1 : tiles) * k.block_n - draw.below(k.block_n);
      g.k = draw.in(9, 200) * 16;
      if (draw.one_in(3)) g.out = draw.one_in(2) ? Type::f16 : Type::f32;
      Options options = options_of(k, g, draw.one_in(2) ? Major::K : Major::MN);
      choose_epilogue(draw, g, options);
      options.sm_limit = limit;
      compare(with_strides(g, 0, 0, draw.below(3)), options, [&](const Problem& p, Plan& plan) {
        const Status status = make_plan_with(p, k, plan);
        gemm::Launch& l = plan.aligned;
        if (status != Status::Ok || l.kernel != &k) return Status::KernelDoesNotFit;
        plan.whole = l;
        plan.whole.runs = {};
        l.runs = gemm::runs_of(k, tile_count(l.schedule), l.clusters, l.k_blocks);
        EXPECT_EQ(l.runs.tiles, tiles % limit + limit);
        return status;
      });
    }
  }
}

}  // namespace
}  // namespace tcq
