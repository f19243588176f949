#include <cuda_runtime.h>

#include "cuda/gemm/bench_sm90.h"
#include "cuda/gemm/config.h"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/timer.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/wgmma/rate.h"

namespace tcq::cuda {
namespace {

template <Type In>
using Ceiling = gemm::Config<In, Major::K, Major::K, 128, 256, gemm::Turns::Together, 1, 1, 3>;

// The prologue copies the SM's operands to shared memory; the clock runs from there on.
template <Type In>
__global__ void __launch_bounds__(2 * gemm::warpgroup_threads, 1)
    multiply(int rounds, const uint4* operands, CeilingLoop* loops, std::uint32_t* sink) {
  using C = Ceiling<In>;
  extern __shared__ __align__(gemm::swizzle_atom_bytes) std::uint8_t memory[];
  constexpr int words = static_cast<int>(ceiling_operand_bytes / sizeof(uint4));
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
    reinterpret_cast<uint4*>(memory)[i] =
        operands[static_cast<std::size_t>(blockIdx.x) * words + i];
  ptx::fence_proxy_async_shared();
  __syncthreads();

  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const unsigned warpgroup = threadIdx.x / gemm::warpgroup_threads;
  const int row = static_cast<int>(warpgroup) * wgmma::m;
  std::uint32_t d[wgmma::accumulator_registers(C::accumulator, C::block_n)];
  const std::uint64_t begin_ns = ptx::global_nanoseconds();
  const std::uint64_t begin_clock = ptx::sm_clocks();
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int s = 0; s < C::stages; ++s) {
      const std::uint32_t at =
          ptx::shared_address(memory) + static_cast<std::uint32_t>(s) * C::stage_bytes;
      const std::uint64_t a = advance(C::A::descriptor(extent_a), at + C::A::offset(row, 0));
      const std::uint64_t b = advance(C::B::descriptor(extent_b), at + C::A::bytes);
      ptx::wgmma_fence();
#pragma unroll
      for (int step = 0; step < C::steps; ++step)
        ptx::mma<C::form>(d, advance(a, C::A::offset(0, step)), advance(b, C::B::offset(0, step)),
                          round > 0 || s > 0 || step > 0);
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<1>();
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
  const std::uint64_t end_clock = ptx::sm_clocks();
  const std::uint64_t end_ns = ptx::global_nanoseconds();
  if (threadIdx.x % gemm::warpgroup_threads == 0)
    loops[blockIdx.x * ceiling_warpgroups + warpgroup] = {begin_ns, end_ns,
                                                          end_clock - begin_clock};
  std::uint32_t folded = 0;
#pragma unroll
  for (const std::uint32_t word : d) folded ^= word;
  if (rounds < 0) *sink = folded;  // never: the sums must not be optimised away
}

// The launch's own status, not cudaGetLastError(): that may be another call's.
template <Type In>
cudaError_t launch(int sm_count, int rounds, const void* operands, CeilingLoop* loops,
                   cudaStream_t stream) {
  static_assert(ceiling_operand_bytes == Ceiling<In>::stages * Ceiling<In>::stage_bytes);
  const cudaError_t status =
      cudaFuncSetAttribute(multiply<In>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(ceiling_operand_bytes));
  if (status != cudaSuccess) return status;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(sm_count));
  config.blockDim = dim3(ceiling_warpgroups * gemm::warpgroup_threads);
  config.dynamicSmemBytes = ceiling_operand_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, multiply<In>, rounds, static_cast<const uint4*>(operands),
                            loops, static_cast<std::uint32_t*>(nullptr));
}

}  // namespace

double ceiling_operations(Type in, int sm_count, int rounds) {
  using C = Ceiling<Type::bf16>;
  const double k = static_cast<double>(elements_in(in, gemm::swizzle_bytes)) * C::stages * rounds;
  return 2.0 * C::block_m * C::block_n * k * sm_count;
}

double ceiling_tensor_clocks(int rounds) {
  using C = Ceiling<Type::bf16>;  // of 32 stored bytes of K, as every type's
  return static_cast<double>(wgmma::tensor_clocks(C::form)) * ceiling_warpgroups * C::steps *
         C::stages * rounds;
}

cudaError_t launch_ceiling(Type in, int sm_count, int rounds, const void* operands,
                           CeilingLoop* loops, cudaStream_t stream) {
  switch (in) {
    case Type::f16: return launch<Type::f16>(sm_count, rounds, operands, loops, stream);
    case Type::bf16: return launch<Type::bf16>(sm_count, rounds, operands, loops, stream);
    case Type::s8: return launch<Type::s8>(sm_count, rounds, operands, loops, stream);
    case Type::u8: return launch<Type::u8>(sm_count, rounds, operands, loops, stream);
    case Type::e4m3: return launch<Type::e4m3>(sm_count, rounds, operands, loops, stream);
    case Type::e5m2: return launch<Type::e5m2>(sm_count, rounds, operands, loops, stream);
    default: return launch<Type::tf32>(sm_count, rounds, operands, loops, stream);
  }
}

}  // namespace tcq::cuda
