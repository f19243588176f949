#include "cuda/probe/statement_sm90.h"

#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::cuda {

void probe_statement(const std::string& name, const std::string& ptx, std::uint32_t ctas,
                     std::uint32_t threads, std::span<std::uint8_t> memory,
                     const std::optional<tma::TensorMap>& map, std::uint32_t cluster) {
  const JitKernel* kernel = jit_kernel(name, ptx);
  const DeviceBuffer<std::uint8_t> bytes{std::span<const std::uint8_t>(memory)};
  void* pointer = bytes.data();
  alignas(64) CUtensorMap encoded{};
  if (map) encoded = encode_tensor_map(*map, pointer);
  void* arguments[] = {&pointer, &encoded};
  cudaLaunchAttribute named{};
  named.id = cudaLaunchAttributeClusterDimension;
  named.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(ctas);
  launch.blockDim = dim3(threads);
  launch.attrs = &named;
  launch.numAttrs = cluster != 0 ? 1 : 0;
  explain(name, kernel, [&] {
    CUDA_CHECK(cudaLaunchKernelExC(&launch, static_cast<const void*>(kernel->kernel), arguments));
    wait_for_kernel();
  });
  bytes.download(memory);
}

}  // namespace tcq::cuda
