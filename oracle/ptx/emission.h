// The emission protocol of wgmma as a checker over PTX: legality of each statement, and fence, commit
// and wait against the registers that the wgmmas own, on every path.
//
// Rules and their state are sim/async/wgmma_order.h; which statement is legal says check.cc. The text is
// decoded loosely by sim/ptx (loose.h), whose blocks are the paths; what of it matters says
// emission_program.h. Only registers that some wgmma uses are followed. A branch may go either way, so
// that a finding holds on some path; which predicate belongs to which is not followed; a branch by a table
// goes to the labels of its .branchtargets. Example: without a wait between the second line and the third,
//
//   wgmma.fence.sync.aligned;
//   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
//   add.f32 %f8, %f0, %f1;
//
// gives "3  undefined  WgmmaUncommitted: ...".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

struct EmissionFinding {
  std::size_t line = 0;       // from 1
  Fault fault = Fault::None;  // None: not followed
  FaultKind kind = FaultKind::Unmodelled;
  std::string text;  // with the register, the earlier line, the Fix (explain.h), in a function what
                     // ptxas says of it, and the place that .loc names
};

inline constexpr std::size_t max_emission_lines = 1'000'000;

// Without a target that of the text's .target, or sm_90a. Throws UsageError for more lines than
// that.
// Whatever could matter and is not followed is a finding of kind Unmodelled: none at all means that
// every wgmma was followed and every rule kept.
std::vector<EmissionFinding> check_emission(std::span<const std::string> lines,
                                            std::optional<Target> target);

}  // namespace tcq::oracle
