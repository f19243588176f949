// Registers that a step reads and writes: who may (wgmma_order.h), what tcgen05.ld in flight has to
// bring first, and whether what a load brought was used.
#pragma once

#include "sim/async/step.h"

namespace tcq::machine {

// False: a Fault. Values that are read count as used, those that are written over as lost.
// `moved`: it counts as executed before the wgmma.fence ahead.
bool reads(Step& s, RegisterRange range, bool moved = false);
bool writes(Step& s, RegisterRange range, bool moved = false);
bool check_order(Step& s, const wgmma::OrderFault& found, RegisterRange range);

// A load has brought the values; its log entry waits for them to be used.
void note_loaded(Step& s, AccessId load, RegisterRange range);
void note_loaded(Step& s, AccessId load, wgmma::RegisterList registers);
void note_used(Step& s, RegisterRange range);

}  // namespace tcq::machine
