#include "cuda/gemm_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/gemm_check.h"

namespace tcq::gemm {
namespace {

std::int64_t round_up_quotient(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Inferred: fitted to 4252 times of 167 problems (bf16, tf32, s8) on an H200 so that the kernel
// chosen is 1.6 % slower than the best one in the mean. Another chip wants another fit; the results
// stay right.
namespace fitted {
constexpr double clocks = 1738;         // of an SM in a microsecond
constexpr double into_sm = 112.8e3;     // bytes in a microsecond from L2 to one SM
constexpr double out_of_l2 = 15.2e6;    // and to all of them
constexpr double memory = 5e6;          // bytes in a microsecond
constexpr double memory_latency = 1.7;  // bytes in flight / this is the rate until then
constexpr double unaligned = 1.54;      // rows that begin within a line of L2 take two
constexpr double launch = 1.64;         // microseconds
constexpr double next_beside = 0.41;   // less if the next kernel's CTAs find room beside this one's
constexpr double cluster_cta = 0.042;  // of one more CTA in a cluster
constexpr double exchange = 0.876;     // of sums, if K is split
constexpr double exchange_part = 0.057;
constexpr double first_stages = 0.254e-6;  // microseconds for a byte before all stages are full
constexpr double epilogue = 0.27;          // clocks for an output
constexpr double hidden_epilogue = 0.023;  // behind the other consumer's products
constexpr double full_epilogue = 0.6;
constexpr double copying = 8;   // threads load that much slower than TMA
constexpr double longest_overlap = 20;  // microseconds
constexpr double blend = 3.07;  // the larger of the bounds, and a little of the others
}  // namespace fitted

// Clocks of the wgmmas of one CTA for one of the four steps of a block: the tensor cores', or those
// of reading both operands at 128 bytes in a clock.
double step_clocks(const Kernel& k) {
  const bool swaps = k.skinny == Skinny::Rows;
  const int rows = swaps ? k.block_n : k.block_m;
  const double n = swaps ? k.block_m : k.block_n;
  return rows / warpgroup_rows * std::max(n / 2, (warpgroup_rows + n) / 4);
}

double epilogue_clocks(const Kernel& k) {
  const double tile = static_cast<double>(k.block_m) * k.block_n;
  if (k.full) return fitted::full_epilogue * tile;
  if (k.skinny != Skinny::No) return fitted::epilogue / 2 * tile;
  return (k.turns == Turns::PingPong ? fitted::hidden_epilogue : fitted::epilogue) * tile;
}

double blended(std::initializer_list<double> bounds) {
  double sum = 0;
  for (const double bound : bounds) sum += std::pow(bound, fitted::blend);
  return std::pow(sum, 1 / fitted::blend);
}

double bytes_of(Type type, std::int64_t elements) {
  return static_cast<double>(elements) * bits(type) / 8;
}

}  // namespace

int k_blocks(const Kernel& kernel, const Problem& p) {
  return static_cast<int>(
      std::max<std::int64_t>(round_up_quotient(p.k, static_cast<std::int64_t>(kernel.block_k)), 1));
}

// With few rows of D the schedule's rows are columns of D.
Schedule schedule_of(const Kernel& k, const Problem& p) {
  const std::int64_t rows = round_up_quotient(p.m, k.block_m * k.cluster_m);
  const std::int64_t cols = round_up_quotient(p.n, k.block_n * k.cluster_n);
  constexpr int group_rows = 8;
  const bool swaps = k.skinny == Skinny::Rows;
  Schedule s;
  s.rows = static_cast<int>(swaps ? cols : rows);
  s.cols = static_cast<int>(swaps ? rows : cols);
  s.batch = static_cast<int>(p.batch);
  s.group = k.skinny != Skinny::No ? 1 : std::max(1, group_rows / k.cluster_m);
  return s;
}

std::int64_t tiles_of(const Schedule& s) {
  constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();
  std::int64_t tiles = 0;
  if (__builtin_mul_overflow(std::int64_t{s.rows} * s.cols, s.batch, &tiles)) return too_many;
  return tiles;
}

int ctas_per_sm(const Kernel& k) {
  constexpr int reserved = 1024;  // bytes of every CTA
  constexpr int most = 4;         // skinny kernels are compiled for
  const int room = static_cast<int>(228 * 1024 / (k.shared_bytes + reserved));
  return k.skinny == Skinny::No ? 1 : std::min(room, most);
}

bool suits(const Kernel& k, const Problem& p) {
  if (k.skinny == Skinny::Rows) return p.m <= p.n;
  return k.skinny != Skinny::Columns || p.n < p.m;
}

bool overlaps(const Kernel& k, double microseconds) {
  return k.skinny != Skinny::No && microseconds < fitted::longest_overlap;
}

double microseconds(const Kernel& k, const Problem& p, const Device& device, int resident) {
  const auto tiles = static_cast<double>(tiles_of(schedule_of(k, p)));
  const double waves = std::ceil(tiles / resident);
  const double ctas = tiles * cluster_size(k);
  const double together = std::min<double>(ctas_per_sm(k), std::ceil(ctas / device.sm_count));
  const double k_total = k_blocks(k, p);
  const double blocks = std::ceil(k_total / k.split);
  const double stage = bytes_of(k.in, std::int64_t{k.block_m + k.block_n} * k.block_k);
  const auto crosses_lines = [&](const Strides& s) {
    return s.ld * element_bytes(p.in) % l2_line_bytes != 0;
  };
  const double lines = crosses_lines(p.a) || crosses_lines(p.b) ? fitted::unaligned : 1;
  const double copies = k.loader == Loader::Copy ? fitted::copying : 1;

  const double multiply = waves * blocks * 4 * step_clocks(k) * together / fitted::clocks;
  const double receive = waves * blocks * stage * together * lines * copies / fitted::into_sm;
  const double shared_rows = k.block_m * k.cluster_m + k.block_n * k.cluster_n;
  const double leave_l2 = tiles * k_total * shared_rows * swizzle_bytes * lines / fitted::out_of_l2;
  const double in_flight =
      std::min(ctas, static_cast<double>(device.sm_count) * ctas_per_sm(k)) * k.stages * stage;
  const double matrices = static_cast<double>(p.batch) *
                          (bytes_of(p.in, (p.m + p.n) * p.k) + bytes_of(p.out, p.m * p.n));
  const double read = matrices / std::min(fitted::memory, in_flight / fitted::memory_latency);

  double time = fitted::launch + blended({multiply, receive, leave_l2, read}) +
                waves * epilogue_clocks(k) / fitted::clocks +
                fitted::first_stages * std::min<double>(blocks, k.stages) * stage;
  if (k.skinny != Skinny::No && 2 * tiles <= resident) time -= fitted::next_beside;
  if (cluster_size(k) > 1) time += fitted::cluster_cta * cluster_size(k);
  if (k.split > 1) time += fitted::exchange + fitted::exchange_part * k.split;
  return time;
}

}  // namespace tcq::gemm
