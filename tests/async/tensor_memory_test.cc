// Tensor Memory in the asynchronous machine: what st writes ld reads, cp and shift move what they
// say, the hardware's ordered pairs, allocation against a naive model, and exploration against every
// order.
#include "sim/async/tensor_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>

#include "oracle/diagnosis/diagnosis.h"
#include "oracle/diagnosis/instruction_text.h"
#include "sim/async/explore.h"
#include "tests/async/catalogue_tcgen05_kit.h"
#include "tests/async/every_order.h"
#include "tests/async/nonsense.h"
#include "tests/support/effort.h"
#include "tests/support/tcgen05_kinds.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::address_register;
using catalogue::at_column;
using catalogue::f16_mma;
using catalogue::tmem_base;
using tcgen05::LdShape;

// --- order -----------------------------------------------------------------------------------------

TEST(Tcgen05_Order, ExactlyFivePairsStayInOrder) {
  using enum TmemAction;
  const std::set<std::pair<TmemAction, TmemAction>> pairs = {
      {Mma, Mma}, {Mma, Shift}, {Cp, Mma}, {Cp4x256b, Mma}, {Shift, Mma}, {Shift, Cp4x256b}};
  for (const TmemAction first : {Mma, Cp, Cp4x256b, Shift, Ld, St, Dealloc})
    for (const TmemAction second : {Mma, Cp, Cp4x256b, Shift, Ld, St, Dealloc})
      EXPECT_EQ(is_ordered_pair(first, second, true), pairs.contains({first, second}));
  EXPECT_FALSE(is_ordered_pair(Mma, Mma, false));
  EXPECT_TRUE(is_ordered_pair(Mma, Shift, false));
}

TEST(Tcgen05_Order, APairNeedsOneCtaGroupAndOneAccumulator) {
  TmemAccess first;
  first.accumulator = {0, 0, 128, 16, tcgen05::Kind::f16};
  TmemAccess second = first;
  EXPECT_TRUE(is_pair(first, second));
  second.cta_group = 2;
  EXPECT_FALSE(is_pair(first, second));
  for (const Accumulator& other : {Accumulator{16, 0, 128, 16, tcgen05::Kind::f16},
                                   Accumulator{0, 8, 128, 16, tcgen05::Kind::f16},
                                   Accumulator{0, 0, 64, 16, tcgen05::Kind::f16},
                                   Accumulator{0, 0, 128, 8, tcgen05::Kind::f16},
                                   Accumulator{0, 0, 128, 16, tcgen05::Kind::tf32},
                                   Accumulator{0, 0, 128, 16, tcgen05::Kind::f16, true, false},
                                   Accumulator{0, 0, 128, 16, tcgen05::Kind::f16, false, true}}) {
    second = first;
    second.accumulator = other;
    EXPECT_FALSE(is_pair(first, second));
  }
}

// Streams of one access, and who knows of it by what.
struct Knows {
  bool done, waited, used;  // by a release
  bool observed;            // everything, by a relaxed wait
};

TmemVerdict verdict(TmemAction first, TmemAction second, bool writes, bool one_thread,
                    const Knows& knows) {
  TmemAccess earlier;
  earlier.action = first;
  earlier.writes = writes;
  earlier.done = 1;
  earlier.waited = is_issued_by_thread(first) ? 1 : 2;
  earlier.used = first == TmemAction::Ld ? 3 : 0;
  earlier.issue = 4;
  earlier.tick = 1;
  TmemAccess later;
  later.action = second;
  later.writes = true;
  later.warp = one_thread ? 0 : 1;
  later.accumulator.tmem_column = 64;
  Clock clock, fenced, observed;
  if (knows.done) clock.raise(1, 1);
  if (knows.waited) clock.raise(2, 1);
  if (knows.used) clock.raise(3, 1);
  for (Stream s = 1; s < 5 && knows.observed; ++s) observed.raise(s, 1);
  return verdict_on(earlier, later, {clock, fenced, observed});
}

