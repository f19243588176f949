#include "tools/bench_ceiling.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cuda/gemm/bench.h"

namespace tcq::tools {
namespace {

constexpr int least_launches = 5;

double nanoseconds(const cuda::CeilingLoop& loop) {
  return static_cast<double>(loop.end_ns - loop.begin_ns);
}

double median_of(const std::vector<Ceiling>& all, double Ceiling::*member) {
  std::vector<double> values;
  for (const Ceiling& c : all) values.push_back(c.*member);
  return quartiles(values).median;
}

struct Events {
  Events() {
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
  }

  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

}  // namespace

Ceiling ceiling_of(std::span<const cuda::CeilingLoop> loops, double operations,
                   double tensor_clocks) {
  std::uint64_t begin = loops[0].begin_ns;
  std::uint64_t end = loops[0].end_ns;
  double clocks = 0;
  double busy_ns = 0;
  for (const cuda::CeilingLoop& loop : loops) {
    begin = std::min(begin, loop.begin_ns);
    end = std::max(end, loop.end_ns);
    clocks += static_cast<double>(loop.clocks);
    busy_ns += nanoseconds(loop);
  }
  const auto ns = static_cast<double>(end - begin);
  Ceiling out;
  out.operations_per_second = operations / (ns * 1e-9);
  out.sm_mhz = clocks / busy_ns * 1e3;
  out.tensor_share = tensor_clocks * static_cast<double>(loops.size()) / clocks;
  out.loop_microseconds = ns * 1e-3;
  return out;
}

CeilingBench::CeilingBench(Type in, int sm_count, std::uint64_t seed, cudaStream_t stream,
                           Clocks* clocks)
    : in_(in),
      sm_count_(sm_count),
      stream_(stream),
      clocks_(clocks),
      operands_(cuda::ceiling_operand_bytes * static_cast<std::size_t>(sm_count)),
      loops_(cuda::ceiling_warpgroups * static_cast<std::size_t>(sm_count)) {
  cuda::fill_normal(in, operands_.data(), operands_.size() / static_cast<std::size_t>(bits(in) / 8),
                    seed, stream);
}

Ceiling CeilingBench::launch(int rounds) {
  const Events events;
  CUDA_CHECK(cudaEventRecord(events.begin, stream_));
  CUDA_CHECK(
      cuda::launch_ceiling(in_, sm_count_, rounds, operands_.data(), loops_.data(), stream_));
  CUDA_CHECK(cudaEventRecord(events.end, stream_));
  CUDA_CHECK(cudaEventSynchronize(events.end));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events.begin, events.end));
  std::vector<cuda::CeilingLoop> loops(loops_.size());
  loops_.download(loops);
  Ceiling out = ceiling_of(loops, cuda::ceiling_operations(in_, sm_count_, rounds),
                           cuda::ceiling_tensor_clocks(rounds));
  out.launch_microseconds = static_cast<double>(milliseconds) * 1e3;
  return out;
}

// The first launch loads the kernel.
int CeilingBench::rounds_in(double microseconds) {
  (void)launch(trial_rounds);
  const double trial = launch(trial_rounds).loop_microseconds;
  return std::max(1, static_cast<int>(trial_rounds * microseconds / trial));
}

Ceiling CeilingBench::median(const std::vector<Ceiling>& all) const {
  return {
      median_of(all, &Ceiling::operations_per_second), median_of(all, &Ceiling::sm_mhz),
      median_of(all, &Ceiling::tensor_share),          median_of(all, &Ceiling::loop_microseconds),
      median_of(all, &Ceiling::launch_microseconds),   {}};
}

Ceiling CeilingBench::measure(const Regime& r, double microseconds) {
  const int rounds = rounds_in(microseconds);
  std::vector<Ceiling> all;
  if (r.burst) {
    for (int i = 0; i < r.burst_rounds; ++i) {
      std::this_thread::sleep_for(std::chrono::duration<double>(r.idle_seconds));
      all.push_back(launch(rounds));
    }
    return median(all);
  }
  for (double warm = 0; warm < r.warm_seconds; warm += microseconds * 1e-6) (void)launch(rounds);
  const int launches = std::max(least_launches, static_cast<int>(r.seconds * 1e6 / microseconds));
  if (clocks_ != nullptr) clocks_->start();
  for (int i = 0; i < launches; ++i) all.push_back(launch(rounds));
  Ceiling out = median(all);
  if (clocks_ != nullptr) out.reading = clocks_->stop();
  return out;
}

}  // namespace tcq::tools
