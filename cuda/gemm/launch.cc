#include "cuda/gemm/launch.h"

#include <array>
#include <optional>

#include "cuda/gemm/maps.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::gemm {
namespace {

using Attributes = std::array<cudaLaunchAttribute, 2>;

cudaLaunchConfig_t config_of(const Kernel& kernel, int clusters, bool programmatic,
                             cudaStream_t stream, Attributes& attributes) {
  attributes = {};
  cudaLaunchAttribute& cluster = attributes[0];
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(cluster_size(kernel));
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  attributes[1] = starts_early();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(clusters) * cluster.val.clusterDim.x);
  config.blockDim = dim3(static_cast<unsigned>(kernel.threads));
  config.dynamicSmemBytes = kernel.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = programmatic ? 2 : 1;
  return config;
}

}  // namespace

namespace {

CUtensorMap encoded(const std::optional<tma::TensorMap>& map) {
  if (!map) return {};
  return cuda::encode_tensor_map(*map, nullptr,
                                 cuda::L2Promotion::Bytes128);  // its address counts from 0
}

}  // namespace

Maps make_maps(const Kernel& kernel, const Extents& extents, const MatrixAt& a, const MatrixAt& b,
               const MatrixAt& d, const Arguments& arguments, std::uint32_t differs) {
  const PlainMaps plain = plain_maps(kernel, extents, a, b, d, arguments);
  return {{encoded(plain.a), encoded(plain.rest_a)},
          {encoded(plain.b), encoded(plain.rest_b)},
          encoded(plain.d),
          encoded(plain.tail),
          {encoded(plain.scales_a), encoded(plain.scales_b), differs}};
}

int resident_clusters(const Kernel& kernel) {
  Attributes attributes;
  const cudaLaunchConfig_t config = config_of(kernel, 1, true, nullptr, attributes);
  CUDA_CHECK(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kernel.shared_bytes)));
  int clusters = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel.function, &config));
  return clusters;
}

cudaLaunchAttribute starts_early() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

cudaError_t launch(const Launch& chosen, const Maps& maps, const Arguments& arguments,
                   cudaStream_t stream) {
  const Kernel& kernel = *chosen.kernel;
  Attributes attributes;
  const cudaLaunchConfig_t config =
      config_of(kernel, chosen.clusters, chosen.programmatic, stream, attributes);
  // Kernels for Hopper have no parameter for the last: nobody reads its pointer.
  std::array<const void*, 6> pointers = {&maps.a,    &maps.b,    &maps.d,
                                         &maps.tail, &arguments, &maps.operands};
  return cudaLaunchKernelExC(&config, kernel.function, const_cast<void**>(pointers.data()));
}

}  // namespace tcq::gemm
