// Work dealt to threads, one piece after the other: which thread does a piece decides no bit of it.
//
// Used by whole GEMMs (gemm_reference.h of oracle/sum, oracle/gemm/predict.h and drawn.h), and file by file by verify.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tcq::oracle {

// How many threads `threads` asks for; 0: all cores.
inline int thread_count(int threads) {
  if (threads != 0) return threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Calls work(i) for i in [0, count) on several threads, each with a copy of `work`.
template <class Work>
void in_parallel(std::int64_t count, int threads, Work work) {
  std::atomic<std::int64_t> next = 0;
  auto run = [&, work]() mutable {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < std::min<std::int64_t>(threads, count); ++t)
    others.emplace_back(run);
  run();
  for (std::thread& t : others) t.join();
}

}  // namespace tcq::oracle
