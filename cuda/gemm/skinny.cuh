// The GEMM kernel for few rows or few columns of D, here called tokens: the larger operand, the
// weights, is wgmma's A, the other one its B, so that wgmma's 64 rows are filled.
//
// With few rows it computes the transpose of D's tile and writes it transposed back. K is split among
// the Split CTAs of a cluster; each sends the sums of all but its own slice of rows to their owners,
// who add them in ascending order of K. One tile for each cluster: a small problem is over after one
// wave, and two CTAs of an SM hide each other's beginning and end. Peers tiles side by side share a
// cluster and their rows of D, of which each CTA loads a part for all.
//
// Short kernels overlap: the next one in the stream starts while this one still loads, and brings its
// first weights to L2. Whether a cluster's CTAs may exit: tests/async/gemm_split_program_test.cc.
//
// D[i][j] is the sum, in ascending order and f32, of Split chains of wgmmas (cuda/gemm/kernel.cuh), and
// then the epilogue.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/load.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/store.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/bulk.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/base/cluster.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/store.h"

namespace tcq::gemm {

// The largest divisor of `value` up to `most`.
constexpr int largest_divisor(int value, int most) {
  while (value % most != 0) --most;
  return most;
}

template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Peers, int Stages,
          Major Weights = Major::K>
struct SkinnyConfig {
  static constexpr Type in = In;
  static constexpr Type accumulator = wgmma::widest_d(In);
  static constexpr Skinny few = Few;
  static constexpr bool transposes = Few == Skinny::Rows;
  static constexpr int tokens = Tokens;
  static constexpr int split = Split;
  static constexpr int peers = Peers;  // tiles of a cluster, side by side
  static constexpr int cluster = Split * Peers;
  static constexpr int stages = Stages;
  static constexpr int consumers = Consumers;
  static constexpr int weights = consumers * warpgroup_rows;
  static constexpr int consumer_threads = consumers * warpgroup_threads;
  static constexpr int threads = consumer_threads + 32;

  using A = OperandTile<In, Weights, weights, 1>;
  using B = OperandTile<In, Major::K, Tokens, Peers>;
  static constexpr int block_k = A::block_k;
  static constexpr int steps = block_k / wgmma::stored_k(In);
  static constexpr wgmma::Form form = {
      .d = accumulator, .a = In, .b = In, .n = Tokens, .major_a = Weights};
  static_assert(check(form) == Fault::None);
  static constexpr int registers = wgmma::accumulator_registers(accumulator, Tokens);

  // Tokens whose sums a CTA of the cluster completes: what one stmatrix stores, or more.
  static constexpr int groups = Tokens / (transposes ? wgmma::column_group : wgmma::store_columns);
  static constexpr int owners = largest_divisor(groups, Split);
  static constexpr int slice_tokens = Tokens / owners;
  static constexpr int slice_registers = registers / owners;
  static_assert(slice_registers * owners == registers && groups / owners * owners == groups);
  static constexpr std::uint32_t slice_bytes =
      slice_registers * warpgroup_threads * static_cast<std::uint32_t>(sizeof(std::uint32_t));

