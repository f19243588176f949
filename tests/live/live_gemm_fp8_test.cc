// FP8 on a real sm_90 GPU: every scaling, promotion, pair of types and epilogue, drawn. Skips loudly without one.
#include <array>

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

}  // namespace
}  // namespace tcq
