// Whole results of the GEMM library on a real sm_90 GPU against oracle/gemm_reference: every bit of
// D, its guards and the gaps between its rows. Skips loudly without one.
//
// Every case runs twice into poisoned memory, once captured in a graph; if operands have to be
// copied, without a workspace and with one. Small* are the cases for compute-sanitizer:
//   compute-sanitizer --tool TOOL --error-exitcode 1 build/tests/live_gemm_test
//   --gtest_filter=*.Small*, with TOOL memcheck, racecheck, synccheck, initcheck.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tune.h"
#include "cuda/runtime/launch.h"
#include "tests/live/live_device.h"
#include "tests/support/gemm_case.h"

namespace tcq {
namespace {

using gemm::Plan;
using gemm::Problem;
using gemm::Status;

struct Totals {
  int runs = 0;
  int realigned = 0;  // of these
  std::uint64_t outputs = 0;
  std::uint64_t differing_bits = 0;
};

// All bytes of D, for one order of accumulation.
struct Prediction {
  std::vector<gemm::KSegment> segments;
  std::vector<std::uint8_t> bytes;
};

// Everything about a case but its shape.
struct Options {
  bool has_bias = false;
  Values values = Values::Near;
  Shifts shifts = {};
  bool batch_invariant = false;
  bool c_is_d = false;
};

Problem problem_of(const oracle::Gemm& g, const Options& o) {
  const auto strides = [](const oracle::GemmStrides& s) { return gemm::Strides{s.ld, s.batch}; };
  Problem p{.m = g.m, .n = g.n, .k = g.k, .batch = g.batch, .in = g.in, .out = g.out};
  p.major_a = g.major_a;
  p.major_b = g.major_b;
  p.a = strides(g.a);
  p.b = strides(g.b);
  p.c = o.c_is_d ? strides(g.d) : strides(g.c);
  p.d = strides(g.d);
  p.alpha = g.alpha;
  p.beta = g.beta;
  p.has_bias = o.has_bias;
  p.activation = g.activation;
  p.batch_invariant = o.batch_invariant;
  return p;
}

// run() in a graph that is launched and waited for.
Status run_captured(const Plan& plan, const gemm::Pointers& pointers,
                    const gemm::Workspace& workspace) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const Status status = run(plan, pointers, workspace, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  return status;
}

class LiveGemm : public Live {
 protected:
  void TearDown() override {
    if (totals_.runs == 0) return;
    fmt::print("{} runs, {} realigned, {} outputs, {} differing bits\n", totals_.runs,
               totals_.realigned, totals_.outputs, totals_.differing_bits);
  }

  // Plans the case, runs it twice and compares all bytes of D. Returns them.
  std::vector<std::uint8_t> compare(const oracle::Gemm& gemm, const Options& options = {}) {
    return compare(gemm, options, [](const Problem& p, Plan& plan) { return make_plan(p, plan); });
  }

  template <class MakePlan>
  std::vector<std::uint8_t> compare(const oracle::Gemm& gemm, const Options& options,
                                    MakePlan plan_of) {
    const std::uint64_t seed = mix(chosen_seed() + static_cast<std::uint64_t>(totals_.runs));
    GemmCase x = make_case(gemm, options.has_bias, options.values, seed, options.shifts);
    if (options.c_is_d) {
      x.gemm.c = x.gemm.d;
      fill(x.d, gemm.out, gemm.d, gemm.n, gemm.m, gemm.batch, Values::Near, mix(seed + 4));
      x.c = x.d;
    }
    Plan plan;
    const Status status = plan_of(problem_of(gemm, options), plan);
    EXPECT_EQ(status, Status::Ok) << sentence(status);
    if (status != Status::Ok) return {};
    return compare(x, plan, options, seed);
  }

