// Maps of tcgen05.cp: D, what it writes to Tensor Memory, and S, what it reads in shared memory.
//
// Both are one matrix: row r and column c of S arrive in row r and column c of D. Columns count bytes,
// or the elements that .b4x16_p64 and .b6x16_p32 widen to bytes. With cta_group::2 either lies alike in
// both CTAs. All arithmetic is sim/isa/tcgen05/copy.h. Example: .32x128b.warpx4 has D[5][7] in
// tmem_lane 5, tmem_column 1, bits [24,32), with copies 32, 64 and 96 lanes further.
#include <fmt/format.h>

#include <variant>

#include "oracle/map/asked.h"
#include "oracle/map/units.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/tcgen05/copy.h"
#include "sim/isa/tmem/address.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr int cell_bytes = 4;
constexpr std::array<std::string_view, 2> copy_matrices = {"D", "S"};

// ---- Maps ---------------------------------------------------------------------------------------

// First byte of the unit of 16 that a column is in: the same in what is read and what is written.
int unit_byte(int col) { return col / cp_unit_elements * cp_unit_elements; }

Unpacked element_of(const CpForm& f, int col) {
  return decompressed(cp_element_bits(f.source), col % cp_unit_elements);
}

int cta_of(const CpForm& f) { return f.cta_group == 2 ? both_ctas : 0; }

// What both matrices of a copy have in common.
Map matrix_of(const CpForm& f, std::string_view matrix) {
  Map map;
  map.matrix = matrix;
  map.bits = cp_element_bits(f.source);
  map.element = {{.name = "row", .extent = cp_rows(cp_shape(f))},
                 {.name = "col", .extent = cp_row_bytes(cp_shape(f))}};
  map.place = {{.name = "cta", .extent = f.cta_group, .missing = Missing::Zero}};
  if (f.source != CpSource::Same)
    map.notes.push_back(
        "inferred: no source says in which order the elements lie in the 16 bytes that are read; "
        "they are taken from the low bits on");
  return map;
}

Map written_map(const CpForm& f, int first_column) {
  const CpShape shape = cp_shape(f);
  Map map = matrix_of(f, "D");
  map.space = Space::TensorMemory;
  map.place.push_back({.name = "tmem_lane", .extent = tmem_lanes});
  map.place.push_back({.name = "tmem_column", .extent = tmem_columns});
  map.place.push_back({.name = "low_bit",
                       .extent = cell_bytes,
                       .missing = Missing::All,
                       .first = element_of(f, 0).low_bit,
                       .step = byte_bits});
  map.places = [=](const Coords& e) {
    std::vector<Coords> places;
    for (int copy = 0; copy < cp_copies(shape); ++copy) {
      const int byte = unit_byte(e[1]) + element_of(f, e[1]).byte;
      const CellByte at = cp_place(shape, {e[0], byte}, copy);
      places.push_back({cta_of(f), at.tmem_lane, at.tmem_column + first_column, at.byte});
    }
    return places;
  };
  map.element_at = [=](const Coords& at) {
    const CpByte byte = cp_source(shape, {at[1], at[2] - first_column, at[3]});
    return Coords{byte.row, byte.byte};
  };
  map.nothing = "gets nothing from this copy";
  if (is_disputed(shape))
    map.notes.push_back(
        "inferred: row i goes to tmem_lane 32*i as CuTe's layout has it; CuTe's comment says the "
        "last lanes of each quarter, the manual nothing");
  return map;
}

Map source_map(const CpForm& f, const SmemDescriptor& d) {
  const CpOperand source = cp_operand(d);
  Map map = matrix_of(f, "S");
  map.space = Space::SharedMemory;
  map.window_end = sm_shared_bytes;
  map.place.push_back({.name = "byte", .extent = 0});
  map.place.push_back({.name = "low_bit", .extent = byte_bits});
  const auto byte_of = [=](const Coords& e) {
    return CpByte{e[0], unit_byte(e[1]) + element_of(f, e[1]).source_low_bit / byte_bits};
  };
  const auto bit_of = [=](const Coords& e) {
    return element_of(f, e[1]).source_low_bit % byte_bits;
  };
  map.places = [=](const Coords& e) {
    return std::vector<Coords>{
        {cta_of(f), static_cast<int>(cp_address(source, byte_of(e))), bit_of(e)}};
  };
  const auto linear_bit = [=](const Coords& e) {
    const CpByte at = byte_of(e);
    const OperandByte from = {static_cast<std::uint32_t>(at.row),
                              static_cast<std::uint32_t>(at.byte)};
    return byte_bits * static_cast<int>(offset_bytes(source.layout, from)) + bit_of(e);
  };
  map.addressing = {linear_bit, source.start_bytes, source.base_offset, source.swizzle};
  if (d.swizzle != Swizzle::None)
    map.notes.push_back(
        "inferred: swizzled sources follow the law of matrix operands, no source says so");
  return map;
}

