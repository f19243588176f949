// Rows T: tcgen05 and Tensor Memory in one CTA. Pairs of CTAs: catalogue_tcgen05_pair.cc.
#include "tests/async/catalogue.h"
#include "tests/async/catalogue_tcgen05_kit.h"

namespace tcq::catalogue {
namespace {

// Two tiles on one accumulator: mma, commit, ld, hand back, mma again.
struct Slip {
  int lane = 32;
  bool accumulate_first = false;
  bool wait_ld = true;
  bool use_first = true;  // the registers, before the columns are handed back
  bool relaxed_hand_back = false;
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
    if (slip.use_first) t.store_tile(tile);  // the registers are enough for the value
    if (slip.wait_ld) epilogue.tcgen05_wait_ld();
    if (slip.before) epilogue.tcgen05_fence_before();
    epilogue.add(MbarrierArrive{t.empty, 1, Scope::Cta, slip.relaxed_hand_back});
    if (!slip.use_first) t.store_tile(tile);
  }
  t.mma_warp.mbarrier_try_wait(t.empty, 1);
  if (slip.dealloc) t.mma_warp.tcgen05_dealloc(tmem_base, slip.dealloc_columns);
  return t.p;
}

Program t1a(bool mutant) { return two_tiles({.lane = mutant ? 64 : 32}); }
Program t1b(bool mutant) { return two_tiles({.lane = mutant ? 0 : 32}); }
Program t3a(bool mutant) { return two_tiles({.dealloc = !mutant}); }
Program t3b(bool mutant) { return two_tiles({.dealloc_columns = mutant ? 64 : 32}); }
Program t4a(bool mutant) { return two_tiles({.wait_ld = !mutant, .use_first = false}); }
Program t4b(bool mutant) { return two_tiles({.wait_ld = !mutant}); }
Program t5a(bool mutant) { return two_tiles({.after_done = !mutant}); }
Program t5b(bool mutant) { return two_tiles({.before = !mutant}); }
Program t5c(bool mutant) { return two_tiles({.after_empty = !mutant}); }
// A relaxed arrival is enough, with the fences; the arrival itself releases nothing.
Program t5f(bool mutant) { return two_tiles({.relaxed_hand_back = true, .before = !mutant}); }
Program t8a(bool mutant) { return two_tiles({.commit = !mutant}); }
Program t8b(bool mutant) { return two_tiles({.commit_group = mutant ? 2 : 1}); }
Program t10(bool mutant) { return two_tiles({.accumulate_first = mutant}); }

// --- allocation ------------------------------------------------------------------------------------

// One warp allocates and frees, nothing else.
struct Allocating {
  Program p{{.threads = 64}};
  std::uint32_t slots = p.shared("tmem_address", 16, 16);
  Role first = p.warps("first", 0, 1);
  Role second = p.warps("second", 1, 1);

