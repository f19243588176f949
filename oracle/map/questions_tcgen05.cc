// Questions about tcgen05: which matrix, in which sort of place, and the keys that say where it lies.
//
// Tensor Memory holds D, A with a=tmem, E, SFA and SFB; shared memory A and B with desc=; ld and st have
// registers; in=smem and in=global ask for scale factors before they are copied (scale_blocks.h). Example: `tcgen05.ld.16x256b.x2 D address=0x100000` are the registers of a load from lane
// 16 on. The Maps themselves are maps_tcgen05.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <variant>

#include "oracle/map/asked.h"
#include "oracle/map/maps_tcgen05.h"
#include "oracle/map/scale_blocks.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/tmem/address.h"
#include "sim/isa/tmem/operand.h"
#include "sim/isa/tmem/scale_layout.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;
using oracle::TmemMatrix;

constexpr std::string_view matrix_expected =
    "a matrix after the mnemonic: D, A, B, E, SFA or SFB of mma, D of ld and st";
constexpr std::array<std::string_view, 7> matrix_words = {"A", "B", "C", "D", "E", "SFA", "SFB"};
constexpr int most_factors = 1024;
constexpr int most_rows = 1 << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t most_terms = 1024;

using Words = std::vector<std::string_view>;

enum class Sort { Tmem, Metadata, Scales, Blocks, Smem, Load };

// The keys of coordinates and inputs that a verb has for one sort of place.
Words coordinate_keys(Sort sort, Ask ask) {
  if (ask == Ask::Element) switch (sort) {
      case Sort::Tmem:
      case Sort::Scales: return {"row", "col", "desc_a", "desc_b", "terms"};
      case Sort::Metadata: return {"row", "k", "chunk"};
      case Sort::Blocks:
      case Sort::Smem: return {"row", "col"};
      case Sort::Load: return {"tmem_lane", "tmem_column"};
    }
  if (ask == Ask::Place) {
    if (sort == Sort::Smem || sort == Sort::Blocks) return {"byte", "bytes", "cta"};
    return sort == Sort::Load ? Words{"thread", "warp", "lane", "register", "reg", "part"}
                              : Words{"tmem_lane", "tmem_column", "cta"};
  }
  return {};
}

// Those that say where it is.
Words locating_keys(Sort sort) {
  if (sort == Sort::Smem) return {"desc"};
  if (sort == Sort::Scales) return {"in", "address", "column_step", "factors"};
  if (sort == Sort::Blocks) return {"in", "factors", "rows", "start", "blocks"};
  return {"address"};
}

constexpr std::array all_sorts = {Sort::Tmem,   Sort::Metadata, Sort::Scales,
                                  Sort::Blocks, Sort::Smem,     Sort::Load};

bool is_among(std::span<const std::string_view> some, std::string_view key) {
  return std::find(some.begin(), some.end(), key) != some.end();
}

// Everything that any sort of place understands, so that a wrong key is told apart from an unknown
// one.
Words keys_of_all_sorts(Ask ask) {
  Words all(tcgen05_keys.begin(), tcgen05_keys.end());
  const auto add = [&](const Words& keys) {
    for (const std::string_view key : keys)
      if (!is_among(all, key)) all.push_back(key);
  };
  for (const Sort sort : all_sorts) add(coordinate_keys(sort, ask));
  for (const Sort sort : all_sorts) add(locating_keys(sort));
  return all;
}

const Words& all_keys(Ask ask) {
  static const std::array<Words, 4> of = {
      keys_of_all_sorts(Ask::Element), keys_of_all_sorts(Ask::Place), keys_of_all_sorts(Ask::Whole),
      keys_of_all_sorts(Ask::Bytes)};
  return of[static_cast<std::size_t>(ask)];
}

void refuse_others(const Keys& keys, Sort sort, Ask ask, std::string_view what) {
  Words own = coordinate_keys(sort, ask);
  for (const std::string_view key : locating_keys(sort)) own.push_back(key);
  for (const std::string_view key : all_keys(ask)) {
    if (!keys.has(key) || is_among(tcgen05_keys, key) || is_among(own, key)) continue;
    std::string expected;
    for (const std::string_view good : own)
      expected += fmt::format("{}{}=", expected.empty() ? "" : ", ", good);
    throw UsageError(fmt::format("{}= does not apply to {}: expected {}", key, what, expected));
  }
}

std::string_view matrix_from(const Question& question) {
  const std::string_view word = word_at(question, 1, matrix_expected);
  for (const std::string_view known : matrix_words)
    if (same_word(word, known)) return known;
  throw_unknown("matrix", word, matrix_words);
}

