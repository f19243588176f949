#include "cuda/gemm/tensor_time.h"

#include <algorithm>
#include <cmath>

#include "cuda/gemm/check.h"
#include "cuda/gemm/config.h"
#include "cuda/gemm/estimate.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/rate.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::gemm {
namespace {

double peak(const Kernel& k) {
  return tcgen05::operations_per_clock(tcgen05::kind_with_factors(k.in, k.scale_vec));
}

double bytes_of(Type type, double elements) { return elements * bits(type) / 8; }

// Of factors of `lines` rows or columns, whole atoms of 128 of them, of a block of K.
double factor_bytes(const Kernel& k, double lines) {
  if (k.scale_vec == tcgen05::ScaleVec::Default) return 0;
  const double block = tcgen05::scale_block(k.scale_vec);
  return std::ceil(lines / tcgen05::scale_atom_mn) * tcgen05::scale_atom_mn * k.block_k / block;
}

// What a CTA loads for a block of K, of which a pair's CTAs have half of B each. One that is alone loads no rows or columns
// that D has not; of groups whole tiles of rows.
double stage_bytes(const Kernel& k, const Problem& p) {
  const bool cuts = k.cluster_m == 1;
  const std::int64_t block_m = k.block_m, block_n = k.block_n;
  const auto rows = static_cast<double>(cuts && !k.grouped ? std::min(block_m, p.m) : block_m);
  const auto columns = static_cast<double>(cuts ? std::min(block_n, p.n) : block_n) / k.cluster_m;
  return bytes_of(k.in, rows * k.block_k) + bytes_of(k.in_b, columns * k.block_k) +
         factor_bytes(k, k.block_m) + factor_bytes(k, k.block_n);
}

constexpr int columns_of_load = 128;  // at most, TensorConfig::columns_of_load

// Of a tile or block's sums out of Tensor Memory.
double sums_clocks(const Kernel& k, const TensorAssumptions& a) {
  return 4.0 * k.block_m * k.block_n / a.tensor_memory_bytes;
}

// A block's sums out of Tensor Memory, one addition each. The warpgroups take turns: while one waits and loads the other
// adds; alone each waits for its loads, loads and adds, part after part.
double promotion_clocks(const Kernel& k, const TensorAssumptions& a) {
  if (k.promotion == Promotion::None) return 0;
  const double elements = static_cast<double>(k.block_m) * k.block_n;
  const double loads = sums_clocks(k, a);
  const double additions = elements * a.additions / warpgroup_threads;
  const double parts = std::ceil(static_cast<double>(k.block_n) / columns_of_load);
  return std::max({loads, additions, parts * a.load + (loads + additions) / consumers_of(k)});
}

// Of D's tile. Sums that are promoted stand in registers already; each warpgroup has its own buffers.
double epilogue_clocks(const Kernel& k, const Problem& p, const TensorAssumptions& a) {
  const double elements = static_cast<double>(k.block_m) * k.block_n;
  const double buffers = bytes_of(type_d(p), elements) / (warpgroup_rows * swizzle_bytes);
  const double loads = k.promotion == Promotion::None ? sums_clocks(k, a) : 0;
  const double all =
      loads + elements * a.instructions / warpgroup_threads + buffers * a.store / consumers_of(k);
  return k.split > 1 ? all / 2 : all;  // each of two CTAs has half of the rows
}

// What the other CTAs of a tile have summed, to those two.
double parts_clocks(const Kernel& k, const TensorAssumptions& a) {
  if (k.split == 1) return 0;
  const double bytes = 4.0 * warpgroup_rows * k.block_n;
  return a.parts + bytes * (k.split - 1) / a.l2_bytes;
}

// D's bytes go through shared memory once in each direction.
double staged_clocks(const Kernel& k, const Problem& p, const TensorAssumptions& a) {
  const double bytes = bytes_of(type_d(p), static_cast<double>(k.block_m) * k.block_n);
  return (a.one_port ? 2 : 1) * bytes / a.shared_bytes;
}

// One accumulator's sums go to registers, by two warpgroups that wait once, while nothing is summed. Who promotes stores D
// between two tiles' blocks, and the products go on until all accumulators are full.
double shown_clocks(const Kernel& k, const TensorTime& t, const TensorAssumptions& a,
                    double blocks) {
  const double late = t.epilogue - t.loop;
  if (k.promotion == Promotion::None)
    return k.accumulators > 1 ? std::max(late, 0.0) : a.load + std::max(late, sums_clocks(k, a));
  const double ahead = k.accumulators * t.loop / blocks;
  const double busy = t.promotion * blocks + t.epilogue - t.loop;
  return std::max({t.epilogue - ahead, busy, 0.0});
}

// Every operand and its factors once, and D.
double memory_clocks(const Kernel& k, const Problem& p, const TensorAssumptions& a) {
  const auto size = [](std::int64_t x, std::int64_t y) {
    return static_cast<double>(x) * static_cast<double>(y);
  };
  const double factors =
      (factor_bytes(k, static_cast<double>(p.m)) + factor_bytes(k, static_cast<double>(p.n))) *
      k_blocks(k, p);
  const double promoting =
      scales_blocks(p.scaling)
          ? bytes_of(Type::f32, size(p.m + (p.scaling == Scaling::Block128
                                                ? round_up_quotient(p.n, scale_block)
                                                : p.n),
                                     k_blocks(k, p)))
          : 0;
  const double matrix = bytes_of(p.in, size(p.m, p.k)) + bytes_of(type_b(p), size(p.n, p.k)) +
                        factors + promoting + bytes_of(type_d(p), size(p.m, d_columns(p))) +
                        (p.beta != 0 ? bytes_of(p.out, size(p.m, d_columns(p))) : 0);
  return static_cast<double>(p.batch) * matrix / a.memory_bytes * a.clocks_per_second;
}

}  // namespace

TensorTime tensor_time(const Kernel& k, const Problem& problem, const Device& device, int clusters,
                       const TensorAssumptions& a) {
  const Problem p = as_batch(problem);
  TensorTime t;
  const double stage = stage_bytes(k, p);
  const double blocks = std::ceil(static_cast<double>(k_blocks(k, p)) / k.split);
  t.tensor = 2.0 * k.block_m * k.block_n * k.block_k / peak(k);
  t.shared = (a.one_port ? 2 : 1) * stage / a.shared_bytes;
  t.l2 = stage / a.l2_bytes;
  t.promotion = promotion_clocks(k, a);
  t.loop = std::max({t.tensor * blocks, t.shared * blocks + staged_clocks(k, p, a), t.l2 * blocks,
                     t.promotion * blocks});
  t.epilogue = epilogue_clocks(k, p, a);
  t.parts = parts_clocks(k, a);
  t.shown = shown_clocks(k, t, a, blocks);
  t.waves = std::ceil(static_cast<double>(tiles_of(schedule_of(k, p))) / clusters);
  t.memory = memory_clocks(k, p, a);
  const double tile = t.loop + t.shown;
  t.total = a.launch + a.fill + t.promotion + t.parts + t.epilogue +
            std::max(t.loop + (t.waves - 1) * tile, t.memory);
  const double operations = 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                            static_cast<double>(p.n) * static_cast<double>(p.k);
  t.of_peak = operations / (peak(k) * device.sm_count * t.total);
  t.microseconds = t.total / a.clocks_per_second * 1e6;
  return t;
}

}  // namespace tcq::gemm
