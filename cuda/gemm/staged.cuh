// Factors of blocks of K that TMA brings to shared memory, those of four blocks at a time, beside the first of these blocks'
// tiles: FactorLoads is the producer's, StagedFactors the consumers'.
//
// Slots of four blocks go round, as many as stages, so that a slot's turn comes no sooner than that of the last stage whose
// factors it had: once that is free all warps have read the slot, and behind a proxy fence of the producer TMA may write there.
// In a slot the rows of the CTA's tile have four floats each, or each of the four blocks has those of all rows one behind the
// other, as they lie in global memory; so have the blocks of 128 columns behind them.
// Why: cuda/NOTES.md, "factors that TMA brings". What TMA cannot address is promote.cuh's.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/multiply.cuh"
#include "cuda/gemm/produce.cuh"
#include "cuda/gemm/promote.cuh"
#include "cuda/gemm/tensor_operands.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/wgmma/fragment.h"

namespace tcq::gemm {

template <class C>
class FactorLoads {
 public:
  __device__ __forceinline__ FactorLoads(const TensorOperands& maps, const Arguments& arguments,
                                         std::uint32_t shared)
      : maps_(maps),
        along_k_a_(lie_along_k(arguments.block_factors_a)),
        along_k_b_(lie_along_k(arguments.block_factors_b)),
        slots_(shared + C::slot_offset) {}

  __device__ __forceinline__ Turned turned() const { return {}; }
  // `block`: of the part of K that the tile has.
  __device__ __forceinline__ std::uint32_t bytes(const TilePlace& tile, int block) const {
    if (!needs_slot(block, of_k(tile, block))) return 0;
    return slot_bytes_of(C::block_m +
                         (along_k_b_ ? column_blocks(C::consumer_columns) : column_blocks_of_slot));
  }

  __device__ __forceinline__ void load(const TilePlace& tile, int block, std::uint32_t,
                                       std::uint32_t barrier, bool leads) {
    const int its = of_k(tile, block);
    if (!needs_slot(block, its)) return;
    const int turns = its / factor_turns * factor_turns;  // the first of the slot
    const Rank rank = own_rank<C>();
    const int row = tile.row + rank.row * C::block_m;
    const int col = (tile.col + rank.col * C::block_n) / scale_block;
    const std::uint32_t slot = slots_ + slot_ * C::slot_bytes;
    const int first = col / unit_factors * unit_factors;
    const tma::Coordinates start_a = start(along_k_a_, turns, row, tile.batch);
    const tma::Coordinates start_b =
        start(along_k_b_, turns, along_k_b_ ? col : first, tile.batch_b);
    // All have read the slot.
    ptx::fence_proxy_async_shared();
    ptx::tma_load_by(leads, slot, &maps_.scales_a, start_a, barrier);
    ptx::tma_load_by(leads, slot + slot_bytes_of(C::block_m), &maps_.scales_b, start_b, barrier);
    slot_ = slot_ + 1 == C::stages ? 0 : slot_ + 1;
  }

 private:
  __device__ __forceinline__ static int of_k(const TilePlace& tile, int block) {
    return streams_k<C>() ? tile.k_first / scale_block + block : block;
  }
  // A part of a tile may begin within a slot's four blocks.
  __device__ __forceinline__ static bool needs_slot(int block, int of_k) {
    return of_k % factor_turns == 0 || (streams_k<C>() && block == 0);
  }
  __device__ __forceinline__ static tma::Coordinates start(bool along_k, int block, int mn,
                                                           int batch) {
    return along_k ? tma::Coordinates{{block, mn, batch}} : tma::Coordinates{{mn, block, batch}};
  }

  const TensorOperands& maps_;
  bool along_k_a_;
  bool along_k_b_;
  std::uint32_t slots_;
  std::uint32_t slot_ = 0;
};

// An operand's descriptors of stage after stage: their low words, which alone hold an address, one addition from one to the
// next. What advance() takes would stand between sums that are added and the next products; and shfl, as ptxas would work a
// value out anew for each stage that it sees through.
template <class C, class Op, wgmma::Multiplicand Which>
class StageDescriptors {
 public:
  __device__ __forceinline__ StageDescriptors(std::uint32_t first, int stage)
      : first_(__shfl_sync(~0u, static_cast<std::uint32_t>(advance(layout(), first)), 0)),
        low_(first_ + static_cast<std::uint32_t>(stage) * units(C::stage_bytes)) {}