  std::vector<std::uint8_t> compare(GemmCase& x, const Plan& plan, const Options& options,
                                    std::uint64_t seed) {
    const cuda::DeviceBuffer<std::uint8_t> a(x.a.bytes);
    const cuda::DeviceBuffer<std::uint8_t> b(x.b.bytes);
    const cuda::DeviceBuffer<std::uint8_t> c(x.c.bytes);
    const cuda::DeviceBuffer<std::uint8_t> bias(x.bias.bytes);
    cuda::DeviceBuffer<std::uint8_t> d(x.d.bytes);
    const auto at = [](const cuda::DeviceBuffer<std::uint8_t>& on_device, const Buffer& host) {
      return on_device.size() == 0 ? nullptr : on_device.data() + host.first;
    };
    const gemm::Pointers pointers = {at(a, x.a), at(b, x.b),
                                     options.c_is_d ? at(d, x.d) : at(c, x.c), at(d, x.d),
                                     at(bias, x.bias)};
    const std::size_t bytes = workspace_bytes(plan, pointers);
    Prediction prediction;
    if (bytes == 0) return compare(x, plan, pointers, {}, d, seed, prediction);
    // Whatever the copies do not fill is poison; the workspace begins anywhere.
    constexpr std::size_t shift = 3;
    const cuda::DeviceBuffer<std::uint8_t> memory(
        std::vector<std::uint8_t>(shift + bytes + guard_bytes, 0xff));
    compare(x, plan, pointers, {}, d, seed, prediction);
    const auto with =
        compare(x, plan, pointers, {memory.data() + shift, bytes}, d, seed, prediction);
    std::vector<std::uint8_t> after(memory.size());
    memory.download(after);
    EXPECT_TRUE(std::all_of(after.end() - guard_bytes, after.end(),
                            [](std::uint8_t byte) { return byte == 0xff; }));
    EXPECT_TRUE(std::all_of(after.begin(), after.begin() + shift,
                            [](std::uint8_t byte) { return byte == 0xff; }));
    return with;
  }

  // Runs so far that took this path.
  int realigned() const { return totals_.realigned; }

 private:
  std::vector<std::uint8_t> compare(GemmCase& x, const Plan& plan, const gemm::Pointers& pointers,
                                    const gemm::Workspace& workspace,
                                    cuda::DeviceBuffer<std::uint8_t>& d, std::uint64_t seed,
                                    Prediction& prediction) {
    EXPECT_EQ(check_memory(plan, pointers, workspace), Status::Ok);
    const gemm::Path path = path_of(plan, pointers, workspace);
    if (path == gemm::Path::Realigned) totals_.realigned += 2;
    x.gemm.segments.clear();
    const std::vector<gemm::KSegment> segments = k_segments(plan, path);
    for (const gemm::KSegment& s : segments) x.gemm.segments.push_back({s.first, s.count});
    if (prediction.bytes.empty() || segments != prediction.segments)
      prediction = {segments, x.expected()};
    const std::vector<std::uint8_t>& want = prediction.bytes;
    std::vector<std::uint8_t> got(want.size());
    for (int repeat = 0; repeat < 2; ++repeat) {
      d.upload(x.d.bytes);
      const Status status = repeat == 0 ? run_captured(plan, pointers, workspace)
                                        : run(plan, pointers, workspace, nullptr);
      EXPECT_EQ(status, Status::Ok) << sentence(status);
      d.download(got);
      count(x, plan, want, got, seed);
    }
    return got;
  }

  void count(const GemmCase& x, const Plan& plan, const std::vector<std::uint8_t>& want,
             const std::vector<std::uint8_t>& got, std::uint64_t seed) {
    const oracle::Gemm& g = x.gemm;
    ++totals_.runs;
    totals_.outputs += static_cast<std::uint64_t>(g.m * g.n * g.batch);
    std::uint64_t bits_here = 0;
    std::size_t first = want.size();
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (want[i] == got[i]) continue;
      first = std::min(first, i);
      bits_here += static_cast<std::uint64_t>(__builtin_popcount(want[i] ^ got[i]));
    }
    totals_.differing_bits += bits_here;
    if (bits_here == 0) return;
    const auto width = static_cast<std::int64_t>(bits(g.out) / 8);
    const std::int64_t element =
        (static_cast<std::int64_t>(first) - static_cast<std::int64_t>(x.d.first)) / width;
    const std::int64_t in_batch = g.batch > 1 ? element % g.d.batch : element;
    const auto word = [&](const std::vector<std::uint8_t>& bytes) {
      return oracle::load_element(g.out, bytes.data() + x.d.first, element);
    };
    ADD_FAILURE() << fmt::format(
        "{} differing bits, first at D[{}][{}] of matrix {} (a gap or a guard if outside): got "
        "{:#x},"
        " want {:#x}; case seed {}\n{}",
        bits_here, in_batch / g.d.ld, in_batch % g.d.ld, g.batch > 1 ? element / g.d.batch : 0,
        word(got), word(want), seed, describe(plan));
  }

