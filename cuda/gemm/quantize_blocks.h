// The blocks of a matrix that share a factor, by number: where each lies, on the host and on the device.
//
// Example: 300 x 200 with Block128 are 3 lines of 2 blocks; block 1 of line 1 is rows 128 to 255, columns 128 to 199, and its factor
// is element 1 * ld + 1 of K-major factors.
#pragma once

#include <cstdint>

#include "cuda/gemm/check.h"
#include "cuda/gemm/quantize.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm {

HOST_DEVICE constexpr std::uint32_t rows_of(QuantizeBlock block) {
  return block == QuantizeBlock::Block128 ? scale_block : 1;
}

// A matrix as both quantisers have it. Blocks are told by their line and their number in it; sizes are below 2^31.
struct QuantizeShape {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t lines;   // of blocks
  std::uint32_t across;  // blocks in each
  std::int64_t ld_source;
  std::int64_t ld_target;
  std::int64_t factor_below;  // from a block's factor to that of the block below
  std::int64_t factor_beside;
  bool power_of_two;

  HOST_DEVICE constexpr std::int64_t factor(std::uint32_t line, std::uint32_t number) const {
    return line * factor_below + number * factor_beside;
  }
};

constexpr QuantizeShape shape_of(const Quantize& q) {
  const auto count = [](std::int64_t size, std::int64_t unit) {
    return static_cast<std::uint32_t>((size + unit - 1) / unit);
  };
  const std::uint32_t lines = count(q.rows, rows_of(q.block));
  const std::uint32_t across = q.block == QuantizeBlock::Row ? 1 : count(q.columns, scale_block);
  const bool k_major = q.major_factors == Major::K;
  const std::int64_t ld = q.ld_factors == packed ? (k_major ? across : lines) : q.ld_factors;
  return {count(q.rows, 1),
          count(q.columns, 1),
          lines,
          across,
          q.ld_source == packed ? q.columns : q.ld_source,
          q.ld_target == packed ? q.columns : q.ld_target,
          k_major ? ld : 1,
          k_major ? 1 : ld,
          q.power_of_two};
}

struct QuantizeRange {
  std::uint32_t row;
  std::uint32_t row_end;
  std::uint32_t col;
  std::uint32_t col_end;
};

// So many rows of the blocks with this number, from `row` on; empty where there are none.
HOST_DEVICE constexpr QuantizeRange range_at(const QuantizeShape& s, QuantizeBlock block,
                                             std::uint32_t row, std::uint32_t number,
                                             std::uint32_t rows) {
  if (row >= s.rows || number >= s.across) return {row, row, 0, 0};
  const std::uint32_t row_end = row + rows < s.rows ? row + rows : s.rows;
  const std::uint32_t col = number * scale_block;
  const bool to_end = block == QuantizeBlock::Row || col + scale_block > s.columns;
  return {row, row_end, col, to_end ? s.columns : col + scale_block};
}

// --- the device's threads ---------------------------------------------------------------------------

inline constexpr int quantize_threads =
    256;  // of a CTA, but for blocks of several rows, and short rows
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

// Runs of a row that each thread of a team holds: more would leave room for too few threads.
HOST_DEVICE constexpr int quantize_runs_of_row(Type in) { return in == Type::f32 ? 4 : 8; }

// Threads that have a block, and whether all lines consist of runs that can be read and written at once.
struct QuantizeTeams {
  int threads;
  bool runs;
};

// As few as hold a row, if any do: one warp, or a CTA.
inline int quantize_threads_of_row(const Quantize& q, bool runs) {
  const std::int64_t held = std::int64_t{quantize_runs_of_row(q.in)} * quantize_run;
  if (!runs) return q.columns <= held * quantize_warp ? quantize_warp : quantize_threads;
  int threads = quantize_warp;
  while (threads < quantize_threads && q.columns > held * threads) threads *= 2;
  return threads;
}

inline QuantizeTeams quantize_teams(const Quantize& q, const void* source, const void* target) {
  constexpr std::int64_t unit = 16;
  const QuantizeShape s = shape_of(q);
  const auto begins_with = [](const void* p, std::int64_t bytes) {
    return reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes) == 0;
  };
  const bool runs = begins_with(source, unit) && s.ld_source * bits(q.in) / 8 % unit == 0 &&
                    begins_with(target, quantize_run) && s.ld_target % quantize_run == 0 &&
                    q.columns % quantize_run == 0;
  if (q.block == QuantizeBlock::Vector128) return {quantize_threads_of_vector, runs};
  if (q.block == QuantizeBlock::Block128) return {quantize_threads_of_block, runs};
  return {quantize_threads_of_row(q, runs), runs};
}

// Teams of a CTA, and CTAs: beside each other those of a line of blocks.
struct QuantizeGrid {
  unsigned beside;
  unsigned below;
  unsigned ctas_beside;
  unsigned ctas_below;
};

constexpr QuantizeGrid quantize_grid(const Quantize& q, QuantizeTeams by) {
  constexpr std::uint32_t most_beside = 65535;  // of a grid; each takes several blocks
  const QuantizeShape s = shape_of(q);
  // Of several warps a team has a CTA to itself: it meets at the CTA's barrier.
  const unsigned teams =
      by.threads <= quantize_warp ? static_cast<unsigned>(quantize_threads / by.threads) : 1;
  unsigned beside = 1;
  while (beside < teams && beside < s.across) beside *= 2;
  const unsigned below = teams / beside;
  const unsigned lines = below * static_cast<unsigned>(quantize_rows(q.block, by.runs));
  const unsigned ctas = (s.across + beside - 1) / beside;
  return {beside, below, ctas < most_beside ? ctas : most_beside, (s.rows + lines - 1) / lines};
}

}  // namespace tcq::gemm
