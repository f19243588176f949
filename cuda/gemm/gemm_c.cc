#include "cuda/gemm/gemm_c.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>
#include <string>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/guard.h"
#include "cuda/gemm/quantize.h"
#include "cuda/gemm/sized.h"
#include "cuda/gemm/tune.h"

struct tcq_gemm_plan {
  tcq::gemm::Plan plan;
};

struct tcq_gemm_tune_cache {
  tcq::gemm::TuneCache cache;
};

namespace tcq::gemm {
namespace {

constexpr std::uint8_t no_code = 0xff;
constexpr int major_count = 2;

// Codes that do not exist become what no kernel takes, and check() refuses.
Type type_of(std::int32_t type) {
  switch (type) {
    case TCQ_GEMM_F16: return Type::f16;
    case TCQ_GEMM_BF16: return Type::bf16;
    case TCQ_GEMM_TF32: return Type::tf32;
    case TCQ_GEMM_S8: return Type::s8;
    case TCQ_GEMM_U8: return Type::u8;
    case TCQ_GEMM_F32: return Type::f32;
    case TCQ_GEMM_S32: return Type::s32;
    case TCQ_GEMM_E4M3: return Type::e4m3;
    case TCQ_GEMM_E5M2: return Type::e5m2;
    case TCQ_GEMM_E2M1: return Type::e2m1;
  }
  return Type::b1;
}

// Numbers of the interface that are the enumerators' own.
static_assert(TCQ_GEMM_K_MAJOR == static_cast<int>(Major::K));
static_assert(TCQ_GEMM_MN_MAJOR == static_cast<int>(Major::MN));
static_assert(TCQ_GEMM_NO_ACTIVATION == static_cast<int>(Activation::None));
static_assert(TCQ_GEMM_RELU == static_cast<int>(Activation::Relu));
static_assert(TCQ_GEMM_GELU == static_cast<int>(Activation::Gelu));
static_assert(TCQ_GEMM_SILU == static_cast<int>(Activation::Silu));
static_assert(TCQ_GEMM_GELU_ERF == static_cast<int>(Activation::GeluErf));
static_assert(TCQ_GEMM_SWIGLU == static_cast<int>(Activation::Swiglu));
static_assert(TCQ_GEMM_SWIGLU + 1 == activation_count);

static_assert(TCQ_GEMM_NO_SCALING == static_cast<int>(Scaling::None));
static_assert(TCQ_GEMM_SCALE_TENSOR == static_cast<int>(Scaling::Tensor));
static_assert(TCQ_GEMM_SCALE_ROW_COLUMN == static_cast<int>(Scaling::RowColumn));
static_assert(TCQ_GEMM_SCALE_BLOCK_128 == static_cast<int>(Scaling::Block128));
static_assert(TCQ_GEMM_SCALE_VECTOR_128 == static_cast<int>(Scaling::Vector128));
static_assert(TCQ_GEMM_SCALE_VECTOR_128 + 1 == scaling_count);

static_assert(TCQ_GEMM_NO_BLOCK_SCALING == static_cast<int>(BlockScaling::None));
static_assert(TCQ_GEMM_UE8M0_BLOCK_32 == static_cast<int>(BlockScaling::Ue8m0Block32));
static_assert(TCQ_GEMM_UE4M3_BLOCK_16 == static_cast<int>(BlockScaling::Ue4m3Block16));
static_assert(TCQ_GEMM_UE4M3_BLOCK_16 + 1 == block_scaling_count);

static_assert(TCQ_GEMM_NO_GROUPS == static_cast<int>(Grouping::None));
static_assert(TCQ_GEMM_GROUP_ENDS == static_cast<int>(Grouping::Ends));
static_assert(TCQ_GEMM_GROUP_COUNTS == static_cast<int>(Grouping::Counts));
static_assert(TCQ_GEMM_GROUP_OF_ROW == static_cast<int>(Grouping::RowIds));
static_assert(TCQ_GEMM_GROUP_K_ENDS + 1 == grouping_count);

constexpr std::int32_t type_of_a = -1;
constexpr std::int32_t type_of_out = -1;

template <class Enum>
Enum enumerator(std::int32_t code, int count) {
  return static_cast<Enum>(code >= 0 && code < count ? code : no_code);
}

Strides strides_of(const tcq_gemm_strides& s) { return {s.ld, s.batch}; }

Problem problem_of(const tcq_gemm_problem& p) {
  std::optional<Type> in_b;
  if (p.in_b != type_of_a) in_b = type_of(p.in_b);
  std::optional<Type> quantized;
  if (p.quantized != type_of_out) quantized = type_of(p.quantized);
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .batch = p.batch,
          .in = type_of(p.in),
          .out = type_of(p.out),
          .major_a = enumerator<Major>(p.major_a, major_count),
          .major_b = enumerator<Major>(p.major_b, major_count),
          .a = strides_of(p.a),
          .b = strides_of(p.b),
          .c = strides_of(p.c),
          .d = strides_of(p.d),
          .alpha = p.alpha,
          .beta = p.beta,
          .has_bias = p.has_bias != 0,
          .activation = enumerator<Activation>(p.activation, activation_count),
          .batch_invariant = p.batch_invariant != 0,
          .sm_limit = p.sm_limit,
          .in_b = in_b,
          .scaling = enumerator<Scaling>(p.scaling, scaling_count),
          .promotes = p.promotes != 0,
          .major_scale_a = enumerator<Major>(p.major_scale_a, major_count),
          .major_scale_b = enumerator<Major>(p.major_scale_b, major_count),
          .scale_a = strides_of(p.scale_a),
          .scale_b = strides_of(p.scale_b),
          .grouping = enumerator<Grouping>(p.grouping, grouping_count),
          .expected_rows = p.expected_rows,
          .programmatic_launch = p.programmatic_launch != 0,
          .block_scaling = enumerator<BlockScaling>(p.block_scaling, block_scaling_count),
          .quantized = quantized,
          .scale_d_power_of_two = p.scale_d_power_of_two != 0,
          .major_scale_d = enumerator<Major>(p.major_scale_d, major_count),
          .scale_d = strides_of(p.scale_d),
          .block_scaling_d = enumerator<BlockScaling>(p.block_scaling_d, block_scaling_count),
          .dynamic_schedule = p.dynamic_schedule != 0};
}

tcq_gemm_problem default_problem() {
  tcq_gemm_problem p = {};
  p.batch = 1;
  p.in = p.out = TCQ_GEMM_BF16;
  for (tcq_gemm_strides* s : {&p.a, &p.b, &p.c, &p.d, &p.scale_a, &p.scale_b, &p.scale_d})
    *s = {packed, packed};
  p.in_b = type_of_a;
  p.quantized = type_of_out;
  p.alpha = 1;
  p.programmatic_launch = 1;
  return p;
}

// Before there were options of launches, before FP8, before tcgen05, before D was quantized, before its factors were bytes, and
// before dynamic schedules.
constexpr std::initializer_list<std::size_t> older_problems = {
    offsetof(tcq_gemm_problem, sm_limit), offsetof(tcq_gemm_problem, in_b),
    offsetof(tcq_gemm_problem, block_scaling), offsetof(tcq_gemm_problem, quantized),
    offsetof(tcq_gemm_problem, dynamic_schedule)};
constexpr std::initializer_list<std::size_t> older_pointers = {
    offsetof(tcq_gemm_pointers, scale_a), offsetof(tcq_gemm_pointers, scale_codes_a),
    offsetof(tcq_gemm_pointers, scale_d), offsetof(tcq_gemm_pointers, scale_codes_d)};
static_assert(sizeof(tcq_gemm_problem) ==
                  offsetof(tcq_gemm_problem, reserved_schedule) + sizeof(std::int32_t) &&
              sizeof(tcq_gemm_problem) % alignof(tcq_gemm_problem) == 0);

Status take(const tcq_gemm_problem* from, Problem& to) {
  tcq_gemm_problem p = default_problem();
  const Status status = take_struct(from, older_problems, p);
  if (status != Status::Ok) return status;
  to = problem_of(p);
  const bool known = p.reserved == 0 && p.reserved_tcgen05 == 0 && p.reserved_schedule == 0;
  return known ? Status::Ok : Status::UnknownField;
}

Status take(const tcq_gemm_pointers* from, Pointers& to) {
  tcq_gemm_pointers x = {};
  const Status status = take_struct(from, older_pointers, x);
  if (status == Status::Ok)
    to = {.a = x.a,
          .b = x.b,
          .c = x.c,
          .d = x.d,
          .bias = x.bias,
          .scale_a = x.scale_a,
          .scale_b = x.scale_b,
          .sizes = x.sizes,
          .scale_codes_a = x.scale_codes_a,
          .scale_codes_b = x.scale_codes_b,
          .scale_d = x.scale_d,
          .scale_codes_d = x.scale_codes_d,
          .global_scale_d = x.global_scale_d};
  return status;
}

static_assert(TCQ_GEMM_QUANTIZE_ROW == static_cast<int>(QuantizeBlock::Row));
static_assert(TCQ_GEMM_QUANTIZE_VECTOR_128 == static_cast<int>(QuantizeBlock::Vector128));
static_assert(TCQ_GEMM_QUANTIZE_BLOCK_128 == static_cast<int>(QuantizeBlock::Block128));
static_assert(TCQ_GEMM_QUANTIZE_BLOCK_128 + 1 == quantize_block_count);

Status take(const tcq_gemm_quantizer* from, Quantize& to) {
  tcq_gemm_quantizer q = {};
  const Status status = take_struct(from, {}, q);
  if (status != Status::Ok) return status;
  to = {.rows = q.rows,
        .columns = q.columns,
        .in = type_of(q.in),
        .out = type_of(q.out),
        .block = enumerator<QuantizeBlock>(q.block, quantize_block_count),
        .power_of_two = q.power_of_two != 0,
        .ld_source = q.ld_source,
        .ld_target = q.ld_target,
        .major_factors = enumerator<Major>(q.major_factors, major_count),
        .ld_factors = q.ld_factors,
        .programmatic_launch = q.waits_for_end == 0};
  return q.waits_for_end == 0 || q.waits_for_end == 1 ? Status::Ok : Status::UnknownField;
}

int code(Status status) { return static_cast<int>(status); }

// What a plan was made with, and the plan if that is Ok.
int hand_over(Status status, const Plan& made, tcq_gemm_plan** plan) {
  if (status != Status::Ok) return code(status);
  *plan = new (std::nothrow) tcq_gemm_plan{made};
  return code(*plan == nullptr ? Status::NoMemory : Status::Ok);
}

}  // namespace
}  // namespace tcq::gemm

