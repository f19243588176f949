// The kernels and launches behind probe_tma_sm90.h.
//
// Order in every kernel: image into shared memory, proxy fence, barrier, the one instruction, its
// completion, image or registers back. The mbarrier lies behind the image. Waiting is bounded, so
// that a wrong count of bytes ends as a report and not as a hang.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <string>

#include "cuda/launch.h"
#include "cuda/probe_tma_sm90.h"
#include "cuda/ptx.cuh"
#include "cuda/ptx_async.cuh"

namespace tcq::cuda {
namespace {

constexpr int kThreads = 128;
constexpr std::uint32_t kWindowBytes = 1024 * 1024 * 16;  // shared window of one CTA in a cluster
constexpr int kWarp = 32;
constexpr int kRegisters = 4;
constexpr std::uint32_t kBarrierBytes = 16;
constexpr long long kPatience = 200'000'000;  // clock cycles, about a tenth of a second

// What a CTA says about itself.
struct Report {
  std::uint32_t shared_base = 0;
  std::uint32_t completed = 0;
  std::uint64_t barrier = 0;
};

struct Arguments {
  tma::Coordinates start;
  std::uint32_t tile;         // shared address
  std::uint32_t image_bytes;  // without the mbarrier
  std::uint32_t tx_bytes;
  std::uint32_t issuer;
  std::uint16_t mask;
  const std::uint8_t* image;
  std::uint8_t* result;  // one image for each CTA
  Report* reports;
};

extern __shared__ __align__(1024) std::uint8_t shared_image[];

__device__ void copy_in(const Arguments& arguments) {
  const auto* from = reinterpret_cast<const uint4*>(arguments.image);
  auto* to = reinterpret_cast<uint4*>(shared_image);
  for (std::uint32_t i = threadIdx.x; i < arguments.image_bytes / sizeof(uint4); i += kThreads)
    to[i] = from[i];
  ptx::fence_proxy_async_shared();
  __syncthreads();
}

__device__ void copy_out(const Arguments& arguments) {
  __syncthreads();
  const auto* from = reinterpret_cast<const uint4*>(shared_image);
  auto* to = reinterpret_cast<uint4*>(arguments.result + blockIdx.x * arguments.image_bytes);
  for (std::uint32_t i = threadIdx.x; i < arguments.image_bytes / sizeof(uint4); i += kThreads)
    to[i] = from[i];
}

__device__ bool wait(std::uint32_t barrier) {
  const long long start = clock64();
  while (!ptx::mbarrier_try_wait(barrier, 0)) {
    if (clock64() - start > kPatience) return false;
  }
  return true;
}

__device__ void report(const Arguments& arguments, bool completed) {
  if (threadIdx.x != 0) return;
  const auto* barrier =
      reinterpret_cast<const std::uint64_t*>(shared_image + arguments.image_bytes);
  arguments.reports[blockIdx.x] = {ptx::shared_address(shared_image), completed ? 1u : 0u,
                                   *barrier};
}

__device__ std::uint32_t init_barrier(const Arguments& arguments) {
  const std::uint32_t barrier = ptx::shared_address(shared_image) + arguments.image_bytes;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
  }
  return barrier;
}

template <int Rank>
__global__ void __launch_bounds__(kThreads)
    load_kernel(const __grid_constant__ CUtensorMap map, Arguments arguments) {
  const std::uint32_t barrier = init_barrier(arguments);
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
    ptx::tma_load<Rank>(arguments.tile, &map, arguments.start, barrier);
  }
  report(arguments, wait(barrier));
  copy_out(arguments);
}

