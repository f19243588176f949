// Waits that no clock can bound: named barriers (B10) and the pool of registers (R1).
//
// A mutant here may never return: the process that runs it must be killed.
#include "cuda/litmus/device.cuh"

namespace tcq::cuda::provoke {
namespace {

// ---- B10: two warpgroups, each with a named barrier of its own ----------------------------------

enum class Named { Correct, OneForBoth, WrongCount };

// One round: every thread writes its word, the barrier, every thread reads all words of its role.
template <Named V>
__global__ void __launch_bounds__(2 * group_threads) named_kernel(Arguments arguments) {
  __shared__ std::uint32_t words[2][group_threads];
  __shared__ Verdict verdict;
  const std::uint32_t role = threadIdx.x / group_threads;
  const std::uint32_t thread = threadIdx.x % group_threads;
  const std::uint32_t barrier = V == Named::OneForBoth ? 1 : 1 + role;
  const std::uint32_t threads =
      V == Named::WrongCount && role == 0 ? group_threads + warp_size : group_threads;
  volatile std::uint32_t* own = words[role];
  begin(verdict);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (threadIdx.x == 0) verdict.rounds = r + 1;
    spin(jitter(r + threadIdx.x / warp_size));
    own[thread] = word_of(value_of(r));
    ptx::bar_sync(barrier, threads);
    bool good = true;
    for (std::uint32_t w = 0; w < group_threads; w += warp_size)
      good = good && own[(thread + w) % group_threads] == word_of(value_of(r));
    note_wrong(verdict, r, good);
    ptx::bar_sync(barrier, threads);
  }
  finish(verdict, arguments.counters);
}

// ---- R1: four warpgroups share 512 registers a thread -------------------------------------------

// Two warpgroups shrink to 24 and stay until the two others have grown to `Grown`. Each branch ends
// by itself, so that no code has to fit both counts.
template <int Grown>
__global__ void __launch_bounds__(4 * group_threads, 1) register_kernel(Arguments arguments) {
  __shared__ std::uint32_t grown_warps;
  __shared__ Verdict verdict;
  if (threadIdx.x == 0) grown_warps = 0;
  begin(verdict);
  if (threadIdx.x == 0) verdict.rounds = 1;
  if (threadIdx.x < 2 * group_threads) {
    ptx::setmaxnreg_dec<24>();
    const volatile std::uint32_t* count = &grown_warps;
    wait_until(verdict, [=] { return *count == 2 * group_threads / warp_size; });
    finish(verdict, arguments.counters);
  } else {
    ptx::setmaxnreg_inc<Grown>();
    if (elected()) atomicAdd(&grown_warps, 1);
    finish(verdict, arguments.counters);
  }
}

}  // namespace

std::vector<Program> hanging_programs() {
  return {
      {{"B10", "one barrier for two roles", "both roles use barrier 1",
        "wrong: a role passes with warps of the other"},
       named_kernel<Named::Correct>,
       named_kernel<Named::OneForBoth>,
       2 * group_threads},
      {{"B10", "wrong count", "one role waits for 160 threads and has 128", "hang"},
       named_kernel<Named::Correct>,
       named_kernel<Named::WrongCount>,
       2 * group_threads},
      {{"R1", "pool exceeded", "inc to 240 instead of 232: 2 x 24 + 2 x 240 > 512",
        "hang, or timeout if exiting warps give their registers back"},
       register_kernel<232>,
       register_kernel<240>,
       4 * group_threads,
       1,
       true,
       2'000},
  };
}

}  // namespace tcq::cuda::provoke