  void take(Role& role, int columns, unsigned slot = 0, int reg = address_register) {
    role.tcgen05_alloc(slots + 4 * slot, columns).load_shared({slots + 4 * slot, 0}, reg);
  }
  void free(Role& role, int columns, int reg = address_register) {
    role.tcgen05_dealloc({reg, 0, 0}, columns);
  }
};

Program t2a(bool mutant) {
  Allocating t;
  const int columns = mutant ? 48 : 64;
  t.take(t.first, columns);
  t.free(t.first, columns);
  return t.p;
}
Program t2b(bool mutant) {
  Allocating t;
  Role some = mutant ? t.first.elect() : t.first;
  t.take(some, 32);
  t.free(t.first, 32);
  return t.p;
}
// Two warps, each with its own columns.
Program t2c(bool mutant) {
  Allocating t;
  t.take(t.first, 256);
  t.take(t.second, 256, 1);
  if (mutant) t.take(t.second, 32, 2, address_register + 1);
  t.first.barrier_sync();
  t.second.barrier_sync();
  t.free(t.first, 256);
  t.free(t.second, 256);
  if (mutant) t.free(t.second, 32, address_register + 1);
  return t.p;
}
Program t2d(bool mutant) {
  Allocating t;
  if (mutant) t.first.tcgen05_relinquish();
  t.take(t.first, 32);
  if (!mutant) t.first.tcgen05_relinquish();
  t.free(t.first, 32);
  return t.p;
}
Program t2e(bool mutant) {
  Allocating t;
  t.take(t.first, mutant ? 32 : 64);
  t.take(t.first, mutant ? 64 : 32, 1, address_register + 1);
  t.free(t.first, mutant ? 32 : 64);
  t.free(t.first, mutant ? 64 : 32, address_register + 1);
  return t.p;
}
// The warps share all columns, one after the other: alloc waits for the other's dealloc.
Program t2f(bool mutant) {
  Allocating t;
  for (Role* role : {&t.first, &t.second}) {
    t.take(*role, 512, role == &t.first ? 0 : 1);
    if (!mutant || role == &t.second) t.free(*role, 512);
  }
  t.first.barrier_sync();
  t.second.barrier_sync();
  if (mutant) t.free(t.first, 512);
  return t.p;
}
// The warp that allocated frees before the other one has read.
Program t3c(bool mutant) {
  Allocating t;
  t.take(t.first, 32);
  t.first.move({0, 1}, 5).tcgen05_st({tcgen05::LdShape::S32x32b, 1}, tmem_base, 0);
  t.first.tcgen05_wait_st().barrier_sync();
  t.second.barrier_sync().load_shared({t.slots, 0}, address_register).move({0, 1}, 6);
  t.second.tcgen05_st({tcgen05::LdShape::S32x32b, 1}, at_column(0, 32), 0).tcgen05_wait_st();
  if (mutant) t.free(t.first, 32);
  t.first.barrier_sync(1, 64);
  t.second.barrier_sync(1, 64);
  if (!mutant) t.free(t.first, 32);
  return t.p;
}
Program t3d(bool mutant) {
  Allocating t;
  t.take(t.first, 32);
  t.free(t.first, 32);
  if (mutant) t.first.move({0, 1}, 5).tcgen05_st({tcgen05::LdShape::S32x32b, 1}, tmem_base, 0);
  return t.p;
}
Program t3e(bool mutant) {
  Allocating t;
  t.take(t.first, 32);
  t.free(t.first, 32);
  if (mutant) t.free(t.first, 32);
  return t.p;
}
// As CUTLASS's stream-K: sums go back to where they came from, and the epilogue loads them.
Program t7d(bool mutant) {
  Allocating t;
  t.take(t.first, 32);
  t.first.move({0, 1}, 5).tcgen05_st({tcgen05::LdShape::S32x32b, 1}, tmem_base, 0);
  if (!mutant) t.first.tcgen05_wait_st();
  t.first.tcgen05_ld({tcgen05::LdShape::S32x32b, 1}, tmem_base, 1).tcgen05_wait_ld();
  t.free(t.first, 32);
  return t.p;
}
// A warp that assumes column 0 instead of reading the address behind a barrier.
Program t3f(bool mutant) {
  Allocating t;
  t.take(t.first, 32);
  if (!mutant) t.first.barrier_sync();
  if (!mutant) t.second.barrier_sync();
  t.second.move({0, 1}, 6).tcgen05_st({tcgen05::LdShape::S32x32b, 1}, {-1, 32, 0}, 0);
  t.second.tcgen05_wait_st();
  t.first.barrier_sync(1, 64);
  t.second.barrier_sync(1, 64);
  t.free(t.first, 32);
  return t.p;
}

// --- pairs that are not ordered --------------------------------------------------------------------

// The issuing warp itself reads the accumulator.
Program t6(bool mutant) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  t.mma.tcgen05_mma(f16_mma(t.a, t.b, false)).tcgen05_commit(t.done);
  if (!mutant) t.mma_warp.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.mma_warp.tcgen05_ld(all_of_d, tmem_base, 0).tcgen05_wait_ld();
  if (mutant) t.mma_warp.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.mma_warp.store_global(t.out, 4 * tmem_n, {0, tmem_n}).tcgen05_dealloc(tmem_base, 32);
  return t.p;
}

