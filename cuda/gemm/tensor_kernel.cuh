// The GEMM kernel on tcgen05: a thread loads tiles with TMA, a thread multiplies into Tensor Memory, a warpgroup stores D.
//
// Persistent, or with a dynamic schedule (cuda/gemm/dynamic.cuh), one CTA or a pair that multiplies together (cuda/gemm/tensor_pair.cuh), or, of one tile, several that share
// its K (cuda/gemm/tensor_split.cuh): the tiles of cuda/gemm/arguments.h. The ring is cuda/gemm/kernel.cuh's: full[s] says that a stage's
// bytes have landed, empty[s], by tcgen05.commit, that the products have read them. summed[a] says, by commit, that a
// tile's sums stand in accumulator a, drained[a] that the warps of the epilogue have them in registers: while one tile is
// stored the next is summed in the other; where there is room for one alone, two warpgroups have it in registers at once, half
// of the rows each, before they store. One warp allocates the Tensor Memory and gives it back when all are done; no fence of
// tcgen05 stands about either, as nothing asynchronous is under way (CUTLASS and DeepGEMM have none).
//
// FP8 that promotes has an accumulator for a block of K, not for a tile: summed[a] and drained[a] go round with each
// block, and two warpgroups load its sums, half of the rows each, and add them to f32 sums of theirs (cuda/gemm/promote.cuh).
//
// Scale factors of blocks come with the stage and go by tcgen05.cp, issued before the products that read them, to the
// stage's own columns (cuda/gemm/tensor_scales.cuh); the multiplier waits for a stage's bytes, whose producer has waited
// for the products of the stage before, so that no products still read what a copy overwrites.
//
// D[i][j] is the chain over ascending K of the kind's instructions, the first without accumulation, or of such chains of one
// block of K each, promoted, or the f32 sum of chains of parts of K, then the epilogue (oracle/sum/gemm_reference.h with GemmChain::kind computes the bits).
// Shapes: cuda/gemm/tensor_config.h.
//
// Compiled and run on the machine (tests/run/run_tensor_gemm_test.cc), not on silicon.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/gemm/finish.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/promote.cuh"
#include "cuda/gemm/ragged.cuh"
#include "cuda/gemm/tensor_config.h"
#include "cuda/gemm/tensor_operands.h"
#include "cuda/gemm/tensor_pair.cuh"
#include "cuda/gemm/tensor_scales.cuh"
#include "cuda/gemm/tensor_split.cuh"
#include "cuda/gemm/tensor_tokens.cuh"
#include "cuda/ptx/tcgen05_ldst.cuh"
#include "cuda/ptx/tcgen05_mma.cuh"
#include "cuda/ptx/tmem.cuh"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/address.h"

