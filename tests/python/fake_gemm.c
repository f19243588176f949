/* A library with the GEMM's C interface that computes on the CPU, straightforwardly, and remembers what it was asked:
 * what the Python layer is tested with where there is no GPU (gemm_fake.py). Compiled with the real header. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gemm/gemm_c.h"

struct tcq_gemm_plan {
  tcq_gemm_problem p;
};

/* What the tests read. */
long long fake_plans, fake_destroyed, fake_runs, fake_asked;
void* fake_stream;
void* fake_workspace;
size_t fake_workspace_bytes;
tcq_gemm_problem fake_problem;

/* What time_calls.py sets: run() and quantize() are over at once. */
long long fake_computes = 1;

int tcq_gemm_defaults(tcq_gemm_problem* problem, size_t size) {
  if (size != sizeof *problem) return 31;
  memset(problem, 0, sizeof *problem);
  problem->size = size;
  problem->batch = 1;
  problem->in = problem->out = TCQ_GEMM_BF16;
  tcq_gemm_strides packed = {-1, -1};
  problem->a = problem->b = problem->c = problem->d = problem->scale_a = problem->scale_b = problem->scale_d = packed;
  problem->in_b = problem->quantized = -1;
  problem->alpha = 1;
  problem->programmatic_launch = 1;
  return 0;
}

const char* tcq_gemm_sentence(int status) {
  return status == 5    ? "the fake refuses K = 666"
         : status == 6  ? "lines overlap"
         : status == 3  ? "types"
         : status == 10 ? "an address"
         : status == 33 ? "factors"
                        : "a fake's sentence";
}

static int steps_less(tcq_gemm_strides s, int64_t inner) { return s.ld != -1 && s.ld < inner; }

/* What cuda/gemm/check.cc refuses of factors: 3 or 33. */
static int check_factors(const tcq_gemm_problem* p) {
  const int in_b = p->in_b == -1 ? p->in : p->in_b, is_e2m1 = p->in == TCQ_GEMM_E2M1;
  const int of_16 = p->block_scaling == TCQ_GEMM_UE4M3_BLOCK_16, to_e2m1 = p->quantized == TCQ_GEMM_E2M1;
  const int columns = (int)(p->activation == TCQ_GEMM_SWIGLU ? p->n / 2 : p->n);
  const int is_fp8 = p->in == TCQ_GEMM_E4M3 || p->in == TCQ_GEMM_E5M2;
  if (is_e2m1 != (in_b == TCQ_GEMM_E2M1)) return 3;
  if (p->block_scaling == TCQ_GEMM_NO_BLOCK_SCALING && is_e2m1) return 33;
  if (p->block_scaling != TCQ_GEMM_NO_BLOCK_SCALING &&
      (!(is_e2m1 || (is_fp8 && !of_16)) || p->major_a != TCQ_GEMM_K_MAJOR || p->major_b != TCQ_GEMM_K_MAJOR ||
       p->promotes || p->scaling >= TCQ_GEMM_SCALE_BLOCK_128 || p->k % 2 != 0))
    return 33;
  if (p->block_scaling_d != TCQ_GEMM_NO_BLOCK_SCALING) {
    if (p->quantized == -1 || (p->grouping != TCQ_GEMM_NO_GROUPS && p->grouping != TCQ_GEMM_GROUP_ENDS) ||
        (p->in != TCQ_GEMM_BF16 && p->block_scaling != p->block_scaling_d))
      return 33;
    if (!to_e2m1 && (p->block_scaling_d == TCQ_GEMM_UE4M3_BLOCK_16 || p->quantized < TCQ_GEMM_E4M3)) return 3;
    return to_e2m1 && (columns % 2 != 0 || (p->d.ld != -1 && p->d.ld % 2 != 0)) ? 33 : 0;
  }
  if (p->quantized == -1) return 0;
  return !is_fp8 || p->block_scaling != TCQ_GEMM_NO_BLOCK_SCALING ||
                 p->quantized < TCQ_GEMM_E4M3 || to_e2m1
             ? 3
             : 0;
}

