// Places of A and B in shared memory, read from sim/isa and put into words; see tcgen05_smem_view.h.
#include "oracle/map/tcgen05_smem_view.h"

#include <fmt/format.h>

#include "oracle/answer/answer.h"
#include "oracle/answer/json.h"
#include "oracle/map/linear_map.h"
#include "sim/isa/tcgen05/shape.h"

namespace tcq::oracle {
namespace {

using tcgen05::Element;
using tcgen05::ElementPlace;
using tcgen05::OperandElement;
using Axes = wgmma::Element;  // linear_map's pair

Major major_of(const SmemView& view) { return view.is_b ? view.idesc.major_b : view.idesc.major_a; }

// Rows of A or columns of B that one CTA holds.
int mn_per_cta(const SmemView& view) {
  return (view.is_b ? view.idesc.n : view.idesc.m) / view.opcode.cta_group;
}

int k_extent(const SmemView& view) { return view.is_b ? rows(view) : cols(view); }

bool is_narrow(const SmemView& view) { return bits(type_of(view)) < 8; }

// An element of one CTA's operand.
ElementPlace local_place(const SmemView& view, int mn, int k) {
  return element_place(view.desc, major_of(view), view.opcode.kind, type_of(view),
                       {static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)});
}

std::string bits_text(const SmemView& view, SmemPlace at) {
  if (!is_narrow(view)) return "";
  return fmt::format(", bits [{},{})", at.low_bit,
                     at.low_bit + static_cast<std::uint32_t>(bits(type_of(view))));
}

std::string cta_text(const SmemView& view, int cta) {
  return view.opcode.cta_group == 1 ? "" : fmt::format(" of CTA {}'s shared memory", cta);
}

std::vector<std::string> list_line(const SmemView& view, Element e) {
  const SmemPlace at = place_of(view, e);
  std::vector<std::string> line = {std::to_string(e.row), std::to_string(e.col),
                                   std::to_string(at.byte)};
  if (is_narrow(view)) line.push_back(std::to_string(at.low_bit));
  if (view.opcode.cta_group == 2) line.push_back(std::to_string(at.cta));
  return line;
}

// Bits from the start to an element before swizzling, which is linear for every type: 6-bit
// elements straddle bytes, so bytes are not.
int linear_bit(const SmemView& view, int mn, int k) {
  const bool k_major = major_of(view) == Major::K;
  const auto bit = tcgen05::contiguous_bit(view.opcode.kind, type_of(view),
                                           static_cast<std::uint32_t>(k_major ? k : mn));
  const OperandByte at = k_major ? OperandByte{static_cast<std::uint32_t>(mn), bit / 8}
                                 : OperandByte{bit / 8, static_cast<std::uint32_t>(k)};
  const std::uint32_t byte = linear_address(view.desc, major_of(view), at) - view.desc.start_bytes;
  return static_cast<int>(8 * byte + bit % 8);
}

ClosedForm linear_form(const SmemView& view, int unit_bits) {
  const int mn = mn_per_cta(view);
  const int k = k_extent(view);
  const int height = view.is_b ? k : mn;
  const int width = view.is_b ? mn : k;
  return closed_form({{"row", height, height}, {"col", width, width}}, [&](std::span<const int> v) {
    const int bit = view.is_b ? linear_bit(view, v[1], v[0]) : linear_bit(view, v[0], v[1]);
    return Axes{bit / unit_bits, 0};
  });
}

void add_cta(EquationLines& lines, const SmemView& view) {
  if (view.opcode.cta_group == 1) return;
  const char* index = view.is_b ? "col" : "row";
  lines.emplace_back("cta", fmt::format("whole_{}/{}", index, mn_per_cta(view)));
  lines.emplace_back(fmt::format("{} in the CTA", index),
                     fmt::format("whole_{}%{}", index, mn_per_cta(view)));
}

}  // namespace

Type type_of(const SmemView& view) { return view.is_b ? view.idesc.b : view.idesc.a; }

int rows(const SmemView& view) { return view.is_b ? k(view.opcode, view.idesc) : view.idesc.m; }

int cols(const SmemView& view) {
  return view.is_b ? view.idesc.n : stored_k(view.opcode, view.idesc);
}

Fault check(const SmemView& view) {
  return check_operand(view.desc, view.opcode.kind, type_of(view), major_of(view));
}

SmemPlace place_of(const SmemView& view, Element e) {
  const int mn = view.is_b ? e.col : e.row;
  const int per_cta = mn_per_cta(view);
  const ElementPlace at = local_place(view, mn % per_cta, view.is_b ? e.row : e.col);
  return {mn / per_cta, at.byte, at.bit};
}

