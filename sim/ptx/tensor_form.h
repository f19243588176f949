// The opcodes of wgmma and tcgen05: from words to the forms of sim/isa, by the grammar that writes them.
//
// The words are those of sim/isa/wgmma/syntax.h and sim/isa/tcgen05/syntax.h, read by opcode_reader.h; whether
// the form exists is check() of sim/isa. Example: the words ld, sync, aligned, 32x32b, x16, b32 are
// LdForm{S32x32b, 16}.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/ptx/opcode_reader.h"
#include "sim/ptx/verdict.h"

namespace tcq::ptx {

using Tcgen05Form = std::variant<tcgen05::MmaForm, tcgen05::LdForm, tcgen05::LdRedForm,
                                 tcgen05::StForm, tcgen05::CpForm, tcgen05::ShiftForm,
                                 tcgen05::AllocForm, tcgen05::DeallocForm, tcgen05::RelinquishForm,
                                 tcgen05::CommitForm, tcgen05::WaitForm, tcgen05::FenceForm>;

struct Tcgen05Reading {
  std::optional<Tcgen05Form> form;  // none: `problem` says why
  Verdict problem = {};             // words unknown, missing or given twice
  Verdict sync = {};                // .sync or .aligned is missing
  Verdict order = {};               // words are not in the manual's order
};

// Reads the words after "tcgen05". A of an mma is taken to lie in shared memory, and its optional
// operands to be absent: opcodes do not say.
Tcgen05Reading read_form(std::span<const std::string_view> words, Spelling spelling);

// Reads the words after "wgmma" into `form`, whose A is taken to lie in shared memory: opcodes do not
// say. If there is no problem, the reading has a shape.
OpcodeReading read_wgmma(wgmma::Form& form, std::span<const std::string_view> words,
                         Spelling spelling);

// "ld.red", "wait::ld": the words of the instruction's name.
std::string_view syntax_name(const Tcgen05Form& form);

}  // namespace tcq::ptx
