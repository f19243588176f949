#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "cuda/gemm/bench_sm90.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/quantize.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/timer.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/wgmma/rate.h"

namespace tcq::cuda {
namespace {

// SplitMix64: a bijection of 64-bit words.
__device__ std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ __umul64hi(x, 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
  x = (x ^ __umul64hi(x, 0xd1b54a32d192ed03)) * 0x94d049bb133111eb;
  return x ^ __umul64hi(x, 0x2545f4914f6cdd1d);
}

// Box and Muller: two uniform numbers make a normal one.
__device__ float normal(std::uint64_t index, std::uint64_t seed) {
  const std::uint64_t word = mixed(index * 2 + 1 + mixed(seed));
  const float radius = (static_cast<float>(static_cast<std::uint32_t>(word)) + 1) * 0x1p-32f;
  const float angle = static_cast<float>(__umul64hi(word, std::uint64_t{1000003})) * 6.2831853e-6f;
  return sqrtf(-2 * logf(radius)) * cosf(angle);
}

template <Type T>
__device__ auto element(float value) {
  if constexpr (T == Type::f16)
    return __float2half_rn(value);
  else if constexpr (T == Type::bf16)
    return __float2bfloat16_rn(value);
  else if constexpr (T == Type::s8)
    return static_cast<std::int8_t>(fminf(fmaxf(rintf(32 * value), -128), 127));
  else if constexpr (is_fp8(T))
    return gemm::to_fp8<T>(value);
  else if constexpr (T == Type::u8)
    return static_cast<std::uint8_t>(fminf(rintf(32 * fabsf(value)), 255));
  else
    return value;
}

template <Type T>
using Element = decltype(element<T>(0));

template <Type T>
__global__ void fill(void* data, std::size_t count, std::uint64_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count;
       i += step)
    static_cast<Element<T>*>(data)[i] = element<T>(normal(i, seed));
}

__device__ float quick_activation(Activation activation, float x) {
  switch (activation) {
    case Activation::Relu: return fmaxf(x, 0);
    case Activation::Gelu: return __fdividef(x, 1 + exp2f(x * gelu_slope(x)));
    case Activation::GeluErf: return 0.5f * x * (1 + erff(x * 0.70710678f));
    default: return __fdividef(x, 1 + __expf(-x));
  }
}

template <class E, int Count>
struct alignas(16) Elements {
  E of[Count];
};

// Sixteen elements of type E a thread.
template <Type T, class E>
__global__ void activate_alone(Activation activation, const Elements<E, 16>* product, void* d,
                               std::int64_t count) {
  const std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const Elements<E, 16> in = product[i];
  if (is_gated(activation)) {
    Elements<E, 8> out;
#pragma unroll
    for (int j = 0; j < 8; ++j)
      out.of[j] = element<T>(quick_activation(activation, static_cast<float>(in.of[2 * j])) *
                             static_cast<float>(in.of[2 * j + 1]));
    static_cast<Elements<E, 8>*>(d)[i] = out;
  } else {
    Elements<E, 16> out;
#pragma unroll
    for (int j = 0; j < 16; ++j)
      out.of[j] = element<T>(quick_activation(activation, static_cast<float>(in.of[j])));
    static_cast<Elements<E, 16>*>(d)[i] = out;
  }
}

template <Type T, class E>
cudaError_t activate(Activation activation, const void* product, void* d, std::int64_t count,
                     cudaStream_t stream) {
  constexpr std::int64_t threads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((count / 16 + threads - 1) / threads));
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, activate_alone<T, E>, activation,
                            static_cast<const Elements<E, 16>*>(product), d, count / 16);
}

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

template <Type T>
void launch_fill(void* data, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill<T><<<1024, 256, 0, stream>>>(data, count, seed);
}

}  // namespace

void fill_normal(Type type, void* data, std::size_t count, std::uint64_t seed,
                 cudaStream_t stream) {
  switch (type) {
    case Type::f16: return launch_fill<Type::f16>(data, count, seed, stream);
    case Type::bf16: return launch_fill<Type::bf16>(data, count, seed, stream);
    case Type::s8: return launch_fill<Type::s8>(data, count, seed, stream);
    case Type::u8: return launch_fill<Type::u8>(data, count, seed, stream);
    case Type::e4m3: return launch_fill<Type::e4m3>(data, count, seed, stream);
    case Type::e5m2: return launch_fill<Type::e5m2>(data, count, seed, stream);
    default: return launch_fill<Type::tf32>(data, count, seed, stream);
  }
}

cudaError_t launch_activation(Type type, Activation activation, const void* product, void* d,
                              std::int64_t count, cudaStream_t stream) {
  switch (type) {
    case Type::f16: return activate<Type::f16, __half>(activation, product, d, count, stream);
    case Type::bf16:
      return activate<Type::bf16, __nv_bfloat16>(activation, product, d, count, stream);
    default: return activate<Type::tf32, float>(activation, product, d, count, stream);
  }
}

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
