// How a family of provoking kernels (cluster.cu, mbarrier.cu and so on) hands its programs to cuda/litmus/litmus.cu.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/litmus/litmus.h"

namespace tcq::cuda::provoke {

inline constexpr std::uint32_t max_rounds = 128;  // runs of one CTA in one launch
inline constexpr std::uint32_t tile_words = 2048;
inline constexpr std::uint32_t values = 16;

struct Counters {
  unsigned long long runs;
  unsigned long long wrong;
  unsigned long long timeouts;
};

struct Arguments {
  std::uint32_t rounds;         // at most max_rounds
  const std::uint32_t* source;  // `values` tiles: all words of tile v are word_of(v)
  std::uint32_t* sink;          // one tile for each CTA
  Counters* counters;
};

using Kernel = void (*)(Arguments);

struct Program {
  Provocation about;
  Kernel correct;
  Kernel mutant;
  std::uint32_t threads;
  std::uint32_t cluster = 1;
  bool one_round = false;                       // one run in a CTA, as many CTAs as runs
  std::uint64_t most_runs = ~std::uint64_t{0};  // where every run may wait in vain
};

std::vector<Program> proxy_programs();
std::vector<Program> wgmma_programs();
std::vector<Program> mbarrier_programs();
std::vector<Program> refill_programs();
std::vector<Program> cluster_programs();
std::vector<Program> hanging_programs();

}  // namespace tcq::cuda::provoke
