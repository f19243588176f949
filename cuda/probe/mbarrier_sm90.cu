// The kernel and the launch behind cuda/probe/mbarrier_sm90.h.
//
// One warp in each CTA, whose first thread acts. Between two operations lies a barrier of the
// cluster, so that what another CTA did is seen.
#include "cuda/probe/cta.cuh"
#include "cuda/probe/mbarrier_sm90.h"

namespace tcq::cuda {
namespace {

using mbarrier::Operation;

constexpr int kWarp = 32;

struct Arguments {
  const mbarrier::Step* steps;
  mbarrier::Answer* answers;
  std::uint32_t count;
  std::uint32_t misplaced_by;
};

__device__ std::uint32_t operate(std::uint32_t barrier, Operation operation, std::uint32_t number) {
  switch (operation) {
    case Operation::Init:
      ptx::mbarrier_init(barrier, number);
      ptx::fence_mbarrier_init();
      break;
    case Operation::Arrive:
      return ptx::mbarrier_pending_count(ptx::mbarrier_arrive_count(barrier, number));
    case Operation::ArriveDrop:
      return ptx::mbarrier_pending_count(ptx::mbarrier_arrive_drop(barrier, number));
    case Operation::ArriveExpectTx:
      return ptx::mbarrier_pending_count(ptx::mbarrier_arrive_expect_tx_state(barrier, number));
    case Operation::ExpectTx: ptx::mbarrier_expect_tx(barrier, number); break;
    case Operation::CompleteTx: ptx::mbarrier_complete_tx(barrier, number); break;
  }
  return mbarrier::no_pending_count;
}

// `barrier` is an address in another CTA, where nothing can be initialised.
__device__ void operate_remotely(std::uint32_t barrier, Operation operation, std::uint32_t number) {
  switch (operation) {
    case Operation::Init: break;
    case Operation::Arrive: ptx::mbarrier_arrive_count_cluster(barrier, number); break;
    case Operation::ArriveDrop: ptx::mbarrier_arrive_drop_cluster(barrier, number); break;
    case Operation::ArriveExpectTx: ptx::mbarrier_arrive_expect_tx_cluster(barrier, number); break;
    case Operation::ExpectTx: ptx::mbarrier_expect_tx_cluster(barrier, number); break;
    case Operation::CompleteTx: ptx::mbarrier_complete_tx_cluster(barrier, number); break;
  }
}

__global__ void __launch_bounds__(kWarp) sequence_kernel(Arguments arguments) {
  __shared__ std::uint64_t words[2];
  const std::uint32_t barrier = ptx::shared_address(words) + arguments.misplaced_by;
  const std::uint32_t rank = ptx::cluster_rank();
  if (threadIdx.x == 0) words[0] = words[1] = 0;
  __syncwarp();
  cluster_sync();
#pragma unroll 1
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    const mbarrier::Step step = arguments.steps[i];
    std::uint32_t pending_count = mbarrier::no_pending_count;
    if (threadIdx.x == 0 && rank == step.issuer) {
      if (rank == 0)
        pending_count = operate(barrier, step.operation, step.number);
      else
        operate_remotely(ptx::map_shared(barrier, 0), step.operation, step.number);
    }
    __syncwarp();
    cluster_sync();
    if (threadIdx.x == 0 && rank == 0) {
      const std::uint32_t passes = (ptx::mbarrier_test_wait(barrier, 0) ? 1 : 0) +
                                   (ptx::mbarrier_test_wait(barrier, 1) ? 2 : 0);
      arguments.answers[i] = {passes, pending_count};
    }
    __syncwarp();
    cluster_sync();
  }
}

}  // namespace

std::vector<mbarrier::Answer> probe_mbarrier(std::span<const mbarrier::Step> steps, int cluster,
                                             std::uint32_t misplaced_by) {
  std::vector<mbarrier::Answer> answers(steps.size());
  const DeviceBuffer<mbarrier::Step> device_steps{steps};
  const DeviceBuffer<mbarrier::Answer> device_answers{std::span<const mbarrier::Answer>(answers)};
  Arguments arguments{device_steps.data(), device_answers.data(),
                      static_cast<std::uint32_t>(steps.size()), misplaced_by};
  void* pointers[] = {&arguments};
  launch_cluster(reinterpret_cast<const void*>(sequence_kernel), cluster, kWarp, 0, pointers);
  device_answers.download(answers);
  return answers;
}

}  // namespace tcq::cuda
