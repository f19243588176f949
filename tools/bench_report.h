// What bench_gemm found, as lines, JSON and a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/isa/base/element.h"
#include "tools/bench_ceiling.h"
#include "tools/bench_clocks.h"
#include "tools/bench_problem.h"
#include "tools/bench_timing.h"

namespace tcq::tools {

struct Measured {
  Shape shape;
  Type in = Type::bf16;
  bool burst = false;
  Variant variant;
  std::string kernel;
  bool realigned = false;           // operands are copied to the workspace first
  Quartiles ours;                   // microseconds of one launch
  std::optional<Quartiles> theirs;  // cuBLASLt's default
  std::optional<Quartiles> best;    // the best of its offers
  std::optional<Quartiles> ratio;   // of theirs by ours, of the rounds
  std::optional<Quartiles> best_ratio;
  double operations = 0;  // of one launch
  double bytes = 0;
  std::optional<Ceiling> ceiling;  // wgmma alone in this regime
  std::optional<Reading> reading;
  std::optional<double> sm_mhz_behind;  // by the SMs' own counters, right behind the last block
  int checked = 0;
  int differing = 0;
};

struct Run {
  std::string device;
  std::string driver;
  std::string runtime;
  std::string cublas;                // version, or why there is none
  std::optional<Quartiles> control;  // ours by ours
  bool tuned = false;                // ours are the tuner's kernels, not the estimate's
  std::vector<Measured> rows;
};

std::string header_line();
std::string line(const Measured& row);
std::string line(const Ceiling& ceiling, Type in, bool burst);
// Geometric means of the ratios, and the least, for every group, type and regime.
std::string summary(const Run& run);
std::string json(const Run& run);
// One bar for each row: the ratio to the default, with its quartiles.
std::string picture(const Run& run);

}  // namespace tcq::tools
