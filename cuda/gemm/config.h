// One shape of the GEMM kernel: tile, cluster, pipeline stages, and what follows from them.
//
// A CTA computes BlockM x BlockN of D at a time with one warpgroup that loads and two that multiply (three of 192 rows):
// together, each its part of the rows (of the columns, if D is quantized), or in turns, each whole tiles (Turns::PingPong: one stores while
// the other multiplies). The CTAs of a cluster share operands: ClusterM of
// them stand below each other and read the same part of B, ClusterN stand side by side and read the
// same part of A; each loads its share and multicasts it. Where bytes lie is sim/isa's
// (sim/isa/wgmma/tile.h, tma_box.h); the kernel is cuda/gemm/kernel.cuh, the choice between shapes
// cuda/gemm/plan.cc. Example: 128 x 256 bf16 with 2 x 1 CTAs and 4 stages takes 48 KiB a stage.
//
// Source: 65536 registers of an SM (CUDA C++ Programming Guide, compute capability 9.0).
#pragma once

#include <cstdint>

#include "cuda/gemm/arguments.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/copy/tma_box.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/tile.h"

namespace tcq::gemm {

inline constexpr std::uint32_t swizzle_bytes = 128;        // of every operand in shared memory
inline constexpr std::uint32_t swizzle_atom_bytes = 1024;  // all tiles start at multiples
inline constexpr int warpgroup_threads = 128;
inline constexpr int warpgroup_rows = wgmma::m;
inline constexpr int warp_rows = warpgroup_rows / 4;  // of a fragment
inline constexpr int usual_store_buffers = 2;         // of D's staging, for each consumer
inline constexpr Swizzle operand_swizzle = Swizzle::B128;
// MN-major elements of 32 bits want units of 32 bytes; wgmma reads none of these.
HOST_DEVICE constexpr Swizzle swizzle_of(Type type, Major major) {
  return bits(type) == 32 && major == Major::MN ? Swizzle::B128Atom32 : operand_swizzle;
}

// One operand's tile of a stage.
template <Type Element, Major OperandMajor, int Rows>
struct OperandTile {
  static constexpr Type type = Element;
  static constexpr Major major = OperandMajor;
  static constexpr int rows = Rows;  // of A, or columns of B
  static constexpr int block_k = elements_in(Element, static_cast<int>(swizzle_bytes));
  static constexpr Swizzle swizzle = swizzle_of(Element, OperandMajor);
  // A function: device code may not name a constexpr object.
  HOST_DEVICE static constexpr Tile tile() {
    Tile all = wgmma::compact_tile(Element, OperandMajor, swizzle, AtomOrder::KFirst,
                                   {Rows, static_cast<std::uint32_t>(block_k)});
    all.atom_rows = atom_rows(swizzle);
    return all;
  }
  static constexpr TmaBoxes boxes = tma_boxes(tile());
  static constexpr std::uint32_t bytes = tile().bytes();

  // Where CTAs of a cluster read the same tile each loads a share for all: a part of the rows of the one box if K-major,
  // some of the boxes if MN-major.
  static constexpr bool splits_rows = OperandMajor == Major::K;
  static constexpr int box_count = static_cast<int>(boxes.count_contiguous);
  static_assert(tile().is_whole() && boxes.count_rows == 1);
  static_assert(!splits_rows || box_count == 1);
  static_assert(boxes.box.rows == static_cast<std::uint32_t>(splits_rows ? Rows : block_k));

  // Are the shares of so many whole atoms?
  static constexpr bool has_shares(int ctas) {
    return splits_rows ? Rows % (static_cast<int>(tile().atom_rows) * ctas) == 0
                       : box_count % ctas == 0;
  }
  // Rows of A, or columns of B, that one box brings where a share is `mn` of them.
  HOST_DEVICE static constexpr int mn_of_box(int mn) { return splits_rows ? mn : block_k; }
  // Rows of a box as TMA counts them, where so many share.
  static constexpr std::uint32_t box_rows(int ctas) {
    return static_cast<std::uint32_t>(splits_rows ? Rows / ctas : block_k);
  }

