// The verb equation: closed forms of a Map, in both directions, and its CuTe strings.
//
// Everything is derived from the Map by closed_form.h; nothing here knows a layout. Registers are
// written from place to element and back, Tensor Memory from element to place (D back as well), shared
// memory as one linear offset and the swizzle.
#include "oracle/map/equation.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle/answer/verbs.h"
#include "oracle/map/asked.h"
#include "oracle/map/closed_form.h"
#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

constexpr int tmem_lanes = 128;

Input input_of(const Axis& axis) {
  return {symbol(axis), axis.extent, std::max(axis.extent, axis.largest)};
}

// The element as tables count it: E of wgmma has a k.
Coords counted_element(const Map& map, const Coords& element) {
  Coords result{};
  for (std::size_t i = 0; i < map.element.size(); ++i)
    result[i] = counted(map.element[i], element[i]);
  return result;
}

// ---- Registers ----------------------------------------------------------------------------------

// Inputs of registers, in the order in which CuTe counts values: thread, (j,) part, register.
std::vector<Input> register_inputs(const Map& map, int spread) {
  const Axis& thread = map.place[0];
  const bool of_warp = is_of_cells(map);
  std::vector<Input> inputs = {of_warp ? Input{"lane", lanes_per_warp, lanes_per_warp}
                                       : input_of(thread)};
  inputs.push_back({"j", spread, spread});
  inputs.push_back(input_of(map.place[2]));
  inputs.push_back(input_of(map.place[1]));
  return inputs;
}

// With every element spread over the logical ones along K that it stands for; 1: not.
ClosedForm register_form(const Map& map, int spread) {
  return closed_form(register_inputs(map, spread), [&map, spread](std::span<const int> v) {
    const Coords e = map.element_at({v[0], v[3], v[2]});
    if (spread == 1) return counted_element(map, e);
    return Coords{e[0], e[1] * spread + v[1]};
  });
}

// "row + 64*col", and what to multiply the outputs by: the last axis but one runs fastest, the last one
// next, what is before them slowest.
struct Flattened {
  std::string text;
  Coords weights{};
};

Flattened flattened(const Map& map, std::string_view col) {
  const std::size_t count = map.element.size();
  Flattened flat;
  int weight = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i == 0 ? count - 2 : i == 1 ? count - 1 : count - 1 - i;
    const std::string_view name = at == count - 1 ? col : symbol(map.element[at]);
    flat.text += i == 0 ? std::string(name) : fmt::format(" + {}*{}", weight, name);
    flat.weights[at] = weight;
    weight *= map.element[at].extent;
  }
  return flat;
}

void add_cute(EquationLines& lines, const Map& map, const ClosedForm& form, std::string_view col) {
  const Flattened flat = flattened(map, col);
  lines.emplace_back(fmt::format("CuTe ({}, value) -> {}", form.inputs[0].name, flat.text),
                     cute_string(form, flat.weights));
}

// Lanes of one warp, from the address on; the other warps have the same in their lanes.
EquationLines lines_of_cells(const Map& map) {
  ClosedForm form = register_form(map, 1);
  const Coords address = form.origin;
  form.origin = {};
  EquationLines lines = {{"lane", fmt::format("thread%{}", lanes_per_warp)}};
  for (std::size_t i = 0; i < 2; ++i)
    lines.emplace_back(map.element[i].name,
                       forward_expression(form, i) + (i == 0 ? " + 32*(thread/32)" : "") +
                           (address[i] == 0 ? "" : fmt::format(" + {}", address[i])));
  add_cute(lines, map, form, map.element[1].name);
  return lines;
}

std::string offset_text(const Axis& axis) {
  return axis.first == 0 ? "" : fmt::format(" + {}", axis.first);
}

