// Shapes that nobody picked: what `bench_gemm --draw SEED --count N` measures.
//
// M is log-uniform in [1, 16384]. Four of five N x K are a linear layer of a published language model, split
// over 1, 2, 4 or 8 GPUs; every fifth has N and K log-uniform in [64, 16384], of any parity. The same
// seed gives the same shapes, and the first of a longer draw are those of a shorter one. What was fitted on some
// seeds is to be judged on others.
//
// With `--draw-options` each shape also draws what it is besides: epilogue, type of D, majors, scaling and the majors of its
// factors, promotion, batch invariance; a batch or groups, by ends, counts or numbers, of K too; a pad of all lines, half of the
// time by a multiple of 16 bytes of an operand; no workspace. Any that the library has with each other, whether anybody has
// timed them together or not, but batches and groups are halved until their operands have less than 8 GiB.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/num/inputs/draw.h"
#include "tools/bench_problem.h"

namespace tcq::tools {

// From low to high.
std::int64_t log_uniform(Draw& draw, std::int64_t low, std::int64_t high);

std::vector<Shape> drawn_shapes(std::uint64_t seed, int count);

// Of the `index`-th of these, for operands of type `in`: a problem that gemm::check() takes, if there is one for the shape (e2m1 has
// none of an odd K).
Variant drawn_variant(std::uint64_t seed, int index, const Shape& shape, Type in);

}  // namespace tcq::tools