  // The descriptor of what one instruction reads of rows from `row` on and of the `step`-th K of
  // one instruction, in a tile at shared address 0.
  HOST_DEVICE static constexpr std::uint32_t offset(int row, int step) {
    const auto k = static_cast<std::uint32_t>(step * wgmma::stored_k(Element));
    const std::uint32_t mn = static_cast<std::uint32_t>(row);
    const bool k_major = OperandMajor == Major::K;
    return mn_advance_bytes(tile(), k_major ? mn : wgmma::bytes_of(Element, mn)) +
           k_advance_bytes(tile(), k_major ? wgmma::bytes_of(Element, k) : k);
  }
  HOST_DEVICE static constexpr std::uint64_t descriptor(wgmma::Extent instruction) {
    return encode(wgmma::tile_descriptor(tile(), Element, operand_swizzle, instruction, 0));
  }
};

// A descriptor `bytes` further on: all of shared memory is inside its field, so that nothing is carried out of it and one
// addition does (advance() masks, which takes five instructions between two wgmmas).
HOST_DEVICE constexpr std::uint64_t further(std::uint64_t descriptor, std::uint32_t bytes) {
  return descriptor + StartAddress::encode(bytes);
}
static_assert(StartAddress::encode(max_cta_shared_bytes) <= StartAddress::mask);

// FP8 and FP4.
HOST_DEVICE constexpr bool is_narrow_float(Type in) { return is_float(in) && bits(in) <= 8; }

// Elements that TMA counts as one: two of 4 bits are a byte to it.
HOST_DEVICE constexpr int packed_elements(Type type) {
  return bits(type) < 8 ? elements_in(type, 1) : 1;
}

// D's 16-bit type, where there is one; all types have 32-bit ones, too, and FP8 and FP4 have f16 besides.
HOST_DEVICE constexpr bool has_narrow(Type in) { return in != Type::tf32; }
HOST_DEVICE constexpr Type narrow(Type in) { return in == Type::f16 ? Type::f16 : Type::bf16; }
HOST_DEVICE constexpr bool has_f16_besides(Type in) { return is_narrow_float(in); }

// What D has if nothing is asked for: 16-bit operands their own type, FP8 and FP4 bf16, the others 32 bits.
HOST_DEVICE constexpr Type usual(Type in) {
  return bits(in) == 16 || is_narrow_float(in) ? narrow(in) : wgmma::widest_d(in);
}
HOST_DEVICE constexpr int usual_bytes(Type in) { return bits(usual(in)) / 8; }

// Columns of D that one buffer of its staging holds, of `bytes` each.
HOST_DEVICE constexpr int staged_columns(int bytes) {
  return static_cast<int>(swizzle_bytes) / bytes;
}

enum class Turns : std::uint8_t { Together, PingPong };

// D has few rows, which take the place of an instruction's columns, or few columns (Hopper). Those of columns that
// promote are for any D: they share K, where tiles alone would not fill the device.
enum class Skinny : std::uint8_t { No, Rows, Columns };

// Are sums of one stage's K, 128 elements of FP8, added in f32, and with which factors? Those of wgmma's rows are a
// thread's own; of wgmma's columns there is one for 128, or one for each (which does the others' work as well).
enum class Promotion : std::uint8_t { None, ColumnBlocks, EachColumn };

// Factors are loaded for so many blocks of K at once, one by each of the threads that share a row of a fragment.
constexpr int factor_turns = 4;
// Of each column's factors in shared memory, for these blocks and the next ones. They are stored by 16 bytes.
constexpr std::uint32_t column_factor_bytes(Promotion p, int columns) {
  const auto floats = static_cast<std::uint32_t>(2 * factor_turns * columns);
  return p == Promotion::EachColumn ? floats * static_cast<std::uint32_t>(sizeof(float)) : 0;
}
// Where tiles of `columns` stand, and blocks of 128 begin and end in them, at multiples of this.
HOST_DEVICE constexpr int common_columns(int columns) {
  int common = scale_block;
  while (columns % common != 0) common /= 2;
  return common;
}
// The blocks of 128 columns that such a tile meets, wherever it stands.
HOST_DEVICE constexpr int column_blocks(int columns) {
  return (scale_block - common_columns(columns) + columns + scale_block - 1) / scale_block;
}

// Factors that TMA brings come from a multiple of so many on, along the direction in which they lie beside each other.
inline constexpr int unit_factors = tma::global_unit_bytes / sizeof(float);
static_assert(factor_turns % unit_factors == 0);
// Of four blocks of K those of so many rows, or blocks of 128 columns.
HOST_DEVICE constexpr std::uint32_t slot_bytes_of(int lines) {
  return static_cast<std::uint32_t>(lines * factor_turns) * sizeof(float);
}
// Blocks of columns in a slot: the first that a tile meets lies in the first of two units, if they lie beside each other.
inline constexpr int column_blocks_of_slot = 2 * unit_factors;
// Of a box that TMA brings of them, for a tile of so many columns: factors of each, or of blocks.
HOST_DEVICE constexpr int column_factors_of_box(Promotion p, int columns, bool along_k) {
  if (p == Promotion::EachColumn) return columns;
  return along_k ? column_blocks(columns) : column_blocks_of_slot;
}
constexpr std::uint32_t whole_units(std::uint32_t bytes) { return (bytes + 15) / 16 * 16; }

// Of the factors of blocks that both operands of a configuration have; Default: they have none.
template <class C>
HOST_DEVICE constexpr tcgen05::ScaleVec scale_vec_of() {
  if constexpr (requires { C::scale_vec; }) return C::scale_vec;
  return tcgen05::ScaleVec::Default;
}

// Of the factors of a D that a configuration's kernel quantizes; Default: f32, of 128 columns, or there is no such D.
template <class C>
HOST_DEVICE constexpr tcgen05::ScaleVec quantized_vec_of() {
  if constexpr (requires { C::quantized_vec; }) return C::quantized_vec;
  return tcgen05::ScaleVec::Default;
}

// Has the kernel of a configuration a cluster for each tile, of which those that run take over others?
template <class C>
constexpr bool is_dynamic() {
  if constexpr (requires { C::dynamic; }) return C::dynamic;
  return false;
}

// Does the kernel of a configuration multiply into Tensor Memory?
template <class C>
HOST_DEVICE constexpr bool on_tcgen05() {
  return requires { C::tensor_columns; };
}

// The operands' type whose epilogue the kernel of a configuration has. On tcgen05 a kernel of 16 bits multiplies both types
// of these and stores either, as one of FP8 does.
template <class C>
HOST_DEVICE constexpr Type finishes_as() {
  return on_tcgen05<C>() && bits(C::in) == 16 ? Type::e4m3 : C::in;
}

// Have the tiles of a configuration's kernel parts of K of their own, those of their groups?
template <class C>
HOST_DEVICE constexpr bool groups_k() {
  if constexpr (requires { C::groups_k; }) return C::groups_k;
  return false;
}

// Does the kernel of a configuration compute the transpose of D's tile, so that B's columns are the instruction's rows?
template <class C>
HOST_DEVICE constexpr bool transposes() {
  if constexpr (requires { C::transposes; }) return C::transposes;
  return false;
}

// Do a configuration's factors of blocks of K come by TMA (cuda/gemm/staged.cuh)? And leaves a consumer's part of a tile through
// buffers for all of it?
template <class C>
HOST_DEVICE constexpr bool stages_factors() {
  if constexpr (requires { C::stages_factors; }) return C::stages_factors;
  return false;
}
template <class C>
HOST_DEVICE constexpr bool stores_whole() {
  if constexpr (requires { C::stores_whole; }) return C::stores_whole;
  return false;
}

// Do the clusters of a configuration's kernel share out the blocks of their last tiles (cuda/gemm/stream_k.cuh)?
template <class C>
HOST_DEVICE constexpr bool streams_k() {
  if constexpr (requires { C::streams_k; }) return C::streams_k;
  return false;
}

// Have the tiles of a configuration's kernel parts of K of their own?
template <class C>
HOST_DEVICE constexpr bool has_parts_of_k() {
  return groups_k<C>() || streams_k<C>();
}

// Blocks of a group along K begin at multiples of this: where an operand's rows lie along K, with lines of L2, as others take twice
// as long (cuda/NOTES.md, "groups along K"), where sums of blocks are promoted, with the blocks that have factors, and else with an
// instruction.
HOST_DEVICE constexpr int group_step(Type in, bool lies_along_k, bool promotes) {
  return lies_along_k || promotes ? k_unit(in) : wgmma::stored_k(in);
}

// Of so many groups along K the order in which they are computed stands in shared memory (cuda/gemm/k_groups.cuh).
inline constexpr int k_groups_in_order = 128;
inline constexpr std::uint32_t k_group_entry_bytes = 3 * sizeof(std::int32_t);
inline constexpr std::uint32_t k_group_order_bytes = k_groups_in_order * k_group_entry_bytes;

// Registers of a thread of two or three consumers, and of the warpgroup that produces for them.
struct SharedOut {
  int producer, consumer;
};

// The pool of 65536, shared out at run time: 24 + 2 * 240 = 504 = 3 * 168; 32 + 3 * 160 = 512 = 4 * 128.
constexpr SharedOut shared_out(int consumers) {
  return consumers == 2 ? SharedOut{24, 240} : SharedOut{32, 160};
}
// Groups along K are loaded and cleared with more than 24.
inline constexpr SharedOut shared_out_along_k = {40, 232};
// Of each of two CTAs of an SM: 24 + 2 * 104 = 232 < 3 * 80.
inline constexpr SharedOut shared_out_by_two = {24, 104};

template <Type In, Major MajorA, Major MajorB, int BlockM, int BlockN, Turns ConsumerTurns,
          int ClusterM, int ClusterN, int Stages, Promotion Promotes = Promotion::None,
          Type InB = In, bool Grouped = false, bool Quantizes = false, bool GroupsK = false>
struct Config {
  static constexpr Type in = In;
  static constexpr Type in_b = InB;
  static constexpr Promotion promotion = Promotes;
  static constexpr bool grouped = Grouped;
  static constexpr bool groups_k = GroupsK;
  static_assert(!GroupsK || (!Grouped && !Quantizes));
  static constexpr bool quantizes = Quantizes;
  static constexpr Type accumulator = wgmma::widest_d(In);
  static constexpr int block_m = BlockM;
  static constexpr int block_n = BlockN;
  static constexpr int consumers = BlockM % (3 * warpgroup_rows) == 0 ? 3 : 2;
  static constexpr Turns turns = ConsumerTurns;
  static constexpr bool ping_pong = ConsumerTurns == Turns::PingPong;
  static constexpr int cluster_m = ClusterM;
  static constexpr int cluster_n = ClusterN;
  static constexpr int cluster = ClusterM * ClusterN;
  static constexpr int split = 1;  // CTAs that share a tile, each with a part of K
  static constexpr int stages = Stages;
  static constexpr int threads = (consumers + 1) * warpgroup_threads;