void require_matrix(const MmaOpcode& op, std::string_view matrix) {
  if (matrix == "C") throw UsageError("C of tcgen05.mma is D: it accumulates in place; expected D");
  if (matrix == "E" && !op.sparse)
    throw UsageError("E is the metadata of sparse forms: expected tcgen05.mma.sp");
  if (matrix.starts_with("SF") && !is_block_scaled(op.kind))
    throw UsageError(fmt::format(
        "kind {} has no scale factors: expected kind mxf8f6f4, mxf4 or mxf4nvf4", name(op.kind)));
}

// in=: where scale factors are asked for.
enum class ScaleMemory { Tmem, Smem, Global };

ScaleMemory scale_memory(const Keys& keys) {
  return static_cast<ScaleMemory>(keys.choice("in", {"tmem", "smem", "global"}, 0));
}

Sort sort_of(const Tcgen05Instruction& instruction, std::string_view matrix, const Keys& keys) {
  const auto* mma = std::get_if<MmaForm>(&instruction.form);
  if (mma == nullptr) return Sort::Load;
  require_matrix(mma->opcode, matrix);
  if (matrix == "B" || (matrix == "A" && mma->opcode.a_place == Place::Smem)) return Sort::Smem;
  if (matrix == "E") return Sort::Metadata;
  if (!matrix.starts_with("SF")) return Sort::Tmem;
  return scale_memory(keys) == ScaleMemory::Tmem ? Sort::Scales : Sort::Blocks;
}

Cell address_from(const Keys& keys) {
  if (!keys.has("address")) return {0, 0};
  const auto word = static_cast<std::uint32_t>(keys.number("address", 0, 0xffffffff));
  const TmemAddress address = decode_tmem_address(word);
  if (const Fault fault = check(address); fault != Fault::None)
    throw FaultError(fault, fmt::format("; address={:#010x} is lane {}, column {}", word,
                                        address.tmem_lane, address.tmem_column));
  return {address.tmem_lane, address.tmem_column};
}

// num = 0 for forms without registers of a map.
struct ToFragment {
  int half_split;
  Fragment operator()(const LdForm& f) const { return {f.shape, f.num, f.pack, half_split}; }
  Fragment operator()(const StForm& f) const { return {f.shape, f.num, f.unpack, half_split}; }
  Fragment operator()(const LdRedForm& f) const { return {f.shape, f.num, false, half_split}; }
  template <class Form>
  Fragment operator()(const Form&) const {
    return {LdShape::S32x32b, 0};
  }
};

Map load_map(const Tcgen05Instruction& instruction, const Keys& keys, std::string_view matrix) {
  const TmemLoad load = {std::visit(ToFragment{instruction.half_split}, instruction.form),
                         address_from(keys)};
  if (load.fragment.num == 0)
    throw UsageError(fmt::format("tcgen05.{} has no matrix with places: expected mma, ld, st or cp",
                                 instruction_name(instruction.form)));
  require(load);
  if (matrix != "D")
    throw UsageError(fmt::format("tcgen05.{} moves cells, not {}: expected D, its registers",
                                 instruction_name(instruction.form), matrix));
  Map map = map_of(load);
  if (has_half_split(load.fragment.shape) && !keys.has("half_split"))
    map.notes.push_back(
        "half_split= is not given: 0 is taken for immHalfSplitoff, which PTX wants in every "
        ".16x32bx2");
  return map;
}

void set_scale_keys(TmemOperand& o, const Keys& keys) {
  o.k_extent = static_cast<int>(
      keys.number_or("factors", 1, most_factors, static_cast<std::uint64_t>(o.k_extent)));
  if (!keys.has("column_step")) return;
  const int cta_group = o.opcode.cta_group;
  const int least = o.matrix == TmemMatrix::SFA ? sfa_buffer(o.m, cta_group).column_step
                                                : sfb_buffer(o.m, o.n, cta_group).column_step;
  o.column_step =
      static_cast<int>(keys.number("column_step", static_cast<std::uint64_t>(least), tmem_columns));
}

// Logical elements of K that one factor scales.
int scaled_elements(const Tcgen05Instruction& instruction) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  return k(op, instruction.idesc) / scale_factors(op, instruction.idesc);
}