// What is written here is the list of what published kernels do, a second time.
TEST(Tcgen05_Order, WhatPublishedKernelsRelyOnIsDisputedAndNothingElse) {
  using enum TmemAction;
  for (const TmemAction first : {Mma, Cp, Cp4x256b, Shift, Ld, St})
    for (const TmemAction second : {Mma, Cp, Cp4x256b, Shift, Ld, St})
      for (int bits = 0; bits < 64; ++bits) {
        const bool writes = (bits & 1) != 0;
        const bool one_thread = (bits & 2) != 0;
        const Knows knows = {(bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0, (bits & 32) != 0};
        const bool pair = one_thread && is_ordered_pair(first, second, false);
        const bool cp_first = first == Cp || first == Cp4x256b;
        const bool cp_second = second == Cp || second == Cp4x256b;
        const bool by_order =
            one_thread && ((first == Mma && !writes && (cp_second || second == Mma)) ||
                           (cp_first && cp_second) || (first == St && second == Ld));
        const bool transfer = first == Ld || first == St;
        const bool disputed =
            by_order || knows.done || (transfer && knows.waited) || (first == Ld && knows.used);
        EXPECT_EQ(verdict(first, second, writes, one_thread, knows), pair ? TmemVerdict::Pipelined
                                                                     : disputed
                                                                         ? TmemVerdict::Disputed
                                                                         : TmemVerdict::Unordered)
            << static_cast<int>(first) << " " << static_cast<int>(second) << " " << bits;
      }
}

TEST(Tcgen05_Order, NothingIsAssumedOfTwoCtaGroups) {
  TmemAccess first;
  first.action = TmemAction::Mma;
  TmemAccess second = first;
  second.action = TmemAction::Cp;
  const Clock none;
  EXPECT_EQ(dispute_of(first, second, {none, none, none}), TmemDispute::Order);
  second.cta_group = 2;
  EXPECT_EQ(dispute_of(first, second, {none, none, none}), TmemDispute::None);
}

// --- allocation ------------------------------------------------------------------------------------

TEST(Tmem_Pool, HoldsWhatANaiveModelHolds) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    TmemPool pool;
    std::map<int, int> held;  // first column -> columns
    const auto is_free = [&](int first, int columns) {
      for (const auto& [start, width] : held)
        if (first < start + width && start < first + columns) return false;
      return first + columns <= tcgen05::tmem_columns;
    };
    for (int step = 0; step < 60; ++step) {
      const int columns = 32 << (random() % 5);
      if (random() % 2 == 0) {
        int first = 0;
        while (first < tcgen05::tmem_columns && !is_free(first, columns)) first += 32;
        const std::optional<int> found = pool.first_fit(columns);
        ASSERT_EQ(found.has_value(), first < tcgen05::tmem_columns);
        if (!found) continue;
        ASSERT_EQ(*found, first);
        pool.allocate({first, columns, 1, {}, 0});
        held[first] = columns;
      } else {
        const int first = 32 * static_cast<int>(random() % 16);
        const bool fits = held.contains(first) && held[first] == columns;
        ASSERT_EQ(pool.deallocate(first, columns, 1, {}), fits);
        if (fits) held.erase(first);
      }
      int taken = 0;
      for (const auto& [start, width] : held) taken += width;
      ASSERT_EQ(pool.free_columns(), tcgen05::tmem_columns - taken);
    }
  }
}

TEST(Tmem_Pool, APairTakesColumnsThatAreFreeInBoth) {
  TmemPool even;
  TmemPool odd;
  even.allocate({0, 64, 1, {}, 0});
  odd.allocate({128, 128, 1, {}, 0});
  EXPECT_EQ(even.first_fit(64, &odd), 64);
  EXPECT_EQ(even.first_fit(128, &odd), 256);
}

// --- cells -----------------------------------------------------------------------------------------