  static constexpr std::uint32_t stage_bytes = A::bytes + B::bytes;
  // In place of the stages, once all are read: what is sent, then what is stored.
  static constexpr std::uint32_t send_bytes = Split > 1 ? owners* slice_bytes : 0;
  static constexpr int store_rows = transposes ? slice_tokens : warpgroup_rows;
  static constexpr int store_row = transposes ? warpgroup_rows : slice_tokens;
  // Boxes side by side, of elements of `bytes`.
  HOST_DEVICE static constexpr int stores(int bytes) {
    return store_row > staged_columns(bytes) ? store_row / staged_columns(bytes) : 1;
  }
  HOST_DEVICE static constexpr int store_columns(int bytes) { return store_row / stores(bytes); }
  static_assert(store_columns(4) <= staged_columns(4) && store_columns(4) * stores(4) == store_row);
  static_assert(store_columns(2) <= staged_columns(2) && store_columns(2) * stores(2) == store_row);
  static constexpr std::uint32_t box_bytes = store_rows * swizzle_bytes;
  static constexpr std::uint32_t store_bytes = stores(4) * box_bytes;
  static_assert(consumers * (send_bytes + store_bytes) <= Stages * stage_bytes);
  static constexpr std::uint32_t receive_offset = Stages * stage_bytes;
  static constexpr std::uint32_t receive_bytes = (Split - 1) * slice_bytes;  // of a consumer
  static constexpr std::uint32_t barrier_offset = receive_offset + consumers * receive_bytes;
  static constexpr int barriers = 2 * Stages + consumers;
  // The tokens' bias as f32, where they are D's columns; a thread keeps that of its two weights.
  static constexpr std::uint32_t bias_offset =
      barrier_offset + barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static constexpr std::uint32_t bias_bytes =
      transposes ? 0 : Tokens * static_cast<std::uint32_t>(sizeof(float));
  static constexpr std::uint32_t shared_bytes = bias_offset + bias_bytes;
  static_assert(shared_bytes <= max_cta_shared_bytes);
  static constexpr int room =
      static_cast<int>(sm_shared_bytes / (shared_bytes + reserved_shared_bytes));
  static constexpr int resident = room < 4 ? room : 4;  // CTAs of an SM
};

// Of a CTA in its cluster: which part of K, and which of the neighbouring tiles.
struct SkinnyRank {
  int split;
  int peer;
};

template <class C>
__device__ __forceinline__ SkinnyRank skinny_rank() {
  const int rank = C::cluster == 1 ? 0 : static_cast<int>(ptx::cluster_rank());
  return {rank % C::split, rank / C::split};
}

// The rank in the cluster of the CTA with another part of K of the same tile.
template <class C>
__device__ __forceinline__ std::uint32_t owner_of(SkinnyRank rank, std::uint32_t split) {
  return split + static_cast<std::uint32_t>(rank.peer * C::split);
}

// Half a ring of weights for L2, which may read memory that the kernel ahead still writes. Not where
// several CTAs read the same ones: the requests would only delay the loads.
template <class C>
__device__ __forceinline__ void prefetch_weights(const CUtensorMap& map_w, const TileAt& tile,
                                                 BlockRange range, const Arguments& arguments) {
  if (!arguments.overlaps || arguments.schedule.cols > 1) return;
  const int ready = range.first + C::stages / 2;
  for (int block = range.first; block < range.end && block < ready; ++block)
    for (int box = 0; box < static_cast<int>(C::A::boxes_per_cta); ++box)
      ptx::tma_prefetch(&map_w, box_start<typename C::A>(tile.row * C::weights, box,
                                                         block * C::block_k, tile.batch));
}

// A kernel that overlaps its neighbours lets the next one in a ring before its last load. Else not
// before that load: the next one's CTAs take room, and load while this one does.
template <class C>
__device__ __forceinline__ void produce_skinny(const CUtensorMap& map_w, const CUtensorMap& map_x,
                                               std::uint32_t shared, const Barriers<C>& barriers,
                                               const TileAt& tile, BlockRange range,
                                               SkinnyRank rank, bool overlaps) {
  const int last_alone = overlaps ? range.end - C::stages : range.end - 1;
  const int lets_in = last_alone > range.first ? last_alone : range.first;
  const std::uint16_t mask = multicast_mask(rank.split, C::split, C::peers);
  const int rows_at = rank.peer * static_cast<int>(C::B::box_rows);  // this CTA's share
  Ring<C::stages> ring;
  for (int block = range.first; block < range.end; ++block) {
    wait(barriers.empty(ring.stage), 1 - ring.parity);
    const std::uint32_t full = barriers.full(ring.stage);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const std::uint32_t rows = stage + C::A::bytes + C::B::offset(rows_at, 0);
    const int k = block * C::block_k;
    const tma::Coordinates start = {{k, tile.col * C::tokens + rows_at, tile.batch}};
    ptx::mbarrier_arrive_expect_tx(full, C::stage_bytes);
    load_tile<typename C::A>(map_w, stage, tile.row * C::weights, k, tile.batch, 0, 0, full);
    if constexpr (C::peers > 1)
      ptx::tma_load_multicast<3>(rows, &map_x, start, full, mask);
    else
      ptx::tma_load<3>(rows, &map_x, start, full);
    ring.advance();
    if (block == lets_in) ptx::grid_launch_dependents();
  }
}

// Every warp tells every CTA whose loads write to this stage: its peers.
template <class C>
__device__ __forceinline__ void release_skinny(std::uint32_t empty, SkinnyRank rank) {
  const std::uint32_t lane = threadIdx.x % 32;
  if constexpr (C::peers == 1) {
    if (lane == 0) ptx::mbarrier_arrive(empty);
  } else {
    if (lane < C::peers)
      ptx::mbarrier_arrive_cluster_relaxed(
          ptx::map_shared(empty, static_cast<std::uint32_t>(rank.split) + lane * C::split));
  }
}

template <class C>
using Sums = std::uint32_t[C::registers];

template <class C>
__device__ __forceinline__ void accumulate_skinny(Sums<C>& d, std::uint32_t shared,
                                                  const Barriers<C>& barriers, int consumer,
                                                  int blocks, SkinnyRank rank) {
  constexpr wgmma::Extent extent_a = operand_extent(C::form, wgmma::Multiplicand::A);
  constexpr wgmma::Extent extent_b = operand_extent(C::form, wgmma::Multiplicand::B);
  const std::uint32_t rows_at =
      static_cast<std::uint32_t>(consumer) * C::A::offset(warpgroup_rows, 0);
  Ring<C::stages> ring;
  int last = 0;
  for (int block = 0; block < blocks; ++block) {
    wait(barriers.full(ring.stage), ring.parity);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const std::uint64_t a = advance(C::A::descriptor(extent_a), stage + rows_at);
    const std::uint64_t b = advance(C::B::descriptor(extent_b), stage + C::A::bytes);
    ptx::wgmma_fence();
    // Behind the end of K all of them: to add zeros changes no bit (sim/num/round.h).
#pragma unroll
    for (int step = 0; step < C::steps; ++step)
      ptx::mma<C::form>(d, advance(a, C::A::offset(0, step)), advance(b, C::B::offset(0, step)),
                        block > 0 || step > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
    // Only what is loaded to again: nobody waits for other arrivals before a CTA exits.
    if (block > 0 && block + C::stages <= blocks) release_skinny<C>(barriers.empty(last), rank);
    last = ring.stage;
    ring.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
}

template <class C>
using Slice = std::uint32_t[C::slice_registers];

template <Type Accumulator>
__device__ __forceinline__ std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  if constexpr (Accumulator == Type::s32)
    return a + b;
  else
    return __float_as_uint(rounded::add(__uint_as_float(a), __uint_as_float(b)));
}

// Exchanges slices: each owner then holds the sums of all CTAs in `total`.
template <class C>
__device__ __forceinline__ void exchange(const Sums<C>& d, Slice<C>& total, std::uint32_t shared,
                                         const Barriers<C>& barriers, int consumer,
                                         SkinnyRank rank) {
  const std::uint32_t thread = threadIdx.x % warpgroup_threads;
  const auto warpgroup = static_cast<std::uint32_t>(consumer);
  const std::uint32_t send = shared + warpgroup * C::send_bytes;
  const std::uint32_t receive = shared + C::receive_offset + warpgroup * C::receive_bytes;
  const std::uint32_t word = thread * static_cast<std::uint32_t>(sizeof(std::uint32_t));
  constexpr std::uint32_t row = warpgroup_threads * sizeof(std::uint32_t);
  const std::uint32_t barrier = barriers.full(2 * C::stages + consumer);
  ptx::bar_sync(1, C::consumer_threads);  // nobody reads the stages any more
#pragma unroll
  for (int r = 0; r < C::registers; ++r)
    ptx::store_shared(send + static_cast<std::uint32_t>(r) * row + word, d[r]);
  ptx::fence_proxy_async_shared();
  ptx::cluster_wait();  // every CTA's mbarriers are ready
  ptx::bar_sync(2 + warpgroup, warpgroup_threads);
  if (thread < C::owners && static_cast<int>(thread) != rank.split) {
    const auto sender = static_cast<std::uint32_t>(rank.split);
    const std::uint32_t place = sender < thread ? sender : sender - 1;
    const std::uint32_t owner = owner_of<C>(rank, thread);
    ptx::bulk_send(ptx::map_shared(receive + place * C::slice_bytes, owner),
                   send + thread * C::slice_bytes, C::slice_bytes, ptx::map_shared(barrier, owner));
  }
  if (rank.split < C::owners) wait(barrier, 0);
  ptx::cluster_arrive_relaxed();  // what was sent here has arrived
  if (rank.split >= C::owners) return;
  const std::uint32_t own = send + static_cast<std::uint32_t>(rank.split) * C::slice_bytes;
#pragma unroll
  for (int r = 0; r < C::slice_registers; ++r) {
    const std::uint32_t at = static_cast<std::uint32_t>(r) * row + word;
    std::uint32_t sum = 0;
#pragma unroll
    for (int from = 0; from < C::split; ++from) {
      const int place = from < rank.split ? from : from - 1;
      const std::uint32_t part =
          from == rank.split ? own : receive + static_cast<std::uint32_t>(place) * C::slice_bytes;
      const std::uint32_t value = ptx::load_shared(part + at);
      sum = from == 0 ? value : add<C::accumulator>(sum, value);
    }
    total[r] = sum;
  }
}

// --- the way out -----------------------------------------------------------------------------------

template <class C>
__device__ __forceinline__ void fill_transposed(const Slice<C>& total, std::uint32_t buffer) {
  constexpr Type type = narrow(C::in);
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  const wgmma::Element place = wgmma::store_transposed_element(thread);
#pragma unroll
  for (int r = 0; r < C::slice_registers; r += 4) {
    const std::uint32_t packed[2] = {pack<type>(total[r], total[r + 1]),
                                     pack<type>(total[r + 2], total[r + 3])};
    ptx::stmatrix<ptx::Trans::Yes>(staged(buffer, place.row + 2 * r, 2 * place.col), packed);
  }
}

// Boxes side by side of the fragment as it is.
template <class C, int Box = 0>
__device__ __forceinline__ void fill_boxes(const Slice<C>& total, std::uint32_t buffer) {
  constexpr int columns = C::store_columns(2);
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
  if constexpr (Box < C::stores(2)) {
    fill_narrow<narrow(C::in), Box * columns, columns>(total, buffer + Box * C::box_bytes, thread);
    fill_boxes<C, Box + 1>(total, buffer);
  }
}

// Elements one at a time: of 32 bits, or what a gated activation leaves of two columns of the product.
template <class C, int Bytes>
__device__ __forceinline__ void fill_elements(const Slice<C>& total, std::uint32_t buffer,
                                              bool gated) {
  const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
#pragma unroll
  for (int r = 0; r < C::slice_registers; ++r) {
    const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, r});
    const int row = C::transposes ? place.col : place.row;
    const int col = C::transposes ? place.row : place.col;
    const int box = col / C::store_columns(Bytes);
    const int in_box = col - box * C::store_columns(Bytes);
    if (gated && col % 2 != 0) continue;
    const std::uint32_t at = staged(buffer + static_cast<std::uint32_t>(box) * C::box_bytes, row,
                                    Bytes * (gated ? in_box / 2 : in_box));
    if constexpr (Bytes == 2)
      ptx::store_shared_half(at, pack<narrow(C::in)>(total[r], total[r]));
    else
      ptx::store_shared(at, total[r]);
  }
}

