// Whole results of the GEMM library on a real sm_90 GPU against oracle/gemm_reference: every bit of
// D, its guards and the gaps between its rows. Skips loudly without one.
//
// How a case runs and what is compared: live_gemm.h. Small* are the cases for compute-sanitizer:
//   compute-sanitizer --tool TOOL --error-exitcode 1 build/tests/live_gemm_test
//   --gtest_filter=*.Small*, with TOOL memcheck, racecheck, synccheck, initcheck.
#include "tests/live/live_gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "cuda/gemm/kernels.h"

namespace tcq {
namespace {

// --- for compute-sanitizer, too --------------------------------------------------------------------

TEST_F(LiveGemm, SmallRaggedShapesOfEveryTypeMajorAndLoader) {
  Draw draw(chosen_seed());
  for (const auto& [in, out] : gemm_types) {
    for (const Major a : {Major::K, Major::MN}) {
      for (const Major b : {Major::K, Major::MN}) {
        oracle::Gemm g{.m = 131, .n = 144, .k = 80, .in = in, .out = out};
        g.major_a = a;
        g.major_b = b;
        Options options;
        // 13 rows between: a multiple of 16 bytes for every type.
        compare(with_strides(g, a == Major::K ? 0 : 13), options);
        g.m = 67;
        choose_epilogue(draw, g, options);
        options.shifts = {1, 1, 1};
        compare(with_strides(g, 1, 2, 3, 4), options);
      }
    }
  }
}

class LiveGemmKernels : public LiveGemm, public testing::WithParamInterface<Type> {};

INSTANTIATE_TEST_SUITE_P(Every, LiveGemmKernels,
                         testing::Values(Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8,
                                         Type::e4m3, Type::e5m2),
                         [](const auto& in) { return std::string(name(in.param)); });

// One cluster's tiles and a ring and a block of K of each function: racecheck ends on these.
TEST_P(LiveGemmKernels, SmallestProblemOnEveryFunction) {
  std::set<const void*> functions;
  for (const gemm::Kernel& k : gemm::kernels()) {
    if (k.in != GetParam() || k.grouped || k.groups_k || !functions.insert(k.function).second)
      continue;
    oracle::Gemm g = problem_for(k, 1);
    if (k.major_a == Major::MN) g.m = (g.m + 15) / 16 * 16;
    g.k = k.block_k * k.split * (k.stages + 1);
    for (const auto& [in, out] : gemm_types) {
      if (in != k.in) continue;
      g.out = out;
      compare(as_made_by(k, with_strides(g), 0), options_of(k, g),
              [&](const Problem& p, Plan& plan) { return make_plan_with(p, k, plan); });
      break;
    }
  }
  fmt::print("{} functions\n", functions.size());
}

// Every type of D, every activation, C and bias by chance, D's rows anywhere.
TEST_P(LiveGemmKernels, SmallProblemsOnEveryKernel) {
  Draw draw(chosen_seed() + 5);
  int kernels = 0;
  std::set<const void*> functions;
  for (const gemm::Kernel& k : gemm::kernels()) {
    if (k.in != GetParam() || k.grouped || k.groups_k) continue;  // groups: live_gemm_group_test.cc
    const bool is_first = functions.insert(k.function).second;
    oracle::Gemm g = problem_for(k, 3);
    g.m += 5;
    g.n = 2 * g.n + 16;
    g.k = k.block_k * std::max(k.split, 3) + 32;
    if (k.major_a == Major::MN) g.m = (g.m + 15) / 16 * 16;
    const auto on_this = [&](const Problem& p, Plan& plan) { return make_plan_with(p, k, plan); };
    for (const auto& [in, out] : gemm_types) {
      if (in != k.in) continue;
      g.out = out;
      Options options = options_of(k, g);
      compare(as_made_by(k, with_strides(g), 0), options, on_this);
      // More blocks of K than stages: rows outside are no longer loaded (cuda/gemm/load.cuh).
      oracle::Gemm deep = g;
      deep.k += k.block_k * k.split * k.stages;
      compare(as_made_by(k, with_strides(deep), 1), options_of(k, deep, Major::MN), on_this);
      if (!is_first) continue;  // in another cluster, which the way out does not know
      for (int i = 1; is_fp8(in) && i < gemm::scaling_count; ++i) {
        const auto scaling = static_cast<gemm::Scaling>(i);
        const bool by_blocks = k.promotion == gemm::Promotion::ColumnBlocks;
        if (scales_blocks(scaling) && !g.promotes) continue;
        if (scaling == gemm::Scaling::Vector128 && by_blocks) continue;
        if (k.stages_factors) continue;  // has had them
        options.scales = {scaling, i % 2 == 0 ? Major::K : Major::MN, Major::K, i % 3};
        compare(as_made_by(k, with_strides(g), i), options, on_this);
      }
      options = options_of(k, g);
      if (out == Type::s32) continue;
      for (int i = 1; i < activation_count; ++i) {
        const bool halves = is_gated(static_cast<Activation>(i));
        if (halves && k.quantized_columns == gemm::scale_block) continue;
        oracle::Gemm h = g;
        choose_epilogue(draw, h, options);
        h.activation = static_cast<Activation>(i);
        if (is_gated(h.activation)) h.beta = 0;
        h = with_strides(h, 0, 0, draw.one_in(2) ? 0 : draw.below(20), draw.below(3));
        compare(as_made_by(k, h, i), options, on_this);
      }
    }
    ++kernels;
  }
  fmt::print("{} kernels of {} functions\n", kernels, functions.size());
}

TEST_F(LiveGemm, SmallRealignedOperandsOfEveryTypeAndMajor) {
  Draw draw(chosen_seed() + 4);
  for (const auto& [in, out] : gemm_types) {
    for (const Major a : {Major::K, Major::MN}) {
      for (const Major b : {Major::K, Major::MN}) {
        for (const int pad : {0, 1, 2, 4}) {
          oracle::Gemm g{.m = 129, .n = 144, .k = 81, .batch = pad == 2 ? 3 : 1};
          g.in = in;
          g.out = out;
          g.major_a = a;
          g.major_b = b;
          Options options;
          if (pad != 0) choose_epilogue(draw, g, options);
          if (pad == 4) options.shifts = {2, 4, 1};
          g = with_strides(g, pad, pad, pad == 1 ? 1 : 0);
          if (pad == 2) g.b.batch = 0;
          compare(g, options);
        }
      }
    }
  }
  // All majors of 4 pairs of 16-bit types, K-major only of 12 others; D is unaligned if pad is 4.
  EXPECT_GE(realigned(), 2 * 3 * (4 * 4 + 12));
}

// --- shapes ----------------------------------------------------------------------------------------

TEST_F(LiveGemm, RaggedPrimeAndTinyShapes) {
  constexpr std::array<std::int64_t, 14> extents = {1,  2,  3,   7,   8,   17,  31,
                                                    61, 64, 127, 128, 131, 257, 509};
  Draw draw(chosen_seed() + 1);
  const auto any = [&] { return extents[static_cast<std::size_t>(draw.below(14))]; };
  compare(shape(1, 1, 1));
  compare(shape(1, 1, 1, Type::s8, Type::s32));
  for (int i = 0; i < 240; ++i) {
    const std::int64_t m = any();
    const std::int64_t n = any();
    const auto [g, options] = random_case(draw, m, n, any());
    compare(g, options);
  }
}

TEST_F(LiveGemm, LargerShapesOfSeveralWaves) {
  Draw draw(chosen_seed() + 2);
  for (int i = 0; i < 40; ++i) {
    const std::int64_t m = draw.in(500, 2300);
    const std::int64_t n = draw.in(500, 2300);
    auto [g, options] = random_case(draw, m, n, draw.in(1, 600));
    if (options.values == Values::Specials) options.values = Values::Wide;  // slow to predict
    compare(g, options);
  }
  for (const auto& [in, out] : gemm_types) compare(shape(2048, 2304, 256, in, out));
}

TEST_F(LiveGemm, HugeK) {
  for (const auto& [in, out] : gemm_types) {
    compare(shape(129, 136, 16384, in, out), {.values = Values::Wide});
    compare(shape(5, 3, 100003, in, out));
  }
}

TEST_F(LiveGemm, LargerRealignedOperands) {
  for (const auto& [in, out] : gemm_types) {
    compare(shape(1000, 1496, 1003, in, out));
    compare(shape(520, 520, 5000, in, out), {.shifts = {1, 3, 0}});
    compare(shape(300, 264, 256, in, out), {.shifts = {1, 0, 0}});  // only the pointer is unaligned
  }
  compare(shape(16, 576, 7162));
  compare(shape(16, 576, 7162), {.batch_invariant = true});
  compare(shape(4096, 24, 3001, Type::f16, Type::f16));
}

TEST_F(LiveGemm, NoK) {
  oracle::Gemm g = shape(200, 300, 0);
  compare(g);
  g.beta = 2;
  g.activation = Activation::Gelu;
  compare(g, {.has_bias = true});
  compare(shape(3, 5, 0, Type::s8, Type::s32));
}

TEST_F(LiveGemm, FewRows) {
  for (const std::int64_t m : {1, 2, 7, 16, 33, 64, 100, 128, 192}) {
    for (const auto& [n, k] : {std::pair<int, int>{576, 7168}, {2112, 1536}, {136, 4096}}) {
      compare(shape(m, n, k));
      compare(shape(m, n, k), {.batch_invariant = true});
      compare(shape(m, n, k, Type::f16, Type::f32));
    }
  }
}

TEST_F(LiveGemm, Batches) {
  Draw draw(chosen_seed() + 3);
  for (const std::int64_t batch : {2, 5, 17}) {
    oracle::Gemm g{.m = 200, .n = 136, .k = 72, .batch = batch};
    compare(with_strides(g));
    g = with_strides(g, 3, 5, 7);
    compare(g);
    g.b.batch = 0;  // one B for all
    compare(g);
    // Matrices side by side: each row of D holds a row of every matrix.
    g = with_strides(g);
    g.d.ld = 136 * batch;
    g.d.batch = 136;
    compare(g);
  }
}

TEST_F(LiveGemm, CMayBeD) {
  for (const auto& [in, out] : gemm_types) {
    if (out == Type::s32) continue;
    for (const int shift : {0, 1}) {
      oracle::Gemm g = shape(300, 264, 128, in, out);
      g.beta = 0.5f;
      compare(g, {.shifts = {0, 0, shift}, .c_is_d = true});
    }
  }
}

// Kernels on a part of the SMs, copies of operands among them, and launches that wait for the one ahead.
TEST_F(LiveGemm, ALimitOfSmsAndLaunchesInTurn) {
  Draw draw(chosen_seed() + 4);
  for (const int sm_limit : {1, 2, 3, 16, 66, 100, 131, 0}) {
    for (int i = 0; i < 8; ++i) {
      auto [g, options] = random_case(draw, draw.in(1, 600), draw.in(1, 600), draw.in(1, 1500));
      if (options.values == Values::Specials) options.values = Values::Wide;
      options.sm_limit = sm_limit;
      options.programmatic_launch = i % 2 == 0 && sm_limit != 0;
      compare(g, options);
    }
    compare(shape(16, 2112, 3000), {.sm_limit = sm_limit});
    compare(shape(1000, 1000, 1001, Type::s8, Type::s32), {.sm_limit = sm_limit});
  }
}

// --- laws ------------------------------------------------------------------------------------------

TEST_F(LiveGemm, ARowsBitsDoNotDependOnMIfBatchInvariant) {
  constexpr std::int64_t n = 520;
  constexpr std::int64_t k = 4096;
  const std::uint64_t seed = chosen_seed();
  const oracle::Gemm all = shape(300, n, k);
  std::vector<std::uint8_t> whole;
  for (const std::int64_t m : {300, 1, 16, 40, 65, 128, 200}) {
    GemmCase x = make_case(all, false, Values::Wide, seed);
    x.gemm.m = m;
    Plan plan;
    const Options options = {.batch_invariant = true};
    ASSERT_EQ(make_plan(problem_of(x.gemm, options), plan), Status::Ok);
    const auto d = compare(x, plan, options, seed);
    if (m == 300) whole = d;
    const auto bytes = static_cast<std::size_t>(m * n * 2);
    EXPECT_EQ(std::memcmp(&whole[x.d.first], &d[x.d.first], bytes), 0) << m;
  }
}

// --- the tuner -------------------------------------------------------------------------------------

// Zeros to tune a packed problem of one batch on.
struct Zeros {
  explicit Zeros(const Problem& p)
      : a(zeros(p.m * p.k)), b(zeros(p.n * p.k)), c(zeros(p.m * p.n)), d(zeros(p.m * p.n)) {}

