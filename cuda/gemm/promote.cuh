// FP8's promotion: the sums of one block of K, of which wgmma keeps 13 bits, are multiplied by a factor of their row and one of
// their column and added to f32 sums: fma(row's * column's, sum, f32 sum), the product of factors rounded.
//
// Factors come straight from global memory, four blocks of K at once and four ahead, in any strides: no copy of them lies in
// a stage, so that nothing but wgmma reads what TMA writes. A row of a fragment belongs to four threads, each of which loads
// one of the four blocks' factors, and shfl brings the one that is due: a quarter of the loads, whole sectors where factors
// lie along K. Of wgmma's columns there is one factor for 128 (four threads load four blocks'), or four threads load
// those of four columns, and all meet in shared memory.
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

// To the factors of the next four blocks of K: in registers, as ptxas would else ask for both each time.
struct FactorStep {
  std::int64_t elements = 0;
  std::uint32_t exists = 0;

  __device__ __forceinline__ FactorStep() {}
  __device__ __forceinline__ explicit FactorStep(const Factors& f)
      : elements(factor_turns * f.k_step), exists(f.data != nullptr ? 1 : 0) {
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
  __device__ __forceinline__ LoadsBehind() {}
  __device__ __forceinline__ explicit LoadsBehind(int blocks) {
    asm volatile("mov.b32 %0, %0;" : "+r"(blocks));
    none_ = blocks < 0 ? ~0u : 0;
  }
  __device__ __forceinline__ bool operator()(std::uint32_t bits) const {
    return (bits & none_) == 0;
  }
  __device__ __forceinline__ std::uint32_t none() const { return none_; }

 private:
  std::uint32_t none_;  // 0
};

// By predicate and into the register that holds the value: what C++ has for it, ptxas makes a load into another register
// and a copy, which waits for the load.
__device__ __forceinline__ void load_if(bool wanted, const float* from, float& value) {
  asm volatile(
      "{\n.reg .pred wanted;\nsetp.ne.u32 wanted, %2, 0;\n@wanted ld.global.nc.f32 %0, [%1];\n}"
      : "+f"(value)
      : "l"(from), "r"(static_cast<std::uint32_t>(wanted)));
}

// A row or column's factors along K.
struct FactorLine {
  const float* at = nullptr;  // of the block of the next four that this thread loads
  float held = 1;             // the factor of that block of these four
  float coming = 1;           // and of the next four

  __device__ __forceinline__ FactorLine() {}
  // Rows and columns outside of D have the factors of the last one.
  __device__ __forceinline__ FactorLine(const Factors& f, int mn, int mn_end, int block, int batch)
      : at(f.data) {
    const int inside = min(mn, mn_end - 1);
    const int of = f.per == 1 ? inside : inside / scale_block;
    at += batch * f.batch_step + of * f.mn_step + (block + own_turn()) * f.k_step;
  }
  __device__ __forceinline__ static int own_turn() {
    return static_cast<int>(threadIdx.x) % factor_turns;
  }
  // Of the next four blocks of K. Without factors they stay 1.
  __device__ __forceinline__ void load(const FactorStep& step, bool wanted) {
    load_if(step.exists != 0 && wanted, at, coming);
    at += step.elements;
  }
  // `none` is 0. Were it a copy, ptxas would keep the value in its register, load into another one and copy that, which
  // would wait for a load just issued.
  __device__ __forceinline__ std::uint32_t turn(std::uint32_t none) {
    asm volatile("or.b32 %0, %1, %2;" : "=f"(held) : "f"(coming), "r"(none));
    return __float_as_uint(held);
  }
  // Of block `block` of the tile.
  __device__ __forceinline__ float of(int block) const {
    return __shfl_sync(~0u, held, block, factor_turns);
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
      }
    }
  }
  __device__ __forceinline__ void load(bool wanted) {
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
      for (FactorLine& line : lines[wave]) line.load(step, wanted);
    }
  }
  __device__ __forceinline__ std::uint32_t turn(std::uint32_t none) {
    std::uint32_t all = 0;
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
      for (FactorLine& line : lines[wave]) all |= line.turn(none);
    }
    return all;
  }
  struct Two {
    float of[2];
  };
  __device__ __forceinline__ Two of(int wave, int block) const {
    return {{lines[wave][0].of(block), lines[wave][1].of(block)}};
  }
};

