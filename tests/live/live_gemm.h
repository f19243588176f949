// The fixture of live GEMM tests: a case planned, run twice into poisoned memory, once captured in a graph, and all bytes
// of D compared; if operands have to be copied, without a workspace and with one.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tune.h"
#include "cuda/runtime/launch.h"
#include "tests/live/live_device.h"
#include "tests/support/gemm_case.h"
#include "tests/support/gemm_problem.h"
#include "tests/support/scale_codes.h"

namespace tcq {

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
  int sm_limit = 0;
  bool programmatic_launch = true;
  Scales scales = {};
};

inline Problem problem_of(const oracle::Gemm& g, const Options& o) {
  Problem p = problem_of(g, o.has_bias);
  if (o.c_is_d) p.c = p.d;
  p.batch_invariant = o.batch_invariant;
  p.sm_limit = o.sm_limit;
  p.programmatic_launch = o.programmatic_launch;
  return p;
}

// Elements of 4 bits as the library has them: two to a byte.
inline Buffer stored(Type type, const Buffer& elements) {
  return type == Type::e2m1 ? packed_by_two(elements) : elements;
}

// A case's matrices in device memory.
struct OnDevice {
  using Bytes = cuda::DeviceBuffer<std::uint8_t>;

  explicit OnDevice(const GemmCase& x)
      : a(stored(x.gemm.in, x.a).bytes),
        b(stored(x.gemm.b_type(), x.b).bytes),
        c(x.c.bytes),
        bias(x.bias.bytes),
        scale_a(x.scale_a.bytes),
        scale_b(x.scale_b.bytes),
        atoms_a(atoms(x.gemm, x.sfa, x.gemm.m)),
        atoms_b(atoms(x.gemm, x.sfb, x.gemm.n)),
        d(stored_d(x.gemm, x.d).bytes),
        scale_d(factors(x)),
        global_scale_d(bytes_of(x.gemm.global_scale_d)) {}

  static std::vector<std::uint8_t> atoms(const oracle::Gemm& g, const Buffer& codes,
                                         std::int64_t lines) {
    return codes.bytes.empty() ? std::vector<std::uint8_t>() : atoms_of(g, codes, lines);
  }

  gemm::Pointers pointers(const GemmCase& x, bool c_is_d = false) const {
    const auto at = [](const Bytes& on_device, const Buffer& host, Type type = Type::u8) {
      const std::size_t first = type == Type::e2m1 ? host.first / 2 : host.first;
      return on_device.size() == 0 ? nullptr : on_device.data() + first;
    };
    gemm::Pointers out;
    out.a = at(a, x.a, x.gemm.in);
    out.b = at(b, x.b, x.gemm.b_type());
    out.c = c_is_d ? at(d, x.d) : at(c, x.c);
    out.d = at(d, x.d, x.gemm.d_type());
    out.bias = at(bias, x.bias);
    out.scale_a = reinterpret_cast<const float*>(at(scale_a, x.scale_a));
    out.scale_b = reinterpret_cast<const float*>(at(scale_b, x.scale_b));
    out.scale_codes_a = atoms_a.size() == 0 ? nullptr : atoms_a.data();
    out.scale_codes_b = atoms_b.size() == 0 ? nullptr : atoms_b.data();
    if (x.gemm.quantized_vec == tcgen05::ScaleVec::Default)
      out.scale_d = reinterpret_cast<float*>(at(scale_d, x.scale_d));
    else
      out.scale_codes_d = scale_d.data();
    if (x.gemm.global_scale_d != 1)
      out.global_scale_d = reinterpret_cast<const float*>(global_scale_d.data());
    return out;
  }

  // As they were before anything ran.
  void upload_results(const GemmCase& x) {
    d.upload(stored_d(x.gemm, x.d).bytes);
    if (scale_d.size() > 0) scale_d.upload(factors(x));
  }
  // All bytes of D's buffer, and of its factors'.
  std::vector<std::uint8_t> results() const {
    std::vector<std::uint8_t> of_d(d.size()), of_factors(scale_d.size());
    d.download(of_d);
    if (!of_factors.empty()) scale_d.download(of_factors);
    return GemmCase::joined(std::move(of_d), of_factors);
  }

