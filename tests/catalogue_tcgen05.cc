// Rows T: tcgen05 and Tensor Memory in one CTA. Pairs of CTAs: catalogue_tcgen05_pair.cc.
#include "tests/catalogue.h"
#include "tests/catalogue_tcgen05_kit.h"

namespace tcq::catalogue {
namespace {

// Two tiles on one accumulator: mma, commit, ld, hand back, mma again.
struct Slip {
  int lane = 32;
  bool accumulate_first = false;
  bool wait_ld = true;
  bool before = true;       // fence of the epilogue
  bool after_done = true;   // fence of the epilogue
  bool after_empty = true;  // fence of the mma thread
  bool commit = true;
  int commit_group = 1;
  bool dealloc = true;
  int dealloc_columns = 32;
};

Program two_tiles(const Slip& slip) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  Role& mma = t.mma;
  Role& epilogue = t.epilogue;
  for (int tile = 0; tile < 2; ++tile) {
    if (tile == 1) {
      mma.mbarrier_try_wait(t.empty, 0);
      if (slip.after_empty) mma.tcgen05_fence_after();
    }
    mma.tcgen05_mma(f16_mma(t.a, t.b, tile == 0 && slip.accumulate_first));
    mma.tcgen05_mma(f16_mma(t.a, t.b, true));
    if (slip.commit || tile == 1) mma.tcgen05_commit(t.done, slip.commit_group);
    epilogue.mbarrier_try_wait(t.done, tile);
    if (slip.after_done) epilogue.tcgen05_fence_after();
    epilogue.tcgen05_ld(all_of_d, at_column(0, slip.lane), 0);
    t.store_tile(tile);  // the registers are enough for the value
    if (slip.wait_ld) epilogue.tcgen05_wait_ld();
    if (slip.before) epilogue.tcgen05_fence_before();
    epilogue.mbarrier_arrive(t.empty);
  }
  t.mma_warp.mbarrier_try_wait(t.empty, 1);
  if (slip.dealloc) t.mma_warp.tcgen05_dealloc(tmem_base, slip.dealloc_columns);
  return t.p;
}

Program t1(bool mutant) { return two_tiles({.lane = mutant ? 0 : 32}); }
Program t3a(bool mutant) { return two_tiles({.dealloc = !mutant}); }
Program t3b(bool mutant) { return two_tiles({.dealloc_columns = mutant ? 64 : 32}); }
Program t4(bool mutant) { return two_tiles({.wait_ld = !mutant}); }
Program t5a(bool mutant) { return two_tiles({.after_done = !mutant}); }
Program t5b(bool mutant) { return two_tiles({.before = !mutant}); }
Program t5c(bool mutant) { return two_tiles({.after_empty = !mutant}); }
Program t8a(bool mutant) { return two_tiles({.commit = !mutant}); }
Program t8b(bool mutant) { return two_tiles({.commit_group = mutant ? 2 : 1}); }
Program t10(bool mutant) { return two_tiles({.accumulate_first = mutant}); }

constexpr Entry entries[] = {
    {"T1", "the epilogue warp names lanes of another warp", Fault::TmemLaneNotOwned, t1,
     "warp 1 reaches lanes 32-63 only (warp % 4 = 1)"},
    {"T3a", "no dealloc before exit", Fault::TmemLeaked, t3a,
     "columns 0-31 still allocated at exit"},
    {"T3b", "dealloc of more columns than alloc returned", Fault::TmemDeallocAddress, t3b,
     "was allocated otherwise by tcgen05.alloc"},
    {"T4", "no wait::ld before the columns are handed back", Fault::TmemWaitMissing, t4,
     "orders the value, not the release"},
    {"T5a", "no fence::after_thread_sync between the wait and the ld", Fault::TmemFenceAfterMissing,
     t5a, "put tcgen05.fence::after_thread_sync behind the wait"},
    {"T5b", "no fence::before_thread_sync before the arrival", Fault::TmemFenceBeforeMissing, t5b,
     "put tcgen05.fence::before_thread_sync behind"},
    {"T5c", "no fence::after_thread_sync between the wait and the mma",
     Fault::TmemFenceAfterMissing, t5c, "tcgen05.ld.32x32b.x16"},
    {"T8a", "no commit", Fault::Deadlock, t8a, "no commit of its thread and cta_group"},
    {"T8b", "a commit of the other cta_group", Fault::TmemNotComplete, t8b, "does not track it"},
    {"T10", "the first mma of a tile accumulates", Fault::TmemUninitialized, t10,
     "nothing has written them since their alloc"},
};

}  // namespace

std::span<const Entry> tcgen05_entries() { return entries; }

}  // namespace tcq::catalogue
