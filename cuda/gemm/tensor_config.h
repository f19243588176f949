// One shape of the GEMM kernel on tcgen05: tile, stages, Tensor Memory, and what follows from them.
//
// A CTA computes 128 x BlockN of D at a time, or a pair of CTAs twice as many rows, each with half of B's columns in its
// shared memory (Ctas, cuda/gemm/tensor_pair.cuh): one thread loads, one thread multiplies, a warpgroup stores, or two where
// sums are promoted (cuda/gemm/promote.cuh) or an accumulator is the only one. What
// cuda/gemm/config.h calls by a name has it here, so that ring, loads, epilogue and stores are the same. Two tiles' sums
// lie in Tensor Memory, so that one is stored while the next is summed, if scale factors leave room for them. Example: 128 x 256 bf16 with 4 stages takes
// 48 KiB a stage and all 512 columns; 128 x 128 e2m1 with factors of 16 of K (NVFP4) and 4 stages 36 KiB a
// stage and 384 columns.
// For few rows of D (Few, here called tokens) the kernel computes D's transpose: B, the weights, is the instruction's A, whose
// 128 rows it fills, and tokens are its N. The names here are then those of the product that is computed.
// The kernel: cuda/gemm/tensor_kernel.cuh. Scale factors: cuda/gemm/tensor_scales.h.
//
// The warps of a fragment hold 16 of their 32 lanes, as 16x256b brings them (sim/isa/tcgen05/fragment.h): warp w of wave v
// has rows 32 w + 16 v of the tile.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/gemm/config.h"
#include "cuda/gemm/tensor_scales.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/cluster.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tmem/allocation.h"
#include "sim/isa/tmem/layout.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::gemm {

// Tiles begin at whole atoms of their swizzle.
HOST_DEVICE constexpr std::uint32_t round_up_to_atoms(std::uint32_t bytes) {
  return (bytes + swizzle_atom_bytes - 1) / swizzle_atom_bytes * swizzle_atom_bytes;
}

// That is not above `n`.
HOST_DEVICE constexpr int largest_power(int n) {
  int power = 1;
  while (2 * power <= n) power *= 2;
  return power;
}

// `Factors`: Default, Block32 (ue8m0: MXFP8, MXFP4) or Block16 (ue4m3: NVFP4). `FactorsD`: those of a D that is quantized;
// Default: f32, of 128 columns.
template <Type In, int BlockN, int Stages, Type InB = In,
          tcgen05::ScaleVec Factors = tcgen05::ScaleVec::Default, int Ctas = 1,
          Promotion Promotes = Promotion::None, bool Grouped = false, int Split = 1,
          bool Quantizes = false, tcgen05::ScaleVec FactorsD = tcgen05::ScaleVec::Default,
          bool Dynamic = false, bool GroupsK = false, bool Few = false>
struct TensorConfig {
  static constexpr Type in = In;
  static constexpr Type in_b = InB;
  static constexpr tcgen05::Kind kind = tcgen05::kind_with_factors(In, Factors);
  static constexpr tcgen05::ScaleVec scale_vec = Factors;
  static constexpr tcgen05::MmaOpcode opcode = {
      .kind = kind, .cta_group = Ctas, .scale_vec = Factors};
  static constexpr Promotion promotion = Promotes;
  static constexpr bool promotes = Promotes != Promotion::None;
  static constexpr bool grouped = Grouped;
  static constexpr bool groups_k = GroupsK;
  static_assert(!GroupsK || (!Grouped && !Quantizes && !Dynamic && Split == 1 &&
                             Factors == tcgen05::ScaleVec::Default));
  static constexpr bool transposes = Few;
  static_assert(!Few || (Ctas == 1 && !Quantizes && !Dynamic && !GroupsK));
  static constexpr bool dynamic = Dynamic;
  static_assert(!Dynamic || (!Grouped && Split == 1), "a cluster of the grid for each tile");
  static constexpr Type accumulator = wgmma::widest_d(In);
  static_assert(tcgen05::types_exist(kind, accumulator, In, InB));
  static_assert(In != Type::f16, "what is compiled for bf16 multiplies it as well");
  static constexpr int ctas = Ctas;    // that multiply together
  static constexpr int block_m = 128;  // of each
  static constexpr int block_n = BlockN;
  static constexpr bool quantizes = Quantizes;
  static constexpr int quantized_columns = Quantizes ? BlockN : 0;
  static constexpr tcgen05::ScaleVec quantized_vec = FactorsD;
  static constexpr bool beside = false;
  static_assert(Quantizes ? BlockN % scale_block == 0 : FactorsD == tcgen05::ScaleVec::Default);
  static constexpr Turns turns = Turns::Together;
  static constexpr int cluster_m = Ctas;
  static constexpr int cluster_n = 1;
  static constexpr int split = Split;  // CTAs that share a tile, each with a part of K
  static constexpr int cluster = Ctas * Split;
  static constexpr int stages = Stages;
  static constexpr int resident = 1;

