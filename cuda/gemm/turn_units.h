// What one thread of the kernel that turns operands does, on any memory: a copy whose lines are the source's columns.
//
// wgmma reads 8 and 32-bit operands K-major alone, and few rows of 16 bits have kernels for K-major tokens alone. A block turns a
// tile of 128 bytes by 128: it brings lines of the source to
// shared memory in units of 16 bytes, and takes columns from there, of which eight threads store 128 bytes. Units of a line
// stand in another order for each unit of the copy's lines, so that eight threads that read beside each other in a column
// read from all banks. What follows a copy's line in its last unit is 0. Example: K x M bytes, M beside each other, become M lines
// of K. The kernel is cuda/gemm/realign.cu; tests/gemm/turn_test.cc runs the same threads on the CPU.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/gemm/check.h"
#include "cuda/gemm/realign.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm::turn {

inline constexpr int threads = 256;
inline constexpr int tile_bytes = 128;  // of a line of the source, and of the copy
inline constexpr int unit_bytes = sizeof(uint4);
inline constexpr int line_units = tile_bytes / unit_bytes;
inline constexpr int word_bytes = sizeof(std::uint32_t);

// Of `Bytes` an element.
template <int Bytes>
inline constexpr int tile_lines = tile_bytes / Bytes;  // of the source; or of the copy
template <int Bytes>
inline constexpr int unit_elements = unit_bytes / Bytes;
template <int Bytes>
inline constexpr int shared_bytes = tile_lines<Bytes>* tile_bytes;

struct Task {
  RealignJob job;
  std::int64_t across = 1;  // tiles along the source's lines
  std::int64_t down = 1;
  std::int64_t blocks = 0;
};

// INT32_MAX blocks are more than the tiles of any memory.
inline Task task_of(const RealignJob& job) {
  Task task{.job = job};
  task.across = round_up_quotient(job.line_bytes, std::int64_t{tile_bytes});
  task.down = round_up_quotient(job.lines * job.turned_bytes, std::int64_t{tile_bytes});
  std::int64_t total = 0;
  const bool overflows = __builtin_mul_overflow(task.across * task.down, job.matrices, &total);
  task.blocks = overflows ? INT32_MAX : std::min<std::int64_t>(total, INT32_MAX);
  return task;
}

struct TileAt {
  std::int64_t matrix;
  std::int64_t byte;  // of a line of the source
  std::int64_t line;
};

template <int Bytes>
HOST_DEVICE inline TileAt tile_of(const Task& task, std::int64_t block) {
  const std::int64_t tiles = task.across * task.down;
  const std::int64_t matrix = block / tiles;
  const std::int64_t in_matrix = block - matrix * tiles;
  const std::int64_t down = in_matrix / task.across;
  return {matrix, (in_matrix - down * task.across) * tile_bytes, down * tile_lines<Bytes>};
}

// Where unit `unit` of a line stands in shared memory.
template <int Bytes>
HOST_DEVICE inline int place_of(int line, int unit) {
  return line * tile_bytes + (unit ^ line / unit_elements<Bytes> % line_units) * unit_bytes;
}

// A unit of the source, of which `inside` bytes are the line's. Of its own alignment it is one load.
template <class Memory>
HOST_DEVICE inline uint4 load_unit(const std::uint8_t* from, std::int64_t inside) {
  if (inside >= unit_bytes && reinterpret_cast<std::uintptr_t>(from) % unit_bytes == 0)
    return Memory::load(from);
  std::uint32_t words[unit_bytes / word_bytes] = {};
  for (int i = 0; i < unit_bytes; ++i)
    if (i < inside)
      words[i / word_bytes] |= in_register_part(Type::u8, Memory::byte(from + i), i % word_bytes);
  return {words[0], words[1], words[2], words[3]};
}

