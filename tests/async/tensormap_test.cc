// Tensor maps that are patched while a program runs: which fence serves whom, until when a copy uses
// its map, which bytes it moves; and the explorer finds what every order finds.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/async/explore.h"
#include "tests/async/catalogue_kit.h"
#include "tests/async/every_order.h"
#include "tests/support/effort.h"

namespace tcq {
namespace {

constexpr std::uint32_t tile_bytes = 128;

// 128 bytes, one row.
tma::TensorMap row_map(std::uint64_t address) {
  tma::TensorMap map;
  map.type = tma::DataType::UInt8;
  map.rank = 1;
  map.address = address;
  map.dims[0] = map.box[0] = tile_bytes;
  return map;
}

// `count` rows; all bytes of row i are i + 1.
std::vector<std::uint8_t> rows(int count) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < count; ++i)
    bytes.insert(bytes.end(), tile_bytes, static_cast<std::uint8_t>(i + 1));
  return bytes;
}

// None: right.
Fault fault_of(const Program& program) {
  const Report report = explore(program, {});
  if (report.outcome == Outcome::Refused) return report.refused.fault;
  return report.finding ? report.finding->fault : Fault::None;
}

std::string missing_fence(const Program& program, const ExploreOptions& options = {}) {
  const Report report = explore(program, options);
  if (!report.finding || report.finding->fault != Fault::TensormapFenceMissing) return "none";
  return report.finding->missing == TensormapFence::Release ? "release" : "acquire";
}

// One warp, one slot, maps of the rows of `in`.
struct OneWarp {
  Program program;
  Address full = program.mbarrier("full");
  std::uint32_t slot = program.shared("slot", 2 * tile_bytes);
  std::uint64_t in = program.global(rows(4));
  std::uint64_t out = program.global(std::vector<std::uint8_t>(4 * tile_bytes));
  int map = program.tensor(row_map(in));
  int other = program.tensor(row_map(in + tile_bytes));
  Role all = program.warps("all", 0, 1);

  explicit OneWarp(int threads = 32) : program(Launch{.threads = threads}) {
    all.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  }

  tma::TensorMap row(int i) const {
    return row_map(in + static_cast<std::uint64_t>(i) * tile_bytes);
  }
  void load(Role role, int which, int phase) {
    role.mbarrier_arrive_expect_tx(full, tile_bytes).tensor_load(which, {}, slot, full);
    all.mbarrier_try_wait(full, phase);
  }
};

// --- fences ----------------------------------------------------------------------------------------

TEST(Tensormap, OneThreadNeedsBothFencesInTheirOrder) {
  const auto with = [](auto fences) {
    OneWarp w;
    w.all.elect().tensormap_replace(w.map, w.row(2));
    fences(w.all.elect(), w.map);
    w.load(w.all.elect(), w.map, 0);
    return missing_fence(w.program);
  };
  EXPECT_EQ(with([](Role, int) {}), "release");
  EXPECT_EQ(with([](Role r, int map) { r.fence_tensormap_acquire(map); }), "release");
  EXPECT_EQ(with([](Role r, int) { r.fence_tensormap_release(); }), "acquire");
  EXPECT_EQ(with([](Role r, int map) { r.fence_tensormap_acquire(map).fence_tensormap_release(); }),
            "acquire");
  EXPECT_EQ(with([](Role r, int map) { r.fence_tensormap_release().fence_tensormap_acquire(map); }),
            "none");
}

TEST(Tensormap, AReleaseCoversAllMapsAnAcquireOne) {
  for (const bool both : {true, false}) {
    OneWarp w;
    Role one = w.all.elect();
    one.tensormap_replace(w.map, w.row(2)).tensormap_replace(w.other, w.row(3));
    one.fence_tensormap_release().fence_tensormap_acquire(w.map);
    if (both) one.fence_tensormap_acquire(w.other);
    w.load(one, w.map, 0);
    w.load(one, w.other, 1);
    EXPECT_EQ(missing_fence(w.program), both ? "none" : "acquire");
  }
}

TEST(Tensormap, EveryLaneThatPatchesMustRelease) {
  for (const bool all_lanes_release : {true, false}) {
    OneWarp w;
    w.all.tensormap_replace(w.map, w.row(2)).warp_sync();
    (all_lanes_release ? w.all : w.all.elect()).fence_tensormap_release();
    w.all.warp_sync().fence_tensormap_acquire(w.map);
    w.load(w.all.elect(), w.map, 0);
    EXPECT_EQ(missing_fence(w.program), all_lanes_release ? "none" : "release");
  }
}