template <int Rank>
__global__ void __launch_bounds__(kThreads)
    multicast_kernel(const __grid_constant__ CUtensorMap map, Arguments arguments) {
  const std::uint32_t barrier = init_barrier(arguments);
  copy_in(arguments);
  const std::uint32_t rank = ptx::cluster_rank();
  bool expects = false;
  for (std::uint32_t r = 0, left = arguments.mask; left != 0; ++r, left /= 2)
    expects = expects || (r == rank && left % 2 != 0);
  if (threadIdx.x == 0 && expects) ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
  ptx::cluster_arrive();
  ptx::cluster_wait();
  if (threadIdx.x == 0 && rank == arguments.issuer)
    ptx::tma_load_multicast<Rank>(arguments.tile, &map, arguments.start, barrier, arguments.mask);
  report(arguments, !expects || wait(barrier));
  __syncthreads();
  ptx::cluster_arrive();  // a CTA outside the mask has no other way to know that all is done
  ptx::cluster_wait();
  copy_out(arguments);
}

template <int Rank>
__global__ void __launch_bounds__(kThreads)
    store_kernel(const __grid_constant__ CUtensorMap map, Arguments arguments) {
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::tma_store<Rank>(&map, arguments.start, arguments.tile);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
  report(arguments, true);
}

template <int Rank, tma::Reduction Op>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(const __grid_constant__ CUtensorMap map, Arguments arguments) {
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::tma_reduce<Rank, Op>(&map, arguments.start, arguments.tile);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
  report(arguments, true);
}

template <bool Store, int Count, ptx::Trans T>
__global__ void __launch_bounds__(kThreads)
    matrix_kernel(Arguments arguments, const std::uint32_t* addresses, std::uint32_t* registers) {
  copy_in(arguments);
  if (threadIdx.x < kWarp) {
    std::uint32_t* const own = registers + threadIdx.x * kRegisters;
    std::uint32_t words[Count];
    for (int i = 0; i < Count; ++i) words[i] = own[i];
    if constexpr (Store)
      ptx::stmatrix<T>(addresses[threadIdx.x], words);
    else
      ptx::ldmatrix<T>(words, addresses[threadIdx.x]);
    for (int i = 0; i < Count; ++i) own[i] = words[i];
  }
  report(arguments, true);
  copy_out(arguments);
}

// ---- The driver's encoder -----------------------------------------------------------------------

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

EncodeTiled encoder() {
  static const EncodeTiled function = [] {
    void* pointer = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaFree(nullptr));  // the driver needs a context
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &pointer, 12000,
                                                cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess || pointer == nullptr)
      throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<EncodeTiled>(pointer);
  }();
  return function;
}

CUresult encode(CUtensorMap& encoded, const tma::TensorMap& map, std::uintptr_t base) {
  return encoder()(&encoded, static_cast<CUtensorMapDataType>(map.type),
                   static_cast<cuuint32_t>(map.rank), reinterpret_cast<void*>(base + map.address),
                   reinterpret_cast<const cuuint64_t*>(map.dims),
                   reinterpret_cast<const cuuint64_t*>(map.stride_bytes), map.box,
                   map.element_strides, static_cast<CUtensorMapInterleave>(map.interleave),
                   static_cast<CUtensorMapSwizzle>(map.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   static_cast<CUtensorMapFloatOOBfill>(map.fill));
}

CUtensorMap encoded_map(const tma::TensorMap& map, const void* base) {
  alignas(64) CUtensorMap encoded{};
  if (const CUresult result = encode(encoded, map, reinterpret_cast<std::uintptr_t>(base));
      result != CUDA_SUCCESS)
    throw MapRefused("cuTensorMapEncodeTiled refuses the map, error " +
                     std::to_string(static_cast<int>(result)));
  return encoded;
}

// ---- Launching ----------------------------------------------------------------------------------

// The memory of one launch. Images go in and come back through it.
class Launch {
 public:
  Launch(ConstBytes shared, int ctas)
      : ctas_(ctas),
        image_(shared),
        result_(shared.size() * static_cast<std::size_t>(ctas)),
        reports_(static_cast<std::size_t>(ctas)) {
    if (shared.size() % sizeof(uint4) != 0)
      throw std::runtime_error("the size of a shared image is no multiple of 16");
    arguments.image_bytes = static_cast<std::uint32_t>(shared.size());
    arguments.image = image_.data();
    arguments.result = result_.data();
    arguments.reports = reports_.data();
  }

  // `kernel_arguments` are pointers to the kernel's parameters; waits for the end.
  void run(const void* kernel, void** kernel_arguments) {
    const std::size_t bytes = arguments.image_bytes + kBarrierBytes;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(ctas_);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ctas_));
    config.blockDim = dim3(kThreads);
    config.dynamicSmemBytes = bytes;
    config.attrs = &cluster;
    config.numAttrs = ctas_ > 1 ? 1 : 0;
    CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, kernel_arguments));
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  // True if every CTA completed.
  bool completed() const {
    std::vector<Report> reports(static_cast<std::size_t>(ctas_));
    reports_.download(reports);
    bool all = true;
    for (const Report& r : reports) {
      // In a cluster the bits above a CTA's window hold its rank.
      if (r.shared_base % kWindowBytes != tile_shared_base)
        throw std::runtime_error("dynamic shared memory starts at address " +
                                 std::to_string(r.shared_base));
      all = all && r.completed != 0;
    }
    return all;
  }

  void download(Bytes images) const { result_.download(images); }

  Arguments arguments{};

 private:
  int ctas_;
  DeviceBuffer<std::uint8_t> image_;
  DeviceBuffer<std::uint8_t> result_;
  DeviceBuffer<Report> reports_;
};

