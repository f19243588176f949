// What a benchmark needs on the device: random normal matrices, activations alone, and wgmma alone.
//
// The ceiling kernel multiplies what lies in shared memory again and again: two warpgroups of an SM,
// m64n256, no loads and no epilogue between. Shared memory does not outlive a kernel, so that each
// launch begins by copying the operands there; that is outside the time, which the SMs take
// themselves, around their loops of wgmmas. Power limits them as it limits a GEMM on such data, if
// the loop is long: what a kernel does besides leaves the tensor cores time to cool.
// How it is timed: tools/bench_ceiling.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/num/activation.h"

namespace tcq::cuda {

// Floats: N(0, 1). Integers of 8 bits: N(0, 32) rounded; of u8 the magnitude.
void fill_normal(Type type, void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream);

// What a library without this activation lets follow its product: reads `count` elements, the last ones beyond a
// multiple of 16 left out, and writes as many, or half as many if the activation is gated. bf16, f16 or f32, at multiples of 16 bytes. By the
// chip's approximations: the cheapest that there is, not ours.
cudaError_t launch_activation(Type type, Activation activation, const void* product, void* d,
                              std::int64_t count, cudaStream_t stream);

inline constexpr std::size_t ceiling_operand_bytes = 144 * 1024;  // of each SM
inline constexpr unsigned ceiling_warpgroups = 2;

// One warpgroup's loop, from its first wgmma to the end of its last.
struct CeilingLoop {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t clocks = 0;  // of its SM
};

// 2 * products of one launch. `in`: f16, bf16, tf32, s8 or u8.
double ceiling_operations(Type in, int sm_count, int rounds);

// Clocks that the tensor cores of one SM need for its loops, at their peak rate.
double ceiling_tensor_clocks(int rounds);

// One CTA for each SM, `rounds` times through its operands, which lie one SM's behind the other.
// `loops`: one for each warpgroup.
cudaError_t launch_ceiling(Type in, int sm_count, int rounds, const void* operands,
                           CeilingLoop* loops, cudaStream_t stream);

}  // namespace tcq::cuda