  static cuda::DeviceBuffer<std::uint8_t> zeros(std::int64_t elements) {
    constexpr std::int64_t widest = 4;
    const std::vector<std::uint8_t> bytes(static_cast<std::size_t>(elements * widest));
    return cuda::DeviceBuffer<std::uint8_t>(bytes);
  }
  gemm::Pointers pointers() const { return {a.data(), b.data(), c.data(), d.data()}; }

  cuda::DeviceBuffer<std::uint8_t> a;
  cuda::DeviceBuffer<std::uint8_t> b;
  cuda::DeviceBuffer<std::uint8_t> c;
  cuda::DeviceBuffer<std::uint8_t> d;
};

TEST_F(LiveGemm, TunedPlansGiveThePredictedBitsAndTheCacheIsTakenTheSecondTime) {
  gemm::TuneCache cache;
  std::size_t problems = 0;
  const auto tuned_with = [&](const Problem& p, bool has_workspace, Plan& plan) {
    const Zeros x(p);
    Plan estimated;
    EXPECT_EQ(make_plan(p, estimated), Status::Ok);
    const cuda::DeviceBuffer<std::uint8_t> memory(has_workspace ? workspace_bytes(estimated) : 0);
    const gemm::Workspace workspace = {memory.data(), memory.size()};
    const gemm::Path path = path_of(estimated, x.pointers(), workspace);
    const Status status = tune(p, x.pointers(), workspace, nullptr, {}, cache, plan);
    if (status != Status::Ok) return status;
    EXPECT_EQ(cache.size(), ++problems);
    Plan again;
    EXPECT_EQ(tune(p, {}, workspace, nullptr, {}, cache, again), Status::Ok);  // needs no pointer
    EXPECT_EQ(describe(again), describe(plan));
    EXPECT_EQ(make_plan(p, cache, again), Status::Ok);
    EXPECT_EQ(describe(again), describe(plan));
    fmt::print("{}x{}x{}: tuned {}, estimated {}\n", p.m, p.n, p.k,
               name(*launch_of(plan, path).kernel), name(*launch_of(estimated, path).kernel));
    EXPECT_TRUE(!p.batch_invariant || k_segments(plan, path).size() == 1);
    return status;
  };
  const auto tuned = [&](const Problem& p, Plan& plan) { return tuned_with(p, false, plan); };
  const auto tuned_on_copies = [&](const Problem& p, Plan& plan) {
    return tuned_with(p, true, plan);
  };
  compare(shape(256, 512, 1024), {}, tuned);
  compare(shape(16, 2112, 7168), {}, tuned);
  compare(shape(16, 2112, 7168), {.batch_invariant = true}, tuned);
  compare(shape(2112, 16, 4096, Type::f16, Type::f16), {}, tuned);
  compare(shape(1000, 1000, 520, Type::f16, Type::f32), {}, tuned);
  compare(shape(300, 264, 128, Type::tf32, Type::f32), {}, tuned);
  compare(shape(300, 272, 128, Type::s8, Type::s32), {}, tuned);
  compare(shape(77, 99, 55), {}, tuned);  // TMA cannot address it
  compare(shape(77, 99, 55), {}, tuned_on_copies);
  compare(shape(300, 280, 1001, Type::s8, Type::s32), {}, tuned_on_copies);
  oracle::Gemm g = shape(300, 264, 128);
  g.beta = 0.5f;
  compare(g, {}, tuned);
}

TEST_F(LiveGemm, TheTunerTimesEveryKernelInAStreamOfTheUser) {
  const Problem p{.m = 130, .n = 264, .k = 512};
  const Zeros x(p);
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  Plan plan;
  EXPECT_EQ(tune(p, x.pointers(), {}, stream, {.rounds = 2, .every_kernel = true}, plan),
            Status::Ok);
  EXPECT_EQ(run(plan, x.pointers(), {}, stream), Status::Ok);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_F(LiveGemm, TheTunerRefusesAndLeavesDAndTheCaptureAsTheyAre) {
  const Problem p{.m = 64, .n = 64, .k = 64};
  Zeros x(p);
  const std::vector<std::uint8_t> poison(x.d.size(), 0xa5);
  x.d.upload(poison);
  const gemm::Pointers good = x.pointers();
  Plan plan;
  gemm::Pointers wrong = good;
  wrong.a = nullptr;
  EXPECT_EQ(tune(p, wrong, {}, nullptr, {}, plan), Status::NullPointer);
  wrong.a = x.a.data() + 1;
  EXPECT_EQ(tune(p, wrong, {}, nullptr, {}, plan), Status::Misaligned);
  wrong.a = x.a.data() + 2;
  EXPECT_EQ(tune(p, wrong, {}, nullptr, {}, plan), Status::NothingToTune);
  const gemm::Workspace small = {x.c.data(), 64};  // no copy of A fits
  EXPECT_EQ(tune(p, wrong, small, nullptr, {}, plan), Status::NothingToTune);
  for (const unsigned flags : {cudaStreamDefault, cudaStreamNonBlocking}) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_EQ(tune(p, good, {}, stream, {}, plan), Status::StreamCaptured);
    if (flags == cudaStreamDefault) {
      EXPECT_EQ(tune(p, good, {}, nullptr, {}, plan), Status::StreamCaptured);
    }
    EXPECT_FALSE(plan.made);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  std::vector<std::uint8_t> after(poison.size());
  x.d.download(after);
  EXPECT_EQ(after, poison);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace tcq
