// Times of things that take turns on one GPU: blocks of launches, one block of each in every round,
// in the order A B C, C B A, A B C, ...
//
// A block is a graph, so that neither side pays for the host. Sustained: rounds follow each other
// without a pause. Burst: the device idles before every block.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace tcq::tools {

// Enqueues one launch on operands of set `set`. Throws if that fails.
using Launcher = std::function<void(std::size_t set, cudaStream_t stream)>;

struct Quartiles {
  double first = 0;
  double median = 0;
  double third = 0;
};
// Requires: not empty.
Quartiles quartiles(std::vector<double> values);

// `launches` launches, the sets in turn.
class Block {
 public:
  Block(const Launcher& launcher, std::size_t sets, int launches, cudaStream_t stream);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Block(Block&& other) noexcept;
  Block& operator=(Block&&) = delete;
  ~Block();

  double microseconds();  // of one launch
  int launches() const { return launches_; }

 private:
  cudaStream_t stream_;
  int launches_;
  cudaGraphExec_t graph_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

struct Regime {
  bool burst = false;
  double block_seconds = 0.004;
  double warm_seconds = 0.15;
  double seconds = 0.6;  // of measuring, for each contender
  double idle_seconds = 1;
  int burst_rounds = 3;
  int burst_launches = 30;
};

// Microseconds of one launch: [contender][round].
std::vector<std::vector<double>> take_turns(const std::vector<Launcher>& contenders,
                                            std::size_t sets, const Regime& regime,
                                            cudaStream_t stream);

}  // namespace tcq::tools