TEST(Tmem_Cells, GrowToTheLastColumnThatWasUsedAndKeepWhatTheyHold) {
  TensorMemory memory;
  memory.store({5, 3}, 0x1111);
  memory.mark({5, 3}, true);
  memory.store({127, 511}, 0x2222);
  memory.mark({127, 511}, true);
  EXPECT_EQ(memory.load({5, 3}), 0x1111u);
  EXPECT_EQ(memory.load({127, 511}), 0x2222u);
  EXPECT_TRUE(memory.is_written({5, 3}) && memory.is_written({127, 511}));
  EXPECT_EQ(memory.load({5, 4}), 0u);
  EXPECT_FALSE(memory.is_written({5, 4}));
  memory.forget(3, 1);
  EXPECT_FALSE(memory.is_written({5, 3}));
  EXPECT_TRUE(memory.is_written({127, 511}));
}

// --- history ---------------------------------------------------------------------------------------

TEST(Tmem_History, CompactionForgetsNothingThatAnybodyCouldMeet) {
  std::mt19937 random(5);
  TmemHistory compacted;
  TmemHistory whole;
  const Clock nothing;
  Clock everything;
  for (Stream s = 0; s < 8; ++s) everything.raise(s, never);
  std::vector<std::uint32_t> before;
  bool met_somebody = false;
  for (std::uint32_t step = 1; step < 30'000; ++step) {
    TmemAccess access;
    access.action = TmemAction::St;
    access.writes = random() % 2 == 0;
    access.operation = step;
    access.done = access.waited = static_cast<Stream>(random() % 8);
    access.tick = step;
    const TmemRegion region = {static_cast<std::uint32_t>(1 + random() % 255),
                               static_cast<int>(random() % 60), 1 + static_cast<int>(random() % 4)};
    compacted.compact();
    const bool knows_all = step % 100 != 99;  // a probe that knows of nobody meets the newest
    const Clock& clock = knows_all ? everything : nothing;
    const auto meet = [&](TmemHistory& history) {
      const TmemConflict found =
          history.record(0, region, history.add(access), {clock, clock, nothing}, before);
      return found.earlier == 0 ? 0 : history[found.earlier].operation;
    };
    const std::uint32_t met = meet(compacted);
    ASSERT_EQ(met, meet(whole));
    ASSERT_TRUE(met == 0 || !knows_all);
    met_somebody = met_somebody || met != 0;
  }
  EXPECT_TRUE(met_somebody);
  EXPECT_LT(compacted.bytes(), whole.bytes());
}

// --- data ------------------------------------------------------------------------------------------

// One warp: registers from global memory to Tensor Memory by st, back by ld of another shape.
struct RoundTrip {
  tcgen05::Fragment store;
  tcgen05::Fragment load;
};

std::vector<std::uint32_t> words_at(const Report& report, std::uint64_t offset, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::memcpy(words.data(), &report.global[offset], 4 * count);
  return words;
}

TEST(Tmem_Data, WhatOneShapeStoresAnotherLoads) {
  const std::vector<tcgen05::Fragment> shapes = {{LdShape::S16x64b, 8},
                                                 {LdShape::S16x128b, 4},
                                                 {LdShape::S16x256b, 2},
                                                 {LdShape::S16x32bx2, 8, false, 8}};
  for (const tcgen05::Fragment& store : shapes)
    for (const tcgen05::Fragment& load : shapes) {
      Program p({.threads = 32});
      const std::uint32_t slot = p.shared("slot", 4);
      std::vector<std::uint8_t> data(32 * 8 * 4);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 37 + 1);
      const std::uint64_t in = p.global(data);
      const std::uint64_t out = p.global(std::vector<std::uint8_t>(data.size()));
      Role all = p.warps("all", 0, 1);
      all.tcgen05_alloc(slot, 32).load_shared({slot, 0}, address_register);
      all.load_global(in, 32, {0, 8}).tcgen05_st(store, at_column(3, 16), 0).tcgen05_wait_st();
      all.tcgen05_ld(load, at_column(3, 16), 8).store_global(out, 32, {8, 8}).tcgen05_wait_ld();
      all.tcgen05_dealloc(tmem_base, 32);
      const Report report = explore(p, {});
      ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
      const std::vector<std::uint32_t> stored = words_at(report, in, 256);
      const std::vector<std::uint32_t> loaded = words_at(report, out, 256);
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < 8; ++r) {
          const tcgen05::FragmentSlot from = fragment_slot(store, fragment_cell(load, {lane, r}));
          ASSERT_EQ(loaded[static_cast<std::size_t>(8 * lane + r)],
                    stored[static_cast<std::size_t>(8 * from.lane + from.reg)]);
        }
    }
}

