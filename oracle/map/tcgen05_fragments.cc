// The verbs where, what, equation and bytes for tcgen05.
//
// Reading the question is tcgen05_places.h, words for places are the three views, the sum behind an
// output is tcgen05_inputs.h, tables are tcgen05_table.cc.
#include "oracle/map/tcgen05_fragments.h"

#include <fmt/format.h>

#include "oracle/map/tcgen05_inputs.h"
#include "oracle/map/tcgen05_places.h"
#include "oracle/ptx/mnemonic.h"
#include "sim/isa/tmem/operand.h"

namespace tcq::oracle {
namespace {

using tcgen05::Cell;
using tcgen05::Element;

constexpr std::array<std::string_view, 5> where_tmem_keys = {"row", "col", "desc_a", "desc_b",
                                                             "terms"};
constexpr std::array<std::string_view, 2> where_metadata_keys = {"row", "chunk"};
constexpr std::array<std::string_view, 2> where_smem_keys = {"row", "col"};
constexpr std::array<std::string_view, 2> where_load_keys = {"tmem_lane", "tmem_column"};
constexpr std::array<std::string_view, 3> what_tmem_keys = {"tmem_lane", "tmem_column", "cta"};
constexpr std::array<std::string_view, 2> what_load_keys = {"thread", "reg"};

constexpr int threads_of_load = 128;

int number(const Keys& keys, std::string_view key, int extent) {
  return static_cast<int>(keys.number(key, 0, static_cast<std::uint64_t>(extent) - 1));
}

Cell cell_from(const Keys& keys) {
  return {number(keys, "tmem_lane", tcgen05::tmem_lanes),
          number(keys, "tmem_column", tcgen05::tmem_columns)};
}

// ---- --inputs -----------------------------------------------------------------------------------

void refuse_input_keys(const Question& question, const Keys& keys) {
  for (const std::string_view key : {"desc_a", "desc_b", "terms"})
    if (keys.has(key) && !question.options.inputs)
      throw UsageError(fmt::format("{}= describes the inputs: expected --inputs with it", key));
}

TmemInputs inputs_from(const Tcgen05Places& places, const TmemView& d) {
  const Tcgen05Instruction& instruction = places.instruction;
  const Keys& keys = places.keys;
  if (d.opcode.sparse)
    throw UnmodelledError(
        "not modelled: --inputs writes the sums of dense forms; which B a stored element of A "
        "meets, its metadata says: 'tcq where MNEMONIC E'");
  const auto terms = static_cast<int>(keys.number_or("terms", 1, 1024, 1024));
  TmemInputs inputs{d, tcgen05::k(d.opcode, instruction.idesc)};
  inputs.terms = terms;
  inputs.accumulate = instruction.accumulate;
  inputs.negate_a = instruction.idesc.negate_a;
  inputs.negate_b = instruction.idesc.negate_b;
  const bool a_in_tmem = d.opcode.a_place == tcgen05::Place::Tmem;
  if (keys.has("desc_a") && a_in_tmem)
    throw UsageError("desc_a= describes shared memory, but A lies in Tensor Memory: expected none");
  if (a_in_tmem) {
    inputs.a = tmem_view(instruction, TmemMatrix::A);
    require(*inputs.a);
  }
  if (keys.has("desc_a"))
    inputs.smem_a = smem_view(instruction, false, keys.text("desc_a", ""), "desc_a=");
  if (keys.has("desc_b"))
    inputs.smem_b = smem_view(instruction, true, keys.text("desc_b", ""), "desc_b=");
  if (is_block_scaled(d.opcode.kind)) {
    inputs.sfa = tmem_view(instruction, TmemMatrix::SFA);
    inputs.sfb = tmem_view(instruction, TmemMatrix::SFB);
  }
  return inputs;
}

std::string with_inputs(const Tcgen05Places& places, const TmemView& view, Element e, Style style) {
  const TmemInputs inputs = inputs_from(places, view);
  if (style != Style::Json) return where_text(view, e) + " = " + inputs_text(inputs, e);
  std::string text = where_json(view, e);
  text.back() = ',';
  return text + "\"inputs\":" + inputs_json(inputs, e) + "}";
}

// ---- where --------------------------------------------------------------------------------------

struct Where {
  const Question& question;
  const Tcgen05Places& places;

  bool json() const { return question.options.style == Style::Json; }

  Answer operator()(const TmemView& view) const {
    const Keys& keys = places.keys;
    const bool is_d = view.matrix == TmemMatrix::D;
    if (!is_d && keys.has("terms"))
      throw UsageError("terms= describes the inputs of an output: expected matrix D");
    if (question.options.inputs && !is_d)
      throw UsageError(
          fmt::format("--inputs explains outputs: expected matrix D, not {}", name(view.matrix)));
    refuse_input_keys(question, keys);
    const Element e = {number(keys, "row", rows(view)),
                       number(keys, view.matrix == TmemMatrix::E ? "chunk" : "col", cols(view))};
    std::string text = question.options.inputs
                           ? with_inputs(places, view, e, question.options.style)
                       : json() ? where_json(view, e)
                                : where_text(view, e);
    return with_notes(places, std::move(text), question.options.style);
  }

