// The GEMM kernel for few rows or few columns of D, here called tokens: the larger operand, the
// weights, is wgmma's A, the other one its B, so that wgmma's 64 rows are filled.
//
// With few rows it computes the transpose of D's tile and writes it transposed back. K is split among
// the Split CTAs of a cluster; each sends the sums of all but its own slice of rows to their owners,
// who add them in ascending order of K. One tile for each cluster: a small problem is over after one
// wave, and two CTAs of an SM hide each other's beginning and end. Tiles of a cluster may share tokens (peers)
// or weights (mates), of which each CTA then loads a part for all.
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
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/load.cuh"
#include "cuda/gemm/multiply.cuh"
#include "cuda/gemm/promote.cuh"
#include "cuda/gemm/ring.cuh"
#include "cuda/gemm/skinny_config.h"
#include "cuda/gemm/skinny_store.cuh"
#include "cuda/gemm/tiles.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/bulk.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/base/cluster.h"

namespace tcq::gemm {

// What the tiles of a cluster read together: tokens, those along the weights (peers), or weights, those along the tokens (mates).
enum class Shared : std::uint8_t { Nothing, Tokens, Weights };

// Of a CTA in its cluster: which part of K, and which of so many neighbouring tiles.
struct SkinnyRank {
  int split;
  int tile;
  int tiles;
  Shared shared;
};

// The first weight and the first token of a CTA's tile, their matrices, and the row behind the last one of the group.
struct SkinnyTile {
  int weight;
  int token;
  int batch_w;
  int batch_x;
  int rows_end;
};

template <class C>
__device__ __forceinline__ SkinnyRank skinny_rank(const Arguments& arguments) {
  const int rank = static_cast<int>(ptx::cluster_rank());
  if constexpr (!C::shares) return {rank % C::split, 0, 1, Shared::Nothing};
  const int peers = arguments.tokens.tiles;
  const int mates = arguments.weights.tiles;
  const auto shared = peers > 1 ? Shared::Tokens : mates > 1 ? Shared::Weights : Shared::Nothing;
  return {rank % C::split, rank / C::split, peers > 1 ? peers : mates, shared};
}

// The rank in the cluster of the CTA with another part of K of the same tile.
template <class C>
__device__ __forceinline__ std::uint32_t owner_of(SkinnyRank rank, std::uint32_t split) {
  return split + static_cast<std::uint32_t>(rank.tile * C::split);
}

// The CTAs with the same part of K.
template <class C>
__device__ __forceinline__ std::uint16_t sharers_mask(SkinnyRank rank) {
  return multicast_mask(rank.split, C::split, rank.tiles);
}

// What this CTA loads of an operand.
template <class Op, bool IsShared>
__device__ __forceinline__ Share share_of(SkinnyRank rank, const Sharing& sharing) {
  if constexpr (IsShared) return {rank.tile, sharing.mn};
  return {0, Op::rows};
}

// Half a ring of weights for L2, which may read memory that the kernel ahead still writes. Not where
// several CTAs read the same ones: the requests would only delay the loads.
template <class C>
__device__ __forceinline__ void prefetch_weights(const CUtensorMap& map_w, const SkinnyTile& tile,
                                                 BlockRange range, Share share,
                                                 const Arguments& arguments) {
  if (C::grouped || !arguments.overlaps || arguments.walk.schedule.cols > 1) return;
  const int box_mn = C::A::mn_of_box(share.mn);
  const int first = tile.weight + share.index * share.mn;
  const int ready = range.first + C::stages / 2;
  for (int block = range.first; block < range.end && block < ready; ++block)
    for (int row = 0; row < share.mn; row += box_mn)
      ptx::tma_prefetch(&map_w,
                        box_start<typename C::A>(first + row, block * C::block_k, tile.batch_w));
}

// By one thread: with its warp, as produce() of produce.cuh has it, a tile of few rows took 1 to 2 % longer
// (measured; cuda/NOTES.md, "the producer's warp").
// A kernel that overlaps its neighbours lets the next one in a ring before its last load. Else not
// before that load: the next one's CTAs take room, and load while this one does.
template <class C, Shared What>
__device__ __forceinline__ void produce_skinny(const OperandMaps& map_w, const OperandMaps& map_x,
                                               std::uint32_t shared, const Barriers<C>& barriers,
                                               const SkinnyTile& tile, BlockRange range,
                                               SkinnyRank rank, const Arguments& arguments) {
  using A = typename C::A;
  using B = typename C::B;
  constexpr Edge edge_x = C::grouped ? Edge::Whole : Edge::Cut;
  constexpr bool shares_w = What == Shared::Weights;
  constexpr bool shares_x = What == Shared::Tokens;
  const Share share_w = share_of<A, shares_w>(rank, arguments.weights);
  const Share share_x = share_of<B, shares_x>(rank, arguments.tokens);
  prefetch_weights<C>(map_w.whole, tile, range, share_w, arguments);
  ptx::grid_wait();
  const int last_alone = arguments.overlaps ? range.end - C::stages : range.end - 1;
  const int lets_in = last_alone > range.first ? last_alone : range.first;
  const int weights_end = C::transposes ? arguments.n : tile.rows_end;
  const int tokens_end = C::transposes ? tile.rows_end : arguments.n;
  const std::uint16_t mask = sharers_mask<C>(rank);
  Ring<C::stages> ring;
  for (int block = range.first; block < range.end; ++block) {
    const bool is_first = block - range.first < C::stages;
    const int left_w = is_first ? C::weights : weights_end - tile.weight;
    const int left_x = is_first ? C::tokens : tokens_end - tile.token;
    wait(barriers.empty(ring.stage), 1 - ring.parity);
    const std::uint32_t full = barriers.full(ring.stage);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    const int k = block * C::block_k;
    ptx::mbarrier_arrive_expect_tx(full, loaded_bytes<A, Edge::Cut>(left_w, share_w.mn) +
                                             loaded_bytes<B, edge_x>(left_x, share_x.mn));
    load_tile<A, Edge::Cut, shares_w>(map_w, stage, tile.weight, left_w, k, tile.batch_w, share_w,
                                      mask, full, true);
    load_tile<B, edge_x, shares_x>(map_x, stage + A::bytes, tile.token, left_x, k, tile.batch_x,
                                   share_x, mask, full, true);
    ring.advance();
    if (block == lets_in) ptx::grid_launch_dependents();
  }
}

// A loop for each way to share, so that it does not decide for each block.
template <class C>
__device__ __forceinline__ void produce_in_cluster(const OperandMaps& map_w,
                                                   const OperandMaps& map_x, std::uint32_t shared,
                                                   const Barriers<C>& barriers,
                                                   const SkinnyTile& tile, BlockRange range,
                                                   SkinnyRank rank, const Arguments& arguments) {
  const auto produce = [&](auto what) {
    produce_skinny<C, decltype(what)::value>(map_w, map_x, shared, barriers, tile, range, rank,
                                             arguments);
  };
  if constexpr (C::shares) {
    if (rank.shared == Shared::Weights)
      return produce(std::integral_constant<Shared, Shared::Weights>{});
    if (rank.shared == Shared::Tokens)
      return produce(std::integral_constant<Shared, Shared::Tokens>{});
  }
  produce(std::integral_constant<Shared, Shared::Nothing>{});
}

// Every warp tells every CTA whose loads write to this stage: its peers and its mates.
template <class C>
__device__ __forceinline__ void release_skinny(std::uint32_t empty, SkinnyRank rank,
                                               bool is_shared) {
  const std::uint32_t lane = threadIdx.x % 32;
  if (!is_shared) {
    if (lane == 0) ptx::mbarrier_arrive(empty);
  } else if (lane < static_cast<std::uint32_t>(rank.tiles)) {
    ptx::mbarrier_arrive_cluster_relaxed(
        ptx::map_shared(empty, static_cast<std::uint32_t>(rank.split) + lane * C::split));
  }
}

template <class C>
using Sums = std::uint32_t[C::registers];

template <class C, bool IsShared>
__device__ __forceinline__ void accumulate_skinny(Sums<C>& d, std::uint32_t shared,
                                                  const Barriers<C>& barriers, int consumer,
                                                  int blocks, SkinnyRank rank) {
  const std::uint32_t rows_at =
      static_cast<std::uint32_t>(consumer) * C::A::offset(warpgroup_rows, 0);
  Ring<C::stages> ring;
  int last = 0;
  for (int block = 0; block < blocks; ++block) {
    wait(barriers.full(ring.stage), ring.parity);
    const std::uint32_t stage = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
    multiply_rows<C>(d, stage + rows_at, stage + C::A::bytes, block > 0);
    ptx::wgmma_wait_group<1>();
    // Only what is loaded to again: nobody waits for other arrivals before a CTA exits.
    if (block > 0 && block + C::stages <= blocks)
      release_skinny<C>(barriers.empty(last), rank, IsShared);
    last = ring.stage;
    ring.advance();
  }
  ptx::wgmma_wait_group<0>();
  ptx::pin(d);
}

// The same of FP8 that promotes: wgmma's rows are weights, its columns tokens.
template <class C>
__device__ __forceinline__ void accumulate_promoted(Sums<C>& d, const Arguments& arguments,
                                                    std::uint32_t shared,
                                                    const Barriers<C>& barriers, int consumer,
                                                    const SkinnyTile& tile, BlockRange range,
                                                    SkinnyRank rank) {
  const auto number = static_cast<std::uint32_t>(consumer);
  const std::uint32_t rows_at = number * C::A::offset(warpgroup_rows, 0);
  const int blocks = range.end - range.first;
  Ring<C::stages> ring;
  StageReader<C, 1> reader(ring, barriers, shared, {rows_at});
  const auto multiply_block = [&](int wave, auto& sums) { reader.multiply(wave, sums); };
  Ring<C::stages> read;
  const auto done = [&](int left) {
    if (left > C::stages) release_skinny<C>(barriers.empty(read.stage), rank, rank.tiles > 1);
    read.advance();
  };
  constexpr bool turned = C::transposes;
  const FragmentAt at = {tile.weight + consumer * warpgroup_rows,
                         tile.token,
                         turned ? arguments.n : tile.rows_end,
                         turned ? tile.rows_end : arguments.n,
                         tile.batch_w,
                         tile.batch_x,
                         range.first,
                         blocks};
  const Factors& of_weights = turned ? arguments.block_factors_b : arguments.block_factors_a;
  const Factors& of_tokens = turned ? arguments.block_factors_a : arguments.block_factors_b;
  TileFactors<1, ColumnFactors<C::promotion, C::tokens, warpgroup_threads>> factors(
      shared + C::factor_offset + number * C::factor_bytes, 2 + number);
  factors.start(of_weights, of_tokens, at);
  std::uint32_t one[1][C::registers];
  constexpr int room =
      C::moves_registers ? 2 * 128 : 160;  // for more tokens of all consumers would spill
  constexpr bool behind = C::consumers * C::tokens <= room;
  promote<behind>(one, factors, multiply_block, done);
#pragma unroll
  for (int r = 0; r < C::registers; ++r) d[r] = one[0][r];
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
      sum = from == 0 ? value : add_sums<C::accumulator>(sum, value);
    }
    total[r] = sum;
  }
}

