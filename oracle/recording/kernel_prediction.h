// What the simulator makes of a whole kernel of PTX on memory, as `tcq run` would have it, one execution.
//
// Decides which findings are a trap of the device; any other finding is no prediction. Which kernels there are:
// statement_case.h, launch_case.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/recording/case.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/run/launch.h"

namespace tcq::oracle {

// The entry is tcq_probe, its first parameter the address of `bytes`, its second `map`, whose address is an offset into them.
// The output is `bytes` afterwards.
Prediction predict_kernel(const std::string& text, const std::string& name, run::Launch launch,
                          const std::vector<std::uint8_t>& bytes,
                          std::optional<tma::TensorMap> map = {});

}  // namespace tcq::oracle
