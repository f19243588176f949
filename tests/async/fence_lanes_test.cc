// Which lanes have to fence, against a model that asks byte by byte and lane by lane: st, ld, stmatrix,
// ldmatrix of shared memory and st, ld of global memory, every width, strides and tables of
// addresses, random lanes, random fences. TCQ_ORDER_LANES and TCQ_SEED draw more, or others.
#include <gtest/gtest.h>

#include <cstdio>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "tests/async/order_plan.h"

namespace tcq::order {
namespace {

// One access by some lanes, then fences by some lanes, then a bulk operation over some of the bytes.
struct LaneCase {
  enum Form : std::uint8_t { Store, Load, MatrixStore, MatrixLoad, GlobalStore, GlobalLoad };
  Form form = Store;
  int bytes = 4;  // of a lane
  int count = 1;  // matrices
  bool transposed = false;
  Address to;  // relative
  std::uint32_t lanes = all_lanes;
  std::vector<std::uint32_t> fences;
  std::uint32_t begin = 0;  // what the bulk operation accesses
  std::uint32_t end = 16;

  bool is_matrix() const { return form == MatrixStore || form == MatrixLoad; }
  bool is_read() const { return form == Load || form == MatrixLoad || form == GlobalLoad; }
  bool is_global() const { return form == GlobalStore || form == GlobalLoad; }
};

constexpr std::uint32_t room_bytes = 2048;

LaneCase draw_lane_case(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  LaneCase c;
  c.form = static_cast<LaneCase::Form>(below(6));
  c.bytes = 4 << below(3);
  c.count = 1 << below(3);
  c.transposed = below(2) == 0;
  const auto unit = static_cast<std::uint32_t>(c.is_matrix() ? 16 : c.is_global() ? 4 : c.bytes);
  if (below(2) == 0 || c.is_global()) {
    const auto stride = static_cast<std::int32_t>(unit * below(4));
    const bool down = below(4) == 0;
    c.to = Address(down ? 1536 : 512 + 16 * below(4), down ? -stride : stride);
  } else {
    std::vector<std::uint32_t> table(32);
    for (std::uint32_t& at : table) at = unit * below(1024 / unit);
    c.to = Address(512);
    c.to.table = std::make_shared<const std::vector<std::uint32_t>>(std::move(table));
  }
  if (!c.is_matrix() && below(3) != 0)
    c.lanes = static_cast<std::uint32_t>(random()) | 1u << below(32);
  for (unsigned n = below(4); n > 0; --n) {
    const std::uint32_t mask =
        static_cast<std::uint32_t>(random()) | static_cast<std::uint32_t>(random());
    c.fences.push_back(below(5) == 0 ? 1u : below(4) == 0 ? all_lanes : mask);
  }
  if (below(3) == 0) c.fences.push_back(c.lanes);
  c.begin = 16 * below(room_bytes / 16);
  c.end = c.begin + 16 * (1 + below((room_bytes - c.begin) / 16));
  return c;
}

// Byte by byte and lane by lane; a matrix access is every lane's.
bool lacks_a_fence(const LaneCase& c) {
  std::uint32_t fenced = 0;
  for (const std::uint32_t mask : c.fences) fenced |= mask;
  for (std::uint32_t byte = c.begin; byte < c.end; ++byte)
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint32_t at = c.to.of(lane);
      if (c.is_matrix()) {
        const bool row = lane < 8 * c.count && byte >= at && byte < at + 16;
        if (row && fenced != all_lanes) return true;
        continue;
      }
      const bool touches = byte >= at && byte < at + static_cast<std::uint32_t>(c.bytes);
      if ((c.lanes >> lane & 1) != 0 && touches && (fenced >> lane & 1) == 0) return true;
    }
  return false;
}

enum class HandsOn : std::uint8_t { ByBarrier, ByMbarrier };

Program program_of(const LaneCase& c, HandsOn how) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t room = p.shared("room", room_bytes);
  const std::uint32_t other = p.shared("other", room_bytes);
  const std::uint64_t global = p.global(std::vector<std::uint8_t>(room_bytes));
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(room_bytes));
  Role setup = p.warps("setup", 1, 1);
  setup.elect().mbarrier_init(full, 1).mbarrier_init(empty, 32);
  setup.move({0, 1}, 0);
  for (std::uint32_t at = 0; at < room_bytes; at += 128)
    setup.store_shared({room + at, 4}, 0).store_shared({other + at, 4}, 0);
  setup.fence_proxy_async();
  p.warps("all", 0, 2).barrier_sync();
  Role one = p.warps("one", 0, 1);
  one.move({0, 4}, 5);
  Role some = one.lanes(c.lanes);
  Address at = c.to;
  at.base += room;
  const RegisterRange regs{0, c.bytes / 4};
  switch (c.form) {
    case LaneCase::Store: some.store_shared(at, 0, c.bytes); break;
    case LaneCase::Load: some.load_shared(at, 0, c.bytes); break;
    case LaneCase::MatrixStore: one.stmatrix(at, 0, c.count, c.transposed); break;
    case LaneCase::MatrixLoad: one.ldmatrix(at, 0, c.count, c.transposed); break;
    case LaneCase::GlobalStore:
      some.store_global(global + c.to.base, c.to.stride_bytes, regs);
      break;
    case LaneCase::GlobalLoad: some.load_global(global + c.to.base, c.to.stride_bytes, regs); break;
  }
  for (const std::uint32_t mask : c.fences) one.lanes(mask).fence_proxy_async();
  if (how == HandsOn::ByBarrier) {
    p.warps("all", 0, 2).barrier_sync();
  } else {
    one.mbarrier_arrive(empty);
    p.warps("waiter", 1, 1).mbarrier_try_wait(empty, 0);
  }
  Role copier = p.warps("copier", 1, 1).elect();
  const std::uint32_t bytes = c.end - c.begin;
  const bool loads = c.is_global() ? !c.is_read() : c.is_read();
  if (loads) {
    copier.mbarrier_arrive_expect_tx(full, bytes);
    copier.bulk_load(global + c.begin, (c.is_global() ? other : room) + c.begin, bytes, full);
    copier.mbarrier_try_wait(full, 0);
  } else {
    copier.bulk_store((c.is_global() ? other : room) + c.begin,
                      (c.is_global() ? global : out) + c.begin, bytes);
    copier.bulk_commit().bulk_wait(0);
  }
  return p;
}

