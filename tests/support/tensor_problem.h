// A problem for a row of the table of kernels on tcgen05: given or drawn, with the operands and scale factors that the
// reference and the library are told alike. On the machine: tests/run/tensor_gemm_run.h; on a chip: tests/blackwell.
//
// Example: case_of(row, drawn_for(row, 7)) is a problem, and its data in host memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/num/inputs/draw.h"
#include "tests/support/gemm_problem.h"
#include "tests/support/scale_codes.h"

namespace tcq::tests {

struct Drawn {
  std::int64_t m, n, k;
  std::int64_t batch = 1;
  Type out = Type::f32;
  float beta = 0;
  bool biased = false;
  Activation activation = Activation::None;
  int pad = 0;  // of D's rows: not 0, TMA cannot address it
  Scales scales = {};
  float alpha = 1;
  bool edges = false;  // zeros, the largest and NaN among scale factors
  Values values = Values::Near;
  std::uint64_t seed = 17;
  std::optional<Type> in = {};  // instead of the kernel's own
  std::optional<Type> in_b = {};
  std::optional<Major> major_a = {};
  std::optional<Major> major_b = {};
};

inline Drawn turned(Drawn s, Major major_a, Major major_b) {
  s.major_a = major_a;
  s.major_b = major_b;
  return s;
}

// Of both operands and of D; what is compiled for bf16 multiplies f16 as well.
constexpr Drawn of_f16(Drawn s) {
  s.in = s.in_b = s.out = Type::f16;
  return s;
}

inline Drawn seeded(Drawn s, std::uint64_t seed) {
  s.seed = seed;
  return s;
}

// What sums its products; of wgmma the reference has it without being told.
inline oracle::GemmChain chain_of(const gemm::Kernel& row) {
  if (row.tensor_columns == 0) return {};
  return {.kind = tcgen05::kind_with_factors(row.in, row.scale_vec),
          .scale_vec = row.scale_vec,
          .scale_type = tcgen05::scale_type_of(row.scale_vec)};
}

inline bool makes_codes(const gemm::Kernel& row) {
  return row.quantized_vec != tcgen05::ScaleVec::Default;
}

inline Quantized drawn_quantized(const gemm::Kernel& row, std::uint64_t seed) {
  Draw draw(seed + 9);
  if (makes_codes(row)) {
    const bool of_32 = row.quantized_vec == tcgen05::ScaleVec::Block32;
    constexpr std::array types = {Type::e2m1, Type::e4m3, Type::e5m2};
    constexpr std::array globals = {1.0f, 0.375f, 100.0f};
    return {.type = of_32 ? types[static_cast<std::size_t>(draw.below(3))] : Type::e2m1,
            .vec = row.quantized_vec,
            .global = globals[static_cast<std::size_t>(draw.below(3))]};
  }
  return {draw.one_in(2) ? Type::e4m3 : Type::e5m2, draw.one_in(2),
          draw.one_in(2) ? Major::K : Major::MN, draw.below(3)};
}

// Can the kernel make one column of D of two?
inline bool gates(const gemm::Kernel& row) {
  return row.quantized_columns != gemm::scale_block || makes_codes(row);
}

inline oracle::Gemm gemm_of(const gemm::Kernel& row, const Drawn& s) {
  oracle::Gemm g{.m = s.m, .n = s.n, .k = s.k, .batch = s.batch, .out = s.out};
  g.in = s.in.value_or(row.in);
  g.in_b = s.in_b.value_or(row.in_b);
  g.major_a = s.major_a.value_or(row.major_a);
  g.major_b = s.major_b.value_or(row.major_b);
  g.alpha = s.alpha;
  g.beta = s.beta;
  g.activation = s.activation;
  g.promotes = row.promotion != gemm::Promotion::None;
  g.chain = chain_of(row);
  // TMA wants rows of 16 bytes.
  const auto of_16 = [&](Major major, std::int64_t mn) {
    const std::int64_t line = major == Major::K ? s.k : mn;
    const int elements = elements_in(g.in, 16);
    return static_cast<int>((elements - line % elements) % elements);
  };
  g = with_strides(g, of_16(g.major_a, s.m), of_16(g.major_b, s.n), s.pad);
  return row.quantized_columns > 0 ? with_quantized(g, drawn_quantized(row, s.seed)) : g;
}

struct TensorCase {
  GemmCase x;
  gemm::Problem problem;
};

// Factors of blocks of both operands; `edges` as random_code() has them.
inline void set_codes(GemmCase& x, bool edges) {
  oracle::Gemm& g = x.gemm;
  if (!is_block_scaled(g)) return;
  g.codes_a = code_steps(g, g.m);
  g.codes_b = code_steps(g, g.n);
  x.sfa = random_codes(g, g.m, edges, 3);
  x.sfb = random_codes(g, g.n, edges, 4);
}

inline TensorCase case_of(const gemm::Kernel& row, const Drawn& s) {
  const oracle::Gemm g = gemm_of(row, s);
  TensorCase out{make_case(g, s.biased, s.values, s.seed), problem_of(g, s.biased)};
  set_codes(out.x, s.edges);
  set_scaling(out.problem, out.x, s.scales, 7);
  out.problem.dynamic_schedule = row.dynamic;
  return out;
}

template <class T>
T one_of(const std::vector<T>& values, Draw& draw) {
  return values[static_cast<std::size_t>(draw.below(static_cast<int>(values.size())))];
}

inline std::vector<Type> outputs_of(Type in) {
  if (in == Type::tf32) return {Type::f32};
  if (bits(in) == 16) return {in, Type::f32};
  if (!is_float(in)) return {Type::s32, Type::f32, Type::bf16};
  return {Type::bf16, Type::f16, Type::f32};
}

// Of what has f32 factors.
inline std::vector<gemm::Scaling> scalings_of(const gemm::Kernel& row) {
  using gemm::Scaling;
  std::vector<Scaling> all = {Scaling::None, Scaling::Tensor, Scaling::RowColumn};
  if (row.promotion == gemm::Promotion::None) return all;
  all.push_back(Scaling::Block128);
  all.push_back(row.promotion == gemm::Promotion::EachColumn ? Scaling::Vector128
                                                             : Scaling::Block128);
  return all;
}

inline bool has_factors(const gemm::Kernel& row) { return gemm::has_factors(row.in); }

// Other types of the row's kind and size, and majors, which it multiplies as well.
template <class Problem>
void draw_majors(const gemm::Kernel& row, Draw& draw, Problem& p) {
  if (row.any_major_a) p.major_a = draw.one_in(2) ? Major::K : Major::MN;
  if (row.any_major_b) p.major_b = draw.one_in(2) ? Major::K : Major::MN;
}

inline void draw_types(const gemm::Kernel& row, Draw& draw, Drawn& s) {
  draw_majors(row, draw, s);
  if (is_fp8(row.in)) {
    s.in = one_of<Type>({Type::e4m3, Type::e5m2}, draw);
    s.in_b = one_of<Type>({Type::e4m3, Type::e5m2}, draw);
  }
  if (bits(row.in) == 16) s.in = s.in_b = one_of<Type>({Type::bf16, Type::f16}, draw);
  if (!is_float(row.in)) s.in = s.in_b = one_of<Type>({Type::s8, Type::u8}, draw);
}

// Sizes from one row or column to more than two tiles, K to more than two stages; half of them end within a tile's
// unit.
inline Drawn sizes_for(const gemm::Kernel& row, Draw& draw) {
  const int more = row.skinny == gemm::Skinny::Rows ? row.block_m + 8 : 168;
  Drawn s{.m = draw.in(1, row.block_m * row.cluster_m + more),
          .n = draw.in(1, row.block_n + 140),
          .k = (row.split - 1) * row.block_k + draw.in(1, 2 * row.block_k + row.block_k / 2)};
  if (draw.one_in(2)) s.m = (s.m + 15) / 16 * 16;
  if (draw.one_in(2)) s.n = (s.n + 15) / 16 * 16;
  if (draw.one_in(4)) s.batch = 2;
  if (row.split == 1 && draw.one_in(16)) s.k = 0;
  return s;
}

// All but the sizes.
inline Drawn drawn_for(const gemm::Kernel& row, Drawn s, std::uint64_t seed, Draw& draw) {
  const bool scaled = row.scale_vec != tcgen05::ScaleVec::Default;
  if (scaled) s.k += s.k % 2;
  draw_types(row, draw, s);
  s.out = one_of(outputs_of(s.in.value_or(row.in)), draw);
  if (s.out == Type::s32) {  // the product alone
    s.pad = one_of<int>({0, 1, 4}, draw);
    s.seed = seed;
    return s;
  }
  s.activation = static_cast<Activation>(draw.below(activation_count));
  if (draw.one_in(3) || (is_gated(s.activation) && !gates(row))) s.activation = Activation::None;
  if (is_gated(s.activation)) s.n += s.n % 2;
  if (makes_codes(row)) s.n = (s.n + 3) / 4 * 4;  // e2m1 is stored by two
  if (!is_gated(s.activation) && draw.one_in(2)) s.beta = one_of<float>({1, 0.5f, -3}, draw);
  s.biased = draw.one_in(2);
  s.pad = one_of<int>({0, 0, 1, 8}, draw) * (makes_codes(row) ? 2 : 1);
  if (draw.one_in(3)) s.alpha = 0.375f;
  s.edges = scaled && draw.one_in(2);
  const auto major = [&] { return draw.one_in(2) ? Major::K : Major::MN; };
  if (has_factors(row))
    s.scales = {one_of(scalings_of(row), draw), major(), major(), draw.below(3)};
  s.values = one_of<Values>({Values::Near, Values::Near, Values::Wide, Values::Specials}, draw);
  s.seed = seed;
  return s;
}

inline Drawn drawn_for(const gemm::Kernel& row, std::uint64_t seed) {
  Draw draw(seed);
  return drawn_for(row, sizes_for(row, draw), seed, draw);
}

}  // namespace tcq::tests
