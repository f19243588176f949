// What a launch of the GEMM kernel is told besides its tensor maps, and the order of its tiles.
//
// Tiles are those of whole clusters. Groups of `group` rows of tiles are walked column by column,
// so that the tiles that run at one time share rows of A and columns of B in L2. Example: 4 x 3
// tiles in groups of 2 rows: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) (2,0) (3,0) ...
#pragma once

#include <cstdint>

#include "sim/isa/base/divisor.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/tmem/scale_layout.h"
#include "sim/num/activation.h"

namespace tcq::gemm {

// Of a line of L2: a matrix whose lines begin within one takes more of them.
// Source: CUDA C++ Programming Guide, compute capability 9.0: lines of 128 bytes.
inline constexpr std::int64_t l2_line_bytes = 128;

struct Schedule {
  int rows = 0;  // of tiles
  int cols = 0;
  int batch = 1;
  int group = 1;
};

struct TileAt {
  int row;
  int col;
  int batch;
};

HOST_DEVICE constexpr int tile_count(const Schedule& s) { return s.rows * s.cols * s.batch; }

// Shape: index [0, tile_count) <-> row, col, batch: a bijection.
HOST_DEVICE constexpr TileAt tile_at(const Schedule& s, int index) {
  const int batch = index / (s.rows * s.cols);
  const int in_batch = index - batch * s.rows * s.cols;
  const int group = in_batch / (s.group * s.cols);
  const int first = group * s.group;
  const int rows = s.rows - first < s.group ? s.rows - first : s.group;
  const int in_group = in_batch - first * s.cols;
  return {first + in_group % rows, in_group / rows, batch};
}

// Of K and, where columns share a factor, of N: what a factor of FP8's scalings by blocks is for.
inline constexpr int scale_block = 128;

// May operands of this type have factors in f32?
HOST_DEVICE constexpr bool has_factors(Type in) { return is_float(in) && bits(in) <= 8; }

// Factors of one operand: those of one row of A or column of B, or of `per` of them, mn_step apart, and k_step from one
// block of K to the next. A step of 0: the same for all. No data: 1.
struct Factors {
  const float* data = nullptr;
  std::int64_t mn_step = 0;
  std::int64_t k_step = 0;
  std::int64_t batch_step = 0;
  int per = 1;
};

// Do those of a row of A or column of B lie one behind the other?
HOST_DEVICE constexpr bool lie_along_k(const Factors& f) { return f.k_step == 1; }

// D = activation(alpha * factors * A * B + beta * C + bias), each step rounded to f32; a gated activation makes
// one column of D of two. What is the same for all elements is decided here, not by each of them.
struct Epilogue {
  Type out = Type::bf16;  // of C, the bias, and D if it is not quantized
  bool finishes =
      false;  // D is more than the product, or its type is not what the product is summed in
  int columns_of_c = 1;     // that one access takes, from a multiple of them on: wgmma's 8, 2 or 1
  bool pairs_of_d = false;  // two columns beside each other lie in one word
  float alpha = 1;
  float beta = 0;
  Activation activation = Activation::None;
  const void* bias = nullptr;  // an element for each column of the product
  const void* c = nullptr;     // read only if beta is not 0
  std::int64_t ld_c = 0;       // elements
  std::int64_t batch_c = 0;
  void* d = nullptr;
  std::int64_t ld_d = 0;  // elements; of e2m1 bytes
  std::int64_t batch_d = 0;
  bool scales =
      false;  // the sum is multiplied by a factor of its row and one of its column, whose product is rounded
  Factors factors_a = {};
  Factors factors_b = {};
};

// Factors of D where it is quantized: floats of 128 columns of a row, to which the steps are, or codes, of which atoms of 128 rows
// are row_step apart, in bytes. Neither: it is not.
struct FactorsOfD {
  float* data = nullptr;
  std::int64_t row_step = 0;
  std::int64_t block_step = 0;
  std::int64_t batch_step = 0;
  Type type = Type::e4m3;  // D's
  bool power_of_two = false;
  std::uint8_t* codes = nullptr;
  int places = 0;                // with codes: rows of a matrix in whole atoms
  const float* times = nullptr;  // with codes: what results are multiplied by first; null: 1
};

// An operand for threads that read it themselves. Steps in elements; one of them is 1.
struct Source {
  const void* data = nullptr;
  std::int64_t mn_step = 0;  // to the next row of A or column of B
  std::int64_t k_step = 0;
  std::int64_t batch_step = 0;
};

// tile_at() without its divisions, for kernels: a tile's place stands before its product.
struct Walk {
  int tiles = 0;
  Schedule schedule;
  Divisor matrix;  // tiles of one
  Divisor group;   // and of a group
  Divisor rows;    // of a group
  Divisor last_rows;

  constexpr Walk() = default;
  constexpr explicit Walk(const Schedule& s)
      : tiles(tile_count(s)),
        schedule(s),
        matrix(s.rows * s.cols),
        group(s.group * s.cols),
        rows(s.group),
        last_rows(s.rows % s.group == 0 ? s.group : s.rows % s.group) {}