// --- a consumer -----------------------------------------------------------------------------------

// The first element of this CTA's slice of the consumer's weights.
template <class C>
__device__ __forceinline__ BlockAt slice_at(const SkinnyTile& tile, int consumer, SkinnyRank rank) {
  const int token = tile.token + rank.split * C::slice_tokens;
  const int weight = tile.weight + consumer * warpgroup_rows;
  return C::transposes ? BlockAt{token, weight, tile.batch_x, tile.rows_end, tile.batch_w}
                       : BlockAt{weight, token, tile.batch_w, tile.rows_end, tile.batch_x};
}

template <class C>
__device__ __forceinline__ void prefetch_slice_of_c(const Arguments& arguments,
                                                    const SkinnyTile& tile, int consumer,
                                                    SkinnyRank rank) {
  if (rank.split >= C::owners) return;
  constexpr int rows = C::transposes ? C::slice_tokens : warpgroup_rows;
  constexpr int columns = C::transposes ? warpgroup_rows : C::slice_tokens;
  prefetch_c(arguments, slice_at<C>(tile, consumer, rank), rows, columns, thread_here(),
             warpgroup_threads);
}

// Ahead of the product, so that it does not wait: of the thread's two weights, or of all tokens.
template <class C>
__device__ __forceinline__ Bias load_bias(const Arguments& arguments, std::uint32_t shared,
                                          const SkinnyTile& tile, int consumer, SkinnyRank rank) {
  if constexpr (C::transposes)
    return bias_of_weights<C::in>(arguments, slice_at<C>(tile, consumer, rank));
  if (arguments.epilogue.bias == nullptr) return {};
  BiasShare<C::in, C::tokens, C::consumer_threads> share;
  const int thread = static_cast<int>(threadIdx.x);
  share.load(arguments, tile.token, thread);
  share.store(shared + C::bias_offset, thread);
  return {};
}

