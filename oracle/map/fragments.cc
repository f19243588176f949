// The verbs where and what: one element -> its place, one place -> its elements.
//
// Which matrices have places, and the words for them, are view.h; the sum behind an output is
// inputs.h. Tables are fragment_table.cc, closed forms equation.cc.
#include <fmt/format.h>

#include "oracle/answer/json.h"
#include "oracle/answer/verbs.h"
#include "oracle/map/inputs.h"
#include "oracle/map/tcgen05_fragments.h"
#include "oracle/map/view.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;
using wgmma::Slot;
using Members = std::vector<std::pair<std::string_view, std::string>>;

constexpr std::string_view mnemonic_expected = "MNEMONIC MATRIX key=value ...";
constexpr std::string_view matrix_expected = "a matrix, A, B, C, D or E, after the mnemonic";

std::uint64_t last(int extent) { return static_cast<std::uint64_t>(extent) - 1; }

Matrix matrix_word(const Question& question) {
  word_at(question, 0, mnemonic_expected);
  return parse_matrix(word_at(question, 1, matrix_expected));
}

Keys where_keys(const Question& question, Matrix matrix) {
  const std::span<const std::string_view> words = words_from(question, 2);
  if (matrix == Matrix::E) return Keys(words, instruction_keys, {"row", "k"});
  if (matrix != Matrix::D) return Keys(words, instruction_keys, {"row", "col", "desc"});
  Keys keys(words, instruction_keys,
            {"row", "col", "desc", input_keys[0], input_keys[1], input_keys[2], input_keys[3]});
  for (const std::string_view key : input_keys)
    if (keys.has(key) && !question.options.inputs)
      throw UsageError(fmt::format("{}= describes the inputs: expected --inputs with it", key));
  return keys;
}

Element element_from(const View& view, const Keys& keys) {
  const int row = static_cast<int>(keys.number("row", 0, last(view.rows)));
  if (!view.is_metadata()) return {row, static_cast<int>(keys.number("col", 0, last(view.cols)))};
  const int k = static_cast<int>(keys.number("k", 0, last(view.cols * col_step(view))));
  return {row, k / col_step(view)};
}

void add_slot(Members& members, const View& view, Slot slot) {
  members.emplace_back("thread", std::to_string(slot.thread));
  if (view.is_metadata()) {
    members.emplace_back("nibble", std::to_string(slot.part));
    members.emplace_back("low_bit", std::to_string(wgmma::metadata_low_bit(slot.part)));
  } else {
    members.emplace_back("register", std::to_string(slot.reg));
    members.emplace_back("part", std::to_string(slot.part));
  }
  members.emplace_back("warp", std::to_string(wgmma::warp(slot.thread)));
  members.emplace_back("lane", std::to_string(wgmma::lane(slot.thread)));
}

void add_element(Members& members, const View& view, Element element) {
  members.emplace_back("row", std::to_string(element.row));
  members.emplace_back(view.is_metadata() ? "k" : "col",
                       std::to_string(element.col * col_step(view)));
}

std::string where_json(const View& view, Element element) {
  Members members = {{"matrix", json_string(std::string(1, letter(view.matrix)))}};
  add_element(members, view, element);
  if (view.in_registers()) {
    add_slot(members, view, slot_of(view, element));
  } else {
    members.emplace_back("byte", std::to_string(address_of(view, element)));
    const int k = view.matrix == Matrix::B ? element.row : element.col;
    if (view.type == Type::b1)
      members.emplace_back("bit", std::to_string(wgmma::bit_in_byte(view.type, k)));
  }
  return json_object(members);
}

std::string where_text(const View& view, Element element) {
  std::string text = element_text(view, element) + " = " + place_text(view, element);
  if (!view.in_registers()) return text;
  const Slot slot = slot_of(view, element);
  const std::string nibble = view.is_metadata() ? fmt::format("nibble {}, ", slot.part) : "";
  return text + fmt::format(" ({}warp {}, lane {})", nibble, wgmma::warp(slot.thread),
                            wgmma::lane(slot.thread));
}

