// What is wrong with a problem or with pointers, as far as that is known without a device.
#include "cuda/gemm/check.h"

#include <algorithm>
#include <limits>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/overlap.h"
#include "cuda/gemm/path.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::gemm {
namespace {

bool outputs_exist(Type in, Type out) {
  switch (in) {
    case Type::f16: return out == Type::f16 || out == Type::f32;
    case Type::bf16: return out == Type::bf16 || out == Type::f32;
    case Type::tf32: return out == Type::f32;
    case Type::e4m3:
    case Type::e5m2:
    case Type::e2m1: return out == Type::bf16 || out == Type::f16 || out == Type::f32;
    case Type::s8:
    case Type::u8: return out == Type::s32 || out == Type::f32 || out == Type::bf16;
    default: return false;
  }
}

bool strides_hold(const Strides& s, const View& v) { return s.ld == packed || s.ld >= v.inner; }

bool major_exists(Major major) { return major == Major::K || major == Major::MN; }

bool batch_stride_exists(const Strides& s) { return s.batch == packed || s.batch >= 0; }

// Does the last element lie below `max_matrix_bytes`? The strides themselves, too, where there is
// nothing to step over: what is computed from them must not overflow.
bool reaches_too_far(const Strides& s, const View& v, std::int64_t batch) {
  std::int64_t rows = 0;
  std::int64_t matrices = 0;
  std::int64_t end = 0;
  return __builtin_mul_overflow(std::max<std::int64_t>(v.outer, 1), s.ld, &rows) ||
         __builtin_mul_overflow(std::max<std::int64_t>(batch, 1), s.batch, &matrices) ||
         __builtin_add_overflow(rows, matrices, &end) ||
         __builtin_mul_overflow(end / elements_together(v.type), element_bytes(v.type), &end) ||
         end > max_matrix_bytes;
}

Strides resolved(const Strides& s, const View& v) {
  Strides out = s;
  if (out.ld == packed) out.ld = std::max<std::int64_t>(v.inner, 1);
  if (out.batch == packed && __builtin_mul_overflow(v.outer, out.ld, &out.batch))
    out.batch = INT64_MAX;
  return out;
}

// Strides that step over nothing do not count. Elements of another type are others.
bool same_elements(const Strides& c, const Strides& d, const Problem& p) {
  return !p.quantized && (p.m == 1 || c.ld == d.ld) && (p.batch == 1 || c.batch == d.batch);
}

bool misaligned(const void* pointer, Type type) {
  return reinterpret_cast<std::uintptr_t>(pointer) %
             static_cast<std::uintptr_t>(element_bytes(type)) !=
         0;
}

View scale_view(const Problem& p, Major major, std::int64_t lines) {
  const std::int64_t blocks = scales_blocks(p.scaling) ? round_up_quotient(p.k, scale_block) : 1;
  return major == Major::K ? View{Type::f32, blocks, lines} : View{Type::f32, lines, blocks};
}

bool grouping_exists(const Problem& p) {
  if (static_cast<int>(p.grouping) >= grouping_count) return false;
  if (p.grouping == Grouping::None) return true;
  if (groups_k(p)) return (bits(p.in) == 16 || is_fp8(p.in)) && !is_block_scaled(p) && !p.quantized;
  const bool has_kernels = bits(p.in) == 16 || is_fp8(p.in) || is_block_scaled(p);
  return has_kernels && p.major_a == Major::K && (p.major_b == Major::K || bits(p.in) == 16);
}

// Kernels count the rows and the tiles of all groups in 32 bits, and the rows that have places in atoms.
bool has_too_many_rows(const Problem& p) {
  if (!is_grouped(p)) return false;
  constexpr std::int64_t most = std::int64_t{1} + std::numeric_limits<std::int32_t>::max();
  if (p.grouping == Grouping::Counts) return p.batch > 0 && p.m >= most / p.batch;
  const Groups groups = {.by = p.grouping, .count = static_cast<int>(p.batch)};
  const bool has_atoms = is_block_scaled(p) || has_codes_d(p);
  return p.m + p.batch >= most || (has_atoms && lines_of_codes(p.m, groups) >= most);
}

// What is wrong with the factors, whose strides do not count where there are none.
Status check_scaling(const Problem& p) {
  if (static_cast<int>(p.scaling) >= scaling_count || !major_exists(p.major_scale_a) ||
      !major_exists(p.major_scale_b))
    return Status::UnsupportedScaling;
  if ((p.promotes || p.scaling != Scaling::None) && !has_factors(p.in))
    return Status::UnsupportedScaling;
  if (p.scaling == Scaling::None) return Status::Ok;
  const Problem r = resolved(p);
  if (!strides_hold(p.scale_a, view_scale_a(p)) || !strides_hold(p.scale_b, view_scale_b(p)))
    return Status::LeadingDimensionTooSmall;
  if (!batch_stride_exists(p.scale_a) || !batch_stride_exists(p.scale_b))
    return Status::BadBatchStride;
  if (reaches_too_far(r.scale_a, view_scale_a(r), matrices_of_a(r)) ||
      reaches_too_far(r.scale_b, view_scale_b(r), r.batch))
    return Status::SizeTooLarge;
  return Status::Ok;
}

Status check_block_scaling(const Problem& p) {
  const bool shares_bytes = elements_together(p.in) > 1;
  if (static_cast<int>(p.block_scaling) >= block_scaling_count) return Status::UnsupportedScaling;
  if (!is_block_scaled(p)) return shares_bytes ? Status::UnsupportedScaling : Status::Ok;
  const bool of_16 = p.block_scaling == BlockScaling::Ue4m3Block16;
  const bool types = shares_bytes || (is_fp8(p.in) && !of_16);
  const bool majors = p.major_a == Major::K && p.major_b == Major::K;
  const bool others = p.promotes || scales_blocks(p.scaling);
  const Problem r = resolved(p);
  const auto whole = [&](const Strides& s) {
    return !shares_bytes || p.k == 0 || (s.ld % 2 == 0 && (p.batch == 1 || s.batch % 2 == 0));
  };
  return types && majors && !others && p.k % 2 == 0 && whole(r.a) && whole(r.b)
             ? Status::Ok
             : Status::UnsupportedScaling;
}

// What is wrong with a D whose factors are bytes.
Status check_codes_d(const Problem& p) {
  const bool of_16 = p.block_scaling_d == BlockScaling::Ue4m3Block16;
  const bool of_16_bits = is_float(p.in) && bits(p.in) == 16;
  const bool operands = of_16_bits || p.block_scaling == p.block_scaling_d;
  if (!p.quantized || !operands) return Status::UnsupportedScaling;
  const bool is_e2m1 = p.quantized == Type::e2m1;
  if (!is_e2m1 && (of_16 || !is_fp8(*p.quantized))) return Status::UnsupportedTypes;
  const Strides d = resolved(p).d;
  const std::int64_t together = elements_together(*p.quantized);
  const bool whole = d_columns(p) % together == 0 && d.ld % together == 0 &&
                     (p.batch == 1 || d.batch % together == 0);
  return whole ? Status::Ok : Status::UnsupportedScaling;
}

// What is wrong with a D that is quantized.
Status check_quantized(const Problem& p) {
  if (!major_exists(p.major_scale_d) || static_cast<int>(p.block_scaling_d) >= block_scaling_count)
    return Status::UnsupportedScaling;
  if (has_codes_d(p)) return check_codes_d(p);
  if (!p.quantized) return Status::Ok;
  const bool operands = is_fp8(p.in) && !is_block_scaled(p);
  if (!operands || !is_fp8(*p.quantized)) return Status::UnsupportedTypes;
  const View view = view_scale_d(p);
  if (!strides_hold(p.scale_d, view)) return Status::LeadingDimensionTooSmall;
  if (!batch_stride_exists(p.scale_d)) return Status::BadBatchStride;
  const Strides s = resolved(p).scale_d;
  const std::int64_t matrices = matrices_of_a(p);
  if (reaches_too_far(s, view, matrices)) return Status::SizeTooLarge;
  const bool empty = view.inner == 0 || view.outer == 0;
  return !empty && matrices_overlap({view.outer, view.inner, s.ld, s.batch}, matrices)
             ? Status::BadBatchStride
             : Status::Ok;
}

// Of the pointers to factors, whatever they are for.
Status check_factors(const Problem& p, const Pointers& x) {
  const void* const of_d = has_codes_d(p) ? static_cast<const void*>(x.scale_codes_d) : x.scale_d;
  if (p.quantized && of_d == nullptr) return Status::NullPointer;
  if (has_codes_d(p) ? !tma_addresses(of_d) || misaligned(x.global_scale_d, Type::f32)
                     : p.quantized && misaligned(of_d, Type::f32))
    return Status::Misaligned;
  const bool scales = p.scaling != Scaling::None;
  if (scales && (x.scale_a == nullptr || x.scale_b == nullptr)) return Status::NullPointer;
  if (scales && (misaligned(x.scale_a, Type::f32) || misaligned(x.scale_b, Type::f32)))
    return Status::Misaligned;
  if (!is_block_scaled(p)) return Status::Ok;
  if (x.scale_codes_a == nullptr || x.scale_codes_b == nullptr) return Status::NullPointer;
  const bool whole = tma_addresses(x.scale_codes_a) && tma_addresses(x.scale_codes_b);
  return whole ? Status::Ok : Status::Misaligned;
}

}  // namespace

