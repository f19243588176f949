// Kernels whose PTX is written while the program runs: assembled by the driver, kept as long as the
// process. The pieces of text that they share: cuda/probe/kernel_text.h.
//
// Decides nothing about instructions: cuda/probe/wgmma_sm90.cc, cuda/probe/groups_sm90.cc and cuda/probe/tcgen05_text_sm100.cc
// write those. The entry of every text is `tcq_probe`. Host code; every failure is a
// std::runtime_error.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include "cuda/runtime/launch.h"

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

// Runs `action`; whatever it throws gets `name` in front and the assembler's log behind. A
// KernelError stays one.
template <class Action>
void explain(const std::string& name, const JitKernel* kernel, Action action) {
  const auto sentence = [&](const std::exception& error) {
    std::string text = name + ": " + error.what();
    if (kernel != nullptr && kernel->log[0] != 0) {
      text += "; the driver's assembler says: ";
      text += kernel->log.data();
    }
    return text;
  };
  try {
    action();
  } catch (const KernelError& error) {
    throw KernelError(error.status(), sentence(error));
  } catch (const std::exception& error) {
    throw std::runtime_error(sentence(error));
  }
}

// Assembles the text, or takes its kernel from a cache that lives as long as the process. `name`
// begins the sentence of an error.
const JitKernel* jit_kernel(const std::string& name, const std::string& ptx);

// Lets one CTA of the kernel have `shared_bytes` of dynamic shared memory.
void allow_shared_bytes(const JitKernel& kernel, std::uint32_t shared_bytes);

}  // namespace tcq::cuda
