// Of each instruction of a decoded text: is it legal, where is its source, and what about it is not followed.
//
// Decides nothing itself: what is legal says check.h of each statement of wgmma and tcgen05, what cannot be read or
// decoded the complaints of sim/ptx. Either becomes a finding at its line. Example: of "frobnicate x;" the finding is
// "'frobnicate' is no opcode that is known: not followed".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracle/ptx/emission.h"
#include "sim/ptx/program.h"

namespace tcq::oracle {

// What .loc says of the lines from that one on, up to the next one: `gemm.cu:42`. Empty: nothing.
using SourceLines = std::map<std::size_t, std::string>;

struct EmissionStatements {
  std::vector<bool> illegal;  // by instruction of the program
  SourceLines sources;
};

EmissionFinding not_followed(std::size_t line, const std::string& why);

// Findings of single statements are added to `findings`.
EmissionStatements judge_statements(const ptx::Program& program, std::optional<Target> target,
                                    std::vector<EmissionFinding>& findings);

}  // namespace tcq::oracle
