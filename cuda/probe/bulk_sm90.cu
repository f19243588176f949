// The kernels and launches behind cuda/probe/bulk_sm90.h. What every kernel does before and after its
// one instruction: cuda/probe/cta.cuh.
#include <array>
#include <utility>

#include "cuda/probe/bulk_sm90.h"
#include "cuda/probe/cta.cuh"
#include "cuda/ptx/bulk.cuh"

namespace tcq::cuda {
namespace {

struct RangeArguments : CtaArguments {
  std::uint8_t* global;  // first byte of the range
  std::uint32_t shared;
  std::uint32_t bytes;
};

struct SendArguments : CtaArguments {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint32_t destination_rank;
  std::uint32_t bytes;
};

__global__ void __launch_bounds__(kThreads) load_kernel(RangeArguments arguments) {
  const std::uint32_t barrier = init_barrier(arguments);
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
    ptx::bulk_load(arguments.shared, arguments.global, arguments.bytes, barrier);
  }
  report(arguments, wait(barrier));
  copy_out(arguments);
}

__global__ void __launch_bounds__(kThreads) multicast_kernel(RangeArguments arguments) {
  const std::uint32_t barrier = init_barrier(arguments);
  copy_in(arguments);
  const std::uint32_t rank = ptx::cluster_rank();
  const bool expects = in_mask(arguments.mask, rank);
  if (threadIdx.x == 0 && expects) ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
  cluster_sync();
  if (threadIdx.x == 0 && rank == arguments.issuer)
    ptx::bulk_load_multicast(own_address(arguments.shared), arguments.global, arguments.bytes,
                             barrier, arguments.mask);
  report(arguments, !expects || wait(barrier));
  __syncthreads();
  cluster_sync();  // a CTA outside the mask has no other way to know that all is done
  copy_out(arguments);
}

__global__ void __launch_bounds__(kThreads) store_kernel(RangeArguments arguments) {
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::bulk_store(arguments.global, arguments.shared, arguments.bytes);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
  report(arguments, true);
}

template <tma::Reduction Op, tma::DataType Type>
__global__ void __launch_bounds__(kThreads) reduce_kernel(RangeArguments arguments) {
  copy_in(arguments);
  if (threadIdx.x == 0) {
    ptx::bulk_reduce<Op, Type>(arguments.global, arguments.shared, arguments.bytes);
    ptx::bulk_commit_group();
    ptx::bulk_wait_group<0>();
  }
  report(arguments, true);
}

// Issue(destination, source, bytes, mbarrier) in one thread of the issuer; addresses of the
// destination CTA.
template <class Issue>
__device__ void send_in_cluster(const SendArguments& arguments, Issue issue) {
  const std::uint32_t barrier = init_barrier(arguments);
  copy_in(arguments);
  const std::uint32_t rank = ptx::cluster_rank();
  const bool expects = rank == arguments.destination_rank;
  if (threadIdx.x == 0 && expects) ptx::mbarrier_arrive_expect_tx(barrier, arguments.tx_bytes);
  cluster_sync();
  if (threadIdx.x == 0 && rank == arguments.issuer)
    issue(ptx::map_shared(own_address(arguments.destination), arguments.destination_rank),
          own_address(arguments.source), arguments.bytes,
          ptx::map_shared(barrier, arguments.destination_rank));
  report(arguments, !expects || wait(barrier));
  __syncthreads();
  cluster_sync();
  copy_out(arguments);
}

__global__ void __launch_bounds__(kThreads) send_kernel(SendArguments arguments) {
  send_in_cluster(arguments,
                  [](std::uint32_t to, std::uint32_t from, std::uint32_t bytes,
                     std::uint32_t barrier) { ptx::bulk_send(to, from, bytes, barrier); });
}

template <tma::Reduction Op, tma::DataType Type>
__global__ void __launch_bounds__(kThreads) send_reduce_kernel(SendArguments arguments) {
  send_in_cluster(arguments, [](std::uint32_t to, std::uint32_t from, std::uint32_t bytes,
                                std::uint32_t barrier) {
    ptx::bulk_send_reduce<Op, Type>(to, from, bytes, barrier);
  });
}

// ---- Every reduction that exists ----------------------------------------------------------------

using RangeKernel = void (*)(RangeArguments);
using SendKernel = void (*)(SendArguments);

constexpr std::size_t kPairs =
    static_cast<std::size_t>(tma::reduction_count) * tma::data_type_count;

constexpr std::size_t pair_index(tma::Reduction op, tma::DataType type) {
  return static_cast<std::size_t>(op) * tma::data_type_count + static_cast<std::size_t>(type);
}

template <std::size_t Pair>
constexpr RangeKernel reduce_kernel_of() {
  constexpr auto op = static_cast<tma::Reduction>(Pair / tma::data_type_count);
  constexpr auto type = static_cast<tma::DataType>(Pair % tma::data_type_count);
  if constexpr (bulk::check_global(op, type) == Fault::None)
    return reduce_kernel<op, type>;
  else
    return nullptr;
}

template <std::size_t Pair>
constexpr SendKernel send_reduce_kernel_of() {
  constexpr auto op = static_cast<tma::Reduction>(Pair / tma::data_type_count);
  constexpr auto type = static_cast<tma::DataType>(Pair % tma::data_type_count);
  if constexpr (bulk::check_shared(op, type) == Fault::None)
    return send_reduce_kernel<op, type>;
  else
    return nullptr;
}

template <std::size_t... Pair>
std::array<RangeKernel, kPairs> reduce_kernels(std::index_sequence<Pair...>) {
  return {reduce_kernel_of<Pair>()...};
}

template <std::size_t... Pair>
std::array<SendKernel, kPairs> send_reduce_kernels(std::index_sequence<Pair...>) {
  return {send_reduce_kernel_of<Pair>()...};
}

// ---- Launching ----------------------------------------------------------------------------------

using RangeLaunch = Launch<RangeArguments>;
using SendLaunch = Launch<SendArguments>;

// `memory` is the copy of the global image on the device.
void run_range(RangeLaunch& launch, RangeKernel kernel, const bulk::Range& range,
               const DeviceBuffer<std::uint8_t>& memory) {
  if (kernel == nullptr) throw std::runtime_error("no such reduction");
  launch.arguments.global = memory.data() + range.global;
  launch.arguments.shared = range.shared;
  launch.arguments.bytes = range.bytes;
  launch.arguments.tx_bytes = bulk::complete_tx_bytes(range.bytes);
  void* arguments[] = {&launch.arguments};
  launch.run(reinterpret_cast<const void*>(kernel), arguments);
}

void run_outward(RangeKernel kernel, const bulk::Range& range, ConstBytes shared, Bytes global) {
  const DeviceBuffer<std::uint8_t> memory{ConstBytes(global)};
  RangeLaunch launch(shared, 1);
  run_range(launch, kernel, range, memory);
  (void)launch.completed();
  memory.download(global);
}

bool run_send(SendKernel kernel, const bulk::Send& send, int cluster, ConstBytes shared,
              std::vector<std::uint8_t>& images) {
  if (kernel == nullptr) throw std::runtime_error("no such reduction");
  SendLaunch launch(shared, cluster);
  launch.arguments.issuer = send.source_rank;
  launch.arguments.source = send.source;
  launch.arguments.destination = send.destination;
  launch.arguments.destination_rank = send.destination_rank;
  launch.arguments.bytes = send.bytes;
  launch.arguments.tx_bytes = bulk::complete_tx_bytes(send.bytes);
  void* arguments[] = {&launch.arguments};
  launch.run(reinterpret_cast<const void*>(kernel), arguments);
  images.resize(shared.size() * static_cast<std::size_t>(cluster));
  launch.download(images);
  return launch.completed();
}

}  // namespace