  using A = OperandTile<In, MajorA, BlockM>;
  using B = OperandTile<InB, MajorB, BlockN>;
  using TurnedA = A;  // there are kernels for each major
  using TurnedB = B;
  // CTAs that load a tile of A, or of B, for each other.
  static constexpr int sharers_a = ClusterN;
  static constexpr int sharers_b = ClusterM;
  static_assert(A::has_shares(sharers_a) && B::has_shares(sharers_b));
  static constexpr int block_k = A::block_k;
  static constexpr int steps = block_k / wgmma::stored_k(In);  // instructions along K of a stage
  // Where D is quantized a consumer has 128 columns, which share a factor. With 256 consumers stand beside each other, as the
  // columns of both share one where two make one of D.
  static constexpr int quantized_columns = Quantizes ? BlockN : 0;
  static constexpr bool beside = quantized_columns == 2 * scale_block;
  static_assert(!Quantizes || BlockN == scale_block || (beside && !ping_pong && consumers == 2));
  static constexpr int consumer_rows = ping_pong || beside ? BlockM : BlockM / consumers;
  static constexpr int consumer_columns = beside ? scale_block : BlockN;
  static constexpr int waves = consumer_rows / warpgroup_rows;
  static_assert(waves * warpgroup_rows == consumer_rows);
  static constexpr int warp_step =
      warp_rows;  // rows of D from those of one warp to those of the next
  static constexpr int wave_step = warpgroup_rows;
  static constexpr int store_rows = warpgroup_rows;   // of a box that stores D
  static constexpr int store_row = consumer_columns;  // columns that such boxes share
  static constexpr bool producer_stays = cluster > 1;
  // Consumers that read one stage.
  static constexpr int readers = ping_pong ? 1 : consumers;
  static constexpr wgmma::Form form = {.d = accumulator,
                                       .a = In,
                                       .b = InB,
                                       .n = consumer_columns,
                                       .major_a = MajorA,
                                       .major_b = MajorB};
  static_assert(check(form) == Fault::None);
  static_assert(Promotes == Promotion::None ||
                (is_fp8(In) && !ping_pong && block_k == scale_block));

