// Mnemonics: the PTX opcode, abbreviated or not, plus keys <-> wgmma::Form.
//
// `wgmma.m64n24k16.f32.bf16.bf16` and `wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16` are
// the same instruction; `a=regs major_b=MN negate_a=1 selector=1` are what PTX writes as operands
// and immediates. The words of the opcode are sim/isa/wgmma/syntax.h, legality is
// sim/isa/wgmma/shape.h.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/ptx/tensor_form.h"

namespace tcq::oracle {

using ptx::OpcodeReading;
using ptx::OpcodeShape;
using ptx::read_wgmma;
using ptx::read_words;
using ptx::shortened;
using ptx::Spelling;

// Everything the keys of a wgmma mnemonic can say.
struct Instruction {
  wgmma::Form form;
  int selector = 0;        // sparse: sp-sel
  bool accumulate = true;  // scale-d
};

// Keys that parse_instruction() understands; a verb adds its own to them.
inline constexpr std::array<std::string_view, 7> instruction_keys = {
    "a", "major_a", "major_b", "accumulate", "negate_a", "negate_b", "selector"};

// A name that sim/ptx has, with all its words or not: legal or not, it is no unknown mnemonic.
bool is_ptx_opcode(std::string_view word);

// Throws UsageError for a word that is no mnemonic, FaultError for an illegal instruction (both
// with the nearest spelling), UnmodelledError for other instructions that exist.
Instruction parse_instruction(std::string_view mnemonic, const Keys& keys);

// The short form: "wgmma.m64n24k16.f32.bf16.bf16".
std::string short_mnemonic(const wgmma::Form& form);

// "wgmma.m64n24k16.f32.bf16.bf16 a=regs major_b=MN", as it can be typed back.
std::string mnemonic_with_keys(const Instruction& instruction);

// The instruction of a question whose first word is the mnemonic, and whose --arch (if any) has it;
// throws FaultError if that target lacks it.
Instruction instruction_of(const Question& question, const Keys& keys);

inline constexpr std::string_view mnemonic_expected =
    "a mnemonic such as wgmma.m64n24k16.f32.bf16.bf16";

// Word `index` of the question; throws UsageError that says `expected` if there are fewer.
std::string_view word_at(const Question& question, std::size_t index, std::string_view expected);

// The words from `first` on, as keys are given to Keys.
std::span<const std::string_view> words_from(const Question& question, std::size_t first);

// sm_90a for "sm_90a", "h100", "h200", "hopper" and so on; throws UsageError.
Target parse_target(std::string_view word);

// --arch, or sm_90a if it was not given.
Target target_of(const Question& question);

// Every legal opcode (474 dense, 456 sparse) with A in shared memory, ordered by sparse, types, N;
// found by asking sim/isa/wgmma/shape.h about the whole cross product. Both places of A share one opcode.
std::vector<wgmma::Form> all_forms();

}  // namespace tcq::oracle
