// Places of tcgen05 from sim/isa, and what cannot be; see maps_tcgen05.h.
#include "oracle/map/maps_tcgen05.h"

#include <fmt/format.h>

#include <array>
#include <variant>

#include "oracle/answer/words.h"
#include "oracle/map/units.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr Coords no_element = {-1, -1};

std::string_view name(TmemMatrix matrix) { return tmem_matrices[static_cast<std::size_t>(matrix)]; }

bool is_scale(TmemMatrix matrix) { return matrix == TmemMatrix::SFA || matrix == TmemMatrix::SFB; }

// ---- Tensor Memory ------------------------------------------------------------------------------

Datapath datapath_of(const TmemOperand& o) { return datapath(o.opcode, o.m); }

Accumulator accumulator_of(const TmemOperand& o) { return {datapath_of(o), o.n, o.base.tmem_lane}; }

TmemA a_of(const TmemOperand& o) { return {datapath_of(o), o.opcode.kind, o.base.tmem_lane}; }

TmemMetadata metadata_of(const TmemOperand& o) {
  return {datapath_of(o), o.opcode.kind, o.selector, o.opcode.ws};
}

ScaleBuffer scales_of(const TmemOperand& o) {
  const int cta_group = o.opcode.cta_group;
  ScaleBuffer buffer =
      o.matrix == TmemMatrix::SFA ? sfa_buffer(o.m, cta_group) : sfb_buffer(o.m, o.n, cta_group);
  if (o.column_step != 0) buffer.column_step = o.column_step;
  return buffer;
}

// Bits from one element of a cell to the next, and how many copies each element has.
struct Packing {
  int unit;
  int copies;
  int payload_low_bit = 0;
  int payload_bits = 0;  // 0: the unit
};

Packing packing_of(const TmemOperand& o) {
  const Kind kind = o.opcode.kind;
  switch (o.matrix) {
    case TmemMatrix::D: return {cell_bits, 1, 0, bits(o.type)};
    case TmemMatrix::A:
      return {tmem_container_bits(kind), a_copies(a_of(o)), tmem_payload_low_bit(kind, o.type),
              bits(o.type)};
    case TmemMatrix::E: return {metadata_code_bits, metadata_copies(metadata_of(o))};
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: break;
  }
  return {byte_bits, scale_copies(scales_of(o))};
}

// One copy of an element of one CTA, columns from the address on; the bit is that of its container.
CellBit copy_of(const TmemOperand& o, Element e, int copy) {
  switch (o.matrix) {
    case TmemMatrix::D: {
      const Cell cell = d_cell(accumulator_of(o), e);
      return {cell.tmem_lane, cell.tmem_column, 0};
    }
    case TmemMatrix::A: return a_place(a_of(o), e, copy);
    case TmemMatrix::E: return metadata_place(metadata_of(o), {e.row, e.col}, copy);
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: break;
  }
  const CellByte at = scale_place(scales_of(o), {e.row, o.first_factor + e.col}, copy);
  return {at.tmem_lane, at.tmem_column, byte_bits * at.byte};
}

// What the arithmetic of the layout says of a place: whether it is so, holds() of the Map knows.
Element element_of(const TmemOperand& o, CellBit at) {
  if (o.matrix == TmemMatrix::D)
    return d_element(accumulator_of(o), {at.tmem_lane, at.tmem_column});
  if (o.matrix == TmemMatrix::A) return a_element(a_of(o), at);
  if (o.matrix == TmemMatrix::E) {
    const MetadataChunk chunk = metadata_chunk(metadata_of(o), at);
    return {chunk.row, chunk.chunk};
  }
  const ScaleFactor f =
      scale_factor(scales_of(o), {at.tmem_lane, at.tmem_column, at.low_bit / byte_bits});
  return {f.mn, f.s - o.first_factor};
}

int ctas_of_rows(const TmemOperand& o) {
  return o.matrix == TmemMatrix::SFB ? 1 : o.opcode.cta_group;
}

