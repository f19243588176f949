#include "cuda/gemm/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/gemm/check.h"
#include "cuda/gemm/stream_k.h"
#include "sim/isa/wgmma/rate.h"

namespace tcq::gemm {
namespace {

struct Rates {
  double clocks;          // of an SM in a microsecond
  double into_sm;         // bytes in a microsecond from L2 to one SM
  double out_of_l2;       // and to all of them
  double memory;          // bytes in a microsecond, of an H100
  double memory_latency;  // bytes in flight / this is the rate until then
  double unaligned;       // rows that begin within a line of L2 take two
  double launch;          // microseconds
  double cluster_cta;     // of one more CTA in a cluster
  double epilogue;        // clocks for an output
  double finish;          // and of its arithmetic, an activation
  double c;               // to read C, by that
  double blend;           // the larger of the bounds, and a little of the others
};

// Inferred: fitted to the times of some 870 problems on an H100 and 1030 on an H200, the benchmark's suite
// (bf16, tf32, s8), and drawn shapes without and with an epilogue, in FP8, with row-major B and with 32-bit results, so
// that the kernel chosen is seldom far from the best one (the bounds are tests/gemm/gemm_estimate_test.cc's); no constant
// is a measurement of what it is named for. The times of the fastest kernels are kept: tests/gemm/times.txt. Another chip
// wants another fit; the results stay right.
namespace fitted {
constexpr Rates large = {.clocks = 1368,
                         .into_sm = 1.097e+05,
                         .out_of_l2 = 2.314e+07,
                         .memory = 2.777e+06,
                         .memory_latency = 5.094,
                         .unaligned = 1.607,
                         .launch = 1.887,
                         .cluster_cta = 0.4637,
                         .epilogue = 0.08062,
                         .finish = 0.015,
                         .c = 12.44,
                         .blend = 5.128};
constexpr double hidden_epilogue = 4.832e-06;  // behind the other consumer's products
constexpr double last_epilogue = 0.05395;      // which nothing hides, besides
constexpr double turn = 1012;                  // clocks from a tile of a CTA to its next, at least
constexpr double turn_output = 0.02;           // and of each output
constexpr double last_finish = 0.03348;
constexpr double bias = 3.767;
// Of groups along K, whose tiles have unequal K: how much of a last wave that is not full counts as one; their time by that of a
// batch of equal groups, also where tiles have 256 rows; microseconds of a tile that is cleared by rows, and of one of 256 rows
// that promotes.
constexpr double whole_waves_along_k = 0.3;
constexpr double along_k = 0.8525;
constexpr double along_k_256 = 0.9548;
constexpr double part_of_k = 2.131;
constexpr double part_of_k_promoted = 5.968;
// Of MN-major operands, the whole time, where CTAs share none: few rows that do not split K, and large tiles.
constexpr double mn_major_few = 0.95;
constexpr double mn_major_alone = 1.04;
constexpr double copying = 62.97;  // threads load that much slower than TMA
// Clocks that FP8's promotion adds to a block of K beyond what `clocks` has of it: with a factor of 128 columns, by two
// consumers of 64 rows, three (more for each column that is not there of 128), or two of 128; with a factor of each, for
// a column of 64 rows, and how much less where a consumer has 128.
constexpr double promotion_by_blocks = 145;
constexpr double promotion_by_three = 44.24;
constexpr double promotion_by_three_narrow = 2.211;
constexpr double promotion_by_two_waves = 153;
constexpr double promotion_each = 4.3;
constexpr double promotion_each_128 = 0.78;
// The same where TMA brings the factors, and what its store of a whole tile at once takes of another's.
constexpr double promotion_staged = 217.4;
constexpr double promotion_staged_by_three = 44.04;
constexpr double promotion_staged_narrow = 2.2;
constexpr double promotion_staged_by_two_waves = 189.8;
constexpr double promotion_ahead = 96;          // products ahead of additions
constexpr double promotion_staged_each = 0.96;  // with a factor of each, for a column of 64 rows
constexpr double staged_epilogue = 0.5912;
constexpr double staged_bias = 1;
constexpr double left_sums = 6.6;  // microseconds, where tiles have parts of two clusters
constexpr double promotion_few = 2.826;
constexpr double promotion_few_consumers = 0.9735;  // that exponent of their number
constexpr double promotion_few_launch = 0.4478;     // microseconds
// The same where rows of D are wgmma's rows and one factor is for 128 columns.
constexpr double promotion_columns = 0.5699;
constexpr double promotion_columns_consumers = 1.228;
constexpr double promotion_columns_launch = 0.1265;
// Of both, where consumers have a producer's registers (skinny_config.h).
constexpr double promotion_moved = 0.747;

// Few rows or columns.
constexpr Rates few = {.clocks = 1614,
                       .into_sm = 1.133e+05,
                       .out_of_l2 = 1.128e+07,
                       .memory = 4.265e+06,
                       .memory_latency = 2.795,
                       .unaligned = 1.381,
                       .launch = 0.4343,
                       .cluster_cta = 0.03428,
                       .epilogue = 0.1702,
                       .finish = 0.009845,
                       .c = 12.88,
                       .blend = 2.867};
constexpr double sm_memory = 5.232e+04;    // bytes in a microsecond from memory to one SM
constexpr double again = 1.667;            // if several columns of tiles read the weights
constexpr double next_beside = 0.1964;     // less if the next kernel's CTAs find room beside
constexpr double next_cta = 2.026;         // the start of every further CTA
constexpr double next_cluster = 0.016;     // and of every cluster of a matrix beyond as many as SMs
constexpr double pair = 0.09395;           // of tiles that share weights
constexpr double crowd = 0.1851;           // a cluster of more than four CTAs
constexpr double quantizing = 4.705;       // D, in microseconds
constexpr double exchange = 0.2495;        // of sums, if K is split
constexpr double uneven = 1.09;            // what one CTA more on some SMs takes longer than that
constexpr double exchange_output = 66.78;  // and of each that is sent, in picoseconds
}  // namespace fitted

// Measured: longer kernels lose by it (cuda/NOTES.md, the row of launch_dependents a ring ahead).
constexpr double longest_overlap_microseconds = 20;

constexpr int small_cluster = 4;  // CTAs

// Source: CUDA C++ Programming Guide, compute capability 9.0: 32 banks of 32 bits, in a clock.
constexpr double shared_bytes_per_clock = 128;

// Clocks of the wgmmas of one CTA for one step along K: the tensor cores', or those of reading both
// operands.
double step_clocks(const Kernel& k) {
  const bool swaps = k.skinny == Skinny::Rows;
  const int rows = swaps ? k.block_n : k.block_m;
  const wgmma::Form form = {.d = wgmma::widest_d(k.in),
                            .a = swaps ? k.in_b : k.in,
                            .b = swaps ? k.in : k.in_b,
                            .n = swaps ? k.block_m : k.block_n};
  const double reading = (wgmma::a_bytes(form) + wgmma::b_bytes(form)) / shared_bytes_per_clock;
  return rows / warpgroup_rows * std::max<double>(wgmma::tensor_clocks(form), reading);
}

double staged_promotion_clocks(const Kernel& k, int waves) {
  const bool each = k.promotion == Promotion::EachColumn;
  const double more = each ? fitted::promotion_staged_each * k.block_n * waves : 0;
  if (waves > 1) return more + fitted::promotion_staged_by_two_waves;
  const int narrower = scale_block - k.block_n;
  if (consumers_of(k) == 3)
    return more + fitted::promotion_staged_by_three + fitted::promotion_staged_narrow * narrower;
  if (narrower == 0) return more + fitted::promotion_ahead;
  return more + fitted::promotion_staged + fitted::promotion_by_three_narrow * narrower;
}

// What adding a block's sums takes beyond what other products hide, of one consumer.
double promotion_clocks(const Kernel& k) {
  if (k.promotion == Promotion::None) return 0;
  const bool moves = k.skinny != Skinny::No && k.threads % warpgroup_threads == 0;
  const double moved = moves ? fitted::promotion_moved : 1;
  if (k.skinny == Skinny::Columns)
    return moved * fitted::promotion_columns * k.block_n *
           std::pow(k.block_m / warpgroup_rows, fitted::promotion_columns_consumers);
  if (k.skinny == Skinny::Rows)
    return moved * fitted::promotion_few * k.block_m *
           std::pow(k.block_n / warpgroup_rows, fitted::promotion_few_consumers);
  const int waves = k.block_m / ((is_beside(k) ? 1 : consumers_of(k)) * warpgroup_rows);
  const int columns = is_beside(k) ? scale_block : k.block_n;
  if (k.stages_factors) return staged_promotion_clocks(k, waves);
  if (k.promotion == Promotion::ColumnBlocks) {
    if (waves > 1) return fitted::promotion_by_two_waves;
    if (consumers_of(k) == 2) return fitted::promotion_by_blocks;
    return fitted::promotion_by_three + fitted::promotion_by_three_narrow * (scale_block - columns);
  }
  return fitted::promotion_each * columns * waves * (waves > 1 ? fitted::promotion_each_128 : 1);
}

// The arithmetic of an epilogue by that of an activation.
double arithmetic(const Kernel& k, const Problem& p, const Rates& rates) {
  const double activation = p.activation == Activation::None ? 0 : 1;
  const double bias = k.stages_factors ? fitted::staged_bias : fitted::bias;
  return activation + (p.has_bias ? bias : 0) + (p.beta != 0 ? rates.c : 0);
}

// Of all tiles of a CTA.
double epilogue_clocks(const Kernel& k, const Problem& p, const Rates& rates, double waves) {
  const double tile = static_cast<double>(k.block_m) * k.block_n;
  const double share = arithmetic(k, p, rates);
  if (k.turns == Turns::Together)
    return (rates.epilogue * (k.stages_factors ? fitted::staged_epilogue : 1) +
            rates.finish * share / k.split) *
           tile * waves;
  return (fitted::hidden_epilogue * waves + fitted::last_epilogue + fitted::last_finish * share) *
         tile;
}

// Of a CTA's two consumers, while products are shorter than a tile's way in and out.
double turn_clocks(const Kernel& k) {
  if (k.turns == Turns::Together) return 0;
  return fitted::turn + fitted::turn_output * k.block_m * k.block_n;
}

// Of a CTA whose part of K is one of several.
double sent_outputs(const Kernel& k) {
  return static_cast<double>(k.block_m) * k.block_n * (k.split - 1) / k.split;
}

double blended(const Rates& rates, std::initializer_list<double> bounds) {
  double sum = 0;
  for (const double bound : bounds) sum += std::pow(bound, rates.blend);
  return std::pow(sum, 1 / rates.blend);
}

double bytes_of(Type type, std::int64_t elements) {
  return static_cast<double>(elements) * static_cast<double>(element_bytes(type));
}

}  // namespace

std::int64_t clusters_by_count(int size, int sm_count) {
  const std::int64_t all = sm_count / size;
  if (size == 3) return all * 39 / 44;
  if (size > 6) return all * 15 / 16;
  return size > 2 ? all * 30 / 33 : all;
}

int k_blocks(const Kernel& kernel, const Problem& p) {
  const std::int64_t least = kernel.tensor_columns > 0 ? 0 : 1;
  return static_cast<int>(std::max(round_up_quotient(p.k, std::int64_t{kernel.block_k}), least));
}

// Of groups, whose sizes are not known: as many as there can be.
std::int64_t tiles_down(const Kernel& k, const Problem& p) {
  const std::int64_t rows = round_up_quotient(p.m, k.block_m * k.cluster_m);
  if (p.grouping == Grouping::Ends) return rows + p.batch;
  return p.grouping == Grouping::Counts ? rows * p.batch : rows;
}

// With few rows of D the schedule's rows are columns of D.
Schedule schedule_of(const Kernel& k, const Problem& p) {
  const std::int64_t rows = tiles_down(k, p);
  const std::int64_t cols = round_up_quotient(p.n, k.block_n * k.cluster_n);
  constexpr int group_rows = 8;
  const bool swaps = k.skinny == Skinny::Rows;
  Schedule s;
  s.rows = static_cast<int>(swaps ? cols : rows);
  s.cols = static_cast<int>(swaps ? rows : cols);
  s.batch = is_grouped(p) ? 1 : static_cast<int>(p.batch);
  s.group = k.skinny != Skinny::No ? 1 : std::max(1, group_rows / k.cluster_m);
  return s;
}

std::int64_t tiles_of(const Schedule& s) {
  constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();
  std::int64_t tiles = 0;
  if (__builtin_mul_overflow(std::int64_t{s.rows} * s.cols, s.batch, &tiles)) return too_many;
  return tiles;
}

namespace {

// What CTAs ask of memory.
struct Loads {
  double ctas, bytes;  // of all of them
  double in_flight;    // bytes of one
  double memory;       // bytes in a microsecond
  double latency;      // of one CTA: in_flight / latency
};

// What so many CTAs of an SM ask, and get if memory has it.
double asked(const Kernel& k, const Loads& loads, double ctas) {
  return std::min(std::min<double>(ctas, k.ctas_per_sm) * loads.in_flight / loads.latency,
                  fitted::sm_memory);
}

double read_evenly(const Kernel& k, const Device& device, const Loads& loads) {
  const double sms = std::min<double>(loads.ctas, device.sm_count);
  return loads.bytes / std::min(loads.memory, sms * asked(k, loads, loads.ctas / sms));
}

// SMs share what memory gives, and CTAs what their SM gets of it: where CTAs are a few more than SMs, the SMs that have
// one more end behind the others.
double read_by_sm(const Kernel& k, const Device& device, const Loads& loads) {
  const int size = cluster_size(k);
  const auto sms = static_cast<double>(clusters_by_count(size, device.sm_count) * size);
  const double rounds = std::floor(loads.ctas / sms);
  const double more = loads.ctas - rounds * sms;  // SMs that have another
  if (rounds == 0 || more == 0) return read_evenly(k, device, loads);
  const double each = loads.bytes / loads.ctas;
  const double one_less = asked(k, loads, rounds);
  const double one_more = asked(k, loads, rounds + 1);
  double share = loads.memory / sms;
  if (share > one_less) share = (loads.memory - (sms - more) * one_less) / more;
  const double first = rounds * each / std::min(one_less, share);
  const double left = (rounds + 1) * each - std::min(one_more, share) * first;
  const double last = std::max(0.0, left) / std::min(one_more, loads.memory / more);
  return first + fitted::uneven * last;
}

// Rows of A, or columns of B, of a cluster's tile that are loaded, in the mean: those outside are not, or whole boxes are. Of one
// product it is reckoned with whole tiles, as the constants were fitted.
double used(std::int64_t batch, Major major, std::int64_t size, int tile) {
  constexpr int box = 64;
  if (batch == 1) return tile;
  const double each =
      static_cast<double>(size) / static_cast<double>(round_up_quotient(size, std::int64_t{tile}));
  return major == Major::K ? each : std::min<double>(tile, std::ceil(each / box) * box);
}

// From the first load to the last wgmma of all waves.
double loop_microseconds(const Kernel& k, const Problem& p, const Device& device,
                         const Rates& rates, double waves) {
  const bool few = k.skinny != Skinny::No;
  const Schedule schedule = schedule_of(k, p);
  const auto tiles = static_cast<double>(tiles_of(schedule));
  const double ctas = tiles * cluster_size(k);
  const auto one_each = static_cast<double>(clusters_by_count(cluster_size(k), device.sm_count));
  const double together = std::min<double>(k.ctas_per_sm, std::ceil(tiles / one_each));
  const double k_total = k_blocks(k, p);
  const double blocks = std::ceil(k_total / k.split);
  const double steps = few ? blocks * (k.block_k / wgmma::stored_k(k.in))
                           : std::ceil(static_cast<double>(p.k) / wgmma::stored_k(k.in));
  const double stage = bytes_of(k.in, std::int64_t{k.block_m + k.block_n} * k.block_k);
  const auto crosses_lines = [&](const Strides& s) {
    return s.ld * element_bytes(p.in) % l2_line_bytes != 0;
  };
  const double lines = crosses_lines(p.a) || crosses_lines(p.b) ? rates.unaligned : 1;
  const double copies = k.loader == Loader::Copy ? fitted::copying : 1;

  const double clocks = steps * step_clocks(k) + blocks * promotion_clocks(k);
  const double multiply = waves * clocks * together / rates.clocks;
  const double rows = used(p.batch, k.major_a, p.m, k.block_m * k.cluster_m);
  const double columns = used(p.batch, k.major_b, p.n, k.block_n * k.cluster_n);
  const double received = (rows / k.cluster_m + columns / k.cluster_n) * swizzle_bytes;
  const double receive = waves * blocks * received * together * lines * copies / rates.into_sm;
  const double shared_rows = rows + columns;
  const double leave_l2 = tiles * k_total * shared_rows * swizzle_bytes * lines / rates.out_of_l2;
  const double matrices = static_cast<double>(p.batch) *
                          (bytes_of(p.in, (p.m + p.n) * p.k) + bytes_of(type_d(p), p.m * p.n));
  const double again = few && schedule.cols > 1 ? fitted::again : 1;
  const double memory = rates.memory * device.memory / Device{}.memory;
  const Loads loads = {ctas, matrices * again, k.stages * stage, memory, rates.memory_latency};
  const double read = few ? read_by_sm(k, device, loads) : read_evenly(k, device, loads);
  const bool promotes = k.promotion != Promotion::None;
  const double more = few && !promotes ? tiles / static_cast<double>(p.batch) - device.sm_count : 0;
  const double start = std::max(0.0, more) * fitted::next_cluster;
  return blended(rates,
                 {multiply, receive, leave_l2, read, start, waves * turn_clocks(k) / rates.clocks});
}

double waves_of(const Kernel& k, double waves) {
  const double whole = std::ceil(waves);
  if (!k.groups_k) return whole;
  return std::max(1.0, waves + fitted::whole_waves_along_k * (whole - waves));
}

// Of the time of a batch of equal groups.
double along_k_microseconds(const Kernel& k, double time, double waves) {
  const bool by_columns = k.major_a == Major::MN && k.major_b == Major::MN;
  if (k.block_m < 256) return time * fitted::along_k + (by_columns ? 0 : waves * fitted::part_of_k);
  const double part = k.promotion == Promotion::None ? 0 : fitted::part_of_k_promoted;
  return time * fitted::along_k_256 + waves * part;
}

}  // namespace

// With few rows wgmma's columns are rows of D.
bool promotes_as(const Kernel& k, const Problem& p) {
  if (!is_promoted(p)) return k.promotion == Promotion::None;
  if (k.promotion == Promotion::None) return false;
  const bool by_blocks = k.promotion == Promotion::ColumnBlocks;
  return !by_blocks || p.scaling != Scaling::Vector128;
}

bool suits(const Kernel& k, const Problem& p) {
  const bool has_idle = p.m <= std::int64_t{k.block_m} * (k.cluster_m - 1) ||
                        p.n <= std::int64_t{k.block_n} * (k.cluster_n - 1);
  if (k.skinny != Skinny::No && has_idle) return false;
  const double operations = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) *
                            static_cast<double>(p.k) * static_cast<double>(p.batch);
  // Of one product small tiles took up to 1.6 times as long as others, but where D has few columns; or nothing else fits one SM.
  const bool is_small = k.skinny == Skinny::No && k.ctas_per_sm > 1;
  const bool few_of_d = k.block_m > warpgroup_rows && p.n <= k.block_n;
  if (is_small && p.batch == 1 && p.sm_limit != 1 && !few_of_d) return false;
  const bool few_columns = k.skinny == Skinny::Columns && k.promotion == Promotion::None;
  return (!few_columns || p.n < p.m) && operations <= k.most_operations;
}

