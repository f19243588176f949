// FP8's promotion: the sums of one block of K, of which wgmma keeps 13 bits, are multiplied by a factor of their row and one of
// their column and added to f32 sums: fma(row's * column's, sum, f32 sum), the product of factors rounded.
//
// Factors come straight from global memory, each a block of K ahead, in any strides: no copy of them lies in a stage, so
// that nothing but wgmma reads what TMA writes. Two sets of registers take turns: a copy from one to the other would have
// to wait for the load before the block's products are issued. A thread loads those of its own rows. Of wgmma's columns there is one
// factor for 128 (every thread loads it), or each thread loads one column's and they meet in shared memory.
// Who calls this: cuda/gemm/kernel.cuh, skinny.cuh; with sums out of Tensor Memory tensor_kernel.cuh. The bits, predicted: oracle/sum/gemm_reference.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/arguments.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/epilogue.cuh"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "cuda/ptx/wgmma.cuh"
#include "sim/isa/wgmma/fragment.h"

namespace tcq::gemm {

// From one block of K to the next: in registers, as ptxas would else ask for both in every block.
struct FactorStep {
  std::int64_t elements = 0;
  std::uint32_t exists = 0;

  __device__ __forceinline__ FactorStep() {}
  __device__ __forceinline__ explicit FactorStep(const Factors& f)
      : elements(f.k_step), exists(f.data != nullptr ? 1 : 0) {
    asm volatile("mov.b64 %0, %0;" : "+l"(elements));
    asm volatile("mov.b32 %0, %0;" : "+r"(exists));
  }
};

// Keeps loads behind arithmetic. On the chip all loads of factors count on one scoreboard, and who waits for one of them
// waits for all that were issued before it waits. ptxas lets FMULs that multiply a block's factors sink behind the loads
// of the next ones, so that they wait for loads just issued, whole latencies in each block of K. So each of those loads
// has a predicate that reads the products: it is always true, but what makes it so, the sign of a count, no compiler knows.
// Measured (H100, factors of 128 columns): 858 clocks a block of K for 1007 at 192x128 (cuda/NOTES.md).
class LoadsBehind {
 public:
  __device__ __forceinline__ explicit LoadsBehind(int blocks) {
    asm volatile("mov.b32 %0, %0;" : "+r"(blocks));
    none_ = blocks < 0 ? ~0u : 0;
  }
  __device__ __forceinline__ bool operator()(std::uint32_t bits) const {
    return (bits & none_) == 0;
  }

 private:
  std::uint32_t none_;  // 0
};

// A row or column's factors along K.
struct FactorLine {
  const float* at = nullptr;

  __device__ __forceinline__ FactorLine() {}
  // Rows and columns outside of D have the factors of the last one.
  __device__ __forceinline__ FactorLine(const Factors& f, int mn, int mn_end, int block, int batch)
      : at(f.data) {
    const int inside = min(mn, mn_end - 1);
    const int of = f.per == 1 ? inside : inside / scale_block;
    at += batch * f.batch_step + of * f.mn_step + block * f.k_step;
  }
  // Of the next block of K. Without factors `value` stays what it is.
  __device__ __forceinline__ void load(const FactorStep& step, float& value, bool wanted) {
    if (step.exists != 0 && wanted) value = __ldg(at);
    at += step.elements;
  }
};

// Where a consumer's sums begin in the matrix that wgmma computes (with few rows of D: in its transpose), what ends
// there, and whose factors are whose.
struct FragmentAt {
  int row;
  int col;
  int rows_end;
  int cols_end;
  int batch_rows;  // of the rows' factors, and of the columns'
  int batch_cols;
  int block;                       // of K: the first
  int blocks;                      // of K
  int warp_step = warp_rows;       // from the rows of one warp to those of the next
  int wave_step = warpgroup_rows;  // and from one wave to the next
};

// Of a thread's two rows of each wave.
template <int Waves>
struct RowFactors {
  FactorLine lines[Waves][2];
  FactorStep step;
  float sets[2][Waves][2];

  __device__ __forceinline__ void start(const Factors& f, const FragmentAt& at) {
    step = FactorStep(f);
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const wgmma::Element place = wgmma::accumulator_element(Type::f32, {thread_here(), 2 * i});
        const BlockAt wave_at = {.row = at.row + wave * at.wave_step, .warp_step = at.warp_step};
        const int row = row_of(wave_at, place.row);
        lines[wave][i] = FactorLine(f, row, at.rows_end, at.block, at.batch_rows);
        sets[0][wave][i] = sets[1][wave][i] = 1;
      }
    }
  }
  template <int Set>
  __device__ __forceinline__ void load(bool wanted) {
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
      for (int i = 0; i < 2; ++i) lines[wave][i].load(step, sets[Set][wave][i], wanted);
    }
  }
};

