// Copies of operands on a real sm_90 GPU: every byte of them, and runs that share a workspace. The
// sources fill their memory to the last byte, for compute-sanitizer's memcheck. Skips loudly without
// a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/gemm_c.h"
#include "cuda/gemm/realign.h"
#include "tests/live/live_device.h"
#include "tests/support/realign_case.h"

namespace tcq {
namespace {

using DeviceBytes = cuda::DeviceBuffer<std::uint8_t>;

struct Copy {
  Copy(const Lines& at, Draw& draw)
      : where(at),
        host(random_bytes(at.end(), draw)),
        source(host),
        target(Bytes(static_cast<std::size_t>(at.target_bytes()), poison)) {}

  gemm::RealignJob job() const { return job_of(where, source.data(), target.data()); }

  bool is_right() const {
    Bytes got(target.size());
    target.download(got);
    return is_copied(where, host, got);
  }

  Lines where;
  Bytes host;
  DeviceBytes source;
  DeviceBytes target;
};

class LiveRealign : public Live {};

TEST_F(LiveRealign, SmallLinesOfEveryLeadLengthAndGap) {
  Draw draw(chosen_seed());
  const std::vector<Lines> all = small_lines();
  for (const Lines& where : all) {
    const Copy copy(where, draw);
    const std::array jobs = {copy.job()};
    ASSERT_EQ(launch_realign(jobs, nullptr), cudaSuccess);
    ASSERT_TRUE(copy.is_right()) << where.lead << " " << where.bytes << " " << where.gap << " "
                                 << where.lines;
  }
  fmt::print("{} copies\n", all.size());
}

TEST_F(LiveRealign, LargerLinesOfTwoOperandsAtOnce) {
  Draw draw(chosen_seed() + 1);
  for (const std::int64_t lead : {0, 1, 6, 12}) {
    const Copy a({lead, 5000, 0, 1000, 1}, draw);
    const Copy b({15 - lead, 1041, 7, 333, 3}, draw);
    const Copy narrow({lead, 34, 0, 70001, 1}, draw);
    const std::array both = {a.job(), b.job()};
    const std::array one = {narrow.job()};
    ASSERT_EQ(launch_realign(both, nullptr), cudaSuccess);
    ASSERT_EQ(launch_realign(one, nullptr), cudaSuccess);
    ASSERT_EQ(gemm::launch_realign({}, nullptr), cudaSuccess);
    EXPECT_TRUE(a.is_right() && b.is_right() && narrow.is_right()) << lead;
    for (const int sm_limit : {1, 5}) {
      const Copy c({lead, 5000, 0, 300, 1}, draw);
      const Copy e({15 - lead, 1041, 7, 33, 3}, draw);
      const std::array again = {c.job(), e.job()};
      ASSERT_EQ(launch_realign(again, nullptr, sm_limit, false), cudaSuccess);
      EXPECT_TRUE(c.is_right() && e.is_right()) << lead << " " << sm_limit;
    }
  }
}

TEST_F(LiveRealign, TurnedOperands) {
  Draw draw(chosen_seed() + 4);
  std::vector<TurnedLines> all = turned_lines();
  all.push_back({{0, 5000, 120, 3000, 1}, 1});
  all.push_back({{3, 3001, 0, 2049, 2}, 1});
  all.push_back({{0, 4 * 2050, 8, 3000, 1}, 4});
  all.push_back({{2, 2 * 1001, 6, 3000, 1}, 2});
  for (const TurnedLines& where : all) {
    const Bytes host = random_bytes(where.source.end(), draw);
    const DeviceBytes source(host);
    const DeviceBytes target(Bytes(static_cast<std::size_t>(where.target_bytes()), poison));
    const Copy straight({1, 130, 4, 7, 1}, draw);
    const std::array jobs = {job_of(where, source.data(), target.data()), straight.job()};
    ASSERT_EQ(launch_realign(jobs, nullptr, draw.one_in(2) ? 3 : 0), cudaSuccess);
    Bytes got(target.size());
    target.download(got);
    ASSERT_TRUE(is_turned(where, host, got) && straight.is_right())
        << where.element << " " << where.source.bytes << " " << where.source.lines;
  }
  fmt::print("{} turned\n", all.size());
}

// Kernels start before the ones ahead of them end: none may write copies that are still read.
TEST_F(LiveRealign, RunsOneAfterTheOtherMayShareAWorkspace) {
  Draw draw(chosen_seed() + 2);
  const gemm::Problem p{.m = 700, .n = 520, .k = 1001, .in = Type::s8, .out = Type::s32};
  gemm::Plan plan;
  ASSERT_EQ(make_plan(p, plan), gemm::Status::Ok);
  const DeviceBytes memory(workspace_bytes(plan));
  const gemm::Workspace workspace = {memory.data(), memory.size()};
  constexpr std::size_t sets = 3;
  const auto d_bytes = static_cast<std::size_t>(p.m * p.n * 4);
  std::vector<DeviceBytes> a, b;
  std::vector<Bytes> want(sets, Bytes(d_bytes));
  const auto run_set = [&](std::size_t set, const DeviceBytes& result) {
    return run(plan, {a[set].data(), b[set].data(), nullptr, result.data()}, workspace, nullptr);
  };
  for (std::size_t i = 0; i < sets; ++i) {
    a.emplace_back(random_bytes(p.m * p.k, draw));
    b.emplace_back(random_bytes(p.n * p.k, draw));
    const DeviceBytes d(d_bytes);
    ASSERT_EQ(run_set(i, d), gemm::Status::Ok);
    d.download(want[i]);
  }
  EXPECT_NE(want[0], want[1]);
  std::vector<DeviceBytes> results;
  for (int i = 0; i < 100 * static_cast<int>(sets); ++i)
    results.emplace_back(Bytes(d_bytes, poison));
  for (std::size_t i = 0; i < results.size(); ++i)
    ASSERT_EQ(run_set(i % sets, results[i]), gemm::Status::Ok);
  Bytes got(d_bytes);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].download(got);
    EXPECT_EQ(got, want[i % sets]) << i;
  }
}