EquationLines lines_of_registers(const Map& map) {
  if (is_of_cells(map)) return lines_of_cells(map);
  const bool metadata = map.space == Space::Metadata;
  ClosedForm form = register_form(map, 1);
  const Axis& part = map.place[2];
  const std::string counted_part = fmt::format("({} - {})", symbol(part), part.first);
  if (!metadata && part.first != 0) form.inputs[2].name = counted_part;
  std::vector<Input> outputs;
  for (const Axis& axis : map.element)
    outputs.push_back({symbol(axis), axis.extent * axis.step, axis.extent * axis.step});
  EquationLines lines;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    lines.emplace_back(outputs[i].name, forward_expression(form, i));
  const std::array<const Axis*, 4> places = {&map.place[0], nullptr, &map.place[2], &map.place[1]};
  for (const std::size_t i : {0u, 3u, 2u})
    if (form.inputs[i].largest_extent > 1)
      lines.emplace_back(symbol(*places[i]),
                         inverse_expression(form, i, outputs, metadata ? "selector" : "thread_id") +
                             offset_text(*places[i]));
  if (metadata) {
    lines.emplace_back("low bit", fmt::format("{}*{}", map.bits, symbol(map.place[2])));
    const std::string idle = idle_expression(form, 0);
    lines.emplace_back("threads read", idle.empty() ? "all" : idle + " == selector");
  } else {
    add_cute(lines, map, form, outputs.back().name);
  }
  if (map.spread > 1) add_cute(lines, map, register_form(map, map.spread), "k");
  return lines;
}

// ---- Memory -------------------------------------------------------------------------------------

int extent_in_cta(const Axis& axis) { return axis.extent / axis.ctas; }

// A pair of CTAs shares an axis; everything below counts in one CTA.
EquationLines cta_lines(const Map& map) {
  EquationLines lines;
  for (const Axis& axis : map.element) {
    if (axis.ctas == 1) continue;
    const std::string_view index = symbol(axis);
    lines.emplace_back("cta", fmt::format("whole_{}/{}", index, extent_in_cta(axis)));
    lines.emplace_back(fmt::format("{} in the CTA", index),
                       fmt::format("whole_{}%{}", index, extent_in_cta(axis)));
  }
  return lines;
}

// An index that a layout cuts into pieces of `width`, which need not be a power of two.
struct CutIndex {
  std::string low_name;
  std::string high_name;
  int width;
  int pieces;
};

CutIndex cut(const Axis& axis) {
  const std::string index(symbol(axis));
  const int width = extent_in_cta(axis) / axis.pieces;
  if (axis.pieces == 1) return {index, "", width, 1};
  return {fmt::format("{}%{}", index, width), fmt::format("{}/{}", index, width), width,
          axis.pieces};
}

Input low(const CutIndex& index) { return {index.low_name, index.width, index.width}; }
Input high(const CutIndex& index) { return {index.high_name, index.pieces, index.pieces}; }

// D's cells name its elements, too; columns count from its address.
void add_inverse(EquationLines& lines, const Map& map, int first_column) {
  const Axis& bit = map.place[3];
  const int width = map.element[1].extent / map.element[1].pieces / bit.extent;
  const std::string part = fmt::format("low_bit/{}", bit.step);
  const ClosedForm form = closed_form({{"tmem_lane", tmem_lanes, tmem_lanes},
                                       {"tmem_column", width, width},
                                       {part, bit.extent, bit.extent}},
                                      [&](std::span<const int> v) {
                                        return map.element_at({0, v[0], v[1] + first_column, v[2]});
                                      });
  lines.emplace_back("row", forward_expression(form, 0));
  lines.emplace_back("col", forward_expression(form, 1));
}

