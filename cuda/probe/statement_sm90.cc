#include "cuda/probe/statement_sm90.h"

#include "cuda/runtime/jit_kernel.h"
#include "cuda/runtime/launch.h"

namespace tcq::cuda {

void probe_statement(const std::string& name, const std::string& ptx, std::uint32_t ctas,
                     std::uint32_t threads, std::span<std::uint8_t> memory) {
  const JitKernel* kernel = jit_kernel(name, ptx);
  const DeviceBuffer<std::uint8_t> bytes{std::span<const std::uint8_t>(memory)};
  void* pointer = bytes.data();
  void* arguments[] = {&pointer};
  explain(name, kernel, [&] {
    CUDA_CHECK(cudaLaunchKernel(static_cast<const void*>(kernel->kernel), dim3(ctas), dim3(threads),
                                arguments, 0, nullptr));
    wait_for_kernel();
  });
  bytes.download(memory);
}

}  // namespace tcq::cuda
