#include "cuda/gemm/launch.h"

#include <algorithm>
#include <array>

#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::gemm {
namespace {

tma::DataType data_type(Type type) {
  switch (type) {
    case Type::f16: return tma::DataType::Float16;
    case Type::bf16: return tma::DataType::BFloat16;
    case Type::tf32:
    case Type::f32: return tma::DataType::Float32;
    case Type::s32: return tma::DataType::Int32;
    default: return tma::DataType::UInt8;
  }
}

// `inner` is the contiguous index.
CUtensorMap map_of(Type type, const MatrixAt& matrix, std::int64_t inner, std::int64_t outer,
                   std::int64_t batch, std::uint32_t box_inner, std::uint32_t box_outer) {
  const auto bytes = static_cast<std::uint64_t>(bits(type) / 8);
  tma::TensorMap map;
  map.type = data_type(type);
  map.rank = 3;
  map.dims[0] = static_cast<std::uint64_t>(inner);
  map.dims[1] = static_cast<std::uint64_t>(outer);
  map.dims[2] = static_cast<std::uint64_t>(batch);
  map.stride_bytes[0] = static_cast<std::uint64_t>(matrix.ld) * bytes;
  map.stride_bytes[1] =
      batch > 1 ? static_cast<std::uint64_t>(matrix.batch_stride) * bytes : map.stride_bytes[0];
  map.box[0] = box_inner;
  map.box[1] = box_outer;
  map.box[2] = 1;
  map.swizzle = Swizzle::B128;
  return cuda::encode_tensor_map(map, matrix.data, cuda::L2Promotion::Bytes128);
}

using Attributes = std::array<cudaLaunchAttribute, 2>;

cudaLaunchConfig_t config_of(const Kernel& kernel, int clusters, cudaStream_t stream,
                             Attributes& attributes) {
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
  config.numAttrs = static_cast<unsigned>(attributes.size());
  return config;
}

}  // namespace

Maps make_maps(const Kernel& kernel, const Extents& e, const MatrixAt& a, const MatrixAt& b,
               const MatrixAt& d, const Arguments& arguments) {
  const bool k_major_a = kernel.major_a == Major::K;
  const bool k_major_b = kernel.major_b == Major::K;
  const auto span = static_cast<std::uint32_t>(kernel.block_k);
  Maps maps{};
  if (kernel.loader == Loader::Tma) {
    maps.a = map_of(kernel.in, a, k_major_a ? e.k : e.m, k_major_a ? e.m : e.k, e.batch, span,
                    kernel.box_rows_a);
    maps.b = map_of(kernel.in, b, k_major_b ? e.k : e.n, k_major_b ? e.n : e.k, e.batch, span,
                    kernel.box_rows_b);
  }
  if (arguments.stores_elements) return maps;
  const Type out = arguments.epilogue.out;
  const int halves = is_gated(arguments.epilogue.activation) ? 2 : 1;
  const int columns = std::min(kernel.store_row, staged_columns(bits(out) / 8));
  const auto d_map = [&](int box_columns) {
    return map_of(out, d, e.n / halves, e.m, e.batch,
                  static_cast<std::uint32_t>(box_columns / halves),
                  static_cast<std::uint32_t>(kernel.store_rows));
  };
  maps.d = d_map(columns);
  if (kernel.store_row % columns != 0) maps.tail = d_map(kernel.store_row % columns);
  return maps;
}

int resident_clusters(const Kernel& kernel) {
  Attributes attributes;
  const cudaLaunchConfig_t config = config_of(kernel, 1, nullptr, attributes);
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

cudaError_t launch(const Kernel& kernel, int clusters, const Maps& maps, const Arguments& arguments,
                   cudaStream_t stream) {
  Attributes attributes;
  const cudaLaunchConfig_t config = config_of(kernel, clusters, stream, attributes);
  const bool swaps = kernel.skinny == Skinny::Rows;
  const CUtensorMap* first = swaps ? &maps.b : &maps.a;
  const CUtensorMap* second = swaps ? &maps.a : &maps.b;
  std::array<const void*, 5> pointers = {first, second, &maps.d, &maps.tail, &arguments};
  return cudaLaunchKernelExC(&config, kernel.function, const_cast<void**>(pointers.data()));
}

}  // namespace tcq::gemm