  Answer operator()(const SmemView& view) const {
    refuse_inputs();
    const Element e = {number(places.keys, "row", rows(view)),
                       number(places.keys, "col", cols(view))};
    return with_notes(places, json() ? where_json(view, e) : where_text(view, e),
                      question.options.style);
  }

  Answer operator()(const TmemLoad& load) const {
    refuse_inputs();
    const Cell cell = cell_from(places.keys);
    const std::string registers = register_text(load, cell);
    if (registers.empty())
      return {Status::No, "",
              fmt::format("no warp of the load reads tmem_lane {}, tmem_column {}", cell.tmem_lane,
                          cell.tmem_column)};
    return {Status::Yes,
            json() ? register_json(load, cell)
                   : fmt::format("tmem_lane {}, tmem_column {} = {}", cell.tmem_lane,
                                 cell.tmem_column, registers),
            ""};
  }

  void refuse_inputs() const {
    if (question.options.inputs)
      throw UsageError("--inputs explains outputs: expected matrix D of tcgen05.mma");
  }
};

// ---- what ---------------------------------------------------------------------------------------

struct What {
  const Question& question;
  const Tcgen05Places& places;

  bool json() const { return question.options.style == Style::Json; }

  Answer operator()(const TmemView& view) const {
    const Cell cell = cell_from(places.keys);
    const int cta = static_cast<int>(
        places.keys.number_or("cta", 0, static_cast<std::uint64_t>(view.opcode.cta_group) - 1, 0));
    const std::string text = what_text(view, cta, cell);
    if (elements_in(view, cta, cell).empty()) return {Status::No, "", text};
    return with_notes(places, json() ? what_json(view, cta, cell) : text, question.options.style);
  }

  Answer operator()(const SmemView& view) const {
    throw UsageError(
        fmt::format("{} lies in shared memory: expected D, E, SFA, SFB, A with a=tmem, or 'tcq "
                    "bytes' for what lies in shared memory",
                    view.is_b ? "B" : "A"));
  }

  Answer operator()(const TmemLoad& load) const {
    const int thread = number(places.keys, "thread", threads_of_load);
    const int reg = number(places.keys, "reg", registers(load.fragment));
    return {Status::Yes, json() ? cell_json(load, thread, reg) : cell_text(load, thread, reg), ""};
  }
};

EquationLines lines_of(const TmemView& view) { return equation_of(view); }
EquationLines lines_of(const SmemView& view) { return equation_of(view); }

// The other warps' lanes, and the address.
EquationLines lines_of(const TmemLoad& load) {
  EquationLines lines = {{"lane", "thread%32"}};
  for (const auto& [label, expression] : equation_of(load.fragment)) {
    const bool is_lane = label == "tmem_lane";
    if (!is_lane && label != "tmem_column") continue;
    const int from = is_lane ? load.at.tmem_lane : load.at.tmem_column;
    const std::string warp = is_lane ? " + 32*(thread/32)" : "";
    lines.emplace_back(label, expression + warp + (from == 0 ? "" : fmt::format(" + {}", from)));
  }
  lines.push_back(equation_of(load.fragment).back());
  return lines;
}

}  // namespace

Answer where_tcgen05(const Question& question) {
  const Tcgen05Places places = read_places(
      question, {where_tmem_keys, where_metadata_keys, where_smem_keys, where_load_keys});
  return std::visit(Where{question, places}, places.place);
}

Answer what_tcgen05(const Question& question) {
  const Tcgen05Places places =
      read_places(question, {what_tmem_keys, what_tmem_keys, what_tmem_keys, what_load_keys});
  return std::visit(What{question, places}, places.place);
}

Answer equation_tcgen05(const Question& question) {
  const Tcgen05Places places = read_places(question, {});
  const EquationLines lines =
      std::visit([](const auto& place) { return lines_of(place); }, places.place);
  const Style style = question.options.style;
  return with_notes(places, style == Style::Json ? equation_json(lines) : equation_text(lines),
                    style);
}

Answer bytes_tcgen05(const Question& question) {
  const Tcgen05Places places = read_places(question, {});
  const auto* view = std::get_if<SmemView>(&places.place);
  if (view == nullptr)
    throw UsageError(fmt::format(
        "{} does not lie in shared memory: expected B, or A without a=tmem", question.words[1]));
  const Table table = bytes_of(*view);
  const Options& options = question.options;
  return {Status::Yes, render(options.transpose ? transposed(table) : table, options.style),
          notes_of(places)};
}

}  // namespace tcq::oracle