using TileKernel = void (*)(CUtensorMap, Arguments);

template <template <int> class Kernel>
TileKernel of_rank(int rank) {
  constexpr std::array kernels = {Kernel<1>::get, Kernel<2>::get, Kernel<3>::get, Kernel<4>::get,
                                  Kernel<5>::get};
  return kernels.at(static_cast<std::size_t>(rank - 1))();
}

template <int Rank>
struct LoadKernel {
  static TileKernel get() { return load_kernel<Rank>; }
};
template <int Rank>
struct MulticastKernel {
  static TileKernel get() { return multicast_kernel<Rank>; }
};
template <int Rank>
struct StoreKernel {
  static TileKernel get() { return store_kernel<Rank>; }
};

template <tma::Reduction Op>
struct Reducing {
  template <int Rank>
  struct Kernel {
    static TileKernel get() { return reduce_kernel<Rank, Op>; }
  };
};

TileKernel reduction_kernel(tma::Reduction op, int rank) {
  using enum tma::Reduction;
  switch (op) {
    case Add: return of_rank<Reducing<Add>::Kernel>(rank);
    case Min: return of_rank<Reducing<Min>::Kernel>(rank);
    case Max: return of_rank<Reducing<Max>::Kernel>(rank);
    case Inc: return of_rank<Reducing<Inc>::Kernel>(rank);
    case Dec: return of_rank<Reducing<Dec>::Kernel>(rank);
    case And: return of_rank<Reducing<And>::Kernel>(rank);
    case Or: return of_rank<Reducing<Or>::Kernel>(rank);
    case Xor: return of_rank<Reducing<Xor>::Kernel>(rank);
  }
  throw std::runtime_error("no such reduction");
}

void run_tile(Launch& launch, TileKernel kernel, const tma::TensorMap& map,
              const tma::Coordinates& start, std::uint32_t tile, const void* global) {
  launch.arguments.start = start;
  launch.arguments.tile = tile;
  launch.arguments.tx_bytes = tma::complete_tx_bytes(map);
  CUtensorMap encoded = encoded_map(map, global);
  void* arguments[] = {&encoded, &launch.arguments};
  launch.run(reinterpret_cast<const void*>(kernel), arguments);
}