// In global memory of a matrix of any height, of which tables show what one instruction takes.
Map blocks_map(const Tcgen05Instruction& instruction, std::string_view matrix, const Keys& keys,
               Ask ask) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  const InstructionDescriptor& d = instruction.idesc;
  const bool is_a = matrix == "SFA";
  const bool global = scale_memory(keys) == ScaleMemory::Global;
  if (global && !keys.has("factors"))
    throw UsageError(fmt::format(
        "factors= is missing: expected how many scale factors a row of the whole matrix has, K/{}; "
        "it says where the next rows begin",
        scaled_elements(instruction)));
  if (!global && keys.has("rows"))
    throw UsageError(
        "rows= is the height of the matrix in global memory: expected m= and n= with in=smem");
  const auto rows = static_cast<std::uint64_t>(is_a ? d.m : d.n);
  const auto given = static_cast<int>(
      keys.number_or("rows", 1, most_rows, global && ask != Ask::Whole ? most_rows : rows));
  const auto factors = static_cast<int>(
      keys.number_or("factors", 1, most_factors, static_cast<std::uint64_t>(scale_factors(op, d))));
  const auto start = static_cast<std::uint32_t>(keys.number_or("start", 0, most_bytes, 0));
  const bool small = keys.choice("blocks", {"128x4", "8x4"}, 0) == 1;
  if (small && !global)
    throw UsageError(
        "blocks=8x4 is how libraries keep the scale factors of few rows in global memory: expected "
        "in=global");
  Map map = map_of(
      ScaleBlocks{matrix, is_a ? sfa_buffer(d.m, op.cta_group) : sfb_buffer(d.m, d.n, op.cta_group),
                  op.cta_group, given, factors, start, global, small});
  if (global && ask == Ask::Whole && !keys.has("rows"))
    map.notes.push_back(
        fmt::format("rows= is not given: these are the {} rows of one instruction; rows= says how "
                    "many the matrix has",
                    rows));
  return map;
}

// Is there another M, with which it lies elsewhere?
bool has_other_m(const Tcgen05Instruction& instruction) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  InstructionDescriptor other = instruction.idesc;
  for (const int m : {32, 64, 128, 256}) {
    other.m = m;
    if (m != instruction.idesc.m && check(op, other) == Fault::None) return true;
  }
  return false;
}

void note_missing_m(Map& map, const Tcgen05Instruction& instruction, Sort sort, const Keys& keys) {
  const bool is_global = sort == Sort::Blocks && scale_memory(keys) == ScaleMemory::Global;
  if (sort == Sort::Load || sort == Sort::Smem || is_global || keys.has("m") ||
      !has_other_m(instruction))
    return;
  map.notes.push_back(fmt::format(
      "m= is not given: M {} is taken, with another M it may lie elsewhere", instruction.idesc.m));
}

Map tmem_map(const Tcgen05Instruction& instruction, std::string_view matrix, const Keys& keys) {
  const auto index = std::find(tmem_matrices.begin(), tmem_matrices.end(), matrix);
  TmemOperand o = tmem_operand(instruction, static_cast<TmemMatrix>(index - tmem_matrices.begin()));
  o.base = address_from(keys);
  if (matrix.starts_with("SF")) set_scale_keys(o, keys);
  require(o);
  Map map = map_of(o);
  if (matrix.starts_with("SF") && o.k_extent == scale_factors(o.opcode, instruction.idesc) &&
      scales_spill(o.k_extent, o.first_factor))
    map.notes.push_back(
        "inferred: the instruction reads beyond the four factors of a cell; the others are "
        "taken to lie in the next group of columns");
  return map;
}

Map map_from(const Tcgen05Instruction& instruction, std::string_view matrix, const Keys& keys,
             Ask ask) {
  const Sort sort = sort_of(instruction, matrix, keys);
  if (sort == Sort::Load) return load_map(instruction, keys, matrix);
  if (sort == Sort::Scales || sort == Sort::Blocks) {
    Map map = sort == Sort::Scales ? tmem_map(instruction, matrix, keys)
                                   : blocks_map(instruction, matrix, keys, ask);
    map.element[1].elements_key = "k";
    map.element[1].elements = scaled_elements(instruction);
    return map;
  }
  if (sort != Sort::Smem) return tmem_map(instruction, matrix, keys);
  if (!keys.has("desc"))
    throw UsageError(
        fmt::format("{} lies in shared memory: expected desc= with its descriptor word{}", matrix,
                    matrix == "A" ? ", or a=tmem" : ""));
  return map_of(smem_operand(instruction, matrix == "B", keys.text("desc", ""), "desc="));
}

// ---- Inputs -------------------------------------------------------------------------------------

Map a_map(const Tcgen05Instruction& instruction, const Keys& keys) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  const bool in_tmem = op.a_place == Place::Tmem;
  if (keys.has("desc_a") && in_tmem)
    throw UsageError("desc_a= describes shared memory, but A lies in Tensor Memory: expected none");
  if (in_tmem) {
    const TmemOperand o = tmem_operand(instruction, TmemMatrix::A);
    require(o);
    return map_of(o);
  }
  if (!keys.has("desc_a")) return unplaced_map(op, instruction.idesc, false);
  return map_of(smem_operand(instruction, false, keys.text("desc_a", ""), "desc_a="));
}