View view_a(const Problem& p) {
  return p.major_a == Major::K ? View{p.in, p.k, p.m} : View{p.in, p.m, p.k};
}
View view_b(const Problem& p) {
  return p.major_b == Major::K ? View{type_b(p), p.k, p.n} : View{type_b(p), p.n, p.k};
}
View view_c(const Problem& p) { return {p.out, d_columns(p), p.m}; }
View view_d(const Problem& p) { return {type_d(p), d_columns(p), p.m}; }

View view_scale_a(const Problem& p) {
  return scale_view(p, p.major_scale_a, p.scaling == Scaling::Tensor ? 1 : p.m);
}
View view_scale_b(const Problem& p) {
  const bool blocks = p.scaling == Scaling::Block128;
  const std::int64_t all = blocks ? round_up_quotient(p.n, scale_block) : p.n;
  return scale_view(p, p.major_scale_b, p.scaling == Scaling::Tensor ? 1 : all);
}

View view_scale_d(const Problem& p) {
  const std::int64_t blocks = round_up_quotient(d_columns(p), scale_block);
  return p.major_scale_d == Major::K ? View{Type::f32, blocks, p.m} : View{Type::f32, p.m, blocks};
}

Problem resolved(const Problem& problem) {
  Problem p = problem;
  p.a = resolved(problem.a, view_a(p));
  p.b = resolved(problem.b, view_b(p));
  p.c = resolved(problem.c, view_c(p));
  p.d = resolved(problem.d, view_d(p));
  p.scale_a = resolved(problem.scale_a, view_scale_a(p));
  p.scale_b = resolved(problem.scale_b, view_scale_b(p));
  p.scale_d = resolved(problem.scale_d, view_scale_d(p));
  if (is_grouped(p) && matrices_of_a(p) == 1)
    for (Strides* s : {&p.a, &p.c, &p.d, &p.scale_a, &p.scale_d})
      s->batch = 0;  // steps over nothing
  if (groups_k(p)) p.a.batch = p.b.batch = 0;
  if (groups_k(p) && scales_blocks(p.scaling)) p.scale_a.batch = p.scale_b.batch = 0;
  return p;
}