// kind mxf8f6f4: scale factors by cp in front of each mma.
Program scaled(bool commit_between, int scale_column) {
  Tcgen05Tile t;
  const std::uint32_t scales = t.p.shared("scales", 512);
  const Address between = t.p.mbarrier("between");
  t.everybody.elect().mbarrier_init(between, 1);
  t.start();
  t.mma.mbarrier_arrive_expect_tx(t.full, tcgen05_a_bytes + tcgen05_b_bytes + 512);
  t.mma.bulk_load(t.in, t.a, tcgen05_a_bytes, t.full);
  t.mma.bulk_load(t.in, t.b, tcgen05_b_bytes, t.full).bulk_load(t.in, scales, 512, t.full);
  t.mma.mbarrier_try_wait(t.full, 0);
  const SmemOperand rows = {scales, {Major::K, 16, 16, 128}, {0, 4, 3}, 0};
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.opcode.kind = tcgen05::Kind::mxf8f6f4;
  mma.idesc.a = mma.idesc.b = Type::e4m3;
  mma.scale_a = at_column(scale_column);
  mma.scale_b = at_column(scale_column + 4);
  for (int k = 0; k < 2; ++k) {
    if (k == 1 && commit_between)
      t.mma.tcgen05_commit(between).mbarrier_try_wait(between, 0).tcgen05_fence_after();
    t.mma.tcgen05_cp(tcgen05::CpShape::S32x128b, mma.scale_a, rows);
    t.mma.tcgen05_cp(tcgen05::CpShape::S32x128b, mma.scale_b, rows);
    mma.accumulate = k == 1;
    t.mma.tcgen05_mma(mma);
  }
  t.mma.tcgen05_commit(t.done);
  t.read_tile();
  t.finish();
  return t.p;
}
Program t7a(bool mutant) { return scaled(!mutant, 16); }
Program t9a(bool mutant) { return scaled(true, mutant ? 12 : 16); }

// A in Tensor Memory, stored by the warp whose thread issues the mma.
Program t7b(bool mutant) {
  Tcgen05Tile t({.threads = 128});
  Role writers = t.p.warps("writers", 0, 4);
  Role issuer = t.p.warps("issuer", 0, 1).elect();
  Role reader = t.p.warps("reader", 1, 1);
  Role last = t.p.warps("last", 0, 1);
  writers.elect().mbarrier_init(t.full, 1).mbarrier_init(t.done, 1).fence_mbarrier_init();
  writers.in_warps(1).tcgen05_alloc(t.slot, 32);
  writers.barrier_sync().load_shared({t.slot, 0}, address_register).move({0, 8}, 0x3c003c00);
  for (int warp = 0; warp < 4; ++warp)
    writers.in_warps(1u << warp)
        .tcgen05_st({tcgen05::LdShape::S32x32b, 8}, at_column(16, 32 * warp), 0);
  if (!mutant) writers.tcgen05_wait_st();
  writers.tcgen05_fence_before().barrier_sync().tcgen05_fence_after();
  issuer.mbarrier_arrive_expect_tx(t.full, tcgen05_b_bytes);
  issuer.bulk_load(t.in, t.b, tcgen05_b_bytes, t.full).mbarrier_try_wait(t.full, 0);
  Tcgen05Mma mma = f16_mma(0, t.b, false);
  mma.opcode.a_place = tcgen05::Place::Tmem;
  mma.a_tmem = at_column(16);
  issuer.tcgen05_mma(mma).tcgen05_commit(t.done);
  reader.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  reader.tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld();
  reader.store_global(t.out, 4 * tmem_n, {0, tmem_n}).barrier_sync(1, 64);
  last.barrier_sync(1, 64).tcgen05_dealloc(tmem_base, 32);
  return t.p;
}

