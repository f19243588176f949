#include "cuda/runtime/tensor_map.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
using EncodeIm2col = decltype(&cuTensorMapEncodeIm2col);

void* found_in_driver(const char* name) {
  void* pointer = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CUDA_CHECK(cudaFree(nullptr));  // the driver needs a context
  CUDA_CHECK(cudaGetDriverEntryPointByVersion(name, &pointer, 12000, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess || pointer == nullptr)
    throw std::runtime_error(std::string("the driver has no ") + name);
  return pointer;
}

EncodeTiled encoder() {
  static const auto function =
      reinterpret_cast<EncodeTiled>(found_in_driver("cuTensorMapEncodeTiled"));
  return function;
}

EncodeIm2col im2col_encoder() {
  static const auto function =
      reinterpret_cast<EncodeIm2col>(found_in_driver("cuTensorMapEncodeIm2col"));
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

CUresult encode_im2col(CUtensorMap& encoded, const tma::TensorMap& map, std::uintptr_t base,
                       L2Promotion promotion) {
  return im2col_encoder()(
      &encoded, static_cast<CUtensorMapDataType>(map.type), static_cast<cuuint32_t>(map.rank),
      reinterpret_cast<void*>(base + map.address), reinterpret_cast<const cuuint64_t*>(map.dims),
      reinterpret_cast<const cuuint64_t*>(map.stride_bytes), map.im2col.lower, map.im2col.upper,
      map.box[0], map.box[1], map.element_strides,
      static_cast<CUtensorMapInterleave>(map.interleave),
      static_cast<CUtensorMapSwizzle>(map.swizzle), code(promotion),
      static_cast<CUtensorMapFloatOOBfill>(map.fill));
}

CUresult encode(CUtensorMap& encoded, const tma::TensorMap& map, std::uintptr_t base,
                L2Promotion promotion) {
  if (map.im2col.is_on) return encode_im2col(encoded, map, base, promotion);
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
    throw MapRefused(std::string("cuTensorMapEncode") + (map.im2col.is_on ? "Im2col" : "Tiled") +
                     " refuses the map, error " + std::to_string(static_cast<int>(result)));
  return encoded;
}

bool encode_accepts(const tma::TensorMap& map) {
  constexpr std::uintptr_t aligned = std::uintptr_t{4096} * 1024 * 1024;
  alignas(64) CUtensorMap encoded{};
  return encode(encoded, map, aligned, L2Promotion::None) == CUDA_SUCCESS;
}

}  // namespace tcq::cuda
