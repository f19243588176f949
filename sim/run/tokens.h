// The state that an arrival on an mbarrier returns: mbarrier::state_word(), and of which mbarrier it is, in bits of the number of the
// phase that no wait looks at.
//
// A wait on another one is TokenOfOtherMbarrier. A number that no arrival returned names none, and is not asked.
// Example: "mbarrier.arrive.shared.b64 %rd1, [a]; mbarrier.test_wait.shared.b64 %p1, [b], %rd1;"
//
// Source: PTX ISA 9.2, 9.7.13.15.16 (the state "was returned by an mbarrier.arrive instruction on the same mbarrier object"). Inferred: the
// bits, which PTX leaves opaque.
#pragma once

#include "sim/run/executor.h"

namespace tcq::run {

// `barrier` as shared_at() gives it.
std::uint64_t token_of(std::uint64_t state_word, std::uint32_t barrier);
// Of a wait, whose operands are d, [barrier], token. False: a Fault.
bool demand_own_token(Executor& x);

}  // namespace tcq::run
