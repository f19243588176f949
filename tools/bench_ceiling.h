// How fast wgmma alone is on this GPU: the rate that power and clocks allow a GEMM's products.
//
// A launch lasts as long as it is told, and its loops of wgmmas are timed by the SMs themselves, so
// that filling shared memory, which comes first, is in neither time nor, to speak of, in the heat.
// The launch's events are kept beside the loops: two clocks that have to agree. Sustained: launches
// follow each other, after a warm-up; a GEMM that it is compared with has to run as long, alone:
// in turns, both run at a clock that is neither's. Burst: the device idles before each launch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cuda/gemm/bench_sm90.h"
#include "cuda/runtime/launch.h"
#include "tools/bench_clocks.h"
#include "tools/bench_timing.h"

namespace tcq::tools {

// Medians of the launches.
struct Ceiling {
  double operations_per_second = 0;
  double sm_mhz = 0;        // in the loops, by the SMs' own counters
  double tensor_share = 0;  // of the loops' clocks that the tensor cores need at their peak rate
  double loop_microseconds = 0;
  double launch_microseconds = 0;  // by events: the loop, and what is outside
  std::optional<Reading> reading;  // NVML's; of a burst none, which is too short for it
};

// From the loops of all SMs in one launch of `rounds`: from the first one's beginning to the last
// one's end. Requires: not empty.
Ceiling ceiling_of(std::span<const cuda::CeilingLoop> loops, double operations,
                   double tensor_clocks);

class CeilingBench {
 public:
  // On normal random operands. `clocks` may be null.
  CeilingBench(Type in, int sm_count, std::uint64_t seed, cudaStream_t stream, Clocks* clocks);

  // Launches of `microseconds` each.
  Ceiling measure(const Regime& regime, double microseconds);

  // Of the SMs now: a launch too short to change it.
  double sm_mhz() { return launch(trial_rounds).sm_mhz; }

 private:
  static constexpr int trial_rounds = 200;

  Ceiling launch(int rounds);
  int rounds_in(double microseconds);
  Ceiling median(const std::vector<Ceiling>& all) const;

  Type in_;
  int sm_count_;
  cudaStream_t stream_;
  Clocks* clocks_;
  cuda::DeviceBuffer<std::uint8_t> operands_;
  cuda::DeviceBuffer<cuda::CeilingLoop> loops_;
};

}  // namespace tcq::tools
