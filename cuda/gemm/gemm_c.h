/* The GEMM library for C and for whoever calls C: gemm.h with the same meaning of every number.
 *
 * Every call that can fail answers a status, 0 if all is well; tcq_gemm_sentence() says what it
 * means. Structs begin with their size, which tells the library which of their fields the caller knows:
 * what was compiled with an older header works with a newer library, and the fields that it has not
 * have their defaults; a newer header works with an older library as long as the fields that this one
 * has not are 0. libtcq_gemm.so exports these functions and nothing else. Example:
 *
 *   tcq_gemm_problem problem;
 *   tcq_gemm_defaults(&problem, sizeof problem);
 *   problem.m = problem.n = problem.k = 4096;
 *   tcq_gemm_plan* plan = NULL;
 *   int status = tcq_gemm_make_plan(&problem, &plan);
 *   tcq_gemm_pointers pointers = {sizeof pointers, a, b, NULL, d, NULL};
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
  TCQ_GEMM_S32,
  TCQ_GEMM_E4M3,
  TCQ_GEMM_E5M2,
  TCQ_GEMM_E2M1 /* two to a byte, with factors of blocks */
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

/* f32 factors of FP8 operands, in device memory */
typedef enum {
  TCQ_GEMM_NO_SCALING,
  TCQ_GEMM_SCALE_TENSOR,     /* one for A, one for B */
  TCQ_GEMM_SCALE_ROW_COLUMN, /* one for each row of A, one for each column of B */
  TCQ_GEMM_SCALE_BLOCK_128,  /* of 128 of K: of each row of A, of 128 columns of B */
  TCQ_GEMM_SCALE_VECTOR_128  /* of 128 of K: of each row of A, of each column of B */
} tcq_gemm_scaling;

/* Factors of blocks of K, a byte each, on devices with tcgen05 alone: gemm.h, BlockScaling */
typedef enum {
  TCQ_GEMM_NO_BLOCK_SCALING,
  TCQ_GEMM_UE8M0_BLOCK_32, /* MXFP8, MXFP4 */
  TCQ_GEMM_UE4M3_BLOCK_16  /* NVFP4 */
} tcq_gemm_block_scaling;

/* int32 in device memory: tcq_gemm_pointers' sizes */
typedef enum {
  TCQ_GEMM_NO_GROUPS,
  TCQ_GEMM_GROUP_ENDS,   /* group after group in A: the row behind each one's last */
  TCQ_GEMM_GROUP_COUNTS, /* a matrix of m rows for each group: how many of them count */
  TCQ_GEMM_GROUP_OF_ROW, /* the group of each row of A; 128 rows from a multiple of 128 on have one */
  TCQ_GEMM_GROUP_K_ENDS /* group after group along K: the k behind each one's last; a matrix of C and D for each */
} tcq_gemm_grouping;

/* Elements; -1: packed. */
typedef struct {
  int64_t ld;
  int64_t batch;
} tcq_gemm_strides;

typedef struct {
  size_t size; /* sizeof(tcq_gemm_problem) */
  int64_t m, n, k, batch;
  int32_t in, out;          /* tcq_gemm_type */
  int32_t major_a, major_b; /* tcq_gemm_major */
  tcq_gemm_strides a, b, c, d;
  float alpha, beta;
  int32_t has_bias;
  int32_t activation; /* tcq_gemm_activation */
  int32_t batch_invariant;
  int32_t reserved; /* 0 */
  /* Callers whose struct ends here have the defaults of what follows. */
  int32_t sm_limit;            /* a kernel runs on at most so many SMs; 0, the default: all */
  int32_t programmatic_launch; /* 1, the default: launched before the kernel ahead has ended */
  /* FP8: */
  int32_t in_b;     /* tcq_gemm_type of B; -1, the default: A's */
  int32_t scaling;  /* tcq_gemm_scaling */
  int32_t promotes; /* sums of 128 of K are added in f32; with factors of 128 of K always */
  int32_t major_scale_a, major_scale_b; /* tcq_gemm_major: K: those of a row are contiguous */
  int32_t
      grouping; /* tcq_gemm_grouping: groups, as many as `batch`, whose sizes are on the device */
  tcq_gemm_strides scale_a, scale_b;
  int64_t expected_rows; /* of a group, for the choice of a kernel; 0: not known */
  /* tcgen05: */
  int32_t block_scaling;    /* tcq_gemm_block_scaling */
  int32_t reserved_tcgen05; /* 0 */
  /* D as FP8 with factors: gemm.h, Problem::quantized. */
  int32_t quantized; /* tcq_gemm_type of D, E4M3, E5M2 or E2M1; -1, the default: `out` */
  int32_t scale_d_power_of_two;
  int32_t major_scale_d;   /* tcq_gemm_major: K: those of a row are contiguous */
  int32_t block_scaling_d; /* tcq_gemm_block_scaling: bytes in the place of f32 factors */
  tcq_gemm_strides scale_d;
  /* tcgen05: a cluster of the grid for each tile; 0, the default: tiles dealt beforehand. gemm.h */
  int32_t dynamic_schedule;
  int32_t reserved_schedule; /* 0 */
} tcq_gemm_problem;