Problem as_one_product(const Problem& p) {
  if (p.batch <= 1 || has_sizes(p) || p.b.batch != 0) return p;
  const auto follow = [&](const Strides& s, bool rows_are_outer = true) {
    return s.batch == (rows_are_outer ? p.m * s.ld : p.m);
  };
  const bool one_factor = p.scaling == Scaling::Tensor;
  const bool factors =
      p.scaling == Scaling::None ||
      (p.scale_b.batch == 0 &&
       (one_factor ? p.scale_a.batch == 0 : follow(p.scale_a, p.major_scale_a == Major::K)));
  const bool whole_atoms =
      (!is_block_scaled(p) && !has_codes_d(p)) || p.m % tcgen05::scale_atom_mn == 0;
  const bool of_d =
      !p.quantized || has_codes_d(p) || follow(p.scale_d, p.major_scale_d == Major::K);
  if (!follow(p.a, p.major_a == Major::K) || !follow(p.d) || (p.beta != 0 && !follow(p.c)) ||
      !factors || !whole_atoms || !of_d)
    return p;
  Problem one = p;
  one.m = p.m * p.batch;
  one.batch = 1;
  return check(one) == Status::Ok ? one : p;
}

bool is_plain(const Problem& p) {
  const bool scales = p.scaling != Scaling::None && !scales_blocks(p.scaling);
  return p.alpha == 1 && p.beta == 0 && !p.has_bias && p.activation == Activation::None && !scales;
}

bool tma_addresses(const Strides& s, const View& v, std::int64_t batch) {
  const std::int64_t bytes = element_bytes(v.type);
  const std::int64_t together = elements_together(v.type);
  const auto fits = [&](std::int64_t stride) {
    return stride % together == 0 && stride / together * bytes % tma::global_unit_bytes == 0 &&
           static_cast<std::uint64_t>(stride / together * bytes) < tma::stride_limit;
  };
  return v.inner > 0 && fits(s.ld) && (batch == 1 || fits(s.batch));
}

bool tma_addresses_factors(const Problem& p) {
  // A group's first row may be any, a box begins at a multiple of 16 bytes.
  const bool anywhere = p.grouping == Grouping::Ends && p.major_scale_a == Major::MN;
  return scales_blocks(p.scaling) && !anywhere &&
         tma_addresses(p.scale_a, view_scale_a(p), matrices_of_a(p)) &&
         tma_addresses(p.scale_b, view_scale_b(p), p.batch);
}

bool tma_stores(const Problem& p) {
  const View d = view_d(p);
  const std::int64_t row_bytes = d.inner * bits(d.type) / 8;
  return tma_addresses(p.d, d, p.batch) && row_bytes % tma::global_unit_bytes == 0;
}