// Rows by cp, moved down by shift, and four new ones: only shift -> cp.4x256b is a pair.
Program t7c(bool mutant) {
  Tcgen05Tile t;
  const Address between = t.p.mbarrier("between");
  t.everybody.elect().mbarrier_init(between, 1);
  t.start();
  t.load_operands();
  const SmemOperand rows = smem_operand(t.a);
  t.mma.tcgen05_cp(tcgen05::CpShape::S128x256b, tmem_base, rows);
  if (!mutant) t.mma.tcgen05_commit(between).mbarrier_try_wait(between, 0).tcgen05_fence_after();
  t.mma.tcgen05_shift(tmem_base).tcgen05_cp(tcgen05::CpShape::S4x256b, tmem_base, rows);
  t.mma.tcgen05_commit(t.done);
  t.epilogue.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.epilogue.tcgen05_ld({tcgen05::LdShape::S32x32b, 8}, at_column(0, 32), 0).tcgen05_wait_ld();
  t.epilogue.lanes(0x7fffffffu).store_global(t.out, 32, {0, 8});  // lane 31: no source says
  t.epilogue.mbarrier_arrive(t.empty);
  t.finish();
  return t.p;
}

// One warp copies scale factors, another multiplies: fences, but no completion, stand between.
Program copied_elsewhere(bool before, bool after) {
  Tcgen05Tile t;
  const std::uint32_t scales = t.p.shared("scales", 512);
  const Address scales_full = t.p.mbarrier("scales_full");
  t.everybody.elect().mbarrier_init(scales_full, 1);
  t.start();
  const SmemOperand rows = {scales, {Major::K, 16, 16, 128}, {0, 4, 3}, 0};
  Role copier = t.epilogue.elect();
  t.load_operands();
  copier.mbarrier_arrive_expect_tx(scales_full, 512);
  copier.bulk_load(t.in, scales, 512, scales_full).mbarrier_try_wait(scales_full, 0);
  for (const int column : {16, 20})
    copier.tcgen05_cp(tcgen05::CpShape::S32x128b, at_column(column), rows);
  if (before) copier.tcgen05_fence_before();
  t.epilogue.barrier_sync();
  t.mma_warp.barrier_sync();
  if (after) t.mma.tcgen05_fence_after();
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.opcode.kind = tcgen05::Kind::mxf8f6f4;
  mma.idesc.a = mma.idesc.b = Type::e4m3;
  mma.scale_a = at_column(16);
  mma.scale_b = at_column(20);
  t.mma.tcgen05_mma(mma).tcgen05_commit(t.done);
  copier.tcgen05_commit(t.empty);
  t.epilogue.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.epilogue.tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld();
  t.epilogue.lanes(0x7fffffffu).mbarrier_arrive(t.empty);
  t.store_tile();
  t.finish();
  return t.p;
}
Program t5d(bool mutant) { return copied_elsewhere(!mutant, true); }
Program t5e(bool mutant) { return copied_elsewhere(true, !mutant); }

// M = 64 fills 16 of every 32 lanes.
Program t9b(bool mutant) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.idesc.m = 64;
  t.mma.tcgen05_mma(mma).tcgen05_commit(t.done);
  t.epilogue.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.epilogue.tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld();
  t.epilogue.mbarrier_arrive(t.empty);
  t.epilogue.lanes(mutant ? all_lanes : 0xffffu).store_global(t.out, 4 * tmem_n, {0, tmem_n});
  t.finish();
  return t.p;
}

// --- operands in shared memory ---------------------------------------------------------------------

// The next tile is loaded into A while the mma may still read it.
Program t12(bool mutant) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  t.mma.tcgen05_mma(f16_mma(t.a, t.b, false)).tcgen05_commit(t.done);
  if (!mutant) t.mma.mbarrier_try_wait(t.done, 0);
  t.mma.mbarrier_arrive_expect_tx(t.full, tcgen05_a_bytes);
  t.mma.bulk_load(t.in, t.a, tcgen05_a_bytes, t.full).mbarrier_try_wait(t.full, 1);
  t.read_tile();
  t.finish();
  return t.p;
}

