// Tensor maps as the driver encodes them, from the parameters that sim/isa/copy/tensor_map.h describes.
//
// The driver's encoder is found at run time, so that nothing links the driver. Example:
//
//   const CUtensorMap encoded = encode_tensor_map(map, device_pointer);
//
// map.address counts from `base`. Which maps the driver accepts: tma::check().
//
// Source: CUDA driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col.
#pragma once

#include <cuda.h>

#include <stdexcept>

#include "sim/isa/copy/tensor_map.h"

namespace tcq::cuda {

// The driver refuses to encode a tensor map; the device is as good as before.
class MapRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How much of global memory a miss in L2 brings in.
enum class L2Promotion { None, Bytes128, Bytes256 };

// What the first encoding does besides: makes a context and finds the encoder. Not allowed while a
// stream is captured; encoding itself is. Throws std::runtime_error.
void prepare_tensor_maps();

// Throws MapRefused, and std::runtime_error without a driver.
CUtensorMap encode_tensor_map(const tma::TensorMap& map, const void* base,
                              L2Promotion promotion = L2Promotion::None);

// Does the encoder accept the map? Its address is taken relative to an aligned one.
bool encode_accepts(const tma::TensorMap& map);

}  // namespace tcq::cuda
