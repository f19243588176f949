// What the GEMM library decides whoever makes the calls to CUDA, without kernels and without a GPU:
// run() on a driver that answers what a test wants, what is kept of the driver's answers, and what
// becomes of exceptions.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/overlap.h"
#include "cuda/gemm/path.h"
#include "cuda/gemm/resident.h"
#include "cuda/gemm/run.h"
#include "cuda/gemm/tune_cache.h"
#include "sim/num/inputs/draw.h"
#include "tests/gemm/scarce_memory.h"
#include "tests/support/temporary_folder.h"

namespace tcq::gemm {
namespace {

// An address that is never followed.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

const Pointers aligned = {at(4096), at(8192), at(12288), at(16384), at(20480)};

// --- run() -----------------------------------------------------------------------------------------

// Every call is written down and answers what the test wants. It has nothing that could be asked for
// an error of the past.
struct FakeDriver {
  enum class Throws { No, NoMemory, Refused };

  bool has_device = true;
  int device = 0;
  bool realigns = true;
  bool launches = true;
  Throws maps = Throws::No;
  mutable std::string calls = {};
  mutable std::size_t copies = 0;
  mutable Problem copying_for = {};
  mutable const Launch* launched = nullptr;

  bool current_device(int& id) const {
    calls += "device ";
    id = device;
    return has_device;
  }
  int make_maps(const Kernel&, const Work&) const {
    calls += "maps ";
    if (maps == Throws::NoMemory) throw std::bad_alloc();
    if (maps == Throws::Refused) throw std::runtime_error("refused");
    return 0;
  }
  bool realign(std::span<const RealignJob> jobs, const Problem& p, Stream) const {
    calls += "realign ";
    copies = jobs.size();
    copying_for = p;
    return realigns;
  }
  bool launch(const Launch& chosen, int, const Arguments&, Stream) const {
    calls += "launch ";
    launched = &chosen;
    return launches;
  }
};

// Two addresses are not of this device.
struct FakeMemory {
  Memory memory_of(const void* pointer, int) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return address == 1   ? Memory::NotOfADevice
           : address == 3 ? Memory::OfAnother
                          : Memory::OfThisDevice;
  }
};

// As make_plan() leaves it, for kernels that need not exist.
struct Planned {
  explicit Planned(const Problem& p) {
    plan.problem = resolved(p);
    plan.made = plan.runnable = true;
    plan.aligned.kernel = plan.unaligned.kernel = plan.realigned.kernel = &kernel;
    plan.workspace_bytes = workspace_bytes(plan.problem, copies_of(plan, {}));
  }
  Status run(const FakeDriver& driver, const Workspace& workspace = {}) const {
    return run_on(driver, plan, aligned, workspace, nullptr);
  }