// A and B by st.shared.
Program t13(bool mutant) {
  Tcgen05Tile t;
  t.init_barriers();
  t.everybody.in_warps(1).tcgen05_alloc(t.slot, 32);
  t.everybody.move({0, 4}, 0x3c003c00);
  for (std::uint32_t at = 0; at < tcgen05_a_bytes; at += 64 * 16)
    t.everybody.store_shared({t.a + at, 16}, 0, 16);
  t.everybody.store_shared({t.b, 8}, 0, 8);
  if (!mutant) t.everybody.fence_proxy_async();
  t.everybody.barrier_sync().load_shared({t.slot, 0}, address_register);
  t.mma.tcgen05_mma(f16_mma(t.a, t.b, false)).tcgen05_commit(t.done);
  t.read_tile();
  t.finish();
  return t.p;
}

// A wait that is relaxed is enough, if the fence stands behind it.
Program t14(bool mutant) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  t.mma.tcgen05_mma(f16_mma(t.a, t.b, false)).tcgen05_commit(t.done);
  if (mutant) t.epilogue.tcgen05_fence_after();
  t.epilogue.add(MbarrierTryWait{t.done, 0, Scope::Cluster, true});
  if (!mutant) t.epilogue.tcgen05_fence_after();
  t.epilogue.tcgen05_ld(all_of_d, at_column(0, 32), 0).tcgen05_wait_ld().tcgen05_fence_before();
  t.epilogue.mbarrier_arrive(t.empty);
  t.store_tile();
  t.finish();
  return t.p;
}

// Nobody waits for the arrival that says that the operands are free, as no further ones are loaded.
Program t8l(bool mutant) {
  Tcgen05Tile t;
  const Address freed = t.p.mbarrier("freed");
  t.everybody.elect().mbarrier_init(freed, 1);
  t.start();
  t.load_operands();
  t.mma.tcgen05_mma(f16_mma(t.a, t.b, false)).tcgen05_commit(freed).tcgen05_commit(t.done);
  t.read_tile();
  if (!mutant) t.mma.mbarrier_try_wait(freed, 0);
  t.finish();
  return t.p;
}

// All lanes of the warp reach the mma.
Program t15(bool mutant) {
  Tcgen05Tile t;
  t.start();
  t.load_operands();
  (mutant ? t.mma_warp : t.mma).tcgen05_mma(f16_mma(t.a, t.b, false));
  t.mma.tcgen05_commit(t.done);
  t.read_tile();
  t.finish();
  return t.p;
}