std::vector<Axis> element_axes(const TmemOperand& o) {
  Axis row = {.name = "row", .extent = o.matrix == TmemMatrix::SFB ? o.n : o.m};
  Axis col = {.name = "col", .extent = o.matrix == TmemMatrix::D ? o.n : o.k_extent};
  row.ctas = ctas_of_rows(o);
  if (o.matrix == TmemMatrix::D) col.pieces = n_pieces(datapath_of(o));
  if (o.matrix == TmemMatrix::SFB && scales_of(o).split) row.pieces = 2;
  if (is_scale(o.matrix)) {
    row.alias = "mn";
    col.alias = "s";
  }
  if (o.matrix == TmemMatrix::E) {
    col.name = "k";
    col.alias = "chunk";
    col.step = metadata_chunk_elements(o.opcode.kind);
  }
  return {row, col};
}

std::vector<Axis> cell_axes(const TmemOperand& o, const Packing& packing) {
  return {{.name = "cta", .extent = o.opcode.cta_group, .missing = Missing::Zero},
          {.name = "tmem_lane", .extent = tmem_lanes},
          {.name = "tmem_column", .extent = tmem_columns},
          {.name = "low_bit",
           .extent = cell_bits / packing.unit,
           .missing = Missing::All,
           .first = packing.payload_low_bit,
           .step = packing.unit}};
}

std::string disputed(std::string_view here, std::string_view other) {
  return fmt::format(
      "sources disagree: this is {}, CuTe has {}, and no Blackwell device has decided it", here,
      other);
}

}  // namespace

Fault check(const TmemOperand& o) {
  if (o.matrix == TmemMatrix::A) return check(a_of(o));
  if (o.matrix != TmemMatrix::E) return Fault::None;
  const Fault fault = check(metadata_of(o));
  return fault != Fault::None ? fault : check_metadata_column(o.base.tmem_column);
}

int columns(const TmemOperand& o) {
  switch (o.matrix) {
    case TmemMatrix::D: return columns(accumulator_of(o));
    case TmemMatrix::A: return a_columns(a_of(o), o.k_extent);
    case TmemMatrix::E: return metadata_reach(metadata_of(o));
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: break;
  }
  return scale_columns(scales_of(o), o.first_factor + o.k_extent);
}

std::string doubt(const TmemOperand& o) {
  if (o.matrix == TmemMatrix::SFA && is_disputed_sfa(o.m, o.opcode.cta_group))
    return disputed("SFA with the 64 rows of its CTA, after an example of NVIDIA's", "128 rows");
  if (o.matrix == TmemMatrix::SFB && is_inferred(scales_of(o)))
    return "inferred: no source says how SFB lies when N/2 is no multiple of 32; padding N avoids "
           "it";
  if (o.matrix == TmemMatrix::E && o.selector != 0)
    return "CuTe's code is the only source: selector 1 means the column behind the address's";
  if (!is_scale(o.matrix) && is_disputed(datapath_of(o)))
    return disputed("the manual's layout C", "layout B");
  return "";
}

// Of A in Tensor Memory: elements of fewer bits than their byte, or two of 4 bits in one.
std::string payload_doubt(const TmemOperand& o) {
  if (o.matrix != TmemMatrix::A || bits(o.type) >= byte_bits) return "";
  if (is_packed_4bit(o.opcode.kind))
    return "inferred: the even one of two elements of 4 bits is the low half of its byte; no "
           "source "
           "says so";
  const int low = tmem_payload_low_bit(o.opcode.kind, o.type);
  return fmt::format("inferred, after an example of NVIDIA's: {} is bits [{},{}) of its byte",
                     tcq::name(o.type), low, low + bits(o.type));
}

std::string selector_text(const MmaOpcode& op, int selector) {
  if (selector >= metadata_selectors(op.kind, op.ws))
    return "no source says in which column they begin";
  return selector == 0
             ? "they begin in the even column that their address names"
             : "they begin in the odd column behind the even one that their address names";
}