  Kernel kernel{};
  Plan plan;
};

const Problem usual{.m = 64, .n = 64, .k = 64};
const Problem copied{.m = 64, .n = 64, .k = 60};

TEST(Gemm_Run, TheAnswerIsTheLaunchsOwn) {
  const Planned x(usual);
  FakeDriver driver;
  EXPECT_EQ(x.run(driver), Status::Ok);
  EXPECT_EQ(driver.calls, "device maps realign launch ");
  EXPECT_EQ(driver.launched, &x.plan.aligned);
  driver.launches = false;
  EXPECT_EQ(x.run(driver), Status::CudaFailed);
}

TEST(Gemm_Run, NothingIsLaunchedBehindACallThatFails) {
  const Planned x(copied);
  const Workspace workspace = {at(65536), x.plan.workspace_bytes};
  const auto calls = [&](const FakeDriver& driver, Status want) {
    EXPECT_EQ(x.run(driver, workspace), want);
    return driver.calls;
  };
  EXPECT_EQ(calls({.has_device = false}, Status::NoDevice), "device ");
  EXPECT_EQ(calls({.device = 1}, Status::WrongDevice), "device ");
  EXPECT_EQ(calls({.maps = FakeDriver::Throws::NoMemory}, Status::NoMemory), "device maps ");
  EXPECT_EQ(calls({.maps = FakeDriver::Throws::Refused}, Status::CudaFailed), "device maps ");
  EXPECT_EQ(calls({.realigns = false}, Status::CudaFailed), "device maps realign ");
  EXPECT_EQ(calls({.launches = false}, Status::CudaFailed), "device maps realign launch ");
  EXPECT_EQ(calls({}, Status::Ok), "device maps realign launch ");
}

// Which types are turned for wgmma, and what a run hands to the kernels of a plan that turns A: K lines of 112 bytes become 112
// of K, 640 apart.
TEST(Gemm_Run, TurnedOperands) {
  Problem p{.m = 112, .n = 208, .k = 600, .in = Type::e4m3};
  p.major_a = Major::MN;
  for (const Type in : {Type::e4m3, Type::e5m2, Type::s8, Type::tf32}) {
    p.in = in;
    EXPECT_TRUE(turned_for_wgmma(p).a && !turned_for_wgmma(p).b) << name(in);
  }
  for (const Type in : {Type::bf16, Type::f16}) {
    p.in = in;
    EXPECT_FALSE(turned_for_wgmma(p).a) << name(in);
  }
  p.in = Type::e4m3;
  Planned x(p);
  EXPECT_FALSE(copies_of(x.plan, aligned).a);  // TMA addresses it
  x.plan.turns_a = true;
  const Copies copies = copies_of(x.plan, aligned);
  EXPECT_TRUE(copies.a && copies.turns_a && copies.b &&
              !copies.turns_b);  // B has lines of 600 bytes
  const Problem q = with_copies(x.plan.problem, copies);
  EXPECT_EQ(q.major_a, Major::K);
  EXPECT_EQ(q.a.ld, 640);
  EXPECT_EQ(workspace_bytes(x.plan.problem, copies), 112u * 640 + 208 * 640 + 128);
  EXPECT_GT(microseconds_of(copies, x.plan.problem), microseconds_of({}, x.plan.problem));
  const Work work = work_of(x.plan, Path::Realigned, aligned, {at(65536), 1 << 20});
  ASSERT_EQ(work.job_count, 2u);
  EXPECT_EQ(work.jobs[0].turned_bytes, 1);
  EXPECT_EQ(work.jobs[0].line_bytes, 112);
  EXPECT_EQ(work.jobs[0].lines, 600);
  EXPECT_EQ(work.jobs[0].target_pitch, 640);
  EXPECT_EQ(work.jobs[1].turned_bytes, 0);
  EXPECT_EQ(work.a.major, Major::K);
  EXPECT_EQ(work.a.ld, 640);
}

// Groups along K begin in a copy where those of K-major operands do.
TEST(Gemm_Run, GroupsAlongKOfTurnedOperands) {
  Problem p{.m = 256, .n = 512, .k = 4096, .batch = 4, .in = Type::e4m3};
  p.grouping = Grouping::KEnds;
  p.major_a = p.major_b = Major::MN;
  Planned x(p);
  x.plan.turns_a = x.plan.turns_b = true;
  const auto step = [&](Path path) {
    return work_of(x.plan, path, aligned, {at(65536), 1 << 24}).arguments.groups.k_step;
  };
  EXPECT_EQ(step(Path::Realigned), 128);
  EXPECT_EQ(step(Path::Aligned), 32);
}

TEST(Gemm_Run, OperandsAreCopiedIfTheWorkspaceHoldsThem) {
  const Planned x(copied);
  const FakeDriver without;
  EXPECT_EQ(x.run(without), Status::Ok);
  EXPECT_EQ(without.copies, 0u);
  const FakeDriver with;
  EXPECT_EQ(x.run(with, {at(65536), x.plan.workspace_bytes}), Status::Ok);
  EXPECT_EQ(with.copies, 2u);
  EXPECT_EQ(with.copying_for, x.plan.problem);  // whose limit of SMs holds for copies, too
  EXPECT_EQ(with.launched, &x.plan.realigned);
}

TEST(Gemm_Check, ALimitOfSmsIsNotNegative) {
  Problem p = usual;
  for (const int limit : {0, 1, 132, INT32_MAX}) {
    p.sm_limit = limit;
    EXPECT_EQ(check(p), Status::Ok) << limit;
  }
  p.sm_limit = -1;
  EXPECT_EQ(check(p), Status::BadSmLimit);
  for (const auto& [limit, usable] :
       {std::pair{0, 132}, {1, 1}, {131, 131}, {132, 132}, {133, 132}}) {
    p.sm_limit = limit;
    EXPECT_EQ(usable_sms(p, 132), usable);
    EXPECT_EQ(tune_key(p, {}, "chip").sm_count, usable);
  }
}

TEST(Gemm_Run, AWorkspaceThatIsTooSmallIsNotUsed) {
  const Planned x(copied);
  const std::size_t bytes = x.plan.workspace_bytes;
  EXPECT_EQ(path_of(x.plan, aligned, {at(65536), bytes}), Path::Realigned);
  EXPECT_EQ(path_of(x.plan, aligned, {at(65536), bytes - 1}), Path::Aligned);
}

TEST(Gemm_Run, APointerThatTmaCannotAddressIsLoadedByThreads) {
  const Planned x(usual);
  const FakeDriver driver;
  Pointers odd = aligned;
  odd.a = at(4098);
  EXPECT_EQ(run_on(driver, x.plan, odd, {}, nullptr), Status::Ok);
  EXPECT_EQ(driver.launched, &x.plan.unaligned);
}

// Sums that pass from one cluster to the next want a workspace, else tiles are whole.
TEST(Gemm_Run, WithoutAWorkspaceForSumsTilesAreWhole) {
  Planned x(usual);
  const FakeDriver driver;
  x.plan.whole.kernel = &x.kernel;
  x.plan.aligned.runs = {3, 2};
  x.plan.aligned.clusters = 2;
  const std::size_t bytes = workspace_bytes(x.plan, aligned);
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(workspace_bytes(x.plan), bytes);
  for (const Workspace& little : {Workspace{}, Workspace{at(64), bytes - 1}}) {
    EXPECT_EQ(x.run(driver, little), Status::Ok);
    EXPECT_EQ(driver.launched, &x.plan.whole);
  }
  EXPECT_EQ(x.run(driver, {at(64), bytes}), Status::Ok);
  EXPECT_EQ(driver.launched, &x.plan.aligned);
}

// Within a group: some rows of tiles at a time, or, of few rows, all for a tile of weights.
TEST(Gemm_Run, TilesOfGroupsAreWalkedInBands) {
  Problem p{.m = 2048, .n = 4096, .k = 512, .batch = 4};
  p.grouping = Grouping::Ends;
  Planned x(p);
  x.plan.aligned.schedule = {.rows = 64, .cols = 32, .batch = 1, .group = 8};
  x.kernel.in = x.kernel.in_b = p.in;
  x.kernel.block_m = x.kernel.block_n = x.kernel.block_k = 64;
  x.kernel.cluster_m = x.kernel.cluster_n = x.kernel.split = 1;
  x.plan.aligned.k_blocks = 8;
  const auto band = [&] {
    return work_of(x.plan, Path::Aligned, aligned, {}).arguments.groups.band;
  };
  EXPECT_EQ(band(), 8);
  x.kernel.skinny = Skinny::Rows;
  EXPECT_EQ(band(), std::numeric_limits<int>::max() / 64);
}

// And factors that it cannot, by another kernel, where the plan has one.
TEST(Gemm_Run, FactorsThatTmaCannotAddressTakeTheirOwnLaunch) {
  Planned x(usual);
  const FakeDriver driver;
  Pointers odd = aligned;
  odd.scale_a = static_cast<const float*>(at(4096));
  odd.scale_b = static_cast<const float*>(at(4100));
  EXPECT_EQ(run_on(driver, x.plan, odd, {}, nullptr), Status::Ok);
  EXPECT_EQ(driver.launched, &x.plan.aligned);
  x.plan.any_factors.kernel = &x.kernel;
  EXPECT_EQ(run_on(driver, x.plan, odd, {}, nullptr), Status::Ok);
  EXPECT_EQ(driver.launched, &x.plan.any_factors);
  odd.scale_b = odd.scale_a;
  EXPECT_EQ(run_on(driver, x.plan, odd, {}, nullptr), Status::Ok);
  EXPECT_EQ(driver.launched, &x.plan.aligned);
}

// A copied line of 60 elements takes 128 bytes.
TEST(Gemm_Run, TheWorkspaceHoldsTheCopiesAndTheirAlignment) {
  const Problem p = resolved(copied);
  EXPECT_EQ(workspace_bytes(p, {true, true}), 2 * 64 * 128 + 128u);
  EXPECT_EQ(workspace_bytes(p, {true, false}), 64 * 128 + 128u);
  EXPECT_EQ(workspace_bytes(p, {false, false}), 0u);
  EXPECT_EQ(matrices_of({60, 0}, 3), 1);
  EXPECT_EQ(matrices_of({60, 4096}, 3), 3);
  const std::int64_t many = std::int64_t{1} << 40;
  EXPECT_EQ(copy_bytes({many, 1}, view_a(p), many), max_matrix_bytes);
}

TEST(Gemm_Run, WhatIsNoPlanAsksNobody) {
  const FakeDriver driver;
  Plan plan;
  EXPECT_EQ(run_on(driver, plan, aligned, {}, nullptr), Status::NoPlan);
  plan.made = plan.runnable = true;  // and no kernel
  EXPECT_EQ(run_on(driver, plan, aligned, {}, nullptr), Status::NoPlan);
  EXPECT_EQ(check_memory_on(FakeMemory{}, plan, aligned, {}), Status::NoPlan);
  const Planned made(usual);
  Plan elsewhere = made.plan;
  elsewhere.runnable = false;
  EXPECT_EQ(run_on(driver, elsewhere, aligned, {}, nullptr), Status::NoPlan);
  plan.empty = true;
  EXPECT_EQ(run_on(driver, plan, {}, {}, nullptr), Status::Ok);
  EXPECT_EQ(driver.calls, "");
}

// Of all ways to have wrong pointers: the first that run() would follow decides.
TEST(Gemm_Run, OnlyPointersThatAreFollowedHaveToBeTheDevices) {
  const auto said = [](const Problem& p, const Pointers& x, const Workspace& w = {}) {
    return check_memory_on(FakeMemory{}, Planned(p).plan, x, w);
  };
  for (const auto& [wrong, want] :
       {std::pair{at(1), Status::NotDeviceMemory}, std::pair{at(3), Status::MixedDevices}}) {
    for (int flags = 0; flags < 8; ++flags) {
      Problem p = usual;
      if (flags % 2 == 1) p.k = 0;
      if (flags / 2 % 2 == 1) p.beta = 1;
      if (flags / 4 == 1) p.has_bias = true;
      EXPECT_EQ(said(p, aligned), Status::Ok);
      const auto one_wrong = [&, wrong = wrong](const void* Pointers::*member) {
        Pointers x = aligned;
        x.*member = wrong;
        return said(p, x);
      };
      EXPECT_EQ(one_wrong(&Pointers::a), p.k > 0 ? want : Status::Ok);
      EXPECT_EQ(one_wrong(&Pointers::b), p.k > 0 ? want : Status::Ok);
      EXPECT_EQ(one_wrong(&Pointers::c), p.beta != 0 ? want : Status::Ok);
      EXPECT_EQ(one_wrong(&Pointers::bias), p.has_bias ? want : Status::Ok);
      Pointers x = aligned;
      x.d = wrong;
      EXPECT_EQ(said(p, x), want);
      EXPECT_EQ(said(p, aligned, {wrong, 1}), want);
    }
  }
}

// --- the driver's answers --------------------------------------------------------------------------

TEST(Gemm_Resident, AQuestionThatFailsIsAskedAnew) {
  ResidentCache cache;
  const Kernel one{};
  const Kernel other{};
  int asked = 0;
  const auto failing = [&]() -> int {
    ++asked;
    throw std::runtime_error("the attribute call failed");
  };
  for (int i = 0; i < 3; ++i) EXPECT_THROW(cache.of(one, 0, failing), std::runtime_error);
  EXPECT_EQ(asked, 3);
  const auto answer = [&](int clusters) {
    return [&asked, clusters] {
      ++asked;
      return clusters;
    };
  };
  EXPECT_EQ(cache.of(one, 0, answer(66)), 66);
  EXPECT_EQ(cache.of(one, 0, answer(7)), 66);  // asked once
  EXPECT_EQ(cache.of(one, 0, failing), 66);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(cache.of(one, 1, answer(5)), 5);
  EXPECT_EQ(cache.of(other, 0, answer(0)), 0);  // the device cannot run it: an answer
  EXPECT_EQ(cache.of(other, 0, answer(9)), 0);
}

TEST(Gemm_Resident, WithoutMemoryNothingIsKept) {
  ResidentCache cache;
  const Kernel kernel{};
  const auto ask = [] { return 3; };
  EXPECT_THROW(with_memory_for(0, [&] { return cache.of(kernel, 0, ask); }), std::bad_alloc);
  EXPECT_EQ(cache.of(kernel, 0, [] { return 4; }), 4);
}

// --- exceptions ------------------------------------------------------------------------------------

TEST(Gemm_Guard, EveryExceptionIsAStatus) {
  const auto said = [](auto thrown) {
    return guarded(Status::CudaFailed, [&]() -> Status { throw thrown; });
  };
  EXPECT_EQ(said(std::bad_alloc()), Status::NoMemory);
  EXPECT_EQ(said(std::bad_array_new_length()), Status::NoMemory);
  EXPECT_EQ(said(std::runtime_error("x")), Status::CudaFailed);
  EXPECT_EQ(said(7), Status::CudaFailed);
  EXPECT_EQ(said(Status::WrongDevice), Status::WrongDevice);
  EXPECT_EQ(guarded(Status::CudaFailed, [] { return Status::Ok; }), Status::Ok);
}

TEST(Gemm_Guard, APlanThatIsNotOkIsNone) {
  Plan plan = Planned(usual).plan;
  const auto made = [](Status status) {
    return [status](const Problem& p, Plan& out) {
      out.problem = p;
      out.made = true;
      return status;
    };
  };
  EXPECT_EQ(plan_anew(plan.problem, plan, made(Status::Ok)), Status::Ok);
  EXPECT_TRUE(plan.made);
  EXPECT_EQ(plan.problem, resolved(usual));  // the problem was the plan's own
  EXPECT_EQ(plan_anew(plan.problem, plan, made(Status::CudaFailed)), Status::CudaFailed);
  EXPECT_FALSE(plan.made);
}

// Each allocation is the first that fails, once.
TEST(Gemm_Guard, WithoutMemoryACacheOfChoicesAndItsFileStayAsTheyAre) {
  const TemporaryFolder folder;
  const std::string path = folder.file("choices");
  const std::string long_name(100, 'k');
  TuneKey key;
  key.device = std::string(100, 'd');
  TuneKey other = key;
  other.m = 1;
  TuneCache file;
  ASSERT_EQ(file.remember(other, long_name), Status::Ok);
  ASSERT_EQ(file.save(path), Status::Ok);
  int failed = 0;
  const auto until_ok = [&](auto call, auto unchanged) {
    for (int n = 0;; ++n) {
      const Status status = with_memory_for(n, call);
      if (status == Status::Ok) return;
      ASSERT_EQ(status, Status::NoMemory) << n << ": " << sentence(status);
      ASSERT_TRUE(unchanged()) << n;
      ++failed;
    }
  };
  TuneCache cache;
  until_ok([&] { return cache.remember(key, long_name); }, [&] { return cache.size() == 0; });
  EXPECT_EQ(cache.find(key), long_name);
  until_ok([&] { return cache.load(path); }, [&] { return cache.size() == 1; });
  EXPECT_EQ(cache.size(), 2u);
  until_ok([&] { return cache.save(path); },
           [&] {
             TuneCache again;
             return again.load(path) == Status::Ok && again.size() == 1 && folder.files() == 1;
           });
  EXPECT_GT(failed, 100);
}

// --- what can be said without a device -------------------------------------------------------------

TEST(Gemm_Check, AMajorIsKOrMn) {
  for (int code = 0; code < 256; ++code) {
    for (Major Problem::*member : {&Problem::major_a, &Problem::major_b}) {
      Problem p = usual;
      p.*member = static_cast<Major>(code);
      EXPECT_EQ(check(p), code < 2 ? Status::Ok : Status::UnsupportedMajor) << code;
    }
  }
}

// Every small D against a memory in which each element is written once.
TEST(Gemm_Check, MatricesOfDShareNoElement) {
  int overlapping = 0;
  int apart = 0;
  for (std::int64_t m = 1; m <= 4; ++m) {
    for (std::int64_t n = 1; n <= 4; ++n) {
      for (std::int64_t ld = n; ld <= n + 9; ++ld) {
        for (std::int64_t stride = 1; stride <= 40; ++stride) {
          std::vector<bool> written(1000);
          bool twice = false;
          for (std::int64_t batch = 1; batch <= 7; ++batch) {
            for (std::int64_t r = 0; r < m; ++r) {
              for (std::int64_t c = 0; c < n; ++c) {
                const auto at = static_cast<std::size_t>((batch - 1) * stride + r * ld + c);
                twice = twice || written[at];
                written[at] = true;
              }
            }
            Problem p{.m = m, .n = n, .k = 8, .batch = batch};
            p.d = {ld, stride};
            ASSERT_EQ(check(p), twice ? Status::BadBatchStride : Status::Ok)
                << m << "x" << n << " x " << batch << ", " << ld << ", " << stride;
            ++(twice ? overlapping : apart);
          }
        }
      }
    }
  }
  EXPECT_GT(overlapping, 5000);
  EXPECT_GT(apart, 5000);
}

// Larger ones against every remainder, one by one.
TEST(Gemm_Check, TheFirstRemainderInARangeIsTheFirst) {
  Draw draw(2);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t m = draw.in(1, 1 << draw.in(1, 12));
    const std::int64_t a = draw.below(static_cast<int>(m));
    const std::int64_t low = draw.below(static_cast<int>(m));
    const std::int64_t high = draw.in(static_cast<int>(low), static_cast<int>(m) - 1);
    std::int64_t want = 0;
    while (want < m && !(a * want % m >= low && a * want % m <= high)) ++want;
    ASSERT_EQ(static_cast<std::int64_t>(first_remainder_in(a, m, low, high)), want == m ? -1 : want)
        << a << " " << m << " " << low << " " << high;
  }
}