template <class C, int Bytes>
__device__ __forceinline__ void fill_slice(const Slice<C>& total, std::uint32_t buffer,
                                           bool gated) {
  if (Bytes == 4 || gated)
    fill_elements<C, Bytes>(total, buffer, gated);
  else if constexpr (Bytes == 2 && C::transposes)
    fill_transposed<C>(total, buffer);
  else if constexpr (Bytes == 2)
    fill_boxes<C>(total, buffer);
}

// Stores what fill_slice() left; `at` counts columns of the product.
template <class C, int Bytes>
__device__ __forceinline__ void send_slice(const CUtensorMap& map_d, const Arguments& arguments,
                                           std::uint32_t buffer, int consumer, BlockAt at,
                                           bool gated, bool by_threads) {
  ptx::fence_proxy_async_shared();
  ptx::bar_sync(2 + static_cast<std::uint32_t>(consumer), warpgroup_threads);
  const bool leads = threadIdx.x % warpgroup_threads == 0;
  const int halves = gated ? 2 : 1;
#pragma unroll
  for (int i = 0; i < C::stores(Bytes); ++i) {
    const BlockAt box = {at.row, (at.col + i * C::store_columns(Bytes)) / halves, at.batch};
    const std::uint32_t from = buffer + static_cast<std::uint32_t>(i) * C::box_bytes;
    if (by_threads)
      copy_rows(from, C::store_rows, C::store_columns(Bytes) / halves, arguments, box);
    else if (leads)
      ptx::tma_store<3>(&map_d, {{box.col, box.row, box.batch}}, from);
  }
  if (leads && !by_threads) {
    ptx::bulk_commit_group();
    ptx::bulk_wait_group_read<0>();
  }
}