// One warp stores 5 to its own lanes and loads from the lanes that `lane` names.
Report loaded_at(LdShape shape, int warp, int lane) {
  Program p({.threads = 128});
  const std::uint32_t slot = p.shared("slot", 4);
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(128));
  Role all = p.warps("all", 0, 4);
  all.in_warps(1).tcgen05_alloc(slot, 32);
  all.barrier_sync().load_shared({slot, 0}, address_register).move({0, 32}, 5);
  Role one = p.warps("one", warp, 1);
  const tcgen05::Fragment words{LdShape::S32x32b, 32};
  one.tcgen05_st(words, at_column(0, 32 * warp), 0).tcgen05_wait_st();
  tcgen05::Fragment some{shape, 1};
  some.half_split = shape == LdShape::S16x32bx2 ? 1 : 0;
  one.tcgen05_ld(some, at_column(0, lane), 0).tcgen05_wait_ld().store_global(out, 4, {0, 1});
  all = p.warps("last", 0, 4);
  all.barrier_sync();
  all.in_warps(1).tcgen05_dealloc(tmem_base, 32);
  return explore(p, {});
}

// Every shape, warp and lane of an address.
TEST(Tmem_Lanes, ThoseOfWarpZeroAreTheWarpsOwnButDisputedAndOthersAreNot) {
  int own = 0, ignored = 0, foreign = 0;
  for (const LdShape shape : {LdShape::S32x32b, LdShape::S16x64b, LdShape::S16x128b,
                              LdShape::S16x256b, LdShape::S16x32bx2})
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 128; ++lane) {
        const Report report = loaded_at(shape, warp, lane);
        const bool suits = lane % 32 == 0 || (shape != LdShape::S32x32b && lane % 32 == 16);
        if (suits && (lane / 32 == warp || lane / 32 == 0)) {
          ASSERT_EQ(report.outcome, Outcome::Right) << warp << " " << lane;
          ASSERT_EQ(report.suspicions.size(), lane / 32 == warp ? 0u : 1u);
          ++(lane / 32 == warp ? own : ignored);
          for (std::size_t i = 0; i < 128; i += 4) ASSERT_EQ(report.global[i], 5);
          if (lane / 32 != warp) {
            ASSERT_EQ(report.suspicions[0].fault, Fault::TmemLaneIgnored);
          }
          continue;
        }
        ++foreign;
        ASSERT_EQ(report.outcome, Outcome::Wrong) << warp << " " << lane;
        const bool in_own = lane / 32 == warp;
        ASSERT_EQ(report.finding->fault,
                  in_own ? Fault::TmemLaneAlignment : Fault::TmemLaneNotOwned);
      }
  EXPECT_EQ(own, 4 * (1 + 2 * 4));
  EXPECT_EQ(ignored, 3 * (1 + 2 * 4));
  EXPECT_EQ(own + ignored + foreign, 5 * 4 * 128);
}

