// The opcode of a tcgen05 instruction as text <-> a form of sim/isa/tcgen05/instruction.h.
//
// The words are those of sim/isa/tcgen05/syntax.h, read by opcode_reader.h; whether the form exists is
// check() of sim/isa. Example: the words ld, sync, aligned, 32x32b, x16, b32 are LdForm{S32x32b, 16}.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oracle/ptx/opcode_reader.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

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

Fault check_form(const Tcgen05Form& form);
Fault check_form(const Tcgen05Form& form, Target target);

// The full opcode, and without sync, aligned and the types that no form can choose.
std::string full_opcode(const Tcgen05Form& form);
std::string short_opcode(const Tcgen05Form& form);

// "mma", "ld", "wait", ...
std::string_view instruction_name(const Tcgen05Form& form);

// Every legal opcode once, without collectors: mma, ld, ld.red, st, cp, shift, alloc, dealloc,
// relinquish_alloc_permit, commit, wait, fence.
std::vector<Tcgen05Form> all_tcgen05_forms();

}  // namespace tcq::oracle
