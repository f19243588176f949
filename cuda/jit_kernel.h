// Kernels whose PTX is written while the program runs: assembled by the driver, kept as long as the
// process; and the pieces of text that such kernels share.
//
// Decides nothing about instructions: probe_sm90.cc and probe_groups_sm90.cc write those. The entry
// of every text is `tcq_probe`, its parameters are named NAME_parameter; the pieces use the
// registers that their comments name. Host code; every failure is a std::runtime_error.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>

namespace tcq::cuda {

// A loaded library. The driver may assemble as late as the first use of the kernel, so the log and
// the option values live as long as the library.
struct JitKernel {
  std::array<char, 8192> log{};
  std::array<void*, 2> option_values{};
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;

  JitKernel() = default;
  JitKernel(const JitKernel&) = delete;
  JitKernel& operator=(const JitKernel&) = delete;
  ~JitKernel() {
    if (library != nullptr) (void)cudaLibraryUnload(library);
  }
};

// Runs `action`; whatever it throws gets `name` in front and the assembler's log behind.
template <class Action>
void explain(const std::string& name, const JitKernel* kernel, Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::string sentence = name + ": " + error.what();
    if (kernel != nullptr && kernel->log[0] != 0) {
      sentence += "; the driver's assembler says: ";
      sentence += kernel->log.data();
    }
    throw std::runtime_error(sentence);
  }
}

// Assembles the text, or takes its kernel from a cache that lives as long as the process. `name`
// begins the sentence of an error.
const JitKernel* jit_kernel(const std::string& name, const std::string& ptx);

// Lets one CTA of the kernel have `shared_bytes` of dynamic shared memory.
void allow_shared_bytes(const JitKernel& kernel, std::uint32_t shared_bytes);

// "{d0, d1, ..., d<count - 1>}"
std::string register_list(const std::string& name, int first, int count);

// at = parameter + index * bytes, an address in global memory. Registers: at, step.
std::string address_text(const std::string& parameter, const std::string& index,
                         const std::string& bytes);

// 128 threads copy `bytes` bytes from `at` to the dynamic shared memory `image`, whose address
// becomes `base`; fence and barrier follow. Registers: at, from, bytes, base, offset, to, thread,
// v0 to v3, predicate done.
std::string copy_image_text();

}  // namespace tcq::cuda