Sum sum_of(const Tcgen05Instruction& instruction, const Keys& keys, const Coords& d) {
  const MmaOpcode& op = std::get<MmaForm>(instruction.form).opcode;
  const InstructionDescriptor& idesc = instruction.idesc;
  if (op.sparse)
    throw UnmodelledError(
        "not modelled: --inputs writes the sums of dense forms; which B a stored element of A "
        "meets, its metadata says: 'tcq where MNEMONIC E'");
  const std::uint64_t terms = keys.number_or("terms", 1, most_terms, most_terms);
  Sum sum{a_map(instruction, keys),
          keys.has("desc_b")
              ? map_of(smem_operand(instruction, true, keys.text("desc_b", ""), "desc_b="))
              : unplaced_map(op, idesc, true),
          {},
          {},
          idesc.negate_a,
          idesc.negate_b,
          instruction.accumulate,
          {},
          0};
  const int extent = k(op, idesc);
  const bool scaled = is_block_scaled(op.kind);
  if (scaled) {
    sum.sfa = map_of(tmem_operand(instruction, TmemMatrix::SFA));
    sum.sfb = map_of(tmem_operand(instruction, TmemMatrix::SFB));
  }
  const int block = scaled ? extent / sum.sfa->element[1].extent : extent;
  for (int i = 0; i < extent; ++i)
    sum.products.push_back({{d[0], i}, {{i, d[1]}}, {d[0], i / block}, {d[1], i / block}});
  sum.written = std::min<std::size_t>(terms, sum.products.size());
  return sum;
}

// ---- One question -------------------------------------------------------------------------------

// k= is the instruction's K, unless it says which code of E or which scale factor is meant: then chunk=
// or col= does not.
Tcgen05Instruction take_instruction(const Question& question, Keys& keys, std::string_view matrix,
                                    Ask ask) {
  const bool is_scale = matrix.starts_with("SF");
  const bool has_elements = ask == Ask::Element && (matrix == "E" || is_scale);
  const bool is_coordinate = has_elements && !keys.has(is_scale ? "col" : "chunk");
  const Keys rest = keys.without("k");
  const Tcgen05Instruction instruction =
      tcgen05_instruction_of(question, is_coordinate ? rest : keys);
  if (has_elements && !is_coordinate) keys = rest;
  return instruction;
}

void refuse_inputs(const Question& question, const Keys& keys, Sort sort, std::string_view matrix) {
  if (sort == Sort::Load || sort == Sort::Smem || sort == Sort::Blocks) {
    if (question.options.inputs)
      throw UsageError("--inputs explains outputs: expected matrix D of tcgen05.mma");
    return;
  }
  if (matrix != "D" && keys.has("terms"))
    throw UsageError("terms= describes the inputs of an output: expected matrix D");
  if (matrix != "D" && question.options.inputs)
    throw UsageError(fmt::format("--inputs explains outputs: expected matrix D, not {}", matrix));
  refuse_input_keys(question, keys);
}

Asked read_tensor_memory(const Question& question, Ask ask) {
  const std::string_view matrix = matrix_from(question);
  Asked asked{Keys(words_from(question, 2), all_keys(ask)), {}};
  const Tcgen05Instruction instruction = take_instruction(question, asked.keys, matrix, ask);
  asked.map = map_from(instruction, matrix, asked.keys, ask);
  const Sort sort = sort_of(instruction, matrix, asked.keys);
  note_missing_m(asked.map, instruction, sort, asked.keys);
  refuse_others(asked.keys, sort, ask,
                fmt::format("{} of tcgen05.{}", matrix, instruction_name(instruction.form)));
  if (ask == Ask::Element) refuse_inputs(question, asked.keys, sort, matrix);
  if (ask == Ask::Bytes && sort != Sort::Smem && sort != Sort::Blocks)
    throw UsageError(fmt::format(
        "{} does not lie in shared memory: expected B, or A without a=tmem", question.words[1]));
  if (ask == Ask::Whole)
    asked.map.title = fmt::format(
        "{} of {}",
        sort == Sort::Load ? "D"
                           : fmt::format("{}[{}][{}]", matrix, asked.map.element[0].extent,
                                         asked.map.element[1].extent),
        mnemonic_with_keys(instruction));
  if (question.options.inputs)
    asked.sum = [instruction, keys = asked.keys](const Coords& d) {
      return sum_of(instruction, keys, d);
    };
  return asked;
}

}  // namespace

const Family tensor_memory_family = {is_tcgen05, read_tensor_memory};

}  // namespace tcq::oracle
