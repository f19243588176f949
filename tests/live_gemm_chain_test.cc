// Kernels of the GEMM library behind each other on a real sm_90 GPU: each reads what the one ahead of
// it wrote. Skips loudly without one.
//
// A kernel starts before the one ahead ends, and may bring its operands to L2 by then
// (cuda/gemm_skinny.cuh); it must not read them. D is the next A and the next B in turn, so that both
// operands of every kernel have been written a moment before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "cuda/gemm.h"
#include "cuda/gemm_kernels.h"
#include "cuda/launch.h"
#include "tests/gemm_case.h"
#include "tests/live_device.h"

namespace tcq {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::int64_t extent = 512;  // of all matrices
constexpr int links = 8;
constexpr int repeats = 5;

oracle::Gemm link() {
  return with_strides({.m = extent, .n = extent, .k = extent, .in = Type::bf16, .out = Type::bf16});
}

// Even links multiply `given` from the right, odd ones from the left; B is column-major.
bool is_left(int index) { return index % 2 == 0; }

class LiveGemmChain : public Live {
 protected:
  void SetUp() override {
    Live::SetUp();
    if (IsSkipped()) return;
    const GemmCase x = make_case(link(), false, Values::Near, chosen_seed());
    const auto begin = [](const Buffer& b) { return b.bytes.begin() + static_cast<long>(b.first); };
    constexpr long bytes = 2 * extent * extent;
    first_.assign(begin(x.a), begin(x.a) + bytes);
    given_.assign(begin(x.b), begin(x.b) + bytes);
  }

  const Bytes& predicted(const std::vector<gemm::KSegment>& segments) {
    Bytes& last = predictions_[segments.size()];
    if (!last.empty()) return last;
    oracle::Gemm g = link();
    for (const gemm::KSegment& s : segments) g.segments.push_back({s.first, s.count});
    last = first_;
    for (int i = 0; i < links; ++i) {
      Bytes d(last.size());
      const oracle::GemmData data = is_left(i) ? oracle::GemmData{last.data(), given_.data()}
                                               : oracle::GemmData{given_.data(), last.data()};
      oracle::compute_gemm(g, data, d.data());
      last = d;
    }
    return last;
  }

  Bytes computed(const gemm::Plan& plan) const {
    const cuda::DeviceBuffer<std::uint8_t> first(first_);
    const cuda::DeviceBuffer<std::uint8_t> given(given_);
    const std::array<cuda::DeviceBuffer<std::uint8_t>, 2> turns = {
        cuda::DeviceBuffer<std::uint8_t>(Bytes(first_.size(), 0xff)),
        cuda::DeviceBuffer<std::uint8_t>(Bytes(first_.size(), 0xff))};
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const std::uint8_t* last = first.data();
      for (int i = 0; i < links; ++i) {
        std::uint8_t* d = turns[static_cast<std::size_t>(i % 2)].data();
        const gemm::Pointers pointers = is_left(i) ? gemm::Pointers{last, given.data(), nullptr, d}
                                                   : gemm::Pointers{given.data(), last, nullptr, d};
        EXPECT_EQ(run(plan, pointers, {}, stream), gemm::Status::Ok);
        last = d;
      }
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
    Bytes result(first_.size());
    turns[(links - 1) % 2].download(result);
    return result;
  }

 private:
  Bytes first_;
  Bytes given_;
  std::map<std::size_t, Bytes> predictions_;  // by the number of segments
};

TEST_F(LiveGemmChain, EveryKernelReadsWhatTheOneAheadWrote) {
  const oracle::Gemm g = link();
  const gemm::Problem problem{.m = g.m, .n = g.n, .k = g.k, .in = g.in, .out = g.out};
  int kernels = 0;
  int overlapping = 0;
  for (const gemm::Kernel& kernel : gemm::kernels()) {
    gemm::Plan plan;
    if (make_plan_with(problem, kernel, plan) != gemm::Status::Ok) continue;
    if (kernel.loader == gemm::Loader::Copy) continue;
    EXPECT_TRUE(computed(plan) == predicted(k_segments(plan, gemm::Path::Aligned)))
        << describe(plan);
    ++kernels;
    if (plan.aligned.overlaps) ++overlapping;
  }
  fmt::print("{} kernels, {} of them overlap, {} links each\n", kernels, overlapping,
             repeats * links);
  EXPECT_GT(overlapping, 0);
  EXPECT_GT(kernels, overlapping);
}

}  // namespace
}  // namespace tcq