// All loads of a thread are on their way before its first store.
template <int Bytes, class Memory>
HOST_DEVICE inline void load_tile(const Task& task, const TileAt& tile, int thread,
                                  std::uint8_t* shared) {
  const RealignJob& job = task.job;
  constexpr int each = tile_lines<Bytes> * line_units / threads;
  static_assert(each * threads == tile_lines<Bytes> * line_units);
  uint4 loaded[each];
  for (int i = 0; i < each; ++i) {
    const int line = (thread + i * threads) / line_units;
    const std::int64_t byte = tile.byte + thread % line_units * unit_bytes;
    const std::uint8_t* from =
        job.source + tile.matrix * job.source_batch + (tile.line + line) * job.source_pitch + byte;
    loaded[i] = {};
    if (tile.line + line < job.lines && byte < job.line_bytes)
      loaded[i] = load_unit<Memory>(from, job.line_bytes - byte);
  }
  for (int i = 0; i < each; ++i) {
    const int line = (thread + i * threads) / line_units;
    *reinterpret_cast<uint4*>(shared + place_of<Bytes>(line, thread % line_units)) = loaded[i];
  }
}

HOST_DEVICE inline std::uint32_t word_at(const std::uint8_t* shared, int place) {
  return *reinterpret_cast<const std::uint32_t*>(shared + place);
}

// Element i of each word becomes word i: of four words bytes, of two halves, of one itself.
template <class Memory>
HOST_DEVICE inline void turn(std::uint32_t (&w)[4]) {
  const std::uint32_t low[] = {Memory::bytes_of(w[0], w[1], 0x5140),
                               Memory::bytes_of(w[2], w[3], 0x5140)};
  const std::uint32_t high[] = {Memory::bytes_of(w[0], w[1], 0x7362),
                                Memory::bytes_of(w[2], w[3], 0x7362)};
  w[0] = Memory::bytes_of(low[0], low[1], 0x5410);
  w[1] = Memory::bytes_of(low[0], low[1], 0x7632);
  w[2] = Memory::bytes_of(high[0], high[1], 0x5410);
  w[3] = Memory::bytes_of(high[0], high[1], 0x7632);
}
template <class Memory>
HOST_DEVICE inline void turn(std::uint32_t (&w)[2]) {
  const std::uint32_t first = Memory::bytes_of(w[0], w[1], 0x5410);
  w[1] = Memory::bytes_of(w[0], w[1], 0x7632);
  w[0] = first;
}
template <class Memory>
HOST_DEVICE inline void turn(std::uint32_t (&)[1]) {}

// A unit of line `line` of the copy's tile, the `unit`-th.
template <int Bytes, class Memory>
HOST_DEVICE inline void store_unit(const Task& task, const TileAt& tile, int line, int unit,
                                   uint4 words) {
  const RealignJob& job = task.job;
  const std::int64_t of_copy = tile.byte / Bytes + line;
  const std::int64_t element = tile.line + unit * unit_elements<Bytes>;
  if (of_copy * Bytes >= job.line_bytes || element >= job.lines) return;
  Memory::store(
      job.target + tile.matrix * job.target_batch + of_copy * job.target_pitch + element * Bytes,
      words);
}

// A thread has a unit of each line of the copy that a word of the source's lines holds.
template <int Bytes, class Memory>
HOST_DEVICE inline void store_tile(const Task& task, const TileAt& tile, int thread,
                                   const std::uint8_t* shared) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == word_bytes);
  constexpr int words = unit_bytes / word_bytes;
  constexpr int lines = word_bytes / Bytes;  // of the copy
  const int unit = thread % line_units;
  const int column = thread / line_units;  // a word of each of the source's lines
  const auto word = [&](int line) {
    const int place = place_of<Bytes>(line, column / words) + column % words * word_bytes;
    return word_at(shared, place);
  };
  std::uint32_t of_line[lines][words];
  for (int i = 0; i < words; ++i) {
    std::uint32_t w[lines];
    for (int j = 0; j < lines; ++j) w[j] = word(unit * unit_elements<Bytes> + i * lines + j);
    turn<Memory>(w);
    for (int j = 0; j < lines; ++j) of_line[j][i] = w[j];
  }
  for (int j = 0; j < lines; ++j)
    store_unit<Bytes, Memory>(task, tile, lines * column + j, unit,
                              {of_line[j][0], of_line[j][1], of_line[j][2], of_line[j][3]});
}

}  // namespace tcq::gemm::turn