namespace gemm = tcq::gemm;

int tcq_gemm_defaults(tcq_gemm_problem* problem, size_t size) {
  if (problem == nullptr) return gemm::code(gemm::Status::NullPointer);
  if (!gemm::is_struct_size<tcq_gemm_problem>(size, gemm::older_problems))
    return gemm::code(gemm::Status::BadStructSize);
  gemm::give_struct(gemm::default_problem(), size, problem);
  return gemm::code(gemm::Status::Ok);
}

const char* tcq_gemm_sentence(int status) {
  if (status < 0 || status >= gemm::status_count) return "?";
  return gemm::sentence(static_cast<gemm::Status>(status));
}

int tcq_gemm_check(const tcq_gemm_problem* problem) {
  gemm::Problem p;
  const gemm::Status status = gemm::take(problem, p);
  return gemm::code(status == gemm::Status::Ok ? gemm::check(p) : status);
}

int tcq_gemm_make_plan(const tcq_gemm_problem* problem, tcq_gemm_plan** plan) {
  if (plan == nullptr) return gemm::code(gemm::Status::NullPointer);
  *plan = nullptr;
  gemm::Problem p;
  gemm::Plan made;
  gemm::Status status = gemm::take(problem, p);
  if (status == gemm::Status::Ok) status = gemm::make_plan(p, made);
  return gemm::hand_over(status, made, plan);
}

