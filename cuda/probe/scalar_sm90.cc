#include "cuda/probe/scalar_sm90.h"

#include <string>

#include "cuda/probe/scalar_text_sm90.h"
#include "cuda/runtime/launch.h"

// Of the file that ptxas made; see scalar.cmake.
extern "C" const unsigned char tcq_scalar_kernels[];

namespace tcq::cuda {
namespace {

// Loaded once and kept as long as the process.
cudaLibrary_t library() {
  static const cudaLibrary_t loaded = [] {
    cudaLibrary_t made = nullptr;
    CUDA_CHECK(
        cudaLibraryLoadData(&made, tcq_scalar_kernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
    return made;
  }();
  return loaded;
}

}  // namespace

void probe_scalar(std::string_view spelling, std::uint32_t rows,
                  std::span<const std::uint64_t> sources, std::span<std::uint8_t> results) {
  cudaKernel_t kernel = nullptr;
  CUDA_CHECK(cudaLibraryGetKernel(&kernel, library(), scalar_kernel_name(spelling).c_str()));
  const DeviceBuffer<std::uint64_t> in{sources};
  const DeviceBuffer<std::uint8_t> out{std::span<const std::uint8_t>(results)};
  void* pointers[] = {in.data(), out.data()};
  void* arguments[] = {&pointers[0], &pointers[1]};
  CUDA_CHECK(cudaLaunchKernel(static_cast<const void*>(kernel), dim3(rows / scalar_threads),
                              dim3(scalar_threads), arguments, 0, nullptr));
  wait_for_kernel();
  out.download(results);
}

}  // namespace tcq::cuda
