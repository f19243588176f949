// Orders of accumulation as text: what `tcq gemm --order SPEC` says.
//
//   SPEC        = PARTS [":" INSTRUCTION] | "plan:" FILE | "float64" | "fma"
//   PARTS       = "chain" | "split=" N | "every=" K | "segments=" FIRST "-" END {"," FIRST "-" END}
//   INSTRUCTION = ("wgmma" | "tcgen05" | MNEMONIC) {"," ("d=" TYPE | "kind=" KIND | "satfinite" | "promoted")}
//
// A part of K is one chain of the instruction over ascending k; the parts' results are added in f32 in
// the order given. `every=128` is FP8 promoted every 128; `split=N` cuts K as tcq's kernels do, into
// blocks of 128 bytes; `promoted` parts are sums of chains of 128 of K, each multiplied by its factors
// as it is added: fma(factors, chain, sum); `plan:FILE` takes the order from what describe() of
// cuda/gemm/gemm.h prints.
// Factors of 16 or 32 of K are operands of block-scaled tcgen05.mma, whose kind the factors and types decide as far as
// `kind=` does not: mxf4 for two e2m1 and ue8m0 for 32, else mxf8f6f4; mxf4nvf4 for 16.
// `float64` and `fma` are no tensor core's: sums of doubles rounded once, and one f32 fused
// multiply-add for each k. Example: every=64 of 160 bf16 is 0-64, 64-128, 128-160. What it computes:
// predict.h; orders that might explain a difference: rivals.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/gemm/scaling.h"
#include "oracle/sum/gemm_reference.h"
#include "sim/isa/base/element.h"
#include "sim/num/tcgen05_dot.h"

namespace tcq::oracle::gemm {

enum class Engine : std::uint8_t { Wgmma, Tcgen05, Float64, Fma };

struct Order {
  std::string spec;  // as it can be typed back
  Engine engine = Engine::Wgmma;
  Type accumulator = Type::f32;            // of the instruction: its D
  bool saturate = false;                   // integers: clamped after every instruction
  std::vector<GemmSegment> segments = {};  // none: all of K is one
  bool promotes = false;
  std::optional<tcgen05::Kind> kind = {};  // of block-scaled tcgen05.mma

  friend bool operator==(const Order& a, const Order& b) {
    return a.engine == b.engine && a.accumulator == b.accumulator && a.saturate == b.saturate &&
           a.segments == b.segments && a.promotes == b.promotes && a.kind == b.kind;
  }
};

// What is summed.
struct Product {
  Type a = Type::bf16;
  Type b = Type::bf16;
  std::int64_t k = 0;
  Scaling scaling = Scaling::None;
};

// Throws UsageError for what cannot be understood or does not fit the product, UnmodelledError for
// instructions whose sums are not those of a plain product.
Order parse_order(std::string_view spec, const Product& product);

// The shortest SPEC of the same order.
std::string canonical_spec(const Order& order, const Product& product);

// In words: "one chain of wgmma f32.bf16.bf16 over ascending k, 16 at a time".
std::string sentence(const Order& order, const Product& product);

// K of one instruction; 1 for sums that are no instruction's.
int step(const Order& order, const Product& product);

// The parts of K for `every=` and `split=`; those of one part are none.
std::vector<GemmSegment> parts_of(std::int64_t k, std::int64_t length);
std::vector<GemmSegment> split_parts(const Product& product, std::int64_t parts);
// Of K in a chain of a promoted part.
inline constexpr std::int64_t promoted_k = 128;

// The same bits, said with fewest words: parts of one chain each need no promotion without factors of their own.
Order simplified(Order order, const Product& product);

// Most parts that `split=` can make.
std::int64_t most_parts(const Product& product);

// The same bits for every product of these types: engines whose arithmetic is the same row of
// sim/num/dot_traits.h and whose instructions have the same K count as one.
bool computes_the_same(const Order& a, const Order& b, const Product& product);

// What the numbers of its instruction depend on. Requires: Engine::Tcgen05.
tcgen05::DotForm tcgen05_form_of(const Order& order, const Product& product);

// An instruction that multiplies such operands and has such a D? Of orders that are no instruction's: can they be
// summed so?
bool exists(const Order& order, const Product& product);

// The block-scaled kinds of the product's types and factors, the one that is meant without `kind=` first.
std::vector<tcgen05::Kind> block_scaled_kinds(const Product& product);

}  // namespace tcq::oracle::gemm