// --- of wgmma's columns ----------------------------------------------------------------------------

// The blocks of 128 columns that a tile of `columns` meets, wherever a multiple of that begins.
constexpr int column_blocks(int columns) {
  int common = scale_block;
  while (columns % common != 0) common /= 2;
  return (scale_block - common + columns + scale_block - 1) / scale_block;
}

// One factor for 128 columns.
template <int Columns, int Threads>
class ColumnBlocks {
 public:
  static constexpr int blocks = column_blocks(Columns);

  __device__ __forceinline__ ColumnBlocks(std::uint32_t, std::uint32_t) {}
  __device__ __forceinline__ void start(const Factors& f, const FragmentAt& at) {
    step_ = FactorStep(f);
    before_ = at.col % scale_block;
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
      const int col = at.col - before_ + i * scale_block;
      lines_[i] = FactorLine(f, col, at.cols_end, at.block, at.batch_cols);
      sets_[0][i] = sets_[1][i] = 1;
    }
  }
  template <int Set>
  __device__ __forceinline__ void load(bool wanted) {
#pragma unroll
    for (int i = 0; i < blocks; ++i) lines_[i].load(step_, sets_[Set][i], wanted);
  }
  template <int Set>
  __device__ __forceinline__ void stage() const {}
  __device__ __forceinline__ void meet() const {}

  // What add() multiplies by. Behind it the set may be loaded anew.
  struct Ready {
    float both[blocks][2];
  };
  template <int Set>
  __device__ __forceinline__ Ready ready(const float (&rows)[2]) const {
    Ready now;
#pragma unroll
    for (int i = 0; i < 2 * blocks; ++i)
      now.both[i / 2][i % 2] = rounded::multiply(rows[i % 2], sets_[Set][i / 2]);
    return now;
  }

  // Which the next loads stay behind.
  template <int Staged>
  __device__ __forceinline__ std::uint32_t bits(const Ready& now) const {
    std::uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < 2 * blocks; ++i) all |= __float_as_uint(now.both[i / 2][i % 2]);
    return all;
  }

  // d[r] += factors * t[r - first]: registers from `first` on.
  template <int Set, int All, int Count>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[Count],
                                      int first, const Ready& now) const {
    const int before = Columns % scale_block == 0 ? 0 : before_;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const int r = first + i;
      const int column = wgmma::accumulator_element(Type::f32, {0, r / 4 * 4}).col;
      float factor = now.both[0][r / 2 % 2];
#pragma unroll
      for (int j = 1; j < blocks; ++j)
        if (before + column >= j * scale_block) factor = now.both[j][r / 2 % 2];
      d[r] = __float_as_uint(
          rounded::multiply_add(factor, __uint_as_float(t[i]), __uint_as_float(d[r])));
    }
  }

 private:
  FactorLine lines_[blocks];
  FactorStep step_;
  float sets_[2][blocks];
  int before_ = 0;  // columns of the tile's first block
};

// One for each column, in one of two buffers in turn: who writes to one has met all that have read it before.
template <int Columns, int Threads>
class EachColumn {
 public:
  static constexpr int count = (Columns + Threads - 1) / Threads;  // that a thread loads

