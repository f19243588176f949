#include "tools/bench_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "cuda/runtime/launch.h"

namespace tcq::tools {
namespace {

constexpr int most_launches = 4000;
constexpr int least_rounds = 5;

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

void idle(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

int launches_for(double seconds, double launch_microseconds) {
  return std::clamp(static_cast<int>(seconds * 1e6 / launch_microseconds), 1, most_launches);
}

std::vector<Block> blocks_of(const std::vector<Launcher>& contenders, std::size_t sets,
                             int launches, cudaStream_t stream) {
  std::vector<Block> blocks;
  for (const Launcher& c : contenders) blocks.emplace_back(c, sets, launches, stream);
  return blocks;
}

}  // namespace

Quartiles quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

Block::Block(const Launcher& launcher, std::size_t sets, int launches, cudaStream_t stream)
    : stream_(stream), launches_(launches) {
  CUDA_CHECK(cudaEventCreate(&begin_));
  CUDA_CHECK(cudaEventCreate(&end_));
  cudaGraph_t graph = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < launches; ++i) launcher(static_cast<std::size_t>(i) % sets, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaGraphUpload(graph_, stream));
}

Block::Block(Block&& other) noexcept
    : stream_(other.stream_),
      launches_(other.launches_),
      graph_(std::exchange(other.graph_, nullptr)),
      begin_(std::exchange(other.begin_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

Block::~Block() {
  if (graph_ != nullptr) (void)cudaGraphExecDestroy(graph_);
  if (begin_ != nullptr) (void)cudaEventDestroy(begin_);
  if (end_ != nullptr) (void)cudaEventDestroy(end_);
}

double Block::microseconds() {
  CUDA_CHECK(cudaEventRecord(begin_, stream_));
  CUDA_CHECK(cudaGraphLaunch(graph_, stream_));
  CUDA_CHECK(cudaEventRecord(end_, stream_));
  CUDA_CHECK(cudaEventSynchronize(end_));
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return static_cast<double>(milliseconds) * 1e3 / launches_;
}

std::vector<std::vector<double>> take_turns(const std::vector<Launcher>& contenders,
                                            std::size_t sets, const Regime& r,
                                            cudaStream_t stream) {
  int launches = r.burst_launches;
  double longest = 0;
  for (Block& b : blocks_of(contenders, sets, 3, stream)) {
    (void)b.microseconds();  // the first launch loads the kernel
    longest = std::max(longest, b.microseconds());
  }
  if (!r.burst) launches = launches_for(r.block_seconds, longest);
  std::vector<Block> blocks = blocks_of(contenders, sets, launches, stream);
  const double round_seconds = longest * 1e-6 * launches * static_cast<double>(contenders.size());
  int rounds = r.burst_rounds;
  if (!r.burst) {
    for (double warm = 0; warm < r.warm_seconds; warm += round_seconds)
      for (Block& b : blocks) (void)b.microseconds();
    rounds = std::max(least_rounds, static_cast<int>(r.seconds * 1e6 / (longest * launches)));
  }
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t c = round % 2 == 0 ? i : blocks.size() - 1 - i;
      if (r.burst) idle(r.idle_seconds);
      times[c].push_back(blocks[c].microseconds());
    }
  }
  return times;
}

}  // namespace tcq::tools