// A barrier of the CTA performs what was read before it, so that a read without a fence is disputed there.
Fault expected_of(const LaneCase& c, HandsOn how) {
  if (!lacks_a_fence(c)) return Fault::None;
  if (!c.is_read()) return Fault::ProxyFenceMissing;
  return how == HandsOn::ByBarrier ? Fault::ProxyFenceMissingPerformed
                                   : Fault::ProxyFenceMissingAfterRead;
}

TEST(Order, EveryLaneThatTouchedAByteHasToFence) {
  std::mt19937 random(from_environment("TCQ_SEED", 12));
  const unsigned cases = from_environment("TCQ_ORDER_LANES", 3000);
  int wrong = 0;
  for (unsigned n = 0; n < cases; ++n) {
    const LaneCase c = draw_lane_case(random);
    wrong += lacks_a_fence(c) ? 1 : 0;
    for (const HandsOn how : {HandsOn::ByBarrier, HandsOn::ByMbarrier}) {
      const Program p = program_of(c, how);
      const Report report = explore(p, {.max_executions = 1, .random_executions = 0});
      const Fault expected = expected_of(c, how);
      const bool ends = info(expected).kind == FaultKind::Undefined;
      const std::string text = "case " + std::to_string(n) + "\n" + oracle::report_text(p, report);
      ASSERT_EQ(report.finding ? report.finding->fault : Fault::None, ends ? expected : Fault::None)
          << text;
      ASSERT_EQ(report.suspicions.size(), ends || expected == Fault::None ? 0u : 1u) << text;
      for (const Finding& f : report.suspicions) ASSERT_EQ(f.fault, expected) << text;
    }
  }
  std::printf("%u cases, %d without a fence\n", cases, wrong);
  EXPECT_GT(wrong, static_cast<int>(cases / 8));
  EXPECT_LT(wrong, static_cast<int>(cases - cases / 8));
}

// Of two warps the first reads bytes and meets the second, and then the second's copy overwrites them.
enum class Meets : std::uint8_t { Behind, Before, BehindAndHandsOn, ArrivesOnly, ArrivesAndIsAwaited };
Fault fault_of_refill(Meets how) {
  Program p({.threads = 64});
  const Address full = p.mbarrier("full");
  const Address empty = p.mbarrier("empty");
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t in = p.global(std::vector<std::uint8_t>(128));
  Role setup = p.warps("setup", 1, 1);
  setup.elect().mbarrier_init(full, 1).mbarrier_init(empty, 32).fence_mbarrier_init();
  setup.move({0, 1}, 5).store_shared({slot, 4}, 0).fence_proxy_async();
  p.warps("both", 0, 2).barrier_sync();
  Role reads = p.warps("reads", 0, 1);
  Role copies = p.warps("copies", 1, 1);
  const auto is = [&](Meets m) { return how == m; };
  if (is(Meets::Before)) reads.barrier_sync(1, 64);
  reads.load_shared({slot, 4}, 0);
  if (is(Meets::Behind) || is(Meets::BehindAndHandsOn)) reads.barrier_sync(1, 64);
  if (is(Meets::ArrivesOnly) || is(Meets::ArrivesAndIsAwaited)) reads.barrier_arrive(1, 64);
  if (!is(Meets::Behind) && !is(Meets::ArrivesAndIsAwaited)) reads.mbarrier_arrive(empty);
  if (!is(Meets::ArrivesOnly)) copies.barrier_sync(1, 64);
  if (!is(Meets::Behind) && !is(Meets::ArrivesAndIsAwaited)) copies.mbarrier_try_wait(empty, 0);
  copies.elect().mbarrier_arrive_expect_tx(full, 128).bulk_load(in, slot, 128, full);
  copies.mbarrier_try_wait(full, 0);
  if (is(Meets::ArrivesOnly)) copies.barrier_sync(1, 64);
  const Report report = explore(p, {});
  if (report.finding) return report.finding->fault;
  return report.suspicions.size() == 1 ? report.suspicions[0].fault : Fault::None;
}

