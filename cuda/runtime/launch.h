// What every program on a GPU needs from the CUDA runtime: checked calls, device memory, identity.
//
// Host code; compiles with g++ against the runtime's headers as well as with nvcc. Errors are
// std::runtime_error, one sentence each, for example: `cudaMalloc(&p, n) at cuda/runtime/launch.h:70:
// cudaErrorMemoryAllocation, out of memory`. Kernels are launched elsewhere (cuda/probe/wgmma_sm90.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace tcq::cuda {

// Throws unless `status` is success. An error of an earlier kernel surfaces at a later call.
inline void check(cudaError_t status, const char* expression, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // or the next check would report it once more
  throw std::runtime_error(std::string(expression) + " at " + file + ":" + std::to_string(line) +
                           ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}

// A kernel that had begun did not end well: what waiting for it returned.
class KernelError : public std::runtime_error {
 public:
  KernelError(cudaError_t status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

// Is this what an instruction of a kernel may cause? Everything else that waiting returns (memory
// errors of the chip, a server that went away) says nothing about the kernel. Afterwards the
// process can not use the device any more.
constexpr bool is_exception(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
  }
}

// Waits for the kernel that was just launched; throws KernelError.
// Requires: calls before the launch have returned what earlier kernels did.
inline void wait_for_kernel() {
  const cudaError_t status = cudaDeviceSynchronize();
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw KernelError(status, std::string("the kernel ended with ") + cudaGetErrorName(status) +
                                ", " + cudaGetErrorString(status));
}

#define CUDA_CHECK(expression) ::tcq::cuda::check((expression), #expression, __FILE__, __LINE__)

// `size` elements of device memory; a buffer of size 0 is legal and has no address.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size != 0) CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  explicit DeviceBuffer(std::span<const T> host) : DeviceBuffer(host.size()) { upload(host); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { (void)cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  // The bytes are there for every stream. Source: CUDA runtime API, "API synchronization behavior": of pageable memory
  // cudaMemcpy returns once it has copied what is still on its way to the device. Measured (H200, beside other processes):
  // a kernel of a non-blocking stream wrote before the last of it arrived.
  void upload(std::span<const T> host) {
    demand(host.size());
    if (size_ != 0) {
      CUDA_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
      CUDA_CHECK(cudaStreamSynchronize(nullptr));
    }
  }
  // Waits for kernels of the default stream.
  void download(std::span<T> host) const {
    demand(host.size());
    if (size_ != 0) {
      CUDA_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    }
  }

 private:
  void demand(std::size_t size) const {
    if (size != size_) {
      throw std::runtime_error("a copy of " + std::to_string(size) +
                               " elements does not fit a device buffer of " +
                               std::to_string(size_));
    }
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct DeviceIdentity {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int sm_count = 0;
  int driver_cuda = 0;   // newest CUDA that the driver supports, 13000 is 13.0
  int runtime_cuda = 0;  // CUDA of this program
  std::string driver;    // release of the driver, such as 580.65.06; empty if the system hides it
};

inline int device_attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

// Bytes in a microsecond: the bus transfers twice a clock.
inline double memory_bandwidth(int device) {
  const double kilohertz = device_attribute(cudaDevAttrMemoryClockRate, device);
  const double bytes = device_attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8.0;
  return 2 * bytes * kilohertz * 1e-3;
}

inline int current_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

// 0 without a driver or without a device; never throws, so that programs can say what they skip.
inline int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}

inline DeviceIdentity identity(int device) {
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  DeviceIdentity id;
  id.name = properties.name;
  id.major = properties.major;
  id.minor = properties.minor;
  id.sm_count = properties.multiProcessorCount;
  CUDA_CHECK(cudaDriverGetVersion(&id.driver_cuda));
  CUDA_CHECK(cudaRuntimeGetVersion(&id.runtime_cuda));
  std::ifstream release("/sys/module/nvidia/version");
  std::getline(release, id.driver);
  return id;
}

// Example: "NVIDIA H200, compute capability 9.0, 132 SMs, driver 580.65.06 (CUDA 13.0), runtime
// CUDA 13.0".
inline std::string describe(const DeviceIdentity& id) {
  const auto version = [](int cuda) {
    return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
  };
  return id.name + ", compute capability " + std::to_string(id.major) + "." +
         std::to_string(id.minor) + ", " + std::to_string(id.sm_count) + " SMs, driver " +
         (id.driver.empty() ? "unknown" : id.driver) + " (CUDA " + version(id.driver_cuda) +
         "), runtime CUDA " + version(id.runtime_cuda);
}

}  // namespace tcq::cuda
