// Exploration: the reduction finds what trying every order finds; a pipelined GEMM is right to the
// bit; deadlocks, bounds and bad programs are reported, never hung on.
#include "sim/async/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "oracle/diagnosis/diagnosis.h"
#include "sim/machine/tma.h"
#include "tests/async/catalogue_kit.h"
#include "tests/async/every_order.h"
#include "tests/async/main_loop.h"
#include "tests/async/nonsense.h"
#include "tests/async/random_programs.h"
#include "tests/support/effort.h"

namespace tcq {
namespace {

using namespace machine;
using catalogue::a_bytes;
using catalogue::b_bytes;
using catalogue::d_registers;
using catalogue::descriptor;
using catalogue::f16_tensor;
using catalogue::mma;
using catalogue::mma_n;

// --- every order -------------------------------------------------------------------------------

TEST(Explore, TheReductionFindsAFaultExactlyWhereEveryOrderDoes) {
  std::mt19937 random(20);
  int right = 0;
  int wrong = 0;
  std::uint64_t reduced = 0;
  std::uint64_t all = 0;
  const int programs = tests::effort(1500);
  for (int i = 0; i < programs; ++i) {
    const Program program = random_program(random);
    const auto [is_right, outcomes, report] = explore_both_ways(program, three_warps_prologue);
    ASSERT_FALSE(HasFailure()) << "program " << i;
    is_right ? ++right : ++wrong;
    if (!is_right) continue;
    reduced += report.executions;
    all += outcomes.executions;
  }
  EXPECT_GT(right, programs / 25);
  EXPECT_GT(wrong, programs / 3);
  EXPECT_GT(all, 20 * reduced);  // and with far fewer executions
}

// Nothing in a ring of mbarriers depends on who comes first.
Program ring(int blocks) {
  Program p({.threads = 64});
  const auto full = p.mbarriers("full", 2);
  const auto empty = p.mbarriers("empty", 2);
  const std::uint32_t slot = p.shared("slot", 256);
  Role all = p.warps("all", 0, 2);
  for (std::size_t s = 0; s < 2; ++s)
    all.elect().mbarrier_init(full[s], 32).mbarrier_init(empty[s], 32);
  all.barrier_sync();
  for (int k = 0; k < blocks; ++k) {
    const auto s = static_cast<std::size_t>(k % 2);
    const auto at = slot + 128 * static_cast<std::uint32_t>(s);
    p.warps("producer", 0, 1)
        .mbarrier_try_wait(empty[s], k / 2 + 1)
        .move({0, 1}, 5)
        .store_shared({at, 4}, 0);
    p.warps("producer", 0, 1).mbarrier_arrive(full[s]);
    p.warps("consumer", 1, 1).mbarrier_try_wait(full[s], k / 2).load_shared({at, 4}, 0);
    p.warps("consumer", 1, 1).mbarrier_arrive(empty[s]);
  }
  return p;
}

TEST(Explore, OneExecutionCoversAPipeline) {
  for (const int blocks : {1, 4, 1000}) {
    const Program p = ring(blocks);
    const Report report = explore(p, {.random_executions = 0});
    EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
    EXPECT_TRUE(report.exhaustive);
    EXPECT_EQ(report.executions, 2u);  // and the eager one
  }
}

double seconds_of(const Program& program) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();  // of this process, whatever else the machine does
    explore(program, {.max_executions = 1, .random_executions = 0});
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// The same in a loop of copies and in one whose register pool changes hands in every round.
Program copies(int blocks) {
  return catalogue::MainLoop{.blocks = blocks, .stages = 4, .in_flight = 1}.program();
}
Program pools(int blocks) {
  Program p({.threads = 256, .registers = 128});
  for (int k = 0; k < blocks; ++k)
    for (const int first : {0, 4}) {
      p.warps("gives", first, 4).setmaxnreg_dec(104);
      p.warps("takes", 4 - first, 4).setmaxnreg_inc(152);
      p.warps("all", 0, 8).barrier_sync();
      p.warps("takes", 4 - first, 4).setmaxnreg_dec(128);
      p.warps("gives", first, 4).setmaxnreg_inc(128);
      p.warps("all", 0, 8).barrier_sync();
    }
  return p;
}
// Stores of which only the reading is waited for, as an epilogue does.
Program stores(int blocks) {
  Program p({.threads = 32});
  const std::uint32_t data = p.shared("data", 256);
  const std::uint64_t out =
      p.global(std::vector<std::uint8_t>(128 * static_cast<std::size_t>(blocks)));
  Role all = p.warps("all", 0, 1);
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(blocks); ++k) {
    const std::uint32_t slot = data + 128 * (k % 2);
    if (k > 0) all.elect().bulk_wait_read(1);
    all.warp_sync().move({0, 1}, k).store_shared({slot, 4}, 0).fence_proxy_async().warp_sync();
    all.elect().bulk_store(slot, out + 128 * k, 128).bulk_commit();
  }
  all.elect().bulk_wait_read(0);
  return p;
}

// Eight times as long a loop takes eight times as long; by the square it would be 64 times.
TEST(Explore, TimeGrowsWithTheLengthOfALoopNotWithItsSquare) {
  const auto ratio = [](Program (*make)(int), int blocks) {
    return seconds_of(make(8 * blocks)) / std::max(seconds_of(make(blocks)), 1e-4);
  };
  EXPECT_LT(ratio(ring, 200), 24);
  EXPECT_LT(ratio(copies, 24), 24);
  EXPECT_LT(ratio(pools, 12), 24);
  EXPECT_LT(ratio(stores, 200), 24);
}

// --- a GEMM ----------------------------------------------------------------------------------------

// The same sum as a chain of wgmmas, each executed at once.
std::vector<std::uint32_t> chain(const Program& program, int blocks) {
  wgmma::State state;
  state.shared = SharedMemory(shared_base_sm90, a_bytes + b_bytes);
  state.registers.d.resize(128 * 4);
  for (int k = 0; k < blocks; ++k) {
    const tma::Tile a{program.maps()[0], {{64 * k, 0}}, 1024};
    const tma::Tile b{program.maps()[1], {{64 * k, 0}}, 1024 + a_bytes};
    tma::execute(tma::Load{a}, state.shared, program.initial_global());
    tma::execute(tma::Load{b}, state.shared, program.initial_global());
    for (std::uint32_t step = 0; step < 4; ++step)
      wgmma::execute(state, mma(descriptor(1024 + 32 * step),
                                descriptor(1024 + a_bytes + 32 * step), k > 0 || step > 0));
  }
  return state.registers.d;
}

TEST(Explore, APipelinedGemmIsRightToTheBit) {
  catalogue::MainLoop gemm;
  const Program program = gemm.program();
  const Report report = explore(program, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(program, report);
  EXPECT_TRUE(report.exhaustive);
  EXPECT_TRUE(report.suspicions.empty());
  std::vector<std::uint32_t> d(128 * 4);
  std::memcpy(d.data(), &report.global[gemm.out], d.size() * 4);
  EXPECT_EQ(d, chain(program, gemm.blocks));
}

TEST(Explore, BookkeepingStaysBelow64BytesPerByteOfSharedMemory) {
  catalogue::MainLoop gemm{.blocks = 200};
  const Program program = gemm.program();
  const Report report = explore(program, {.random_executions = 1});
  ASSERT_EQ(report.outcome, Outcome::Right);
  EXPECT_LE(report.bookkeeping_bytes, 64 * (program.shared_end() - shared_base_sm90));
}

TEST(Explore, SlowWaitsAndFencesAreNamed) {
  catalogue::MainLoop gemm{.blocks = 2};
  const Program program = gemm.program();
  const Report report = explore(program, {.random_executions = 2, .find_slow = true});
  ASSERT_EQ(report.outcome, Outcome::Right);
  std::set<Fault> found;
  for (const Finding& f : report.suspicions) found.insert(f.fault);
  // Copies complete on the mbarriers, so that fence.mbarrier_init is needed, as are both other fences
  // and the wait.
  EXPECT_EQ(found, std::set<Fault>{});
}

TEST(Explore, AFenceOfInitsThatOnlyThreadsArriveOnIsUnneeded) {
  Program p({.threads = 64});
  const Address done = p.mbarrier("done");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(done, 32).fence_mbarrier_init();
  all.barrier_sync();
  p.warps("a", 0, 1).mbarrier_arrive(done);
  p.warps("b", 1, 1).mbarrier_try_wait(done, 0);
  const Report report = explore(p, {.random_executions = 2, .find_slow = true});
  ASSERT_EQ(report.suspicions.size(), 1u) << oracle::report_text(p, report);
  EXPECT_EQ(report.suspicions[0].fault, Fault::FenceUnneeded);
}

TEST(Explore, TheCallerChoosesWhichSeveritiesFail) {
  Program p({.threads = 128});  // no .maxntid: setmaxnreg is ignored, which is suspect
  p.warps("all", 0, 4).setmaxnreg_dec(24);
  const Report mild = explore(p, {});
  EXPECT_EQ(mild.outcome, Outcome::Right);
  ASSERT_EQ(mild.suspicions.size(), 1u);
  EXPECT_EQ(mild.suspicions[0].fault, Fault::SetmaxnregIgnored);
  EXPECT_EQ(explore(p, {.fails = {.disputed = true, .slow = true}}).outcome, Outcome::Right);
  const Report strict = explore(p, {.fails = {.suspect = true}});
  EXPECT_EQ(strict.outcome, Outcome::Wrong);
  ASSERT_TRUE(strict.finding);
  EXPECT_EQ(strict.finding->fault, Fault::SetmaxnregIgnored);
}

TEST(Explore, AWaitThatCouldLeaveAGroupInFlightIsNamed) {
  Program p({.threads = 128});
  const std::uint32_t b = p.shared("B", b_bytes, 1024);
  Role math = p.warps("math", 0, 4);
  math.move({16, 2}, 0).store_shared({b, 8}, 16, 8).fence_proxy_async().barrier_sync();
  math.move({8, 8}, 0).wgmma_fence();
  for (const int first : {0, 4}) {
    math.wgmma(catalogue::mma_rs(descriptor(b), false), {first, 4}, {8, 4}).wgmma_commit();
    if (first == 0) math.wgmma_wait(0);
  }
  math.wgmma_wait(0);
  const Report report = explore(p, {.random_executions = 2, .find_slow = true});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
  ASSERT_EQ(report.suspicions.size(), 1u) << oracle::report_text(p, report);
  EXPECT_EQ(report.suspicions[0].fault, Fault::WaitTooStrong);
}

TEST(Explore, TheSameSeedGivesTheSameReport) {
  const Program program = catalogue::MainLoop{.blocks = 3}.program();
  const Report first = explore(program, {.seed = 5});
  const Report second = explore(program, {.seed = 5});
  EXPECT_EQ(first.instructions, second.instructions);
  EXPECT_EQ(first.schedule, second.schedule);
}

TEST(Explore, ReductionsReachGlobalMemoryOnce) {
  Program p({.threads = 32});
  const std::uint32_t data = p.shared("data", 128);
  const std::uint64_t out = p.global(std::vector<std::uint8_t>(128, 1));
  Role all = p.warps("all", 0, 1);
  all.move({0, 1}, 5).store_shared({data, 4}, 0).fence_proxy_async().warp_sync();
  all.elect().bulk_reduce(data, out, 128, tma::Reduction::Add, tma::DataType::UInt32);
  all.elect().bulk_commit().bulk_wait(0);
  const Report report = explore(p, {});
  ASSERT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
  std::uint32_t word = 0;
  std::memcpy(&word, &report.global[out + 124], 4);
  EXPECT_EQ(word, 0x01010106u);
}

// --- deadlocks -------------------------------------------------------------------------------------

TEST(Explore, ADeadlockSaysWhoWaitsForWhat) {
  Program p({.threads = 64});
  const Address done = p.mbarrier("done");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(done, 3);
  all.barrier_sync();
  p.warps("a", 0, 1).elect().mbarrier_arrive(done);
  p.warps("b", 1, 1).mbarrier_try_wait(done, 0);
  const Report report = explore(p, {});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::Deadlock);
  ASSERT_EQ(report.finding->waiting.size(), 1u);
  const Waiting& w = report.finding->waiting[0];
  EXPECT_EQ(w.at.warp, 1);
  EXPECT_EQ(w.phase, 0u);
  EXPECT_EQ(w.missing, 2);
  EXPECT_EQ(w.expected, 3);
  const std::string text = oracle::diagnosis(p, *report.finding);
  EXPECT_NE(text.find("2 of 3 arrivals missing"), text.npos) << text;
  EXPECT_NE(text.find("done gets 1 of the 3 arrivals that explore_test.cc"), text.npos) << text;
}

TEST(Explore, EachLaneArrivesOnTheBarrierItNames) {
  Program p({.threads = 64});
  const auto done = p.mbarriers("done", 2);
  Role all = p.warps("all", 0, 2);
  for (const Address& barrier : done) all.elect().mbarrier_init(barrier, 1);
  all.barrier_sync();
  p.warps("a", 0, 1).lanes(0b11).mbarrier_arrive({done[0].base, 8});
  p.warps("b", 1, 1).mbarrier_try_wait(done[0], 0).mbarrier_try_wait(done[1], 0);
  const Report report = explore(p, {});
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
}

TEST(Explore, EachWarpWaitsForTheBarrierItNames) {
  Program p({.threads = 96});
  const auto done = p.mbarriers("done", 2);
  Role all = p.warps("all", 0, 3);
  for (const Address& barrier : done) all.elect().mbarrier_init(barrier, 1);
  all.barrier_sync();
  std::vector<std::uint32_t> offsets(64);
  offsets[32] = done[1].base - done[0].base;
  Address own = done[0];
  own.table = std::make_shared<const std::vector<std::uint32_t>>(offsets);
  p.warps("waiters", 0, 2).elect_per_warp().mbarrier_try_wait(own, 0);
  p.warps("second", 1, 1).elect().mbarrier_arrive(done[0]);
  p.warps("first", 2, 1).elect().mbarrier_arrive(done[1]);
  const Report report = explore(p, {});
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
}

TEST(Explore, AnOrderThatIsRareIsFound) {
  // Right unless warp 1 arrives before warp 0: then the phase that the reader waits for is over.
  Program p({.threads = 96});
  const Address turn = p.mbarrier("turn");
  const std::uint32_t data = p.shared("data", 4, 4);
  Role all = p.warps("all", 0, 3);
  all.elect().mbarrier_init(turn, 1);
  all.barrier_sync();
  p.warps("first", 0, 1).elect().move({0, 1}, 1).store_shared(data, 0).mbarrier_arrive(turn);
  p.warps("second", 1, 1).elect().mbarrier_arrive(turn);
  p.warps("reader", 2, 1).elect().mbarrier_try_wait(turn, 0).load_shared(data, 0);
  const Report report = explore(p, {.random_executions = 0});
  EXPECT_EQ(report.outcome, Outcome::Wrong);
}

TEST(Explore, ARemoteUseThatTheOwnerDoesNotKnowOfIsAnExitTooEarly) {
  // The store comes first in every execution, but nothing tells CTA 0 so: the arrive is relaxed.
  Program p({.cluster = 2, .threads = 32});
  const Address done = p.mbarrier("done");
  const std::uint32_t data = p.shared("data", 128);
  Role all = p.warps("all", 0, 1);
  all.elect().mbarrier_init(done, 1).fence_mbarrier_init();
  all.cluster_arrive().cluster_wait();
  Role sender = p.warps("sender", 0, 1, 1);
  sender.move({0, 1}, 5).store_shared(Address(data, 4).in(0), 0);
  sender.elect().add(MbarrierArrive{done.in(0), 1, Scope::Cluster, true, false});
  p.warps("owner", 0, 1, 0).mbarrier_try_wait(done, 0, Scope::Cluster);
  const Report report = explore(p, {});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::ReleaseMissing);
}