TEST(Order, ABarrierOfTheCtaPerformsTheReadsBeforeIt) {
  EXPECT_EQ(fault_of_refill(Meets::Behind), Fault::ProxyFenceMissingPerformed);
  EXPECT_EQ(fault_of_refill(Meets::BehindAndHandsOn), Fault::ProxyFenceMissingPerformed);
  EXPECT_EQ(fault_of_refill(Meets::ArrivesAndIsAwaited), Fault::ProxyFenceMissingPerformed);
  EXPECT_EQ(fault_of_refill(Meets::Before), Fault::ProxyFenceMissingAfterRead);
  // The copy knows of the read, and not that the barrier has completed.
  EXPECT_EQ(fault_of_refill(Meets::ArrivesOnly), Fault::ProxyFenceMissingAfterRead);
}

// The fence of the thread that stores the bytes away, behind those that wrote them: for other warps' writes it is
// disputed, for its own warp's it is none.
TEST(Order, TheCopyingThreadDoesNotFenceForItsWarp) {
  for (const int warp : {0, 1}) {
    Program p({.threads = 64});
    const std::uint32_t tile = p.shared("tile", 128);
    const std::uint64_t out = p.global(std::vector<std::uint8_t>(128));
    p.warps("writer", 0, 1).move({0, 1}, 7).store_shared({tile, 4}, 0).warp_sync();
    p.warps("both", 0, 2).barrier_sync();
    Role copier = p.warps("copier", warp, 1).elect();
    copier.fence_proxy_async().bulk_store(tile, out, 128).bulk_commit().bulk_wait(0);
    const Report report = explore(p, {});
    if (warp == 0) {
      ASSERT_TRUE(report.finding);
      EXPECT_EQ(report.finding->fault, Fault::ProxyFenceMissing);
    } else {
      EXPECT_FALSE(report.finding) << oracle::report_text(p, report);
      ASSERT_EQ(report.suspicions.size(), 1u);
      EXPECT_EQ(report.suspicions[0].fault, Fault::ProxyFenceByReader);
    }
  }
}

// --- mbarrier.init ---------------------------------------------------------------------------------

// Lanes 0 and 1 initialise a barrier each, `lanes` fence, and a copy completes on the second.
Program fences_inits(std::uint32_t lanes, bool by_proxy_fence) {
  Program p({.threads = 64});
  const auto full = p.mbarriers("full", 2);
  const std::uint32_t slot = p.shared("slot", 128);
  const std::uint64_t in = p.global(std::vector<std::uint8_t>(128));
  Role all = p.warps("all", 0, 2);
  all.in_warps(1).lanes(3).mbarrier_init({full[0].base, 8}, 1);
  Role some = all.in_warps(1).lanes(lanes);
  by_proxy_fence ? some.fence_proxy_async() : some.fence_mbarrier_init();
  all.barrier_sync();
  p.warps("producer", 1, 1)
      .elect()
      .mbarrier_arrive_expect_tx(full[1], 128)
      .bulk_load(in, slot, 128, full[1]);
  p.warps("consumer", 0, 2).mbarrier_try_wait(full[1], 0);
  return p;
}

TEST(Order, TheLaneThatInitialisesHasToFence) {
  for (const bool by_proxy_fence : {false, true})
    for (const std::uint32_t lanes : {1u, 2u, 3u, all_lanes}) {
      const Report report = explore(fences_inits(lanes, by_proxy_fence), {});
      EXPECT_EQ(report.outcome, Outcome::Right);
      const bool fenced = (lanes & 2) != 0;
      ASSERT_EQ(report.suspicions.size(), fenced ? 0u : 1u) << lanes << by_proxy_fence;
      if (fenced) continue;
      EXPECT_EQ(report.suspicions[0].fault, Fault::MbarrierInitUnfenced);
      EXPECT_EQ(report.suspicions[0].earlier.lane, 1);
      EXPECT_EQ(explore(fences_inits(lanes, by_proxy_fence), {.fails = {.disputed = true}}).outcome,
                Outcome::Wrong);
    }
}

}  // namespace
}  // namespace tcq::order
