// Values that nothing defines, followed through a warp's registers, its local memory and shared memory: which read, or shfl,
// brought them, and whether anything depends on them (sim/async/undefined_bytes.h). So are values of loads that race
// (unused_loads.h there).
//
// An address, an operand of wgmma, a store to global memory depend on a value; arithmetic makes more of them, lane by
// lane, and so does a guard, and a branch of what is computed before its lanes meet again. A branch around anything
// else is a use. Where the other operand decides alone, the result is defined: selp that takes the other one, `and`
// with false, setp.and behind a false predicate. mma.sync: a row of A makes a row of D undefined, a column of B a
// column.
//
// Of a load that races, mma.sync and every store but one to local memory are uses, too. Where a register holds values
// of several reads, in whichever lanes, a racing one stands for them.
//
// Costs nothing as long as no such value is in a register.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/run/exchange.h"
#include "sim/run/executor.h"

namespace tcq::run {

// Of one register: which lanes, and the read of the cluster's unwritten_reads that the first of them goes back to.
struct Undefined {
  std::uint32_t lanes = 0;
  std::uint32_t from = 0;
};

inline bool has_undefined(const Executor& x) { return !x.state.undefined.lanes.empty(); }

// Before an instruction is executed by these lanes; of one that waits for other lanes, what is not theirs alone.
void follow(Executor& x, const Op& op, std::uint32_t lanes);
// Behind one that computes: predicates that depend on what nothing has written are assumed (sim/async/undefined_bytes.h).
void assume_predicates(Executor& x, const Op& op, std::uint32_t lanes);
// Where lanes of such a branch meet again.
void follow_meeting(Executor& x);
// Before vote, match, redux, elect, and before lanes wait for each other.
void follow_votes(Executor& x, const Op& op, std::uint32_t lanes);
// Before shfl (shuffle.h); `all` has the operands of all lanes. Lanes whose source takes no part.
std::uint32_t follow_shuffle(Executor& x, std::span<const Place> places, const alu::Arguments& all);
// Of values of no memory: the read that the present instruction is of them, one for all times that the warp executes it.
std::uint32_t read_here(Executor& x, Fault fault, std::uint32_t lanes);

Undefined undefined_in(const Executor& x, const ptx::Value& reg, std::uint32_t lanes);
void set_undefined(Executor& x, const ptx::Value& reg, Undefined what, std::uint32_t lanes);
void use(Executor& x, Undefined what);
// By what no contents excuse (sim/async/undefined_bytes.h): who takes part in an exchange, an operand of the asynchronous machine.
void use_bound(Executor& x, Undefined what);
Undefined both(const Executor& x, Undefined a, Undefined b);

// Of wgmma: D holds nothing from before; and rows of D that are made of rows of A nobody may use (sim/async/unused_loads.h).
void define_rows(Executor& x);
void follow_rows(Executor& x);

// What the present instruction, a load, has found unwritten is followed from now on: its number there.
std::uint32_t follow_reads(Executor& x);
// Of these, that which found what nothing had written; and that which left the lane, or row of a matrix, out of all
// orders (sim/async/unused_loads.h).
std::uint32_t unwritten_read(const Executor& x, std::uint32_t first);
std::optional<std::uint32_t> racing_read(const Executor& x, std::uint32_t first, int lane);
bool is_racing(const Executor& x, Undefined what);

}  // namespace tcq::run
