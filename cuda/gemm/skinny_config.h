// One shape of the GEMM kernel for few rows or few columns of D: tile, parts of K, stages, and what follows from them. How many
// tiles share operands is a launch's own (Arguments). The kernel is cuda/gemm/skinny.cuh.
#pragma once

#include <cstdint>

#include "cuda/gemm/config.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/wgmma/store.h"

namespace tcq::gemm {

// CTAs of a cluster that every device of compute capability 9.0 runs.
// Source: CUDA C++ Programming Guide, "Thread Block Clusters".
inline constexpr int portable_cluster = 8;

// The largest divisor of `value` up to `most`.
constexpr int largest_divisor(int value, int most) {
  while (value % most != 0) --most;
  return most;
}

// `In` is the weights' type, `InTokens` the other operand's.
template <Type In, Skinny Few, int Consumers, int Tokens, int Split, int Stages,
          Major Weights = Major::K, Promotion Promotes = Promotion::None, Type InTokens = In,
          bool Grouped = false, bool Quantizes = false>
struct SkinnyConfig {
  static constexpr Type in = In;
  static constexpr Type in_b = InTokens;
  static constexpr Promotion promotion = Promotes;
  static constexpr bool grouped = Grouped;
  static constexpr bool quantizes = Quantizes;
  // May tiles of a cluster read operands together? Of groups tiles beside each other may be of two; where D is quantized nobody has
  // timed it.
  static constexpr bool shares = !Grouped && !Quantizes;
  static constexpr Type accumulator = wgmma::widest_d(In);
  static constexpr Skinny few = Few;
  static constexpr bool transposes = Few == Skinny::Rows;
  static constexpr int tokens = Tokens;
  static constexpr int split = Split;
  static constexpr int stages = Stages;
  static constexpr int consumers = Consumers;
  static constexpr int weights = consumers * warpgroup_rows;
  // The same by the names that every configuration has (kernel_of()): of what is multiplied.
  static constexpr int block_m = weights;
  static constexpr int block_n = Tokens;
  static constexpr Turns turns = Turns::Together;
  static constexpr int cluster_m = 1;  // a launch's own
  static constexpr int cluster_n = 1;
  static constexpr int sharers_a = 1;
  static constexpr int sharers_b = 1;
  static constexpr int consumer_threads = consumers * warpgroup_threads;
  // Beside consumers one warp that produces takes as many registers as four: ptxas 13.0 reckons each quarter of an SM as full as the
  // fullest one (288 threads have 168 each). Where sums are many, four produce, three of them idle, and give up theirs.
  static constexpr bool moves_registers = Promotes != Promotion::None &&
                                          (Consumers == 2 || Consumers == 3) &&
                                          Consumers * Tokens >= 256;
  static constexpr int producer_registers = shared_out(Consumers).producer;
  static constexpr int consumer_registers = shared_out(Consumers).consumer;
  static constexpr int threads = consumer_threads + (moves_registers ? warpgroup_threads : 32);

  using A = OperandTile<In, Weights, weights>;
  using B = OperandTile<InTokens, Major::K, Tokens>;
  using TurnedA = A;
  using TurnedB = B;
  static constexpr int block_k = A::block_k;
  static constexpr int steps = block_k / wgmma::stored_k(In);
  static constexpr wgmma::Form form = {
      .d = accumulator, .a = In, .b = InTokens, .n = Tokens, .major_a = Weights};
  static_assert(check(form) == Fault::None);
  static_assert(Promotes == Promotion::None || (is_fp8(In) && block_k == scale_block));
  static constexpr int registers = wgmma::accumulator_registers(accumulator, Tokens);

  // Tokens whose sums a CTA of the cluster completes: what one stmatrix stores, or more.
  static constexpr int groups = Tokens / (transposes ? wgmma::column_group : wgmma::store_columns);
  static constexpr int owners = largest_divisor(groups, Split);
  static constexpr int slice_tokens = Tokens / owners;
  static constexpr int slice_registers = registers / owners;
  static_assert(slice_registers * owners == registers && groups / owners * owners == groups);
  static constexpr std::uint32_t slice_bytes =
      slice_registers * warpgroup_threads * static_cast<std::uint32_t>(sizeof(std::uint32_t));

