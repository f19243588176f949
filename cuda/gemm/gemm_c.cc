#include "cuda/gemm/gemm_c.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/guard.h"
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
  }
  return Type::b1;
}

Major major_of(std::int32_t major) {
  switch (major) {
    case TCQ_GEMM_K_MAJOR: return Major::K;
    case TCQ_GEMM_MN_MAJOR: return Major::MN;
  }
  return static_cast<Major>(no_code);
}

Strides strides_of(const tcq_gemm_strides& s) { return {s.ld, s.batch}; }

Problem problem_of(const tcq_gemm_problem& p) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .batch = p.batch,
          .in = type_of(p.in),
          .out = type_of(p.out),
          .major_a = major_of(p.major_a),
          .major_b = major_of(p.major_b),
          .a = strides_of(p.a),
          .b = strides_of(p.b),
          .c = strides_of(p.c),
          .d = strides_of(p.d),
          .alpha = p.alpha,
          .beta = p.beta,
          .has_bias = p.has_bias != 0,
          .activation = static_cast<Activation>(p.activation >= 0 && p.activation < activation_count
                                                    ? p.activation
                                                    : activation_count),
          .batch_invariant = p.batch_invariant != 0};
}

Pointers pointers_of(const tcq_gemm_pointers& x) { return {x.a, x.b, x.c, x.d, x.bias}; }

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

void tcq_gemm_defaults(tcq_gemm_problem* problem) {
  if (problem == nullptr) return;
  *problem = {};
  problem->batch = 1;
  problem->in = problem->out = TCQ_GEMM_BF16;
  for (tcq_gemm_strides* s : {&problem->a, &problem->b, &problem->c, &problem->d})
    *s = {gemm::packed, gemm::packed};
  problem->alpha = 1;
}

const char* tcq_gemm_sentence(int status) {
  if (status < 0 || status >= gemm::status_count) return "?";
  return gemm::sentence(static_cast<gemm::Status>(status));
}

int tcq_gemm_check(const tcq_gemm_problem* problem) {
  if (problem == nullptr) return gemm::code(gemm::Status::NullPointer);
  return gemm::code(gemm::check(gemm::problem_of(*problem)));
}

int tcq_gemm_make_plan(const tcq_gemm_problem* problem, tcq_gemm_plan** plan) {
  if (problem == nullptr || plan == nullptr) return gemm::code(gemm::Status::NullPointer);
  *plan = nullptr;
  gemm::Plan made;
  return gemm::hand_over(gemm::make_plan(gemm::problem_of(*problem), made), made, plan);
}

void tcq_gemm_destroy_plan(tcq_gemm_plan* plan) { delete plan; }

size_t tcq_gemm_workspace_bytes(const tcq_gemm_plan* plan) {
  return plan == nullptr ? 0 : gemm::workspace_bytes(plan->plan);
}

size_t tcq_gemm_workspace_bytes_for(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers) {
  if (plan == nullptr || pointers == nullptr) return 0;
  return gemm::workspace_bytes(plan->plan, gemm::pointers_of(*pointers));
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
  if (pointers == nullptr) return gemm::code(gemm::Status::NullPointer);
  return gemm::code(gemm::run(plan->plan, gemm::pointers_of(*pointers),
                              {workspace, workspace_bytes}, static_cast<gemm::Stream>(stream)));
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
  if (problem == nullptr || cache == nullptr) return gemm::code(gemm::Status::NullPointer);
  gemm::Plan made;
  const gemm::Problem p = gemm::problem_of(*problem);
  return gemm::hand_over(gemm::make_plan(p, cache->cache, made), made, plan);
}

int tcq_gemm_tune(const tcq_gemm_problem* problem, const tcq_gemm_pointers* pointers,
                  void* workspace, size_t workspace_bytes, void* stream, int kernels,
                  tcq_gemm_tune_cache* cache, tcq_gemm_plan** plan) {
  if (plan == nullptr) return gemm::code(gemm::Status::NullPointer);
  *plan = nullptr;
  if (problem == nullptr || pointers == nullptr) return gemm::code(gemm::Status::NullPointer);
  const gemm::Problem p = gemm::problem_of(*problem);
  const gemm::Pointers x = gemm::pointers_of(*pointers);
  const gemm::Workspace space = {workspace, workspace_bytes};
  const auto on = static_cast<gemm::Stream>(stream);
  const gemm::TuneOptions options = {.kernels = kernels};
  gemm::Plan made;
  const gemm::Status status = cache == nullptr
                                  ? gemm::tune(p, x, space, on, options, made)
                                  : gemm::tune(p, x, space, on, options, cache->cache, made);
  return gemm::hand_over(status, made, plan);
}
