// wgmma reads operands that were not published, or that are overwritten while it reads: P1, P4, W.
//
// A is all ones and B holds the round's value everywhere, so that every element of D is
// 16 * products * value, exactly. A long chain of products keeps the operand in use long enough for
// whatever overwrites it too early.
#include "cuda/litmus/device.cuh"
#include "cuda/ptx/bulk.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/descriptor.h"

namespace tcq::cuda::provoke {
namespace {

constexpr wgmma::Form form{Type::f32, Type::bf16, Type::bf16, 128};
constexpr int registers = wgmma::accumulator_registers(form.d, form.n);
constexpr int chain = 32;  // products, about 64 cycles each
constexpr std::uint32_t a_words = 512;
constexpr std::uint32_t b_words = 1024;

struct Operands {
  alignas(128) std::uint32_t a[a_words];
  alignas(128) std::uint32_t b[2][b_words];
};

// Compact core matrices, K-major, no swizzle: 128 bytes to the next 8 k, 256 to the next 8 rows.
__device__ std::uint64_t descriptor(const std::uint32_t* tile) {
  return wgmma::encode({ptx::shared_address(tile), 128, 256, 0, Swizzle::None});
}

using Sums = std::uint32_t[registers];

template <int Products>
__device__ void multiply(Sums& d, const std::uint32_t* a, const std::uint32_t* b, bool accumulate) {
  ptx::wgmma_fence();
#pragma unroll
  for (int i = 0; i < Products; ++i)
    ptx::mma<form>(d, descriptor(a), descriptor(b), accumulate || i != 0);
}

__device__ bool all_equal(const Sums& d, int products, std::uint32_t value) {
  const std::uint32_t want = __float_as_uint(static_cast<float>(16 * products) * value);
  bool good = true;
#pragma unroll
  for (int i = 0; i < registers; ++i) good = good && d[i] == want;
  return good;
}

// ---- P1, P4: are the operands published? --------------------------------------------------------

enum class Publish {
  Correct,
  NoFence,
  FenceOfOneThread,
  Copied,  // a second correct version: cp.async writes the operand
  CopiedNoFence,
};

HOST_DEVICE constexpr bool is_copied(Publish v) {
  return v == Publish::Copied || v == Publish::CopiedNoFence;
}

// As fill_slowly(), by cp.async of four bytes, which are waited for.
__device__ void copy_slowly(std::uint32_t* tile, const std::uint32_t* source,
                            std::uint32_t thread) {
  for (std::uint32_t base = 0; base < b_words; base += slow_block)
#pragma unroll
    for (std::uint32_t i = 0; i < slow_own; ++i) {
      const std::uint32_t at = base + slow_word(thread, i);
      ptx::cp_async_word(ptx::shared_address(tile + at), source + at);
    }
  ptx::cp_async_wait_all();
}

template <Publish V>
__global__ void __launch_bounds__(group_threads) publish_kernel(Arguments arguments) {
  __shared__ Operands s;
  __shared__ Verdict verdict;
  const std::uint32_t thread = threadIdx.x;
  Sums d = {};
  begin(verdict);
  fill(s.a, a_words, word_of(1), thread);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (thread == 0) verdict.rounds = r + 1;
    fill(s.b[0], b_words, word_of(poison), thread);
    ptx::fence_proxy_async_shared();
    __syncthreads();

    spin(jitter(r));
    if constexpr (is_copied(V))
      copy_slowly(s.b[0], arguments.source + value_of(r) * tile_words, thread);
    else
      fill_slowly(s.b[0], b_words, word_of(value_of(r)), thread);
    if constexpr (V == Publish::Correct || V == Publish::Copied) ptx::fence_proxy_async_shared();
    if constexpr (V == Publish::FenceOfOneThread)
      if (thread == 0) ptx::fence_proxy_async_shared();
    __syncthreads();
    multiply<1>(d, s.a, s.b[0], false);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    ptx::pin(d);
    note_wrong(verdict, r, all_equal(d, 1, value_of(r)));
    __syncthreads();
  }
  finish(verdict, arguments.counters);
}

// ---- W2, W3: the operand is rewritten after a wait that does not cover its reader ---------------

enum class Reuse { Correct, NoCommit, WaitOne };

template <Reuse V>
__global__ void __launch_bounds__(group_threads) reuse_kernel(Arguments arguments) {
  __shared__ Operands s;
  __shared__ Verdict verdict;
  const std::uint32_t thread = threadIdx.x;
  Sums d = {};
  begin(verdict);
  fill(s.a, a_words, word_of(1), thread);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (thread == 0) verdict.rounds = r + 1;
    for (auto& b : s.b) fill(b, b_words, word_of(value_of(r)), thread);
    ptx::fence_proxy_async_shared();
    __syncthreads();

    multiply<4>(d, s.a, s.b[0], false);
    ptx::wgmma_commit_group();
    multiply<chain>(d, s.a, s.b[1], true);
    if constexpr (V != Reuse::NoCommit) ptx::wgmma_commit_group();
    if constexpr (V == Reuse::WaitOne)
      ptx::wgmma_wait_group<1>();
    else
      ptx::wgmma_wait_group<0>();
    __syncthreads();
    fill(s.b[1], b_words, word_of(poison), thread);
    ptx::wgmma_fence();  // ptxas makes an empty group of a small wgmma
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    ptx::pin(d);
    note_wrong(verdict, r, all_equal(d, 4 + chain, value_of(r)));
    __syncthreads();
  }
  finish(verdict, arguments.counters);
}

