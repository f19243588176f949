// The suite mma: opcodes in order, everything that is a word or an option drawn.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "oracle/recording/suites.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"
#include "sim/isa/tcgen05/zero_mask.h"
#include "sim/isa/tmem/address.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {

namespace {

using namespace tcgen05;

constexpr int cases_per_opcode = 8;

std::uint32_t address(int tmem_lane, int tmem_column) {
  return encode(TmemAddress{tmem_lane, tmem_column});
}

// Nobody says that it is forbidden or undefined.
bool may_run(Fault fault) {
  return fault == Fault::None || info(fault).kind == FaultKind::Unmodelled;
}

// ---- Opcodes ------------------------------------------------------------------------------------

std::vector<MmaOpcode> opcodes(Target target) {
  std::vector<MmaOpcode> all;
  for (int kind = 0; kind < kind_count; ++kind)
    for (const int group : {1, 2})
      for (const bool ws : {false, true})
        for (const bool sparse : {false, true})
          for (int scale_vec = 0; scale_vec < scale_vec_count; ++scale_vec)
            for (const Place place : {Place::Smem, Place::Tmem})
              for (const bool ashift : {false, true}) {
                const MmaOpcode op{static_cast<Kind>(kind),          group, ws,    sparse,
                                   static_cast<ScaleVec>(scale_vec), place, ashift};
                if (check(op, target) == Fault::None) all.push_back(op);
              }
  return all;
}

// Collectors that read what an earlier instruction left are not drawn: a case is one instruction.
Collector draw_collector(const MmaOpcode& op, Draw& draw) {
  for (;;) {
    if (draw.one_in(2)) return {};
    const Collector collector{static_cast<CollectorBuffer>(draw.below(collector_buffer_count)),
                              draw.one_in(2) ? CollectorUse::Fill : CollectorUse::Discard};
    if (check(MmaForm{op, collector}) == Fault::None) return collector;
  }
}

MmaForm draw_form(const MmaOpcode& op, Target target, Draw& draw) {
  for (;;) {
    const MmaForm form{op, draw_collector(op, draw), draw.one_in(3), draw.one_in(3),
                       draw.one_in(3)};
    if (check(form, target) == Fault::None) return form;
  }
}

// ---- Instruction descriptors --------------------------------------------------------------------

Type draw_type(const std::vector<Type>& types, Draw& draw) {
  return types[static_cast<std::size_t>(draw.below(static_cast<int>(types.size())))];
}

std::vector<Type> multiplicands(Kind kind) {
  std::vector<Type> types;
  for (int i = 0; i < type_count; ++i)
    if (multiplicand_exists(kind, static_cast<Type>(i))) types.push_back(static_cast<Type>(i));
  return types;
}

InstructionDescriptor draw_members(const MmaOpcode& op, Draw& draw) {
  const auto major = [&draw] { return draw.one_in(4) ? Major::MN : Major::K; };
  const std::vector<Type> operand_types = multiplicands(op.kind);
  InstructionDescriptor d;
  do {
    d.d = draw_type({Type::f16, Type::f32, Type::s32}, draw);
    d.a = draw_type(operand_types, draw);
    d.b = draw_type(operand_types, draw);
  } while (!types_exist(op.kind, d.d, d.a, d.b));
  constexpr std::array all_m = {32, 64, 128, 256};
  d.m = all_m[static_cast<std::size_t>(draw.below(4))];
  d.n = 8 * draw.in(1, max_n / 8);
  d.major_a = major();
  d.major_b = major();
  d.negate_a = draw.one_in(4);
  d.negate_b = draw.one_in(4);
  d.sparse = op.sparse;
  d.selector = draw.below(4);
  d.saturate = draw.one_in(2);
  constexpr std::array shifts = {0, 8, 16, 32};
  d.max_shift_b = shifts[static_cast<std::size_t>(draw.below(4))];
  if (is_block_scaled(op.kind)) {
    d.scale_type = static_cast<ScaleType>(draw.below(2));
    d.scale_a_id = draw.below(4);
    d.scale_b_id = draw.below(4);
  }
  d.k96 = draw.one_in(4);
  return d;
}

// Until it is a descriptor that the instruction may have. Most members are free of the others: what
// this target or kind lacks is dropped first, so that few draws are lost.
InstructionDescriptor draw_idesc(const MmaOpcode& op, Target target, Draw& draw) {
  for (;;) {
    InstructionDescriptor d = draw_members(op, draw);
    if (!selector_exists(op, d.selector)) d.selector = 0;
    if (!max_shift_exists(op, d.max_shift_b)) d.max_shift_b = 0;
    if (!has_saturate(op.kind)) d.saturate = false;
    if (!has_negate(op.kind)) d.negate_a = d.negate_b = false;
    if (!is_packed_4bit(op.kind) || !has_k96(target)) d.k96 = false;
    if (may_run(check(op, d, target)) && may_run(check(d, op.kind))) return d;
  }
}

// ---- Shared memory ------------------------------------------------------------------------------

struct OperandTile {
  Type type;
  Major major;
  std::uint32_t mn;
  std::uint32_t k;        // elements
  std::uint32_t k_bytes;  // with padding
};

std::uint32_t whole(std::uint32_t bytes, std::uint32_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

Tile tile_of(const OperandTile& o, Swizzle swizzle, AtomOrder order) {
  const std::uint32_t pitch = pitch_bytes(swizzle);
  const std::uint32_t rows = atom_rows(swizzle);
  if (o.major == Major::K)
    return {o.major, pitch, order, whole(o.k_bytes, pitch), whole(o.mn, rows), rows};
  const auto element_bytes = static_cast<std::uint32_t>(bits(o.type)) / 8;
  return {o.major, pitch, order, whole(o.mn * element_bytes, pitch), whole(o.k, rows), rows};
}

// A compact tile a few KiB behind `first`; in a wide row of K, at one of its steps. The largest
// tiles, 128 and 256 rows of 128 bytes, leave room behind them.
std::uint64_t draw_descriptor(const OperandTile& o, std::uint32_t first, Draw& draw) {
  for (;;) {
    const Swizzle swizzle = tcgen05::SwizzleMode::mode(static_cast<std::uint64_t>(draw.below(8)));
    if (swizzle == no_swizzle || !may_run(check_swizzle(swizzle, o.type, o.major))) continue;
    const AtomOrder order = draw.one_in(2) ? AtomOrder::KFirst : AtomOrder::MnFirst;
    const Tile tile = tile_of(o, swizzle, order);
    std::uint32_t start = first + 1024 * static_cast<std::uint32_t>(draw.below(8));
    if (o.major == Major::K)
      start += o.k_bytes * static_cast<std::uint32_t>(
                               draw.below(static_cast<int>(tile.contiguous_bytes / o.k_bytes)));
    return encode(tile_descriptor(tile, swizzle, start, o.k_bytes));
  }
}

void place_operands(Tcgen05Case& c, const MmaOpcode& op, const InstructionDescriptor& d,
                    Draw& draw) {
  const auto k = static_cast<std::uint32_t>(stored_k(op, d));
  const auto container_bits = [&op](Type type) {
    return static_cast<std::uint32_t>(is_packed_4bit(op.kind) ? bits(type)
                                                              : std::max(8, bits(type)));
  };
  const OperandTile a{d.a, d.major_a, static_cast<std::uint32_t>(m_per_cta(op, d)), k,
                      k * container_bits(d.a) / 8};
  const std::uint32_t k_of_b = op.sparse ? 2 * k : k;
  const OperandTile b{d.b, d.major_b, static_cast<std::uint32_t>(d.n), k_of_b,
                      k_of_b * container_bits(d.b) / 8};
  if (op.a_place == Place::Smem) c.operands.desc_a = draw_descriptor(a, tcgen05_shared_base, draw);
  c.operands.desc_b = draw_descriptor(b, tcgen05_shared_base + tcgen05_a_bytes, draw);
}

// ---- Tensor Memory ------------------------------------------------------------------------------

// M = 64 fills half the lanes and may begin at lane 16.
void place_in_tmem(Tcgen05Operands& o, const MmaOpcode& op, const InstructionDescriptor& d,
                   Draw& draw) {
  const bool half = op.cta_group == 1 && !op.ws && d.m == 64;
  const int lane = half && draw.one_in(4) ? 16 : 0;
  const int d_columns = tmem_a_column - tmem_d_column;
  o.d = address(lane, tmem_d_column + 8 * draw.below((d_columns - d.n) / 8 + 1));
  if (op.a_place == Place::Tmem) o.a = address(lane, tmem_a_column + 8 * draw.below(8));
  if (op.sparse) o.metadata = address(lane, tmem_metadata_column + 4 * draw.below(4));
  if (!is_block_scaled(op.kind)) return;
  o.scale_a = address(0, tmem_scale_a_column + 4 * draw.below(4));
  o.scale_b = address(0, tmem_scale_b_column + 4 * draw.below(4));
}

std::uint64_t draw_zero_mask(Draw& draw) {
  ZeroColumnMask mask;
  mask.non_zero = !draw.one_in(8);
  mask.skip_columns = static_cast<std::uint32_t>(draw.in(1, 32));
  mask.use_columns = static_cast<std::uint32_t>(draw.in(1, 32));
  if (draw.one_in(4)) mask.column_shift = static_cast<std::uint32_t>(draw.in(1, 16));
  for (int i = 0; i < ZeroColumnMask::sub_masks; ++i) {
    mask.start_count[i] = static_cast<std::uint32_t>(draw.below(32));
    mask.first_zeroed[i] = draw.one_in(2);
  }
  return encode(mask);
}

Tcgen05Case draw_case(const MmaOpcode& op, Target target, Draw& draw) {
  Tcgen05Case c;
  const MmaForm form = draw_form(op, target, draw);
  const InstructionDescriptor d = draw_idesc(op, target, draw);
  c.form = form;
  c.operands.idesc = encode(d, op.kind);
  c.operands.accumulate = !draw.one_in(4);
  if (form.scale_input_d) c.immediate = draw.below(max_scale_input_d + 1);
  if (form.disable_output_lane)
    for (int i = 0; i < disable_output_lane_registers(op); ++i)
      c.operands.disable_output_lane[static_cast<std::size_t>(i)] = draw.word();
  if (form.zero_column_mask) c.operands.zero_column_mask = draw_zero_mask(draw);
  place_operands(c, op, d, draw);
  place_in_tmem(c.operands, op, d, draw);
  return c;
}

}  // namespace

std::vector<Case> tcgen05_mmas(std::uint64_t seed, Target target) {
  Draw draw(seed);
  std::vector<Case> cases;
  for (const MmaOpcode& op : opcodes(target))
    for (int i = 0; i < cases_per_opcode; ++i) {
      cases.emplace_back(draw_case(op, target, draw));
      cases.back().seed = mix(seed + cases.size());
    }
  return cases;
}

}  // namespace tcq::oracle
