// Accesses to shared and global memory by a step: which CTA may be reached, whether an access is ordered
// behind those before it, and which Fault it is where it is not.
//
// The verdict on bytes is provenance.h's; what came before and between decides how it is called: a wait
// that passed too early, an arrival too weak, a copy still in flight.
//
// Source: PTX ISA 9.2, 8.6 "Proxies", 8.9, 9.7.16.7.1 (the warp makes sure that the peer CTA is
// launched); CUDA C++ Programming Guide, Distributed Shared Memory (cluster.sync() says that all CTAs
// have started).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/async/step.h"

namespace tcq::machine {

// An access by the step's lanes through the generic proxy, now.
Access generic_access(const Step& s, AccessKind kind);

// The access touches bytes of a CTA's shared memory, or of global memory. False if that is a Fault; a
// read of unwritten bytes is remembered.
bool record(Step& s, AccessId access, int cta, ByteRange bytes);
bool record_global(Step& s, AccessId access, ByteRange bytes);
// A read of whole chunks of 16 bytes of the own CTA, in this order, as long as there is nothing to be said of them: how
// many those are.
std::size_t record_ordered(Step& s, AccessId access, std::span<const std::uint32_t> chunks);

// The CTA exists and still runs. Else a Fault.
bool cta_runs(Step& s, int cta, int lane);
// And the remote use is remembered: the CTA's end has to be ordered behind it. A copy needs no
// memory of its issue: it is remembered while in flight and when it has landed.
bool reach_cta(Step& s, int cta, int lane);
bool has_started(Step& s, int cta, int lane);  // and the warp knows. Else a Fault
void learn_starts(Step& s);                    // from what its waits showed

// Which weak arrival or wait kept (stream, tick) from somebody who lost it: the own wait before the
// arrivals of others, and those before the waits of others. None: nothing weak did.
// `frees`: bytes that were loaded are overwritten, for which what a warpgroup's wgmma gathered counts, too (gathered.h).
const WeakSync* find_weak(const ClusterState& c, const Clock& lost, int warp, Stream stream,
                          Tick tick, bool frees = false);
// As what published kernels rely on where they have it: at scope .cta an overwriting behind another CTA's use, or an mma of
// a pair that reads what the peer wrote to its own shared memory (`with_writer`), a CTA's
// own bytes behind a relaxed barrier.cluster, the end of a CTA. Else the weak sync's own Fault.
Fault fault_where_bytes_change_hands(const WeakSync& weak, bool with_writer, bool stays_in_cta);
inline Fault fault_at_exit(const WeakSync& weak) {
  return fault_where_bytes_change_hands(weak, true, true);
}
// One between the step and the tick was relaxed, or its scope too narrow: that is the Fault.
bool is_known_too_weakly(const Step& s, Stream stream, Tick tick, Fault& fault, Place& hint);

}  // namespace tcq::machine
