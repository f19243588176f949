// How many clusters of each kernel a device runs at one time, asked once.
#pragma once

#include <map>
#include <mutex>
#include <utility>

namespace tcq::gemm {

struct Kernel;  // cuda/gemm/kernels.h

// The driver's answers do not change, and are kept for as long as the process lives. A question that
// fails (throws) is no answer: nothing is kept of it, and it is asked anew the next time.
class ResidentCache {
 public:
  // `ask`: () -> int.
  template <class Ask>
  int of(const Kernel& kernel, int device, Ask ask) {
    const std::lock_guard lock(mutex_);
    const std::pair key = {&kernel, device};
    const auto at = known_.find(key);
    if (at != known_.end()) return at->second;
    const int clusters = ask();
    known_.emplace(key, clusters);
    return clusters;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Kernel*, int>, int> known_;
};

}  // namespace tcq::gemm
