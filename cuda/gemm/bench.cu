#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#if __has_include(<cuda_fp4.h>)  // else: a compiler before tcgen05
#include <cuda_fp4.h>
#endif

#include "cuda/gemm/bench.h"
#include "cuda/gemm/quantize.cuh"

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

#if __has_include(<cuda_fp4.h>)
// Two to a byte.
__global__ void fill_pairs(std::uint8_t* data, std::size_t bytes, std::uint64_t seed) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < bytes;
       i += step)
    data[i] = __nv_cvt_float2_to_fp4x2({normal(2 * i, seed), normal(2 * i + 1, seed)}, __NV_E2M1,
                                       cudaRoundNearest);
}
#endif

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
#if __has_include(<cuda_fp4.h>)
    case Type::e2m1:
      fill_pairs<<<1024, 256, 0, stream>>>(static_cast<std::uint8_t*>(data), count / 2, seed);
      return;
#endif
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

}  // namespace tcq::cuda
