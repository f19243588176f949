// Pieces of PTX that kernels written while the program runs share; see jit_kernel.h.
//
// Text only: nothing here needs the CUDA runtime. Parameters of every such kernel are named
// NAME_parameter; the pieces use the registers that their comments name.
#pragma once

#include <string>

namespace tcq::cuda {

// "{d0, d1, ..., d<count - 1>}"
std::string register_list(const std::string& name, int first, int count);

// at = parameter + index * bytes, an address in global memory. Registers: at, step.
std::string address_text(const std::string& parameter, const std::string& index,
                         const std::string& bytes);

// 128 threads copy `bytes` bytes from `at` to the dynamic shared memory `image`, whose address
// becomes `base`; their fence follows, a barrier is the caller's. Registers: at, from, bytes, base, offset, to, thread,
// v0 to v3, predicate done.
std::string copy_image_text();

}  // namespace tcq::cuda
