// The kernels and launches behind cuda/probe/tma_sm90.h.
//
// What every kernel does before and after its one instruction: cuda/probe/cta.cuh.
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <string>

#include "cuda/probe/cta.cuh"
#include "cuda/probe/tma_sm90.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/tensor_map.h"

namespace tcq::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kRegisters = 4;

struct Arguments : CtaArguments {
  tma::Coordinates start;
  std::uint32_t tile;  // shared address
};

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
  const bool expects = in_mask(arguments.mask, rank);
  if (threadIdx.x == 0 && expects) ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
  cluster_sync();
  if (threadIdx.x == 0 && rank == arguments.issuer)
    ptx::tma_load_multicast<Rank>(arguments.tile, &map, arguments.start, barrier, arguments.mask);
  report(arguments, !expects || wait(barrier));
  __syncthreads();
  cluster_sync();  // a CTA outside the mask has no other way to know that all is done
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

// ---- Launching ----------------------------------------------------------------------------------

using TileLaunch = Launch<Arguments>;

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

void run_tile(TileLaunch& launch, TileKernel kernel, const tma::Tile& tile, const void* global) {
  launch.arguments.start = tile.start;
  launch.arguments.tile = tile.shared_address;
  launch.arguments.tx_bytes = tma::complete_tx_bytes(tile.map);
  CUtensorMap encoded = encode_tensor_map(tile.map, global);
  void* arguments[] = {&encoded, &launch.arguments};
  launch.run(reinterpret_cast<const void*>(kernel), arguments);
}

// A store or a reduction.
void run_outward(TileKernel kernel, const tma::Tile& tile, ConstBytes shared, Bytes global) {
  const DeviceBuffer<std::uint8_t> memory{ConstBytes(global)};
  TileLaunch launch(shared, 1);
  run_tile(launch, kernel, tile, memory.data());
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

bool probe_load(const tma::Tile& tile, Bytes shared, ConstBytes global) {
  const DeviceBuffer<std::uint8_t> memory{global};
  TileLaunch launch(shared, 1);
  run_tile(launch, of_rank<LoadKernel>(tile.map.rank), tile, memory.data());
  launch.download(shared);
  return launch.completed();
}

bool probe_multicast(const tma::Tile& tile, const tma::Multicast& how, ConstBytes shared,
                     ConstBytes global, std::vector<std::uint8_t>& images) {
  const DeviceBuffer<std::uint8_t> memory{global};
  TileLaunch launch(shared, how.cluster);
  launch.arguments.issuer = static_cast<std::uint32_t>(how.issuer);
  launch.arguments.mask = how.mask;
  run_tile(launch, of_rank<MulticastKernel>(tile.map.rank), tile, memory.data());
  images.resize(shared.size() * static_cast<std::size_t>(how.cluster));
  launch.download(images);
  return launch.completed();
}

void probe_store(const tma::Tile& tile, ConstBytes shared, Bytes global) {
  run_outward(of_rank<StoreKernel>(tile.map.rank), tile, shared, global);
}

void probe_reduce(tma::Reduction op, const tma::Tile& tile, ConstBytes shared, Bytes global) {
  run_outward(reduction_kernel(op, tile.map.rank), tile, shared, global);
}

void probe_matrix(const MatrixForm& form, std::span<const std::uint32_t> addresses, Bytes shared,
                  std::span<std::uint32_t> registers) {
  const DeviceBuffer<std::uint32_t> device_addresses{addresses};
  const DeviceBuffer<std::uint32_t> device_registers{std::span<const std::uint32_t>(registers)};
  TileLaunch launch(shared, 1);
  const std::uint32_t* address_pointer = device_addresses.data();
  std::uint32_t* register_pointer = device_registers.data();
  void* arguments[] = {&launch.arguments, &address_pointer, &register_pointer};
  launch.run(reinterpret_cast<const void*>(matrix_kernel_of(form)), arguments);
  (void)launch.completed();
  launch.download(shared);
  device_registers.download(registers);
}

}  // namespace tcq::cuda