  // To stage `stage`, which is the next.
  __device__ __forceinline__ void advance_to(int stage) {
    low_ = stage == 0 ? first_ : low_ + units(C::stage_bytes);
  }
  __device__ __forceinline__ std::uint64_t at(std::uint32_t bytes) const {
    constexpr std::uint64_t high = layout() - static_cast<std::uint32_t>(layout());
    return high + (low_ + units(bytes));
  }

 private:
  HOST_DEVICE static constexpr std::uint64_t layout() {
    return Op::descriptor(operand_extent(C::form, Which));
  }
  HOST_DEVICE static constexpr std::uint32_t units(std::uint32_t bytes) {
    return static_cast<std::uint32_t>(StartAddress::encode(bytes));
  }
  std::uint32_t first_;
  std::uint32_t low_;
};

// For StageReader.
template <class C>
class DescribedOperands {
 public:
  __device__ __forceinline__ DescribedOperands(std::uint32_t shared, StagePart part, int stage)
      : a_(shared + part.rows, stage), b_(shared + C::A::bytes + part.columns, stage) {}
  __device__ __forceinline__ void advance_to(int stage) {
    a_.advance_to(stage);
    b_.advance_to(stage);
  }
  template <int Registers>
  __device__ __forceinline__ void multiply(std::uint32_t (&sums)[Registers], int wave, int) const {
    const std::uint32_t rows = C::A::offset(wave * warpgroup_rows, 0);
    multiply_described<C>(
        sums, [&](std::uint32_t bytes) { return a_.at(rows + bytes); },
        [&](std::uint32_t bytes) { return b_.at(bytes); }, false);
  }

 private:
  StageDescriptors<C, typename C::A, wgmma::Multiplicand::A> a_;
  StageDescriptors<C, typename C::B, wgmma::Multiplicand::B> b_;
};

// As TileFactors of promote.cuh, whose place it takes.
template <class C>
class StagedFactors {
 public:
  using Columns = ColumnBlocks<C::consumer_columns, warpgroup_threads>;
  using Ready = typename Columns::Ready;
  using Rows = typename RowFactors<C::waves>::Two;

  __device__ __forceinline__ StagedFactors(std::uint32_t slots, std::uint32_t)
      : slots_(slots), slot_(slots + (C::stages - 1) * C::slot_bytes) {}

  // `first_row`: of the consumer, in the tile.
  __device__ __forceinline__ void start(const Factors& of_rows, const Factors& of_columns,
                                        int first_row, const FragmentAt& at) {
    const bool along_k = lie_along_k(of_rows);
    const bool columns_along_k = lie_along_k(of_columns);
    const int row = first_row + wgmma::accumulator_element(Type::f32, {thread_here(), 0}).row;
    const std::uint32_t row_step = along_k ? factor_turns * float_bytes : float_bytes;
    first_ = at.block;
    end_ = at.block + at.blocks;
    before_ = at.col % scale_block;
    row_ = static_cast<std::uint32_t>(row) * row_step;
    second_ = row_pair * row_step;
    row_k_step_ = along_k ? float_bytes : C::block_m * float_bytes;
    column_step_ = columns_along_k ? factor_turns * float_bytes : float_bytes;
    column_k_step_ = columns_along_k ? float_bytes : column_blocks_of_slot * float_bytes;
    const int first = columns_along_k ? 0 : at.col / scale_block % unit_factors;
    column_ = slot_bytes_of(C::block_m) + static_cast<std::uint32_t>(first) * column_step_;
    keep(row_, second_, row_k_step_, column_, column_step_, column_k_step_);
    asm volatile("mov.b32 %0, %0;" : "+r"(end_));
    advance_slot();
    if constexpr (streams_k<C>()) {
      const auto turn = static_cast<std::uint32_t>(first_ % factor_turns);
      row_at_ += turn * row_k_step_;
      column_at_ += turn * column_k_step_;
    }
    keep(row_at_, column_at_);
  }
  // Blocks of K: the first of the tile's part, and the one behind the last.
  __device__ __forceinline__ int first() const { return first_; }
  __device__ __forceinline__ int end() const { return end_; }

