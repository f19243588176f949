// What the GEMM library answers on a real sm_90 GPU when something is wrong, and when something of
// somebody else's is: errors that other calls have left in CUDA. Skips loudly without a GPU.
#include <gtest/gtest.h>

#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/tune.h"
#include "cuda/runtime/launch.h"
#include "sim/num/inputs/draw.h"
#include "tests/live/live_device.h"

namespace tcq {
namespace {

using gemm::Plan;
using gemm::Problem;
using gemm::Status;
using Bytes = std::vector<std::uint8_t>;

class LiveGemmErrors : public Live {};

// Random finite operands of a packed bf16 problem of one batch, and a poisoned D.
struct Operands {
  explicit Operands(const Problem& p)
      : a(random(p.m * p.k, 1)), b(random(p.n * p.k, 2)), d(Bytes(bytes(p.m * p.n), 0xa5)) {}

  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(2 * elements); }
  static Bytes random(std::int64_t elements, std::uint64_t salt) {
    Draw draw(chosen_seed() + salt);
    Bytes out;
    for (std::int64_t i = 0; i < elements; ++i) {
      out.push_back(static_cast<std::uint8_t>(draw.below(256)));
      out.push_back(static_cast<std::uint8_t>(draw.in(0x3d, 0x40)));
    }
    return out;
  }
  gemm::Pointers pointers() const { return {a.data(), b.data(), nullptr, d.data()}; }
  Bytes result() const {
    Bytes out(d.size());
    d.download(out);
    return out;
  }

  cuda::DeviceBuffer<std::uint8_t> a;
  cuda::DeviceBuffer<std::uint8_t> b;
  cuda::DeviceBuffer<std::uint8_t> d;
};

TEST_F(LiveGemmErrors, ErrorsLaunchNothing) {
  Plan plan;
  const Problem p{.m = 64, .n = 64, .k = 64};
  ASSERT_EQ(make_plan(p, plan), Status::Ok);
  cuda::DeviceBuffer<std::uint8_t> memory(65536);
  std::vector<std::uint8_t> poison(65536, 0xa5);
  memory.upload(poison);
  std::uint8_t* d = memory.data() + 32768;
  const gemm::Pointers good = {memory.data(), memory.data() + 8192, nullptr, d};
  EXPECT_EQ(run(plan, {nullptr, memory.data(), nullptr, d}, {}, nullptr), Status::NullPointer);
  EXPECT_EQ(run(plan, {memory.data() + 1, memory.data(), nullptr, d}, {}, nullptr),
            Status::Misaligned);
  EXPECT_EQ(check_memory(plan, {poison.data(), good.b, nullptr, d}), Status::NotDeviceMemory);
  EXPECT_EQ(check_memory(plan, good), Status::Ok);
  Plan elsewhere = plan;
  elsewhere.device = plan.device + 1;
  EXPECT_EQ(run(elsewhere, good, {}, nullptr), Status::WrongDevice);
  EXPECT_EQ(check_memory(elsewhere, good), Status::MixedDevices);
  Plan copying;
  ASSERT_EQ(make_plan({.m = 64, .n = 64, .k = 60}, copying), Status::Ok);
  const std::size_t bytes = workspace_bytes(copying);
  EXPECT_EQ(run(copying, good, {memory.data() + 49152, bytes - 1}, nullptr),
            Status::WorkspaceTooSmall);
  EXPECT_EQ(check_memory(copying, good, {poison.data(), bytes}), Status::NotDeviceMemory);
  std::vector<std::uint8_t> after(65536);
  memory.download(after);
  EXPECT_EQ(after, poison);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(run(plan, good, {}, nullptr), Status::Ok);
  memory.download(after);
  EXPECT_NE(after, poison);
}

// What another library's call leaves behind: here an invalid device.
struct StaleError {
  StaleError() { EXPECT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice); }
  StaleError(const StaleError&) = delete;
  StaleError& operator=(const StaleError&) = delete;
  ~StaleError() { EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice); }
};

// Planned and run beside it, with copies of operands and without: D has the bits that it has without
// the error, and the error is still there. The tuner, which asks CUDA about kernels that do not fit,
// is not refused either, but may take the error away.
TEST_F(LiveGemmErrors, AnotherCallsErrorIsNeitherOursNorTakenAway) {
  for (const std::int64_t k : {64, 60}) {
    const Problem p{.m = 64, .n = 72, .k = k};
    Plan plan;
    ASSERT_EQ(make_plan(p, plan), Status::Ok);
    const cuda::DeviceBuffer<std::uint8_t> memory(workspace_bytes(plan));
    const gemm::Workspace workspace = {memory.data(), memory.size()};
    EXPECT_EQ(memory.size() > 0, k == 60);
    const Operands x(p);
    ASSERT_EQ(run(plan, x.pointers(), workspace, nullptr), Status::Ok);
    const Bytes want = x.result();
    const Operands beside(p);
    EXPECT_NE(beside.result(), want);
    {
      const StaleError error;
      EXPECT_EQ(make_plan(p, plan), Status::Ok);
      EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice) << "make_plan";
      EXPECT_EQ(check_memory(plan, beside.pointers(), workspace), Status::Ok);
      EXPECT_EQ(run(plan, beside.pointers(), workspace, nullptr), Status::Ok);
      EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice) << "run";
      EXPECT_EQ(beside.result(), want);
      EXPECT_EQ(run(plan, beside.pointers(), {}, nullptr), Status::Ok);
      EXPECT_EQ(check_memory(plan, {want.data(), beside.b.data(), nullptr, beside.d.data()}),
                Status::NotDeviceMemory);
    }
    gemm::TuneCache cache;
    EXPECT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
    EXPECT_EQ(tune(p, beside.pointers(), workspace, nullptr, {}, plan), Status::Ok);
    EXPECT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
    EXPECT_EQ(tune(p, beside.pointers(), workspace, nullptr, {}, cache, plan), Status::Ok);
    EXPECT_EQ(tune(p, beside.pointers(), workspace, nullptr, {}, cache, plan), Status::Ok);
    EXPECT_EQ(make_plan(p, cache, plan), Status::Ok);
    (void)cudaGetLastError();
  }
}

// By the launch's own status: nothing is pending that would say it later.
TEST_F(LiveGemmErrors, ALaunchThatIsRefusedIsSaidAtOnce) {
  Plan plan;
  const Problem p{.m = 64, .n = 64, .k = 64};
  ASSERT_EQ(make_plan(p, plan), Status::Ok);
  const Operands x(p);
  Plan refused = plan;
  refused.aligned.clusters = 0;  // CUDA launches no empty grid
  EXPECT_EQ(run(refused, x.pointers(), {}, nullptr), Status::CudaFailed);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(run(plan, x.pointers(), {}, nullptr), Status::Ok);
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace
}  // namespace tcq
