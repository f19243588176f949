// What a launch of the GEMM kernel is told besides its tensor maps, and the order of its tiles.
//
// Tiles are those of whole clusters. Groups of `group` rows of tiles are walked column by column,
// so that the tiles that run at one time share rows of A and columns of B in L2. Example: 4 x 3
// tiles in groups of 2 rows: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) (2,0) (3,0) ...
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/num/activation.h"

namespace tcq::gemm {

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

// D = activation(alpha * A * B + beta * C + bias), each step rounded to f32; a gated activation makes
// one column of D of two. What is the same for all elements is decided here, not by each of them.
struct Epilogue {
  Type out = Type::bf16;  // of D, C and the bias
  bool finishes =
      false;  // D is more than the product, or its type is not what the product is summed in
  bool pairs_of_c = false;  // two columns beside each other lie in one word or double word
  bool pairs_of_d = false;
  float alpha = 1;
  float beta = 0;
  Activation activation = Activation::None;
  const void* bias = nullptr;  // an element for each column of the product
  const void* c = nullptr;     // read only if beta is not 0
  std::int64_t ld_c = 0;       // elements
  std::int64_t batch_c = 0;
  void* d = nullptr;
  std::int64_t ld_d = 0;
  std::int64_t batch_d = 0;
};

// An operand for threads that read it themselves. Steps in elements; one of them is 1.
struct Source {
  const void* data = nullptr;
  std::int64_t mn_step = 0;  // to the next row of A or column of B
  std::int64_t k_step = 0;
  std::int64_t batch_step = 0;
};

struct Arguments {
  int m = 0;
  int n = 0;
  int k = 0;
  int k_blocks = 0;
  bool stores_elements = false;  // TMA cannot address D
  bool is_plain = false;         // D is the product in its usual type, and TMA stores it
  bool overlaps = false;         // cuda/gemm/skinny.cuh: its neighbours in the stream
  Schedule schedule;
  Epilogue epilogue;
  Source a;  // Loader::Copy only
  Source b;
};

struct BlockRange {
  int first;
  int end;
};

// The blocks along K of one of `split` CTAs. Requires: blocks >= split.
HOST_DEVICE constexpr BlockRange split_range(int blocks, int split, int rank) {
  return {blocks * rank / split, blocks * (rank + 1) / split};
}

}  // namespace tcq::gemm
