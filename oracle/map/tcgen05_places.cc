// From the words of a question to a place of tcgen05; see tcgen05_places.h.
#include "oracle/map/tcgen05_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "oracle/ptx/mnemonic.h"
#include "sim/isa/tcgen05/smem_descriptor.h"
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

constexpr std::array<std::string_view, 1> load_place_keys = {"address"};
constexpr std::array<std::string_view, 1> tmem_place_keys = {"address"};
constexpr std::array<std::string_view, 3> scale_place_keys = {"address", "column_step", "factors"};
constexpr std::array<std::string_view, 1> smem_place_keys = {"desc"};

constexpr int most_factors = 1024;

// ---- Words --------------------------------------------------------------------------------------

std::string_view matrix_word(const Question& question) {
  word_at(question, 0, "MNEMONIC MATRIX key=value ...");
  const std::string_view word = word_at(question, 1, matrix_expected);
  for (const std::string_view known : matrix_words)
    if (same_word(word, known)) return known;
  throw_unknown("matrix", word, matrix_words);
}

// Everything that any sort of place understands, so that a wrong key is told apart from an unknown
// one.
std::vector<std::string_view> all_keys(const PlaceKeys& own) {
  std::vector<std::string_view> all(tcgen05_keys.begin(), tcgen05_keys.end());
  const auto add = [&](std::span<const std::string_view> keys) {
    for (const std::string_view key : keys)
      if (std::find(all.begin(), all.end(), key) == all.end()) all.push_back(key);
  };
  for (const auto keys : {own.of_tmem, own.of_metadata, own.of_smem, own.of_load}) add(keys);
  for (const auto keys : {std::span<const std::string_view>(scale_place_keys),
                          std::span<const std::string_view>(smem_place_keys)})
    add(keys);
  return all;
}

void refuse_others(const Keys& keys, const std::vector<std::string_view>& all,
                   std::span<const std::string_view> place_keys,
                   std::span<const std::string_view> own_keys, std::string_view what) {
  const auto holds = [](std::span<const std::string_view> some, std::string_view key) {
    return std::find(some.begin(), some.end(), key) != some.end();
  };
  for (const std::string_view key : all) {
    if (!keys.has(key) || holds(tcgen05_keys, key) || holds(place_keys, key) ||
        holds(own_keys, key))
      continue;
    std::string expected;
    for (const auto some : {own_keys, place_keys})
      for (const std::string_view good : some)
        expected += fmt::format("{}{}=", expected.empty() ? "" : ", ", good);
    throw UsageError(fmt::format("{}= does not apply to {}: expected {}", key, what,
                                 expected.empty() ? std::string("none of such keys") : expected));
  }
}

// ---- Addresses ----------------------------------------------------------------------------------

Cell address_from(const Keys& keys) {
  if (!keys.has("address")) return {0, 0};
  const auto word = static_cast<std::uint32_t>(keys.number("address", 0, 0xffffffff));
  const TmemAddress address = decode_tmem_address(word);
  if (const Fault fault = check(address); fault != Fault::None)
    throw FaultError(fault, fmt::format("; address={:#010x} is lane {}, column {}", word,
                                        address.tmem_lane, address.tmem_column));
  return {address.tmem_lane, address.tmem_column};
}

void require_columns(int first, int count, std::string_view what) {
  if (first + count > tmem_columns)
    throw FaultError(Fault::TmemAddressRange,
                     fmt::format("; {} takes {} columns from column {} on", what, count, first));
}

void require_lane(const TmemView& view) {
  const int lane = view.base.tmem_lane;
  const Datapath d = datapath(view.opcode, view.m);
  const bool of_rows = view.matrix == TmemMatrix::D || view.matrix == TmemMatrix::A;
  if (lane == 0 || (of_rows && is_lane_base(d, lane))) return;
  if (!of_rows)
    throw UnmodelledError(fmt::format(
        "not modelled: no source says what lane {} in the address of {} means; expected lane 0",
        lane, name(view.matrix)));
  throw FaultError(fmt::format("the address of {} names lane {}: layout {} begins at lane 0{}",
                               name(view.matrix), lane, name(d),
                               is_half_datapath(d) ? " or 16" : ""));
}

// ---- Views --------------------------------------------------------------------------------------

