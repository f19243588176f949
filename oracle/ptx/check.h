// Is one PTX statement of wgmma or tcgen05 legal, and if not, why not? See check.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oracle/ptx/ptx_statement.h"
#include "oracle/ptx/verdict.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// Without a target that of the instruction: sm_90a, or sm_100a for tcgen05.
Verdict check_statement(const PtxStatement& statement, std::optional<Target> asked);

// What PTX is assembled for: what was asked, or else what the last .target said.
struct PtxTarget {
  std::optional<Target> target;  // none: that of each instruction
  bool is_asked = false;
  std::string unknown;  // .target names this one

  void read_directive(std::string_view directive);
};

// The same, for text: malformed text of wgmma and tcgen05 is illegal, and of an unknown target
// unmodelled. `statement` gets what could be parsed.
Verdict check_text(std::string_view text, const PtxTarget& target, RegisterScope scope,
                   std::optional<PtxStatement>& statement);

}  // namespace tcq::oracle