Map map_of(const TmemOperand& o) {
  const Packing packing = packing_of(o);
  Map map;
  map.matrix = name(o.matrix);
  map.space = Space::TensorMemory;
  map.bits = packing.payload_bits != 0 ? packing.payload_bits : packing.unit;
  map.element = element_axes(o);
  map.place = cell_axes(o, packing);
  const int height = map.element[0].extent / map.element[0].ctas;
  const bool both = o.matrix == TmemMatrix::SFB && o.opcode.cta_group == 2;
  map.places = [=](const Coords& e) {
    std::vector<Coords> places;
    for (int copy = 0; copy < packing.copies; ++copy) {
      const CellBit at = copy_of(o, {e[0] % height, e[1]}, copy);
      places.push_back({both ? both_ctas : e[0] / height, at.tmem_lane,
                        at.tmem_column + o.base.tmem_column, at.low_bit / packing.unit});
    }
    return places;
  };
  map.element_at = [=](const Coords& at) {
    const int column = at[2] - o.base.tmem_column;
    if (column < 0) return no_element;
    const Element e = element_of(o, {at[1], column, at[3] * packing.unit});
    return Coords{e.row + (both ? 0 : at[0] * height), e.col};
  };
  for (const std::string& sentence : {doubt(o), payload_doubt(o)})
    if (!sentence.empty()) map.notes.push_back(sentence);
  map.nothing = "holds nothing of " + map.matrix;
  return map;
}

// ---- Shared memory ------------------------------------------------------------------------------

namespace {

Type type_of(const SmemOperand& o) { return o.is_b ? o.idesc.b : o.idesc.a; }
Major major_of(const SmemOperand& o) { return o.is_b ? o.idesc.major_b : o.idesc.major_a; }

OperandElement operand_element(int mn, int k) {
  return {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)};
}

// Bits from the start to an element of one CTA before swizzling, which is linear for every type: 6-bit
// elements straddle bytes, so bytes are not.
int linear_bit(const SmemOperand& o, const OperandElement& e) {
  const bool k_major = major_of(o) == Major::K;
  const auto bit = contiguous_bit(o.opcode.kind, type_of(o), k_major ? e.k : e.mn);
  const OperandByte at = k_major ? OperandByte{e.mn, bit / 8} : OperandByte{bit / 8, e.k};
  const std::uint32_t byte = linear_address(o.desc, major_of(o), at) - o.desc.start_bytes;
  return static_cast<int>(8 * byte + bit % 8);
}

}  // namespace

Map unplaced_map(const MmaOpcode& op, const InstructionDescriptor& d, bool is_b) {
  Map map;
  map.matrix = is_b ? "B" : "A";
  map.space = Space::SharedMemory;
  map.window_end = sm_shared_bytes;
  map.bits = bits(is_b ? d.b : d.a);
  map.element = {{.name = "row", .extent = is_b ? k(op, d) : d.m},
                 {.name = "col", .extent = is_b ? d.n : stored_k(op, d)}};
  map.element[is_b ? 1 : 0].ctas = op.cta_group;
  map.place = {{.name = "cta", .extent = op.cta_group},
               {.name = "byte", .extent = 0},
               {.name = "low_bit", .extent = byte_bits}};
  return map;
}

Map map_of(const SmemOperand& o) {
  Map map = unplaced_map(o.opcode, o.idesc, o.is_b);
  const std::size_t mn = o.is_b ? 1 : 0;
  const int per_cta = map.element[mn].extent / map.element[mn].ctas;
  map.places = [=](const Coords& e) {
    const ElementPlace at = element_place(o.desc, major_of(o), o.opcode.kind, type_of(o),
                                          operand_element(e[mn] % per_cta, e[1 - mn]));
    return std::vector<Coords>{
        {e[mn] / per_cta, static_cast<int>(at.byte), static_cast<int>(at.bit)}};
  };
  map.addressing = {
      [=](const Coords& e) { return linear_bit(o, operand_element(e[mn], e[1 - mn])); },
      o.desc.start_bytes,
      o.desc.base_offset,
      swizzle_function(o.desc.swizzle),
      !o.desc.lbo_absolute,
      major_of(o)};
  if (const std::string sentence = container_text(o); !sentence.empty())
    map.notes.push_back(sentence);
  return map;
}

