// Kernels of the GEMM library behind each other on a real sm_90 GPU: each reads what the one ahead of
// it wrote. Skips loudly without one.
//
// A kernel starts before the one ahead ends, and may bring weights to L2 by then
// (cuda/gemm/skinny.cuh); it must not read them. D is the next A and the next B in turn, so that both
// operands of every kernel have been written a moment before; only the first of a chain's links reads
// what was there before. Every D of every chain is compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/kernels.h"
#include "cuda/runtime/launch.h"
#include "tests/live/live_device.h"
#include "tests/support/gemm_case.h"

namespace tcq {
namespace {

using Bytes = std::vector<std::uint8_t>;
using DeviceBytes = cuda::DeviceBuffer<std::uint8_t>;

constexpr std::size_t links = 8;
constexpr std::size_t repeats = 5;

oracle::Gemm square(std::int64_t extent) {
  return with_strides({.m = extent, .n = extent, .k = extent, .in = Type::bf16, .out = Type::bf16});
}

// Even links multiply what is given from the right, odd ones from the left; B is column-major.
bool is_left(std::size_t link) { return link % 2 == 0; }

// `links` products of square matrices of one extent, computed and predicted.
class Chain {
 public:
  Chain(std::int64_t extent, std::uint64_t seed)
      : gemm_(square(extent)), bytes_(static_cast<std::size_t>(2 * extent * extent)) {
    const GemmCase x = make_case(gemm_, false, Values::Near, seed);
    first_ = bytes_of(x.a);
    given_ = bytes_of(x.b);
  }

  gemm::Problem problem() const {
    return {.m = gemm_.m, .n = gemm_.n, .k = gemm_.k, .in = gemm_.in, .out = gemm_.out};
  }

  // All links' D, one behind the other.
  const Bytes& predicted(const std::vector<gemm::KSegment>& segments) {
    Bytes& all = predictions_[segments.size()];
    if (!all.empty()) return all;
    oracle::Gemm g = gemm_;
    for (const gemm::KSegment& s : segments) g.segments.push_back({s.first, s.count});
    all.resize(links * bytes_);
    const std::uint8_t* last = first_.data();
    for (std::size_t i = 0; i < links; ++i) {
      std::uint8_t* d = all.data() + i * bytes_;
      const oracle::GemmData data = is_left(i) ? oracle::GemmData{last, given_.data()}
                                               : oracle::GemmData{given_.data(), last};
      oracle::compute_gemm(g, data, d);
      last = d;
    }
    return all;
  }

  // The same for every repeat, all in one stream.
  std::vector<Bytes> computed(const gemm::Plan& plan) const {
    const DeviceBytes first(first_);
    const DeviceBytes given(given_);
    std::vector<DeviceBytes> all;
    for (std::size_t i = 0; i < repeats; ++i) all.emplace_back(Bytes(links * bytes_, 0xff));
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (const DeviceBytes& outputs : all) {
      const std::uint8_t* last = first.data();
      for (std::size_t i = 0; i < links; ++i) {
        std::uint8_t* d = outputs.data() + i * bytes_;
        const gemm::Pointers pointers = is_left(i) ? gemm::Pointers{last, given.data(), nullptr, d}
                                                   : gemm::Pointers{given.data(), last, nullptr, d};
        EXPECT_EQ(run(plan, pointers, {}, stream), gemm::Status::Ok);
        last = d;
      }
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaStreamDestroy(stream));
    std::vector<Bytes> results(repeats, Bytes(links * bytes_));
    for (std::size_t i = 0; i < repeats; ++i) all[i].download(results[i]);
    return results;
  }

 private:
  Bytes bytes_of(const Buffer& buffer) const {
    const auto begin = buffer.bytes.begin() + static_cast<std::ptrdiff_t>(buffer.first);
    return {begin, begin + static_cast<std::ptrdiff_t>(bytes_)};
  }

  oracle::Gemm gemm_;
  std::size_t bytes_;  // of a matrix
  Bytes first_;
  Bytes given_;
  std::map<std::size_t, Bytes> predictions_;  // by the number of segments
};

using LiveGemmChain = Live;

TEST_F(LiveGemmChain, EveryKernelReadsWhatTheOneAheadWrote) {
  int chains = 0;
  int overlapping = 0;
  int prefetching = 0;  // weights that one column of tiles reads
  for (const std::int64_t extent : {64, 128, 512}) {
    Chain chain(extent, chosen_seed());
    for (const gemm::Kernel& kernel : gemm::kernels()) {
      gemm::Plan plan;
      if (make_plan_with(chain.problem(), kernel, plan) != gemm::Status::Ok) continue;
      if (kernel.loader == gemm::Loader::Copy) continue;
      const Bytes& want = chain.predicted(k_segments(plan, gemm::Path::Aligned));
      const std::vector<Bytes> got = chain.computed(plan);
      EXPECT_EQ(std::ranges::count(got, want), static_cast<std::ptrdiff_t>(repeats))
          << extent << ": " << describe(plan);
      ++chains;
      if (!plan.aligned.overlaps) continue;
      ++overlapping;
      if (plan.aligned.schedule.cols == 1) ++prefetching;
    }
  }
  fmt::print("{} chains of {} links, {} overlap, {} prefetch\n", chains, repeats * links,
             overlapping, prefetching);
  EXPECT_GT(prefetching, 0);
  EXPECT_GT(overlapping, prefetching);
  EXPECT_GT(chains, overlapping);
}

}  // namespace
}  // namespace tcq
