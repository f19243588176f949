// What follows the opcode in the text of a tcgen05 statement: operands by the names of registers.
//
// The inline assembly of cuda/ptx/tcgen05_mma.cuh, cuda/ptx/tcgen05_ldst.cuh and cuda/ptx/tmem.cuh and the kernel
// text of cuda/probe/tcgen05_sm100.cc both declare PTX registers of these names and end their statement with
// this text, as both begin it with tcgen05::opcode() (sim/isa/tcgen05/syntax.h). The order is that of
// sim/isa/tcgen05/operands.h. A vector of registers splits the text in two. Example: mma of kind
// f16 has the text " [d], desc_a, desc_b, idesc, accumulate;" and ld.16x32bx2 with the immediate 8
// has " " before its vector and ", [taddr], 8;" behind it.
//
// No device of compute capability 10 was at hand: this text has been assembled, not run.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/base/ptx_text.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/tcgen05/operands.h"

namespace tcq::ptx {

// Every operand that some form has. Names as in sim/isa/tcgen05/operands.h.
struct Tcgen05MmaOperands {
  std::uint32_t d = 0;       // addresses of Tensor Memory: d, a, metadata, scales
  std::uint64_t desc_a = 0;  // A in shared memory
  std::uint32_t a = 0;       // A in Tensor Memory
  std::uint64_t desc_b = 0;
  std::uint32_t metadata = 0;  // .sp
  std::uint32_t idesc = 0;
  std::uint32_t disable_output_lane[8] = {};  // 4 words with cta_group::1
  std::uint32_t scale_a = 0;                  // .block_scale
  std::uint32_t scale_b = 0;
  bool accumulate = false;             // enable-input-d
  std::uint64_t zero_column_mask = 0;  // .ws
};

// The one operand that is a number in the text: scale-input-d or immHalfSplitoff.
HOST_DEVICE constexpr bool is_immediate(tcgen05::Operand operand) {
  return operand == tcgen05::Operand::ScaleInputD || operand == tcgen05::Operand::HalfSplit;
}

// As PTX writes it, brackets included. Vectors and immediates have no name.
HOST_DEVICE constexpr const char* register_name(tcgen05::Operand operand) {
  using tcgen05::Operand;
  switch (operand) {
    case Operand::D: return "[d]";
    case Operand::ADesc: return "desc_a";
    case Operand::ATmem: return "[a]";
    case Operand::BDesc: return "desc_b";
    case Operand::SpMeta: return "[metadata]";
    case Operand::Idesc: return "idesc";
    case Operand::ScaleA: return "[scale_a]";
    case Operand::ScaleB: return "[scale_b]";
    case Operand::EnableInputD: return "accumulate";
    case Operand::ZeroColumnMask: return "zero_mask";
    case Operand::Reduced: return "reduced";
    case Operand::Taddr: return "[taddr]";
    case Operand::SourceDesc: return "desc";
    case Operand::AllocDst: return "[dst]";
    case Operand::AllocTaddr: return "taddr";
    case Operand::Columns: return "columns";
    case Operand::Mbar: return "[mbar]";
    case Operand::CtaMask: return "mask";
    case Operand::DisableOutputLane:
    case Operand::Loaded:
    case Operand::Stored:
    case Operand::ScaleInputD:
    case Operand::HalfSplit: return "";
  }
  return "";
}

HOST_DEVICE constexpr void add_number(PtxText& text, int number) {
  text += number < 0 ? "-" : "";
  text += number < 0 ? -number : number;
}

// "{l0, l1, ...}"
HOST_DEVICE constexpr void add_lane_mask(PtxText& text, int registers) {
  for (int i = 0; i < registers; ++i) {
    text += i == 0 ? "{l" : ", l";
    text += i;
  }
  text += "}";
}

template <class Form>
HOST_DEVICE constexpr void add_operand(PtxText& text, const Form& form, tcgen05::Operand operand,
                                       int immediate) {
  if (is_immediate(operand)) {
    add_number(text, immediate);
  } else if (operand == tcgen05::Operand::DisableOutputLane) {
    add_lane_mask(text, tcgen05::vector_registers(form));
  } else {
    text += register_name(operand);
  }
}

// The registers of ld and st.
HOST_DEVICE constexpr bool is_vector(tcgen05::Operand operand) {
  return operand == tcgen05::Operand::Loaded || operand == tcgen05::Operand::Stored;
}

// Index of the vector of ld and st among the operands; their number if there is none.
HOST_DEVICE constexpr int vector_index(const tcgen05::OperandList& list) {
  int at = 0;
  while (at < list.size && !is_vector(list.items[at])) ++at;
  return at;
}

// Everything between the opcode and the vector of registers, or to the end if there is none.
// Requires: check(form) == Fault::None; immediate is 0 where the form has none.
template <class Form>
HOST_DEVICE constexpr PtxText operands_before_vector(const Form& form, int immediate) {
  const tcgen05::OperandList list = tcgen05::operands(form);
  const int end = vector_index(list);
  PtxText text;
  if (list.size != 0) text += " ";
  for (int i = 0; i < end; ++i) {
    if (i != 0) text += ", ";
    add_operand(text, form, list.items[i], immediate);
  }
  if (end == list.size) return text += ";";
  return text += end == 0 ? "" : ", ";
}

// Everything after the vector.
template <class Form>
HOST_DEVICE constexpr PtxText operands_after_vector(const Form& form, int immediate) {
  const tcgen05::OperandList list = tcgen05::operands(form);
  PtxText text;
  for (int i = vector_index(list) + 1; i < list.size; ++i) {
    text += ", ";
    add_operand(text, form, list.items[i], immediate);
  }
  return text += ";";
}

// The text of a form without a vector.
template <class Form>
HOST_DEVICE constexpr PtxText tcgen05_operands(const Form& form, int immediate = 0) {
  return operands_before_vector(form, immediate);
}

// A text that reaches its capacity is cut off; a whole one ends as a statement does.
HOST_DEVICE constexpr bool is_whole(const PtxText& text) {
  return text.size > 0 && text.chars[text.size - 1] == ';';
}

// The immediates that a form may have: scale-input-d in [0, 15]; immHalfSplitoff is unchecked, as
// the assembler leaves it; every other form has none, and 0 stands for that.
HOST_DEVICE constexpr bool immediate_exists(const tcgen05::MmaForm& form, int immediate) {
  return form.scale_input_d ? immediate >= 0 && immediate <= tcgen05::max_scale_input_d
                            : immediate == 0;
}
template <class Form>
HOST_DEVICE constexpr bool immediate_exists(const Form& form, int immediate) {
  if constexpr (requires { form.shape; }) {
    if (tcgen05::has_half_split(form.shape)) return true;
  }
  return immediate == 0;
}

}  // namespace tcq::ptx
