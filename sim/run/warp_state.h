// What a warp of a kernel is at: groups of lanes that go their own ways, and where they meet again.
//
// Lanes part at a branch that they do not all take, and meet where all ways on meet (Op::join). A group that waits
// lets the others go on, as since Volta. Registers are the machine's (Warp::registers).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "sim/async/cluster_state.h"
#include "sim/run/kernel.h"

namespace tcq::run {

struct Join {
  ptx::Index at = ptx::none;
  std::uint32_t lanes = 0;  // that have not ended
  std::uint32_t arrived = 0;
  int parent = -1;
};

// What is to be done with the results once all statements of an instruction were executed.
enum class Result : std::uint8_t {
  None,
  Load,
  Matrices,
  Fragment,
  Test,
  Passed,
  Token,
  Vote,
  Cells,
  Rows
};

// Of the threads that have come to one use of a barrier that reduces.
struct Votes {
  std::uint32_t threads = 0, yes = 0;
};
struct VoteKey {
  int cta = 0, barrier = 0;
  std::uint32_t use = 0;  // how many-th of the warp: all warps count alike
  auto operator<=>(const VoteKey&) const = default;
};

// A strong access that changed nothing: poll.h.
struct Poll {
  ptx::Index at = ptx::none;
  machine::WatchedBytes watched;
  std::uint64_t state = 0;   // of the warp when it was issued; 0: nobody asked
  std::uint32_t rounds = 0;  // that found the same
};

struct Group {
  std::uint32_t lanes = 0;
  ptx::Index pc = 0;
  int join = -1;
  bool converges = false;  // waits for other lanes of a mask
  std::uint32_t converge_mask = 0;
  std::vector<Group*> party;             // that wait until it has executed a barrier for them, too
  std::deque<machine::Statement> queue;  // of the instruction that it stands before
  std::uint32_t active = 0;              // lanes that execute it
  Result result = Result::None;
  const Votes* votes = nullptr;  // of the barrier that it stands before
  machine::LaneBytes data = {};
  machine::LaneAccess access;  // the newest that was plain, whose lists' memory is used again
  std::uint32_t passed = 0;    // of a test: lanes of the statements that were executed
  std::uint32_t tests = 0;     // of an mbarrier, in loops that count them, since one passed
  // The last poll: where, and whether anything was done since.
  ptx::Index polled = ptx::none;
  machine::LaneBytes seen = {};
  bool acted = true;
  // Of the strong access that is issued: did it change a byte; its Poll::state.
  bool changed = false;
  std::uint64_t issued = 0;
};

// Which lanes of a register, by its first slot, hold a value that nothing defines, and which read brought it: undefined.h. Empty:
// none does. And which bytes of local memory.
struct UndefinedBranch {
  ptx::Index at = 0, meet = 0;
  std::uint32_t lanes = 0, from = 0;
};
enum class LocalByte : std::uint8_t { Defined, Unwritten, Filled };
struct UndefinedValues {
  std::vector<std::uint32_t> lanes, from;
  std::size_t held = 0;                       // registers some of whose lanes do
  std::vector<UndefinedBranch> branches;      // whose lanes have not all met again
  std::map<ptx::Index, std::uint32_t> reads;  // of an instruction: read_here()
  std::vector<LocalByte> local;
  std::uint32_t local_from = ~0u;  // of those that a store filled with them
};

struct WarpState {
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Join> joins;
  std::vector<machine::Candidate> candidates;
  std::vector<Group*> candidate_groups;
  std::map<VoteKey, Votes>* votes = nullptr;     // the cluster's
  std::array<std::uint32_t, 16> vote_uses = {};  // by barrier
  std::uint32_t carry = 0;
  std::uint64_t steps = 0;
  std::array<std::uint32_t, 32> stack = {};  // bytes that alloca has given to each lane
  std::vector<std::uint8_t> local;           // of lane l from l * local_bytes on
  UndefinedValues undefined;
  std::vector<Poll> polls;  // since one of its lanes did something last, the newest last
  std::array<std::uint64_t, 32> changed =
      {};                   // of each lane: the word that it was the last to change by an atomic
  std::uint64_t clock = 0;  // of the first of them
  int clock_reads = 0;      // since the newest
  std::uint64_t stores_at_once = 0;  // plain ones to global memory, of which VainRounds is told nothing
};

}  // namespace tcq::run