std::string container_text(const SmemOperand& o) {
  const Type type = type_of(o);
  if (bits(type) >= byte_bits) return "";
  if (!is_padded(o.opcode.kind, type))
    return fmt::format(
        "{} of kind {} is packed: two elements to a byte, the even one in the low "
        "half",
        tcq::name(type), name(o.opcode.kind));
  const int bytes = 16 * bits(type) / 8;
  return fmt::format(
      "{} of kind {} is padded: 16 elements of {} bits fill the first {} of every 16 bytes, the "
      "other {} are not read",
      tcq::name(type), name(o.opcode.kind), bits(type), bytes, 16 - bytes);
}

// ---- Registers of ld and st ---------------------------------------------------------------------

namespace {

constexpr int warps = tmem_lanes / lanes_per_warp;

Cell cell_of(const TmemLoad& load, int thread, int reg, int half) {
  const int warp = thread / lanes_per_warp;
  const Cell cell = fragment_cell(load.fragment, {thread % lanes_per_warp, reg, half});
  return {first_tmem_lane(warp) + load.at.tmem_lane + cell.tmem_lane,
          load.at.tmem_column + cell.tmem_column};
}

// Runs of .16x32bx2 that overlap: two threads load one cell.
std::vector<Coords> searched_slots(const TmemLoad& load, int warp, Cell cell) {
  std::vector<Coords> found;
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    for (int reg = 0; reg < registers(load.fragment); ++reg)
      for (int half = 0; half < halves(load.fragment); ++half)
        if (const int thread = lanes_per_warp * warp + lane;
            cell_of(load, thread, reg, half) == cell)
          found.push_back({thread, reg, half});
  return found;
}

std::vector<Coords> slots_of(const TmemLoad& load, Cell cell) {
  const int warp = warp_of_tmem_lane(cell.tmem_lane);
  const Cell relative = {cell.tmem_lane - first_tmem_lane(warp) - load.at.tmem_lane,
                         cell.tmem_column - load.at.tmem_column};
  if (!holds_fragment(load.fragment, relative)) return {};
  if (!is_one_to_one(load.fragment)) return searched_slots(load, warp, cell);
  const FragmentSlot slot = fragment_slot(load.fragment, relative);
  return {{lanes_per_warp * warp + slot.lane, slot.reg, slot.half}};
}

}  // namespace

namespace {

// What a cell is outside of: "each reads lanes 0 to 15 of its 32, columns 0 to 7; ...".
std::string reach_text(const TmemLoad& load) {
  const int lanes = fragment_lanes(load.fragment.shape);
  const int low = load.at.tmem_lane;
  std::string text = fmt::format(
      "each reads {}columns {} to {}",
      lanes == lanes_per_warp ? std::string()
                              : fmt::format("lanes {} to {} of its 32, ", low, low + lanes - 1),
      load.at.tmem_column, load.at.tmem_column + footprint_columns(load.fragment) - 1);
  if (lanes < lanes_per_warp)
    text += fmt::format("; address={:#010x} names the other lanes",
                        encode(TmemAddress{lanes - low, load.at.tmem_column}));
  return text;
}

}  // namespace