  __device__ __forceinline__ EachColumn(std::uint32_t shared, std::uint32_t barrier)
      : shared_(shared), barrier_(barrier) {}
  __device__ __forceinline__ void start(const Factors& f, const FragmentAt& at) {
    step_ = FactorStep(f);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      lines_[i] =
          FactorLine(f, at.col + thread_here() + i * Threads, at.cols_end, at.block, at.batch_cols);
      sets_[0][i] = sets_[1][i] = 1;
    }
  }
  template <int Set>
  __device__ __forceinline__ void load(bool wanted) {
#pragma unroll
    for (int i = 0; i < count; ++i) lines_[i].load(step_, sets_[Set][i], wanted);
  }
  template <int Set>
  __device__ __forceinline__ void stage() const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int col = thread_here() + i * Threads;
      if (col < Columns) ptx::store_shared(address<Set>(col), __float_as_uint(sets_[Set][i]));
    }
  }
  __device__ __forceinline__ void meet() const { ptx::bar_sync(barrier_, Threads); }

  struct Ready {
    float rows[2];
  };
  template <int Set>
  __device__ __forceinline__ Ready ready(const float (&rows)[2]) const {
    return {{rows[0], rows[1]}};
  }
  // With those of the set that is staged next.
  template <int Staged>
  __device__ __forceinline__ std::uint32_t bits(const Ready& now) const {
    std::uint32_t all = __float_as_uint(now.rows[0]) | __float_as_uint(now.rows[1]);
#pragma unroll
    for (int i = 0; i < count; ++i) all |= __float_as_uint(sets_[Staged][i]);
    return all;
  }

  template <int Set, int All, int Count>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[Count],
                                      int first, const Ready& now) const {
    const std::uint32_t own =
        address<Set>(wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col);
#pragma unroll
    for (int r = 0; r < Count; r += 4) {
      const int behind = wgmma::accumulator_element(Type::f32, {0, first + r}).col;
      float columns[2];
      ptx::load_shared(own + static_cast<std::uint32_t>(behind) * float_bytes, columns[0],
                       columns[1]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float factor = rounded::multiply(now.rows[i / 2], columns[i % 2]);
        std::uint32_t& sum = d[first + r + i];
        sum = __float_as_uint(
            rounded::multiply_add(factor, __uint_as_float(t[r + i]), __uint_as_float(sum)));
      }
    }
  }

 private:
  template <int Set>
  __device__ __forceinline__ std::uint32_t address(int col) const {
    return shared_ + static_cast<std::uint32_t>(Set * Columns + col) * float_bytes;
  }

  std::uint32_t shared_;
  std::uint32_t barrier_;
  FactorLine lines_[count];
  FactorStep step_;
  float sets_[2][count];
};

template <Promotion P, int Columns, int Threads>
using ColumnFactors = std::conditional_t<P == Promotion::EachColumn, EachColumn<Columns, Threads>,
                                         ColumnBlocks<Columns, Threads>>;

// --- a tile ----------------------------------------------------------------------------------------

// `multiply(wave, sums)` waits for the next block of K and issues the products of 64 rows; `done(left)` says that all of
// them have been read, of the block with which `left` of them are left. A block's factors are in one of two sets in turn:
// once the next products are on their way its factors are multiplied, and then (LoadsBehind) the next but one's are asked
// for, so that nothing stands between the end of the products, their addition and the next ones.
//
// Products of a block run while those of the block before are added, where there are registers for both.
template <class Columns, int Registers, class Multiply, class Done>
__device__ __forceinline__ void promote_behind(std::uint32_t (&d)[1][Registers],
                                               RowFactors<1>& rows, Columns& columns, int blocks,
                                               Multiply multiply, Done done) {
  std::uint32_t sums[2][Registers];
  const LoadsBehind behind(blocks);
  const auto load = [&](auto set, bool wanted) {
    rows.template load<decltype(set)::value>(wanted);
    columns.template load<decltype(set)::value>(wanted);
  };
  const auto add = [&](auto set, int left, const auto& ready) {
    constexpr int here = decltype(set)::value;
    ptx::pin(sums[here]);
    done(left);
    columns.template add<here>(d[0], sums[here], 0, ready);
  };
  const auto add_behind = [&](auto set, int left) {
    constexpr int here = decltype(set)::value;
    multiply(0, sums[1 - here]);
    const auto ready = columns.template ready<here>(rows.sets[here][0]);
    load(set, left > 2 && behind(columns.template bits<1 - here>(ready)));
    columns.meet();  // all have added the block before, whose factors make room
    columns.template stage<1 - here>();
    ptx::wgmma_wait_group<1>();
    add(set, left, ready);
  };
  const auto add_last = [&](auto set) {
    constexpr int here = decltype(set)::value;
    columns.meet();
    ptx::wgmma_wait_group<0>();
    add(set, 1, columns.template ready<here>(rows.sets[here][0]));
  };
  constexpr std::integral_constant<int, 0> even{};
  constexpr std::integral_constant<int, 1> odd{};
  load(even, true);
  columns.template stage<0>();
  multiply(0, sums[0]);
  if (blocks > 1) load(odd, true);
#pragma unroll 1
  for (int left = blocks;; left -= 2) {
    if (left == 1) return add_last(even);
    add_behind(even, left);
    if (left == 2) return add_last(odd);
    add_behind(odd, left - 1);
  }
}

