// The GEMM kernel for operands that TMA cannot address: a warpgroup copies them, by 16 bytes that begin anywhere where K is
// contiguous, else element by element.
//
// Everything but the producer is cuda/gemm/kernel.cuh's. All operands are K-major in shared memory, in the
// very layout that TMA would write; in global memory they may have any strides, so that this kernel
// also transposes for the types whose operands must be K-major. What lies outside of the matrix is filled with zeros. Aligned words
// are read whole, with what of the gaps between lines, or of the lines beside, they hold; nothing ahead of the operand's first byte
// or behind its last. Every thread of the producer arrives at full[s] after its fence: 128 arrivals, no bytes.
#pragma once

#include <cstdint>

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/kernel.cuh"
#include "cuda/gemm/unaligned.h"
#include "cuda/ptx/async.cuh"
#include "cuda/ptx/basic.cuh"
#include "sim/isa/base/register_bytes.h"
#include "sim/isa/base/tile_offset.h"

namespace tcq::gemm {

inline constexpr int chunk_bytes = 16;  // that a thread gathers and stores at a time
inline constexpr int chunk_words = chunk_bytes / 4;

template <int Bits>
struct RawElement;
template <>
struct RawElement<8> {
  using Word = std::uint8_t;
};
template <>
struct RawElement<16> {
  using Word = std::uint16_t;
};
template <>
struct RawElement<32> {
  using Word = std::uint32_t;
};

// Of K, what is copied; zeros outside.
struct CopiedK {
  int first;
  int end;
};

// Elements [k, k + one chunk) of row `mn` of A, or of column `mn` of B.
template <Type In>
__device__ __forceinline__ void gather(std::uint32_t (&chunk)[chunk_words], const Source& source,
                                       int mn, int k, CopiedK copied, int batch) {
  using Word = typename RawElement<bits(In)>::Word;
  constexpr int parts = parts_per_register(In);
  const Word* at = static_cast<const Word*>(source.data) + batch * source.batch_step +
                   mn * source.mn_step + k * source.k_step;
#pragma unroll
  for (int word = 0; word < chunk_words; ++word) {
    chunk[word] = 0;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      const int i = word * parts + part;
      if (k + i >= copied.first && k + i < copied.end)
        chunk[word] |= in_register_part(In, at[i * source.k_step], part);
    }
  }
}

// The words of some of a thread's chunks, on their way.
template <int Count>
struct Asked {
  uint4 low[Count];
  uint4 high[Count];
};

// One operand as a tile has it, whose rows are A's or B's columns. A warpgroup has the chunks of some rows at a time, in so many
// passes: where K is contiguous threads beside each other have a line's, else those of rows beside each other. A thread's chunks
// begin as far behind an aligned word as each other, in all passes and stages, as these lie multiples of a word apart.
template <class Op, int Rows>
class CopiedOperand {
 public:
  static_assert(Op::major == Major::K);
  static constexpr int chunks = static_cast<int>(swizzle_bytes) / chunk_bytes;  // of a row
  static constexpr int rows_at_once = warpgroup_threads / chunks;
  static constexpr int passes = Rows / rows_at_once;
  static_assert(passes * rows_at_once == Rows);
  static_assert(rows_at_once * swizzle_bytes % swizzle_atom_bytes == 0);  // a pass is whole atoms
  static_assert(rows_at_once % chunk_bytes == 0);

