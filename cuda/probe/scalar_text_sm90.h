// The text of a kernel that carries out one form of sim/alu/forms.h on every row of a table.
//
// The table: sim/alu/forms.h. A thread has a row, a CTA scalar_threads of them, so that forms across lanes see a warp's
// 32 rows.
// Text only: nothing here needs CUDA. How a kernel is launched: cuda/probe/scalar_sm90.h.
#pragma once

#include <string>
#include <string_view>

#include "sim/alu/forms.h"

namespace tcq::cuda {

inline constexpr int scalar_threads = 128;

// The entry's name: that of the form without what a name cannot hold.
std::string scalar_kernel_name(std::string_view spelling);

// Requires: read_scalar_form() takes the spelling.
std::string scalar_kernel_text(std::string_view spelling);

// A module of kernels for all forms.
std::string scalar_module_text();

}  // namespace tcq::cuda
