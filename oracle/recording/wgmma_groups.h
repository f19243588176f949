// wgmmas in groups and wait_group N: the sequence, and what the simulator makes of it.
//
// All wgmmas are m64n8k16 with f32 accumulators; every accumulator belongs to one group and gets a
// chain of 1 to 3 wgmmas, each with tiles of its own. Shared memory holds the tiles, global memory the
// accumulators before, thread-major, one after the other. The output is all accumulators: those that
// wait_group N covers as they were behind it, the others as they were at the end. Groups are counted
// with the empty ones. The device: cuda/probe/groups_sm90.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/isa/copy/operands.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::oracle {

// What stands between the groups of wgmmas.
enum class Between : std::uint8_t {
  Nothing,
  EmptyFirst,   // commit_group before the first wgmma
  EmptyMiddle,  // two commit_groups in a row behind the first group
  EmptyLast,    // two in a row at the end
  Uncommitted,  // wgmmas of another accumulator, with no commit_group, before the last group
};
inline constexpr int between_count = 5;
inline constexpr int max_groups = 4;  // that are not empty

struct WgmmaGroups {
  static constexpr int first_code = 14;
  static constexpr int kind_count = 1;

  Type type = Type::f16;  // of A and B; or bf16
  int groups = 1;         // that are not empty
  int pending = 0;        // N of wait_group
  Between between = Between::Nothing;

  friend constexpr bool operator==(const WgmmaGroups&, const WgmmaGroups&) = default;
};

void fields(Fields& io, WgmmaGroups& e);
Memories state(const WgmmaGroups& e, const Inputs& inputs);
Prediction predict(const WgmmaGroups& e, const Inputs& inputs, Memories before);
std::string describe(const WgmmaGroups& e, const Inputs& inputs);
std::string place(const WgmmaGroups& e, const Inputs& inputs, std::size_t at);
Properties properties(const WgmmaGroups& e, const Inputs& inputs);

struct GroupsSequence {
  std::vector<wgmma::GroupsStatement> statements;  // behind them wait_group `pending`
  int accumulators = 0;
  int committed = 0;         // groups
  std::vector<int> covered;  // accumulators of all groups but the `pending` youngest
};

wgmma::Form groups_form(const WgmmaGroups& e);
GroupsSequence groups_sequence(const WgmmaGroups& e, const Inputs& inputs);

}  // namespace tcq::oracle