  // Of D, before anything ran.
  static std::vector<std::uint8_t> factors(const GemmCase& x) {
    return x.scale_d.bytes.empty() ? std::vector<std::uint8_t>()
                                   : stored_factors(x.gemm, x.scale_d, poison_of_d);
  }
  static std::vector<std::uint8_t> bytes_of(float value) {
    const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof value>>(value);
    return {bytes.begin(), bytes.end()};
  }

  Bytes a, b, c, bias, scale_a, scale_b, atoms_a, atoms_b, d, scale_d, global_scale_d;
};

// run() in a graph that is launched and waited for.
inline Status run_captured(const Plan& plan, const gemm::Pointers& pointers,
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

// Kernels whose factors TMA brings compute nothing without such, in lines of 16 bytes.
inline Options options_of(const gemm::Kernel& k, const oracle::Gemm& g, Major of_rows = Major::K) {
  Options options;
  const int blocks = static_cast<int>((g.k + gemm::scale_block - 1) / gemm::scale_block);
  const auto short_of = [](std::int64_t n) { return static_cast<int>((4 - n % 4) % 4); };
  if (k.stages_factors) {
    const bool along_k = of_rows == Major::K || short_of(g.m) != short_of(blocks);
    const bool each = k.promotion == gemm::Promotion::EachColumn;
    options.scales = {each ? gemm::Scaling::Vector128 : gemm::Scaling::Block128,
                      along_k ? Major::K : Major::MN, Major::K, short_of(blocks)};
  }
  return options;
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
    Problem p = problem_of(gemm, options);
    set_scaling(p, x, options.scales, mix(seed + 5));
    const Status status = plan_of(p, plan);
    EXPECT_EQ(status, Status::Ok) << sentence(status);
    if (status != Status::Ok) return {};
    return compare(x, plan, options, seed);
  }

  std::vector<std::uint8_t> compare(GemmCase& x, const Plan& plan, const Options& options,
                                    std::uint64_t seed) {
    OnDevice device(x);
    const gemm::Pointers pointers = device.pointers(x, options.c_is_d);
    const std::size_t bytes = workspace_bytes(plan, pointers);
    Prediction prediction;
    if (bytes == 0) return compare(x, plan, pointers, {}, device, seed, prediction);
    // Whatever the copies do not fill is poison; the workspace begins anywhere.
    constexpr std::size_t shift = 3;
    const cuda::DeviceBuffer<std::uint8_t> memory(
        std::vector<std::uint8_t>(shift + bytes + guard_bytes, 0xff));
    compare(x, plan, pointers, {}, device, seed, prediction);
    const auto with =
        compare(x, plan, pointers, {memory.data() + shift, bytes}, device, seed, prediction);
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
                                    const gemm::Workspace& workspace, OnDevice& device,
                                    std::uint64_t seed, Prediction& prediction) {
    EXPECT_EQ(check_memory(plan, pointers, workspace), Status::Ok);
    const gemm::Path path = path_of(plan, pointers, workspace);
    if (path == gemm::Path::Realigned) totals_.realigned += 2;
    x.gemm.segments.clear();
    const std::vector<gemm::KSegment> segments = k_segments(plan, path);
    for (const gemm::KSegment& s : segments) x.gemm.segments.push_back({s.first, s.count});
    if (prediction.bytes.empty() || segments != prediction.segments)
      prediction = {segments, stored_results(x)};
    const std::vector<std::uint8_t>& want = prediction.bytes;
    std::vector<std::uint8_t> got;
    for (int repeat = 0; repeat < 2; ++repeat) {
      device.upload_results(x);
      // Alone first: a wrong assumption about graphs shows as one.
      const Status status = repeat == 0 ? run(plan, pointers, workspace, nullptr)
                                        : run_captured(plan, pointers, workspace);
      EXPECT_EQ(status, Status::Ok) << sentence(status);
      got = device.results();
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
    const auto width = static_cast<std::int64_t>(bits(g.d_type()) / 8);
    const std::int64_t element =
        (static_cast<std::int64_t>(first) - static_cast<std::int64_t>(x.d.first)) / width;
    const std::int64_t in_batch = g.batch > 1 ? element % g.d.batch : element;
    const auto word = [&](const std::vector<std::uint8_t>& bytes) {
      // Behind D's are its factors'.
      return oracle::load_element(g.d_type(), bytes.data() + x.d.first, element);
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

inline oracle::Gemm shape(std::int64_t m, std::int64_t n, std::int64_t k, Type in = Type::bf16,
                          Type out = Type::bf16) {
  return with_strides({.m = m, .n = n, .k = k, .in = in, .out = out});
}

// A random epilogue; none for s32.
inline void choose_epilogue(Draw& draw, oracle::Gemm& g, Options& options) {
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

// FP8: any other type of B, scaling and promotion.
inline void choose_scaling(Draw& draw, oracle::Gemm& g, Options& options) {
  if (!is_fp8(g.in)) return;
  if (draw.one_in(2)) g.in_b = draw.one_in(2) ? Type::e4m3 : Type::e5m2;
  g.promotes = draw.one_in(2);
  const auto major = [&] { return draw.one_in(2) ? Major::K : Major::MN; };
  options.scales = {static_cast<gemm::Scaling>(draw.below(gemm::scaling_count)), major(), major(),
                    draw.below(3)};
}

// D as FP8 in one of three, where operands are such. Behind the choice of types and activation.
inline oracle::Gemm maybe_quantized(Draw& draw, oracle::Gemm g, Options& options) {
  if (!is_fp8(g.in) || !draw.one_in(3)) return g;
  options.c_is_d = false;
  return with_quantized(g, {draw.one_in(2) ? Type::e4m3 : Type::e5m2, draw.one_in(2),
                            draw.one_in(2) ? Major::K : Major::MN, draw.below(3)});
}

// As the kernel makes D: in codes of several kinds if it quantizes it.
inline oracle::Gemm as_made_by(const gemm::Kernel& k, const oracle::Gemm& g, int number) {
  const Major major = number % 2 == 0 ? Major::K : Major::MN;
  if (k.quantized_columns == 0) return g;
  return with_quantized(
      g, {number % 3 == 0 ? Type::e5m2 : Type::e4m3, number % 4 == 1, major, number % 5});
}

// Of the kernel: `clusters` of tiles in each direction, and columns and K for its type.
inline oracle::Gemm problem_for(const gemm::Kernel& k, int clusters) {
  oracle::Gemm g{.m = clusters * k.block_m * k.cluster_m, .n = k.block_n * k.cluster_n};
  g.in = k.in;
  g.in_b = k.in_b;
  g.promotes = k.promotion != gemm::Promotion::None;
  g.major_a = k.major_a;
  g.major_b = k.major_b;
  return g;
}

// Random types, majors, strides, epilogue for a shape.
inline std::pair<oracle::Gemm, Options> random_case(Draw& draw, std::int64_t m, std::int64_t n,
                                                    std::int64_t k) {
  const auto& [in, out] = gemm_types[static_cast<std::size_t>(draw.below(gemm_types.size()))];
  oracle::Gemm g{.m = m, .n = n, .k = k, .in = in, .out = out};
  Options options;
  g.major_a = draw.one_in(2) ? Major::K : Major::MN;
  g.major_b = draw.one_in(2) ? Major::K : Major::MN;
  if (draw.one_in(6)) g.batch = draw.in(2, 4);
  choose_scaling(draw, g, options);
  choose_epilogue(draw, g, options);
  const auto pad = [&] { return draw.one_in(2) ? 0 : draw.below(40); };
  const int pad_a = pad();
  const int pad_b = pad();
  const int pad_d = pad();
  g = maybe_quantized(draw, with_strides(g, pad_a, pad_b, pad_d, pad()), options);
  if (draw.one_in(4)) options.shifts = {draw.below(9), draw.below(9), draw.below(9)};
  if (draw.one_in(3)) options.values = draw.one_in(2) ? Values::Wide : Values::Specials;
  return {g, options};
}

}  // namespace tcq