// sum = factor * words + sum, or + 0: a sum that is not there costs no register that is cleared.
template <bool Fresh>
__device__ __forceinline__ void add_product(std::uint32_t& sum, float factor, std::uint32_t word) {
  const float before = Fresh ? 0.0f : __uint_as_float(sum);
  sum = __float_as_uint(rounded::multiply_add(factor, __uint_as_float(word), before));
}

// --- of wgmma's columns ----------------------------------------------------------------------------

// One factor for 128 columns.
template <int Columns, int Threads>
class ColumnBlocks {
 public:
  static constexpr int blocks = column_blocks(Columns);
  static constexpr int common = common_columns(Columns);
  static constexpr bool parts_banks = true;

  __device__ __forceinline__ ColumnBlocks(std::uint32_t, std::uint32_t) {}
  __device__ __forceinline__ void start(const Factors& f, const FragmentAt& at) {
    step_ = FactorStep(f);
    before_ = at.col % scale_block;
#pragma unroll
    for (int i = 0; i < blocks; ++i) {
      const int col = at.col - before_ + i * scale_block;
      lines_[i] = FactorLine(f, col, at.cols_end, at.block, at.batch_cols);
    }
  }
  __device__ __forceinline__ void load(bool wanted) {
#pragma unroll
    for (FactorLine& line : lines_) line.load(step_, wanted);
  }
  __device__ __forceinline__ std::uint32_t turn(int, std::uint32_t none) {
    std::uint32_t all = 0;
#pragma unroll
    for (FactorLine& line : lines_) all |= line.turn(none);
    return all;
  }
  __device__ __forceinline__ void meet(int) const {}

  // What add() multiplies by: of so many columns that lie in one block, and of a thread's two rows.
  struct Ready {
    float both[Columns / common][2];
  };
  template <class Rows>
  __device__ __forceinline__ Ready ready(const Rows& rows, int block) const {
    float column[blocks];
#pragma unroll
    for (int i = 0; i < blocks; ++i) column[i] = lines_[i].of(block);
    return ready(rows, column, before_);
  }
  // `before`: columns of the tile's first block that are ahead of it.
  template <class Rows>
  __device__ __forceinline__ static Ready ready(const Rows& rows, const float (&column)[blocks],
                                                int before) {
    Ready now;
#pragma unroll
    for (int at = 0; at < Columns; at += common) {
      float its = column[0];
#pragma unroll
      for (int i = 1; i < blocks; ++i)
        if (before + at >= i * scale_block) its = column[i];
#pragma unroll
      for (int j = 0; j < 2; ++j) now.both[at / common][j] = rounded::multiply(rows.of[j], its);
    }
    return now;
  }

  // Which the next loads stay behind.
  __device__ __forceinline__ std::uint32_t bits(const Ready& now) const {
    std::uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < 2 * Columns / common; ++i) all |= __float_as_uint(now.both[i / 2][i % 2]);
    return all;
  }

  // d[r] += factors * t[r - first]: registers from `first` on. Fresh: instead of to d, to 0.
  template <bool Fresh, int All, int Count>
  __device__ __forceinline__ static void add(std::uint32_t (&d)[All],
                                             const std::uint32_t (&t)[Count], int first,
                                             const Ready& now) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const int r = first + i;
      const int column = wgmma::accumulator_element(Type::f32, {0, r / 4 * 4}).col;
      add_product<Fresh>(d[r], now.both[column / common][r / 2 % 2], t[i]);
    }
  }

 private:
  FactorLine lines_[blocks];
  FactorStep step_;
  int before_ = 0;  // columns of the tile's first block
};

// One for each column. Four threads load those of four columns, each thread of another block of K, into one of two buffers in
// turn: what is stored there is read once all have met with the first of its blocks, and so have read the other one.
template <int Columns, int Threads>
class EachColumn {
 public:
  static constexpr bool parts_banks =
      false;  // 256x128 would spill, and few rows' sums lie apart without
  static_assert(Columns % factor_turns == 0);
  static constexpr int count =
      (Columns + Threads - 1) / Threads;  // fours of columns that a thread loads