// Triton: one warp acquires, a thread of another one copies. The first order, in which it has acquired by then, shows it.
TEST(Tensormap, AnAcquireServesWhoeverKnowsOfIt) {
  for (const bool meets : {true, false}) {
    OneWarp w(64);
    w.all.elect().tensormap_replace(w.map, w.row(2)).fence_tensormap_release();
    w.program.warps("both", 0, 2).barrier_sync();
    w.program.warps("first", 0, 1).fence_tensormap_acquire(w.map);
    if (meets) w.program.warps("both again", 0, 2).barrier_sync();
    Role second = w.program.warps("second", 1, 1);
    second.elect().mbarrier_arrive_expect_tx(w.full, tile_bytes);
    second.elect().tensor_load(w.map, {}, w.slot, w.full);
    second.mbarrier_try_wait(w.full, 0);
    const ExploreOptions first_order = {
        .max_executions = 1, .eager = false, .random_executions = 0};
    for (const ExploreOptions& options : {first_order, ExploreOptions{}})
      EXPECT_EQ(missing_fence(w.program, options), meets ? "none" : "acquire");
  }
}

TEST(Tensormap, APatchMakesEarlierFencesVoid) {
  for (const bool again : {true, false}) {
    OneWarp w;
    Role one = w.all.elect();
    one.tensormap_replace(w.map, w.row(2));
    one.fence_tensormap_release().fence_tensormap_acquire(w.map);
    one.tensormap_replace(w.map, w.row(3)).fence_tensormap_release();
    if (again) one.fence_tensormap_acquire(w.map);
    w.load(one, w.map, 0);
    EXPECT_EQ(missing_fence(w.program), again ? "none" : "acquire");
  }
}

TEST(Tensormap, TwoPatchesNeedAnOrder) {
  for (const bool ordered : {true, false}) {
    Program p({.threads = 64});
    const std::uint64_t in = p.global(rows(3));
    const int map = p.tensor(row_map(in));
    p.warps("first", 0, 1).elect().tensormap_replace(map, row_map(in + tile_bytes));
    if (ordered) p.warps("all", 0, 2).barrier_sync();
    p.warps("second", 1, 1).elect().tensormap_replace(map, row_map(in + 2 * tile_bytes));
    EXPECT_EQ(fault_of(p), ordered ? Fault::None : Fault::DataRace);
  }
}

TEST(Tensormap, AMapThatTheProgramLacksIsRefused) {
  for (const int map : {-1, 2}) {
    OneWarp patch;
    patch.all.elect().tensormap_replace(map, patch.row(0));
    EXPECT_EQ(fault_of(patch.program), Fault::ProgramMalformed);
    OneWarp fence;
    fence.all.fence_tensormap_acquire(map);
    EXPECT_EQ(fault_of(fence.program), Fault::ProgramMalformed);
  }
}

TEST(Tensormap, APatchToAMapThatDoesNotExistIsAFaultOfTheCopy) {
  OneWarp w;
  tma::TensorMap bad = w.row(1);
  bad.rank = tma::max_rank + 1;
  Role one = w.all.elect();
  one.tensormap_replace(w.map, bad).fence_tensormap_release().fence_tensormap_acquire(w.map);
  w.load(one, w.map, 0);
  EXPECT_EQ(fault_of(w.program), Fault::TensorMapRank);
}

// --- until when a copy uses its map ----------------------------------------------------------------

// CTA 0 multicasts to both CTAs and patches the map behind its own wait.
TEST(Tensormap, AMulticastUsesItsMapUntilItHasLandedEverywhere) {
  for (const bool waits_for_peer : {true, false}) {
    Program p({.cluster = 2, .threads = 32});
    const Address full = p.mbarrier("full");
    const Address landed = p.mbarrier("landed");
    const std::uint32_t slot = p.shared("slot", tile_bytes);
    const std::uint64_t in = p.global(rows(2));
    const int map = p.tensor(row_map(in));
    Role all = p.warps("all", 0, 1);
    all.elect().mbarrier_init(full, 1).mbarrier_init(landed, 1).fence_mbarrier_init();
    all.elect().mbarrier_arrive_expect_tx(full, tile_bytes);
    all.cluster_arrive().cluster_wait();
    Role sender = p.warps("sender", 0, 1, 0);
    sender.elect().tensor_load(map, {}, slot, full, 0b11);
    sender.mbarrier_try_wait(full, 0);
    if (waits_for_peer) sender.mbarrier_try_wait(landed, 0, Scope::Cluster);
    sender.elect().tensormap_replace(map, row_map(in + tile_bytes));
    Role peer = p.warps("peer", 0, 1, 1);
    peer.mbarrier_try_wait(full, 0).elect().mbarrier_arrive(landed.in(0), Scope::Cluster);
    p.warps("end", 0, 1).cluster_arrive().cluster_wait();
    EXPECT_EQ(fault_of(p), waits_for_peer ? Fault::None : Fault::TensormapInUse);
  }
}

