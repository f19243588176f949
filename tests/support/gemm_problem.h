// A problem that the reference is asked, as the library is; and factors for FP8: random, of a scaling that the library
// knows, told to both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/gemm/check.h"
#include "sim/isa/tmem/scale_layout.h"
#include "tests/support/gemm_case.h"
#include "tests/support/scale_codes.h"

namespace tcq {

inline gemm::BlockScaling block_scaling_of(tcgen05::ScaleVec factors) {
  if (factors == tcgen05::ScaleVec::Default) return gemm::BlockScaling::None;
  return factors == tcgen05::ScaleVec::Block16 ? gemm::BlockScaling::Ue4m3Block16
                                               : gemm::BlockScaling::Ue8m0Block32;
}

// What the oracle is asked, as the library is.
inline gemm::Problem problem_of(const oracle::Gemm& g, bool has_bias) {
  const auto strides = [](const oracle::GemmStrides& s) { return gemm::Strides{s.ld, s.batch}; };
  gemm::Problem p{.m = g.m, .n = g.n, .k = g.k, .batch = g.batch, .in = g.in, .out = g.out};
  p.major_a = g.major_a;
  p.major_b = g.major_b;
  p.a = strides(g.a);
  p.b = strides(g.b);
  p.c = strides(g.c);
  p.d = strides(g.d);
  p.alpha = g.alpha;
  p.beta = g.beta;
  p.has_bias = has_bias;
  p.activation = g.activation;
  p.in_b = g.in_b;
  p.promotes = g.promotes;
  p.block_scaling = block_scaling_of(g.chain.scale_vec);
  p.quantized = g.quantized;
  p.scale_d_power_of_two = g.factors_d_power_of_two;
  p.block_scaling_d = block_scaling_of(g.quantized_vec);
  const oracle::GemmFactors& f = g.factors_d;
  if (g.quantized && !has_codes_d(p)) {
    const bool k_major = f.block_step == 1 && f.line_step >= blocks_of_d(g);
    p.major_scale_d = k_major ? Major::K : Major::MN;
    p.scale_d = {k_major ? f.line_step : f.block_step, f.batch_step};
  }
  return p;
}

// How D is quantized, if it is.
struct Quantized {
  std::optional<Type> type = {};
  bool power_of_two = false;
  Major major = Major::K;  // of the factors
  int pad = 0;             // of their leading dimension
  tcgen05::ScaleVec vec = tcgen05::ScaleVec::Default;
  float global = 1;
};

// `g` has its shape and its activation.
inline oracle::Gemm with_quantized(oracle::Gemm g, const Quantized& q) {
  g.quantized = q.type;
  g.factors_d_power_of_two = q.power_of_two;
  g.quantized_vec = q.vec;
  g.global_scale_d = q.global;
  const std::int64_t blocks = blocks_of_d(g);
  const std::int64_t ld = (q.major == Major::K ? blocks : g.m) + q.pad;
  g.factors_d = {.line_step = q.major == Major::K ? ld : 1,
                 .block_step = q.major == Major::K ? 1 : ld,
                 .batch_step = ld * (q.major == Major::K ? g.m : blocks)};
  return g;
}

struct Scales {
  gemm::Scaling scaling = gemm::Scaling::None;
  Major major_a = Major::K;
  Major major_b = Major::K;
  int pad = 0;  // of leading dimensions
};

// What lies between the factors is a NaN.
inline Buffer random_factors(const gemm::View& view, const gemm::Strides& s, std::int64_t batch,
                             std::uint64_t seed) {
  const oracle::GemmStrides strides{s.ld, s.batch};
  Buffer out = poisoned(Type::f32, reach(strides, view.inner, view.outer, batch), 0, 0xff);
  Draw draw(seed);
  for (std::int64_t l = 0; l < batch; ++l)
    for (std::int64_t i = 0; i < view.outer; ++i)
      for (std::int64_t j = 0; j < view.inner; ++j)
        oracle::store_element(
            Type::f32, out.data(), l * s.batch + i * s.ld + j,
            make_float(Type::f32, draw.in(-6, 3), Fraction::Uniform, draw.one_in(8), draw));
  return out;
}

inline oracle::GemmFactors factors_for(const gemm::Problem& p, Major major, const gemm::Strides& s,
                                       int per) {
  const bool along_k = major == Major::K;
  oracle::GemmFactors f{.line_step = along_k ? s.ld : 1,
                        .block_step = along_k ? 1 : s.ld,
                        .batch_step = s.batch,
                        .per = per};
  if (p.scaling == gemm::Scaling::Tensor) f.line_step = 0;
  return f;
}

// `p` and `x` are of the same problem.
inline void set_scaling(gemm::Problem& p, GemmCase& x, const Scales& s, std::uint64_t seed) {
  if (s.scaling == gemm::Scaling::None) return;
  p.scaling = s.scaling;
  p.major_scale_a = s.major_a;
  p.major_scale_b = s.major_b;
  p.scale_a.ld = view_scale_a(p).inner + s.pad;
  p.scale_b.ld = view_scale_b(p).inner + s.pad;
  const gemm::Problem r = gemm::resolved(p);
  x.scale_a = random_factors(view_scale_a(r), r.scale_a, r.batch, seed);
  x.scale_b = random_factors(view_scale_b(r), r.scale_b, r.batch, mix(seed));
  x.gemm.promotes = is_promoted(p);
  x.gemm.scales_blocks = scales_blocks(p.scaling);
  x.gemm.factors_a = factors_for(r, r.major_scale_a, r.scale_a, 1);
  const bool blocks = p.scaling == gemm::Scaling::Block128;
  x.gemm.factors_b = factors_for(r, r.major_scale_b, r.scale_b, blocks ? gemm::scale_block : 1);
}

// Rows of A (D) that group `group` has, and the matrix that they lie in.
struct GroupRows {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t matrix;
};

// What is out of order or outside is cut as gemm.h says.
inline GroupRows rows_of_group(const gemm::Problem& p, const std::vector<std::int32_t>& sizes,
                               std::size_t group) {
  const auto cut = [&](std::int32_t size) { return std::clamp<std::int64_t>(size, 0, p.m); };
  if (p.grouping == gemm::Grouping::Counts)
    return {0, cut(sizes[group]), static_cast<std::int64_t>(group)};
  const std::int64_t begin = group == 0 ? 0 : cut(sizes[group - 1]);
  return {begin, std::max(begin, cut(sizes[group])), 0};
}

// The rows of A in the order in which their factors of blocks stand, of groups by Ends: each begins with an atom.
inline std::vector<std::int64_t> lines_of_groups(const gemm::Problem& p,
                                                 const std::vector<std::int32_t>& sizes) {
  std::vector<std::int64_t> lines;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    const GroupRows rows = rows_of_group(p, sizes, group);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) lines.push_back(row);
    const auto used = static_cast<std::int64_t>(lines.size());
    lines.resize(static_cast<std::size_t>(tcgen05::whole_scale_atoms(used)), no_line);
  }
  const gemm::Groups groups = {.by = p.grouping, .count = static_cast<int>(sizes.size())};
  lines.resize(static_cast<std::size_t>(gemm::lines_of_codes(p.m, groups)), no_line);
  return lines;
}