std::string with_inputs(const View& view, Element element, const Keys& keys, Style style) {
  if (style == Style::Json) {
    std::string text = where_json(view, element);
    text.back() = ',';
    return text + "\"inputs\":" + inputs_json(view, element, keys) + "}";
  }
  return element_text(view, element) + " = " + place_text(view, element) + " = " +
         inputs_text(view, element, keys);
}

// Slots that `what` asks for: one part, or all parts of the register.
std::vector<Slot> slots_from(const View& view, const Keys& keys) {
  const auto last_thread = last(wgmma::threads_per_warpgroup);
  Slot slot{static_cast<int>(keys.number("thread", 0, last_thread)), 0, 0};
  const std::string_view part_key = view.is_metadata() ? "nibble" : "part";
  if (!view.is_metadata()) slot.reg = static_cast<int>(keys.number("reg", 0, last(view.registers)));
  std::vector<Slot> slots;
  if (keys.has(part_key)) {
    slot.part = static_cast<int>(keys.number(part_key, 0, last(view.parts)));
    slots.push_back(slot);
  } else {
    for (slot.part = 0; slot.part < view.parts; ++slot.part) slots.push_back(slot);
  }
  return slots;
}

std::string what_text(const View& view, const std::vector<Slot>& slots) {
  std::string text = slots.size() == 1 ? slot_text(view, slots[0])
                     : view.is_metadata()
                         ? fmt::format("thread {}", slots[0].thread)
                         : fmt::format("thread {}, register {}", slots[0].thread, slots[0].reg);
  const char* separator = " = ";
  for (const Slot& slot : slots) {
    text += separator + element_text(view, element_of(view, slot));
    separator = ", ";
  }
  return text;
}

std::string what_json(const View& view, const std::vector<Slot>& slots) {
  std::vector<std::string> elements;
  for (const Slot& slot : slots) {
    Members members = {{"matrix", json_string(std::string(1, letter(view.matrix)))}};
    add_slot(members, view, slot);
    add_element(members, view, element_of(view, slot));
    elements.push_back(json_object(members));
  }
  return json_array(elements);
}

Keys what_keys(const Question& question, Matrix matrix) {
  const std::span<const std::string_view> words = words_from(question, 2);
  return matrix == Matrix::E ? Keys(words, instruction_keys, {"thread", "nibble"})
                             : Keys(words, instruction_keys, {"thread", "reg", "part"});
}

}  // namespace

Answer where(const Question& question) {
  if (is_tcgen05(word_at(question, 0, mnemonic_expected))) return where_tcgen05(question);
  const Matrix matrix = matrix_word(question);
  const Keys keys = where_keys(question, matrix);
  const Options& options = question.options;
  if (options.inputs && matrix != Matrix::D)
    throw UsageError(
        fmt::format("--inputs explains outputs: expected matrix D, not {}", letter(matrix)));
  const View view = placed_view_of(instruction_of(question, keys), matrix, keys);
  const Element element = element_from(view, keys);
  if (options.inputs) return {Status::Yes, with_inputs(view, element, keys, options.style), ""};
  return {Status::Yes,
          options.style == Style::Json ? where_json(view, element) : where_text(view, element), ""};
}

Answer what(const Question& question) {
  if (is_tcgen05(word_at(question, 0, mnemonic_expected))) return what_tcgen05(question);
  const Matrix matrix = matrix_word(question);
  const Keys keys = what_keys(question, matrix);
  const View view = view_of(instruction_of(question, keys), matrix);
  if (!view.in_registers())
    throw UsageError(fmt::format(
        "{} is not in registers: expected C, D, {}, or 'tcq bytes' for what lies in shared memory",
        letter(matrix), matrix == Matrix::A ? "a=regs for A" : "A with a=regs"));
  const std::vector<Slot> slots = slots_from(view, keys);
  if (!is_read(view, slots[0].thread))
    return {Status::No, "",
            fmt::format("thread {} holds nothing: its metadata is not read with selector={}",
                        slots[0].thread, view.instruction.selector)};
  return {Status::Yes,
          question.options.style == Style::Json ? what_json(view, slots) : what_text(view, slots),
          ""};
}

}  // namespace tcq::oracle