// Sizes and strides of every magnitude, also where two of them meet: what is admitted is what a wider
// arithmetic admits, and nothing that is computed from it overflows (for UBSan).
TEST(Gemm_Check, NothingThatIsAdmittedOverflows) {
  constexpr std::int64_t limit = 2147418112;
  const std::vector<std::int64_t> edges = {0, 1, 2, 7, 8, 64, 65536, limit - 1, limit, limit + 1};
  Draw draw(3);
  const auto edge = [&] { return edges[static_cast<std::size_t>(draw.below(10))]; };
  const auto stride = [&](std::int64_t least) {
    const std::int64_t far = std::int64_t{1} << draw.in(0, 62);
    const std::int64_t any[] = {packed,    packed,        0,         least, least + 1, far, far - 1,
                                INT64_MAX, INT64_MAX / 2, INT64_MIN, -2};
    return any[draw.below(11)];
  };
  const auto end = [](const Strides& s, const View& v, std::int64_t batch) {
    const Wide ld = s.ld == packed ? std::max<std::int64_t>(v.inner, 1) : s.ld;
    const Wide matrix = s.batch == packed ? v.outer * ld : Wide{s.batch};
    const Wide elements =
        std::max<std::int64_t>(v.outer, 1) * ld + std::max<std::int64_t>(batch, 1) * matrix;
    return elements * element_bytes(v.type);
  };
  int admitted = 0;
  int too_large = 0;
  for (int i = 0; i < 200000; ++i) {
    Problem p{.m = edge(), .n = edge(), .k = edge(), .batch = draw.one_in(2) ? 1 : edge()};
    if (draw.one_in(3)) p.in = Type::s8, p.out = Type::f32;
    if (draw.one_in(3)) p.major_a = Major::MN;
    if (draw.one_in(3)) p.major_b = Major::MN;
    p.a = {stride(view_a(p).inner), stride(0)};
    p.b = {stride(view_b(p).inner), stride(0)};
    if (draw.one_in(2)) p.d = {stride(p.n), stride(p.n)};
    const Status status = check(p);
    if (status != Status::Ok && status != Status::SizeTooLarge) continue;
    const bool fits = std::max({p.m, p.n, p.k, p.batch}) <= limit &&
                      end(p.a, view_a(p), p.batch) <= max_matrix_bytes &&
                      end(p.b, view_b(p), p.batch) <= max_matrix_bytes &&
                      end(p.d, view_d(p), p.batch) <= max_matrix_bytes;
    ASSERT_EQ(status == Status::Ok, fits) << i;
    ++(fits ? admitted : too_large);
    if (!fits) continue;
    const Problem r = resolved(p);
    const Copies copies = copies_of(r, turned_for_wgmma(r), {at(18), at(18), nullptr, at(16)});
    EXPECT_GE(workspace_bytes(r, copies), 0u);
    EXPECT_GE(copies_of(with_copies(r, copies), {}).a + tma_stores(r), 0);
    (void)tune_key(p, {}, "");
  }
  EXPECT_GT(admitted, 5000);
  EXPECT_GT(too_large, 5000);
}