  // To block `block` of K, while products of the one ahead are on their way: nothing is left to work out once those are
  // added.
  __device__ __forceinline__ void advance_to(int block) {
    if (block % factor_turns == 0) {
      advance_slot();
    } else {
      row_at_ += row_k_step_;
      column_at_ += column_k_step_;
    }
    keep(row_at_, column_at_);
  }

  // Of the block whose stage is there.
  struct Loaded {
    float column[Columns::blocks];
    Rows rows[C::waves];
  };
  __device__ __forceinline__ Loaded load() const {
    Loaded all;
#pragma unroll
    for (int i = 0; i < Columns::blocks; ++i)
      all.column[i] = load_float(column_at_ + static_cast<std::uint32_t>(i) * column_step_);
#pragma unroll
    for (int wave = 0; wave < C::waves; ++wave) {
      const std::uint32_t at =
          row_at_ + static_cast<std::uint32_t>(wave * warpgroup_rows / row_pair) * second_;
      all.rows[wave] = {{load_float(at), load_float(at + second_)}};
    }
    return all;
  }

  __device__ __forceinline__ Ready ready(const Loaded& all, int wave) const {
    return Columns::ready(all.rows[wave], all.column, before_);
  }

  template <int All>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[All],
                                      const Ready& now) const {
    Columns::template add<false>(d, t, 0, now);
  }

 private:
  __device__ __forceinline__ void advance_slot() {
    slot_ += C::slot_bytes;
    if (slot_ == slots_ + C::stages * C::slot_bytes) slot_ = slots_;
    row_at_ = slot_ + row_;
    column_at_ = slot_ + column_;
  }

  // From a thread's first row of a fragment to its second.
  static constexpr int row_pair = wgmma::accumulator_element(Type::f32, {0, 2}).row;

  // In registers, where ptxas would work them out anew in each block.
  template <class... Words>
  __device__ __forceinline__ static void keep(Words&... words) {
    (..., [&] { asm volatile("mov.b32 %0, %0;" : "+r"(words)); }());
  }
  __device__ __forceinline__ static float load_float(std::uint32_t at) {
    return __uint_as_float(ptx::load_shared(at));
  }

  std::uint32_t slots_;
  std::uint32_t slot_;
  std::uint32_t row_ = 0;     // in a slot: the thread's first row
  std::uint32_t second_ = 0;  // and from that to its second
  std::uint32_t row_k_step_ = 0;
  std::uint32_t column_ = 0;  // the same of blocks of columns, and from one of these to the next
  std::uint32_t column_step_ = 0;
  std::uint32_t column_k_step_ = 0;
  std::uint32_t row_at_ = 0;  // of the block that is read next
  std::uint32_t column_at_ = 0;
  int first_ = 0;
  int end_ = 0;
  int before_ = 0;
};

// As promote() of promote.cuh; `begin()` may put other sums in the place of zeros. `reach()` waits for the next block's stage, whose factors are read before its products are
// issued: an issue that waits for them would leave the tensor cores idle. `look()` is called once, while the last block's are
// on their way: TMA loads no tile without blocks (cuda/gemm/plan.cc).
template <class Factors, int Waves, int Registers, class Begin, class Reach, class Multiply,
          class Done, class Look>
__device__ __forceinline__ void promote_staged(std::uint32_t (&d)[Waves][Registers],
                                               Factors& factors, Begin begin, Reach reach,
                                               Multiply multiply, Done done, Look look) {
  const int end = factors.end();
  clear_in_other_bank(d, end);
  begin();
#pragma unroll 1
  for (int block = factors.first(); block < end; ++block) {
    reach();
    const auto loaded = factors.load();
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
      std::uint32_t sums[Registers];
      multiply(wave, sums);
      if (wave + 1 == Waves) {
        if (block + 1 < end)
          factors.advance_to(block + 1);
        else
          look();
      }
      const typename Factors::Ready ready = factors.ready(loaded, wave);
      ptx::wgmma_wait_group<0>();
      ptx::pin(sums);
      if (wave + 1 == Waves) {
        __syncwarp();  // all lanes have read the factors
        done(end - block);
      }
      factors.add(d[wave], sums, ready);
    }
  }
}

}  // namespace tcq::gemm