TEST(Tensormap, AnOlderGroupMayBePatchedWhileAYoungerOneReads) {
  for (const int pending : {0, 1, 2}) {
    OneWarp w;
    Role one = w.all.elect();
    w.all.move({0, 1}, 7).store_shared({w.slot, 4}, 0).fence_proxy_async();
    one.tensor_store(w.map, {}, w.slot).bulk_commit();
    one.tensor_store(w.other, {}, w.slot).bulk_commit().bulk_wait_read(pending);
    one.tensormap_replace(w.map, w.row(2)).bulk_wait(0);
    EXPECT_EQ(fault_of(w.program), pending < 2 ? Fault::None : Fault::TensormapInUse);
  }
}

// --- which bytes move ------------------------------------------------------------------------------

TEST(Tensormap, ALoadReadsThroughTheMapAsItWasLastPatched) {
  OneWarp w;
  for (int k = 0; k < 4; ++k) {
    Role one = w.all.elect();
    if (k > 0) {
      one.tensormap_replace(w.map, w.row(k));
      one.fence_tensormap_release().fence_tensormap_acquire(w.map);
    }
    w.load(one, w.map, k);
    w.all.load_shared({w.slot, 4}, 0).fence_proxy_async().warp_sync();
    w.all.store_global(w.out + static_cast<std::uint64_t>(k) * tile_bytes, 4, {0, 1});
  }
  const Report report = explore(w.program, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(w.program, report);
  const std::vector<std::uint8_t> expected = rows(4);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                         report.global.begin() + static_cast<std::ptrdiff_t>(w.out)));
}