// Of D: as lines_of_groups(), or where they are; no_line: nobody's.
inline CodedLines coded_lines_of_groups(const oracle::Gemm& g, const gemm::Problem& p,
                                        const std::vector<std::int32_t>& sizes) {
  if (p.grouping == gemm::Grouping::Ends) return {lines_of_groups(p, sizes)};
  CodedLines lines = all_lines(g);
  if (p.grouping == gemm::Grouping::Counts) {
    for (std::size_t group = 0; group < sizes.size(); ++group) {
      const GroupRows rows = rows_of_group(p, sizes, group);
      for (std::int64_t row = rows.end; row < p.m; ++row)
        lines[group][static_cast<std::size_t>(row)] = no_line;
    }
    return lines;
  }
  lines.resize(1);
  for (std::size_t row = 0; row < lines[0].size(); ++row) {
    const std::int32_t group = sizes[row / gemm::scale_block * gemm::scale_block];
    if (group < 0 || group >= p.batch) lines[0][row] = no_line;
  }
  return lines;
}

// D of rows [begin, end) of A by matrix `group` of B, into `d`, and its factors.
inline void compute_group(const GemmCase& x, const GroupRows& rows, std::int64_t group, Buffer& d,
                          Buffer& scale_d) {
  const oracle::Gemm& g = x.gemm;
  oracle::Gemm one = g;
  one.m = rows.end - rows.begin;
  one.batch = 1;
  const auto bytes = [](Type type, std::int64_t elements) {  // 4 bits: one each
    return elements * std::max(bits(type), 8) / 8;
  };
  const auto at = [](const Buffer& b, std::int64_t offset) {
    return static_cast<const std::uint8_t*>(b.data()) + offset;
  };
  const auto row = [&](const oracle::GemmStrides& s) {
    return rows.matrix * s.batch + rows.begin * s.ld;
  };
  oracle::GemmData data = x.data();
  data.a = at(x.a, bytes(g.in, row(g.a)));
  data.b = at(x.b, bytes(g.b_type(), group * g.b.batch));
  if (data.c != nullptr) data.c = at(x.c, bytes(g.out, row(g.c)));
  const oracle::GemmFactors& a = g.factors_a;
  if (data.scale_a != nullptr) {
    data.scale_a += rows.matrix * a.batch_step + rows.begin * a.line_step;
    data.scale_b += group * g.factors_b.batch_step;
  }
  if (data.sfa != nullptr) {
    data.sfa += rows.matrix * g.codes_a.batch_step + rows.begin * g.codes_a.line_step;
    data.sfb += group * g.codes_b.batch_step;
  }
  auto* to = static_cast<std::uint8_t*>(d.data()) + bytes(g.d_type(), row(g.d));
  auto* factors = static_cast<std::uint8_t*>(scale_d.data());
  const bool codes = g.quantized_vec != tcgen05::ScaleVec::Default;
  if (g.quantized)
    factors += bytes(codes ? Type::u8 : Type::f32,
                     rows.matrix * g.factors_d.batch_step + rows.begin * g.factors_d.line_step);
  oracle::compute_gemm(one, data, {to, factors}, 1);
}