TEST(Gemm_Check, CMayBeDWithItsStridesAlone) {
  for (const std::int64_t m : {1, 2}) {
    for (const std::int64_t batch : {1, 2}) {
      for (int what = 0; what < 3; ++what) {
        Problem p{.m = m, .n = 8, .k = 8, .batch = batch};
        p.beta = 1;
        p.c = p.d = {16, 64};
        if (what == 1) p.c.ld = 24;
        if (what == 2) p.c.batch = 72;
        const bool same = what == 0 || (what == 1 && m == 1) || (what == 2 && batch == 1);
        Pointers x = aligned;
        x.c = x.d;
        EXPECT_EQ(check(Planned(p).plan, x, {}), same ? Status::Ok : Status::CIsNotD);
        EXPECT_EQ(check(Planned(p).plan, aligned, {}), Status::Ok);
        p.beta = 0;  // C is not read
        EXPECT_EQ(check(Planned(p).plan, x, {}), Status::Ok);
      }
    }
  }
}

// --- a kernel's way over its tiles -----------------------------------------------------------------

TEST(Gemm_Walk, IsTheSchedulesOrder) {
  for (int rows = 1; rows <= 9; ++rows) {
    for (int group = 1; group <= 10; ++group) {
      const Schedule s{rows, 5, 2, group};
      const Walk walk(s);
      ASSERT_EQ(walk.tiles, tile_count(s));
      for (int i = 0; i < walk.tiles; ++i) {
        const TileAt want = tile_at(s, i);
        const TileAt got = walk.at(i);
        EXPECT_EQ(std::tie(got.row, got.col, got.batch), std::tie(want.row, want.col, want.batch))
            << rows << " " << group << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tcq::gemm