// A value that only some lanes use has not been read by all.
TEST(Tmem_Values, AreUsedOnceEveryLaneHasUsedEveryRegister) {
  for (int mask = 0; mask < 4; ++mask) {
    Program p({.threads = 32});
    const std::uint32_t slot = p.shared("slot", 4);
    Role warp = p.warps("warp", 0, 1);
    const tcgen05::Fragment two{LdShape::S32x32b, 2};
    warp.tcgen05_alloc(slot, 32).load_shared({slot, 0}, address_register).move({0, 4}, 5);
    warp.tcgen05_st(two, tmem_base, 0).tcgen05_wait_st().tcgen05_ld(two, tmem_base, 0);
    warp.copy({2, 1}, 0);
    warp.lanes((mask & 1) != 0 ? all_lanes : 0xffffu).copy({3, (mask & 2) != 0 ? 1 : 0}, 1);
    warp.tcgen05_st(two, tmem_base, 2).tcgen05_wait_st().tcgen05_dealloc(tmem_base, 32);
    const Report report = explore(p, {});
    if (mask == 3) {
      EXPECT_EQ(report.outcome, Outcome::Right);
      ASSERT_EQ(report.suspicions.size(), 1u);
      EXPECT_EQ(report.suspicions[0].fault, Fault::TmemWaitOmitted);
    } else {
      ASSERT_EQ(report.outcome, Outcome::Wrong) << mask;
      EXPECT_EQ(report.finding->fault, Fault::TmemWaitMissing) << mask;
    }
  }
}

TEST(Tmem_Data, UnpackedHalvesComeBackPacked) {
  Program p({.threads = 32});
  const std::uint32_t slot = p.shared("slot", 4);
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(512));
  Role all = p.warps("all", 0, 1);
  all.tcgen05_alloc(slot, 32).load_shared({slot, 0}, address_register);
  all.move({0, 1}, 0x11112222).move({1, 1}, 0x33334444);
  all.tcgen05_st({LdShape::S32x32b, 2, true}, tmem_base, 0).tcgen05_wait_st();
  all.tcgen05_ld({LdShape::S32x32b, 2, true}, tmem_base, 2);
  all.tcgen05_ld({LdShape::S32x32b, 1, true}, at_column(1), 4).tcgen05_wait_ld();
  all.store_global(out, 16, {2, 3}).tcgen05_dealloc(tmem_base, 32);
  const Report report = explore(p, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
  const std::vector<std::uint32_t> words = words_at(report, out, 3);
  EXPECT_EQ(words, (std::vector<std::uint32_t>{0x11112222, 0x33334444, 0x44441111}));
}

// 128 rows of 32 bytes by cp, moved down by shift, read by warp 1: row r + 1 of memory is in lane r.
TEST(Tmem_Data, ShiftMovesTheRowsThatCpBrought) {
  catalogue::Tcgen05Tile t;
  const Address between = t.p.mbarrier("between");
  t.everybody.elect().mbarrier_init(between, 1);
  t.start();
  t.load_operands();
  const SmemOperand rows = {t.a, {Major::K, 32, 32, 256}, {0, 4, 3}, 0};  // row after row
  t.mma.tcgen05_cp(tcgen05::CpShape::S128x256b, tmem_base, rows);
  t.mma.tcgen05_commit(between).mbarrier_try_wait(between, 0).tcgen05_fence_after();
  t.mma.tcgen05_shift(tmem_base).tcgen05_commit(t.done);
  t.epilogue.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.epilogue.tcgen05_ld({LdShape::S32x32b, 8}, at_column(0, 32), 0).tcgen05_wait_ld();
  t.epilogue.lanes(0x7fffffffu).store_global(t.out, 32, {0, 8});
  t.epilogue.mbarrier_arrive(t.empty);
  t.finish();
  const Report report = explore(t.p, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(t.p, report);
  for (std::size_t lane = 0; lane < 31; ++lane)
    EXPECT_EQ(words_at(report, t.out + 32 * lane, 8),
              words_at(report, t.in + 32 * (32 + lane + 1), 8));
}

TEST(Tmem_Data, ARowThatAShiftLeavesOpenIsUnmodelled) {
  catalogue::Tcgen05Tile t;
  t.start();
  t.epilogue.move({0, 8}, 7).tcgen05_st({LdShape::S32x32b, 8}, at_column(0, 32), 0);
  t.epilogue.tcgen05_wait_st();
  t.epilogue.elect().tcgen05_shift(at_column(0, 32)).tcgen05_commit(t.done);
  t.epilogue.mbarrier_try_wait(t.done, 0).tcgen05_fence_after();
  t.epilogue.tcgen05_ld({LdShape::S32x32b, 8}, at_column(0, 32), 0).tcgen05_wait_ld();
  t.epilogue.mbarrier_arrive(t.empty).store_global(t.out, 32, {0, 8});
  t.finish();
  const Report report = explore(t.p, {});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::UnmodelledShiftEdge) << oracle::report_text(t.p, report);
}

