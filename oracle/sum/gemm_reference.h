// Every bit of a GEMM's result, computed on the CPU from the order of accumulation that its plan
// states.
//
// An output is the sum of one chain of instructions for each segment of K, added in f32 in the order
// of the segments (FP8 with promotion: segments of 128); then the epilogue, every step rounded to
// f32; then one conversion. Tile, cluster and M do not enter, so that a row's bits do not depend on
// M. Which instruction's arithmetic sums a segment is GemmChain's to say; the arithmetic itself is
// sim/num/dot.h's and sim/num/tcgen05_dot.h's.
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
  std::optional<tcgen05::Kind> kind = {};  // none: wgmma. Not a block-scaled one
  std::optional<Type> d = {};              // what an instruction adds to; none: f32 or s32
  bool saturate = false;  // integers: .satfinite of every instruction, else modulo 2^32
};

// D = activation(alpha * A * B + beta * C + bias); C and D row-major, of type `out`. A gated activation (n is
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

  Type b_type() const { return in_b.value_or(in); }
};

// Host memory; what is not there is null.
struct GemmData {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  const void* bias = nullptr;
};

// Writes the elements of every matrix of D and nothing between them; `threads` 0: all cores.
// Requires: an instruction that exists; integers have one segment; s32 results no epilogue.
void compute_gemm(const Gemm& gemm, const GemmData& data, void* d, int threads = 0);

// The bits of one output, by the instruction's arithmetic as it stands in sim/num: slow.
std::uint32_t gemm_output(const Gemm& gemm, const GemmData& data, std::int64_t batch,
                          std::int64_t row, std::int64_t col);

// Distance of a result from the same formula in float64, for eyes. No gated activation.
struct GemmErrors {
  double max_absolute = 0;
  double max_relative = 0;      // to the sum of |a| * |b|, the scale that rounding errors have
  double root_mean_square = 0;  // absolute
};
GemmErrors gemm_errors(const Gemm& gemm, const GemmData& data, const void* d);

}  // namespace tcq::oracle
