// Grouped products on a real sm_90 GPU: drawn sizes, types, scalings and epilogues, every bit of D and of the rows between.
// Skips loudly without one.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/live/live_gemm.h"

namespace tcq {
namespace {

using gemm::Grouping;

std::vector<std::int32_t> draw_sizes(Draw& draw, Grouping by, std::int64_t m, std::int64_t count) {
  std::vector<std::int32_t> sizes;
  const auto most = static_cast<int>(m);
  if (by == Grouping::RowIds) {
    for (std::int64_t row = 0; row < m; ++row)
      sizes.push_back(row % 128 == 0 ? draw.in(-1, static_cast<int>(count)) : sizes.back());
    return sizes;
  }
  // Rows of one group, or K.
  for (std::int64_t g = 0; g < count; ++g)
    sizes.push_back(draw.one_in(3) ? 0 : draw.one_in(4) ? most : draw.below(most + 1));
  if (by == Grouping::Ends || (by == Grouping::KEnds && !draw.one_in(8)))
    std::sort(sizes.begin(), sizes.end());
  return sizes;
}

class LiveGroups : public Live {
 protected:
  // Bytes of D, each of them compared. `make`: Problem, Plan& -> Status.
  template <class Make>
  std::uint64_t compare(const oracle::Gemm& g, const Options& options, Grouping by,
                        const std::vector<std::int32_t>& sizes, int expected_rows,
                        std::uint64_t seed, Make make) {
    GemmCase x = make_case(g, options.has_bias, Values::Near, seed);
    Problem p = problem_of(g, options);
    p.grouping = by;
    p.expected_rows = expected_rows;
    set_scaling(p, x, options.scales, mix(seed));
    Plan plan;
    EXPECT_EQ(make(p, plan), Status::Ok);
    if (!plan.made) return 0;
    for (const gemm::KSegment& s : k_segments(plan, gemm::Path::Aligned))
      x.gemm.segments.push_back({s.first, s.count});
    const OnDevice device(x);
    const cuda::DeviceBuffer<std::int32_t> on_device(sizes);
    gemm::Pointers at = device.pointers(x);
    at.sizes = on_device.data();
    EXPECT_EQ(check_memory(plan, at), Status::Ok);
    if (std::getenv("TCQ_VERBOSE") != nullptr) {
      fmt::print("{}", describe(plan));
      std::fflush(stdout);
    }
    EXPECT_EQ(run(plan, at, {}, nullptr), Status::Ok);
    const auto want = expected_of_groups(x, resolved(p), sizes);
    EXPECT_EQ(device.results(), want) << describe(plan) << "seed " << seed;
    return want.size();
  }
};

// Two groups of a tile, a ring and a block of K: racecheck ends on these.
TEST_F(LiveGroups, SmallestProblemOnEveryFunction) {
  std::set<const void*> functions;
  for (const gemm::Kernel& k : gemm::kernels()) {
    if (!(k.grouped || k.groups_k) || !functions.insert(k.function).second) continue;
    oracle::Gemm g = problem_for(k, 1);
    if (k.groups_k) {
      g.batch = 2;
      g.k = k.block_k * (k.stages + 1);
      g.out = is_fp8(k.in) ? Type::bf16 : k.in;
      g = with_strides(g);
      g.a.batch = g.b.batch = 0;
      const auto ends = static_cast<std::int32_t>(g.k);
      compare(g, {}, Grouping::KEnds, {ends / 2 + 5, ends - 3}, 0, chosen_seed(),
              [&](const Problem& p, Plan& plan) { return make_plan_with(p, k, plan); });
      continue;
    }
    const auto rows = static_cast<std::int32_t>(g.m);
    g.m *= 2;
    g.batch = 2;
    g.k = k.block_k * k.split * (k.stages + 1);
    g.out = is_fp8(k.in) ? Type::bf16 : k.in;
    g = as_made_by(k, with_strides(g), 0);
    g.a.batch = g.c.batch = g.d.batch = g.factors_d.batch_step = 0;
    compare(g, options_of(k, g), Grouping::Ends, {rows, 2 * rows}, 0, chosen_seed(),
            [&](const Problem& p, Plan& plan) { return make_plan_with(p, k, plan); });
  }
  fmt::print("{} functions\n", functions.size());
  EXPECT_GT(functions.size(), 20u);
}

TEST_F(LiveGroups, EveryBitOfDrawnProblems) {
  Draw draw(chosen_seed() + 9);
  std::uint64_t outputs = 0;
  for (int i = 0; i < 400; ++i) {
    const Grouping by = std::array{Grouping::Ends, Grouping::Counts,
                                   Grouping::RowIds}[static_cast<std::size_t>(draw.below(3))];
    oracle::Gemm g{.m = draw.one_in(2) ? draw.in(1, 60) : draw.in(1, 700), .n = draw.in(1, 600)};
    g.k = draw.in(1, 1200);
    if (!draw.one_in(4)) g.k = (g.k + 15) / 16 * 16;
    g.batch = draw.one_in(8) ? draw.in(33, 200) : draw.in(1, 16);
    if (by == Grouping::Counts && g.batch > 16) g.m = draw.in(1, 40);
    g.in = std::array{Type::bf16, Type::f16, Type::e4m3,
                      Type::e5m2}[static_cast<std::size_t>(draw.below(4))];
    if (bits(g.in) == 16 && draw.one_in(2)) {
      g.major_b = Major::MN;
      if (!draw.one_in(4)) g.n = (g.n + 7) / 8 * 8;  // TMA's
    }
    g.out = is_fp8(g.in) && draw.one_in(2) ? Type::f16
            : draw.one_in(3)               ? Type::f32
            : g.in == Type::f16            ? Type::f16
                                           : Type::bf16;
    Options options;
    choose_scaling(draw, g, options);
    choose_epilogue(draw, g, options);
    g = maybe_quantized(draw, with_strides(g), options);
    if (by != Grouping::Counts) g.a.batch = g.c.batch = g.d.batch = g.factors_d.batch_step = 0;
    const std::uint64_t seed = draw.word();
    const int expected_rows = draw.one_in(2) ? draw.in(1, 300) : 0;
    outputs += compare(g, options, by, draw_sizes(draw, by, g.m, g.batch), expected_rows, seed,
                       [](const Problem& p, Plan& plan) { return make_plan(p, plan); });
    if ((i + 1) % 40 == 0) fmt::print("{} problems\n", i + 1);
  }
  fmt::print("{} bytes of D\n", outputs);
}

TEST_F(LiveGroups, EveryBitOfDrawnProblemsAlongK) {
  Draw draw(chosen_seed() + 10);
  std::uint64_t outputs = 0;
  for (int i = 0; i < 300; ++i) {
    oracle::Gemm g{.m = draw.in(1, 500), .n = draw.in(1, 500), .k = draw.in(1, 3000)};
    if (!draw.one_in(4)) {  // TMA's
      g.m = (g.m + 15) / 16 * 16;
      g.n = (g.n + 15) / 16 * 16;
      g.k = (g.k + 15) / 16 * 16;
    }
    g.batch = draw.one_in(8) ? draw.in(33, 100) : draw.in(1, 16);
    g.in = std::array{Type::bf16, Type::f16, Type::e4m3,
                      Type::e5m2}[static_cast<std::size_t>(draw.below(4))];
    g.out = draw.one_in(3) ? Type::f32 : g.in == Type::f16 ? Type::f16 : Type::bf16;
    g.major_a = draw.one_in(2) ? Major::K : Major::MN;
    g.major_b = draw.one_in(2) ? Major::K : Major::MN;
    Options options;
    choose_scaling(draw, g, options);
    choose_epilogue(draw, g, options);
    g = with_strides(g);
    g.a.batch = g.b.batch = 0;
    outputs +=
        compare(g, options, Grouping::KEnds, draw_sizes(draw, Grouping::KEnds, g.k, g.batch), 0,
                draw.word(), [](const Problem& p, Plan& plan) { return make_plan(p, plan); });
    if ((i + 1) % 40 == 0) fmt::print("{} problems along K\n", i + 1);
  }
  fmt::print("{} bytes of D\n", outputs);
}

}  // namespace
}  // namespace tcq
