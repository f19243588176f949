// Extents and places of the matrices of an instruction, read from sim/isa; see view.h.
#include "oracle/map/view.h"

#include <fmt/format.h>

#include <array>

#include "oracle/answer/answer.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Element;
using wgmma::Form;
using wgmma::Slot;

constexpr std::array<std::string_view, 5> matrix_names = {"A", "B", "C", "D", "E"};

View accumulator_view(const Instruction& instruction, Matrix matrix) {
  const Form& f = instruction.form;
  return {instruction,
          matrix,
          f.d,
          wgmma::m,
          f.n,
          wgmma::accumulator_registers(f.d, f.n),
          parts_per_register(f.d)};
}

View a_view(const Instruction& instruction) {
  const Form& f = instruction.form;
  const bool registers = f.a_place == wgmma::Place::Registers;
  View view{instruction,
            Matrix::A,
            f.a,
            wgmma::m,
            wgmma::stored_k(f.a),
            registers ? wgmma::a_registers : 0,
            parts_per_register(f.a)};
  view.major = f.major_a;
  return view;
}

View b_view(const Instruction& instruction) {
  const Form& f = instruction.form;
  View view{instruction, Matrix::B, f.b, k(f), f.n, 0, parts_per_register(f.b)};
  view.major = f.major_b;
  return view;
}

View metadata_view(const Instruction& instruction) {
  const Form& f = instruction.form;
  if (!f.sparse)
    throw UsageError(
        fmt::format("matrix E is the metadata of sparse forms: expected A, B, C or D of "
                    "'{}', or a wgmma.sp mnemonic",
                    short_mnemonic(f)));
  return {instruction,
          Matrix::E,
          f.a,
          wgmma::m,
          wgmma::chunks_per_row(f.a),
          1,
          wgmma::metadata_nibbles};
}

}  // namespace

char letter(Matrix matrix) { return matrix_names[static_cast<std::size_t>(matrix)][0]; }

Matrix parse_matrix(std::string_view word) {
  for (std::size_t i = 0; i < matrix_names.size(); ++i)
    if (same_word(word, matrix_names[i])) return static_cast<Matrix>(i);
  throw_unknown("matrix", word, matrix_names);
}

View view_of(const Instruction& instruction, Matrix matrix) {
  switch (matrix) {
    case Matrix::A: return a_view(instruction);
    case Matrix::B: return b_view(instruction);
    case Matrix::E: return metadata_view(instruction);
    case Matrix::C:
    case Matrix::D: break;
  }
  return accumulator_view(instruction, matrix);
}

View placed_view_of(const Instruction& instruction, Matrix matrix, const Keys& keys) {
  View view = view_of(instruction, matrix);
  if (view.in_registers()) {
    if (keys.has("desc"))
      throw UsageError(
          fmt::format("desc= is for operands in shared memory, but {} is in registers: "
                      "expected no desc=",
                      letter(matrix)));
    return view;
  }
  if (keys.has("desc")) {
    set_desc(view, parse_number(keys.text("desc", ""), "desc="));
    return view;
  }
  if (matrix == Matrix::B)
    throw UsageError(
        "desc= is missing: B always lies in shared memory, expected desc=WORD with its "
        "matrix descriptor (tcq layout finds one)");
  throw UsageError(
      "A has no place yet: expected a=regs for its register fragment, or desc=WORD with "
      "its matrix descriptor for byte addresses in shared memory");
}

void set_desc(View& view, std::uint64_t word) {
  view.has_desc = true;
  view.desc = wgmma::decode(word);
}

Element element_of(const View& view, Slot slot) {
  if (view.matrix == Matrix::A) return wgmma::a_element(view.type, slot);
  if (!view.is_metadata()) return wgmma::accumulator_element(view.type, slot);
  const auto [row, chunk] = wgmma::metadata_chunk(view.type, {slot.thread, slot.part});
  return {row, chunk};
}

Slot slot_of(const View& view, Element element) {
  if (view.matrix == Matrix::A) return wgmma::a_slot(view.type, element);
  if (!view.is_metadata()) return wgmma::accumulator_slot(view.type, element);
  const auto [thread, nibble] =
      wgmma::metadata_slot(view.type, view.instruction.selector, {element.row, element.col});
  return {thread, 0, nibble};
}

bool is_read(const View& view, int thread) {
  return !view.is_metadata() ||
         wgmma::metadata_is_read(view.type, view.instruction.selector, thread);
}

std::uint32_t address_of(const View& view, Element element) {
  const auto row = static_cast<std::uint32_t>(element.row);
  const auto col = static_cast<std::uint32_t>(element.col);
  const wgmma::OperandElement at =
      view.matrix == Matrix::B ? wgmma::OperandElement{col, row} : wgmma::OperandElement{row, col};
  return wgmma::element_address(view.desc, view.major, view.type, at);
}

int col_step(const View& view) { return view.is_metadata() ? wgmma::chunk_elements(view.type) : 1; }

std::string slot_text(const View& view, Slot slot) {
  if (view.is_metadata()) {
    const int low = wgmma::metadata_low_bit(slot.part);
    return fmt::format("thread {}, bits [{},{})", slot.thread, low,
                       low + wgmma::metadata_code_bits);
  }
  if (view.parts == 1) return fmt::format("thread {}, register {}", slot.thread, slot.reg);
  return fmt::format("thread {}, register {}, part {}", slot.thread, slot.reg, slot.part);
}

std::string place_text(const View& view, Element element) {
  if (view.in_registers()) return slot_text(view, slot_of(view, element));
  const std::uint32_t address = address_of(view, element);
  if (view.type != Type::b1) return fmt::format("byte {:#x}", address);
  const int k = view.matrix == Matrix::B ? element.row : element.col;
  return fmt::format("byte {:#x}, bit {}", address, wgmma::bit_in_byte(view.type, k));
}

std::string element_text(const View& view, Element element) {
  if (!view.is_metadata())
    return fmt::format("{}[{}][{}]", letter(view.matrix), element.row, element.col);
  const int first = element.col * col_step(view);
  return fmt::format("E[{}][{}..{}]", element.row, first, first + col_step(view) - 1);
}

}  // namespace tcq::oracle
