// What the verb describe says of instructions that are no matrix forms: fences, barriers, mbarriers, copies,
// groups; and of a name alone, such as tcgen05.commit, whose forms `list` has.
//
// The words are oracle/explain/instructions.md. Example: `mbarrier.try_wait.parity.shared::cta.b64`.
#pragma once

#include <string_view>

#include "oracle/answer/answer.h"

namespace tcq::oracle {

// A name that has a page, or an opcode of one whose forms sim/isa does not have.
bool is_machine_instruction(std::string_view mnemonic);

// Throws UsageError for words that the opcode does not have.
Answer describe_machine_instruction(const Question& question);

// What is said of an opcode that exists and has no page.
[[noreturn]] void throw_undescribed(std::string_view mnemonic);

}  // namespace tcq::oracle