const MmaOpcode& opcode_of(const Tcgen05Instruction& instruction) {
  return std::get<MmaForm>(instruction.form).opcode;
}

void set_scale_keys(TmemView& view, const Keys& keys) {
  view.k_extent = static_cast<int>(
      keys.number_or("factors", 1, most_factors, static_cast<std::uint64_t>(view.k_extent)));
  if (!keys.has("column_step")) return;
  const int least = view.matrix == TmemMatrix::SFA
                        ? sfa_buffer(view.m, view.opcode.cta_group).column_step
                        : sfb_buffer(view.m, view.n, view.opcode.cta_group).column_step;
  view.column_step =
      static_cast<int>(keys.number("column_step", static_cast<std::uint64_t>(least), tmem_columns));
}

TmemView addressed_view(const Tcgen05Instruction& instruction, TmemMatrix matrix,
                        const Keys& keys) {
  TmemView view = tmem_view(instruction, matrix);
  view.base = address_from(keys);
  if (matrix == TmemMatrix::SFA || matrix == TmemMatrix::SFB) set_scale_keys(view, keys);
  require(view);
  return view;
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

TmemLoad load_of(const Tcgen05Instruction& instruction, const Keys& keys) {
  const TmemLoad load = {std::visit(ToFragment{instruction.half_split}, instruction.form),
                         address_from(keys)};
  if (load.fragment.num == 0)
    throw UsageError(fmt::format("tcgen05.{} has no matrix with places: expected mma, ld or st",
                                 instruction_name(instruction.form)));
  if (!is_lane_base(load.fragment.shape, 0, load.at.tmem_lane))
    throw FaultError(fmt::format(
        "address= names lane {}: expected that of warp 0's load, lane 0{}; the other warps add "
        "their 32 lanes each",
        load.at.tmem_lane, fragment_lanes(load.fragment.shape) == 16 ? " or 16" : ""));
  require_columns(load.at.tmem_column, footprint_columns(load.fragment), "the load");
  return load;
}

bool is_in_smem(const Tcgen05Instruction& instruction, std::string_view matrix) {
  return matrix == "B" || (matrix == "A" && opcode_of(instruction).a_place == Place::Smem);
}

void require_matrix(const Tcgen05Instruction& instruction, std::string_view matrix) {
  const MmaOpcode& op = opcode_of(instruction);
  if (matrix == "C") throw UsageError("C of tcgen05.mma is D: it accumulates in place; expected D");
  if (matrix == "E" && !op.sparse)
    throw UsageError("E is the metadata of sparse forms: expected tcgen05.mma.sp");
  if (matrix.starts_with("SF") && !is_block_scaled(op.kind))
    throw UsageError(fmt::format(
        "kind {} has no scale factors: expected kind mxf8f6f4, mxf4 or mxf4nvf4", name(op.kind)));
}

Tcgen05Place place_from(const Tcgen05Instruction& instruction, std::string_view matrix,
                        const Keys& keys) {
  if (!std::holds_alternative<MmaForm>(instruction.form)) {
    const TmemLoad load = load_of(instruction, keys);
    if (matrix != "D")
      throw UsageError(fmt::format("tcgen05.{} moves cells, not {}: expected D, its registers",
                                   instruction_name(instruction.form), matrix));
    return load;
  }
  require_matrix(instruction, matrix);
  if (!is_in_smem(instruction, matrix))
    return addressed_view(instruction, parse_tmem_matrix(matrix), keys);
  if (!keys.has("desc"))
    throw UsageError(
        fmt::format("{} lies in shared memory: expected desc= with its descriptor word{}", matrix,
                    matrix == "A" ? ", or a=tmem" : ""));
  return smem_view(instruction, matrix == "B", keys.text("desc", ""), "desc=");
}

std::span<const std::string_view> place_keys_of(const Tcgen05Place& place) {
  if (std::holds_alternative<SmemView>(place)) return smem_place_keys;
  if (std::holds_alternative<TmemLoad>(place)) return load_place_keys;
  const TmemMatrix matrix = std::get<TmemView>(place).matrix;
  if (matrix == TmemMatrix::SFA || matrix == TmemMatrix::SFB) return scale_place_keys;
  return tmem_place_keys;
}

std::span<const std::string_view> own_keys_of(const Tcgen05Place& place, const PlaceKeys& keys) {
  if (std::holds_alternative<SmemView>(place)) return keys.of_smem;
  if (std::holds_alternative<TmemLoad>(place)) return keys.of_load;
  return std::get<TmemView>(place).matrix == TmemMatrix::E ? keys.of_metadata : keys.of_tmem;
}

// ---- Notes --------------------------------------------------------------------------------------

void add_note(std::string& notes, std::string_view sentence) {
  if (!sentence.empty()) notes += fmt::format("{}note: {}", notes.empty() ? "" : "\n", sentence);
}

void add_scale_notes(std::string& notes, const Tcgen05Instruction& instruction,
                     const TmemView& view) {
  const int factors = scale_factors(opcode_of(instruction), instruction.idesc);
  if (view.k_extent == factors && scales_spill(factors, view.first_factor))
    add_note(notes,
             "inferred: the instruction reads beyond the four factors of a cell; the others are "
             "taken to lie in the next group of columns");
}

}  // namespace