// A group's part of K, and where its first block begins, from where zeros stand for what is the group's ahead.
struct PartOfK {
  std::int64_t from;
  std::int64_t first;
  std::int64_t end;
};
inline PartOfK part_of_k(const gemm::Problem& p, const std::vector<std::int32_t>& sizes,
                         std::size_t group) {
  const auto cut = [&](std::int32_t end) { return std::clamp<std::int64_t>(end, 0, p.k); };
  const std::int64_t first = group == 0 ? 0 : cut(sizes[group - 1]);
  const std::int64_t unit = gemm::k_unit(p.in);
  return {first / unit * unit, first, std::max(first, cut(sizes[group]))};
}

inline Buffer without_ahead(Buffer operand, Type type, Major major, std::int64_t ld,
                            std::int64_t lines, const PartOfK& part) {
  const std::int64_t bytes = bits(type) / 8;
  for (std::int64_t line = 0; line < lines; ++line) {
    for (std::int64_t k = part.from; k < part.first; ++k) {
      const std::int64_t element = major == Major::K ? line * ld + k : k * ld + line;
      std::fill_n(static_cast<std::uint8_t*>(operand.data()) + element * bytes, bytes, 0);
    }
  }
  return operand;
}

// The matrix of D of a group along K.
inline void compute_k_group(const GemmCase& x, const PartOfK& part, std::int64_t group, Buffer& d) {
  const oracle::Gemm& g = x.gemm;
  oracle::Gemm one = g;
  one.k = part.end > part.first ? part.end - part.from : 0;
  one.batch = 1;
  one.segments.clear();
  const auto at = [](const Buffer& b, Type type, std::int64_t elements) {
    return static_cast<const std::uint8_t*>(b.data()) + elements * bits(type) / 8;
  };
  const Buffer a = without_ahead(x.a, g.in, g.major_a, g.a.ld, g.m, part);
  const Buffer b = without_ahead(x.b, g.b_type(), g.major_b, g.b.ld, g.n, part);
  oracle::GemmData data = x.data();
  data.a = at(a, g.in, part.from * (g.major_a == Major::K ? 1 : g.a.ld));
  data.b = at(b, g.b_type(), part.from * (g.major_b == Major::K ? 1 : g.b.ld));
  if (data.c != nullptr) data.c = at(x.c, g.out, group * g.c.batch);
  const auto step = [&](const oracle::GemmFactors& f) {
    return g.scales_blocks ? part.first / gemm::scale_block * f.block_step : group * f.batch_step;
  };
  if (data.scale_a != nullptr) {
    data.scale_a += step(g.factors_a);
    data.scale_b += step(g.factors_b);
  }
  auto* to = static_cast<std::uint8_t*>(d.data()) + group * g.d.batch * bits(g.d_type()) / 8;
  oracle::compute_gemm(one, data, {to, nullptr}, 1);
}

// All bytes of D's buffer after a grouped product, and of its factors': RowIds in runs of equal numbers.
inline std::vector<std::uint8_t> expected_of_groups(const GemmCase& x, const gemm::Problem& p,
                                                    const std::vector<std::int32_t>& sizes) {
  Buffer d = x.d;
  Buffer scale_d = x.scale_d;
  if (p.grouping == gemm::Grouping::KEnds) {
    for (std::size_t group = 0; group < sizes.size(); ++group)
      compute_k_group(x, part_of_k(p, sizes, group), static_cast<std::int64_t>(group), d);
    return d.bytes;
  }
  if (p.grouping == gemm::Grouping::RowIds) {
    for (std::int64_t row = 0; row < p.m; row += gemm::scale_block) {
      const std::int32_t group = sizes[static_cast<std::size_t>(row)];
      if (group >= 0 && group < p.batch)
        compute_group(x, {row, std::min(row + gemm::scale_block, p.m), 0}, group, d, scale_d);
    }
  } else {
    for (std::size_t group = 0; group < sizes.size(); ++group)
      compute_group(x, rows_of_group(p, sizes, group), static_cast<std::int64_t>(group), d,
                    scale_d);
  }
  const oracle::Gemm& g = x.gemm;
  const bool codes = g.quantized_vec != tcgen05::ScaleVec::Default;
  return GemmCase::joined(
      stored_d(g, d).bytes,
      codes ? stored_factors(g, scale_d, 0, coded_lines_of_groups(g, p, sizes)) : scale_d.bytes);
}

}  // namespace tcq
