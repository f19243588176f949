// What one run() hands to the kernels; cuda/gemm/run.h decides when.
#include "cuda/gemm/run.h"

#include <algorithm>
#include <limits>

#include "cuda/gemm/config.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/stream_k.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/store.h"

namespace tcq::gemm {
namespace {

Source source_of(const void* data, const Strides& s, Major major) {
  const bool k_major = major == Major::K;
  return {data, k_major ? s.ld : 1, k_major ? 1 : s.ld, s.batch};
}

bool tma_stores(const Problem& p, const void* d) { return tma_addresses(d) && tma_stores(p); }

// Do `count` columns of C or D beside each other, from a multiple of them on, lie where one access can take them?
bool lie_together(const Problem& p, const void* data, const Strides& s, int count) {
  const auto bytes = static_cast<std::uintptr_t>(count * element_bytes(p.out));
  return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 && d_columns(p) % count == 0 &&
         (p.m == 1 || s.ld % count == 0) && (p.batch == 1 || s.batch % count == 0);
}

int columns_of_c(const Problem& p, const void* c) {
  if (bits(p.out) == 16 && lie_together(p, c, p.c, wgmma::column_group)) return wgmma::column_group;
  return lie_together(p, c, p.c, 2) ? 2 : 1;
}

// The problem's factors of one operand, `per` lines of it to one of them.
Factors factors_of(const Problem& p, const float* data, const Strides& s, Major major, int per) {
  if (data == nullptr || p.scaling == Scaling::None) return {};
  const bool along_k = major == Major::K;
  const bool one = p.scaling == Scaling::Tensor;
  return {.data = data,
          .mn_step = one       ? 0
                     : along_k ? s.ld
                               : 1,
          .k_step = along_k ? 1 : s.ld,
          .batch_step = s.batch,
          .per = per};
}

// Of atoms that hold the codes of `elements` beside each other in each of 128 lines.
std::int64_t atom_bytes_across(std::int64_t elements, tcgen05::ScaleVec factors) {
  return round_up_quotient(elements, tcgen05::scale_block(factors) * tcgen05::scale_group) *
         tcgen05::scale_atom_bytes;
}

std::int64_t bytes_of_codes(std::int64_t lines, std::int64_t across) {
  return tcgen05::scale_atoms_along_mn(lines) * across;
}

// Of the matrices of one operand, of `lines` rows or columns: one, as the operand has, or one behind the other.
ScaleCodes codes_of(const Problem& p, const std::uint8_t* data, const Strides& s,
                    std::int64_t lines) {
  if (!is_block_scaled(p)) return {};
  const std::int64_t bytes = bytes_of_codes(lines, atom_bytes_across(p.k, scale_vec_of(p)));
  return {data, matrices_of(s, p.batch) == 1 ? 0 : bytes};
}

void set_factors(const Problem& p, const Pointers& x, Arguments& out) {
  const int per = p.scaling == Scaling::Block128 ? scale_block : 1;
  const Factors a = factors_of(p, x.scale_a, p.scale_a, p.major_scale_a, 1);
  const Factors b = factors_of(p, x.scale_b, p.scale_b, p.major_scale_b, per);
  if (!scales_blocks(p.scaling)) {
    out.epilogue.scales = p.scaling != Scaling::None;
    out.epilogue.factors_a = a;
    out.epilogue.factors_b = b;
  } else if (p.k > 0) {  // without blocks of K there are no factors of any
    out.block_factors_a = a;
    out.block_factors_b = b;
  }
}

FactorsOfD factors_of_d(const Problem& p, const Pointers& x) {
  if (!p.quantized) return {};
  if (has_codes_d(p)) {
    const std::int64_t across = atom_bytes_across(d_columns(p), scale_vec_of(p.block_scaling_d));
    const Groups groups = {.by = p.grouping, .count = static_cast<int>(p.batch)};
    const std::int64_t places = tcgen05::whole_scale_atoms(lines_of_codes(p.m, groups));
    return {.row_step = across,
            .batch_step = bytes_of_codes(p.m, across),
            .type = *p.quantized,
            .codes = x.scale_codes_d,
            .places = static_cast<int>(std::min<std::int64_t>(places, INT32_MAX)),
            .times = x.global_scale_d};
  }
  const bool along_k = p.major_scale_d == Major::K;
  return {.data = x.scale_d,
          .row_step = along_k ? p.scale_d.ld : 1,
          .block_step = along_k ? 1 : p.scale_d.ld,
          .batch_step = p.scale_d.batch,
          .type = *p.quantized,
          .power_of_two = p.scale_d_power_of_two};
}

// Between the instruction descriptors of the types and majors that the kernel is compiled for and of the problem's.
std::uint32_t differing_bits(const Kernel& k, const Problem& p) {
  if (k.tensor_columns == 0) return 0;
  const auto word = [&](Type a, Type b, Major major_a, Major major_b) {
    return tcgen05::encode(
        {.d = wgmma::widest_d(k.in), .a = a, .b = b, .major_a = major_a, .major_b = major_b},
        tcgen05::kind_with_factors(k.in, k.scale_vec));
  };
  if (k.skinny == Skinny::Rows)  // the instruction's A is the problem's B
    return word(type_b(p), p.in, p.major_b, p.major_a) ^ word(k.in_b, k.in, k.major_b, k.major_a);
  return word(p.in, type_b(p), p.major_a, p.major_b) ^ word(k.in, k.in_b, k.major_a, k.major_b);
}

int k_step(const Problem& p) {
  return group_step(p.in, p.major_a == Major::K || p.major_b == Major::K, is_promoted(p));
}

Arguments arguments_of(const Problem& p, const Launch& launch, const Pointers& x) {
  Arguments out;
  out.m = static_cast<int>(p.m);
  out.n = static_cast<int>(p.n);
  out.k = static_cast<int>(p.k);
  out.k_blocks = launch.k_blocks;
  out.stores_elements = !tma_stores(p, x.d);
  out.overlaps = launch.overlaps;
  if (launch.kernel->skinny != Skinny::No) {
    const Kernel& k = *launch.kernel;
    const Sharing a = {k.cluster_n, k.block_m / k.cluster_n};
    const Sharing b = {k.cluster_m, k.block_n / k.cluster_m};
    const bool swaps = k.skinny == Skinny::Rows;
    out.tokens = swaps ? a : b;
    out.weights = swaps ? b : a;
  }
  out.walk = Walk(launch.schedule);
  out.epilogue = {.out = p.out,
                  .finishes = !is_plain(p) || (!is_float(p.in) && p.out != Type::s32),
                  .columns_of_c = columns_of_c(p, x.c),
                  .pairs_of_d = lie_together(p, x.d, p.d, 2),
                  .alpha = p.alpha,
                  .beta = p.beta,
                  .activation = p.activation,
                  .bias = p.has_bias ? x.bias : nullptr,
                  .c = x.c,
                  .ld_c = p.c.ld,
                  .batch_c = p.c.batch,
                  .d = x.d,
                  .ld_d = p.d.ld / elements_together(type_d(p)),
                  .batch_d = p.d.batch / elements_together(type_d(p))};
  if (is_grouped(p)) {
    const bool swaps = launch.kernel->skinny == Skinny::Rows;
    const Schedule& s = launch.schedule;
    out.groups = {p.grouping, static_cast<int>(p.batch), swaps ? s.rows : s.cols, x.sizes};
    // Few rows: all of a group's for a tile of weights, which are read once.
    const int across = std::max(out.groups.tiles_across, 1);
    out.groups.band = swaps ? std::numeric_limits<int>::max() / across : s.group;
    out.groups.tiles_of_band = Divisor(out.groups.band * across);
  }
  if (groups_k(p)) out.groups = {p.grouping, static_cast<int>(p.batch), 0, x.sizes, k_step(p)};
  out.sends_usual =
      !out.stores_elements && type_d(p) == usual(launch.kernel->in) && !is_gated(p.activation);
  set_factors(p, x, out);
  out.factors_d = factors_of_d(p, x);
  out.scale_codes_a = codes_of(p, x.scale_codes_a, p.a, p.m);
  out.scale_codes_b = codes_of(p, x.scale_codes_b, p.b, p.n);
  out.a = source_of(x.a, p.a, p.major_a);
  out.b = source_of(x.b, p.b, p.major_b);
  return out;
}

// `v`: of the source.
RealignJob job_of(const View& v, std::int64_t batch, const MatrixAt& from, const MatrixAt& to,
                  std::uint8_t* target) {
  const auto bytes = [&](std::int64_t elements) { return whole_bytes(v.type, elements); };
  return {.source = static_cast<const std::uint8_t*>(from.data),
          .target = target,
          .line_bytes = bytes(v.inner),
          .lines = v.outer,
          .matrices = matrices_of({to.ld, to.batch_stride}, batch),
          .source_pitch = bytes(from.ld),
          .source_batch = bytes(from.batch_stride),
          .target_pitch = bytes(to.ld),
          .target_batch = bytes(to.batch_stride),
          .turned_bytes = from.major == to.major ? 0 : static_cast<int>(element_bytes(v.type))};
}

// `p`, with copies `q`.
void copy_operands(const Problem& p, const Problem& q, const Copies& copied, void* workspace,
                   Work& work) {
  std::uint8_t* next = first_line(workspace);
  const auto copy = [&](const View& from, const View& v, const MatrixAt& to, MatrixAt& matrix) {
    work.jobs[work.job_count++] = job_of(from, p.batch, matrix, to, next);
    matrix = to;
    next += copy_bytes({to.ld, to.batch_stride}, v, p.batch);
  };
  if (copied.a) copy(view_a(p), view_a(q), {next, q.a.ld, q.a.batch, q.major_a}, work.a);
  if (copied.b) copy(view_b(p), view_b(q), {next, q.b.ld, q.b.batch, q.major_b}, work.b);
}

}  // namespace

Work work_of(const Plan& plan, Path path, const Pointers& x, const Workspace& workspace) {
  const Problem& p = plan.problem;
  Work work;
  work.extents = {p.m, p.n, p.k, p.batch};
  work.a = {x.a, p.a.ld, p.a.batch, p.major_a};
  work.b = {x.b, p.b.ld, p.b.batch, p.major_b};
  work.d = {x.d, p.d.ld, p.d.batch};
  work.arguments = arguments_of(p, launch_of(plan, path), x);
  work.differs = differing_bits(*launch_of(plan, path).kernel, p);
  work.arguments.stream_k = stream_k_of(launch_of(plan, path), workspace);
  if (path != Path::Realigned) return work;
  const Copies copied = copies_of(plan, x);
  const Problem q = with_copies(p, copied);
  if (groups_k(q)) work.arguments.groups.k_step = k_step(q);
  copy_operands(p, q, copied, workspace.data, work);
  return work;
}

std::array<const void*, 14> followed(const Plan& plan, const Pointers& x,
                                     const Workspace& workspace) {
  const Problem& p = plan.problem;
  std::array<const void*, 14> out = {x.d, workspace.data};
  if (p.k > 0) out[2] = x.a;
  if (p.k > 0) out[3] = x.b;
  if (p.beta != 0) out[4] = x.c;
  if (p.has_bias) out[5] = x.bias;
  if (p.scaling != Scaling::None) out[6] = x.scale_a;
  if (p.scaling != Scaling::None) out[7] = x.scale_b;
  if (has_sizes(p)) out[8] = x.sizes;
  if (is_block_scaled(p)) out[9] = x.scale_codes_a;
  if (is_block_scaled(p)) out[10] = x.scale_codes_b;
  if (p.quantized && !has_codes_d(p)) out[11] = x.scale_d;
  if (has_codes_d(p)) out[12] = x.scale_codes_d;
  if (has_codes_d(p)) out[13] = x.global_scale_d;
  return out;
}

}  // namespace tcq::gemm