// This CTA's slice of tokens from `token` on, of the warpgroup's weights from `weight` on.
template <class C, int Bytes>
__device__ __forceinline__ void store_slice(const Slice<C>& total, const CUtensorMap& map_d,
                                            const Arguments& arguments, std::uint32_t buffer,
                                            int consumer, BlockAt at) {
  const bool gated = is_gated(arguments.epilogue.activation);
  fill_slice<C, Bytes>(total, buffer, gated);
  send_slice<C, Bytes>(map_d, arguments, buffer, consumer, at, gated, arguments.stores_elements);
}

// The product as it is apart from the rest, so that short kernels do not wait for instructions that they skip.
template <class C>
__device__ __forceinline__ void finish_and_store(Slice<C>& total, const CUtensorMap& map_d,
                                                 const Arguments& arguments, std::uint32_t buffer,
                                                 int consumer, BlockAt at, const Bias& bias) {
  constexpr int usual = usual_bytes(C::in);
  if (arguments.is_plain) {
    fill_slice<C, usual>(total, buffer, false);
    return send_slice<C, usual>(map_d, arguments, buffer, consumer, at, false, false);
  }
  if (arguments.epilogue.finishes)
    finish<C::in, C::transposes ? Way::Transposed : Way::AsIs>(total, arguments, at, bias);
  if constexpr (has_narrow(C::in)) {
    if (bits(arguments.epilogue.out) == 16)
      return store_slice<C, 2>(total, map_d, arguments, buffer, consumer, at);
  }
  store_slice<C, 4>(total, map_d, arguments, buffer, consumer, at);
}