EquationLines lines_of_tensor_memory(const Map& map) {
  const CutIndex row = cut(map.element[0]);
  const CutIndex col = cut(map.element[1]);
  const std::vector<Coords> first = map.places({0, 0});
  const int copies = static_cast<int>(first.size());
  const ClosedForm form = closed_form(
      {low(row), high(row), low(col), high(col), {"copy", copies, copies}},
      [&](std::span<const int> v) {
        Coords at = map.places(
            {v[0] + row.width * v[1], v[2] + col.width * v[3]})[static_cast<std::size_t>(v[4])];
        at[3] = value(map.place[3], at[3]);
        return at;
      });
  EquationLines lines = cta_lines(map);
  lines.emplace_back("tmem_lane", forward_expression(form, 1));
  lines.emplace_back("tmem_column", forward_expression(form, 2));
  if (map.bits != 32) lines.emplace_back("low_bit", forward_expression(form, 3));
  if (copies > 1) lines.emplace_back("copy", fmt::format("0 to {}", copies - 1));
  if (map.matrix != "D") return lines;
  add_inverse(lines, map, first[0][2]);
  if (!is_accumulator(map)) return lines;
  const ClosedForm for_cute =
      closed_form({low(row), low(col), high(col)}, [&](std::span<const int> v) {
        return map.places({v[0], v[1] + col.width * v[2]})[0];
      });
  lines.emplace_back("CuTe (row, col) -> tmem_lane + 128*tmem_column",
                     cute_string(for_cute, {0, 1, tmem_lanes, 0}));
  return lines;
}

EquationLines lines_of_shared_memory(const Map& map) {
  const Addressing& shared = *map.addressing;
  if (!shared.is_linear)
    throw UnmodelledError(
        "no closed form is written for an absolute LBO: the bytes beyond a 128-byte line lie at an "
        "address of their own; expected 'tcq table' or 'tcq bytes'");
  const bool narrow = map.bits < 8;
  const CutIndex row = cut(map.element[0]);
  const int width = extent_in_cta(map.element[1]);
  std::vector<Input> inputs = {low(row), {"col", width, width}};
  if (row.pieces > 1) inputs.push_back(high(row));
  const ClosedForm form = closed_form(std::move(inputs), [&](std::span<const int> v) {
    const int first = row.pieces > 1 ? row.width * v[2] : 0;
    return Coords{shared.linear_bit({first + v[0], v[1]}) / (narrow ? 1 : 8)};
  });
  const std::string offset = forward_expression(form, 0);
  const SwizzleFunction& f = shared.swizzle;
  EquationLines lines = cta_lines(map);
  if (narrow) lines.emplace_back("bit", offset);
  lines.emplace_back("x", fmt::format("{} + {}", shared.start_bytes, narrow ? "bit/8" : offset));
  lines.emplace_back("byte", swizzled_expression(f, shared.base_offset));
  if (narrow) lines.emplace_back("low_bit", "bit%8");
  const SwizzleFunction of_bits = {f.bits, f.base + 3, f.shift};
  lines.emplace_back(fmt::format("CuTe (row, col) -> {} offset", narrow ? "bit" : "byte"),
                     cute_swizzle(narrow ? of_bits : f) + " o " + cute_string(form, {1}));
  return lines;
}

// ---- The answer ---------------------------------------------------------------------------------

bool is_cute(const std::string& label) { return label.starts_with("CuTe"); }

std::string text_of(const EquationLines& lines) {
  std::string text;
  for (const auto& [label, expression] : lines)
    text += fmt::format("{}{}{} {}", text.empty() ? "" : "\n", label, is_cute(label) ? ":" : " =",
                        expression);
  return text;
}

// Labels with _ for blanks, "cute" for CuTe strings and "cute_logical_k" for those that go to logical k.
Value value_of(const EquationLines& lines) {
  Value::Members members;
  for (const auto& [label, expression] : lines) {
    std::string key = label;
    std::replace(key.begin(), key.end(), ' ', '_');
    if (is_cute(label)) key = label.ends_with("*k") ? "cute_logical_k" : "cute";
    members.push_back({std::move(key), expression});
  }
  return members;
}

}  // namespace

EquationLines equation_of(const Map& map) {
  switch (map.space) {
    case Space::Registers:
    case Space::Metadata: return lines_of_registers(map);
    case Space::TensorMemory: return lines_of_tensor_memory(map);
    case Space::SharedMemory: break;
  }
  return lines_of_shared_memory(map);
}

Answer equation(const Question& question) {
  const Map map = read_map(question, Ask::Whole).map;
  const EquationLines lines = equation_of(map);
  const Style style = question.options.style;
  return with_notes(map, style == Style::Json ? json_text(value_of(lines)) : text_of(lines), style);
}

}  // namespace tcq::oracle
