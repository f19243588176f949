// The verb diff: two layouts of the same matrix in registers, where they differ and what joins them.
//
// An accumulator becomes the A of the next instruction (attention, chains of GEMMs): either every element
// stays in its thread, then registers are packed and nothing else; or elements change threads, then the
// answer says how far, and whether a permutation of the columns (of K, if B's rows are read in the same
// order) keeps them at home. Layouts are told apart by their opcodes, as they come in one line. The Maps
// are asked.h's, nothing here knows a layout. What tcgen05.ld loads is taken for a matrix whose rows are
// the lanes that are read, a cell an element; what ldmatrix loads has the width of what it is compared
// with, as it moves bits: its 16 are two elements of fp8, or half a tf32 one. Example: D of wgmma.m64n64k16 with f32, and A of the same with bf16: A
// register 0 is D registers 0 and 1.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "oracle/answer/verbs.h"
#include "oracle/map/asked.h"
#include "oracle/map/units.h"

namespace tcq::oracle {
namespace {

constexpr int lanes_per_quad = 4;
constexpr std::string_view expected = "two layouts, each MNEMONIC MATRIX [keys]";

// ---- Layouts ------------------------------------------------------------------------------------

// A matrix of rows and columns in the registers of threads.
struct Layout {
  std::string title;
  std::string matrix;
  int rows, cols, bits;
  std::function<Coords(int row, int col)> place;  // thread, register, part
  std::string note = {};                          // what is taken for granted
  std::string apart = {};                         // why no element has a place, else empty
  int low_bit = 0, width = 0;                     // of an element in `bits`; width 0: all
};

// The width of an element, and that of a unit which the instruction moves whole.
struct Widths {
  int element, unit;
};

// Of a row of memory that an instruction moves in units: where its element `col` is. Nothing if the parts of a wider
// element come to different threads or registers.
std::optional<Coords> place_in_units(const Map& map, Widths widths, Coords at) {
  const int wide = widths.element / widths.unit, narrow = widths.unit / widths.element;
  const int per_register = 32 / widths.unit;
  const int col = at[2];
  if (wide <= 1) {
    at[2] = col / narrow;
    Coords place = map.places(at)[0];
    place[2] = place[2] * narrow + col % narrow;
    return place;
  }
  at[2] = col * wide;
  const Coords first = map.places(at)[0];
  if (wide > per_register) return std::nullopt;
  for (int i = 1; i < wide; ++i) {
    at[2] = col * wide + i;
    if (map.places(at)[0] != Coords{first[0], first[1], first[2] + i}) return std::nullopt;
  }
  return Coords{first[0], first[1], first[2] / wide};
}

// The matrices of ldmatrix and stmatrix as elements of a width that may not be the unit's.
struct Moved {
  const Map& map;
  int count, rows, cols;  // of elements
  Widths widths;

