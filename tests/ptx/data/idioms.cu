// What compilers make of calls, tables, atomics, shuffles, doubles and nested assembly: the source of idioms.ptx
// (nvcc 13.0 -std=c++20 -O3 -lineinfo -arch=sm_90a -ptx).
#include <cstdint>
#include <cstdio>

namespace {

__constant__ float weights[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ unsigned arrivals;
__device__ const char letters[] = "ptx";
using Step = float (*)(float);

__device__ __noinline__ float twice(float x) { return x * weights[1] * 4.0f; }
__device__ __noinline__ float squared(float x) { return x * x; }
__device__ Step const steps[2] = {twice, squared};

struct Pair {
  double sum;
  int count;
};
__device__ __noinline__ Pair pair_of(const double* values, int n) {
  Pair pair{0, 0};
  for (int i = 0; i < n; ++i) pair.sum += values[i] / (1.0 + i), ++pair.count;
  return pair;
}

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "WAIT:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @done bra DONE;\n"
      "  bra WAIT;\n"
      "DONE:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace

extern "C" __global__ void __launch_bounds__(128, 2)
    idioms(float* out, const double* values, int n, int which, const __grid_constant__ Pair given) {
  extern __shared__ float row[];
  __shared__ std::uint64_t barrier;
  __shared__ std::uint8_t bytes[16];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  row[threadIdx.x] = static_cast<float>(given.sum) + letters[which & 3];
  bytes[threadIdx.x % 16] = static_cast<std::uint8_t>(n);
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(&barrier)));
  wait(shared_address(&barrier), 0);
  wait(shared_address(&barrier), 0);
  float x = row[(threadIdx.x * 7) % 128] + bytes[lane % 16];
  switch (which) {
    case 0: x = steps[n & 1](x); break;
    case 1: x = __shfl_xor_sync(0xffffffff, x, 5); break;
    case 2: x = sqrtf(x) / (x + 1.5f); break;
    case 3: x = __expf(x) + __sinf(x); break;
    case 4: x = static_cast<float>(__popc(__ballot_sync(0xffffffff, x > 0))); break;
    case 5: x = fmaf(x, x, static_cast<float>(__brev(n))); break;
    case 6: atomicAdd(&out[1], x); break;
    default: printf("which %d of %s lane %d: %f\n", which, letters, lane, x);
  }
  const Pair pair = pair_of(values, n);
  if (atomicInc(&arrivals, gridDim.x) == gridDim.x - 1) x += static_cast<float>(pair.sum) + pair.count;
  const long long wide = static_cast<long long>(n) * which;
  reinterpret_cast<float4*>(out)[threadIdx.x] = make_float4(x, static_cast<float>(wide >> 3), fminf(x, 2), -x);
}