bool probe_bulk_load(const bulk::Range& range, Bytes shared, ConstBytes global) {
  const DeviceBuffer<std::uint8_t> memory{global};
  RangeLaunch launch(shared, 1);
  run_range(launch, load_kernel, range, memory);
  launch.download(shared);
  return launch.completed();
}

bool probe_bulk_multicast(const bulk::Range& range, const tma::Multicast& how, ConstBytes shared,
                          ConstBytes global, std::vector<std::uint8_t>& images) {
  const DeviceBuffer<std::uint8_t> memory{global};
  RangeLaunch launch(shared, how.cluster);
  launch.arguments.issuer = static_cast<std::uint32_t>(how.issuer);
  launch.arguments.mask = how.mask;
  run_range(launch, multicast_kernel, range, memory);
  images.resize(shared.size() * static_cast<std::size_t>(how.cluster));
  launch.download(images);
  return launch.completed();
}

void probe_bulk_store(const bulk::Range& range, ConstBytes shared, Bytes global) {
  run_outward(store_kernel, range, shared, global);
}

void probe_bulk_reduce(tma::Reduction op, tma::DataType type, const bulk::Range& range,
                       ConstBytes shared, Bytes global) {
  static const auto kernels = reduce_kernels(std::make_index_sequence<kPairs>());
  run_outward(kernels.at(pair_index(op, type)), range, shared, global);
}

bool probe_bulk_send(const bulk::Send& send, int cluster, ConstBytes shared,
                     std::vector<std::uint8_t>& images) {
  return run_send(send_kernel, send, cluster, shared, images);
}

bool probe_bulk_send_reduce(tma::Reduction op, tma::DataType type, const bulk::Send& send,
                            int cluster, ConstBytes shared, std::vector<std::uint8_t>& images) {
  static const auto kernels = send_reduce_kernels(std::make_index_sequence<kPairs>());
  return run_send(kernels.at(pair_index(op, type)), send, cluster, shared, images);
}

}  // namespace tcq::cuda