typedef struct {
  size_t size; /* sizeof(tcq_gemm_pointers) */
  const void* a;
  const void* b;
  const void* c;
  void* d;
  const void* bias;
  const float* scale_a; /* read if there is a scaling */
  const float* scale_b;
  const int32_t* sizes;         /* read if there are groups */
  const uint8_t* scale_codes_a; /* read if there is a block scaling; multiples of 16 */
  const uint8_t* scale_codes_b;
  float* scale_d;              /* written if D is quantized */
  uint8_t* scale_codes_d;      /* instead, written if D has a block scaling; a multiple of 16 */
  const float* global_scale_d; /* results are multiplied by it first; null: 1 */
} tcq_gemm_pointers;

typedef struct tcq_gemm_plan tcq_gemm_plan;

/* An empty bf16 problem, K-major, packed, without epilogue. `size`: sizeof *problem, of which no byte is
 * written if it is refused. */
int tcq_gemm_defaults(tcq_gemm_problem* problem, size_t size);

const char* tcq_gemm_sentence(int status);

int tcq_gemm_check(const tcq_gemm_problem* problem);

/* On failure *plan is null. */
int tcq_gemm_make_plan(const tcq_gemm_problem* problem, tcq_gemm_plan** plan);
void tcq_gemm_destroy_plan(tcq_gemm_plan* plan);

/* For copies of operands that TMA cannot address or wgmma cannot read, or for sums; without a workspace run() is slower. The second
 * one: with these pointers. */
size_t tcq_gemm_workspace_bytes(const tcq_gemm_plan* plan);
size_t tcq_gemm_workspace_bytes_for(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers);

/* Writes at most `size` bytes, the last of them 0; returns the length of the whole text. */
size_t tcq_gemm_describe(const tcq_gemm_plan* plan, char* text, size_t size);

/* `stream` is a cudaStream_t. */
int tcq_gemm_run(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers, void* workspace,
                 size_t workspace_bytes, void* stream);

/* FP8 operands of wider ones, and their factors: cuda/gemm/quantize.h. Bits on the host as on the device. */
typedef enum {
  TCQ_GEMM_QUANTIZE_ROW,        /* of TCQ_GEMM_SCALE_ROW_COLUMN: a factor for each row */
  TCQ_GEMM_QUANTIZE_VECTOR_128, /* for 128 of each row */
  TCQ_GEMM_QUANTIZE_BLOCK_128   /* for 128 of 128 rows */
} tcq_gemm_quantize_block;

typedef struct {
  size_t size;                              /* sizeof(tcq_gemm_quantizer) */
  int64_t rows, columns;                    /* columns are contiguous in source and target */
  int32_t in, out;                          /* tcq_gemm_type: f16, bf16 or f32; e4m3 or e5m2 */
  int32_t block;                            /* tcq_gemm_quantize_block */
  int32_t power_of_two;                     /* factors are the next one up */
  int32_t major_factors;                    /* tcq_gemm_major: K: those of a row are contiguous */
  int32_t waits_for_end;                    /* 1: not launched before the kernel ahead has ended */
  int64_t ld_source, ld_target, ld_factors; /* -1: packed */
} tcq_gemm_quantizer;

/* `stream` is a cudaStream_t. */
int tcq_gemm_quantize(const tcq_gemm_quantizer* quantizer, const void* source, void* target,
                      float* factors, void* stream);
int tcq_gemm_quantize_on_host(const tcq_gemm_quantizer* quantizer, const void* source, void* target,
                              float* factors);

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