  // Compiled for K-major operands; a problem's others are told at run time (TensorOperands), if they fill whole boxes of a tile.
  // Groups of rows and factors of blocks are of K-major operands alone (check.cc).
  using A = OperandTile<In, Major::K, block_m>;
  static constexpr int own_columns = BlockN / Ctas;  // of B's tile
  using B = OperandTile<InB, Major::K, own_columns>;
  static constexpr bool any_major = !Grouped && Factors == tcgen05::ScaleVec::Default;
  static constexpr bool any_major_b = any_major && own_columns % B::block_k == 0;
  using TurnedA = std::conditional_t<any_major, OperandTile<In, Major::MN, block_m>, A>;
  using TurnedB = std::conditional_t<any_major_b, OperandTile<InB, Major::MN, own_columns>, B>;
  static_assert(TurnedA::bytes == A::bytes && TurnedB::bytes == B::bytes);
  static constexpr int sharers_a = 1;  // each CTA of a pair loads what is its own
  static constexpr int sharers_b = 1;
  static constexpr int block_k = A::block_k;
  static_assert(!promotes ||
                (is_fp8(In) && Factors == tcgen05::ScaleVec::Default && block_k == scale_block));
  // A function: device code may not name a constexpr object.
  HOST_DEVICE static constexpr tcgen05::InstructionDescriptor instruction(int scale_a_id,
                                                                          int scale_b_id) {
    return {.d = accumulator,
            .a = In,
            .b = InB,
            .m = Ctas * block_m,
            .n = BlockN,
            .major_a = Major::K,
            .major_b = Major::K,
            .scale_type = tcgen05::scale_type_of(Factors),
            .scale_a_id = scale_a_id,
            .scale_b_id = scale_b_id};
  }
  static_assert(tcgen05::check(opcode, instruction(0, 0)) == Fault::None);
  // Does an instruction multiply other types of the same size, too, or other majors? Which ones stands in its descriptor.
  static constexpr bool varies =
      is_fp8(In) || bits(In) == 16 || kind == tcgen05::Kind::i8 || any_major;

  static constexpr int instruction_k = tcgen05::stored_k(opcode, instruction(0, 0));
  static constexpr int steps = block_k / instruction_k;  // instructions along K of a stage

  // Scale factors of each stage have columns of their own behind the accumulators: what fills the stage again has waited
  // for the products that read them.
  using Scales = StageScales<opcode, BlockN, block_k, instruction_k>;
  static constexpr int scale_columns = Stages * Scales::columns;
  // Of tiles; or of blocks of K, as many as there is room for: 4 of them last while a tile is stored.
  static constexpr int room = (tcgen05::tmem_columns - scale_columns) / BlockN;
  static constexpr int most = promotes ? 4 : 2;
  static constexpr int accumulators = room < most ? room : most;
  static constexpr int scale_column = accumulators * BlockN;
  static constexpr int tensor_columns = tcgen05::smallest_allocation(scale_column + scale_columns);
  static_assert(tensor_columns <= tcgen05::tmem_columns);
  static_assert(BlockN % (Few ? 16 : 32) == 0 && (!promotes || BlockN == largest_power(BlockN)),
                "blocks of sums come in loads of one size, a power of two");

