// Carries out one statement of PTX on a few CTAs of a GPU: the text of a kernel and the memory it works on.
//
// Decides nothing about the text: oracle/recording/statement_rows.h and launch_case.h write it. The driver assembles it. Host code; failures
// are std::runtime_error, of a kernel that had begun KernelError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/isa/copy/tensor_map.h"

namespace tcq::cuda {

// Fills `memory` with what the kernel leaves in it. `map` becomes its second parameter, if there is one. The launch names
// clusters of `cluster` CTAs; 0: it names none.
void probe_statement(const std::string& name, const std::string& ptx, std::uint32_t ctas,
                     std::uint32_t threads, std::span<std::uint8_t> memory,
                     const std::optional<tma::TensorMap>& map = {}, std::uint32_t cluster = 0);

}  // namespace tcq::cuda