// Both CTAs write a word, initialise an mbarrier and meet relaxed; then CTA 1 arrives at CTA 0's.
Program meets_relaxed(bool fences, bool reads) {
  Program p({.cluster = 2, .threads = 64});
  const Address done = p.mbarrier("done");
  const std::uint32_t data = p.shared("data", 4);
  p.warps("maker", 0, 1).elect().move({0, 1}, 5).store_shared(data, 0).mbarrier_init(done, 1);
  if (fences) p.warps("maker", 0, 1).elect().fence_mbarrier_init();
  p.warps("all", 0, 2).add(ClusterArrive{true}).cluster_wait();
  Role peer = p.warps("peer", 1, 1, 1).elect();
  if (reads) peer.load_shared(Address(data).in(0), 0);
  peer.mbarrier_arrive(done.in(0), Scope::Cluster);
  p.warps("owner", 1, 1, 0).mbarrier_try_wait(done, 0, Scope::Cluster);
  return p;
}

TEST(Explore, ARelaxedClusterBarrierPublishesFencedInitsAndNothingElse) {
  EXPECT_EQ(explore(meets_relaxed(true, false), {}).outcome, Outcome::Right);
  const Report unfenced = explore(meets_relaxed(false, false), {});
  ASSERT_TRUE(unfenced.finding);
  EXPECT_EQ(unfenced.finding->fault, Fault::MbarrierNotInitialized);
  const Report reading = explore(meets_relaxed(true, true), {});
  ASSERT_TRUE(reading.finding);
  EXPECT_EQ(reading.finding->fault, Fault::ReleaseMissing);
}