  static constexpr std::uint32_t stage_bytes = A::bytes + B::bytes;
  // In place of the stages, once all are read: what is sent, then what is stored.
  static constexpr std::uint32_t send_bytes = Split > 1 ? owners* slice_bytes : 0;
  static constexpr int store_rows = transposes ? slice_tokens : warpgroup_rows;
  static constexpr int store_row = transposes ? warpgroup_rows : slice_tokens;
  // Boxes side by side, of elements of `bytes`.
  HOST_DEVICE static constexpr int stores(int bytes) {
    return store_row > staged_columns(bytes) ? store_row / staged_columns(bytes) : 1;
  }
  HOST_DEVICE static constexpr int store_columns(int bytes) { return store_row / stores(bytes); }
  static_assert(store_columns(4) <= staged_columns(4) && store_columns(4) * stores(4) == store_row);
  static_assert(store_columns(2) <= staged_columns(2) && store_columns(2) * stores(2) == store_row);
  static constexpr std::uint32_t box_bytes = store_rows * swizzle_bytes;
  static constexpr std::uint32_t store_bytes = stores(4) * box_bytes;
  // Where a consumer's boxes stand, and the barrier at which it meets.
  HOST_DEVICE static constexpr std::uint32_t slice_offset(int consumer) {
    return consumers * send_bytes + static_cast<std::uint32_t>(consumer) * store_bytes;
  }
  HOST_DEVICE static constexpr std::uint32_t slice_barrier(int consumer) {
    return 2 + static_cast<std::uint32_t>(consumer);
  }
  // Where D is quantized: the largest magnitudes of each token's weights, those of each warp apart, then the factors' inverses.
  // A factor is for 128 columns of D, 256 of the product's where two make one.
  static constexpr int quantized_columns = Quantizes ? weights : 0;
  static_assert(!Quantizes || (transposes && weights % scale_block == 0));
  static constexpr std::uint32_t largest_offset = consumers * (send_bytes + store_bytes);
  static constexpr int largest_lines = weights / warp_rows;
  static_assert(!Quantizes || weights / scale_block * slice_tokens <= consumer_threads,
                "a thread for each token and factor");
  static constexpr std::uint32_t token_bytes =
      slice_tokens * static_cast<std::uint32_t>(sizeof(float));
  static constexpr std::uint32_t inverse_offset = largest_offset + largest_lines * token_bytes;
  static constexpr std::uint32_t used_bytes =
      Quantizes ? inverse_offset + 2 * token_bytes : largest_offset;
  static_assert(used_bytes <= Stages * stage_bytes);
  static constexpr std::uint32_t receive_offset = Stages * stage_bytes;
  static constexpr std::uint32_t receive_bytes = (Split - 1) * slice_bytes;  // of a consumer
  static constexpr std::uint32_t barrier_offset = receive_offset + consumers * receive_bytes;
  static constexpr int barriers = 2 * Stages + consumers;
  // The tokens' bias as f32, where they are D's columns; a thread keeps that of its two weights.
  static constexpr std::uint32_t bias_offset =
      barrier_offset + barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static constexpr std::uint32_t bias_bytes =
      transposes ? 0 : Tokens * static_cast<std::uint32_t>(sizeof(float));
  // Each token's factors, for each consumer.
  static constexpr std::uint32_t factor_offset = whole_units(bias_offset + bias_bytes);
  static constexpr std::uint32_t factor_bytes = column_factor_bytes(Promotes, Tokens);
  static constexpr std::uint32_t shared_bytes = factor_offset + consumers * factor_bytes;
  static_assert(shared_bytes <= max_cta_shared_bytes);
  static constexpr int room =
      static_cast<int>(sm_shared_bytes / (shared_bytes + reserved_shared_bytes));
  static constexpr int resident = room < 4 ? room : 4;  // CTAs of an SM
  static_assert(!moves_registers || resident == 1);
};

}  // namespace tcq::gemm