  __device__ __forceinline__ EachColumn(std::uint32_t shared, std::uint32_t barrier)
      : shared_(shared), barrier_(barrier) {}
  __device__ __forceinline__ void start(const Factors& f, const FragmentAt& at) {
    factors_ = &f;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int col = at.col + first(i);
      at_[i] = FactorLine(f, col, at.cols_end, at.block, at.batch_cols).at;
      last_[i] = f.per == 1 ? max(min(at.cols_end - col, factor_turns) - 1, 0) : 0;
#pragma unroll
      for (float& value : coming_[i]) value = 1;
    }
  }
  __device__ __forceinline__ void load(bool wanted) {
    wanted = wanted && factors_->data != nullptr;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const bool here = wanted && first(i) < Columns;
#pragma unroll
      for (int j = 0; j < factor_turns; ++j)
        load_if(here, at_[i] + min(j, last_[i]) * factors_->mn_step, coming_[i][j]);
      at_[i] += factor_turns * factors_->k_step;
    }
  }
  // Block `block` is the first of those whose factors are there.
  __device__ __forceinline__ std::uint32_t turn(int block, std::uint32_t) const {
    std::uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      if (first(i) >= Columns) continue;
      std::uint32_t words[factor_turns];
#pragma unroll
      for (int j = 0; j < factor_turns; ++j) {
        words[j] = __float_as_uint(coming_[i][j]);
        all |= words[j];
      }
      ptx::store_shared(address(block + FactorLine::own_turn(), first(i)), words);
    }
    return all;
  }
  __device__ __forceinline__ void meet(int block) const {
    if (block % factor_turns == 0) ptx::bar_sync(barrier_, Threads);
  }

  struct Ready {
    float rows[2];
    std::uint32_t columns;  // where the thread's first one lies
  };
  template <class Rows>
  __device__ __forceinline__ Ready ready(const Rows& rows, int block) const {
    return {{rows.of[0], rows.of[1]},
            address(block, wgmma::accumulator_element(Type::f32, {thread_here(), 0}).col)};
  }
  __device__ __forceinline__ std::uint32_t bits(const Ready& now) const {
    return __float_as_uint(now.rows[0]) | __float_as_uint(now.rows[1]);
  }

  template <bool Fresh, int All, int Count>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[Count],
                                      int first, const Ready& now) const {
#pragma unroll
    for (int r = 0; r < Count; r += 4) {
      const int behind = wgmma::accumulator_element(Type::f32, {0, first + r}).col;
      float columns[2];
      ptx::load_shared(now.columns + static_cast<std::uint32_t>(behind) * float_bytes, columns[0],
                       columns[1]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float factor = rounded::multiply(now.rows[i / 2], columns[i % 2]);
        add_product<Fresh>(d[first + r + i], factor, t[r + i]);
      }
    }
  }

 private:
  // Of four columns that the thread loads.
  __device__ __forceinline__ static int first(int i) {
    return thread_here() / factor_turns * factor_turns + i * Threads;
  }
  __device__ __forceinline__ std::uint32_t address(int block, int col) const {
    const std::uint32_t line = static_cast<std::uint32_t>(block) % (2 * factor_turns) * Columns;
    return shared_ + (line + static_cast<std::uint32_t>(col)) * float_bytes;
  }

  std::uint32_t shared_;
  std::uint32_t barrier_;
  const Factors* factors_ = nullptr;
  const float*
      at_[count];    // the first column's, of the block of the next four that this thread loads
  int last_[count];  // of the four columns, the last one inside
  float coming_[count][factor_turns];
};

template <Promotion P, int Columns, int Threads>
using ColumnFactors = std::conditional_t<P == Promotion::EachColumn, EachColumn<Columns, Threads>,
                                         ColumnBlocks<Columns, Threads>>;

// --- a tile ----------------------------------------------------------------------------------------

// Factors of a tile's rows and columns, of these four blocks of K and of the next.
template <int Waves, class Columns>
class TileFactors {
 public:
  using Ready = typename Columns::Ready;
  static constexpr bool parts_banks = Columns::parts_banks;

  // `shared`, `barrier`: where EachColumn has its factors, and whom it meets.
  __device__ __forceinline__ TileFactors(std::uint32_t shared, std::uint32_t barrier)
      : columns_(shared, barrier) {}