template <class C>
__device__ __forceinline__ void consume_skinny(const CUtensorMap& map_d, const Arguments& arguments,
                                               std::uint32_t shared, const Barriers<C>& barriers,
                                               const SkinnyTile& tile, BlockRange range,
                                               SkinnyRank rank) {
  const int consumer = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  prefetch_slice_of_c<C>(arguments, tile, consumer, rank);
  Bias bias = load_bias<C>(arguments, shared, tile, consumer, rank);
  Sums<C> d;
  const int blocks = range.end - range.first;
  if constexpr (C::promotion == Promotion::None) {
    // Twice, so that it does not decide for each block.
    if (rank.tiles == 1)
      accumulate_skinny<C, false>(d, shared, barriers, consumer, blocks, rank);
    else
      accumulate_skinny<C, true>(d, shared, barriers, consumer, blocks, rank);
  } else
    accumulate_promoted<C>(d, arguments, shared, barriers, consumer, tile, range, rank);
  Slice<C> total;
  if constexpr (C::split > 1) {
    exchange<C>(d, total, shared, barriers, consumer, rank);
  } else {
    if (rank.tiles > 1) {
      ptx::cluster_wait();
      ptx::cluster_arrive_relaxed();
    }
    ptx::bar_sync(1, C::consumer_threads);
#pragma unroll
    for (int r = 0; r < C::slice_registers; ++r) total[r] = d[r];
  }
  if (rank.split >= C::owners) return;
  bias.columns = shared + C::bias_offset +
                 static_cast<std::uint32_t>(rank.split * C::slice_tokens) * float_bytes;
  finish_and_store<C>(total, map_d, arguments, shared, consumer, slice_at<C>(tile, consumer, rank),
                      bias);
}