  Totals totals_;
};

oracle::Gemm shape(std::int64_t m, std::int64_t n, std::int64_t k, Type in = Type::bf16,
                   Type out = Type::bf16) {
  return with_strides({.m = m, .n = n, .k = k, .in = in, .out = out});
}

// A random epilogue; none for s32.
void choose_epilogue(Draw& draw, oracle::Gemm& g, Options& options) {
  if (g.out == Type::s32 || draw.one_in(3)) return;
  constexpr std::array<float, 4> factors = {1, 0.5f, -1.25f, 0.0009765625f};
  g.alpha = factors[static_cast<std::size_t>(draw.below(4))];
  if (!is_float(g.in)) g.alpha *= 0.001f;
  if (draw.one_in(2)) g.beta = factors[static_cast<std::size_t>(draw.below(4))];
  options.has_bias = draw.one_in(2);
  g.activation = static_cast<Activation>(draw.below(activation_count));
  if (is_gated(g.activation)) {
    g.beta = 0;
    g.n += g.n % 2;
  }
}

// Random types, majors, strides, epilogue for a shape.
std::pair<oracle::Gemm, Options> random_case(Draw& draw, std::int64_t m, std::int64_t n,
                                             std::int64_t k) {
  const auto& [in, out] = gemm_types[static_cast<std::size_t>(draw.below(11))];
  oracle::Gemm g{.m = m, .n = n, .k = k, .in = in, .out = out};
  Options options;
  g.major_a = draw.one_in(2) ? Major::K : Major::MN;
  g.major_b = draw.one_in(2) ? Major::K : Major::MN;
  if (draw.one_in(6)) g.batch = draw.in(2, 4);
  choose_epilogue(draw, g, options);
  const auto pad = [&] { return draw.one_in(2) ? 0 : draw.below(40); };
  const int pad_a = pad();
  const int pad_b = pad();
  const int pad_d = pad();
  g = with_strides(g, pad_a, pad_b, pad_d, pad());
  if (draw.one_in(4)) options.shifts = {draw.below(9), draw.below(9), draw.below(9)};
  if (draw.one_in(3)) options.values = draw.one_in(2) ? Values::Wide : Values::Specials;
  return {g, options};
}

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
                         testing::Values(Type::f16, Type::bf16, Type::tf32, Type::s8, Type::u8),
                         [](const auto& in) { return std::string(name(in.param)); });

// Every type of D, every activation, C and bias by chance, D's rows anywhere.
TEST_P(LiveGemmKernels, SmallProblemsOnEveryKernel) {
  Draw draw(chosen_seed() + 5);
  int kernels = 0;
  for (const gemm::Kernel& k : gemm::kernels()) {
    if (k.in != GetParam()) continue;
    oracle::Gemm g{.m = 3 * k.block_m * k.cluster_m + 5, .n = 2 * k.block_n * k.cluster_n + 16};
    g.k = k.block_k * std::max(k.split, 3) + 32;
    g.in = k.in;
    g.major_a = k.major_a;
    g.major_b = k.major_b;
    if (k.major_a == Major::MN) g.m = (g.m + 15) / 16 * 16;
    const auto on_this = [&](const Problem& p, Plan& plan) { return make_plan_with(p, k, plan); };
    for (const auto& [in, out] : gemm_types) {
      if (in != k.in) continue;
      g.out = out;
      Options options;
      compare(with_strides(g), options, on_this);
      if (out == Type::s32) continue;
      for (int i = 1; i < activation_count; ++i) {
        oracle::Gemm h = g;
        choose_epilogue(draw, h, options);
        h.activation = static_cast<Activation>(i);
        if (is_gated(h.activation)) h.beta = 0;
        compare(with_strides(h, 0, 0, draw.one_in(2) ? 0 : draw.below(20), draw.below(3)), options,
                on_this);
      }
    }
    ++kernels;
  }
  fmt::print("{} kernels\n", kernels);
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
  // All majors of 4 pairs of 16-bit types, K-major only of 7 others; D is unaligned if pad is 4.
  EXPECT_GE(realigned(), 2 * 3 * (4 * 4 + 7));
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
