/* The GEMM library for C and for whoever calls C: gemm.h with the same meaning of every number.
 *
 * Every call that can fail answers a status, 0 if all is well; tcq_gemm_sentence() says what it
 * means. Example:
 *
 *   tcq_gemm_problem problem;
 *   tcq_gemm_defaults(&problem);
 *   problem.m = problem.n = problem.k = 4096;
 *   tcq_gemm_plan* plan = NULL;
 *   int status = tcq_gemm_make_plan(&problem, &plan);
 *   if (status == 0) status = tcq_gemm_run(plan, &pointers, NULL, 0, stream);
 *   tcq_gemm_destroy_plan(plan);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TCQ_GEMM_F16,
  TCQ_GEMM_BF16,
  TCQ_GEMM_TF32,
  TCQ_GEMM_S8,
  TCQ_GEMM_U8,
  TCQ_GEMM_F32,
  TCQ_GEMM_S32
} tcq_gemm_type;

typedef enum { TCQ_GEMM_K_MAJOR, TCQ_GEMM_MN_MAJOR } tcq_gemm_major;

typedef enum {
  TCQ_GEMM_NO_ACTIVATION,
  TCQ_GEMM_RELU,
  TCQ_GEMM_GELU,
  TCQ_GEMM_SILU,
  TCQ_GEMM_GELU_ERF,
  TCQ_GEMM_SWIGLU /* D has n / 2 columns: silu of an even column by the odd one behind it */
} tcq_gemm_activation;

/* Elements; -1: packed. */
typedef struct {
  int64_t ld;
  int64_t batch;
} tcq_gemm_strides;

typedef struct {
  int64_t m, n, k, batch;
  int32_t in, out;          /* tcq_gemm_type */
  int32_t major_a, major_b; /* tcq_gemm_major */
  tcq_gemm_strides a, b, c, d;
  float alpha, beta;
  int32_t has_bias;
  int32_t activation; /* tcq_gemm_activation */
  int32_t batch_invariant;
} tcq_gemm_problem;

typedef struct {
  const void* a;
  const void* b;
  const void* c;
  void* d;
  const void* bias;
} tcq_gemm_pointers;

typedef struct tcq_gemm_plan tcq_gemm_plan;

/* An empty bf16 problem, K-major, packed, without epilogue. */
void tcq_gemm_defaults(tcq_gemm_problem* problem);

const char* tcq_gemm_sentence(int status);

int tcq_gemm_check(const tcq_gemm_problem* problem);

/* On failure *plan is null. */
int tcq_gemm_make_plan(const tcq_gemm_problem* problem, tcq_gemm_plan** plan);
void tcq_gemm_destroy_plan(tcq_gemm_plan* plan);

/* For copies of operands that TMA cannot address; without a workspace run() is slower. The second
 * one: with these pointers. */
size_t tcq_gemm_workspace_bytes(const tcq_gemm_plan* plan);
size_t tcq_gemm_workspace_bytes_for(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers);

/* Writes at most `size` bytes, the last of them 0; returns the length of the whole text. */
size_t tcq_gemm_describe(const tcq_gemm_plan* plan, char* text, size_t size);

/* `stream` is a cudaStream_t. */
int tcq_gemm_run(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers, void* workspace,
                 size_t workspace_bytes, void* stream);

/* Choices of the tuner, cuda/gemm/tune.h: usable from several threads at a time. */
typedef struct tcq_gemm_tune_cache tcq_gemm_tune_cache;

tcq_gemm_tune_cache* tcq_gemm_create_tune_cache(void); /* null: no memory */
void tcq_gemm_destroy_tune_cache(tcq_gemm_tune_cache* cache);
int tcq_gemm_load_tune_cache(tcq_gemm_tune_cache* cache, const char* path);
int tcq_gemm_save_tune_cache(const tcq_gemm_tune_cache* cache, const char* path);

/* With the cache's choice if it has one. On failure *plan is null. */
int tcq_gemm_make_plan_cached(const tcq_gemm_problem* problem, const tcq_gemm_tune_cache* cache,
                              tcq_gemm_plan** plan);

/* Without a choice in the cache, which may be null, times at most `kernels` kernels on the pointers:
 * waits, and overwrites D. On failure *plan is null. */
int tcq_gemm_tune(const tcq_gemm_problem* problem, const tcq_gemm_pointers* pointers,
                  void* workspace, size_t workspace_bytes, void* stream, int kernels,
                  tcq_gemm_tune_cache* cache, tcq_gemm_plan** plan);

#ifdef __cplusplus
}
#endif