bool overlaps(const Kernel& k, double microseconds) {
  return k.skinny != Skinny::No && microseconds < longest_overlap_microseconds;
}

bool groups_as(const Kernel& k, const Problem& p) {
  // Rows with numbers: 128 of them have one.
  const bool by_row = p.grouping == Grouping::RowIds;
  return k.grouped == is_grouped(p) && k.groups_k == groups_k(p) &&
         (!by_row || scale_block % (k.block_m * k.cluster_m) == 0);
}

bool quantizes_as(const Kernel& k, const Problem& p) {
  const bool twice = is_gated(p.activation) && !has_codes_d(p);
  const int wanted = !p.quantized ? 0 : twice ? 2 * scale_block : scale_block;
  return (k.quantized_columns > 0) == (wanted > 0) && k.quantized_columns >= wanted &&
         k.quantized_vec == scale_vec_of(p.block_scaling_d);
}

bool stages_as(const Kernel& k, const Problem& p) {
  const bool each = p.scaling == Scaling::Vector128;
  return !k.stages_factors ||
         (tma_addresses_factors(p) && each == (k.promotion == Promotion::EachColumn));
}

bool splits_as(const Kernel& k, const Problem& p) {
  return k.split == 1 || (!p.batch_invariant && k.split <= k_blocks(k, p));
}

