// Carries out one form of sim/alu/forms.h on a GPU, on every row of a table of sources.
//
// Decides nothing about the form: its kernel is scalar_text_sm90.h's, all of them assembled by ptxas when this was built
// and part of the program, so that the driver's assembler has no say. Host code; failures are std::runtime_error, of a
// kernel that had begun KernelError.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tcq::cuda {

// Fills `results` with what `rows` rows of `sources` give. Requires: a multiple of scalar_threads rows.
void probe_scalar(std::string_view spelling, std::uint32_t rows,
                  std::span<const std::uint64_t> sources, std::span<std::uint8_t> results);

}  // namespace tcq::cuda
