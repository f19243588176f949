// Whole results of libtcq_gemm.so on a real sm_90 GPU, loaded as a stranger loads it, against oracle/gemm_reference:
// every bit of D and its guards. The library has a CUDA runtime of its own beside this program's. Skips
// loudly without a GPU.
//
// TCQ_GEMM_LIBRARY in the environment names another file than the build's.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/gemm/gemm_c.h"
#include "cuda/runtime/launch.h"
#include "oracle/gemm/plan_text.h"
#include "tests/live/live_device.h"
#include "tests/support/gemm_case.h"
#include "tests_where.h"

namespace tcq {
namespace {

using DeviceBytes = cuda::DeviceBuffer<std::uint8_t>;

int code(Type type) {
  switch (type) {
    case Type::f16: return TCQ_GEMM_F16;
    case Type::bf16: return TCQ_GEMM_BF16;
    case Type::tf32: return TCQ_GEMM_TF32;
    case Type::s8: return TCQ_GEMM_S8;
    case Type::u8: return TCQ_GEMM_U8;
    case Type::e4m3: return TCQ_GEMM_E4M3;
    case Type::e5m2: return TCQ_GEMM_E5M2;
    case Type::f32: return TCQ_GEMM_F32;
    default: return TCQ_GEMM_S32;
  }
}

// The functions that a program needs, from the file.
struct Functions {
  explicit Functions(const char* path) : library(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) return;
    get(defaults, "tcq_gemm_defaults");
    get(make_plan, "tcq_gemm_make_plan");
    get(destroy_plan, "tcq_gemm_destroy_plan");
    get(describe, "tcq_gemm_describe");
    get(sentence, "tcq_gemm_sentence");
    get(workspace_bytes_for, "tcq_gemm_workspace_bytes_for");
    get(run, "tcq_gemm_run");
  }
  template <class Function>
  void get(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    ASSERT_NE(function, nullptr) << name;
  }

  void* library;
  decltype(&tcq_gemm_defaults) defaults = nullptr;
  decltype(&tcq_gemm_make_plan) make_plan = nullptr;
  decltype(&tcq_gemm_destroy_plan) destroy_plan = nullptr;
  decltype(&tcq_gemm_describe) describe = nullptr;
  decltype(&tcq_gemm_sentence) sentence = nullptr;
  decltype(&tcq_gemm_workspace_bytes_for) workspace_bytes_for = nullptr;
  decltype(&tcq_gemm_run) run = nullptr;
};

struct Options {
  bool has_bias = false;
  int sm_limit = 0;
  bool programmatic_launch = true;
  bool batch_invariant = false;
  bool is_older = false;  // a caller whose struct ends before the options of launches
};

class LiveSharedLibrary : public Live {
 protected:
  void TearDown() override {
    if (runs_ > 0) fmt::print("{} runs, {} differing bits\n", runs_, differing_);
  }

  static const Functions& gemm() {
    const char* named = std::getenv("TCQ_GEMM_LIBRARY");
    static const Functions functions(named == nullptr ? TCQ_GEMM_LIBRARY : named);
    return functions;
  }

  static tcq_gemm_problem problem_of(const oracle::Gemm& g, const Options& o) {
    tcq_gemm_problem p;
    const std::size_t older = offsetof(tcq_gemm_problem, sm_limit);
    EXPECT_EQ(gemm().defaults(&p, o.is_older ? older : sizeof p), 0);
    p.m = g.m;
    p.n = g.n;
    p.k = g.k;
    p.in = code(g.in);
    p.out = code(g.out);
    p.major_a = g.major_a == Major::K ? TCQ_GEMM_K_MAJOR : TCQ_GEMM_MN_MAJOR;
    p.major_b = g.major_b == Major::K ? TCQ_GEMM_K_MAJOR : TCQ_GEMM_MN_MAJOR;
    p.a.ld = g.a.ld;
    p.b.ld = g.b.ld;
    p.c.ld = g.c.ld;
    p.d.ld = g.d.ld;
    p.alpha = g.alpha;
    p.beta = g.beta;
    p.has_bias = o.has_bias ? 1 : 0;
    p.activation = static_cast<int>(g.activation);
    p.batch_invariant = o.batch_invariant ? 1 : 0;
    if (o.is_older) return p;
    p.sm_limit = o.sm_limit;
    p.programmatic_launch = o.programmatic_launch ? 1 : 0;
    return p;
  }

