// A problem's matrices, its strides as numbers, and whether it has an epilogue: what the parts of
// the library share about it. Users read gemm.h.
#pragma once

#include <cstdint>

#include "cuda/gemm/gemm.h"
#include "sim/isa/base/tcgen05_kind.h"

namespace tcq::gemm {

inline constexpr std::int64_t max_matrix_bytes =
    std::int64_t{1024} * 1024 * 1024 * 1024 * 1024 * 1024;

constexpr std::int64_t round_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Of one element, or of those that share a byte.
constexpr std::int64_t element_bytes(Type type) { return bits(type) < 8 ? 1 : bits(type) / 8; }
constexpr std::int64_t elements_together(Type type) { return bits(type) < 8 ? 8 / bits(type) : 1; }

// A matrix in memory: `inner` elements are contiguous, `outer` of these are ld apart.
struct View {
  Type type;
  std::int64_t inner;
  std::int64_t outer;
};

View view_a(const Problem& problem);
View view_b(const Problem& problem);
View view_c(const Problem& problem);
View view_d(const Problem& problem);

// Of the factors; those that are not of blocks of K have one block.
View view_scale_a(const Problem& problem);
View view_scale_b(const Problem& problem);
View view_scale_d(const Problem& problem);

constexpr Type type_b(const Problem& p) { return p.in_b.value_or(p.in); }

constexpr Type type_d(const Problem& p) { return p.quantized.value_or(p.out); }

constexpr bool is_block_scaled(const Problem& p) { return p.block_scaling != BlockScaling::None; }

// How tcgen05 names it.
constexpr tcgen05::ScaleVec scale_vec_of(BlockScaling scaling) {
  switch (scaling) {
    case BlockScaling::None: break;
    case BlockScaling::Ue8m0Block32: return tcgen05::ScaleVec::Block32;
    case BlockScaling::Ue4m3Block16: return tcgen05::ScaleVec::Block16;
  }
  return tcgen05::ScaleVec::Default;
}

constexpr tcgen05::ScaleVec scale_vec_of(const Problem& p) { return scale_vec_of(p.block_scaling); }

// Are the factors of D bytes?
constexpr bool has_codes_d(const Problem& p) { return p.block_scaling_d != BlockScaling::None; }

// Are the sizes of groups the device's?
constexpr bool has_sizes(const Problem& p) { return p.grouping != Grouping::None; }

// Is K dealt to groups? If not, are rows?
constexpr bool groups_k(const Problem& p) { return p.grouping == Grouping::KEnds; }
constexpr bool is_grouped(const Problem& p) { return has_sizes(p) && !groups_k(p); }

// Of A, C and D.
constexpr std::int64_t matrices_of_a(const Problem& p) {
  return is_grouped(p) && p.grouping != Grouping::Counts ? 1 : p.batch;
}

// Are sums of 128 of K added in f32?
constexpr bool is_promoted(const Problem& p) { return p.promotes || scales_blocks(p.scaling); }

// Half of N if the activation makes one column of two.
constexpr std::int64_t d_columns(const Problem& p) {
  return is_gated(p.activation) ? p.n / 2 : p.n;
}

// Of `sm_count`, those that the problem may use.
constexpr int usable_sms(const Problem& p, int sm_count) {
  return p.sm_limit > 0 && p.sm_limit < sm_count ? p.sm_limit : sm_count;
}

// The same problem without `packed`.
Problem resolved(const Problem& problem);

// A batch of products that have one B, and whose rows of A, C, D and factors follow each other, as one product of all of
// them, which reads B once: M is the batch's. Else the same. Requires: check() takes it, strides are numbers.
Problem as_one_product(const Problem& problem);

// Is D the product, without arithmetic after it? Promotion and factors of 128 of K belong to the product.
bool is_plain(const Problem& problem);

// Can a tensor map have these strides? And this address?
bool tma_addresses(const Strides& strides, const View& view, std::int64_t batch);
bool tma_addresses(const void* address);

// Is it a plan that one of the make_plan functions has made?
bool is_whole(const Plan& plan) noexcept;

// Is it one for tcgen05? Requires: it is whole.
bool is_on_tcgen05(const Plan& plan) noexcept;

// Factors of blocks of K, of both operands?
bool tma_addresses_factors(const Problem& problem);

// Does TMA write D and nothing else? It writes the last 16 bytes of a row whole, into the gap before
// the next row (sim/isa/copy/tma_tile.h).
bool tma_stores(const Problem& problem);

}  // namespace tcq::gemm
