// An epilogue that asks the header where its registers go: every element of D is written once.
#include <cstdio>

#include "sim/isa/wgmma/fragment.h"

constexpr int rows = 64;
constexpr int cols = 24;

__global__ void write_fragment(float* d) {
  for (int reg = 0; reg < rows * cols / 128; ++reg) {
    const tcq::wgmma::Element e =
        tcq::wgmma::accumulator_element(tcq::Type::f32, {static_cast<int>(threadIdx.x), reg, 0});
    d[e.row * cols + e.col] = static_cast<float>(threadIdx.x * 1000 + reg);
  }
}

int main() {
  float host[rows * cols];
  float* d = nullptr;
  if (cudaMalloc(&d, sizeof host) != cudaSuccess) {
    std::puts("no device");
    return 0;
  }
  write_fragment<<<1, 128>>>(d);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  const int holder = static_cast<int>(host[9 * cols + 13]);
  std::printf("thread %d, register %d\n", holder / 1000, holder % 1000);
  cudaFree(d);
}
