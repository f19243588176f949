// The opcode of a tcgen05 instruction as text <-> a form of sim/isa/tcgen05/instruction.h.
//
// Reading is sim/ptx/tensor_form.h; whether the form exists is check() of sim/isa, and all that do are here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/ptx/verdict.h"
#include "sim/isa/tcgen05/instruction.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/ptx/tensor_form.h"

namespace tcq::oracle {

using ptx::read_form;
using ptx::Spelling;
using ptx::Tcgen05Form;
using ptx::Tcgen05Reading;

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
