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
//
// With `--draw-batches` each shape is a batch of small products instead, as attention, adapters and blocks of matrices have them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/num/inputs/draw.h"
#include "tools/bench_problem.h"

namespace tcq::tools {

// From low to high.
std::int64_t log_uniform(Draw& draw, std::int64_t low, std::int64_t high);

std::vector<Shape> drawn_shapes(std::uint64_t seed, int count);

// So many products; M of the shape is the rows of all of them, as bench_gemm has it.
struct DrawnBatch {
  Shape shape;
  int products;
};

// M, N and K of each product are log-uniform in [8, 512], of three in four batches multiples of 8; of products there are 16 to 16384,
// log-uniform, but less than 2^28 elements in A, B and D together.
std::vector<DrawnBatch> drawn_batches(std::uint64_t seed, int count);

// Of the `index`-th of these, for operands of type `in`: a problem that gemm::check() takes, if there is one for the shape (e2m1 has
// none of an odd K). `products`: of a batch whose shape is drawn; 0: whether it is one, and of how many, is drawn as well.
Variant drawn_variant(std::uint64_t seed, int index, const Shape& shape, Type in, int products = 0);

}  // namespace tcq::tools