  // Asks for those of the tile's first blocks: the sooner, the less its first sums wait for them.
  __device__ __forceinline__ void start(const Factors& of_rows, const Factors& of_columns,
                                        const FragmentAt& at) {
    blocks_ = at.blocks;
    asm volatile("mov.b32 %0, %0;" : "+r"(blocks_));
    behind_ = LoadsBehind(blocks_);
    rows_.start(of_rows, at);
    columns_.start(of_columns, at);
    load(FactorLine::own_turn() < blocks_);
  }
  __device__ __forceinline__ int blocks() const { return blocks_; }
  // All have read the factors of the tile before.
  __device__ __forceinline__ void meet() const { columns_.meet(0); }

  // What a block's sums are multiplied by. With the first of four blocks those of all four are taken, and the next four's
  // asked for, behind everything that waits for these. Odd: such a block is none of these, which ptxas does not see.
  template <bool Odd = false>
  __device__ __forceinline__ void take(int block, Ready (&ready)[Waves]) {
    const bool is_first = !Odd && block % factor_turns == 0;
    std::uint32_t bits = 0;
    if (is_first) bits = rows_.turn(behind_.none()) | columns_.turn(block, behind_.none());
#pragma unroll
    for (int wave = 0; wave < Waves; ++wave) {
      ready[wave] = columns_.ready(rows_.of(wave, block), block);
      bits |= columns_.bits(ready[wave]);
    }
    if (is_first) load(block + factor_turns + FactorLine::own_turn() < blocks_ && behind_(bits));
    if (!Odd) columns_.meet(block);
  }

  template <bool Fresh, int All, int Count>
  __device__ __forceinline__ void add(std::uint32_t (&d)[All], const std::uint32_t (&t)[Count],
                                      int first, const Ready& now) const {
    columns_.template add<Fresh>(d, t, first, now);
  }

 private:
  __device__ __forceinline__ void load(bool wanted) {
    rows_.load(wanted);
    columns_.load(wanted);
  }

  RowFactors<Waves> rows_;
  Columns columns_;
  LoadsBehind behind_;
  int blocks_ = 0;
};

// `multiply(wave, sums)` waits for the next block of K and issues the products of 64 rows; `done(left)` says that all of
// them have been read, of the block with which `left` of them are left. A block's factors are taken once the next products
// are on their way, so that nothing stands between the end of the products, their addition and the next ones.
//
// Products of a block run while those of the block before are added, where there are registers for both. `Fresh`: the sums are not
// cleared.
template <bool Fresh, class Factors, int Registers, class Multiply, class Done>
__device__ __forceinline__ void promote_behind(std::uint32_t (&d)[1][Registers], Factors& factors,
                                               Multiply multiply, Done done) {
  const int blocks = factors.blocks();
  std::uint32_t even[Registers];
  std::uint32_t odd[Registers];
  const auto add = [&](auto fresh, auto is_odd, auto& sums, int block, auto wait) {
    typename Factors::Ready ready[1];
    factors.template take<decltype(is_odd)::value>(block, ready);
    wait();
    ptx::pin(sums);
    done(blocks - block);
    factors.template add<decltype(fresh)::value>(d[0], sums, 0, ready[0]);
  };
  constexpr std::bool_constant<Fresh> first;
  constexpr std::true_type yes;
  constexpr std::false_type no;
  const auto all_but_next = [] { ptx::wgmma_wait_group<1>(); };
  const auto all = [] { ptx::wgmma_wait_group<0>(); };
  multiply(0, even);
  if (blocks == 1) return add(first, no, even, 0, all);
  multiply(0, odd);
  add(first, no, even, 0, all_but_next);
#pragma unroll 1
  for (int block = 1;; block += 2) {
    if (block + 1 == blocks) return add(no, yes, odd, block, all);
    multiply(0, even);
    add(no, yes, odd, block, all_but_next);
    if (block + 2 == blocks) return add(no, no, even, block + 1, all);
    multiply(0, odd);
    add(no, no, even, block + 1, all_but_next);
  }
}

template <int Waves, int Registers>
__device__ __forceinline__ void clear(std::uint32_t (&d)[Waves][Registers]) {
#pragma unroll
  for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
    for (std::uint32_t& word : d[wave]) word = 0;
  }
}

