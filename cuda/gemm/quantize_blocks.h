// The blocks of a matrix that share a factor, by number: where each lies, on the host and on the device.
//
// Example: 300 x 200 with Block128 are 3 x 2 blocks; number 3 is rows 128 to 255, columns 128 to 199, and its factor is
// element 1 * ld + 1 of K-major factors.
#pragma once

#include <cstdint>

#include "cuda/gemm/check.h"
#include "cuda/gemm/quantize.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm {

// Without `packed`.
struct QuantizeStrides {
  std::int64_t source;
  std::int64_t target;
  std::int64_t factors;
};

struct QuantizeRange {
  std::int64_t row;
  std::int64_t row_end;
  std::int64_t col;
  std::int64_t col_end;
  std::int64_t factor;  // its index
};

HOST_DEVICE constexpr std::int64_t blocks_across(const Quantize& q) {
  return q.block == QuantizeBlock::Row ? 1 : (q.columns + scale_block - 1) / scale_block;
}
HOST_DEVICE constexpr std::int64_t block_rows(const Quantize& q) {
  return q.block == QuantizeBlock::Block128 ? scale_block : 1;
}
HOST_DEVICE constexpr std::int64_t blocks_down(const Quantize& q) {
  return (q.rows + block_rows(q) - 1) / block_rows(q);
}
// Of a matrix that is not empty.
HOST_DEVICE constexpr std::int64_t blocks_of(const Quantize& q) {
  return q.columns == 0 ? 0 : blocks_down(q) * blocks_across(q);
}

HOST_DEVICE constexpr QuantizeStrides strides_of(const Quantize& q) {
  const std::int64_t line = q.major_factors == Major::K ? blocks_across(q) : blocks_down(q);
  return {q.ld_source == packed ? q.columns : q.ld_source,
          q.ld_target == packed ? q.columns : q.ld_target,
          q.ld_factors == packed ? line : q.ld_factors};
}

// Of the block in line `down`, the `block`th there, and of the blocks below it until `rows` rows are together.
HOST_DEVICE constexpr QuantizeRange range_at(const Quantize& q, std::int64_t down,
                                             std::int64_t block, std::int64_t rows) {
  const std::int64_t row = down * block_rows(q);
  const std::int64_t col = block * scale_block;
  const std::int64_t row_end = row + rows < q.rows ? row + rows : q.rows;
  const bool whole = q.block == QuantizeBlock::Row || col + scale_block > q.columns;
  const std::int64_t ld = strides_of(q).factors;
  return {row, row_end, col, whole ? q.columns : col + scale_block,
          q.major_factors == Major::K ? down * ld + block : block * ld + down};
}

HOST_DEVICE constexpr QuantizeRange range_of(const Quantize& q, std::int64_t number) {
  const std::int64_t down = number / blocks_across(q);
  return range_at(q, down, number - down * blocks_across(q), block_rows(q));
}

// From a block's factor to that of the block below.
HOST_DEVICE constexpr std::int64_t factor_below(const Quantize& q) {
  return q.major_factors == Major::K ? strides_of(q).factors : 1;
}

// --- the device's threads ---------------------------------------------------------------------------

inline constexpr int quantize_threads = 256;  // of a CTA, but for blocks of several rows
inline constexpr int quantize_threads_of_block = 512;
inline constexpr int quantize_warp = 32;
inline constexpr int quantize_run = 8;  // elements that a thread takes at once
inline constexpr int quantize_threads_of_vector = scale_block / quantize_run;

// That a team has at once.
HOST_DEVICE constexpr int quantize_rows(QuantizeBlock block, bool runs) {
  constexpr int rows_of_vectors = 2;
  if (block == QuantizeBlock::Block128) return scale_block;
  return runs && block == QuantizeBlock::Vector128 ? rows_of_vectors : 1;
}

// Threads that have a block, and whether all lines consist of runs that can be read and written at once.
struct QuantizeTeams {
  int threads;
  bool runs;
};

inline QuantizeTeams quantize_teams(const Quantize& q, const void* source, const void* target) {
  constexpr std::int64_t unit = 16;
  constexpr std::int64_t short_row =
      2048;  // a warp's, which is faster where there are many (cuda/NOTES.md)
  const QuantizeStrides s = strides_of(q);
  const auto begins_with = [](const void* p, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) == 0;
  };
  const bool runs = begins_with(source, unit) && s.source * bits(q.in) / 8 % unit == 0 &&
                    begins_with(target, quantize_run) && s.target % quantize_run == 0 &&
                    q.columns % quantize_run == 0;
  if (q.block == QuantizeBlock::Vector128) return {quantize_threads_of_vector, runs};
  if (q.block == QuantizeBlock::Block128) return {quantize_threads_of_block, runs};
  return {q.columns <= short_row ? quantize_warp : quantize_threads, runs};
}

// Teams of a CTA, and CTAs: beside each other those of a line of blocks.
struct QuantizeGrid {
  unsigned beside;
  unsigned below;
  unsigned ctas_beside;
  unsigned ctas_below;
};

constexpr QuantizeGrid quantize_grid(const Quantize& q, QuantizeTeams by) {
  constexpr std::int64_t most_beside = 65535;  // of a grid; each takes several blocks
  const int teams = by.threads < quantize_threads ? quantize_threads / by.threads : 1;
  int beside = 1;
  while (beside < teams && beside < blocks_across(q)) beside *= 2;
  const int below = teams / beside;
  const std::int64_t lines = std::int64_t{below} * quantize_rows(q.block, by.runs);
  const std::int64_t ctas = (blocks_across(q) + beside - 1) / beside;
  return {static_cast<unsigned>(beside), static_cast<unsigned>(below),
          static_cast<unsigned>(ctas < most_beside ? ctas : most_beside),
          static_cast<unsigned>((q.rows + lines - 1) / lines)};
}

}  // namespace tcq::gemm
