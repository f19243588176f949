// Stores to shared memory that the async proxy reads with no fence.proxy.async in between, on some path.
//
// Decides what is certain within one function's text, and what is said not to be followed. Certain is: threads
// store to a variable, then synchronise, then a wgmma, tcgen05 or bulk copy reads that variable, nothing else in
// the function could have filled it, be it a bulk copy, an atomic or a store that a fence follows, and on that path
// no fence.proxy.async stands in between. Where the addresses do not tell, or something else writes the variable as
// well, at other bytes of it perhaps, that is not followed, and said; so it is of cp.async, behind which Triton's
// kernels for sm_90 and sm_100 have no such fence before wgmma and tcgen05.mma. Not asked: whether the thread that
// fences is the one that stored (`tcq run` asks), atomics, and reads before a copy overwrites. Example:
//
//   st.shared.b32 [tile], %r1;  bar.sync 0;  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
//
// gives ProxyFenceMissing at the copy.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 9.7.13.4 "membar / fence"
#pragma once

#include <vector>

#include "oracle/ptx/emission.h"
#include "sim/ptx/program.h"

namespace tcq::oracle {

void find_proxy(const ptx::Program& text, const ptx::Code& code,
                std::vector<EmissionFinding>& findings);

}  // namespace tcq::oracle
