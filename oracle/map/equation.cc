// The verb equation: the closed form of a matrix's places, both directions, and its CuTe strings.
//
// Everything is derived from the maps of sim/isa by linear_map.h; nothing here knows a layout.
#include <fmt/format.h>

#include "oracle/answer/verbs.h"
#include "oracle/map/equation_text.h"
#include "oracle/map/linear_map.h"
#include "oracle/map/tcgen05_fragments.h"
#include "oracle/map/view.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;

const std::string cute_label = "CuTe (thread, value) -> row + 64*col";
const std::string logical_cute_label = "CuTe (thread, value) -> row + 64*k";
constexpr int largest_n = 256;

int largest_registers(const View& view) {
  const bool accumulator = view.matrix == Matrix::C || view.matrix == Matrix::D;
  return accumulator ? wgmma::accumulator_registers(view.type, largest_n) : view.registers;
}

Input thread_input() {
  return {"thread", wgmma::threads_per_warpgroup, wgmma::threads_per_warpgroup};
}

ClosedForm fragment_form(const View& view) {
  return closed_form({thread_input(),
                      {"part", view.parts, view.parts},
                      {"reg", view.registers, largest_registers(view)}},
                     [&view](std::span<const int> v) {
                       return element_of(view, {v[0], v[2], v[1]});
                     });
}

// The same with every stored element spread over the logical elements it stands for.
ClosedForm logical_form(const View& view) {
  const int spread = k(view.instruction.form) / view.cols;
  return closed_form({thread_input(),
                      {"j", spread, spread},
                      {"part", view.parts, view.parts},
                      {"reg", view.registers, view.registers}},
                     [&view, spread](std::span<const int> v) {
                       const Element e = element_of(view, {v[0], v[3], v[2]});
                       return Element{e.row, e.col * spread + v[1]};
                     });
}

EquationLines fragment_lines(const View& view) {
  const ClosedForm form = fragment_form(view);
  const Element extents{view.rows, view.cols};
  EquationLines lines = {{"row", forward_expression(form, &Element::row)},
                         {"col", forward_expression(form, &Element::col)},
                         {"thread", inverse_expression(form, 0, extents, "col", "")},
                         {"reg", inverse_expression(form, 2, extents, "col", "")}};
  if (view.parts > 1) lines.push_back({"part", inverse_expression(form, 1, extents, "col", "")});
  lines.push_back({cute_label, cute_string(form, view.rows)});
  if (view.matrix == Matrix::A && view.instruction.form.sparse)
    lines.push_back({logical_cute_label, cute_string(logical_form(view), view.rows)});
  return lines;
}

// E: columns are logical k, and a code's bits count as one value per logical element.
EquationLines metadata_lines(const View& view) {
  const int step = col_step(view);
  const Element extents{view.rows, view.cols * step};
  const ClosedForm form = closed_form({thread_input(), {"nibble", view.parts, view.parts}},
                                      [&view, step](std::span<const int> v) {
                                        const Element e = element_of(view, {v[0], 0, v[1]});
                                        return Element{e.row, e.col * step};
                                      });
  const ClosedForm per_k =
      closed_form({thread_input(), {"j", step, step}, {"nibble", view.parts, view.parts}},
                  [&view, step](std::span<const int> v) {
                    const Element e = element_of(view, {v[0], 0, v[2]});
                    return Element{e.row, e.col * step + v[1]};
                  });
  EquationLines lines = {{"row", forward_expression(form, &Element::row)},
                         {"k", forward_expression(form, &Element::col)},
                         {"thread", inverse_expression(form, 0, extents, "k", "selector")},
                         {"nibble", inverse_expression(form, 1, extents, "k", "")}};
  lines.push_back({"low bit", fmt::format("{}*nibble", wgmma::metadata_code_bits)});
  const std::string idle = idle_expression(form, 0);
  lines.push_back({"threads read", idle.empty() ? "all" : idle + " == selector"});
  lines.push_back({logical_cute_label, cute_string(per_k, view.rows)});
  return lines;
}

// Bytes in shared memory: one linear offset, then the swizzle.
EquationLines memory_lines(const View& view) {
  const CanonicalLayout layout = wgmma::canonical_layout(view.desc, view.major);
  const bool is_b = view.matrix == Matrix::B;
  const ClosedForm form = closed_form(
      {{"row", view.rows, view.rows}, {"col", view.cols, view.cols}}, [&](std::span<const int> v) {
        const auto row = static_cast<std::uint32_t>(v[0]);
        const auto col = static_cast<std::uint32_t>(v[1]);
        const wgmma::OperandElement at =
            is_b ? wgmma::OperandElement{col, row} : wgmma::OperandElement{row, col};
        const OperandByte byte = wgmma::operand_byte(view.major, view.type, at);
        return Element{static_cast<int>(offset_bytes(layout, byte)), 0};
      });
  const SwizzleFunction f = swizzle_function(view.desc.swizzle);
  EquationLines lines = {{"x", fmt::format("{} + {}", view.desc.start_bytes,
                                           forward_expression(form, &Element::row))}};
  lines.push_back({"byte", swizzled_expression(f, view.desc.base_offset)});
  lines.push_back(
      {"CuTe (row, col) -> byte offset", cute_swizzle(f) + " o " + cute_string(form, 1)});
  return lines;
}

}  // namespace

Answer equation(const Question& question) {
  if (is_tcgen05(word_at(question, 0, "MNEMONIC MATRIX"))) return equation_tcgen05(question);
  const Matrix matrix = parse_matrix(word_at(question, 1, "a matrix, A, B, C, D or E"));
  const Keys keys(words_from(question, 2), instruction_keys, {"desc"});
  const View view = placed_view_of(instruction_of(question, keys), matrix, keys);
  const EquationLines lines = view.is_metadata()    ? metadata_lines(view)
                              : view.in_registers() ? fragment_lines(view)
                                                    : memory_lines(view);
  return {Status::Yes,
          question.options.style == Style::Json ? equation_json(lines) : equation_text(lines), ""};
}

}  // namespace tcq::oracle
