// Shapes that nobody picked: what `bench_gemm --draw SEED --count N` measures.
//
// M is log-uniform in [1, 16384]. Four of five N x K are a linear layer of a published language model, split
// over 1, 2, 4 or 8 GPUs; every fifth has N and K log-uniform in [64, 16384], of any parity. The same
// seed gives the same shapes, and the first of a longer draw are those of a shorter one. What was fitted on some
// seeds is to be judged on others.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench_problem.h"

namespace tcq::tools {

std::vector<Shape> drawn_shapes(std::uint64_t seed, int count);

}  // namespace tcq::tools