// --- every order -----------------------------------------------------------------------------------

// Two warps on one accumulator, with everything that could order them, in any order.
Program random_program(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  catalogue::Tcgen05Tile t;
  Tcgen05Mma mma = f16_mma(t.a, t.b, false);
  mma.idesc.n = 8;
  Role& all = t.everybody;
  all.move({0, 4}, 0x3c003c00);
  for (std::uint32_t at = 0; at < catalogue::tcgen05_a_bytes; at += 64 * 16)
    all.store_shared({t.a + at, 16}, 0, 16);
  all.store_shared({t.b, 8}, 0, 8).fence_proxy_async();
  all.elect().mbarrier_init(t.full, 1).mbarrier_init(t.done, 1 + below(2)).fence_mbarrier_init();
  all.in_warps(1).tcgen05_alloc(t.slot, 32);
  all.barrier_sync().load_shared({t.slot, 0}, address_register);
  const auto some = [&](Role& warp, int lane, std::uint64_t out) {
    Role one = warp.elect();
    const Address barrier = below(2) == 0 ? t.full : t.done;
    switch (below(9)) {
      case 0: one.tcgen05_mma(mma).tcgen05_commit(barrier); break;
      case 1: one.tcgen05_mma(mma); break;
      case 2: one.tcgen05_commit(barrier); break;
      case 3:
      case 4: warp.mbarrier_try_wait(barrier, 0).tcgen05_fence_after(); break;
      case 5:
        warp.tcgen05_ld({LdShape::S32x32b, 1}, at_column(0, lane), 8).tcgen05_wait_ld();
        warp.store_global(out, 4, {8, 1});
        break;
      case 6:
        warp.move({8, 1}, below(100)).tcgen05_st({LdShape::S32x32b, 1}, at_column(0, lane), 8);
        warp.tcgen05_wait_st();
        break;
      case 7:
        warp.tcgen05_fence_before();
        one.mbarrier_arrive(barrier);
        break;
      default: one.mbarrier_arrive(barrier); break;
    }
  };
  const unsigned first = 1 + below(3);
  const unsigned second = 1 + below(3);
  for (unsigned i = 0; i < first; ++i) some(t.mma_warp, 0, t.out);
  for (unsigned i = 0; i < second; ++i) some(t.epilogue, 32, t.out + 128);
  t.mma_warp.barrier_sync();
  t.epilogue.tcgen05_fence_before().barrier_sync();
  t.mma_warp.tcgen05_dealloc(tmem_base, 32);
  return t.p;
}

// Barriers, allocation and the first barrier of two warps.
constexpr std::initializer_list<AgentId> prologue = {0, 0, 0, 1, 1, 1, 0, 1};

void expect_runnable_prologue(const Program& program) {
  MmaCache cache;
  Cluster cluster(program, cache, Timing::Latest);
  for (const AgentId agent : prologue) {
    EXPECT_TRUE(cluster.finding() || cluster.is_runnable(agent));
    cluster.step(agent);
  }
}