TEST_F(LiveRealign, TheCInterfaceRunsWithAWorkspace) {
  tcq_gemm_problem p;
  tcq_gemm_defaults(&p, sizeof p);
  p.m = 70;
  p.n = 136;
  p.k = 301;
  Draw draw(chosen_seed() + 3);
  const DeviceBytes a(random_bytes(2 * p.m * p.k, draw));
  const DeviceBytes b(random_bytes(2 * p.n * p.k, draw));
  Bytes want(static_cast<std::size_t>(2 * p.m * p.n));
  Bytes got(want.size());
  const DeviceBytes d(Bytes(want.size(), poison));
  const DeviceBytes d_c(Bytes(want.size(), poison));

  gemm::Plan plan;
  ASSERT_EQ(make_plan({.m = p.m, .n = p.n, .k = p.k}, plan), gemm::Status::Ok);
  const DeviceBytes memory(workspace_bytes(plan));
  ASSERT_GT(memory.size(), 0u);
  ASSERT_EQ(
      run(plan, {a.data(), b.data(), nullptr, d.data()}, {memory.data(), memory.size()}, nullptr),
      gemm::Status::Ok);
  d.download(want);

  tcq_gemm_plan* plan_c = nullptr;
  ASSERT_EQ(tcq_gemm_make_plan(&p, &plan_c), 0);
  tcq_gemm_pointers pointers = {};
  pointers.size = sizeof pointers;
  pointers.a = a.data();
  pointers.b = b.data();
  pointers.d = d_c.data();
  EXPECT_EQ(tcq_gemm_workspace_bytes(plan_c), memory.size());
  EXPECT_EQ(tcq_gemm_workspace_bytes_for(plan_c, &pointers), memory.size());
  EXPECT_EQ(tcq_gemm_run(plan_c, &pointers, memory.data(), memory.size(), nullptr), 0);
  tcq_gemm_destroy_plan(plan_c);
  d_c.download(got);
  EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace tcq