  // D leaves through buffers of 64 rows and one swizzle span.
  static constexpr std::uint32_t store_bytes = warpgroup_rows * swizzle_bytes;

  static constexpr std::uint32_t stage_bytes = A::bytes + B::bytes;
  static constexpr std::uint32_t store_offset = Stages * stage_bytes;
  static constexpr int store_buffers = usual_store_buffers;
  static constexpr std::uint32_t barrier_offset =
      store_offset + consumers * store_buffers * store_bytes;
  static constexpr int barriers = (GroupsK ? 3 : 2) * Stages + (ping_pong ? consumers : 0);
  // The tile's part of the bias as f32, for each consumer.
  static constexpr std::uint32_t bias_offset =
      barrier_offset + barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static constexpr std::uint32_t bias_bytes =
      consumer_columns * static_cast<std::uint32_t>(sizeof(float));
  static constexpr std::uint32_t factor_offset = whole_units(bias_offset + consumers * bias_bytes);
  static constexpr std::uint32_t factor_bytes = column_factor_bytes(Promotes, consumer_columns);
  // The largest magnitudes of a tile's rows in each consumer's columns.
  static constexpr std::uint32_t largest_offset = factor_offset + consumers * factor_bytes;
  static constexpr std::uint32_t largest_bytes =
      beside ? consumers * BlockM * static_cast<std::uint32_t>(sizeof(float)) : 0;
  static constexpr std::uint32_t order_offset = largest_offset + largest_bytes;
  static constexpr std::uint32_t order_bytes = GroupsK ? k_group_order_bytes : 0;
  static constexpr std::uint32_t shared_bytes = order_offset + order_bytes;
  static_assert(shared_bytes <= max_cta_shared_bytes);
  static constexpr int resident = 1;  // CTAs of an SM: they share out its registers