// wait_group.read lets the patch go ahead; the bytes of the first store are written later.
TEST(Tensormap, AStoreWritesThroughTheMapItRead) {
  OneWarp w;
  Role one = w.all.elect();
  w.all.move({0, 1}, 0x09090909).store_shared({w.slot, 4}, 0).fence_proxy_async();
  one.tensor_store(w.map, {}, w.slot).bulk_commit().bulk_wait_read(0);
  one.tensormap_replace(w.map, w.row(3));
  one.fence_tensormap_release().fence_tensormap_acquire(w.map);
  one.tensor_store(w.map, {}, w.slot).bulk_commit().bulk_wait(0);
  const Report report = explore(w.program, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(w.program, report);
  const auto byte = [&](std::uint64_t row) { return report.global[w.in + row * tile_bytes]; };
  EXPECT_EQ(byte(0), 9);
  EXPECT_EQ(byte(1), 2);
  EXPECT_EQ(byte(2), 3);
  EXPECT_EQ(byte(3), 9);
}

TEST(Tensormap, AnIdleFenceIsNamedSlow) {
  OneWarp w;
  w.all.fence_tensormap_release();
  w.load(w.all.elect(), w.map, 0);
  const Report report = explore(w.program, {.random_executions = 2, .find_slow = true});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(w.program, report);
  std::set<std::string> named;
  for (const Finding& f : report.suspicions)
    named.insert(oracle::instruction_text(
        w.program, w.program.statement(static_cast<std::size_t>(f.at.statement)).what));
  EXPECT_TRUE(named.contains("fence.proxy.tensormap::generic.release.cluster"));
}

// The copy wrote the tile with a 128B swizzle; the map that it used says 64B by now.
TEST(Tensormap, ATileIsNotJudgedByWhatItsMapBecame) {
  using namespace catalogue;
  Program p({.threads = 128});
  const Address full = p.mbarrier("full");
  const std::uint32_t a = p.shared("A", a_bytes, 1024);
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  const int map_a = f16_tensor(p, 64, 64, 64);
  const int map_b = f16_tensor(p, mma_n, 64, mma_n);
  Role math = p.warps("math", 0, 4);
  math.elect().mbarrier_init(full, 1).fence_mbarrier_init();
  math.barrier_sync();
  math.elect().mbarrier_arrive_expect_tx(full, a_bytes + b_bytes);
  math.elect().tensor_load(map_a, {}, a, full).tensor_load(map_b, {}, b, full);
  math.mbarrier_try_wait(full, 0);
  tma::TensorMap narrow = p.maps()[static_cast<std::size_t>(map_a)];
  narrow.swizzle = Swizzle::B64;
  narrow.box[0] = 32;
  math.elect().tensormap_replace(map_a, narrow);
  math.wgmma_fence().wgmma(mma(descriptor(a), descriptor(b), false), d_registers);
  math.wgmma_commit().wgmma_wait(0);
  const Report report = explore(p, {.random_executions = 2});
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
  EXPECT_TRUE(report.suspicions.empty()) << oracle::report_text(p, report);
}

// --- every order -----------------------------------------------------------------------------------

// A patcher, a loader and a third warp that does one or the other; most programs lack something.
class RandomProgram {
 public:
  explicit RandomProgram(std::mt19937& random) : random_(random) {
    Role all = p_.warps("all", 0, 3);
    all.elect().mbarrier_init(patched_, 1 + below(8) / 7).mbarrier_init(full_, 1);
    all.elect().mbarrier_init(issued_, 1).fence_mbarrier_init();
    all.barrier_sync();
    Role patcher = p_.warps("patcher", 0, 1).elect();
    Role loader = p_.warps("loader", 1, 1).elect();
    for (int k = 0; k < 2; ++k) {
      patch(patcher, k);
      load(loader, k);
    }
    Role third = p_.warps("third", 2, 1).elect();
    if (below(4) == 0) third.tensormap_replace(map_, row_map(in_ + 2 * tile_bytes));
    if (below(4) == 0) third.mbarrier_try_wait(full_, static_cast<int>(below(2)));
    if (below(4) == 0) third.fence_tensormap_release().mbarrier_arrive(patched_);
  }
  const Program& program() const { return p_; }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool mostly() { return below(7) != 0; }

  void patch(Role& role, int k) {
    if (k > 0 && mostly()) role.mbarrier_try_wait(below(4) == 0 ? issued_ : full_, k - 1);
    if (mostly()) role.tensormap_replace(map_, row_map(in_ + (1 + below(2)) * tile_bytes));
    if (mostly()) role.fence_tensormap_release();
    role.mbarrier_arrive(patched_);
  }

  void load(Role& role, int k) {
    if (mostly()) role.mbarrier_try_wait(patched_, k);
    if (mostly()) role.fence_tensormap_acquire(map_);
    if (below(4) == 0 && k > 0) return;
    role.mbarrier_arrive_expect_tx(full_, tile_bytes).tensor_load(map_, {}, slot_, full_);
    role.mbarrier_arrive(issued_)
        .mbarrier_try_wait(full_, k)
        .load_shared(slot_, 0)
        .fence_proxy_async();
    role.store_global(out_ + static_cast<unsigned>(4 * k), 4, {0, 1});
  }

  std::mt19937& random_;
  Program p_{Launch{.threads = 96}};
  Address patched_ = p_.mbarrier("patched");
  Address full_ = p_.mbarrier("full");
  Address issued_ = p_.mbarrier("issued");
  std::uint32_t slot_ = p_.shared("slot", tile_bytes);
  std::uint64_t in_ = p_.global(rows(3));
  std::uint64_t out_ = p_.global(std::vector<std::uint8_t>(8));
  int map_ = p_.tensor(row_map(in_));
};

// 400 programs in five parts, so that each ends in time under the sanitizers.
class TensormapOrders : public testing::TestWithParam<int> {};

TEST_P(TensormapOrders, TheReductionFindsAFaultExactlyWhereEveryOrderDoes) {
  constexpr int programs = tests::effort(80);
  std::mt19937 random(7);
  for (int i = 0; i < programs * GetParam(); ++i) (void)RandomProgram(random);
  int right = 0;
  std::set<Fault> faults;
  for (int i = 0; i < programs; ++i) {
    const RandomProgram made(random);
    const Program& program = made.program();
    const auto [is_right, outcomes, report] = explore_both_ways(program, three_warps_prologue);
    ASSERT_FALSE(HasFailure()) << "program " << i;
    if (!is_right) {
      faults.insert(report.finding->fault);
      continue;
    }
    ++right;
  }
  if (tests::sanitized) return;
  EXPECT_GT(right, 6);  // 30 of 400
  for (const Fault fault : {Fault::TensormapFenceMissing, Fault::TensormapInUse, Fault::DataRace})
    EXPECT_TRUE(faults.contains(fault)) << info(fault).name;
}

INSTANTIATE_TEST_SUITE_P(Parts, TensormapOrders, testing::Range(0, 5));

}  // namespace
}  // namespace tcq
