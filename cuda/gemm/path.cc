#include "cuda/gemm/path.h"

#include <algorithm>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/stream_k.h"

namespace tcq::gemm {
namespace {

bool copies(const Strides& s, const View& v, std::int64_t batch, const void* data) {
  return !tma_addresses(s, v, batch) || !tma_addresses(data);
}

Strides copy_strides(const Strides& s, const View& v, std::int64_t batch) {
  const std::int64_t pitch =
      round_up_quotient(whole_bytes(v.type, v.inner), l2_line_bytes) * l2_line_bytes;
  const std::int64_t ld = pitch / element_bytes(v.type) * elements_together(v.type);
  return {ld, matrices_of(s, batch) == 1 ? 0 : v.outer * ld};
}

}  // namespace

std::uint8_t* first_line(void* workspace) {
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(workspace) % l2_line_bytes;
  return static_cast<std::uint8_t*>(workspace) + (past == 0 ? 0 : l2_line_bytes - past);
}

std::int64_t matrices_of(const Strides& s, std::int64_t batch) { return s.batch == 0 ? 1 : batch; }

Turning turned_for_wgmma(const Problem& p) {
  const auto turns = [](Major major, Type type) { return major == Major::MN && bits(type) != 16; };
  return {turns(p.major_a, p.in), turns(p.major_b, type_b(p))};
}

Copies copies_of(const Problem& p, Turning turning, const Pointers& x) {
  return {.a = turning.a || copies(p.a, view_a(p), p.batch, x.a),
          .b = turning.b || copies(p.b, view_b(p), p.batch, x.b),
          .turns_a = turning.a,
          .turns_b = turning.b};
}

Copies copies_of(const Plan& plan, const Pointers& x) {
  return copies_of(plan.problem, {plan.turns_a, plan.turns_b}, x);
}

// Inferred: from an H200's times with such copies and without (cuda/NOTES.md, "operands that are turned"), none of copies alone.
double microseconds_of(const Copies& copies, const Problem& p) {
  if (!copies.a && !copies.b) return 0;
  constexpr double launch = 1.2, bytes_in_microsecond = 3.9e6;
  return launch + 2 * static_cast<double>(workspace_bytes(p, copies)) / bytes_in_microsecond;
}

Problem with_copies(const Problem& problem, const Copies& copied) {
  Problem p = problem;
  if (copied.turns_a) p.major_a = Major::K;
  if (copied.turns_b) p.major_b = Major::K;
  if (copied.a) p.a = copy_strides(p.a, view_a(p), p.batch);
  if (copied.b) p.b = copy_strides(p.b, view_b(p), p.batch);
  return p;
}

// One matrix cannot overflow: it has at most 128 bytes a line more than one that check() admits.
std::int64_t copy_bytes(const Strides& copy, const View& v, std::int64_t batch) {
  const std::int64_t matrix = v.outer * whole_bytes(v.type, copy.ld);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(matrix, matrices_of(copy, batch), &bytes)) return max_matrix_bytes;
  return std::min(bytes, max_matrix_bytes);
}

std::size_t workspace_bytes(const Problem& problem, const Copies& copied) {
  if (!copied.a && !copied.b) return 0;
  const Problem p = with_copies(problem, copied);
  const std::int64_t a = copied.a ? copy_bytes(p.a, view_a(p), p.batch) : 0;
  const std::int64_t b = copied.b ? copy_bytes(p.b, view_b(p), p.batch) : 0;
  return static_cast<std::size_t>(a + b + l2_line_bytes);
}

std::size_t workspace_bytes(const Plan& plan) noexcept {
  return plan.workspace_bytes > 0 ? plan.workspace_bytes : stream_k_bytes(plan.aligned);
}

namespace {

std::size_t bytes_of_copies(const Plan& plan, const Pointers& x) {
  if (plan.realigned.kernel == nullptr) return 0;
  return workspace_bytes(plan.problem, copies_of(plan, x));
}

}  // namespace

std::size_t workspace_bytes(const Plan& plan, const Pointers& x) noexcept {
  const std::size_t copied = bytes_of_copies(plan, x);
  if (copied > 0) return copied;
  return path_of(plan, x, {}) == Path::Whole ? stream_k_bytes(plan.aligned) : 0;
}

Path path_of(const Plan& plan, const Pointers& x, const Workspace& workspace) noexcept {
  const std::size_t needed = bytes_of_copies(plan, x);
  if (needed > 0 && workspace.data != nullptr && workspace.bytes >= needed) return Path::Realigned;
  if (!tma_addresses(x.a) || !tma_addresses(x.b)) return Path::Unaligned;
  const bool factors = tma_addresses(x.scale_a) && tma_addresses(x.scale_b);
  if (!factors && plan.any_factors.kernel != nullptr) return Path::AnyFactors;
  return has_room(plan.aligned, workspace) ? Path::Aligned : Path::Whole;
}

const Launch& launch_of(const Plan& plan, Path path) noexcept {
  switch (path) {
    case Path::Realigned: return plan.realigned;
    case Path::AnyFactors: return plan.any_factors;
    case Path::Whole: return plan.whole;
    case Path::Aligned: return plan.aligned;
    default: return plan.unaligned;
  }
}

std::vector<KSegment> k_segments(const Plan& plan, Path path) {
  const Launch& launch = launch_of(plan, path);
  if (launch.kernel == nullptr) return {};
  if (!is_float(plan.problem.in)) return {{0, plan.problem.k}};  // modulo 2^32: order is nothing
  std::vector<KSegment> segments;
  for (int rank = 0; rank < launch.kernel->split; ++rank) {
    const BlockRange range = split_range(launch.k_blocks, launch.kernel->split, rank);
    const std::int64_t first = std::int64_t{range.first} * launch.kernel->block_k;
    const std::int64_t end = std::int64_t{range.end} * launch.kernel->block_k;
    segments.push_back({first, std::min(end, plan.problem.k) - first});
  }
  return segments;
}

}  // namespace tcq::gemm
