// Factors of blocks of K that TMA brings to shared memory, those of four blocks at a time, beside the first of these blocks'
// tiles: FactorLoads is the producer's, StagedFactors the consumers'.
//
// Slots of four blocks go round, as many as stages, so that a slot's turn comes no sooner than that of the last stage whose
// factors it had: once that is free all warps have read the slot, and behind a proxy fence of the producer TMA may write there.
// In a slot the rows of the CTA's tile have four floats each, or each of the four blocks has those of all rows one behind the
// other, as they lie in global memory; so have the blocks of 128 columns, or all columns, behind them.
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
                         column_factors_of_box(C::promotion, C::consumer_columns, along_k_b_));
  }

  __device__ __forceinline__ void load(const TilePlace& tile, int block, std::uint32_t,
                                       std::uint32_t barrier, bool leads) {
    const int its = of_k(tile, block);
    if (!needs_slot(block, its)) return;
    const int turns = its / factor_turns * factor_turns;  // the first of the slot
    const Rank rank = own_rank<C>();
    const int row = tile.row + rank.row * C::block_m;
    const int col = (tile.col + rank.col * C::block_n) / C::columns_of_factor;
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

// In registers, where ptxas would work them out anew in each block.
template <class... Words>
__device__ __forceinline__ void keep(Words&... words) {
  (..., [&] { asm volatile("mov.b32 %0, %0;" : "+r"(words)); }());
}

// Are a block's products issued before those of the block before are added? Of two consumers with 128 columns, who have registers
// for both; with fewer columns it is slower (cuda/NOTES.md, "products ahead of additions").
template <class C>
inline constexpr bool multiplies_ahead =
    C::consumers == 2 && C::waves == 1 && C::consumer_columns == scale_block;

// What a consumer reads of the columns' factors: of blocks of 128, read ahead of a block's products.
template <class C>
class StagedColumnBlocks {
  using Blocks = ColumnBlocks<C::consumer_columns, warpgroup_threads>;

 public:
  using Ready = typename Blocks::Ready;
  static constexpr bool reads_late = false;
  struct Loaded {
    float of[Blocks::blocks];
  };

  // Where those of the tile begin in a slot.
  __device__ __forceinline__ std::uint32_t start(bool along_k, const FragmentAt& at) {
    before_ = at.col % scale_block;
    step_ = along_k ? factor_turns * float_bytes : float_bytes;
    const int first = along_k ? 0 : at.col / scale_block % unit_factors;
    keep(step_);
    return static_cast<std::uint32_t>(first) * step_;
  }
  __device__ __forceinline__ Loaded load(std::uint32_t at) const {
    Loaded all;
#pragma unroll
    for (int i = 0; i < Blocks::blocks; ++i)
      all.of[i] = load_float(at + static_cast<std::uint32_t>(i) * step_);
    return all;
  }
  template <class Rows>
  __device__ __forceinline__ Ready ready(const Rows& rows, const Loaded& all, std::uint32_t) const {
    return Blocks::ready(rows, all.of, before_);
  }
  template <int All>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[All],
                                      const Ready& now) const {
    Blocks::template add<false>(d, t, 0, now);
  }

 private:
  std::uint32_t step_ = 0;
  int before_ = 0;
};

// Of each column. They are multiplied by the rows' while the products are on their way, where a thread has registers for that;
// else (reads_late) while sums are added.
template <class C>
class StagedEachColumn {
  static constexpr int count = C::consumer_columns / 2;  // registers of a wave

 public:
  static constexpr bool reads_late =
      multiplies_ahead<C> || C::consumers != 2 || C::waves > 1 || C::consumer_columns > 128;
  struct Loaded {};
  struct Ready {
    float both[reads_late ? 1 : count];
    float rows[2];
    std::uint32_t at;
  };

  __device__ __forceinline__ std::uint32_t start(bool along_k, const FragmentAt&) {
    along_k_ = along_k ? 1 : 0;
    const int first = wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col;
    keep(along_k_);
    return static_cast<std::uint32_t>(first) * (along_k ? factor_turns : 1) * float_bytes;
  }
  __device__ __forceinline__ Loaded load(std::uint32_t) const { return {}; }

  template <class Rows>
  __device__ __forceinline__ Ready ready(const Rows& rows, const Loaded&, std::uint32_t at) const {
    Ready now;
    if constexpr (reads_late) {
      now.rows[0] = rows.of[0];
      now.rows[1] = rows.of[1];
      now.at = at;
    } else {
      for_each(at, [&](int r, float column) {
        now.both[r] = rounded::multiply(rows.of[r / 2 % 2], column);
      });
      keep_all(now.both);
    }
    return now;
  }
  template <int All>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[All],
                                      const Ready& now) const {
    if constexpr (reads_late) {
      for_each(now.at, [&](int r, float column) {
        add_product<false>(d[r], rounded::multiply(now.rows[r / 2 % 2], column), t[r]);
      });
    } else {
#pragma unroll
      for (int r = 0; r < All; ++r) add_product<false>(d[r], now.both[r], t[r]);
    }
  }

 private:
  __device__ __forceinline__ static void keep_all(float (&all)[count]) {
#pragma unroll
    for (float& one : all) asm volatile("mov.b32 %0, %0;" : "+f"(one));
  }
  // `function(register, its column's factor)`.
  template <class Function>
  __device__ __forceinline__ void for_each(std::uint32_t at, Function function) const {
    const auto all = [&](auto load) {
#pragma unroll
      for (int r = 0; r < count; r += 4) {
        const auto col =
            static_cast<std::uint32_t>(wgmma::accumulator_element(Type::f32, {0, r}).col);
        float columns[2];
        load(col, columns);
#pragma unroll
        for (int i = 0; i < 4; ++i) function(r + i, columns[i % 2]);
      }
    };
    if (along_k_ != 0)
      all([&](std::uint32_t col, float(&columns)[2]) {
        constexpr std::uint32_t step = factor_turns * float_bytes;
        columns[0] = load_float(at + col * step);
        columns[1] = load_float(at + (col + 1) * step);
      });
    else
      all([&](std::uint32_t col, float(&columns)[2]) {
        ptx::load_shared(at + col * float_bytes, columns[0], columns[1]);
      });
  }

  std::uint32_t along_k_ = 0;
};

