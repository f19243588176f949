// What cuTensorMapEncodeTiled makes of one tensor map.
//
// The output is one byte, 1 if the driver accepts it. Which maps are drawn: map_suites.cc. The device's
// side is the driver: cuda/runtime/tensor_map.h.
#pragma once

#include <string>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::oracle {

struct MapEncoding {
  static constexpr int first_code = 6;
  static constexpr int kind_count = 1;

  tma::TensorMap map;

  friend constexpr bool operator==(const MapEncoding&, const MapEncoding&) = default;
};

void fields(Fields& io, MapEncoding& e);
Memories state(const MapEncoding& e, const Inputs& inputs);
Prediction predict(const MapEncoding& e, const Inputs& inputs, const Memories& before);
std::string describe(const MapEncoding& e, const Inputs& inputs);
std::string place(const MapEncoding& e, const Inputs& inputs, std::size_t at);
Properties properties(const MapEncoding& e, const Inputs& inputs);

}  // namespace tcq::oracle
