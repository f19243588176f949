// A tile goes from registers through shared memory to global memory by a bulk store: P2, P4, B6.
//
// One round: the tile is poison; 128 threads write it, slowly; one thread stores it; the tile
// becomes poison again; the store ends; all compare global memory. Poison or the last round's value
// in it is a wrong run.
#include "cuda/litmus/device.cuh"
#include "cuda/ptx/bulk.cuh"
#include "sim/isa/base/host_device.h"

namespace tcq::cuda::provoke {
namespace {

enum class Store {
  Correct,
  NoFence,
  Matrix,  // a second correct version: stmatrix writes the tile
  MatrixNoFence,
  MatrixQueue,  // a third: behind a queue of stores with bank conflicts
  MatrixQueueNoFence,
  FenceOfIssuerBefore,
  FenceOfIssuerAfter,
  NoWait,
  NoCommit,
};

HOST_DEVICE constexpr bool uses_matrix(Store v) {
  return v == Store::Matrix || v == Store::MatrixNoFence || v == Store::MatrixQueue ||
         v == Store::MatrixQueueNoFence;
}

HOST_DEVICE constexpr bool queues(Store v) {
  return v == Store::MatrixQueue || v == Store::MatrixQueueNoFence;
}

HOST_DEVICE constexpr bool fences_everywhere(Store v) {
  return v != Store::NoFence && v != Store::MatrixNoFence && v != Store::MatrixQueueNoFence &&
         v != Store::FenceOfIssuerBefore && v != Store::FenceOfIssuerAfter;
}

// The tile by stmatrix, a warp 512 bytes at a time.
__device__ void fill_by_matrix(std::uint32_t* tile, std::uint32_t word) {
  constexpr std::uint32_t row_words = 4;
  const std::uint32_t matrices[4] = {word, word, word, word};
  for (std::uint32_t row = threadIdx.x; row < tile_words / row_words; row += group_threads)
    ptx::stmatrix(ptx::shared_address(tile + row * row_words), matrices);
}

template <Store V>
__device__ void issue(std::uint32_t* sink, const std::uint32_t* tile) {
  if constexpr (V == Store::FenceOfIssuerAfter) ptx::fence_proxy_async_shared();
  ptx::bulk_store(sink, ptx::shared_address(tile), tile_words * sizeof(std::uint32_t));
  if constexpr (V != Store::NoCommit) ptx::bulk_commit_group();
  if constexpr (V != Store::NoWait) ptx::bulk_wait_group_read<0>();
}

template <Store V>
__global__ void __launch_bounds__(group_threads) store_kernel(Arguments arguments) {
  __shared__ alignas(128) std::uint32_t tile[tile_words];
  __shared__ Verdict verdict;
  const std::uint32_t thread = threadIdx.x;
  std::uint32_t* const sink = arguments.sink + blockIdx.x * tile_words;
  begin(verdict);
  for (std::uint32_t r = 0; r < arguments.rounds; ++r) {
    const std::uint32_t word = word_of(value_of(r));
    if (thread == 0) verdict.rounds = r + 1;
    fill(tile, tile_words, word_of(poison), thread);
    ptx::fence_proxy_async_shared();
    __syncthreads();

    spin(jitter(r));
    if constexpr (queues(V)) {  // other threads write the same words next
      fill_slowly(tile, tile_words, word_of(poison), thread);
      __syncthreads();
    }
    if constexpr (uses_matrix(V))
      fill_by_matrix(tile, word);
    else
      fill_slowly(tile, tile_words, word, thread);
    if constexpr (fences_everywhere(V)) ptx::fence_proxy_async_shared();
    if constexpr (V == Store::FenceOfIssuerBefore)
      if (thread == 0) ptx::fence_proxy_async_shared();
    __syncthreads();
    if (thread == 0) issue<V>(sink, tile);
    __syncthreads();

    fill(tile, tile_words, word_of(poison), thread);
    ptx::fence_proxy_async_shared();
    if (thread == 0) {
      ptx::bulk_commit_group();
      ptx::bulk_wait_group<0>();
    }
    __syncthreads();
    note_wrong(verdict, r, holds(sink, tile_words, word, thread));
  }
  finish(verdict, arguments.counters);
}

}  // namespace

std::vector<Program> proxy_programs() {
  constexpr const char* stale = "wrong: the bytes from before the stores leave";
  return {
      {{"P2", "st.shared", "no fence.proxy.async between st.shared and the bulk store", stale},
       store_kernel<Store::Correct>,
       store_kernel<Store::NoFence>,
       group_threads},
      {{"P2", "stmatrix", "no fence.proxy.async between stmatrix and the bulk store", stale},
       store_kernel<Store::Matrix>,
       store_kernel<Store::MatrixNoFence>,
       group_threads},
      {{"P2", "stmatrix, queued", "as above; stores with bank conflicts wait before the stmatrix",
        stale},
       store_kernel<Store::MatrixQueue>,
       store_kernel<Store::MatrixQueueNoFence>,
       group_threads},
      {{"P4", "store, fence before", "before the barrier only the issuing thread fences", stale},
       store_kernel<Store::Correct>,
       store_kernel<Store::FenceOfIssuerBefore>,
       group_threads},
      {{"P4", "store, fence after", "only the issuing thread fences, after the barrier", stale},
       store_kernel<Store::Correct>,
       store_kernel<Store::FenceOfIssuerAfter>,
       group_threads},
      {{"B6", "no wait", "no wait_group.read before the source is rewritten",
        "wrong: the poison written afterwards leaves"},
       store_kernel<Store::Correct>,
       store_kernel<Store::NoWait>,
       group_threads},
      {{"B6", "no commit", "no commit_group, so that wait_group.read 0 waits for nothing",
        "wrong: the poison written afterwards leaves"},
       store_kernel<Store::Correct>,
       store_kernel<Store::NoCommit>,
       group_threads},
  };
}

}  // namespace tcq::cuda::provoke