bool tma_addresses(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % tma::global_unit_bytes == 0;
}

Status check(const Problem& p) noexcept {
  constexpr std::int64_t max_extent = 2147418112;
  if (std::min({p.m, p.n, p.k, p.batch, p.expected_rows}) < 0) return Status::NegativeSize;
  if (std::max({p.m, p.n, p.k, p.batch}) > max_extent) return Status::SizeTooLarge;
  if (!outputs_exist(p.in, p.out)) return Status::UnsupportedTypes;
  if (type_b(p) != p.in && !(is_fp8(p.in) && is_fp8(type_b(p)))) return Status::UnsupportedTypes;
  if (!major_exists(p.major_a) || !major_exists(p.major_b)) return Status::UnsupportedMajor;
  if (static_cast<int>(p.activation) >= activation_count) return Status::UnsupportedEpilogue;
  if (p.out == Type::s32 && !is_plain(p)) return Status::UnsupportedEpilogue;
  const bool reads_c = p.beta != 0;
  if (is_gated(p.activation) && (reads_c || p.n % 2 != 0)) return Status::UnsupportedEpilogue;
  if (p.sm_limit < 0) return Status::BadSmLimit;
  if (!strides_hold(p.a, view_a(p)) || !strides_hold(p.b, view_b(p)) ||
      !strides_hold(p.d, view_d(p)) || (reads_c && !strides_hold(p.c, view_c(p))))
    return Status::LeadingDimensionTooSmall;
  if (!grouping_exists(p)) return Status::UnsupportedGrouping;
  if (has_too_many_rows(p)) return Status::SizeTooLarge;
  const std::int64_t matrices = matrices_of_a(p);
  if (!batch_stride_exists(p.a) || !batch_stride_exists(p.b) || !batch_stride_exists(p.d) ||
      (reads_c && !batch_stride_exists(p.c)) || (p.d.batch == 0 && matrices > 1))
    return Status::BadBatchStride;
  const Problem r = resolved(p);
  if (reaches_too_far(r.a, view_a(r), matrices) || reaches_too_far(r.b, view_b(r), r.batch) ||
      reaches_too_far(r.d, view_d(r), matrices) ||
      (reads_c && reaches_too_far(r.c, view_c(r), matrices)))
    return Status::SizeTooLarge;
  if (p.m > 0 && p.n > 0 && matrices_overlap({r.m, d_columns(r), r.d.ld, r.d.batch}, matrices))
    return Status::BadBatchStride;
  if (p.dynamic_schedule && (has_sizes(p) || p.sm_limit > 0)) return Status::UnsupportedSchedule;
  if (const Status status = check_block_scaling(p); status != Status::Ok) return status;
  if (const Status status = check_quantized(p); status != Status::Ok) return status;
  return check_scaling(p);
}

bool is_whole(const Plan& plan) noexcept {
  const bool launches = plan.aligned.kernel != nullptr && plan.unaligned.kernel != nullptr;
  return plan.made && (plan.empty || launches);
}

bool is_on_tcgen05(const Plan& plan) noexcept {
  return !plan.empty && plan.aligned.kernel->tensor_columns > 0;
}

Status check(const Plan& plan, const Pointers& x, const Workspace& workspace) noexcept {
  const Problem& p = plan.problem;
  if (!is_whole(plan)) return Status::NoPlan;
  if (plan.empty) return Status::Ok;
  const bool reads_operands = p.k > 0;
  if ((reads_operands && (x.a == nullptr || x.b == nullptr)) || x.d == nullptr)
    return Status::NullPointer;
  if ((p.beta != 0 && x.c == nullptr) || (p.has_bias && x.bias == nullptr))
    return Status::NullPointer;
  if (const Status status = check_factors(p, x); status != Status::Ok) return status;
  if (has_sizes(p) && x.sizes == nullptr) return Status::NullPointer;
  if (has_sizes(p) && misaligned(x.sizes, Type::s32)) return Status::Misaligned;
  if (misaligned(x.a, p.in) || misaligned(x.b, type_b(p)) || misaligned(x.d, type_d(p)) ||
      (p.beta != 0 && misaligned(x.c, p.out)) || (p.has_bias && misaligned(x.bias, p.out)))
    return Status::Misaligned;
  if (p.beta != 0 && x.c == x.d && !same_elements(p.c, p.d, p)) return Status::CIsNotD;
  if (workspace.data != nullptr && workspace.bytes < plan.workspace_bytes)
    return Status::WorkspaceTooSmall;
  if (reads_operands && is_on_tcgen05(plan) && path_of(plan, x, workspace) != Path::Realigned) {
    const Copies wanted = copies_of(plan, x);
    if (wanted.a || wanted.b) return Status::NotOnTcgen05;
  }
  return Status::Ok;
}

}  // namespace tcq::gemm