  // Warpgroups that store, each the waves of 64 rows that are its own: two where f32 sums stand in their registers, and
  // where nothing is summed until the one accumulator is in registers.
  static constexpr int consumers = promotes || accumulators == 1 ? 2 : 1;
  static constexpr int threads = (consumers + 1) * warpgroup_threads;
  // Columns of one pass of the epilogue: half of 256, so that half of the instructions are compiled, but where 256 share a
  // factor of D. Tensor Memory keeps the others meanwhile, or registers, where sums are promoted or nothing is summed before
  // the one accumulator is empty.
  static constexpr bool shares_factor = Quantizes && FactorsD == tcgen05::ScaleVec::Default;
  static constexpr int consumer_columns = BlockN > 128 && !shares_factor ? BlockN / 2 : BlockN;
  static constexpr int column_parts = BlockN / consumer_columns;
  static constexpr int kept_columns = consumers == 2 ? BlockN : consumer_columns;
  static constexpr int consumer_rows = block_m / consumers;
  static constexpr int waves = 1;  // in registers at one time
  static constexpr int warp_step = 2 * warp_rows;
  static constexpr int wave_step = warp_rows;
  static constexpr int waves_of_tile = block_m / warpgroup_rows;
  static constexpr int waves_of_consumer = waves_of_tile / consumers;
  // What one tcgen05.ld brings of a block's sums, beside f32 sums: all, or 128 columns; of groups with factors of each of
  // 256 columns 32, each load ahead of the additions of the one before.
  static constexpr int wide_load = Grouped && Promotes == Promotion::EachColumn ? 32 : 128;
  static constexpr int columns_of_load = BlockN > 128 ? wide_load : BlockN;
  // Of the pool of 65536 registers, shared out at run time: 24 + 2 * 240 = 56 + 2 * 224 = 504 = 3 * 168. With these
  // ptxas spills nothing (cuda/NOTES.md).
  static constexpr bool scarce = promotes && BlockN > 128;
  static constexpr int producer_registers = scarce ? 24 : 56;
  static constexpr int consumer_registers = scarce ? 240 : 224;
  static constexpr bool producer_stays = true;  // commits arrive on its barriers

  // Of a box that stores D. Of few rows a wave is a slice (cuda/gemm/skinny_store.cuh): all tokens, in a box for each warp's
  // weights, whatever bytes an element has.
  static constexpr int store_rows = Few ? BlockN : warp_rows;
  static constexpr int store_row = Few ? warp_rows : consumer_columns;
  static constexpr int slice_tokens = BlockN;
  static constexpr int slice_registers = wgmma::accumulator_registers(accumulator, BlockN);
  HOST_DEVICE static constexpr int stores(int) { return warpgroup_rows / warp_rows; }
  HOST_DEVICE static constexpr int store_columns(int) { return warp_rows; }
  static constexpr std::uint32_t box_bytes = BlockN * swizzle_bytes;
  static constexpr int store_buffers = Few ? 1 : usual_store_buffers;
  static constexpr std::uint32_t store_bytes =
      Few ? stores(4) * box_bytes : warpgroup_rows * swizzle_bytes;
  static constexpr std::uint32_t stage_bytes =
      round_up_to_atoms(A::bytes + B::bytes + Scales::bytes);
  static constexpr std::uint32_t store_offset = Stages * stage_bytes;
  HOST_DEVICE static constexpr std::uint32_t slice_offset(int consumer) {
    return store_offset + static_cast<std::uint32_t>(consumer) * store_bytes;
  }
  HOST_DEVICE static constexpr std::uint32_t slice_barrier(int consumer) {
    return 1 + static_cast<std::uint32_t>(consumer);
  }
  // Answers of a dynamic schedule, and who reads each: in both CTAs the thread that loads, the one that asks and the warps that
  // store, and the one thread that multiplies.
  static constexpr int answers = Dynamic ? 2 : 0;
  static constexpr int answer_readers = Ctas * (2 + consumers * warpgroup_threads / 32) + 1;
  static constexpr std::uint32_t answer_bytes = answers * launch_answer_bytes;
  static constexpr std::uint32_t barrier_offset =
      store_offset + consumers * store_buffers * store_bytes + answer_bytes;
  static constexpr int barriers = (GroupsK ? 3 : 2) * Stages + 2 * accumulators +
                                  (Split > 1 ? 1 + waves_of_tile : 0) + 2 * answers;
  // A wave's sums, which go from one CTA to another through what were stages.
  static constexpr std::uint32_t wave_bytes = warpgroup_rows * BlockN * sizeof(std::uint32_t);
  static_assert(Split == 1 ||
                (Ctas == 1 && !Grouped && (promotes || consumers == 1) && Split <= 8 &&
                 (Split - 1 + waves_of_tile) * wave_bytes <= store_offset));
  static constexpr std::uint32_t bias_offset =
      barrier_offset + barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static constexpr std::uint32_t bias_bytes = BlockN * static_cast<std::uint32_t>(sizeof(float));
  static constexpr std::uint32_t factor_offset = whole_units(bias_offset + consumers * bias_bytes);
  static constexpr std::uint32_t factor_bytes = column_factor_bytes(Promotes, BlockN);
  // Where tcgen05.alloc writes what it gave.
  static constexpr std::uint32_t address_offset = factor_offset + consumers * factor_bytes;
  static constexpr std::uint32_t order_offset = address_offset + sizeof(std::uint32_t);
  static constexpr std::uint32_t shared_bytes = order_offset + (GroupsK ? k_group_order_bytes : 0);
  static_assert(shared_bytes <= max_cta_shared_bytes);
};

}  // namespace tcq::gemm