// ---- Questions ----------------------------------------------------------------------------------

int column_from(const CpForm& f, const Keys& keys) {
  if (!keys.has("address")) return 0;
  const auto word = static_cast<std::uint32_t>(keys.number("address", 0, 0xffffffff));
  const TmemAddress at = decode_tmem_address(word);
  const std::string told =
      fmt::format("; address={:#010x} is lane {}, column {}", word, at.tmem_lane, at.tmem_column);
  if (const Fault fault = check(at); fault != Fault::None) throw FaultError(fault, told);
  if (at.tmem_lane != 0) throw FaultError(Fault::TmemLaneAlignment, told + ": expected lane 0");
  if (const int columns = cp_columns(cp_shape(f)); at.tmem_column + columns > tmem_columns)
    throw FaultError(Fault::TmemAddressRange,
                     fmt::format("{}, and the copy takes {} columns", told, columns));
  return at.tmem_column;
}

SmemDescriptor descriptor_from(const Keys& keys) {
  if (!keys.has("desc"))
    throw UsageError("S lies in shared memory: expected desc= with its descriptor word");
  const std::uint64_t word = parse_number(keys.text("desc", ""), "desc=");
  Fault fault = check_word(word);
  if (fault == Fault::None) fault = check_cp_source(tcgen05::decode(word));
  if (fault != Fault::None) throw FaultError(fault, fmt::format("; desc={:#018x}", word));
  return tcgen05::decode(word);
}

Keys keys_from(const Question& question, bool written, Ask ask) {
  const std::span<const std::string_view> words = words_from(question, 2);
  const std::string_view where = written ? "address" : "desc";
  if (ask == Ask::Element) return Keys(words, {}, {"row", "col", where});
  if (ask == Ask::Place) return Keys(words, {}, {"tmem_lane", "tmem_column", "cta", where});
  return Keys(words, {}, {where});
}

void refuse(const Question& question, bool written, Ask ask) {
  if (question.options.inputs)
    throw UsageError("--inputs explains outputs of a product: expected matrix D of tcgen05.mma");
  if (!written && ask == Ask::Place)
    throw UsageError(
        "S lies in shared memory: expected D, or 'tcq bytes' for what lies in shared memory");
  if (written && ask == Ask::Bytes)
    throw UsageError("D does not lie in shared memory: expected S, what the copy reads");
}

Asked read_copy(const Question& question, Ask ask) {
  const std::string_view word = word_at(question, 1, "a matrix after the mnemonic: D or S of cp");
  if (!same_word(word, "D") && !same_word(word, "S")) throw_unknown("matrix", word, copy_matrices);
  const bool written = same_word(word, "D");
  refuse(question, written, ask);
  const Keys keys = keys_from(question, written, ask);
  const Tcgen05Instruction instruction = tcgen05_instruction_of(question, Keys({}, {}));
  const CpForm& form = std::get<CpForm>(instruction.form);
  Asked asked{keys, written ? written_map(form, column_from(form, keys))
                            : source_map(form, descriptor_from(keys))};
  const Map& map = asked.map;
  asked.map.title = fmt::format("{}[{}][{}] of {}", map.matrix, map.element[0].extent,
                                map.element[1].extent, mnemonic_with_keys(instruction));
  return asked;
}

bool is_copy(std::string_view mnemonic) {
  constexpr std::string_view name = "tcgen05.cp";
  const std::string_view rest = mnemonic.substr(std::min(name.size(), mnemonic.size()));
  return same_word(mnemonic.substr(0, name.size()), name) &&
         (rest.empty() || rest.starts_with('.'));
}

}  // namespace

const Family tmem_copy_family = {is_copy, read_copy};

}  // namespace tcq::oracle