  // Of matrix `batch`, behind which so many follow, are `mn_end` rows and `k_end` of K.
  __device__ __forceinline__ CopiedOperand(const Source& source, int mn, int mn_end, CopiedK copied,
                                           int k_end, int batch, int following)
      : source_(source),
        thread_(thread_here()),
        mn_(mn),
        mn_end_(mn_end),
        copied_(copied),
        batch_(batch) {
    const auto* data = static_cast<const std::uint8_t*>(source.data);
    const std::uint8_t* matrix = data + batch * source.batch_step * bytes;
    const int row = mn + own_row();
    const std::uint8_t* from = matrix + (row * source.mn_step + own_column()) * bytes;
    lead_ = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % chunk_bytes);
    words_ = from - lead_;
    height_ = lies_along_k() && row < mn_end ? (mn_end - row - 1) / rows_at_once + 1 : 0;
    if (height_ > passes) height_ = passes;
    step_ = source.mn_step * bytes * rows_at_once;
    first_ = data;
    end_ = matrix + ((mn_end - 1) * source.mn_step + k_end) * bytes;
    if (following > 0) end_ += source.batch_step * bytes;
  }

  // So many passes, counted from the first, have the thread's chunks that begin at k in whole words of the operand.
  __device__ __forceinline__ int passes_at(int k) const { return has_words(k) ? height_ : 0; }

  // Loads the words of a group of passes. `there`: passes_at(k).
  template <int Count>
  __device__ __forceinline__ void ask(Asked<Count>& asked, int group, int there, int k) const {
    const std::uint8_t* word = word_at(k) + group * Count * step_;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      if (group * Count + i < there) {
        asked.low[i] = load(word + i * step_);
        if (lead_ > 0) asked.high[i] = load(word + i * step_ + chunk_bytes);
      }
    }
  }

  // Stores the group to the tile at `shared`, and zeros where nothing is copied. Of lines across K, nothing.
  template <int Count>
  __device__ __forceinline__ void store(const Asked<Count>& asked, int group, int there, int k,
                                        std::uint32_t shared) const {
    if (!lies_along_k()) return;
    const std::uint32_t to = place(shared, own_row(), own_column());
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const int pass = group * Count + i;
      std::uint32_t chunk[chunk_words] = {};
      if (pass < there) {
        const uint4 words = shifted<ptx::Funnel>({asked.low[i], asked.high[i], lead_});
        chunk[0] = words.x;
        chunk[1] = words.y;
        chunk[2] = words.z;
        chunk[3] = words.w;
        keep(chunk, k + own_column());
      }
      ptx::store_shared(to + static_cast<std::uint32_t>(pass * rows_at_once) * swizzle_bytes,
                        chunk);
    }
  }

  // Stores over it what no whole words of the operand hold, element by element.
  __device__ __forceinline__ void store_rest(int k, std::uint32_t shared) const {
    if (lies_along_k() && (has_words(k) || !is_copied(k))) return;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      const int number = pass * warpgroup_threads + thread_;
      const int row = lies_along_k() ? own_row() + pass * rows_at_once : number % Rows;
      const int column = lies_along_k() ? own_column() : number / Rows * elements;
      std::uint32_t chunk[chunk_words] = {};
      if (mn_ + row < mn_end_)
        gather<Op::type>(chunk, source_, mn_ + row, k + column, copied_, batch_);
      ptx::store_shared(place(shared, row, column), chunk);
    }
  }

 private:
  static constexpr int bytes = bits(Op::type) / bits(Type::u8);
  static constexpr int elements = elements_in(Op::type, chunk_bytes);

  __device__ __forceinline__ bool lies_along_k() const { return source_.k_step == 1; }
  // Of a line's chunk: its row in the first pass, and where it begins along K.
  __device__ __forceinline__ int own_row() const { return thread_ / chunks; }
  __device__ __forceinline__ int own_column() const { return thread_ % chunks * elements; }
  static __device__ __forceinline__ uint4 load(const std::uint8_t* from) {
    return *reinterpret_cast<const uint4*>(from);
  }
  static __device__ __forceinline__ std::uint32_t place(std::uint32_t shared, int row, int column) {
    const std::uint32_t offset = tile_offset_bytes(
        Op::tile(), {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column) * bytes});
    return swizzle_function(operand_swizzle).apply(shared + offset);
  }

  // K has more bytes than 32 bits count.
  __device__ __forceinline__ const std::uint8_t* word_at(int k) const {
    return words_ + std::int64_t{k} * bytes;
  }

  // Is anything of the thread's chunks copied that begin at k?
  __device__ __forceinline__ bool is_copied(int k) const {
    const int at_k = k + own_column();
    return at_k < copied_.end && copied_.first - at_k < elements;
  }

  // And do all words that hold it lie in the operand?
  __device__ __forceinline__ bool has_words(int k) const {
    const std::uint8_t* word = word_at(k);
    const int span = lead_ > 0 ? 2 * chunk_bytes : chunk_bytes;
    return is_copied(k) && word >= first_ && word + (height_ - 1) * step_ + span <= end_;
  }

  // Of a chunk what is copied of K: all but at its ends.
  __device__ __forceinline__ void keep(std::uint32_t (&chunk)[chunk_words], int at_k) const {
    const int from = max(copied_.first - at_k, 0) * bytes;
    const int to = min(copied_.end - at_k, elements) * bytes;
    if (from == 0 && to == chunk_bytes) return;
#pragma unroll
    for (int i = 0; i < chunk_words; ++i)
      chunk[i] &= register_bytes(from - i * bytes_of_register, to - i * bytes_of_register);
  }

  const Source& source_;
  int thread_;
  int mn_;
  int mn_end_;
  CopiedK copied_;
  int batch_;
  int lead_;
  int height_;                 // passes that have rows of the matrix
  const std::uint8_t* words_;  // of the first pass, where K begins
  std::int64_t step_;          // bytes from one pass to the next
  const std::uint8_t* first_;  // of the operand
  const std::uint8_t* end_;
};

// Passes of a group: as there are registers for, twice, beside 128 sums, or groups.
template <class C>
inline constexpr int passes_at_once = C::grouped || groups_k<C>() || C::block_n > 128 ? 2 : 4;