std::string container_text(const SmemView& view) {
  if (!is_narrow(view)) return "";
  const Type type = type_of(view);
  if (!is_padded(view.opcode.kind, type))
    return fmt::format(
        "{} of kind {} is packed: two elements to a byte, the even one in the low "
        "half",
        tcq::name(type), name(view.opcode.kind));
  const int bytes = 16 * bits(type) / 8;
  return fmt::format(
      "{} of kind {} is padded: 16 elements of {} bits fill the first {} of every 16 bytes, the "
      "other {} are not read",
      tcq::name(type), name(view.opcode.kind), bits(type), bytes, 16 - bytes);
}

std::string element_text(const SmemView& view, Element e) {
  return fmt::format("{}[{}][{}]", view.is_b ? "B" : "A", e.row, e.col);
}

std::string place_text(const SmemView& view, Element e) {
  const SmemPlace at = place_of(view, e);
  return fmt::format("byte {:#x}{}{}", at.byte, bits_text(view, at), cta_text(view, at.cta));
}

std::string where_text(const SmemView& view, Element e) {
  return element_text(view, e) + " = " + place_text(view, e);
}

std::string where_json(const SmemView& view, Element e) {
  const SmemPlace at = place_of(view, e);
  return json_object({{"matrix", json_string(view.is_b ? "B" : "A")},
                      {"row", std::to_string(e.row)},
                      {"col", std::to_string(e.col)},
                      {"cta", std::to_string(at.cta)},
                      {"byte", std::to_string(at.byte)},
                      {"low_bit", std::to_string(at.low_bit)},
                      {"bits", std::to_string(bits(type_of(view)))}});
}

Table grid_of(const SmemView& view) {
  Table table;
  table.header.push_back(fmt::format("{}[{}][{}]", view.is_b ? "B" : "A", rows(view), cols(view)));
  for (int col = 0; col < cols(view); ++col) table.header.push_back(std::to_string(col));
  for (int row = 0; row < rows(view); ++row) {
    std::vector<std::string> line = {std::to_string(row)};
    for (int col = 0; col < cols(view); ++col) {
      const SmemPlace at = place_of(view, {row, col});
      line.push_back(is_narrow(view) ? fmt::format("{:#x}.{}", at.byte, at.low_bit)
                                     : fmt::format("{:#x}", at.byte));
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

Table list_of(const SmemView& view, bool by_columns) {
  Table table{{"row", "col", "byte"}, {}};
  if (is_narrow(view)) table.header.push_back("bit");
  if (view.opcode.cta_group == 2) table.header.push_back("cta");
  const int outer = by_columns ? cols(view) : rows(view);
  const int inner = by_columns ? rows(view) : cols(view);
  for (int i = 0; i < outer; ++i)
    for (int j = 0; j < inner; ++j)
      table.rows.push_back(list_line(view, by_columns ? Element{j, i} : Element{i, j}));
  return table;
}

Table bytes_of(const SmemView& view) {
  Table table{{"mn", "k", "byte"}, {}};
  if (is_narrow(view)) table.header.push_back("bit");
  for (int mn = 0; mn < mn_per_cta(view); ++mn) {
    for (int k = 0; k < k_extent(view); ++k) {
      const ElementPlace at = local_place(view, mn, k);
      table.rows.push_back({std::to_string(mn), std::to_string(k), std::to_string(at.byte)});
      if (is_narrow(view)) table.rows.back().push_back(std::to_string(at.bit));
    }
  }
  return table;
}

EquationLines equation_of(const SmemView& view) {
  if (view.desc.lbo_absolute)
    throw UnmodelledError(
        "no closed form is written for an absolute LBO: the bytes beyond a 128-byte line lie at an "
        "address of their own; expected 'tcq table' or 'tcq bytes'");
  EquationLines lines;
  add_cta(lines, view);
  const bool narrow = is_narrow(view);
  const SwizzleFunction f = swizzle_function(view.desc.swizzle);
  const ClosedForm form = linear_form(view, narrow ? 1 : 8);
  const std::string offset = forward_expression(form, &Axes::row);
  if (narrow) lines.emplace_back("bit", offset);
  lines.emplace_back("x", fmt::format("{} + {}", view.desc.start_bytes, narrow ? "bit/8" : offset));
  lines.emplace_back("byte", swizzled_expression(f, view.desc.base_offset));
  if (narrow) lines.emplace_back("low_bit", "bit%8");
  const SwizzleFunction of_bits = {f.bits, f.base + 3, f.shift};
  lines.emplace_back(fmt::format("CuTe (row, col) -> {} offset", narrow ? "bit" : "byte"),
                     cute_swizzle(narrow ? of_bits : f) + " o " + cute_string(form, 1));
  return lines;
}

}  // namespace tcq::oracle