// Zeros, each in a register of the other bank than the sum of wgmma's that is added to it. Those begin at an even register; of
// two of these the second has the even one, as both are one product of 64 bits, of another number each, or ptxas would copy the
// first one's. `blocks` is not negative, which no compiler knows. Else half of the additions read two registers of one bank, and
// half of these three (cuda/NOTES.md, "sums in the other bank").
template <int Waves, int Registers>
__device__ __forceinline__ void clear_in_other_bank(std::uint32_t (&d)[Waves][Registers],
                                                    int blocks) {
  const std::uint32_t none = blocks < 0 ? 1 : 0;
#pragma unroll
  for (int wave = 0; wave < Waves; ++wave) {
#pragma unroll
    for (int i = 0; i < Registers; i += 2)
      asm volatile("{\n.reg .b64 zeros;\nmul.wide.u32 zeros, %2, %3;\nmov.b64 {%0, %1}, zeros;\n}"
                   : "=r"(d[wave][i + 1]), "=r"(d[wave][i])
                   : "r"(none), "r"(wave * Registers + i + 3));
  }
}

// Else 64 rows after the other, each in so many parts of their columns: from `start(wave, part, sums)` until `landed()`.
template <bool Fresh, int Parts, class Factors, int Waves, int Registers, class Start, class Landed,
          class Done>
__device__ __forceinline__ void promote_alone(std::uint32_t (&d)[Waves][Registers],
                                              Factors& factors, Start start, Landed landed,
                                              Done done) {
  constexpr int each = Registers / Parts;
  const int blocks = factors.blocks();
  const auto add_block = [&](auto fresh, int block) {
    typename Factors::Ready ready[Waves];
#pragma unroll
    for (int i = 0; i < Waves * Parts; ++i) {
      const int wave = i / Parts;
      std::uint32_t sums[each];
      start(wave, i % Parts, sums);
      if (i == 0) factors.take(block, ready);
      landed();
      ptx::pin(sums);
      if (i + 1 == Waves * Parts) done(blocks - block);
      factors.template add<decltype(fresh)::value>(d[wave], sums, i % Parts * each, ready[wave]);
    }
  };
  // Several waves: with the first block apart the loop itself was 4 % slower (measured; cuda/NOTES.md).
  constexpr int first = Fresh && Waves == 1 ? 1 : 0;
  if constexpr (first == 1)
    add_block(std::true_type{}, 0);
  else if constexpr (Fresh)
    clear(d);
#pragma unroll 1
  for (int block = first; block < blocks; ++block) add_block(std::false_type{}, block);
}

// Without a block of K the sums are 0, else `add_all()` has them.
template <class Factors, int Waves, int Registers, class AddAll>
__device__ __forceinline__ void promote_tile(std::uint32_t (&d)[Waves][Registers],
                                             const Factors& factors, AddAll add_all) {
  if (factors.blocks() > 0) {
    factors.meet();
    add_all();
  } else {
    clear(d);
  }
}

// Of the tile that `factors` has started. `Behind`: there are registers for the products of two blocks.
template <bool Behind, class Factors, int Waves, int Registers, class Multiply, class Done>
__device__ __forceinline__ void promote(std::uint32_t (&d)[Waves][Registers], Factors& factors,
                                        Multiply multiply, Done done) {
  constexpr bool fresh = !Factors::parts_banks;
  promote_tile(d, factors, [&] {
    if constexpr (!fresh) clear_in_other_bank(d, factors.blocks());
    if constexpr (Behind)
      promote_behind<fresh>(d, factors, multiply, done);
    else
      promote_alone<fresh, 1>(
          d, factors, [&](int wave, int, auto& sums) { multiply(wave, sums); },
          [] { ptx::wgmma_wait_group<0>(); }, done);
  });
}

// Of sums that others have multiplied: `load(wave, part, sums)` asks for a part of them. With the first block apart ptxas
// has its sums in other registers than the loop, and beside 128 of them it spills on the way: those are cleared first.
template <int Parts, class Factors, int Waves, int Registers, class Load, class Landed, class Done>
__device__ __forceinline__ void promote_loaded(std::uint32_t (&d)[Waves][Registers],
                                               Factors& factors, Load load, Landed landed,
                                               Done done) {
  promote_tile(d, factors, [&] {
    constexpr bool fresh = Registers < 128;
    if constexpr (!fresh) clear(d);
    promote_alone<fresh, Parts>(d, factors, load, landed, done);
  });
}

}  // namespace tcq::gemm