Map map_of(const TmemLoad& load) {
  const Fragment& f = load.fragment;
  const int first = load.at.tmem_column;
  Map map;
  map.matrix = "D";
  map.bits = cell_bits / halves(f);
  map.element = {{.name = "tmem_lane", .extent = tmem_lanes},
                 {.name = "tmem_column",
                  .extent = footprint_columns(f),
                  .first = first,
                  .asked = tmem_columns}};
  map.place = {
      {.name = "thread", .extent = lanes_per_warp * warps},
      {.name = "register", .extent = registers(f), .alias = "reg", .missing = Missing::All},
      {.name = "part", .extent = halves(f), .missing = Missing::All}};
  map.places = [=](const Coords& e) { return slots_of(load, {e[0], e[1] + first}); };
  map.element_at = [=](const Coords& at) {
    const Cell cell = cell_of(load, at[0], at[1], at[2]);
    return Coords{cell.tmem_lane, cell.tmem_column - first};
  };
  map.nothing = reach_text(load);
  return map;
}

// ---- What cannot be -----------------------------------------------------------------------------

namespace {

void require_columns(int first, int count, std::string_view what) {
  if (first + count > tmem_columns)
    throw FaultError(Fault::TmemAddressRange,
                     fmt::format("; {} takes {} columns from column {} on", what, count, first));
}

void require_lane(const TmemOperand& o) {
  const int lane = o.base.tmem_lane;
  const Datapath d = datapath_of(o);
  const bool of_rows = o.matrix == TmemMatrix::D || o.matrix == TmemMatrix::A;
  if (lane == 0 || (of_rows && is_lane_base(d, lane))) return;
  if (!of_rows)
    throw UnmodelledError(fmt::format(
        "not modelled: no source says what lane {} in the address of {} means; expected lane 0",
        lane, name(o.matrix)));
  throw FaultError(fmt::format("the address of {} names lane {}: layout {} begins at lane 0{}",
                               name(o.matrix), lane, name(d), is_half_datapath(d) ? " or 16" : ""));
}

}  // namespace

void require(const TmemOperand& o) {
  if (const Fault fault = check(o); fault != Fault::None) throw FaultError(fault);
  require_lane(o);
  require_columns(o.base.tmem_column, columns(o), name(o.matrix));
}

void require(const TmemLoad& load) {
  if (!is_lane_base(load.fragment.shape, 0, load.at.tmem_lane))
    throw FaultError(fmt::format(
        "address= names lane {}: expected that of warp 0's load, lane 0{}; the other warps add "
        "their 32 lanes each",
        load.at.tmem_lane, fragment_lanes(load.fragment.shape) == 16 ? " or 16" : ""));
  require_columns(load.at.tmem_column, footprint_columns(load.fragment), "the load");
}

SmemOperand smem_operand(const Tcgen05Instruction& instruction, bool is_b, std::string_view word,
                         std::string_view key) {
  const std::uint64_t value = parse_number(word, key);
  if (const Fault fault = check_word(value); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {}{:#018x}", key, value));
  const SmemOperand o = {std::get<MmaForm>(instruction.form).opcode, instruction.idesc, is_b,
                         decode(value)};
  if (const Fault fault = check_operand(o.desc, o.opcode.kind, type_of(o), major_of(o));
      fault != Fault::None)
    throw FaultError(fault, fmt::format("; {} of {}", key, is_b ? "B" : "A"));
  return o;
}

TmemOperand tmem_operand(const Tcgen05Instruction& instruction, TmemMatrix matrix) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  const InstructionDescriptor& d = instruction.idesc;
  TmemOperand o{matrix, op, d.m, d.n};
  o.type = matrix == TmemMatrix::D ? d.d : d.a;
  o.selector = d.selector;
  if (matrix == TmemMatrix::A) o.k_extent = stored_k(op, d);
  if (matrix == TmemMatrix::E) o.k_extent = metadata_chunks(op.kind);
  if (!is_scale(matrix)) return o;
  const bool is_a = matrix == TmemMatrix::SFA;
  o.k_extent = scale_factors(op, d);
  o.first_factor = is_a ? d.scale_a_id : d.scale_b_id;
  if (scales_spill(o.k_extent, o.first_factor))
    o.column_step = scale_spill_step(is_a ? d.m / op.cta_group : d.n);
  return o;
}

}  // namespace tcq::oracle
