// The emission protocol of wgmma as a checker over a stream of PTX statements: legality of each, and
// fence, commit and wait against the registers that the wgmmas own.
//
// Rules and their state are sim/machine/wgmma_order.h; which statement is legal says check.cc. The
// stream is straight-line code: a branch or a label is stepped over, and a note says so. Only
// registers that some wgmma uses are followed. Example: without a wait between the second line and
// the third,
//
//   wgmma.fence.sync.aligned;
//   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, 1, 1, 0, 0;
//   add.f32 %f8, %f0, %f1;
//
// gives "3  undefined  WgmmaUncommitted: ...".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/isa/fault.h"
#include "sim/isa/shape.h"

namespace tcq::oracle {

struct EmissionFinding {
  std::size_t line = 0;       // from 1
  Fault fault = Fault::None;  // None: a note
  std::string text;           // with the register, the earlier line and the cure
};

inline constexpr std::size_t max_emission_lines = 100'000;

// Throws UsageError for more lines than that, UnmodelledError for more than 256 registers.
std::vector<EmissionFinding> check_emission(std::span<const std::string> lines, Target target);

}  // namespace tcq::oracle
