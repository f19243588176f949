// Mnemonics of tcgen05: the PTX opcode, abbreviated or not, plus keys <-> a form and what its
// instruction descriptor says.
//
// `tcgen05.mma.cta_group::1.kind::f16 m=128 n=64 type_a=bf16 type_b=bf16` and `tcgen05.ld.32x32b.x16`
// are instructions. The spelling of opcodes is tcgen05_form.h, legality is
// sim/isa/tcgen05/shape.h and sim/isa/tcgen05/instruction.h.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/tcgen05_form.h"
#include "sim/isa/tcgen05/instruction_descriptor.h"

namespace tcq::oracle {

// Everything that a mnemonic of tcgen05 and its keys can say.
struct Tcgen05Instruction {
  Tcgen05Form form;
  tcgen05::InstructionDescriptor idesc = {};  // of mma
  bool accumulate = true;                     // of mma: enable-input-d
  int scale_input_d = 0;                      // of mma: D counts as D * 2^-scale_input_d
  int half_split = 0;                         // of .16x32bx2: immHalfSplitoff
};

// Keys that parse_tcgen05() understands; a verb adds its own to them. `d` is short for type_d.
inline constexpr std::array<std::string_view, 25> tcgen05_keys = {"a",
                                                                  "m",
                                                                  "n",
                                                                  "k",
                                                                  "type_a",
                                                                  "type_b",
                                                                  "type_d",
                                                                  "d",
                                                                  "major_a",
                                                                  "major_b",
                                                                  "negate_a",
                                                                  "negate_b",
                                                                  "selector",
                                                                  "saturate",
                                                                  "max_shift_b",
                                                                  "scale_type",
                                                                  "scale_a_id",
                                                                  "scale_b_id",
                                                                  "accumulate",
                                                                  "half_split",
                                                                  "disable_output_lane",
                                                                  "scale_input_d",
                                                                  "zero_column_mask",
                                                                  "k96",
                                                                  "sparse"};

// True for words that begin with "tcgen05", in either case.
bool is_tcgen05(std::string_view mnemonic);

// Without keys: A in shared memory, M = 128 per CTA, N = 128, the kind's first types, K-major.
// Throws UsageError for a word that is no mnemonic, FaultError for an illegal instruction (both with
// the nearest spelling) and for one that no source describes.
Tcgen05Instruction parse_tcgen05(std::string_view mnemonic, const Keys& keys);

// What an instruction descriptor of a kind says if no key does: types.
tcgen05::InstructionDescriptor default_types(tcgen05::Kind kind);

// The keys of the members of an instruction descriptor; `d` is what those not given say.
tcgen05::InstructionDescriptor read_descriptor(const Keys& keys, tcgen05::InstructionDescriptor d);

// "tcgen05.mma.cta_group::1.kind::f16 m=128 n=64 ...", as it can be typed back.
std::string mnemonic_with_keys(const Tcgen05Instruction& instruction);

// check() of the form, and for mma of its instruction descriptor.
Fault check_instruction(const Tcgen05Instruction& instruction);
Fault check_instruction(const Tcgen05Instruction& instruction, Target target);

// --arch, or sm_100a if it was not given.
Target tcgen05_target_of(const Question& question);

// The instruction of a question whose first word is the mnemonic, and whose --arch (if any) has it;
// throws FaultError if that target lacks it.
Tcgen05Instruction tcgen05_instruction_of(const Question& question, const Keys& keys);

}  // namespace tcq::oracle