// ---- W5: the stage is handed to the producer while wgmma reads it -------------------------------

enum class Release { Correct, BeforeWait };

struct Stage {
  std::uint64_t full;
  std::uint64_t empty;
};

__device__ void produce(const Arguments& arguments, Verdict& verdict, Stage& stage,
                        std::uint32_t* b) {
  constexpr std::uint32_t bytes = b_words * sizeof(std::uint32_t);
  const std::uint32_t full = ptx::shared_address(&stage.full);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (!wait(verdict, ptx::shared_address(&stage.empty), (r + 1) % 2)) return;
    if (!elected()) continue;
    ptx::mbarrier_arrive_expect_tx(full, bytes);
    ptx::bulk_load(ptx::shared_address(b), arguments.source + value_of(r) * tile_words, bytes,
                   full);
  }
}

template <Release V>
__device__ void consume(const Arguments& arguments, Verdict& verdict, Stage& stage,
                        const Operands& s) {
  const std::uint32_t empty = ptx::shared_address(&stage.empty);
  Sums d = {};
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    if (threadIdx.x == 0) verdict.rounds = r + 1;
    const bool ready = wait(verdict, ptx::shared_address(&stage.full), r % 2);
    if (!ptx::bar_red_and(1, group_threads, ready)) return;
    multiply<chain>(d, s.a, s.b[0], false);
    ptx::wgmma_commit_group();
    if constexpr (V == Release::BeforeWait)
      if (elected()) ptx::mbarrier_arrive(empty);
    ptx::wgmma_wait_group<0>();
    if constexpr (V == Release::Correct)
      if (elected()) ptx::mbarrier_arrive(empty);
    ptx::pin(d);
    note_wrong(verdict, r, all_equal(d, chain, value_of(r)));
  }
}

template <Release V>
__global__ void __launch_bounds__(group_threads + warp_size) release_kernel(Arguments arguments) {
  __shared__ Operands s;
  __shared__ Stage stage;
  __shared__ Verdict verdict;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(ptx::shared_address(&stage.full), 1);
    ptx::mbarrier_init(ptx::shared_address(&stage.empty), group_threads / warp_size);
    ptx::fence_mbarrier_init();
  }
  if (threadIdx.x < group_threads) fill(s.a, a_words, word_of(1), threadIdx.x);
  ptx::fence_proxy_async_shared();
  begin(verdict);
  if (threadIdx.x < group_threads)
    consume<V>(arguments, verdict, stage, s);
  else
    produce(arguments, verdict, stage, s.b[0]);
  finish(verdict, arguments.counters);
}

}  // namespace

std::vector<Program> wgmma_programs() {
  constexpr const char* stale = "wrong: sums of the bytes from before the stores";
  constexpr const char* late = "wrong: sums of bytes that were written later";
  return {
      {{"P1", "wgmma", "no fence.proxy.async between st.shared and wgmma", stale},
       publish_kernel<Publish::Correct>,
       publish_kernel<Publish::NoFence>,
       group_threads},
      {{"P4", "wgmma", "only thread 0 fences before the barrier", stale},
       publish_kernel<Publish::Correct>,
       publish_kernel<Publish::FenceOfOneThread>,
       group_threads},
      {{"P1", "cp.async, wgmma", "no fence.proxy.async between cp.async.wait_all and wgmma", stale},
       publish_kernel<Publish::Copied>,
       publish_kernel<Publish::CopiedNoFence>,
       group_threads},
      {{"W2", "no commit", "no commit_group before wait_group 0",
        "nothing: ptxas ends the group itself, both versions are the same machine code"},
       reuse_kernel<Reuse::Correct>,
       reuse_kernel<Reuse::NoCommit>,
       group_threads},
      {{"W3", "wait 1", "wait_group 1 before the second group's operand is rewritten", late},
       reuse_kernel<Reuse::Correct>,
       reuse_kernel<Reuse::WaitOne>,
       group_threads},
      {{"W5", "early release", "the arrival on empty stands before wait_group", late},
       release_kernel<Release::Correct>,
       release_kernel<Release::BeforeWait>,
       group_threads + warp_size},
  };
}

}  // namespace tcq::cuda::provoke