int tcq_gemm_make_plan(const tcq_gemm_problem* problem, tcq_gemm_plan** plan) {
  *plan = NULL;
  if (problem->size != sizeof *problem) return 31;
  if (problem->k == 666) return 5;
  if (check_factors(problem) != 0) return check_factors(problem);
  if (steps_less(problem->a, problem->major_a == TCQ_GEMM_K_MAJOR ? problem->k : problem->m) ||
      steps_less(problem->b, problem->major_b == TCQ_GEMM_K_MAJOR ? problem->k : problem->n) ||
      steps_less(problem->c, problem->n))
    return 6;
  *plan = malloc(sizeof **plan);
  (*plan)->p = fake_problem = *problem;
  ++fake_plans;
  return 0;
}

void tcq_gemm_destroy_plan(tcq_gemm_plan* plan) {
  if (plan != NULL) ++fake_destroyed;
  free(plan);
}

size_t tcq_gemm_workspace_bytes_for(const tcq_gemm_plan* plan, const tcq_gemm_pointers* pointers) {
  ++fake_asked;
  const int aligned = ((uintptr_t)pointers->a | (uintptr_t)pointers->b) % 16 == 0;
  return pointers->size == sizeof *pointers && (plan->p.k % 8 != 0 || !aligned) ? 128 : 0;
}

size_t tcq_gemm_describe(const tcq_gemm_plan* plan, char* text, size_t size) {
  return (size_t)snprintf(text, size, "problem: %lldx%lldx%lld\n", (long long)plan->p.m, (long long)plan->p.n, (long long)plan->p.k);
}