TmemView tmem_view(const Tcgen05Instruction& instruction, TmemMatrix matrix) {
  const MmaOpcode& op = opcode_of(instruction);
  const InstructionDescriptor& d = instruction.idesc;
  TmemView view{matrix, op, d.m, d.n};
  view.type = matrix == TmemMatrix::D ? d.d : d.a;
  view.selector = d.selector;
  switch (matrix) {
    case TmemMatrix::D: break;
    case TmemMatrix::A: view.k_extent = stored_k(op, d); break;
    case TmemMatrix::E: view.k_extent = metadata_chunks(op.kind); break;
    case TmemMatrix::SFA:
    case TmemMatrix::SFB: {
      const bool is_a = matrix == TmemMatrix::SFA;
      view.k_extent = scale_factors(op, d);
      view.first_factor = is_a ? d.scale_a_id : d.scale_b_id;
      if (scales_spill(view.k_extent, view.first_factor))
        view.column_step = scale_spill_step(is_a ? d.m / op.cta_group : d.n);
      break;
    }
  }
  return view;
}

SmemView smem_view(const Tcgen05Instruction& instruction, bool is_b, std::string_view word,
                   std::string_view key) {
  const std::uint64_t value = parse_number(word, key);
  if (const Fault fault = check_word(value); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {}{:#018x}", key, value));
  const SmemView view = {opcode_of(instruction), instruction.idesc, is_b, decode(value)};
  require(view, key);
  return view;
}

void require(const TmemView& view) {
  if (const Fault fault = check(view); fault != Fault::None) throw FaultError(fault);
  require_lane(view);
  require_columns(view.base.tmem_column, columns(view), name(view.matrix));
}

void require(const SmemView& view, std::string_view key) {
  if (const Fault fault = check(view); fault != Fault::None)
    throw FaultError(fault, fmt::format("; {} of {}", key, view.is_b ? "B" : "A"));
}

Tcgen05Places read_places(const Question& question, const PlaceKeys& own) {
  const std::string_view matrix = matrix_word(question);
  const std::vector<std::string_view> all = all_keys(own);
  const Keys keys(words_from(question, 2), all);
  Tcgen05Instruction instruction = tcgen05_instruction_of(question, keys);
  Tcgen05Place place = place_from(instruction, matrix, keys);
  refuse_others(keys, all, place_keys_of(place), own_keys_of(place, own),
                fmt::format("{} of tcgen05.{}", matrix, instruction_name(instruction.form)));
  return {std::move(instruction), keys, std::move(place)};
}

std::string notes_of(const Tcgen05Places& places) {
  std::string notes;
  if (const auto* tmem = std::get_if<TmemView>(&places.place)) {
    add_note(notes, doubt(*tmem));
    if (tmem->matrix == TmemMatrix::SFA || tmem->matrix == TmemMatrix::SFB)
      add_scale_notes(notes, places.instruction, *tmem);
  }
  if (const auto* smem = std::get_if<SmemView>(&places.place))
    add_note(notes, container_text(*smem));
  return notes;
}

Answer with_notes(const Tcgen05Places& places, std::string text, Style style) {
  const std::string notes = notes_of(places);
  if (notes.empty()) return {Status::Yes, std::move(text), ""};
  if (style == Style::Text) return {Status::Yes, text + "\n" + notes, ""};
  return {Status::Yes, std::move(text), notes};
}

}  // namespace tcq::oracle