  // The order of the sums is what the plan's text says.
  void compare(const oracle::Gemm& g, const Options& options = {}) {
    ASSERT_NE(gemm().library, nullptr) << dlerror();
    GemmCase x = make_case(g, options.has_bias, Values::Near, mix(chosen_seed() + runs_));
    const tcq_gemm_problem p = problem_of(g, options);
    tcq_gemm_plan* plan = nullptr;
    const int status = gemm().make_plan(&p, &plan);
    ASSERT_EQ(status, 0) << gemm().sentence(status);
    std::string text(gemm().describe(plan, nullptr, 0) + 1, '\0');
    gemm().describe(plan, text.data(), text.size());
    x.gemm.segments = oracle::gemm::parse_plan(text, "plan", {g.in, g.in, g.k}).segments;
    const DeviceBytes a(x.a.bytes), b(x.b.bytes), c(x.c.bytes), bias(x.bias.bytes), d(x.d.bytes);
    tcq_gemm_pointers pointers = {};
    pointers.size = sizeof pointers;
    pointers.a = a.data() + x.a.first;
    pointers.b = b.data() + x.b.first;
    pointers.c = c.data() + x.c.first;
    pointers.d = d.data() + x.d.first;
    pointers.bias = options.has_bias ? bias.data() + x.bias.first : nullptr;
    const DeviceBytes memory(gemm().workspace_bytes_for(plan, &pointers));
    EXPECT_EQ(gemm().run(plan, &pointers, memory.data(), memory.size(), nullptr), 0);
    gemm().destroy_plan(plan);  // what is launched needs it no more
    std::vector<std::uint8_t> got(x.d.bytes.size());
    d.download(got);
    const std::vector<std::uint8_t> want = x.expected();
    std::uint64_t bits_here = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      bits_here += static_cast<std::uint64_t>(__builtin_popcount(want[i] ^ got[i]));
    EXPECT_EQ(bits_here, 0u) << text;
    differing_ += bits_here;
    ++runs_;
  }

 private:
  std::uint64_t runs_ = 0;
  std::uint64_t differing_ = 0;
};

oracle::Gemm shape(std::int64_t m, std::int64_t n, std::int64_t k, Type in = Type::bf16,
                   Type out = Type::bf16) {
  return with_strides({.m = m, .n = n, .k = k, .in = in, .out = out});
}

TEST_F(LiveSharedLibrary, EveryTypeHasThePredictedBits) {
  for (const auto& [in, out] : gemm_types) {
    compare(shape(200, 264, 512, in, out));
    compare(shape(16, 576, 2048, in, out));
  }
}

TEST_F(LiveSharedLibrary, EveryEpilogueHasThePredictedBits) {
  for (int activation = 0; activation < activation_count; ++activation) {
    for (const bool has_bias : {false, true}) {
      oracle::Gemm g = shape(130, 272, 192);
      g.alpha = 0.5f;
      g.activation = static_cast<Activation>(activation);
      g.beta = is_gated(g.activation) ? 0 : 2;
      compare(with_strides(g), {.has_bias = has_bias});
    }
  }
}

TEST_F(LiveSharedLibrary, MajorsAndLinesThatTmaCannotAddress) {
  for (const Major major_a : {Major::K, Major::MN}) {
    for (const Major major_b : {Major::K, Major::MN}) {
      for (const std::int64_t k : {328, 331}) {
        oracle::Gemm g{.m = 77, .n = 136, .k = k, .major_a = major_a, .major_b = major_b};
        compare(with_strides(g), {.batch_invariant = true});  // copies have the same order, too
      }
    }
  }
}

TEST_F(LiveSharedLibrary, ALimitOfSmsAndLaunchesInTurn) {
  for (const int sm_limit : {1, 2, 7, 64, 131}) {
    compare(shape(300, 520, 512), {.sm_limit = sm_limit});
    compare(shape(16, 2112, 1024), {.sm_limit = sm_limit});
    compare(shape(300, 280, 1001, Type::s8, Type::s32), {.sm_limit = sm_limit});  // copies
  }
  compare(shape(1, 4096, 2048), {.programmatic_launch = false});
  compare(shape(300, 280, 1001, Type::s8, Type::s32), {.programmatic_launch = false});
}

TEST_F(LiveSharedLibrary, ACallerWithAnOlderStruct) {
  compare(shape(64, 136, 256), {.is_older = true});
}

}  // namespace
}  // namespace tcq