  HOST_DEVICE constexpr TileAt at(int index) const {
    const int batch = matrix.quotient(index);
    const int in_matrix = index - batch * matrix.value;
    const int groups_before = group.quotient(in_matrix);
    const int in_group = in_matrix - groups_before * group.value;
    const int first = groups_before * schedule.group;
    const Divisor& across = first + schedule.group <= schedule.rows ? rows : last_rows;
    const int col = across.quotient(in_group);
    return {first + in_group - col * across.value, col, batch};
  }
};

// The blocks of K of a launch's last tiles, dealt to its clusters in even runs, one behind the other, so that all end together
// (stream-K). A run is as long as a tile at least and shorter than two, so that no tile has more than two parts. The first part of
// a tile's K is what its cluster computes first of its run, and the second what the next cluster does at the end of its own; in
// between, the sums go through memory, 32 bits each, as registers would have kept them: D's bits are the same. Runs stand behind
// all whole tiles: ahead of them clusters would lose step with each other, and L2 what they share.
struct StreamK {
  int whole = 0;  // tiles ahead of these: dealt whole, by a stride. All: no run
  int blocks = 0;
  int run = 0;  // blocks of a cluster; the last ones may have fewer
  Divisor of_tile;
  std::uint64_t* flags = nullptr;  // of each warp that leaves sums
  std::uint32_t* sums = nullptr;   // of each CTA
  std::uint64_t left =
      0;  // a flag's value once they are there: another one in each launch, never 0

  struct At {
    int tile;
    int block;  // of that tile
  };
  // Where the run of this cluster begins, and that of the one before ends.
  HOST_DEVICE constexpr At at(int cluster) const {
    const int all = run * cluster;
    const int block = all < blocks ? all : blocks;
    const int tile = of_tile.quotient(block);
    return {whole + tile, block - tile * of_tile.value};
  }
};

// Scale factors that tcgen05 multiplies elements by, a byte each, of one operand: atoms of 128 rows of A (columns of B)
// and four factors along K, 512 bytes, as scale_byte() of sim/isa/tmem/scale_layout.h and as cuBLASLt and CUTLASS have
// them: factor (mn, s) is byte 16 * (mn % 32) + 4 * (mn % 128 / 32) + s % 4 of its atom, and the atoms of 128 rows lie one
// behind the other along K. All atoms are whole. What fills them up behind the last of K is read and must be no NaN (0);
// what fills up rows may be anything. Groups by Ends begin with an atom each; there are as many as any sizes may want, those of
// rows + 127 * (groups - 1) lines, and what stands behind the last group may be anything.
struct ScaleCodes {
  const std::uint8_t* data = nullptr;  // a multiple of 16, as the step
  std::int64_t batch_step = 0;         // bytes
};

// How the rows of A and D are dealt to groups, each with a matrix of B, or K to groups. All sizes are int32 in device memory.
enum class Grouping : std::uint8_t {
  None,    // a batch, whose sizes are equal
  Ends,    // groups one behind the other in A: size g is the row behind the last of group g
  Counts,  // A, C and D have a matrix of M rows for each group: size g says how many of these count
  RowIds,  // each row of A has the number of its group, below 0 for none; 128 rows from a multiple of 128 on have one
  KEnds,  // groups one behind the other along K, of A and B alike, each with a matrix of C and D: size g is the k behind the
          // last of group g, and what is multiplied begins anew with each group
};
inline constexpr int grouping_count = 5;

// A group along K is multiplied from a multiple of so many elements on, those ahead of its first as zeros: 128 bytes, a line of
// L2, a block of the kernels, and of FP8's factors.
HOST_DEVICE constexpr int k_unit(Type in) { return elements_in(in, 128); }

struct Groups {
  Grouping by = Grouping::None;
  int count = 0;
  int tiles_across = 0;  // of a cluster, along N
  const std::int32_t* sizes = nullptr;
  int k_step = 1;  // along K, on tcgen05: group_step(), a power of two
  int band = 1;    // of rows: so many rows of tiles are walked column by column, as Walk does
  Divisor tiles_of_band = {};
};

// Of A's `rows`, so many may have places in ScaleCodes: by Ends each group begins with an atom.
HOST_DEVICE constexpr std::int64_t lines_of_codes(std::int64_t rows, const Groups& groups) {
  const bool apart = groups.by == Grouping::Ends && groups.count > 0;
  return apart ? rows + (groups.count - std::int64_t{1}) * (tcgen05::scale_atom_mn - 1) : rows;
}

// So many tiles of a cluster read the same of an operand; each CTA loads `mn` of its rows or columns for all (a kernel that divided
// would do so for each block: cuda/NOTES.md).
struct Sharing {
  int tiles = 1;
  int mn = 0;
};

struct Arguments {
  int m = 0;
  int n = 0;
  int k = 0;
  int k_blocks = 0;
  bool stores_elements = false;  // TMA cannot address D
  bool sends_usual = false;  // TMA stores D of its usual type, a column for each of the product's
  bool overlaps = false;     // cuda/gemm/skinny.cuh: its neighbours in the stream
  Sharing tokens;            // and what the tiles of a cluster share, one of both
  Sharing weights;
  Walk walk;
  StreamK stream_k;
  Epilogue epilogue;
  Source a;  // Loader::Copy only
  Source b;
  Factors block_factors_a;  // of each block of K
  Factors block_factors_b;
  ScaleCodes scale_codes_a;  // of kinds with .block_scale
  ScaleCodes scale_codes_b;
  Groups groups;
  FactorsOfD factors_d;
};

// Of the elements that D's memory holds.
HOST_DEVICE constexpr Type type_of_d(const Arguments& a) {
  const bool quantized = a.factors_d.data != nullptr || a.factors_d.codes != nullptr;
  return quantized ? a.factors_d.type : a.epilogue.out;
}

struct BlockRange {
  int first;
  int end;
};

// The blocks along K of one of `split` CTAs. Requires: blocks >= split.
HOST_DEVICE constexpr BlockRange split_range(int blocks, int split, int rank) {
  return {blocks * rank / split, blocks * (rank + 1) / split};
}

}  // namespace tcq::gemm
