#include "cuda/probe/activation_sm90.h"
#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

template <class Function>
__global__ void evaluate(Function function, std::uint32_t first, std::uint32_t count,
                         std::uint32_t* out) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    out[i] = __float_as_uint(function(__uint_as_float(first + i)));
}

template <class Function>
void probe(Function function, std::uint32_t first, std::span<std::uint32_t> out) {
  const DeviceBuffer<std::uint32_t> answers(out.size());
  evaluate<<<1024, 256>>>(function, first, static_cast<std::uint32_t>(out.size()), answers.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  answers.download(out);
}

struct Activate {
  Activation activation;
  __device__ float operator()(float x) const { return activate(activation, x); }
};

}  // namespace

void probe_activations(Activation activation, std::uint32_t first, std::span<std::uint32_t> out) {
  probe(Activate{activation}, first, out);
}

}  // namespace tcq::cuda
