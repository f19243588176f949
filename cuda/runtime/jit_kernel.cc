#include "cuda/runtime/jit_kernel.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "cuda/runtime/launch.h"

namespace tcq::cuda {
namespace {

// Assembles now rather than at the first launch.
std::unique_ptr<JitKernel> load(const std::string& name, const std::string& ptx) {
  auto loaded = std::make_unique<JitKernel>();
  explain(name, loaded.get(), [&] {
    std::array<cudaJitOption, 2> options = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    loaded->option_values = {loaded->log.data(), reinterpret_cast<void*>(loaded->log.size() - 1)};
    CUDA_CHECK(cudaLibraryLoadData(&loaded->library, ptx.c_str(), options.data(),
                                   loaded->option_values.data(), options.size(), nullptr, nullptr,
                                   0));
    CUDA_CHECK(cudaLibraryGetKernel(&loaded->kernel, loaded->library, "tcq_probe"));
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, static_cast<const void*>(loaded->kernel)));
  });
  return loaded;
}

}  // namespace

// Never unloaded: the runtime may be gone when static objects are destroyed.
const JitKernel* jit_kernel(const std::string& name, const std::string& ptx) {
  static auto& mutex = *new std::mutex;
  static auto& kernels = *new std::unordered_map<std::string, std::unique_ptr<JitKernel>>;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = kernels.find(ptx); found != kernels.end()) return found->second.get();
  }
  auto loaded = load(name, ptx);
  const std::lock_guard lock(mutex);
  return kernels.try_emplace(ptx, std::move(loaded)).first->second.get();
}

void allow_shared_bytes(const JitKernel& kernel, std::uint32_t shared_bytes) {
  CUDA_CHECK(cudaKernelSetAttributeForDevice(kernel.kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(shared_bytes), current_device()));
}

}  // namespace tcq::cuda