  Moved(const Map& moves, int bits)
      : map(moves),
        count(moves.element[0].extent),
        rows(moves.element[1].extent),
        cols(moves.element[2].extent * moves.bits / bits),
        widths{bits, moves.bits} {}
  std::string apart() const {
    if (place_in_units(map, widths, {})) return "";
    const int last = widths.element / widths.unit - 1;
    const Coords low = map.places({0, 0, 0})[0], high = map.places({0, 0, last})[0];
    const auto text = [](const Coords& at) {
      return fmt::format("thread {}, register {}, part {}", at[0], at[1], at[2]);
    };
    return fmt::format(
        "an element of {} bits comes apart: {} moves {} bits, so that bits [0,{}) of the first go "
        "to {}, bits [{},{}) to {}",
        widths.element, map.title, widths.unit, widths.unit, text(low), widths.unit * last,
        widths.element, text(high));
  }
  std::string note() const {
    if (widths.element == widths.unit) return "";
    return fmt::format(
        "{} moves {} bits at a time, taken for parts of {} bits as they lie in memory", map.title,
        widths.unit, widths.element);
  }
};

// How many matrices of ldmatrix lie below each other, the next ones beside those; one below another: as mma takes
// the rows of A.
Layout arranged(const Moved& moved, int down) {
  const int rows = moved.rows, cols = moved.cols;
  const auto place = [=, map = moved.map, widths = moved.widths](int r, int c) {
    return *place_in_units(map, widths, {r / rows + down * (c / cols), r % rows, c % cols});
  };
  return {moved.map.title,      moved.map.matrix,
          rows * down,          cols * (moved.count / down),
          moved.widths.element, place,
          moved.note()};
}

// How the matrices lie in memory is said where there are several: below each other, or side by side.
Layout transposed(Layout layout, const Moved& moved, std::string_view lies) {
  layout.place = [place = layout.place](int row, int col) { return place(col, row); };
  std::swap(layout.rows, layout.cols);
  layout.title += " read transposed";
  if (moved.count > 1) layout.title += fmt::format(", matrix 1 {} matrix 0 in memory", lies);
  return layout;
}

// Rows of memory may be columns of the other matrix, which is what .trans is for. The matrices then lie below each
// other again as mma takes them, or as they lie in memory.
std::vector<Layout> readings_of(const Moved& moved) {
  const int rows = moved.rows, cols = moved.cols;
  const int down = std::min(moved.count, 2);
  if (const std::string apart = moved.apart(); !apart.empty())
    return {{moved.map.title, moved.map.matrix, rows, cols, moved.widths.element, {}, "", apart}};
  Layout across = transposed(arranged(moved, down), moved, "beside");
  across.rows = cols * down;
  across.cols = rows * (moved.count / down);
  across.place = [=, map = moved.map, widths = moved.widths](int r, int c) {
    return *place_in_units(map, widths, {r / cols + down * (c / rows), c % rows, r % cols});
  };
  return {arranged(moved, down), across, transposed(arranged(moved, down), moved, "below")};
}

// Indices along one axis whose cells are read, where the others are read at all.
std::vector<int> indices_read(const Map& map, std::size_t axis) {
  std::set<int> read;
  for_each(map.element, false, [&](const Coords& cell) {
    if (!map.places(cell).empty()) read.insert(cell[axis]);
  });
  return {read.begin(), read.end()};
}

Layout layout_of_cells(const Map& map) {
  const std::vector<int> lanes = indices_read(map, 0), columns = indices_read(map, 1);
  const auto place = [=](int r, int c) {
    return map.places(
        {lanes[static_cast<std::size_t>(r)], columns[static_cast<std::size_t>(c)]})[0];
  };
  return {map.title,
          map.matrix,
          static_cast<int>(lanes.size()),
          static_cast<int>(columns.size()),
          map.bits,
          place,
          fmt::format("{}: a cell is taken for an element, the lanes that are read for rows",
                      map.title)};
}

// What lies in memory for an operand keeps its bits on the way; an accumulator is converted behind the move.
int bits_moved(const Map& moves, const Map& other) {
  const bool is_operand = (other.matrix == "A" || other.matrix == "B") && other.element.size() == 2;
  const bool divides = other.bits % moves.bits == 0 || moves.bits % other.bits == 0;
  return is_operand && divides && (moves.bits == 16 || other.bits >= moves.bits) ? other.bits
                                                                                 : moves.bits;
}

// Of ldmatrix and stmatrix every way to read it, of others the only one.
std::vector<Layout> layouts_of(const Map& map, const Map& other) {
  if (is_of_cells(map) && map.space == Space::Registers) return {layout_of_cells(map)};
  if (map.space != Space::Registers)
    throw UsageError(
        fmt::format("{} does not lie in registers: expected {} in registers, such as 'D' or 'A "
                    "a=regs'",
                    map.title, expected));
  if (map.element[0].name == "product")
    throw UnmodelledError(fmt::format(
        "not modelled: {} is that of four products, which lie in no one matrix", map.title));
  if (map.element.size() == 3) return readings_of(Moved(map, bits_moved(map, other)));
  const auto place = [map](int r, int c) { return map.places({r, c})[0]; };
  return {{map.title, map.matrix, map.element[0].extent, map.element[1].extent, map.bits, place}};
}

bool is_opcode(std::string_view word) {
  const std::size_t dot = word.find('.');
  return dot != word.npos && word.find('=') == word.npos && dot > 0;
}

// All words, whether the layouts were quoted or not.
std::vector<std::string_view> single_words(const Question& question) {
  std::vector<std::string_view> words;
  for (std::string_view rest : question.words)
    while (!rest.empty()) {
      const std::size_t size = std::min(rest.find(' '), rest.size());
      if (size > 0) words.push_back(rest.substr(0, size));
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  return words;
}

struct Pair {
  Layout from, to;
  int row = 0, col = 0;  // of `from`, where `to` begins

  // Do both say which bits of its byte a narrow element has, and not the same ones?
  bool has_other_bits() const {
    return from.width != 0 && to.width != 0 && from.bits == to.bits &&
           (from.width != to.width || from.low_bit != to.low_bit);
  }
};

// Elements that are not those of the map have bits of their own.
void add_payload(Layout& layout, const Map& map) {
  if (layout.bits != map.bits) return;
  layout.low_bit = map.payload_low_bit;
  layout.width = map.payload_bits;
}

// D may be left out of what moves nothing else.
bool moves_one_matrix(std::string_view opcode) {
  return opcode.starts_with("ldmatrix") || opcode.starts_with("stmatrix") ||
         opcode.starts_with("tcgen05.ld.") || opcode.starts_with("tcgen05.st.");
}

Map map_of(const Question& question, std::vector<std::string_view> words) {
  const bool has_matrix = words.size() > 1 && words[1].find('=') == words[1].npos;
  if (!words.empty() && !has_matrix && moves_one_matrix(words[0]))
    words.insert(words.begin() + 1, "D");
  Question part{question.verb, std::move(words), question.options};
  return read_map(part, Ask::Whole).map;
}

// One pair for each way to read a matrix of ldmatrix or stmatrix; the first is the plain one.
std::vector<Pair> pairs_of(const Question& question) {
  std::vector<std::string_view> words = single_words(question);
  std::vector<std::string_view> offsets;
  const auto is_offset = [](std::string_view word) {
    return word.starts_with("row=") || word.starts_with("col=");
  };
  std::copy_if(words.begin(), words.end(), std::back_inserter(offsets), is_offset);
  std::erase_if(words, is_offset);
  const auto second =
      words.empty() ? words.end() : std::find_if(words.begin() + 1, words.end(), is_opcode);
  if (second == words.end())
    throw UsageError(fmt::format("'diff' has too few words: expected {}", expected));
  const Keys keys(offsets, {}, {"row", "col"});
  const Map first_map = map_of(question, {words.begin(), second});
  const Map second_map = map_of(question, {second, words.end()});
  const std::vector<Layout> from = layouts_of(first_map, second_map);
  const std::vector<Layout> to = layouts_of(second_map, first_map);
  std::vector<Pair> pairs;
  for (Layout one : from)
    for (Layout other : to) {
      add_payload(one, first_map);
      add_payload(other, second_map);
      if (pairs.empty() || from.size() == 1 || to.size() == 1) pairs.push_back({one, other});
    }
  const auto last = [&](int extent) { return static_cast<std::uint64_t>(extent) - 1; };
  for (Pair& pair : pairs) {
    pair.row = static_cast<int>(keys.number_or("row", 0, last(pair.from.rows), 0));
    pair.col = static_cast<int>(keys.number_or("col", 0, last(pair.from.cols), 0));
  }
  return pairs;
}

// ---- Comparison ---------------------------------------------------------------------------------

using Source = std::pair<int, int>;  // register, part
using RegisterPacking =
    std::map<int, std::vector<Source>>;  // register of `to` -> what is in it, lowest first

struct Comparison {
  int rows, cols;
  int elements = 0;
  int same_place = 0;
  int same_thread = 0;
  int same_quad = 0;
  int same_warp = 0;
  std::optional<Coords> first = {};             // row and column of the first that changes threads
  std::optional<RegisterPacking> packing = {};  // of every thread alike, if all stay
};

int quad(const Coords& at) { return at[0] / lanes_per_quad; }
int warp(const Coords& at) { return at[0] / lanes_per_warp; }

// The packing of each thread, from part to source; empty if threads differ.
std::optional<RegisterPacking> packing_of(const Pair& p, const Comparison& c, int col) {
  std::map<int, std::map<int, std::map<int, Source>>> threads;
  for (int row = 0; row < c.rows; ++row)
    for (int k = 0; k < c.cols; ++k) {
      const Coords from = p.from.place(p.row + row, col + k);
      const Coords to = p.to.place(row, k);
      threads[to[0]][to[1]][to[2]] = {from[1], from[2]};
    }
  const auto& one = threads.begin()->second;
  for (const auto& [thread, registers] : threads)
    if (registers != one) return std::nullopt;
  RegisterPacking packing;
  for (const auto& [reg, parts] : one)
    for (const auto& [part, source] : parts) packing[reg].push_back(source);
  return packing;
}

Comparison compare(const Pair& p) {
  Comparison c{std::min(p.from.rows - p.row, p.to.rows), std::min(p.from.cols - p.col, p.to.cols)};
  for (int row = 0; row < c.rows; ++row)
    for (int col = 0; col < c.cols; ++col) {
      const Coords from = p.from.place(p.row + row, p.col + col);
      const Coords to = p.to.place(row, col);
      ++c.elements;
      c.same_place += from == to && p.from.bits == p.to.bits && !p.has_other_bits() ? 1 : 0;
      c.same_thread += from[0] == to[0] ? 1 : 0;
      c.same_quad += quad(from) == quad(to) ? 1 : 0;
      c.same_warp += warp(from) == warp(to) ? 1 : 0;
      if (from[0] != to[0] && !c.first) c.first = Coords{row, col};
    }
  if (c.same_thread == c.elements) c.packing = packing_of(p, c, p.col);
  return c;
}

// Registers from one run of columns to the next, if all runs are packed alike.
std::optional<int> register_step(const Pair& p, const Comparison& c) {
  std::optional<int> step;
  for (int col = p.col + c.cols; col + c.cols <= p.from.cols; col += c.cols) {
    const std::optional<RegisterPacking> later = packing_of(p, c, col);
    if (!later) return std::nullopt;
    const int runs = (col - p.col) / c.cols;
    for (const auto& [reg, sources] : *c.packing)
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto [from, part] = later->at(reg)[i];
        if (!step) step = from - sources[i].first;
        if (from != sources[i].first + runs * *step || part != sources[i].second)
          return std::nullopt;
      }
  }
  return step;
}

// For each column of `to` the column of `from` whose elements are in its threads already.
std::vector<int> column_order(const Pair& p, const Comparison& c) {
  const auto threads = [&](const Layout& layout, int row0, int col) {
    std::vector<int> all;
    for (int row = 0; row < c.rows; ++row) all.push_back(layout.place(row0 + row, col)[0]);
    return all;
  };
  std::set<int> taken;
  std::vector<int> order;
  for (int to = 0; to < c.cols; ++to) {
    int found = -1;
    for (int from = 0; from < c.cols && found < 0; ++from)
      if (!taken.contains(from) && threads(p.from, p.row, p.col + from) == threads(p.to, 0, to))
        found = from;
    if (found < 0) return {};
    taken.insert(found);
    order.push_back(found);
  }
  return order;
}

// ---- Words --------------------------------------------------------------------------------------

std::string registers_text(const std::vector<Source>& sources, bool with_parts) {
  std::vector<std::string> texts;
  for (const auto& [reg, part] : sources)
    texts.push_back(with_parts ? fmt::format("{}.{}", reg, part) : fmt::format("{}", reg));
  return fmt::format("{}{}", sources.size() > 1 ? "registers " : "register ",
                     fmt::join(texts, ", "));
}

std::string step_text(const Pair& p, const Comparison& c) {
  const std::optional<int> step = c.packing ? register_step(p, c) : std::nullopt;
  if (!step) return "";
  return fmt::format("\nevery {} columns further: the same, {} registers of {} further", c.cols,
                     *step, p.from.matrix);
}

// What the second matrix has beyond the part that was compared.
std::string rest_text(const Pair& p, const Comparison& c) {
  if (c.rows == p.to.rows && c.cols == p.to.cols) return "";
  return fmt::format("\nnot the whole of {}, which has {} x {} elements: the others are not here",
                     p.to.title, p.to.rows, p.to.cols);
}

std::string bits_text(const Layout& layout) {
  return fmt::format("bits [{},{})", layout.low_bit, layout.low_bit + layout.width);
}

// "shl.b32 by 2", of every register.
std::string other_bits_text(const Pair& p) {
  const std::string bits =
      fmt::format("\n{} of a byte of {} have the element, {} needs it in {}", bits_text(p.from),
                  p.from.matrix, p.to.matrix, bits_text(p.to));
  if (p.from.width != p.to.width)
    return bits + ": elements of different width, no shift joins them";
  const int up = p.to.low_bit - p.from.low_bit;
  return bits + fmt::format(": {}.b32 of every register by {} joins them", up > 0 ? "shl" : "shr",
                            std::abs(up));
}

std::string packing_text(const Pair& p, const Comparison& c) {
  std::string text;
  for (const auto& [reg, sources] : *c.packing)
    text += fmt::format("\nregister {} of {} = {} of {}", reg, p.to.matrix,
                        registers_text(sources, p.from.bits < 32), p.from.matrix);
  text += step_text(p, c);
  if (p.from.bits != p.to.bits)
    text += fmt::format(
        "\njoined by a conversion from {} to {} bits in each thread, the first into the low bits: "
        "no "
        "shuffle, no shared memory",
        p.from.bits, p.to.bits);
  else if (p.has_other_bits())
    text += other_bits_text(p);
  else
    text += "\njoined by moves between registers of each thread";
  return text;
}

std::string reach_text(const Comparison& c) {
  if (c.same_quad == c.elements) return "inside groups of four lanes: shfl.sync joins them";
  if (c.same_warp == c.elements)
    return "inside warps: shfl.sync, or stmatrix and ldmatrix, join them";
  return "across warps: only shared memory joins them";
}

std::string moves_text(const Pair& p, const Comparison& c) {
  const Coords at = *c.first;
  const Coords from = p.from.place(p.row + at[0], p.col + at[1]);
  const Coords to = p.to.place(at[0], at[1]);
  std::string text = fmt::format(
      "\n{} of {} elements change threads, the first is [{}][{}]: thread {} has it, thread {} "
      "needs it"
      "\nthey move {}",
      c.elements - c.same_thread, c.elements, at[0], at[1], from[0], to[0], reach_text(c));
  if (const std::vector<int> order = column_order(p, c); !order.empty())
    text += fmt::format(
        "\nwith the columns in the order {} none changes threads: where they are K, read the rows "
        "of B "
        "in this order",
        fmt::join(order, " "));
  return text;
}

std::string text_of(const Pair& p, const Comparison& c) {
  std::string text =
      fmt::format("{} -> {}: {} x {} elements", p.from.title, p.to.title, c.rows, c.cols) +
      rest_text(p, c);
  if (c.same_place == c.elements)
    return text + "\nthe same: every element has one place in both" + step_text(p, c);
  if (c.same_thread < c.elements) return text + moves_text(p, c);
  text += "\nevery element stays in its thread";
  return c.packing ? text + packing_text(p, c)
                   : text + "\nwhich register it moves to depends on the thread";
}

Value packing_value(const RegisterPacking& packing) {
  Value::List all;
  for (const auto& [reg, sources] : packing)
    all.push_back(Value::Members{
        {"register", reg}, {"from", list_of(sources, [](const Source& s) {
                              return Value::Members{{"register", s.first}, {"part", s.second}};
                            })}});
  return all;
}

Value value_of(const Pair& p, const Comparison& c) {
  Value::Members members = {{"from", p.from.title},
                            {"to", p.to.title},
                            {"rows", c.rows},
                            {"cols", c.cols},
                            {"elements", c.elements},
                            {"same_place", c.same_place},
                            {"same_thread", c.same_thread},
                            {"same_quad", c.same_quad},
                            {"same_warp", c.same_warp}};
  if (p.has_other_bits()) {
    members.push_back({"from_bits", list_of(std::array{p.from.low_bit, p.from.width})});
    members.push_back({"to_bits", list_of(std::array{p.to.low_bit, p.to.width})});
  }
  if (c.packing) {
    const std::optional<int> step = register_step(p, c);
    members.push_back({"packing", packing_value(*c.packing)});
    members.push_back({"register_step", step ? Value(*step) : Value()});
  }
  if (c.same_thread < c.elements) members.push_back({"columns", list_of(column_order(p, c))});
  return members;
}

// No element has one place.
Value apart_value(const Pair& p, const std::string& sentence) {
  Value::Members members = {{"from", p.from.title},
                            {"to", p.to.title},
                            {"rows", std::min(p.from.rows, p.to.rows)},
                            {"cols", std::min(p.from.cols, p.to.cols)}};
  for (const char* key : {"elements", "same_place", "same_thread", "same_quad", "same_warp"})
    members.push_back({key, 0});
  members.push_back({"apart", sentence});
  return members;
}

std::string notes_of(const Pair& p) {
  std::string text;
  for (const Layout* layout : {&p.from, &p.to})
    if (!layout->note.empty())
      text += fmt::format("{}note: {}", text.empty() ? "" : "\n", layout->note);
  return text;
}

// The plain one, unless with another one all elements stay, and more of them, or more in their places.
Pair pair_that_fits(const std::vector<Pair>& pairs) {
  Pair best = pairs[0];
  Comparison of_best = compare(best);
  for (const Pair& pair : pairs) {
    const Comparison c = compare(pair);
    const bool stays = of_best.same_thread == of_best.elements;
    const bool more = c.elements > of_best.elements ||
                      (c.elements == of_best.elements && c.same_place > of_best.same_place);
    if (c.same_thread < c.elements || (stays && !more)) continue;
    best = pair;
    of_best = c;
  }
  return best;
}

}  // namespace

Answer diff(const Question& question) {
  const std::vector<Pair> pairs = pairs_of(question);
  const bool json = question.options.style == Style::Json;
  if (const std::string sentence = pairs[0].from.apart + pairs[0].to.apart; !sentence.empty())
    return {Status::No,
            json ? json_text(apart_value(pairs[0], sentence))
                 : fmt::format("{} -> {}\n{}", pairs[0].from.title, pairs[0].to.title, sentence),
            ""};
  const Pair pair = pair_that_fits(pairs);
  const Comparison c = compare(pair);
  const bool joined =
      c.same_thread == c.elements && !(pair.has_other_bits() && pair.from.width != pair.to.width);
  return {joined ? Status::Yes : Status::No, json ? json_text(value_of(pair, c)) : text_of(pair, c),
          notes_of(pair)};
}

}  // namespace tcq::oracle