constexpr Entry entries[] = {
    {"T1a", "the epilogue warp names lanes of another warp", Fault::TmemLaneNotOwned, t1a,
     "warp 1 reaches lanes 32-63 only (warp % 4 = 1)"},
    {"T1b", "the epilogue warp names the lanes of warp 0", Fault::TmemLaneIgnored, t1b,
     "hardware that takes lane 32"},
    {"T3a", "no dealloc before exit", Fault::TmemLeaked, t3a,
     "columns 0-31 still allocated at exit"},
    {"T3b", "dealloc of more columns than alloc returned", Fault::TmemDeallocAddress, t3b,
     "was allocated otherwise by tcgen05.alloc"},
    {"T4a", "no wait::ld before the columns are handed back", Fault::TmemWaitMissing, t4a,
     "orders the value, not the release"},
    {"T4b", "no wait::ld, but all values used before the columns are handed back",
     Fault::TmemWaitOmitted, t4b, "put tcgen05.wait::ld behind"},
    {"T5a", "no fence::after_thread_sync between the wait and the ld", Fault::TmemFenceOmitted, t5a,
     "CUTLASS's pipelines do without"},
    {"T5b", "no fence::before_thread_sync before the arrival", Fault::TmemFenceOmitted, t5b,
     "put tcgen05.fence::before_thread_sync behind"},
    {"T5c", "no fence::after_thread_sync between the wait and the mma", Fault::TmemFenceOmitted,
     t5c, "tcgen05.ld.32x32b.x16"},
    {"T5f", "no fence::before_thread_sync before a relaxed arrival", Fault::TmemFenceBeforeMissing,
     t5f, "put tcgen05.fence::before_thread_sync behind"},
    {"T5d", "no fence::before_thread_sync between cp and the barrier",
     Fault::TmemFenceBeforeMissing, t5d, "tcgen05.cp.cta_group::1.32x128b.warpx4"},
    {"T5e", "no fence::after_thread_sync between the barrier and the mma",
     Fault::TmemFenceAfterMissing, t5e, "tcgen05.cp.cta_group::1.32x128b.warpx4"},
    {"T8a", "no commit", Fault::Deadlock, t8a, "no commit of its thread and cta_group"},
    {"T8b", "a commit of the other cta_group", Fault::TmemNotComplete, t8b, "does not track it"},
    {"T10", "the first mma of a tile accumulates", Fault::TmemUninitialized, t10,
     "nothing has written them since their alloc"},
    {"T2a", "alloc of 48 columns", Fault::TmemAllocSize, t2a, "32, 64, 128, 256 or 512 columns"},
    {"T2b", "alloc by one lane", Fault::WarpDivergent, t2b, "let all 32 lanes execute"},
    {"T2c", "alloc of more than 512 columns in all", Fault::TmemAllocBlocks, t2c,
     "CTA 0 holds columns 256-511"},
    {"T2d", "alloc behind relinquish_alloc_permit", Fault::TmemAllocAfterRelinquish, t2d,
     "comes behind tcgen05.relinquish_alloc_permit"},
    {"T2e", "alloc of more columns than an earlier one", Fault::TmemAllocGrows, t2e,
     "asked for 32 columns only"},
    {"T2f", "dealloc behind a barrier that the other alloc keeps from coming",
     Fault::TmemAllocBlocks, t2f, "asks for 512 columns of Tensor Memory, 0 are free"},
    {"T3c", "dealloc before the last use by another warp", Fault::TmemRace, t3c,
     "nothing orders the two"},
    {"T3d", "st behind dealloc", Fault::TmemFreed, t3d, "which tcgen05.dealloc"},
    {"T3e", "dealloc twice", Fault::TmemDeallocAddress, t3e, "which no alloc has returned"},
    {"T3f", "a fixed address with no barrier behind alloc", Fault::TmemNotAllocated, t3f, "alloc"},
    {"T6", "mma and ld in one thread, the wait behind the ld", Fault::TmemNotComplete, t6,
     "mma -> ld is not an ordered pair"},
    {"T7a", "scale factors copied anew with no commit behind the mma", Fault::TmemOrderAssumed, t7a,
     "mma -> cp is not an ordered pair"},
    {"T7b", "no wait::st between the stores of A and the mma", Fault::TmemWaitMissing, t7b,
     "no tcgen05.wait::st stands between"},
    {"T7c", "shift behind cp", Fault::TmemNotComplete, t7c, "cp -> shift is not an ordered pair"},
    {"T7d", "ld of what the warp has stored with no wait::st", Fault::TmemOrderAssumed, t7d,
     "st -> ld is not an ordered pair"},
    {"T9a", "accumulator and scale factors share columns", Fault::TmemOverlap, t9a,
     "belong to D and to another operand"},
    {"T9b", "D of M = 64 read as if it filled all lanes", Fault::TmemUninitialized, t9b, "lane 48"},
    {"T12", "A is overwritten with no wait for the commit", Fault::SourceInFlight, t12,
     "tcgen05.commit"},
    {"T13", "no fence.proxy.async between st.shared and mma", Fault::ProxyFenceMissing, t13,
     "executed no fence.proxy.async since"},
    {"T14", "fence::after_thread_sync in front of the wait", Fault::TmemFenceAfterMissing, t14,
     "put tcgen05.fence::after_thread_sync behind the wait"},
    {"T15", "mma by all lanes", Fault::Tcgen05Repeated, t15, "32 lanes issue it"},
    {"T8l", "a CTA ends with no wait for a commit of its own", Fault::CommitOrderAssumed, t8l,
     "has seen a later commit of that thread and exits"},
};

}  // namespace

std::span<const Entry> tcgen05_entries() { return entries; }

}  // namespace tcq::catalogue
