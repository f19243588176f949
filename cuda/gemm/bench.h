// What a benchmark needs on any device that the GEMM has kernels for: random normal matrices, and activations alone.
// Wgmma alone: cuda/gemm/bench_sm90.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/num/activation.h"

namespace tcq::cuda {

// Floats: N(0, 1); of e2m1 an even count. Integers of 8 bits: N(0, 32) rounded; of u8 the magnitude.
void fill_normal(Type type, void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// What a library without this activation lets follow its product: reads `count` elements, the last ones beyond a
// multiple of 16 left out, and writes as many, or half as many if the activation is gated. bf16, f16 or f32, at
// multiples of 16 bytes. By the chip's approximations: the cheapest that there is, not ours.
cudaError_t launch_activation(Type type, Activation activation, const void* product, void* d,
                              std::int64_t count, cudaStream_t stream);

}  // namespace tcq::cuda