// Else 64 rows after the other, each in so many parts of their columns; factors of the next block are asked for while the
// first of them are on their way: from `start(wave, part, sums)` until `landed()`.
template <int Parts, int Waves, class Columns, int Registers, class Start, class Landed, class Done>
__device__ __forceinline__ void promote_alone(std::uint32_t (&d)[Waves][Registers],
                                              RowFactors<Waves>& rows, Columns& columns, int blocks,
                                              Start start, Landed landed, Done done) {
  constexpr int each = Registers / Parts;
  const LoadsBehind behind(blocks);
  const auto load = [&](auto set, bool wanted) {
    rows.template load<decltype(set)::value>(wanted);
    columns.template load<decltype(set)::value>(wanted);
  };
  const auto block_of = [&](auto set, auto next, int left) {
    constexpr int here = decltype(set)::value;
    columns.template stage<here>();
    typename Columns::Ready ready[Waves];
#pragma unroll
    for (int i = 0; i < Waves * Parts; ++i) {
      const int wave = i / Parts;
      std::uint32_t sums[each];
      start(wave, i % Parts, sums);
      if (i == 0) {
        std::uint32_t bits = 0;
#pragma unroll
        for (int j = 0; j < Waves; ++j) {
          ready[j] = columns.template ready<here>(rows.sets[here][j]);
          bits |= columns.template bits<here>(ready[j]);
        }
        load(next, left > 1 && behind(bits));
        columns.meet();
      }
      landed();
      ptx::pin(sums);
      if (i + 1 == Waves * Parts) done(left);
      columns.template add<here>(d[wave], sums, i % Parts * each, ready[wave]);
    }
  };
  constexpr std::integral_constant<int, 0> even{};
  constexpr std::integral_constant<int, 1> odd{};
  load(even, true);
#pragma unroll 1
  for (int left = blocks;; left -= 2) {
    block_of(even, odd, left);
    if (left == 1) return;
    block_of(odd, even, left - 1);
    if (left == 2) return;
  }
}

// Sums of 0 and the lines of factors, and then, if there are blocks of K, `add_all(their number)`.
template <int Waves, int Registers, class Columns, class AddAll>
__device__ __forceinline__ void begin(std::uint32_t (&d)[Waves][Registers], RowFactors<Waves>& rows,
                                      Columns& columns, const Factors& of_rows,
                                      const Factors& of_columns, const FragmentAt& at,
                                      AddAll add_all) {
  rows.start(of_rows, at);
  columns.start(of_columns, at);
#pragma unroll
  for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
    for (std::uint32_t& word : d[wave]) word = 0;
  }
  if (at.blocks == 0) return;
  int blocks = at.blocks;
  asm volatile("mov.b32 %0, %0;" : "+r"(blocks));
  columns.meet();  // all have read the factors of the tile before
  add_all(blocks);
}

// `Behind`: there are registers for the products of two blocks.
template <bool Behind, int Waves, int Registers, class Columns, class Multiply, class Done>
__device__ __forceinline__ void promote(std::uint32_t (&d)[Waves][Registers], Columns& columns,
                                        const Factors& of_rows, const Factors& of_columns,
                                        const FragmentAt& at, Multiply multiply, Done done) {
  RowFactors<Waves> rows;
  begin(d, rows, columns, of_rows, of_columns, at, [&](int blocks) {
    if constexpr (Behind)
      promote_behind(d, rows, columns, blocks, multiply, done);
    else
      promote_alone<1>(
          d, rows, columns, blocks, [&](int wave, int, auto& sums) { multiply(wave, sums); },
          [] { ptx::wgmma_wait_group<0>(); }, done);
  });
}

// Of sums that others have multiplied: `load(wave, part, sums)` asks for a part of them.
template <int Parts, int Waves, int Registers, class Columns, class Load, class Landed, class Done>
__device__ __forceinline__ void promote_loaded(std::uint32_t (&d)[Waves][Registers],
                                               Columns& columns, const Factors& of_rows,
                                               const Factors& of_columns, const FragmentAt& at,
                                               Load load, Landed landed, Done done) {
  RowFactors<Waves> rows;
  begin(d, rows, columns, of_rows, of_columns, at,
        [&](int blocks) { promote_alone<Parts>(d, rows, columns, blocks, load, landed, done); });
}

}  // namespace tcq::gemm