void tcq_gemm_destroy_plan(tcq_gemm_plan* plan) { delete plan; }

size_t tcq_gemm_workspace_bytes(const tcq_gemm_plan* plan) {
  return plan == nullptr ? 0 : gemm::workspace_bytes(plan->plan);
}

size_t tcq_gemm_workspace_bytes_for(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers) {
  gemm::Pointers x;
  if (plan == nullptr || gemm::take(pointers, x) != gemm::Status::Ok) return 0;
  return gemm::workspace_bytes(plan->plan, x);
}

size_t tcq_gemm_describe(const tcq_gemm_plan* plan, char* text, size_t size) {
  const std::string whole = gemm::describe(plan == nullptr ? gemm::Plan{} : plan->plan);
  if (text != nullptr && size > 0) {
    const std::size_t length = std::min(whole.size(), size - 1);
    std::memcpy(text, whole.data(), length);
    text[length] = 0;
  }
  return whole.size();
}

int tcq_gemm_run(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers, void* workspace,
                 size_t workspace_bytes, void* stream) {
  if (plan == nullptr) return gemm::code(gemm::Status::NoPlan);
  gemm::Pointers x;
  const gemm::Status status = gemm::take(pointers, x);
  if (status != gemm::Status::Ok) return gemm::code(status);
  return gemm::code(
      gemm::run(plan->plan, x, {workspace, workspace_bytes}, static_cast<gemm::Stream>(stream)));
}

