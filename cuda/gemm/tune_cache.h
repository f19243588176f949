// Which kernel a measurement found the fastest for a problem, remembered, also in a file.
//
// A choice is a kernel's name; cuda/gemm/tune.h measures and uses them. The file is JSON:
//
//   {"format": "tcq gemm choices", "version": 1, "choices": [{"device": "NVIDIA H200", ...,
//    "m": 16, "n": 7168, "k": 4096, ..., "kernel": "16x64x64 few rows split 2 12 stages"}]}
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

// All that a choice depends on. Leading dimensions, addresses and factors do not count.
struct TuneKey {
  std::string device;  // its name
  int major = 0;       // compute capability
  int minor = 0;
  int sm_count = 0;  // those that the problem may use
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 0;
  Type in = Type::bf16;
  Type out = Type::bf16;
  Major major_a = Major::K;
  Major major_b = Major::K;
  bool tma_loads = false;   // strides of A and B, or of copies, are such that TMA addresses both
  bool tma_stores = false;  // and those of D
  bool scales = false;      // alpha is not 1
  bool reads_c = false;
  bool has_bias = false;
  Activation activation = Activation::None;
  bool batch_invariant = false;
  Type in_b = Type::bf16;
  Scaling scaling = Scaling::None;
  bool promotes = false;
  bool quantized = false;

  friend auto operator<=>(const TuneKey&, const TuneKey&) = default;
};

// Requires: check(problem) is Ok. Throws std::bad_alloc.
TuneKey tune_key(const Problem& problem, const Device& device, const std::string& device_name);

// Every member may be called from several threads at a time.
class TuneCache {
 public:
  // Ok or NoMemory, and then nothing changes.
  Status remember(const TuneKey& key, const std::string& kernel) noexcept;

  // Empty: there is none. Throws std::bad_alloc.
  std::string find(const TuneKey& key) const;
  std::size_t size() const;

  // Adds the file's choices; those of the file win. Names of kernels that this library has not are
  // kept. If the answer is not Ok, nothing changes.
  Status load(const std::string& path) noexcept;

  // Adds the choices to those of the file, or makes it; ours win. What is not a file of choices
  // that load() takes is not written to. The file is replaced whole: a reader finds the old one or
  // the new one. Of two programs that save at one moment the later one's choices stay.
  Status save(const std::string& path) const noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<TuneKey, std::string> choices_;
};

}  // namespace tcq::gemm