// Ahead of the product, so that it does not wait: of the thread's two weights, or of all tokens.
template <class C>
__device__ __forceinline__ Bias load_bias(const Arguments& arguments, std::uint32_t shared,
                                          const TileAt& tile, int consumer) {
  Bias bias;
  const Epilogue& e = arguments.epilogue;
  if (e.bias == nullptr) return bias;
  if constexpr (C::transposes) {
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_threads;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread, 2 * i});
      const int col = tile.row * C::weights + consumer * warpgroup_rows + place.row;
      if (col < arguments.n) bias.rows[i] = load_element<C::in>(e, e.bias, col);
    }
  } else {
    stage_bias<C::in>(arguments, shared + C::bias_offset, tile.col * C::tokens, C::tokens,
                      static_cast<int>(threadIdx.x), C::consumer_threads);
  }
  return bias;
}

template <class C>
__device__ __forceinline__ void consume_skinny(const CUtensorMap& map_d, const Arguments& arguments,
                                               std::uint32_t shared, const Barriers<C>& barriers,
                                               const TileAt& tile, int blocks, SkinnyRank rank) {
  const int consumer = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  Bias bias = load_bias<C>(arguments, shared, tile, consumer);
  Sums<C> d;
  accumulate_skinny<C>(d, shared, barriers, consumer, blocks, rank);
  Slice<C> total;
  if constexpr (C::split > 1) {
    exchange<C>(d, total, shared, barriers, consumer, rank);
  } else {
    if constexpr (C::peers > 1) {
      ptx::cluster_wait();
      ptx::cluster_arrive_relaxed();
    }
    ptx::bar_sync(1, C::consumer_threads);
#pragma unroll
    for (int r = 0; r < C::slice_registers; ++r) total[r] = d[r];
  }
  if (rank.split >= C::owners) return;
  const int first_token = rank.split * C::slice_tokens;  // of the tile
  const int token = tile.col * C::tokens + first_token;
  const int weight = tile.row * C::weights + consumer * warpgroup_rows;
  const BlockAt at =
      C::transposes ? BlockAt{token, weight, tile.batch} : BlockAt{weight, token, tile.batch};
  bias.columns = shared + C::bias_offset + static_cast<std::uint32_t>(first_token) * 4;
  const std::uint32_t buffer =
      shared + C::consumers * C::send_bytes + static_cast<std::uint32_t>(consumer) * C::store_bytes;
  finish_and_store<C>(total, map_d, arguments, buffer, consumer, at, bias);
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::resident)
    skinny_kernel(const __grid_constant__ CUtensorMap map_w,
                  const __grid_constant__ CUtensorMap map_x,
                  const __grid_constant__ CUtensorMap map_d,
                  const __grid_constant__ CUtensorMap /*unused*/,
                  const __grid_constant__ Arguments arguments) {
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const SkinnyRank rank = skinny_rank<C>();
  TileAt tile = tile_at(arguments.schedule, static_cast<int>(blockIdx.x) / C::cluster);
  tile.row = tile.row * C::peers + rank.peer;
  const BlockRange range = split_range(arguments.k_blocks, C::split, rank.split);
  if (threadIdx.x == 0) {
    ptx::prefetch_map(&map_w);
    ptx::prefetch_map(&map_x);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), 1);
      ptx::mbarrier_init(barriers.empty(s), C::peers * C::consumer_threads / 32);
    }
    for (int c = 0; C::split > 1 && c < C::consumers; ++c) {
      ptx::mbarrier_init(barriers.full(2 * C::stages + c), 1);
      ptx::mbarrier_arrive_expect_tx(barriers.full(2 * C::stages + c), C::receive_bytes);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if constexpr (C::cluster > 1) ptx::cluster_arrive_relaxed();
  if (threadIdx.x < C::consumer_threads) {
    ptx::grid_wait();
    consume_skinny<C>(map_d, arguments, shared, barriers, tile, range.end - range.first, rank);
  } else {
    // Nothing is sent to a peer before its mbarriers are ready.
    if constexpr (C::peers > 1) ptx::cluster_wait();
    if (threadIdx.x == C::consumer_threads) {
      prefetch_weights<C>(map_w, tile, range, arguments);
      ptx::grid_wait();
      produce_skinny<C>(map_w, map_x, shared, barriers, tile, range, rank, arguments.overlaps);
    }
    __syncwarp();
    if constexpr (C::cluster > 1) {
      if constexpr (C::peers == 1) ptx::cluster_wait();
      ptx::cluster_arrive_relaxed();
    }
  }
  // What this CTA sends is read from here until it has arrived. Peers that do not split have seen all
  // that comes to them; whether hardware minds the exit of a CTA that multicasts was not asked.
  if constexpr (C::cluster > 1) ptx::cluster_wait();
}

}  // namespace tcq::gemm
