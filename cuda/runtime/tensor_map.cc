#include "cuda/runtime/tensor_map.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

EncodeTiled encoder() {
  static const EncodeTiled function = [] {
    void* pointer = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaFree(nullptr));  // the driver needs a context
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &pointer, 12000,
                                                cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || pointer == nullptr)
      throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<EncodeTiled>(pointer);
  }();
  return function;
}

CUtensorMapL2promotion code(L2Promotion promotion) {
  switch (promotion) {
    case L2Promotion::None: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    case L2Promotion::Bytes128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case L2Promotion::Bytes256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

CUresult encode(CUtensorMap& encoded, const tma::TensorMap& map, std::uintptr_t base,
                L2Promotion promotion) {
  return encoder()(&encoded, static_cast<CUtensorMapDataType>(map.type),
                   static_cast<cuuint32_t>(map.rank), reinterpret_cast<void*>(base + map.address),
                   reinterpret_cast<const cuuint64_t*>(map.dims),
                   reinterpret_cast<const cuuint64_t*>(map.stride_bytes), map.box,
                   map.element_strides, static_cast<CUtensorMapInterleave>(map.interleave),
                   static_cast<CUtensorMapSwizzle>(map.swizzle), code(promotion),
                   static_cast<CUtensorMapFloatOOBfill>(map.fill));
}

}  // namespace

void prepare_tensor_maps() { (void)encoder(); }

CUtensorMap encode_tensor_map(const tma::TensorMap& map, const void* base, L2Promotion promotion) {
  alignas(64) CUtensorMap encoded{};
  const CUresult result = encode(encoded, map, reinterpret_cast<std::uintptr_t>(base), promotion);
  if (result != CUDA_SUCCESS)
    throw MapRefused("cuTensorMapEncodeTiled refuses the map, error " +
                     std::to_string(static_cast<int>(result)));
  return encoded;
}

bool encode_accepts(const tma::TensorMap& map) {
  constexpr std::uintptr_t aligned = std::uintptr_t{4096} * 1024 * 1024;
  alignas(64) CUtensorMap encoded{};
  return encode(encoded, map, aligned, L2Promotion::None) == CUDA_SUCCESS;
}

}  // namespace tcq::cuda
