// mbarriers of a cluster: who may use one, what arrivals release, what waits acquire and observe.
//
// Used by the instructions of mbarriers, by copies and by commits. What the operations do to the 64
// bits is sim/isa/copy/mbarrier.h.
//
// Source: PTX ISA 9.2, 8.9, 9.7.13.15.
#pragma once

#include "sim/async/step.h"

namespace tcq::machine {

inline ByteRange bytes_of(const MbarrierSlot& slot) {
  return {slot.address, slot.address + mbarrier::size_bytes};
}

inline std::uint64_t object_of(const MbarrierSlot& slot) {
  return mbarrier_object(slot.cta, slot.address);
}

// The mbarrier at an address, if the lane may use it. Null: a Fault.
MbarrierSlot* usable_slot(Step& s, const Address& barrier, int lane);
// One that a copy or a commit completes. Warns where nothing brought its init to the async proxy.
MbarrierSlot* slot_to_complete(Step& s, const Address& barrier, int lane);

// Before its phase is over: an arrival of a warp, the first of its statement's execution or one more.
void note_arrival(MbarrierSlot& slot, int warp, std::uint32_t count, bool is_first);
// The phase is over: what arrivals released is there for waits.
void note_completion(MbarrierSlot& slot);
void note_completion(const Step& s, MbarrierSlot& slot);  // by an arrival of the step
// Could the step's arrival have counted in the phase before? Then another order may end that phase without one it stands for.
void note_if_early(const Step& s, const MbarrierSlot& slot);
// The open phase has some of its arrivals, all of them of warps that each arrived as often in the phase before, at once: whoever
// is missing had nothing left to tell of (an accumulator's last correction, which no softmax follows).
bool is_left_evenly(const MbarrierSlot& slot);
// The arrivals of a phase are not those that its count stands for: once in an execution.
void note_uneven_arrivals(ClusterState& c, const MbarrierSlot& slot, Place at);
// The touches of one step on one mbarrier are one.
void note_touch(ClusterState& c, const Touch& touch, const mbarrier::Mbarrier& after);

void release(Step& s, MbarrierSlot& slot, Scope scope, bool relaxed);
void acquire(Step& s, MbarrierSlot& slot, Scope scope, bool relaxed);
// What a wait shows of execution, whatever it acquires: enough for tcgen05 fences and CTA starts.
void observe(Step& s, const MbarrierSlot& slot);

// Ends the warp's epoch: what it does from here on was not released.
void next_epoch(Step& s);
// An arrival or a wait of this step that was too weak, and what it would have handed on.
void note_weak(Step& s, Fault fault, bool waits, std::uint64_t object, const Clock& lost);

}  // namespace tcq::machine
