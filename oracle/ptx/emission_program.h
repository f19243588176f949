// A PTX text as programs of the few statements that the order of wgmma depends on.
//
// Decides which statements those are, which of their operands are registers of a wgmma (by the name's
// declaration in its block, in any order), and where control goes. What the rules make of them is
// emission.cc. Whatever is not followed becomes a finding with its line. Example: of "mov.b32 %r1,
// %r2; L: @p bra L; wgmma.fence.sync.aligned;" the jump and the fence remain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/ptx/emission.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

struct EmissionStep {
  enum class Kind : std::uint8_t { Fence, Commit, Wait, Mma, Access, Jump, End, Unknown };
  Kind kind = Kind::Access;
  std::size_t line = 0;
  bool guarded = false;   // may be stepped over
  bool releases = false;  // shared memory
  bool aborts = false;    // End: trap, behind which nothing matters
  int pending = 0;        // Wait
  wgmma::Form form{};     // Mma
  bool accumulate = true;
  std::vector<int> d, a, metadata;
  std::vector<int> reads, writes;    // Access
  std::vector<std::size_t> targets;  // Jump, Unknown: indices of steps
};

// One kernel, one function, or all that stands outside of them.
struct EmissionProgram {
  std::vector<EmissionStep> steps;
  std::vector<std::string> registers;  // names
  std::vector<bool> is_metadata;       // and of no accumulator or fragment
  bool is_called = false;              // .func: what its callers did is not known
  bool is_loose = false;               // outside of kernels and functions: nothing ptxas would take
  std::size_t last_line = 0;
  bool has_wgmma = false;  // mma_async
  bool is_straight = true;
};

// The longest wait that is followed: no more groups are told apart.
inline constexpr int max_pending = 255;

// What .loc says of the lines from that one on, up to the next one: `gemm.cu:42`. Empty: nothing.
using SourceLines = std::map<std::size_t, std::string>;

// Findings of single statements are added to `findings`, places in the source to `sources`.
std::vector<EmissionProgram> read_programs(std::span<const std::string> lines,
                                           std::optional<Target> target,
                                           std::vector<EmissionFinding>& findings,
                                           SourceLines& sources);

}  // namespace tcq::oracle