// A store or a reduction.
void run_outward(TileKernel kernel, const tma::TensorMap& map, const tma::Coordinates& start,
                 std::uint32_t tile, ConstBytes shared, Bytes global) {
  const DeviceBuffer<std::uint8_t> memory{ConstBytes(global)};
  Launch launch(shared, 1);
  run_tile(launch, kernel, map, start, tile, memory.data());
  (void)launch.completed();
  memory.download(global);
}

using MatrixKernel = void (*)(Arguments, const std::uint32_t*, std::uint32_t*);

template <bool Store, ptx::Trans T>
MatrixKernel matrix_kernel_of(int count) {
  switch (count) {
    case 1: return matrix_kernel<Store, 1, T>;
    case 2: return matrix_kernel<Store, 2, T>;
    case 4: return matrix_kernel<Store, 4, T>;
    default: throw std::runtime_error("ldmatrix and stmatrix move 1, 2 or 4 matrices");
  }
}

MatrixKernel matrix_kernel_of(const MatrixForm& form) {
  using enum ptx::Trans;
  if (form.store)
    return form.transposed ? matrix_kernel_of<true, Yes>(form.count)
                           : matrix_kernel_of<true, No>(form.count);
  return form.transposed ? matrix_kernel_of<false, Yes>(form.count)
                         : matrix_kernel_of<false, No>(form.count);
}

}  // namespace

bool encode_accepts(const tma::TensorMap& map) {
  alignas(64) CUtensorMap encoded{};
  constexpr std::uintptr_t aligned = std::uintptr_t{4096} * 1024 * 1024;
  return encode(encoded, map, aligned) == CUDA_SUCCESS;
}

bool probe_load(const tma::TensorMap& map, const tma::Coordinates& start, std::uint32_t tile,
                Bytes shared, ConstBytes global) {
  const DeviceBuffer<std::uint8_t> memory{global};
  Launch launch(shared, 1);
  run_tile(launch, of_rank<LoadKernel>(map.rank), map, start, tile, memory.data());
  launch.download(shared);
  return launch.completed();
}

bool probe_multicast(const tma::TensorMap& map, const tma::Coordinates& start, std::uint32_t tile,
                     const Multicast& how, ConstBytes shared, ConstBytes global,
                     std::vector<std::uint8_t>& images) {
  const DeviceBuffer<std::uint8_t> memory{global};
  Launch launch(shared, how.cluster);
  launch.arguments.issuer = static_cast<std::uint32_t>(how.issuer);
  launch.arguments.mask = how.mask;
  run_tile(launch, of_rank<MulticastKernel>(map.rank), map, start, tile, memory.data());
  images.resize(shared.size() * static_cast<std::size_t>(how.cluster));
  launch.download(images);
  return launch.completed();
}

void probe_store(const tma::TensorMap& map, const tma::Coordinates& start, std::uint32_t tile,
                 ConstBytes shared, Bytes global) {
  run_outward(of_rank<StoreKernel>(map.rank), map, start, tile, shared, global);
}

void probe_reduce(tma::Reduction op, const tma::TensorMap& map, const tma::Coordinates& start,
                  std::uint32_t tile, ConstBytes shared, Bytes global) {
  run_outward(reduction_kernel(op, map.rank), map, start, tile, shared, global);
}

void probe_matrix(const MatrixForm& form, std::span<const std::uint32_t> addresses, Bytes shared,
                  std::span<std::uint32_t> registers) {
  const DeviceBuffer<std::uint32_t> device_addresses{addresses};
  const DeviceBuffer<std::uint32_t> device_registers{std::span<const std::uint32_t>(registers)};
  Launch launch(shared, 1);
  const std::uint32_t* address_pointer = device_addresses.data();
  std::uint32_t* register_pointer = device_registers.data();
  void* arguments[] = {&launch.arguments, &address_pointer, &register_pointer};
  launch.run(reinterpret_cast<const void*>(matrix_kernel_of(form)), arguments);
  (void)launch.completed();
  launch.download(shared);
  device_registers.download(registers);
}

}  // namespace tcq::cuda
