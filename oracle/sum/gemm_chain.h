// What the definition of a GEMM's sums and its vectors share: where elements and scale factors lie, which parts of K
// there are, what one instruction of a chain multiplies.
//
// For gemm_output.cc, gemm_reference.cc and gemm_errors.cc; callers begin at gemm_reference.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oracle/sum/gemm_epilogue.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/num/dot.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle {

inline std::int64_t index_of(Major major, const GemmStrides& s, std::int64_t batch, std::int64_t mn,
                             std::int64_t k) {
  return batch * s.batch + (major == Major::K ? mn * s.ld + k : k * s.ld + mn);
}

inline std::vector<GemmSegment> segments_of(const Gemm& g) {
  return g.segments.empty() ? std::vector<GemmSegment>{{0, g.k}} : g.segments;
}

// The chains that are added up in a segment: itself, or each 128 of K.
inline constexpr std::int64_t promoted_chain_k = 128;
inline std::vector<GemmSegment> chains_of(const Gemm& g, const GemmSegment& segment) {
  if (!g.promotes) return {segment};
  std::vector<GemmSegment> chains;
  for (std::int64_t k = 0; k < segment.count; k += promoted_chain_k)
    chains.push_back({segment.first + k, std::min(promoted_chain_k, segment.count - k)});
  return chains;
}

// What one instruction of the chain multiplies and adds to.
struct GemmStep {
  DotTypes types;
  int products;
};

inline GemmStep step_of(const Gemm& g) {
  const Type d = g.chain.d.value_or(wgmma::widest_d(g.in));
  return {{d, g.in, g.b_type()},
          g.chain.kind ? tcgen05::products(*g.chain.kind) : wgmma::stored_k(g.in)};
}

// What the numbers of an instruction depend on. Requires: a kind of tcgen05.mma.
inline tcgen05::DotForm dot_form_of(const Gemm& g) {
  tcgen05::DotForm form;
  const DotTypes types = step_of(g).types;
  form.opcode.kind = *g.chain.kind;
  form.opcode.scale_vec = g.chain.scale_vec;
  form.idesc.d = types.d;
  form.idesc.a = types.a;
  form.idesc.b = types.b;
  form.idesc.saturate = g.chain.saturate;
  form.idesc.scale_type = g.chain.scale_type;
  return form;
}

inline bool is_block_scaled(const Gemm& g) {
  return g.chain.kind && tcgen05::is_block_scaled(*g.chain.kind);
}

// Of K under one scale factor. Requires: a block-scaled kind.
inline int scale_block(const Gemm& g) { return tcgen05::scale_block(dot_form_of(g).opcode); }

// The scale factor of element k of a line, as its byte.
inline std::uint8_t code_at(const Gemm& g, const GemmFactors& f, const std::uint8_t* codes,
                            std::int64_t batch, std::int64_t line, std::int64_t k) {
  return codes[batch * f.batch_step + line / f.per * f.line_step +
               k / scale_block(g) * f.block_step];
}

// f32 of a sum in D's type; s32 stays.
std::uint32_t widened(Type d, std::uint32_t sum);

}  // namespace tcq::oracle
