#include "cuda/gemm/stream_k.h"

#include <atomic>
#include <limits>

#include "cuda/gemm/check.h"
#include "cuda/gemm/path.h"

namespace tcq::gemm {
namespace {

// Of the CTAs of all clusters.
std::size_t ctas_of(const Launch& l) {
  return static_cast<std::size_t>(l.clusters) * static_cast<std::size_t>(cluster_size(*l.kernel));
}

// One for each warp of each consumer, in whole lines.
std::size_t flag_bytes(const Launch& l) {
  const auto each = static_cast<std::size_t>(consumers_of(*l.kernel) * warpgroup_threads / 32);
  const std::size_t warps = ctas_of(l) * each;
  return whole_lines(warps * sizeof(std::uint64_t));
}

// Never the same twice, and nothing that stands in memory by chance.
std::uint64_t next_value() {
  static std::atomic<std::uint64_t> launches = 0;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  return ++launches * odd;
}

}  // namespace

// Even runs of up to 1.36 tiles; up to 1.5 these, as every second cluster has then nothing to take over and the others nothing
// to leave. With longer ones clusters are out of step for so long that operands are read from memory again (measured, H200:
// cuda/NOTES.md, "runs of K over tiles' edges").
Runs runs_of(const Kernel& kernel, std::int64_t tiles, int clusters, int k_blocks) {
  if (!kernel.streams_k || tiles <= clusters || tiles % clusters == 0) return {};
  const std::int64_t in_runs = tiles % clusters + clusters;
  const std::int64_t even = round_up_quotient(in_runs * k_blocks, clusters);
  const std::int64_t longest = round_up_quotient(std::int64_t{3} * k_blocks, 2);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  // Two whole tiles are no run. And blocks are counted in 32 bits.
  if (even > longest || longest >= std::int64_t{2} * k_blocks || longest * clusters > most)
    return {};
  const bool is_short = even * 100 <= std::int64_t{136} * k_blocks;
  return {static_cast<int>(in_runs), static_cast<int>(is_short ? even : longest)};
}

std::size_t stream_k_bytes(const Launch& l) {
  if (l.kernel == nullptr || l.runs.tiles == 0) return 0;
  const auto outputs = static_cast<std::size_t>(l.kernel->block_m * l.kernel->block_n);
  return l2_line_bytes + flag_bytes(l) + ctas_of(l) * outputs * sizeof(std::uint32_t);
}

bool has_room(const Launch& l, const Workspace& workspace) {
  const std::size_t wanted = stream_k_bytes(l);
  return wanted == 0 || (workspace.data != nullptr && workspace.bytes >= wanted);
}

StreamK stream_k_of(const Launch& l, const Workspace& workspace) {
  const int tiles = tile_count(l.schedule);
  StreamK out;
  out.whole = tiles;
  if (l.runs.tiles == 0) return out;
  std::uint8_t* const first = first_line(workspace.data);
  out.whole = tiles - l.runs.tiles;
  out.blocks = l.runs.tiles * l.k_blocks;
  out.of_tile = Divisor(l.k_blocks);
  out.run = l.runs.blocks;
  out.flags = reinterpret_cast<std::uint64_t*>(first);
  out.sums = reinterpret_cast<std::uint32_t*>(first + flag_bytes(l));
  out.left = next_value();
  return out;
}

}  // namespace tcq::gemm