template <class C>
using StagedColumns = std::conditional_t<C::promotion == Promotion::EachColumn, StagedEachColumn<C>,
                                         StagedColumnBlocks<C>>;

// As TileFactors of promote.cuh, whose place it takes.
template <class C>
class StagedFactors {
  using Columns = StagedColumns<C>;

 public:
  using Ready = typename Columns::Ready;
  using Rows = typename RowFactors<C::waves>::Two;
  // Are they read while sums are added?
  static constexpr bool reads_late = Columns::reads_late;

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
    row_ = static_cast<std::uint32_t>(row) * row_step;
    second_ = row_pair * row_step;
    row_k_step_ = along_k ? float_bytes : C::block_m * float_bytes;
    column_k_step_ = columns_along_k ? float_bytes : C::column_factors * float_bytes;
    column_ = slot_bytes_of(C::block_m) + columns_.start(columns_along_k, at);
    keep(row_, second_, row_k_step_, column_, column_k_step_);
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
    typename Columns::Loaded columns;
    Rows rows[C::waves];
    std::uint32_t column_at;
  };
  __device__ __forceinline__ Loaded load() const {
    Loaded all;
    all.columns = columns_.load(column_at_);
    all.column_at = column_at_;
#pragma unroll
    for (int wave = 0; wave < C::waves; ++wave) {
      const std::uint32_t at =
          row_at_ + static_cast<std::uint32_t>(wave * warpgroup_rows / row_pair) * second_;
      all.rows[wave] = {{load_float(at), load_float(at + second_)}};
    }
    return all;
  }

  __device__ __forceinline__ Ready ready(const Loaded& all, int wave) const {
    return columns_.ready(all.rows[wave], all.columns, all.column_at);
  }
  template <int All>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[All],
                                      const Ready& now) const {
    columns_.add(d, t, now);
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

  Columns columns_;
  std::uint32_t slots_;
  std::uint32_t slot_;
  std::uint32_t row_ = 0;     // in a slot: the thread's first row
  std::uint32_t second_ = 0;  // and from that to its second
  std::uint32_t row_k_step_ = 0;
  std::uint32_t column_ = 0;  // the same of columns
  std::uint32_t column_k_step_ = 0;
  std::uint32_t row_at_ = 0;  // of the block that is read next
  std::uint32_t column_at_ = 0;
  int first_ = 0;
  int end_ = 0;
};

// Adds what has landed in `sums`. Leaves: this is the last that a block's factors are read for, and `done()` gives its stage back.
template <bool Leaves, class Factors, int Registers, class Done>
__device__ __forceinline__ void add_landed(std::uint32_t (&d)[Registers],
                                           std::uint32_t (&sums)[Registers], const Factors& factors,
                                           const typename Factors::Ready& ready, Done done) {
  ptx::pin(sums);
  const auto leave = [&] {
    __syncwarp();  // all lanes have read the factors
    done();
  };
  if (Leaves && !Factors::reads_late) leave();
  factors.add(d, sums, ready);
  if (Leaves && Factors::reads_late) leave();
}

// As promote() of promote.cuh; `begin()` may put other sums in the place of zeros. `reach()` waits for the next block's stage,
// whose factors are read before its products are issued: an issue that waits for them would leave the tensor cores idle. `look()`
// is called once, while the last block's are on their way: TMA loads no tile without blocks (cuda/gemm/plan.cc).
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
      if (wave + 1 == Waves)
        add_landed<true>(d[wave], sums, factors, ready, [&] { done(end - block); });
      else
        add_landed<false>(d[wave], sums, factors, ready, [] {});
    }
  }
}

// The same where the next block's products run while a block's are added.
template <class Factors, int Registers, class Begin, class Reach, class Multiply, class Done,
          class Look>
__device__ __forceinline__ void promote_ahead(std::uint32_t (&d)[1][Registers], Factors& factors,
                                              Begin begin, Reach reach, Multiply multiply,
                                              Done done, Look look) {
  const int end = factors.end();
  clear_in_other_bank(d, end);
  begin();
  int block = factors.first();
  std::uint32_t even[Registers];
  std::uint32_t odd[Registers];
  reach();
  auto loaded = factors.load();
  const auto issue_next = [&](auto& sums) {
    factors.advance_to(block + 1);
    reach();
    const auto before = loaded;
    loaded = factors.load();
    multiply(0, sums);
    return before;
  };
  const auto add = [&](auto& sums, const auto& its, auto wait) {
    const typename Factors::Ready ready = factors.ready(its, 0);
    wait();
    add_landed<true>(d[0], sums, factors, ready, [&] { done(end - block); });
    ++block;
  };
  const auto all_but_next = [] { ptx::wgmma_wait_group<1>(); };
  const auto add_last = [&](auto& sums) {
    look();
    add(sums, loaded, [] { ptx::wgmma_wait_group<0>(); });
  };
  multiply(0, even);
#pragma unroll 1
  for (;;) {
    if (block + 1 == end) return add_last(even);
    const auto of_even = issue_next(odd);
    add(even, of_even, all_but_next);
    if (block + 1 == end) return add_last(odd);
    const auto of_odd = issue_next(even);
    add(odd, of_odd, all_but_next);
  }
}

}  // namespace tcq::gemm