namespace tcq::gemm {

inline constexpr int producer_warp = 0;
inline constexpr int multiplier_warp = 1;
inline constexpr int allocator_warp = 2;
inline constexpr int scheduler_warp = 3;  // of a dynamic schedule

template <class C>
struct TensorBarriers : Barriers<C> {
  __device__ __forceinline__ std::uint32_t summed(int accumulator) const {
    return this->behind(accumulator);
  }
  __device__ __forceinline__ std::uint32_t drained(int accumulator) const {
    return this->behind(C::accumulators + accumulator);
  }
  __device__ __forceinline__ SplitBarriers<C> of_split() const {
    return {this->behind(2 * C::accumulators)};
  }
  __device__ __forceinline__ Answers<C> answers() const {
    return {this->behind(2 * C::accumulators), this->first - C::answer_bytes};
  }
  __device__ __forceinline__ KGroupOrder order() const {
    return {this->first - C::barrier_offset + C::order_offset};
  }
};

// How a cluster comes from one tile to the next.
template <class C>
__device__ __forceinline__ auto step_of(const TensorBarriers<C>& barriers) {
  if constexpr (C::dynamic)
    return barriers.answers();
  else if constexpr (groups_k<C>())
    return KGroupStep{all_clusters<C>(), barriers.order()};
  else
    return all_clusters<C>();
}

template <class C>
__device__ __forceinline__ void start_barriers(const TensorBarriers<C>& barriers) {
  for (int s = 0; s < C::stages; ++s) {
    ptx::mbarrier_init(barriers.full(s), arrivals_of_stage<C>);
    ptx::mbarrier_init(barriers.empty(s), 1);
    if constexpr (groups_k<C>()) ptx::mbarrier_init(barriers.landed(s), 1);
  }
  for (int a = 0; a < C::accumulators; ++a) {
    ptx::mbarrier_init(barriers.summed(a), 1);
    ptx::mbarrier_init(barriers.drained(a), C::ctas * C::consumers * warpgroup_threads / 32);
  }
  if constexpr (C::split > 1) barriers.of_split().start();
  if constexpr (C::dynamic) barriers.answers().start();
  ptx::fence_mbarrier_init();
}

// --- the products, issued by one thread -------------------------------------------------------------------

// Instructions along K of one stage.
struct Steps {
  int first;
  int end;
};

// Those of a tile's `block`: not those that would add zeros.
template <class C>
__device__ __forceinline__ Steps steps_of(const BlocksAlongK& along, int block) {
  constexpr int step = C::instruction_k;
  const int first = groups_k<C>() && block == 0 ? along.ahead / step : 0;
  return {first, block + 1 < along.count ? C::steps : (along.left + step - 1) / step};
}

// What an instruction reads of an operand's tile: the descriptor of its first one at shared address 0, and bytes from one to the
// next.
struct TileRead {
  std::uint64_t descriptor;
  std::uint32_t step;
};

template <class Op, class Other>
__device__ __forceinline__ TileRead read_of(bool turned) {
  TileRead read;
  as_it_lies<Op, Other>(turned, [&](auto tile) {
    using Tile = decltype(tile);
    constexpr std::uint64_t descriptor =
        tcgen05::encode(tcgen05::tile_descriptor(Tile::tile(), Tile::swizzle, 0));
    constexpr std::uint32_t step = Tile::offset(0, 1);
    static_assert(Tile::offset(0, 3) == 3 * step);
    read = {descriptor, step};
  });
  return read;
}

template <class C>
__device__ __forceinline__ void multiply_stage(std::uint32_t sums, std::uint32_t stage,
                                               const ScalesAt<C>& scales,
                                               const TensorOperands& operands, bool first,
                                               Steps steps) {
  constexpr tcgen05::MmaForm form{C::opcode};
  // Chosen for each stage: whoever promotes leaves this thread few registers.
  const TileRead of_a = read_of<typename C::A, typename C::TurnedA>(operands.turned_a());
  const TileRead of_b = read_of<typename C::B, typename C::TurnedB>(operands.turned_b());
  const std::uint64_t a = advance(of_a.descriptor, stage);
  const std::uint64_t b = advance(of_b.descriptor, stage + C::A::bytes);
#pragma unroll
  for (int step = 0; step < C::steps; ++step) {
    if (step >= steps.end) break;
    if (groups_k<C>() && step < steps.first) continue;
    scales.copy(step);
    ptx::tcgen05_mma<form>({.d = sums,
                            .desc_a = advance(a, static_cast<std::uint32_t>(step) * of_a.step),
                            .desc_b = advance(b, static_cast<std::uint32_t>(step) * of_b.step),
                            .idesc = scales.instruction(step) ^ (C::varies ? operands.differs : 0),
                            .scale_a = scales.of_a(step),
                            .scale_b = scales.of_b(step),
                            .accumulate = !first || step > steps.first});
  }
}

// Who multiplies looks for the places of factors of a group's tokens, of which a tile's may begin within an atom.
template <class C>
using MultipliedTiles = ClusterTiles<C, true, 1, C::transposes && C::Scales::exist>;

// By one thread, or, of groups, by a warp of which a thread `leads`.
template <class C>
__device__ __forceinline__ void multiply_tiles(const Arguments& arguments, std::uint32_t shared,
                                               const TensorBarriers<C>& barriers,
                                               std::uint32_t tensor, const TensorOperands& operands,
                                               bool leads) {
  BlockRange own = own_blocks<C>(arguments);
  Ring<C::stages> ring;
  Ring<C::accumulators> turn;
  MultipliedTiles<C> tiles(arguments, own_cluster<C>(), step_of<C>(barriers));
  TilePlace tile;
  while (tiles.next(tile)) {
    if (!leads) continue;
    const BlocksAlongK along = along_k<C>(arguments, tile);
    if (along.count == 0) continue;
    if constexpr (groups_k<C>()) own.end = along.count;
    int chain = own.first;  // of a block of K, or of all
    do {
      // Else there is one tile, which nobody hands back. The fence behind the first stage's wait is this one's, too.
      if constexpr (C::split == 1 || C::promotes)
        wait_for_all<C>(barriers.drained(turn.stage), 1 - turn.parity);
      const std::uint32_t sums = tensor + static_cast<std::uint32_t>(turn.stage * C::block_n);
      const int first = C::promotes ? chain : own.first;
      const int end = C::promotes ? chain + 1 : own.end;
      for (int block = first; block < end; ++block) {
        wait_for_stage<C>(barriers.full(ring.stage), ring.parity);
        ptx::tcgen05_fence_after_thread_sync();
        const std::uint32_t stage =
            shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
        const ScalesAt<C> scales(tensor, stage, ring.stage, tile.col + tile.filling);
        multiply_stage<C>(sums, stage, scales, operands, block == first, steps_of<C>(along, block));
        commit<C>(barriers.empty(ring.stage));
        ring.advance();
      }
      commit<C>(barriers.summed(turn.stage));
      turn.advance();
    } while (C::promotes && ++chain < own.end);
  }
}

// --- the epilogue, by warpgroups -------------------------------------------------------------------

// The warp's 16 lanes of `wave`.
template <class C>
__device__ __forceinline__ std::uint32_t lanes_of(int wave) {
  const int warp = thread_here() / 32;
  const int lane = warp * C::warp_step + wave * C::wave_step;
  return encode(tcgen05::TmemAddress{.tmem_lane = lane});
}

// Of these, as wgmma's fragment lies in registers.
template <class C, int Registers>
__device__ __forceinline__ void start_load(std::uint32_t (&d)[Registers], std::uint32_t sums) {
  constexpr tcgen05::LdForm form{tcgen05::LdShape::S16x256b, Registers / 4};
  ptx::tcgen05_ld<form>(d, sums);
}

// The sums of a wave that are in registers at one time.
template <class C>
using KeptSums = std::uint32_t[1][wgmma::accumulator_registers(C::accumulator, C::kept_columns)];

// Columns from First on, as many as are left, in loads of a power of two each; all are started before they are waited for.
template <class C, int First = 0>
__device__ __forceinline__ void load_sums(KeptSums<C>& d, std::uint32_t sums) {
  if constexpr (First == C::kept_columns) {
    ptx::tcgen05_wait_ld();
  } else {
    constexpr int columns = largest_power(C::kept_columns - First);
    std::uint32_t loaded[columns / 2];
    start_load<C>(loaded, sums + First);
    load_sums<C, First + columns>(d, sums);
    ptx::pin(loaded);
#pragma unroll
    for (int i = 0; i < columns / 2; ++i) d[0][First / 2 + i] = loaded[i];
  }
}

// Of no K. Pinned, as zeros would else be written ahead of the loads of every tile.
template <class C>
__device__ __forceinline__ void start_from_zeros(KeptSums<C>& d) {
  clear(d);
  ptx::pin(d[0]);
}

// The warp has the accumulator's sums in registers.
template <class C>
__device__ __forceinline__ void tell_drained(const TensorBarriers<C>& barriers, int accumulator) {
  ptx::tcgen05_fence_before_thread_sync();
  __syncwarp();
  if (threadIdx.x % 32 == 0) tell_leader<C>(barriers.drained(accumulator));
}

template <class C>
using OwnFactors = TileFactors<1, ColumnFactors<C::promotion, C::block_n, warpgroup_threads>>;

// The f32 sums of a consumer's wave, whose first row is that of `part`.
template <class C>
__device__ __forceinline__ void promote_wave(KeptSums<C>& d, Ring<C::accumulators>& turn,
                                             const Arguments& arguments,
                                             const TensorBarriers<C>& barriers,
                                             std::uint32_t tensor, int wave, const TilePlace& part,
                                             OwnFactors<C>& factors) {
  const std::uint32_t lanes = tensor + lanes_of<C>(wave);
  const auto load = [&](int, int part_of_wave, auto& sums) {
    if (part_of_wave == 0) {
      wait(barriers.summed(turn.stage), turn.parity);
      ptx::tcgen05_fence_after_thread_sync();
    }
    const int column = turn.stage * C::block_n + part_of_wave * C::columns_of_load;
    start_load<C>(sums, lanes + static_cast<std::uint32_t>(column));
  };
  const auto drained = [&](int) {
    tell_drained<C>(barriers, turn.stage);
    turn.advance();
  };
  BlockRange own = own_blocks<C>(arguments);
  if constexpr (groups_k<C>()) {
    own.first = part.k_first / scale_block;
    own.end = own.first + along_k<C>(arguments, part).count;
  }
  const TileEnds ends = ends_of<C>(arguments, part);
  const FragmentAt at = {part.row,     part.col,  ends.rows,           ends.cols,    part.batch,
                         part.batch_b, own.first, own.end - own.first, C::warp_step, C::wave_step};
  const Factors& of_rows = C::transposes ? arguments.block_factors_b : arguments.block_factors_a;
  const Factors& of_cols = C::transposes ? arguments.block_factors_a : arguments.block_factors_b;
  factors.start(of_rows, of_cols, at);
  promote_loaded<C::block_n / C::columns_of_load>(
      d, factors, load, [] { ptx::tcgen05_wait_ld(); }, drained);
}

// Of a tile whose K several CTAs share: the sums of one wave go to its owner; it adds what all others send, and stores.
// True: this CTA owns the wave.
template <class C>
__device__ __forceinline__ bool add_parts(KeptSums<C>& d, const SplitSums<C>& parts, int wave,
                                          const Staging<C>& staging) {
  if (parts.owns(wave))
    parts.add(d[0]);
  else
    parts.send(d[0], wave, [&] { staging.meet(); });
  return parts.owns(wave);
}

// The same of sums in accumulator 0: what is sent goes first. The row of the wave that is stored, or none below 0.
template <class C>
__device__ __forceinline__ int add_parts_of_tile(KeptSums<C>& d, const SplitSums<C>& parts,
                                                 std::uint32_t tensor, const Staging<C>& staging) {
  parts.announce();
#pragma unroll 1
  for (int wave = 0; wave < C::waves_of_tile; ++wave) {
    if (parts.owns(wave)) continue;
    load_sums<C>(d, tensor + lanes_of<C>(wave));
    add_parts<C>(d, parts, wave, staging);
  }
  if (parts.rank() >= C::waves_of_tile) return -1;
  load_sums<C>(d, tensor + lanes_of<C>(parts.rank()));
  add_parts<C>(d, parts, parts.rank(), staging);
  return parts.rank() * C::wave_step;
}

// `store` takes the columns of one pass of the epilogue, and how many are ahead of them. There is one copy of it: a loop turns
// the registers past it.
template <class C, class Store>
__device__ __forceinline__ void for_each_part(KeptSums<C>& d, Store store) {
  constexpr int parts = C::kept_columns / C::consumer_columns;
  if constexpr (parts == 1) {
    store(d, 0);
  } else {
    constexpr int each = wgmma::accumulator_registers(C::accumulator, C::consumer_columns);
#pragma unroll 1
    for (int part = 0; part < parts; ++part) {
      Accumulators<C> own;
#pragma unroll
      for (int i = 0; i < each; ++i) own[0][i] = d[0][i];
#pragma unroll
      for (int i = 0; i < (parts - 1) * each; ++i) d[0][i] = d[0][i + each];
      store(own, part * C::consumer_columns);
    }
  }
}

// By warpgroup `consumer` of these.
template <class C>
__device__ __forceinline__ void store_tiles(const CUtensorMap& map_d, const CUtensorMap& map_tail,
                                            const Arguments& arguments, std::uint32_t shared,
                                            const TensorBarriers<C>& barriers, std::uint32_t tensor,
                                            int consumer) {
  const auto number = static_cast<std::uint32_t>(consumer);
  Ring<C::accumulators> turn;
  Staging<C> staging(shared + C::store_offset + number * C::store_buffers * C::store_bytes,
                     consumer);
  const std::uint32_t bias = shared + C::bias_offset + number * C::bias_bytes;
  [[maybe_unused]] OwnFactors<C> factors(shared + C::factor_offset + number * C::factor_bytes,
                                         number + 1);
  // Sums that are promoted take all registers (cuda/NOTES.md).
  StoredTiles<C, !C::promotes> tiles(arguments, own_cluster<C>(), step_of<C>(barriers));
  [[maybe_unused]] const SplitSums<C> parts(barriers.of_split(), shared);
  TilePlace place;
  while (tiles.next(place)) {
    const TilePlace tile = own_part<C>(place, 0);
    const auto further_down = [&](int rows) {
      TilePlace part = tile;
      part.row += rows;
      return part;
    };
    // The part of the tile that begins so many rows and columns behind its first.
    const auto store_part = [&](Accumulators<C>& d, int rows, int columns) {
      TilePlace part = further_down(rows);
      part.col += columns;
      if (C::column_parts > 1 && part.col >= arguments.n) return;
      if constexpr (C::transposes)
        store_tokens<C>(d, map_d, arguments, shared, staging, consumer, tile, rows);
      else
        store_tile<C>(d, map_d, map_tail, arguments, staging,
                      bias + static_cast<std::uint32_t>(columns) * float_bytes, part);
    };
    // All that is kept, from its first column on.
    const auto store = [&](KeptSums<C>& d, int rows, int columns) {
      for_each_part<C>(
          d, [&](Accumulators<C>& part, int column) { store_part(part, rows, columns + column); });
    };
    if constexpr (C::transposes)
      prefetch_c_of_tokens<C>(arguments, tile, consumer);
    else
      stage<C>(arguments, prepare<C>(arguments, further_down(consumer * C::consumer_rows)), bias);
    if constexpr (C::promotes) {
      KeptSums<C> d;
      const int row = consumer * C::wave_step;
      promote_wave<C>(d, turn, arguments, barriers, tensor, consumer, further_down(row), factors);
      if constexpr (C::split > 1) {
        if (parts.owns(consumer)) parts.announce();
        if (!add_parts<C>(d, parts, consumer, staging)) break;
      }
      store(d, row, 0);
    } else {
      const bool has_k = along_k<C>(arguments, tile).count > 0;
      if (has_k) {
        wait(barriers.summed(turn.stage), turn.parity);
        ptx::tcgen05_fence_after_thread_sync();
      }
      if constexpr (C::split > 1) {
        KeptSums<C> d;
        const int row = add_parts_of_tile<C>(d, parts, tensor, staging);
        if (row < 0) break;
        store(d, row, 0);
        break;  // a cluster has one tile
      }
      const std::uint32_t sums = tensor + static_cast<std::uint32_t>(turn.stage * C::block_n);
      constexpr int across = C::block_n / C::kept_columns;
      const int end = (consumer + 1) * C::waves_of_consumer * across;
#pragma unroll 1
      for (int part = end - C::waves_of_consumer * across; part < end; ++part) {
        const int wave = part / across;
        const int column = part % across * C::kept_columns;
        KeptSums<C> d;
        if (has_k)
          load_sums<C>(d, sums + lanes_of<C>(wave) + static_cast<std::uint32_t>(column));
        else
          start_from_zeros<C>(d);
        if (has_k && part + 1 == end) tell_drained<C>(barriers, turn.stage);
        store(d, wave * C::wave_step, column);
      }
      if (has_k) turn.advance();
    }
  }
  staging.drain();
}

// --- the kernel ------------------------------------------------------------------------------------

// By a warp, of which one lane `leads`.
template <class C>
__device__ __forceinline__ void produce_tiles(const OperandMaps& map_a, const OperandMaps& map_b,
                                              const TensorOperands& operands,
                                              const Arguments& arguments, std::uint32_t shared,
                                              const TensorBarriers<C>& barriers, bool leads) {
  if constexpr (C::ctas == 1)
    produce<C>(map_a, map_b, arguments, shared, barriers, own_cluster<C>(), step_of<C>(barriers),
               leads, ScaleLoads<C>(operands));
  else
    produce_pair<C>(map_a.whole, map_b.whole, arguments, shared, barriers, own_cluster<C>(),
                    step_of<C>(barriers), leads, ScaleLoads<C>(operands));
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    tensor_kernel(const __grid_constant__ OperandMaps map_a,
                  const __grid_constant__ OperandMaps map_b,
                  const __grid_constant__ CUtensorMap map_d,
                  const __grid_constant__ CUtensorMap map_tail,
                  const __grid_constant__ Arguments arguments,
                  const __grid_constant__ TensorOperands operands) {
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const TensorBarriers<C> barriers{{shared + C::barrier_offset}};
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / 32, 0);
  const bool leads = ptx::elect_one();
  if (warp == producer_warp && leads) {
    if (arguments.k_blocks > 0) {
      ptx::prefetch_map(&map_a.whole);
      ptx::prefetch_map(&map_b.whole);
      ScaleLoads<C>(operands).prefetch();
    }
    ptx::prefetch_map(&map_d);
    start_barriers<C>(barriers);
  }
  if constexpr (C::ctas > 1) meet_all<C>();
  if (warp == allocator_warp) {
    ptx::tcgen05_alloc<tcgen05::AllocForm{.cta_group = C::ctas}>(shared + C::address_offset,
                                                                 C::tensor_columns);
    ptx::tcgen05_relinquish_alloc_permit<tcgen05::RelinquishForm{.cta_group = C::ctas}>();
  }
  meet_all<C>();
  const std::uint32_t tensor = ptx::load_shared(shared + C::address_offset);
  ptx::grid_launch_dependents();
  ptx::grid_wait();
  start_step<C>(arguments, step_of<C>(barriers));
  constexpr int warps = warpgroup_threads / 32;
  if (warp >= warps) {
    if constexpr (C::consumers > 1) ptx::setmaxnreg_inc<C::consumer_registers>();
    store_tiles<C>(map_d, map_tail, arguments, shared, barriers, tensor,
                   C::consumers == 1 ? 0 : warp / warps - 1);
  } else {
    if constexpr (C::consumers > 1) ptx::setmaxnreg_dec<C::producer_registers>();
    if (warp == producer_warp)
      produce_tiles<C>(map_a, map_b, operands, arguments, shared, barriers, leads);
    else if (warp == multiplier_warp && (C::grouped || leads) && is_leader<C>())
      multiply_tiles<C>(arguments, shared, barriers, tensor, operands, leads);
    if constexpr (groups_k<C>())
      if (warp >= allocator_warp)
        clear_others<C, allocator_warp>(arguments, shared, barriers, own_cluster<C>(),
                                        step_of<C>(barriers), ScaleLoads<C>(operands).turned());
    if constexpr (C::dynamic)
      if (warp == scheduler_warp && leads) barriers.answers().ask();
  }
  __syncwarp();
  meet_all<C>();
  if (static_cast<int>(threadIdx.x) / 32 != allocator_warp) return;
  // Read anew, as it would be spilled beside promoted sums.
  ptx::tcgen05_dealloc<tcgen05::DeallocForm{.cta_group = C::ctas}>(
      ptx::load_shared(shared + C::address_offset), C::tensor_columns);
}

}  // namespace tcq::gemm
