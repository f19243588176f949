// Every bit of a GEMM's result, computed on the CPU from the order of accumulation that its plan
// states.
//
// An output is the sum of one chain of instructions for each segment of K, added in f32 in the order
// of the segments; then the epilogue, every step rounded to
// f32; then one conversion, or FP8 of 128 columns and their factor (sim/num/quantize.h). A segment may be promoted: chains of 128 of K, fma(factors, chain, sum) from 0 on. Tile, cluster and M do not enter, so that a row's bits do not depend on
// M. Which instruction's arithmetic sums a segment is GemmChain's to say; the arithmetic itself is
// sim/num/dot.h's and sim/num/tcgen05_dot.h's. A batch is products of one shape, whose operands lie a step apart
// or are the same ones (step 0).
// Example: a 1 x 1 x 1 product of bf16 2.0 and 3.0 onto f32 is 0x40c00000.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/num/activation.h"

namespace tcq::oracle {

// Unit: elements. `ld` steps the index that is not contiguous.
struct GemmStrides {
  std::int64_t ld = 0;
  std::int64_t batch = 0;
};

struct GemmSegment {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend constexpr bool operator==(const GemmSegment&, const GemmSegment&) = default;
};

// The instructions whose chain sums a segment; the K of one follows: 32 bytes of A for wgmma, that
// of the kind for tcgen05.mma. A last instruction that K does not fill has zeros there.
struct GemmChain {
  std::optional<tcgen05::Kind> kind = {};  // none: wgmma
  std::optional<Type> d = {};              // what an instruction adds to; none: f32 or s32
  bool saturate = false;  // integers: .satfinite of every instruction, else modulo 2^32
  // Of block-scaled kinds: how many of K a scale factor covers, and what its byte means.
  tcgen05::ScaleVec scale_vec = tcgen05::ScaleVec::Default;
  tcgen05::ScaleType scale_type = tcgen05::ScaleType::ue8m0;
};

// Factors of one operand: that of row of A (column of B) `line` and of `block` of K is element
// batch * batch_step + line / per * line_step + block * block_step. f32 factors are of 128 of K, codes, those of
// block-scaled kinds, of as many as GemmChain says.
struct GemmFactors {
  std::int64_t line_step = 0;
  std::int64_t block_step = 0;
  std::int64_t batch_step = 0;
  int per = 1;
};

// D = activation(alpha * factors * A * B + beta * C + bias); C and D row-major, of type `out`. A gated activation (n is
// even, beta 0) makes m x n / 2 of it.
struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  Type in = Type::bf16;  // of A, and of B unless `in_b` is there; 4 and 6 bits: a byte each
  std::optional<Type> in_b = {};
  Type out = Type::bf16;
  Major major_a = Major::K;
  Major major_b = Major::K;
  GemmStrides a = {};
  GemmStrides b = {};
  GemmStrides c = {};
  GemmStrides d = {};
  float alpha = 1;
  float beta = 0;  // 0: C is not read
  Activation activation = Activation::None;
  std::vector<GemmSegment> segments = {};  // of K, in the order of addition; none: one chain
  GemmChain chain = {};
  bool promotes = false;  // whole segments but for the last are multiples of 128 of K
  bool scales_blocks =
      false;  // factors are of 128 of K, and meet the chains of promotion; else the sum
  GemmFactors factors_a = {};  // of GemmData::scale_a
  GemmFactors factors_b = {};
  GemmFactors codes_a = {};  // of GemmData::sfa
  GemmFactors codes_b = {};
  std::int64_t bias_batch = 0;  // from one product's bias to the next one's
  // D is of this type, e4m3 or e5m2, with a factor for 128 columns of a row; C and the bias are of type `out`. A block of
  // factors_d is 128 columns of D. With quantized_vec factors are bytes, ue8m0 of 32 columns or ue4m3 of 16, D may be e2m1,
  // a byte each, and results are multiplied by global_scale_d first.
  std::optional<Type> quantized = {};
  bool factors_d_power_of_two = false;
  tcgen05::ScaleVec quantized_vec = tcgen05::ScaleVec::Default;
  float global_scale_d = 1;
  GemmFactors factors_d = {};

  Type b_type() const { return in_b.value_or(in); }
  Type d_type() const { return quantized.value_or(out); }
};

// Host memory; what is not there is null.
struct GemmData {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  const void* bias = nullptr;
  const float* scale_a = nullptr;  // both or none
  const float* scale_b = nullptr;
  const std::uint8_t* sfa = nullptr;  // scale factors of a block-scaled kind: both or none
  const std::uint8_t* sfb = nullptr;
};

// Columns of D that share a factor.
constexpr int block_of_d(const Gemm& g) {
  return g.quantized_vec == tcgen05::ScaleVec::Default ? 128
                                                       : tcgen05::scale_block(g.quantized_vec);
}

// Where results go. `scale_d`: if D is quantized, f32 or, with quantized_vec, bytes.
struct GemmOut {
  void* d = nullptr;
  void* scale_d = nullptr;

  GemmOut(void* to_d) : d(to_d) {}  // NOLINT(google-explicit-constructor): most have D alone
  GemmOut(void* to_d, void* to_factors) : d(to_d), scale_d(to_factors) {}
};

// Writes the elements of every matrix of D, and factors, and nothing between them; `threads` 0: all cores.
// Requires: an instruction that exists; integers have one segment; s32 results no epilogue; segments of a block-scaled
// kind begin where a scale factor does.
void compute_gemm(const Gemm& gemm, const GemmData& data, GemmOut out, int threads = 0);

// The bits of one output, of one that is quantized those of the f32, by the instruction's arithmetic as it stands in sim/num:
// slow.
std::uint32_t gemm_output(const Gemm& gemm, const GemmData& data, std::int64_t batch,
                          std::int64_t row, std::int64_t col);

// Distance of a result from the same formula in float64, for eyes. No gated activation. The figures are of the outputs that
// are finite in both.
struct GemmErrors {
  std::int64_t compared = 0;
  std::int64_t not_finite = 0;  // the other outputs: NaN or Inf in D or in float64
  double max_absolute = 0;
  double max_relative = 0;      // to the sum of |a| * |b|, the scale that rounding errors have
  double root_mean_square = 0;  // absolute
  double exact_root_mean_square = 0;  // of what D would be
};
GemmErrors gemm_errors(const Gemm& gemm, const GemmData& data, const void* d);

}  // namespace tcq::oracle
