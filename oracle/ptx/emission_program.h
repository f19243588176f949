// One function of a decoded text as the few steps that the order of wgmma depends on.
//
// Decides which instructions those are and which of their operands are registers of a wgmma. Instructions, registers
// and blocks are those of sim/ptx; what is legal says emission_statements.h, what the rules make of the steps
// emission.cc. Whatever is not followed becomes a finding with its line. Example: of "mov.b32 %r1, %r2; L: @p bra L;
// wgmma.fence.sync.aligned;" the fence remains, in the second block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/ptx/emission.h"
#include "oracle/ptx/emission_statements.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/ptx/program.h"

namespace tcq::oracle {

struct EmissionStep {
  enum class Kind : std::uint8_t { Fence, Commit, Wait, Mma, Access, End, Unknown };
  Kind kind = Kind::Access;
  std::size_t line = 0;
  bool guarded = false;   // may be stepped over
  bool releases = false;  // shared memory
  bool aborts = false;    // End: trap, behind which nothing matters
  int pending = 0;        // Wait
  wgmma::Form form{};     // Mma
  bool accumulate = true;
  std::vector<int> d, a, metadata;
  std::vector<int> reads, writes;  // Access
};

// Steps [first, last) that follow each other, and the blocks that may come next.
struct EmissionBlock {
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<std::size_t> next;
  std::size_t arrivals = 0;  // of the others, and of the start
};

// One kernel, one function, or all that stands outside of them.
struct EmissionProgram {
  std::vector<EmissionStep> steps;
  std::vector<EmissionBlock> blocks;   // it begins at the first one
  std::vector<std::string> registers;  // names
  std::vector<bool> is_metadata;       // and of no accumulator or fragment
  bool is_called = false;              // .func: what its callers did is not known
  bool is_loose = false;               // outside of kernels and functions: nothing ptxas would take
  std::size_t last_line = 0;
  bool has_wgmma = false;  // mma_async
  bool is_straight = true;
  bool goes_anywhere = false;  // some branch's labels are not known
};

// The longest wait that is followed: no more groups are told apart.
inline constexpr int max_pending = 255;

EmissionProgram emission_program(const ptx::Program& program, const ptx::Code& code,
                                 const EmissionStatements& statements,
                                 std::vector<EmissionFinding>& findings);

}  // namespace tcq::oracle