// The tile of this CTA. False: of groups there are fewer than the grid has clusters, which all its threads find.
template <class C>
__device__ __forceinline__ bool find_tile(const Arguments& arguments, SkinnyRank rank,
                                          SkinnyTile& tile) {
  const auto cluster = static_cast<int>(ptx::cluster_id());
  if constexpr (C::grouped) {
    static_assert(C::transposes, "a group has few rows");
    constexpr int beyond = 1073741824;  // 2^30
    ptx::grid_wait();                   // sizes are written by kernels ahead
    GroupTiles<C::tokens, C::weights> tiles(arguments, cluster, beyond);
    TilePlace place;
    if (!tiles.next(place)) return false;
    tile = {place.col, place.row, place.batch_b, place.batch, place.rows_end};
  } else {
    const TileAt at = arguments.walk.at(cluster);
    const bool along_x = rank.shared == Shared::Weights;
    const int row = along_x ? at.row : at.row * rank.tiles + rank.tile;
    const int col = along_x ? at.col * rank.tiles + rank.tile : at.col;
    tile = {row * C::weights, col * C::tokens, at.batch, at.batch, arguments.m};
  }
  return true;
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::resident)
    skinny_kernel(const __grid_constant__ OperandMaps map_w,
                  const __grid_constant__ OperandMaps map_x,
                  const __grid_constant__ CUtensorMap map_d,
                  const __grid_constant__ CUtensorMap /*unused*/,
                  const __grid_constant__ Arguments arguments) {
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const SkinnyRank rank = skinny_rank<C>(arguments);
  SkinnyTile tile;
  if (!find_tile<C>(arguments, rank, tile)) return;
  const BlockRange range = split_range(arguments.k_blocks, C::split, rank.split);
  if (threadIdx.x == 0) {
    ptx::prefetch_map(&map_w.whole);
    ptx::prefetch_map(&map_x.whole);
    ptx::prefetch_map(&map_x.rest);
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), 1);
      ptx::mbarrier_init(barriers.empty(s), rank.tiles * C::consumer_threads / 32);
    }
    for (int c = 0; C::split > 1 && c < C::consumers; ++c) {
      ptx::mbarrier_init(barriers.full(2 * C::stages + c), 1);
      ptx::mbarrier_arrive_expect_tx(barriers.full(2 * C::stages + c), C::receive_bytes);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const bool alone = C::split == 1 && rank.tiles == 1;
  if (!alone) ptx::cluster_arrive_relaxed();
  if (threadIdx.x < C::consumer_threads) {
    if constexpr (C::moves_registers) ptx::setmaxnreg_inc<C::consumer_registers>();
    ptx::grid_wait();
    consume_skinny<C>(map_d, arguments, shared, barriers, tile, range, rank);
  } else {
    if constexpr (C::moves_registers) ptx::setmaxnreg_dec<C::producer_registers>();
    // Nothing is sent to a peer before its mbarriers are ready.
    if (rank.tiles > 1) ptx::cluster_wait();
    if (threadIdx.x == C::consumer_threads) {
      produce_in_cluster<C>(map_w, map_x, shared, barriers, tile, range, rank, arguments);
    }
    __syncwarp();
    if (!alone) {
      if (rank.tiles == 1) ptx::cluster_wait();
      ptx::cluster_arrive_relaxed();
    }
  }
  // What this CTA sends is read from here until it has arrived. Peers that do not split have seen all
  // that comes to them; whether hardware minds the exit of a CTA that multicasts was not asked.
  if (!alone) ptx::cluster_wait();
}

}  // namespace tcq::gemm