// The stages of one tile. While a group is stored the next one is on its way, also that of the next stage.
template <class C>
__device__ __forceinline__ void copy_tile(const Arguments& arguments, std::uint32_t shared,
                                          const Barriers<C>& barriers, Ring<C::stages>& ring,
                                          const TilePlace& tile) {
  using A = CopiedOperand<typename C::A, C::block_m>;
  using B = CopiedOperand<typename C::B, C::block_n>;
  constexpr int at_once = passes_at_once<C>;
  constexpr int groups_a = A::passes / at_once;
  constexpr int groups = groups_a + B::passes / at_once;
  static_assert(A::passes % at_once == 0 && B::passes % at_once == 0);
  const BlocksAlongK along = along_k<C>(arguments, tile);
  const CopiedK copied =
      groups_k<C>() ? CopiedK{tile.k_first, tile.k_end} : CopiedK{0, arguments.k};
  // Of groups nobody asks how many follow.
  const bool is_batch = !C::grouped && !groups_k<C>();
  const int following = is_batch ? arguments.walk.schedule.batch - 1 - tile.batch : 0;
  const A a(arguments.a, tile.row, arguments.m, copied, arguments.k, tile.batch, following);
  const B b(arguments.b, tile.col, arguments.n, copied, arguments.k, tile.batch_b, following);
  struct Stage {
    int k;
    int there_a, there_b;
  };
  const auto stage_at = [&](int k) { return Stage{k, a.passes_at(k), b.passes_at(k)}; };
  const auto ask = [&](Asked<at_once>& asked, int group, const Stage& of) {
    if (group < groups_a)
      a.ask(asked, group, of.there_a, of.k);
    else
      b.ask(asked, group - groups_a, of.there_b, of.k);
  };
  Stage now = stage_at(k_begin<C>(tile, along));
  Asked<at_once> asked;
  ask(asked, 0, now);
  for (int block = 0; block < along.count; ++block) {
    const bool is_last = block + 1 == along.count;
    const Stage next = is_last ? Stage{now.k, 0, 0} : stage_at(now.k + C::block_k);
    wait(barriers.empty(ring.stage), 1 - ring.parity);
    const std::uint32_t at = shared + static_cast<std::uint32_t>(ring.stage) * C::stage_bytes;
#pragma unroll
    for (int group = 0; group < groups; ++group) {
      Asked<at_once> behind;
      if (group + 1 < groups)
        ask(behind, group + 1, now);
      else
        ask(behind, 0, next);
      if (group < groups_a)
        a.store(asked, group, now.there_a, now.k, at);
      else
        b.store(asked, group - groups_a, now.there_b, now.k, at + C::A::bytes);
      asked = behind;
    }
    a.store_rest(now.k, at);
    b.store_rest(now.k, at + C::A::bytes);
    ptx::fence_proxy_async_shared();
    ptx::mbarrier_arrive(barriers.full(ring.stage));
    ring.advance();
    now = next;
  }
}

template <class C, class Step>
__device__ __forceinline__ void copy_operands(const Arguments& arguments, std::uint32_t shared,
                                              const Barriers<C>& barriers, const Step& step) {
  Ring<C::stages> ring;
  ClusterTiles<C> tiles(arguments, static_cast<int>(blockIdx.x), step);
  TilePlace tile;
  while (tiles.next(tile)) copy_tile<C>(arguments, shared, barriers, ring, tile);
}

// Takes the arguments of kernel() and does not use the operands' maps.
template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    copy_kernel(const __grid_constant__ OperandMaps /*map_a*/,
                const __grid_constant__ OperandMaps /*map_b*/,
                const __grid_constant__ CUtensorMap map_d,
                const __grid_constant__ CUtensorMap map_tail,
                const __grid_constant__ Arguments arguments) {
  static_assert(C::cluster == 1 && !C::ping_pong);
  extern __shared__ __align__(swizzle_atom_bytes) std::uint8_t memory[];
  const std::uint32_t shared = ptx::shared_address(memory);
  const Barriers<C> barriers{shared + C::barrier_offset};
  const int warpgroup = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      ptx::mbarrier_init(barriers.full(s), warpgroup_threads);
      ptx::mbarrier_init(barriers.empty(s), C::readers * warpgroup_threads / 32);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  ptx::grid_launch_dependents();
  ptx::grid_wait();
  const auto step = cluster_step<C>(shared, static_cast<int>(gridDim.x));
  start_step<C>(arguments, step);
  if (warpgroup == 0)
    copy_operands<C>(arguments, shared, barriers, step);
  else  // all threads have as many registers: none for the products of two blocks
    consume<C, false>(map_d, map_tail, arguments, shared, barriers, warpgroup - 1,
                      static_cast<int>(blockIdx.x), step);
}

}  // namespace tcq::gemm