Problem as_batch(const Problem& p) {
  if (!has_sizes(p)) return p;
  Problem out = p;
  out.grouping = Grouping::None;
  if (groups_k(p)) {
    out.k = p.k / std::max<std::int64_t>(p.batch, 1);
    return out;
  }
  if (p.expected_rows > 0)
    out.m = p.expected_rows;
  else if (p.grouping != Grouping::Counts)
    out.m = std::max<std::int64_t>(p.m / p.batch, 1);
  return out;
}

namespace {

double mn_major(const Kernel& k) {
  const bool k_major = k.major_a == Major::K && k.major_b == Major::K;
  if (k_major || k.groups_k || cluster_size(k) > 1) return 1;
  return k.skinny != Skinny::No ? fitted::mn_major_few : fitted::mn_major_alone;
}

// `waves`: how many tiles a cluster computes, or the largest number of these.
double microseconds_of(const Kernel& k, const Problem& p, const Device& device, int resident,
                       double waves) {
  const bool few = k.skinny != Skinny::No;
  const Rates& rates = few ? fitted::few : fitted::large;
  const auto tiles = static_cast<double>(tiles_of(schedule_of(k, p)));
  double time = rates.launch + loop_microseconds(k, p, device, rates, waves) +
                epilogue_clocks(k, p, rates, waves) / rates.clocks;
  if (few) {
    time += (waves - 1) * fitted::next_cta;
    if (2 * tiles <= resident) time -= fitted::next_beside;
    if (k.cluster_m > 1) time += fitted::pair;
    if (cluster_size(k) > small_cluster) time += fitted::crowd;
  }
  time *= mn_major(k);
  if (k.groups_k) time = along_k_microseconds(k, time, waves);
  if (cluster_size(k) > 1) time += rates.cluster_cta * cluster_size(k);
  if (k.split > 1) time += fitted::exchange + fitted::exchange_output * 1e-6 * sent_outputs(k);
  if (few && k.quantized_columns > 0) time += fitted::quantizing;
  if (k.promotion != Promotion::None && few)
    time +=
        k.skinny == Skinny::Rows ? fitted::promotion_few_launch : fitted::promotion_columns_launch;
  return time;
}

// Groups whose sizes are as if drawn by chance (exponential), each with a last tile of its own: by how much their tiles are
// more than those of equal ones. Whether sizes are, nobody says; among recorded times it chooses better.
double more_tiles(const Kernel& k, const Problem& p, const Problem& batch) {
  if (p.grouping != Grouping::Ends) return 1;
  const double rows = static_cast<double>(batch.m) / (k.block_m * k.cluster_m);
  return 1 / (1 - std::exp(-1 / rows)) / std::ceil(rows);
}

}  // namespace