static float fp8(int code, int exponent_bits) {
  const int fraction_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (code & 0x7f) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
  const float magnitude = exponent == 0 ? ldexpf(fraction, 1 - bias - fraction_bits)
                                        : ldexpf(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return code & 0x80 ? -magnitude : magnitude;
}

/* Without a sign: 0, 0.5, 1, 1.5, 2, 3, 4, 6. */
static float e2m1(int code) { return code < 4 ? 0.5f * (float)code : code == 7 ? 6 : (float)(code - 2); }

static float load(int type, const void* data, int64_t at) {
  uint32_t word;
  float value;
  int code;
  switch (type) {
    case TCQ_GEMM_E4M3: return fp8(((const uint8_t*)data)[at], 4);
    case TCQ_GEMM_E5M2: return fp8(((const uint8_t*)data)[at], 5);
    case TCQ_GEMM_E2M1:
      code = ((const uint8_t*)data)[at / 2] >> (at % 2 == 0 ? 0 : 4) & 0xf;
      return code & 8 ? -e2m1(code & 7) : e2m1(code);
    case TCQ_GEMM_F16: return (float)((const _Float16*)data)[at];
    case TCQ_GEMM_S8: return ((const int8_t*)data)[at];
    case TCQ_GEMM_U8: return ((const uint8_t*)data)[at];
    case TCQ_GEMM_BF16:
      word = (uint32_t)((const uint16_t*)data)[at] << 16;
      memcpy(&value, &word, sizeof value);
      return value;
    default: return ((const float*)data)[at];
  }
}

static void store(int type, void* data, int64_t at, float value) {
  uint32_t word;
  switch (type) {
    case TCQ_GEMM_F16: ((_Float16*)data)[at] = (_Float16)value; break;
    case TCQ_GEMM_S32: ((int32_t*)data)[at] = (int32_t)value; break;
    case TCQ_GEMM_BF16:
      memcpy(&word, &value, sizeof word);
      ((uint16_t*)data)[at] = (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
      break;
    default: ((float*)data)[at] = value;
  }
}

static float activated(int activation, float x) {
  switch (activation) {
    case TCQ_GEMM_RELU: return x > 0 ? x : 0;
    case TCQ_GEMM_GELU: return x / 2 * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    case TCQ_GEMM_GELU_ERF: return x / 2 * (1 + erff(x * 0.7071067812f));
    case TCQ_GEMM_SILU:
    case TCQ_GEMM_SWIGLU: return x / (1 + expf(-x));
    default: return x;
  }
}

/* Strides of a matrix of `outer` lines of `inner` elements. */
static tcq_gemm_strides resolved(tcq_gemm_strides s, int64_t inner, int64_t outer) {
  if (s.ld < 0) s.ld = inner > 0 ? inner : 1;
  if (s.batch < 0) s.batch = s.ld * outer;
  return s;
}

/* An output: its row in the matrix `of_d` of A, C and D, its column in the matrix `of_b` of B. */
typedef struct {
  int64_t row, col, of_d, of_b, row_of_codes;
} Place;

static float factor(const tcq_gemm_problem* p, const float* data, tcq_gemm_strides s, int32_t major, int64_t lines,
                    int64_t line, int64_t block, int64_t matrix) {
  const int blocks = p->scaling >= TCQ_GEMM_SCALE_BLOCK_128;
  const int64_t count = blocks ? (p->k + 127) / 128 : 1;
  const int k_major = major == TCQ_GEMM_K_MAJOR;
  s = resolved(s, k_major ? count : lines, k_major ? lines : count);
  if (p->scaling == TCQ_GEMM_NO_SCALING) return 1;
  if (p->scaling == TCQ_GEMM_SCALE_TENSOR) line = 0;
  if (!blocks) block = 0;
  return data[matrix * s.batch + (k_major ? line * s.ld + block : block * s.ld + line)];
}

/* Of elements that share a factor. */
static int64_t block_of(int32_t block_scaling) { return block_scaling == TCQ_GEMM_UE8M0_BLOCK_32 ? 32 : 16; }

/* Where a factor lies in atoms: ScaleCodes of cuda/gemm/arguments.h. */
static int64_t code_at(int64_t line, int64_t block, int64_t blocks) {
  const int64_t atom = line / 128 * ((blocks + 3) / 4) + block / 4;
  return 512 * atom + 16 * (line % 32) + 4 * (line % 128 / 32) + block % 4;
}

/* Of a matrix of so many lines. */
static float coded_factor(const tcq_gemm_problem* p, const uint8_t* codes, int64_t matrix, int64_t lines, int64_t line, int64_t k) {
  const int64_t per = block_of(p->block_scaling), blocks = (p->k + per - 1) / per;
  if (p->block_scaling == TCQ_GEMM_NO_BLOCK_SCALING) return 1;
  const int code = codes[matrix * code_at((lines + 127) / 128 * 128, 0, blocks) + code_at(line, k / per, blocks)];
  if (p->block_scaling == TCQ_GEMM_UE4M3_BLOCK_16) return fp8(code & 0x7f, 4);
  return code == 0xff ? NAN : ldexpf(1, code - 127);
}

/* Of D before the activation. */
static float value_at(const tcq_gemm_problem* p, const tcq_gemm_pointers* x, Place at) {
  const int k_major_a = p->major_a == TCQ_GEMM_K_MAJOR, k_major_b = p->major_b == TCQ_GEMM_K_MAJOR;
  const tcq_gemm_strides a = resolved(p->a, k_major_a ? p->k : p->m, k_major_a ? p->m : p->k);
  const tcq_gemm_strides b = resolved(p->b, k_major_b ? p->k : p->n, k_major_b ? p->n : p->k);
  const tcq_gemm_strides c = resolved(p->c, p->n, p->m);
  const int per_b = p->scaling == TCQ_GEMM_SCALE_BLOCK_128 ? 128 : 1;
  const int64_t lines_b = p->scaling == TCQ_GEMM_SCALE_TENSOR ? 1 : (p->n + per_b - 1) / per_b;
  float sum = 0;
  for (int64_t k = 0; k < p->k; ++k)
    sum += load(p->in, x->a, at.of_d * a.batch + (k_major_a ? at.row * a.ld + k : k * a.ld + at.row)) *
           load(p->in_b < 0 ? p->in : p->in_b, x->b, at.of_b * b.batch + (k_major_b ? at.col * b.ld + k : k * b.ld + at.col)) *
           factor(p, x->scale_a, p->scale_a, p->major_scale_a, p->scaling == TCQ_GEMM_SCALE_TENSOR ? 1 : p->m, at.row, k / 128, at.of_d) *
           factor(p, x->scale_b, p->scale_b, p->major_scale_b, lines_b, at.col / per_b, k / 128, at.of_b) *
           coded_factor(p, x->scale_codes_a, at.of_d, p->m, at.row_of_codes, k) *
           coded_factor(p, x->scale_codes_b, at.of_b, p->n, at.col, k);
  sum *= p->alpha;
  if (p->beta != 0) sum += p->beta * load(p->out, x->c, at.of_d * c.batch + at.row * c.ld + at.col);
  if (p->has_bias) sum += load(p->out, x->bias, at.col);
  return sum;
}

/* --- D and its factors, as sim/num/quantize.h has them: the nearest code, of two the even one, by looking at all --- */

static float larger(float largest, float value) {
  return isfinite(value) && fabsf(value) > largest ? fabsf(value) : largest;
}

static float largest_of(int type) { return type == TCQ_GEMM_E4M3 ? 448 : type == TCQ_GEMM_E5M2 ? 57344 : 6; }

static float factor_of(float largest, int type, int power_of_two) {
  const float exact = largest / largest_of(type);
  float factor = exact < 0x1p-126f ? 0x1p-126f : exact;
  int exponent;
  if (largest == 0) return 1;
  if (power_of_two && frexpf(factor, &exponent) != 0.5f) factor = ldexpf(1, exponent);
  return factor;
}

static float value_of(int code, int type) { return type == TCQ_GEMM_E2M1 ? e2m1(code) : fp8(code, type == TCQ_GEMM_E4M3 ? 4 : 5); }

/* The nearest of the codes `first` to `last` to a magnitude. */
static int nearest(double magnitude, int type, int first, int last) {
  int best = first;
  for (int code = first + 1; code <= last; ++code) {
    const double nearer = fabs(value_of(best, type) - magnitude) - fabs(value_of(code, type) - magnitude);
    if (nearer > 0 || (nearer == 0 && code % 2 == 0)) best = code;
  }
  return best;
}

static uint8_t narrowed(float x, int type) {
  const int last = type == TCQ_GEMM_E4M3 ? 0x7e : type == TCQ_GEMM_E5M2 ? 0x7b : 7;
  const int sign = signbit(x) ? (type == TCQ_GEMM_E2M1 ? 8 : 0x80) : 0;
  if (isnan(x)) return type == TCQ_GEMM_E2M1 ? 7 : 0x7f;
  return (uint8_t)(sign | (fabsf(x) >= largest_of(type) ? last : nearest(fabs((double)x), type, 0, last)));
}

static void store_narrowed(float x, int type, uint8_t* d, int64_t at) {
  const uint8_t code = narrowed(x, type);
  if (type != TCQ_GEMM_E2M1)
    d[at] = code;
  else if (at % 2 == 0)
    d[at / 2] = (uint8_t)((d[at / 2] & 0xf0) | code);
  else
    d[at / 2] = (uint8_t)((d[at / 2] & 0xf) | code << 4);
}

/* Up to 128 columns of a row of D, as FP8 with their factor. */
static void store_quantized(const tcq_gemm_problem* p, const float* values, int64_t count, uint8_t* d, float* scale_d) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = larger(largest, values[i]);
  *scale_d = factor_of(largest, p->quantized, p->scale_d_power_of_two);
  for (int64_t i = 0; i < count; ++i) store_narrowed(values[i] * (1 / *scale_d), p->quantized, d, i);
}

/* The byte of a block's factor, and the factor. */
static uint8_t code_of_factor(float largest, const tcq_gemm_problem* p, float* of) {
  int code, exponent;
  if (p->block_scaling_d == TCQ_GEMM_UE8M0_BLOCK_32) {
    *of = factor_of(largest, p->quantized, 1);
    frexpf(*of, &exponent);
    return (uint8_t)(exponent - 1 + 127);
  }
  code = largest == 0 ? 0x38 : nearest(largest / largest_of(p->quantized), TCQ_GEMM_E4M3, 1, 0x7e);
  *of = fp8(code, 4);
  return (uint8_t)code;
}

/* A block of a row of D from element `at` on, `count` columns, with its byte, which has the place of row `row`; the last one's fills
   up the atom. */
static void store_coded(const tcq_gemm_problem* p, const tcq_gemm_pointers* x, const float* values, int64_t count, int64_t at,
                        int64_t row, int64_t block, int64_t blocks) {
  const float times = x->global_scale_d == NULL ? 1 : *x->global_scale_d;
  float largest = 0, of;
  for (int64_t i = 0; i < count; ++i) largest = larger(largest, values[i] * times);
  x->scale_codes_d[code_at(row, block, blocks)] = code_of_factor(largest, p, &of);
  for (int64_t i = 0; i < count; ++i) store_narrowed(values[i] * times * (1 / of), p->quantized, x->d, at + i);
  if (block + 1 == blocks)
    for (int64_t fill = blocks; fill % 4 != 0; ++fill) x->scale_codes_d[code_at(row, fill, blocks)] = 0;
}

/* `atoms`: of the rows before these, which begin with one; or the matrix's are those of its rows. */
static void run_rows(const tcq_gemm_problem* p, const tcq_gemm_pointers* x, int64_t begin, int64_t end, int64_t of_d, int64_t of_b,
                     const int64_t* atoms) {
  const int halves = p->activation == TCQ_GEMM_SWIGLU ? 2 : 1, k_major = p->major_scale_d == TCQ_GEMM_K_MAJOR;
  const int64_t per = p->block_scaling_d == TCQ_GEMM_NO_BLOCK_SCALING ? 128 : block_of(p->block_scaling_d);
  const int64_t columns = p->n / halves, blocks = (columns + per - 1) / per;
  const tcq_gemm_strides d = resolved(p->d, columns, p->m);
  const tcq_gemm_strides s = resolved(p->scale_d, k_major ? blocks : p->m, k_major ? p->m : blocks);
  float values[128];
  for (int64_t row = begin; row < end; ++row)
    for (int64_t col = 0; col < columns; ++col) {
      const int64_t at = of_d * d.batch + row * d.ld + col, block = col / per, in = col % per;
      const int64_t of_codes = atoms == NULL ? row : 128 * *atoms + row - begin;
      float value = activated(p->activation, value_at(p, x, (Place){row, halves * col, of_d, of_b, of_codes}));
      if (halves == 2) value *= value_at(p, x, (Place){row, 2 * col + 1, of_d, of_b, of_codes});
      values[in] = value;
      if (p->quantized < 0)
        store(p->out, x->d, at, value);
      else if (in + 1 != per && col + 1 != columns)
        continue;
      else if (p->block_scaling_d != TCQ_GEMM_NO_BLOCK_SCALING)
        store_coded(p, x, values, in + 1, at - in, of_codes, block, blocks);
      else
        store_quantized(p, values, in + 1, (uint8_t*)x->d + at - in,
                        x->scale_d + of_d * s.batch + (k_major ? row * s.ld + block : block * s.ld + row));
    }
}

/* Elements of one or two bytes, whose lines have their distances. */
static const void* from_k(int type, const void* data, int major, int64_t ld, int64_t k) {
  const int64_t bytes = type == TCQ_GEMM_BF16 || type == TCQ_GEMM_F16 ? 2 : 1;
  return (const uint8_t*)data + bytes * k * (major == TCQ_GEMM_K_MAJOR ? 1 : ld);
}

static void run_along_k(const tcq_gemm_problem* p, const tcq_gemm_pointers* x, int64_t begin, int64_t end, int64_t g) {
  tcq_gemm_problem one = *p;
  tcq_gemm_pointers at = *x;
  one.k = end - begin;
  one.a.batch = one.b.batch = 0;
  at.a = from_k(p->in, x->a, p->major_a, p->a.ld, begin);
  at.b = from_k(p->in_b, x->b, p->major_b, p->b.ld, begin);
  if (p->scaling == TCQ_GEMM_SCALE_BLOCK_128 || p->scaling == TCQ_GEMM_SCALE_VECTOR_128) {
    one.scale_a.batch = one.scale_b.batch = 0;
    at.scale_a += begin / 128 * (p->major_scale_a == TCQ_GEMM_K_MAJOR ? 1 : p->scale_a.ld);
    at.scale_b += begin / 128 * (p->major_scale_b == TCQ_GEMM_K_MAJOR ? 1 : p->scale_b.ld);
  }
  run_rows(&one, &at, 0, p->m, g, g, NULL);
}

int tcq_gemm_run(const tcq_gemm_plan* plan, const tcq_gemm_pointers* x, void* workspace, size_t workspace_bytes,
                 void* stream) {
  const tcq_gemm_problem* p = &plan->p;
  if (x->size != sizeof *x) return 31;
  if (((uintptr_t)x->scale_codes_a | (uintptr_t)x->scale_codes_b | (uintptr_t)x->scale_codes_d) % 16 != 0) return 10;
  ++fake_runs;
  fake_stream = stream;
  fake_workspace = workspace;
  fake_workspace_bytes = workspace_bytes;
  if (!fake_computes) return 0;
  if (p->grouping == TCQ_GEMM_GROUP_OF_ROW) {
    for (int64_t row = 0; row < p->m; ++row)
      if (x->sizes[row] >= 0) run_rows(p, x, row, row + 1, 0, x->sizes[row], NULL);
    return 0;
  }
  if (p->grouping == TCQ_GEMM_GROUP_K_ENDS) {
    for (int64_t g = 0; g < p->batch; ++g) run_along_k(p, x, g > 0 ? x->sizes[g - 1] : 0, x->sizes[g], g);
    return 0;
  }
  int64_t atoms = 0;
  for (int64_t g = 0; g < p->batch; ++g) {
    const int ends = p->grouping == TCQ_GEMM_GROUP_ENDS;
    const int64_t begin = ends && g > 0 ? x->sizes[g - 1] : 0;
    const int64_t end = p->grouping == TCQ_GEMM_NO_GROUPS ? p->m : x->sizes[g];
    run_rows(p, x, begin, end, ends ? 0 : g, g, ends ? &atoms : NULL);
    atoms += (end - begin + 127) / 128;
  }
  return 0;
}

int tcq_gemm_quantize(const tcq_gemm_quantizer* q, const void* source, void* target, float* factors, void* stream) {
  const int64_t down = q->block == TCQ_GEMM_QUANTIZE_BLOCK_128 ? 128 : 1;
  const int64_t across = q->block == TCQ_GEMM_QUANTIZE_ROW ? q->columns : 128;
  const int64_t ld = q->ld_source < 0 ? q->columns : q->ld_source;
  if (q->size != sizeof *q || q->major_factors != TCQ_GEMM_K_MAJOR) return 31;
  fake_stream = stream;
  if (!fake_computes) return 0;
  for (int64_t row = 0; row < q->rows; row += down)
    for (int64_t col = 0; col < q->columns; col += across) {
      float largest = 0;
      for (int64_t i = row; i < row + down && i < q->rows; ++i)
        for (int64_t j = col; j < col + across && j < q->columns; ++j)
          largest = larger(largest, load(q->in, source, i * ld + j));
      *factors = factor_of(largest, q->out, q->power_of_two);
      const float inverse = 1 / *factors++;
      for (int64_t i = row; i < row + down && i < q->rows; ++i)
        for (int64_t j = col; j < col + across && j < q->columns; ++j)
          ((uint8_t*)target)[i * q->columns + j] = narrowed(load(q->in, source, i * ld + j) * inverse, q->out);
    }
  return 0;
}