// --- bounds and bad input --------------------------------------------------------------------------

TEST(Explore, AProgramWithoutEndHitsTheBound) {
  Program p({.threads = 32});
  Role loop = p.warps("loop", 0, 1);
  const int begin = loop.next();
  loop.move({0, 1}, 1).branch(begin);
  const Report report = explore(p, {.max_instructions = 100'000});
  ASSERT_TRUE(report.finding);
  EXPECT_EQ(report.finding->fault, Fault::StepLimit);
  EXPECT_LE(report.instructions, 100'001u);
}

TEST(Explore, ASpinningWaitEndsWhenItsPhaseDoes) {
  Program p({.threads = 64});
  const Address flag = p.mbarrier("flag");
  Role all = p.warps("all", 0, 2);
  all.elect().mbarrier_init(flag, 1);
  all.barrier_sync();
  p.warps("sender", 0, 1).elect().mbarrier_arrive(flag);
  Role spinner = p.warps("spinner", 1, 1);
  const int begin = spinner.next();
  spinner.mbarrier_test_wait(flag, 0, 0).branch(begin, 0, false);
  const Report report = explore(p, {.max_executions = 50, .max_instructions = 10'000});
  EXPECT_EQ(report.outcome, Outcome::Right) << oracle::report_text(p, report);
}

Report refused(const Program& program) {
  const Report report = explore(program, {});
  EXPECT_EQ(report.outcome, Outcome::Refused);
  EXPECT_FALSE(oracle::report_text(program, report).empty());
  return report;
}

TEST(Explore, BadProgramsAreRefusedWithASentence) {
  EXPECT_EQ(refused(Program({.threads = 33})).refused.fault, Fault::ProgramMalformed);
  EXPECT_EQ(refused(Program({.threads = 1'000'000})).refused.fault, Fault::ProgramTooLarge);
  EXPECT_EQ(refused(Program({.cluster = 0})).refused.fault, Fault::ProgramTooLarge);
  Program large({.threads = 32});
  large.shared("huge", std::uint64_t{1} << 40);
  EXPECT_EQ(refused(large).refused.fault, Fault::ProgramTooLarge);
  Program end({.threads = 32});
  end.shared_at("end", ~std::uint64_t{0} - 4, 100);
  EXPECT_EQ(refused(end).refused.fault, Fault::ProgramTooLarge);
  Program overlap({.threads = 32});
  overlap.shared_at("a", 1024, 100);
  overlap.shared_at("b", 1100, 100);
  const Report report = refused(overlap);
  EXPECT_EQ(report.refused.fault, Fault::AllocationsOverlap);
  EXPECT_EQ(report.refused.what, "a and b");
  Program role({.threads = 32});
  role.warps("outside", 1, 4).warp_sync();
  EXPECT_EQ(refused(role).refused.fault, Fault::ProgramMalformed);
  Program registers({.threads = 32});
  registers.warps("all", 0, 1).move({255, 2}, 0);
  EXPECT_EQ(refused(registers).refused.fault, Fault::RegisterOutOfRange);
  Program map({.threads = 32});
  map.warps("all", 0, 1).elect().tensor_load(3, {}, 1024, 1024);
  EXPECT_EQ(refused(map).refused.fault, Fault::ProgramMalformed);
  Program target({.threads = 32});
  target.warps("all", 0, 1).branch(9);
  EXPECT_EQ(refused(target).refused.fault, Fault::ProgramMalformed);
  Program barrier({.threads = 32});
  barrier.warps("all", 0, 1).barrier_sync(16);
  EXPECT_EQ(refused(barrier).refused.fault, Fault::BarrierId);
  Program shape({.threads = 128});
  wgmma::Instruction op = mma(0, 0, false);
  op.form.n = 12;
  shape.warps("all", 0, 4).wgmma(op, {0, 6});
  EXPECT_EQ(refused(shape).refused.fault, Fault::ShapeN8);
}

tma::TensorMap random_map(std::mt19937& random) {
  tma::TensorMap map;
  map.type = static_cast<tma::DataType>(random() % tma::data_type_count);
  map.rank = static_cast<int>(random() % 7);
  map.address = random() % 4096;
  map.swizzle = static_cast<Swizzle>(random() % swizzle_count);
  for (int d = 0; d < tma::max_rank; ++d) {
    map.dims[d] = random() % 65;
    map.box[d] = static_cast<std::uint32_t>(random() % 65);
  }
  map.stride_bytes[0] = 16 * (random() % 16);
  return map;
}

// Statements that make no sense, with operands from everywhere.
Instruction random_instruction(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto address = [&] {
    Address a(below(4) == 0 ? static_cast<std::uint32_t>(random()) : 1024 + 8 * below(64),
              static_cast<std::int32_t>(below(40)) - 8);
    if (below(6) == 0) a.cta = static_cast<int>(below(4));
    return a;
  };
  const auto small = [&](int n) { return static_cast<int>(below(static_cast<unsigned>(n))); };
  const RegisterRange four{small(8), 4};
  wgmma::Instruction op = mma(random(), descriptor(1024 + 16 * below(64)), below(2) == 0);
  switch (below(28)) {
    case 0: return Move{four, small(3) - 1, 7};
    case 1: return LoadShared{address(), small(8), 4 << below(3)};
    case 2: return StoreShared{address(), small(8), 4 << below(3)};
    case 3: return LoadMatrices{address(), small(8), 1 + small(4), below(2) == 0};
    case 4: return StoreMatrices{address(), small(8), 1 + small(4), below(2) == 0};
    case 5: return MbarrierInit{address(), below(4)};
    case 6: return MbarrierInval{address()};
    case 7: return MbarrierArrive{address(), below(3), Scope::Cluster, below(2) == 0, false};
    case 8: return MbarrierArriveExpectTx{address(), below(1u << 21), Scope::Cta};
    case 9: return MbarrierExpectTx{address(), below(1u << 21)};
    case 10: return MbarrierCompleteTx{address(), below(1u << 21)};
    case 11: return MbarrierTryWait{address(), small(2), Scope::Cta, false};
    case 12: return MbarrierTestWait{address(), small(2), small(8), Scope::Cta};
    case 13: return FenceProxyAsync{};
    case 14: return WgmmaFence{};
    case 15: return WgmmaMma{op, four, {}, {}};
    case 16: return WgmmaCommit{};
    case 17: return WgmmaWait{small(3)};
    case 18: return TensorLoad{0, {{small(64), small(64) - 32}}, address(), address(), 0};
    case 19: return BulkLoad{below(512), address(), 8 * below(9), address(), 0};
    case 20: return BulkStore{address(), below(512), 8 * below(9)};
    case 21: return BulkWait{small(3), below(2) == 0};
    case 22: return BarrierSync{small(16), 32 * small(3)};
    case 23: return below(2) == 0 ? Instruction(ClusterArrive{}) : Instruction(ClusterWait{});
    case 24: return SetMaxRegisters{below(2) == 0, 8 * (3 + small(30))};
    case 25: return TensormapReplace{small(9) / 8, random_map(random)};
    case 26:
      return FenceProxyTensormap{below(2) == 0 ? TensormapFence::Release : TensormapFence::Acquire,
                                 small(9) / 8, below(2) == 0 ? Scope::Cta : Scope::Cluster};
    default: return Branch{small(6), small(9) - 1, below(2) == 0};
  }
}

TEST(Explore, NonsenseEndsWithASentenceAndWithinItsBounds) {
  std::mt19937 random(8);
  for (int i = 0; i < 1000; ++i) {
    Program p({.cluster = 1 + static_cast<int>(random() % 2), .threads = 128, .registers = 64});
    p.shared("data", 2048);
    f16_tensor(p, 64, 64, 8);
    tests::add_random_roles(p, random, random_instruction);
    tests::expect_a_sentence_within_bounds(p);
  }
}

Fault fault_of(const Program& program) {
  const Report report = explore(program, {});
  return report.finding ? report.finding->fault : Fault::None;
}

TEST(Explore, BadAddressesAreFaults) {
  const auto with = [](auto body) {
    Program p({.cluster = 2, .threads = 32});
    const std::uint32_t data = p.shared("data", 256);
    const std::uint64_t global = p.global(std::vector<std::uint8_t>(256));
    Role all = p.warps("all", 0, 1);
    all.elect().mbarrier_init(data + 128, 1).fence_mbarrier_init();
    all.cluster_arrive().cluster_wait();
    body(all, data, global);
    all.cluster_arrive().cluster_wait();
    return fault_of(p);
  };
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  EXPECT_EQ(with([](Role& r, U32 data, U64) {
              r.move({0, 1}, 0).store_shared({data + 2, 4}, 0);
            }),
            Fault::SharedUnaligned);
  EXPECT_EQ(with([](Role& r, U32, U64) {
              r.move({0, 1}, 0).store_shared({0x30000, 4}, 0);
            }),
            Fault::SharedMemoryOutOfRange);
  EXPECT_EQ(with([](Role& r, U32, U64) { r.elect().mbarrier_init(1028, 1); }),
            Fault::MbarrierUnaligned);
  EXPECT_EQ(with([](Role& r, U32 data, U64) { r.elect().mbarrier_init(data, 0); }),
            Fault::MbarrierCount);
  EXPECT_EQ(with([](Role& r, U32 data, U64) { r.elect().mbarrier_arrive(data); }),
            Fault::MbarrierNotInitialized);
  EXPECT_EQ(with([](Role& r, U32 data, U64) {
              r.elect().mbarrier_arrive(Address(data + 128).in(7), Scope::Cluster);
            }),
            Fault::CtaRankOutOfRange);
  EXPECT_EQ(
      with([](Role& r, U32 data, U64 g) { r.elect().bulk_load(g + 1, data, 16, data + 128); }),
      Fault::BulkUnaligned);
  EXPECT_EQ(with([](Role& r, U32 data, U64 g) { r.elect().bulk_load(g, data, 8, data + 128); }),
            Fault::BulkBytes);
  EXPECT_EQ(with([](Role& r, U32, U64) {
              r.move({0, 1}, 0).store_global(1 << 20, 4, {0, 1});
            }),
            Fault::GlobalOutOfRange);
  EXPECT_EQ(with([](Role& r, U32 data, U64) {
              r.elect().mbarrier_try_wait(Address(data + 128).in(1), 1);
            }),
            Fault::MbarrierRemote);
}

// A commit with no copy before it makes a group that nobody has to wait for.
TEST(Explore, AnEmptyBulkGroupLeavesNothingInFlight) {
  const auto outcome = [](bool stores, bool waits) {
    Program p({.threads = 32});
    const std::uint32_t data = p.shared("data", 128);
    const std::uint64_t out = p.global(std::vector<std::uint8_t>(128));
    Role all = p.warps("all", 0, 1);
    all.move({0, 1}, 7).store_shared({data, 4}, 0).fence_proxy_async().warp_sync();
    Role one = all.elect();
    if (stores) one.bulk_store(data, out, 128);
    if (stores) one.bulk_commit();
    if (waits) one.bulk_wait_read(0);
    one.bulk_commit();
    return explore(p, {.fails = {.disputed = true}}).outcome;
  };
  EXPECT_EQ(outcome(false, false), Outcome::Right);
  EXPECT_EQ(outcome(true, true), Outcome::Right);
  EXPECT_EQ(outcome(true, false), Outcome::Wrong);
}

}  // namespace
}  // namespace tcq