double microseconds(const Kernel& k, const Problem& p, const Device& device, int resident) {
  if (has_sizes(p)) {
    const Problem batch = as_batch(p);
    const auto whole = static_cast<double>(tiles_of(schedule_of(k, batch)));
    const double tiles = whole * more_tiles(k, p, batch);
    return microseconds_of(k, batch, device, resident, waves_of(k, tiles / resident));
  }
  const auto tiles = static_cast<double>(tiles_of(schedule_of(k, p)));
  return microseconds_of(k, p, device, resident, waves_of(k, tiles / resident));
}

Estimated estimated(const Kernel& k, const Problem& p, const Device& device, int resident) {
  const double whole = microseconds(k, p, device, resident);
  const std::int64_t tiles = tiles_of(schedule_of(k, p));
  const int blocks = k_blocks(k, p);
  const Runs runs = runs_of(k, tiles, resident, blocks);
  if (runs.tiles == 0) return {whole, {}};
  const auto ahead = static_cast<double>(tiles / resident - 1);
  const double waves = ahead + static_cast<double>(runs.blocks) / blocks;
  const double dealt = microseconds_of(k, p, device, resident, waves) + fitted::left_sums;
  return dealt < whole ? Estimated{dealt, runs} : Estimated{whole, {}};
}

}  // namespace tcq::gemm