int tcq_gemm_quantize(const tcq_gemm_quantizer* quantizer, const void* source, void* target,
                      float* factors, void* stream) {
  gemm::Quantize q;
  gemm::Status status = gemm::take(quantizer, q);
  if (status == gemm::Status::Ok)
    status = gemm::quantize(q, source, target, factors, static_cast<gemm::Stream>(stream));
  return gemm::code(status);
}

int tcq_gemm_quantize_on_host(const tcq_gemm_quantizer* quantizer, const void* source, void* target,
                              float* factors) {
  gemm::Quantize q;
  gemm::Status status = gemm::take(quantizer, q);
  if (status == gemm::Status::Ok) status = gemm::quantize_on_host(q, source, target, factors);
  return gemm::code(status);
}

tcq_gemm_tune_cache* tcq_gemm_create_tune_cache(void) {
  return new (std::nothrow) tcq_gemm_tune_cache;
}

void tcq_gemm_destroy_tune_cache(tcq_gemm_tune_cache* cache) { delete cache; }

int tcq_gemm_load_tune_cache(tcq_gemm_tune_cache* cache, const char* path) {
  if (cache == nullptr || path == nullptr) return gemm::code(gemm::Status::NullPointer);
  return gemm::code(
      gemm::guarded(gemm::Status::TuneFileUnreadable, [&] { return cache->cache.load(path); }));
}

int tcq_gemm_save_tune_cache(const tcq_gemm_tune_cache* cache, const char* path) {
  if (cache == nullptr || path == nullptr) return gemm::code(gemm::Status::NullPointer);
  return gemm::code(
      gemm::guarded(gemm::Status::TuneFileNotWritten, [&] { return cache->cache.save(path); }));
}

int tcq_gemm_make_plan_cached(const tcq_gemm_problem* problem, const tcq_gemm_tune_cache* cache,
                              tcq_gemm_plan** plan) {
  if (plan == nullptr) return gemm::code(gemm::Status::NullPointer);
  *plan = nullptr;
  if (cache == nullptr) return gemm::code(gemm::Status::NullPointer);
  gemm::Problem p;
  gemm::Plan made;
  gemm::Status status = gemm::take(problem, p);
  if (status == gemm::Status::Ok) status = gemm::make_plan(p, cache->cache, made);
  return gemm::hand_over(status, made, plan);
}

int tcq_gemm_tune(const tcq_gemm_problem* problem, const tcq_gemm_pointers* pointers,
                  void* workspace, size_t workspace_bytes, void* stream, int kernels,
                  tcq_gemm_tune_cache* cache, tcq_gemm_plan** plan) {
  if (plan == nullptr) return gemm::code(gemm::Status::NullPointer);
  *plan = nullptr;
  gemm::Problem p;
  gemm::Pointers x;
  gemm::Status status = gemm::take(problem, p);
  if (status == gemm::Status::Ok) status = gemm::take(pointers, x);
  if (status != gemm::Status::Ok) return gemm::code(status);
  const gemm::Workspace space = {workspace, workspace_bytes};
  const auto on = static_cast<gemm::Stream>(stream);
  const gemm::TuneOptions options = {.kernels = kernels};
  gemm::Plan made;
  status = cache == nullptr ? gemm::tune(p, x, space, on, options, made)
                            : gemm::tune(p, x, space, on, options, cache->cache, made);
  return gemm::hand_over(status, made, plan);
}
