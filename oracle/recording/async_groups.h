// wgmmas in groups and wait_group N: the sequence behind a case, what the simulator makes of it.
//
// A part of async_case.h. All wgmmas are m64n8k16 with f32 accumulators; every accumulator belongs
// to one group and gets a chain of 1 to 3 wgmmas, each with tiles of its own. The case's shared
// memory holds the tiles, its global memory the accumulators before, thread-major, one after the
// other. The output is all accumulators: those that wait_group N covers as they were behind it, the
// others as they were at the end. Groups are counted with the empty ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/async_case.h"
#include "sim/machine/wgmma.h"

namespace tcq::oracle {

inline constexpr int max_groups = 4;  // that are not empty

struct GroupsStatement {
  bool commit = false;  // wgmma.commit_group; else a wgmma
  int accumulator = 0;
  wgmma::Instruction instruction;
};

struct GroupsSequence {
  std::vector<GroupsStatement> statements;  // behind them wait_group groups.pending
  int accumulators = 0;
  int committed = 0;         // groups
  std::vector<int> covered;  // accumulators of all groups but the `pending` youngest
};

wgmma::Form groups_form(const AsyncCase& c);
GroupsSequence groups_sequence(const AsyncCase& c);

// Fills the tiles and the accumulators with numbers that change every sum.
void fill_groups_operands(const AsyncCase& c, AsyncState& state);

Prediction predict_groups(const AsyncCase& c, AsyncState&& inputs);

std::string describe_groups(const AsyncCase& c);
// "accumulator 1 thread 5 register 2 byte 0".
std::string groups_output(const AsyncCase& c, std::size_t at);

// The suite groups of async_suites.h.
std::vector<AsyncCase> wgmma_groups(std::uint64_t seed);

}  // namespace tcq::oracle