  static constexpr SharedOut registers = GroupsK ? shared_out_along_k : shared_out(consumers);
  static_assert(!GroupsK || consumers == 2);
  static_assert(!GroupsK || threads >= k_groups_in_order);
  static constexpr int producer_registers = registers.producer;
  static constexpr int consumer_registers = registers.consumer;
};

// A configuration of small tiles, of which two CTAs share an SM: where products are many and small, most of a tile's time is its way
// in and out, which four consumers hide from each other.
template <class Base>
struct TwoOfAnSm : Base {
  static_assert(Base::consumers == 2 && !Base::groups_k && Base::promotion == Promotion::None);
  static constexpr int resident = 2;
  static_assert(resident * (Base::shared_bytes + reserved_shared_bytes) <= sm_shared_bytes);
  static constexpr SharedOut registers = shared_out_by_two;
  static constexpr int producer_registers = registers.producer;
  static constexpr int consumer_registers = registers.consumer;
};

// A configuration whose factors of 128 of K TMA brings, and whose consumers, where buffers are filled whole, have one for each
// part of a tile, which leaves as one group of copies (cuda/gemm/staged.cuh).
template <class Base>
struct Staged : Base {
  static constexpr bool stages_factors = true;
  static constexpr bool streams_k = !Base::grouped;
  static_assert(Base::promotion != Promotion::None);
  static_assert(!Base::groups_k && !Base::quantizes);
  static constexpr int whole_columns = staged_columns(usual_bytes(Base::in));
  static constexpr bool each_column = Base::promotion == Promotion::EachColumn;
  // Beside factors of each of 192 columns there is no room for all of a tile.
  static constexpr bool stores_whole = Base::consumer_columns % whole_columns == 0 &&
                                       (!each_column || Base::consumer_columns <= scale_block);
  static constexpr int store_buffers =
      stores_whole ? Base::waves * Base::consumer_columns / whole_columns : usual_store_buffers;
  static constexpr std::uint32_t slot_offset =
      Base::store_offset + Base::consumers * store_buffers * Base::store_bytes;
  // Columns that share a factor, and for how many of these a slot has room.
  static constexpr int columns_of_factor = each_column ? 1 : scale_block;
  static constexpr int column_factors =
      column_factors_of_box(Base::promotion, Base::consumer_columns, false);
  static_assert(unit_factors - 1 + column_blocks(Base::consumer_columns) <= column_blocks_of_slot);
  static constexpr std::uint32_t slot_bytes = slot_bytes_of(Base::block_m + column_factors);
  static constexpr std::uint32_t factor_offset = slot_offset;
  static constexpr std::uint32_t factor_bytes = 0;  // consumers have all slots in common
  static constexpr std::uint32_t barrier_offset = slot_offset + Base::stages * slot_bytes;
  static constexpr std::uint32_t bias_offset =
      barrier_offset + Base::barriers * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  static constexpr std::uint32_t shared_bytes = bias_offset + Base::consumers * Base::bias_bytes;
  static_assert(shared_bytes <= max_cta_shared_bytes);
};

}  // namespace tcq::gemm