TEST(Tcgen05_Explore, TheReductionFindsAFaultExactlyWhereEveryOrderDoes) {
  std::mt19937 random(11);
  int right = 0;
  int wrong = 0;
  std::uint64_t all = 0;
  std::uint64_t reduced = 0;
  const int programs = tests::effort(600);
  for (int i = 0; i < programs; ++i) {
    const Program program = random_program(random);
    expect_runnable_prologue(program);
    const auto [is_right, outcomes, report] = explore_both_ways(program, prologue);
    ASSERT_FALSE(HasFailure()) << "program " << i;
    is_right ? ++right : ++wrong;
    if (!is_right) continue;
    all += outcomes.executions;
    reduced += report.executions;
  }
  RecordProperty("right", right);
  EXPECT_GT(right, programs / 20);
  EXPECT_GT(wrong, programs / 2);
  EXPECT_GT(all, reduced);
}

// --- nonsense --------------------------------------------------------------------------------------

Instruction random_instruction(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto group = [&] { return 1 + below(2); };
  const auto tmem = [&] {
    return TmemOperand{below(4) == 0 ? 0 : -1, 16 * below(10) - 16, 8 * below(70) - 16};
  };
  const auto smem = [&] {
    return catalogue::smem_operand(static_cast<std::uint32_t>(1024 + 16 * below(200)));
  };
  const Address address(static_cast<std::uint32_t>(1024 + 4 * below(64)));
  const tcgen05::Fragment fragment{static_cast<LdShape>(below(5)), 1 << below(3), below(4) == 0,
                                   below(20)};
  static const std::vector<tcgen05::DotForm> forms = tcgen05::all_forms();
  tcgen05::DotForm form;
  Tcgen05Mma mma;
  switch (below(16)) {
    case 0: return Tcgen05Alloc{address, 32 << below(5), group()};
    case 1: return Tcgen05Dealloc{tmem(), 32 << below(5), group()};
    case 2: return Tcgen05Relinquish{group()};
    case 3:
    case 4: return Tcgen05Ld{fragment, tmem(), below(8)};
    case 5: return Tcgen05St{fragment, tmem(), below(8)};
    case 6: return Tcgen05WaitLd{};
    case 7: return Tcgen05WaitSt{};
    case 8: return Tcgen05Cp{static_cast<tcgen05::CpShape>(below(6)), tmem(), smem(), group()};
    case 9: return Tcgen05Shift{tmem(), group()};
    case 10:
      form = forms[static_cast<std::size_t>(below(static_cast<unsigned>(forms.size())))];
      mma.opcode = form.opcode;
      mma.idesc = form.idesc;
      mma.opcode.cta_group = group();
      mma.opcode.a_place = below(2) == 0 ? tcgen05::Place::Tmem : tcgen05::Place::Smem;
      mma.idesc.m = 64 << below(3);
      mma.idesc.n = 32 * below(9);
      mma.d = tmem();
      mma.a = mma.b = smem();
      mma.a_tmem = mma.scale_a = mma.scale_b = tmem();
      mma.accumulate = below(2) == 0;
      return mma;
    case 11: return Tcgen05Commit{address, group(), static_cast<std::uint16_t>(below(5))};
    case 12: return Tcgen05FenceBefore{};
    case 13: return Tcgen05FenceAfter{};
    case 14: return MbarrierInit{address, 1};
    default: return Move{{below(8), 4}, -1, 0};
  }
}

TEST(Tcgen05_Explore, NonsenseEndsWithASentenceAndWithinItsBounds) {
  std::mt19937 random(9);
  for (int i = 0; i < 3000; ++i) {
    Program p({.cluster = 1 + static_cast<int>(random() % 3), .threads = 128, .registers = 64});
    p.shared("data", 8192);
    Role start = p.warps("start", 0, 4);
    start.move({0, 40}, 0);
    if (random() % 4 != 0) start.in_warps(1).tcgen05_alloc(1024, 512);
    start.barrier_sync();
    tests::add_random_roles(p, random, random_instruction);
    tests::expect_a_sentence_within_bounds(p);
  }
}

}  // namespace
}  // namespace tcq
