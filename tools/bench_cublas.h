// cuBLASLt, if the machine has it: found when the benchmark runs, by the name of its library.
//
// Where the build had no cublasLt.h, open() says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "tools/bench_timing.h"

namespace tcq::tools {

class CublasLt {
 public:
  // Null, and why in `reason`. `path`: a library, or empty for the usual places.
  static std::shared_ptr<CublasLt> open(const std::string& path, std::string& reason);

  virtual ~CublasLt() = default;
  virtual std::string version() const = 0;

  // What its heuristic offers for the problem with 64 MiB of workspace, the default first; at most `most`.
  // Empty if it cannot compute it. Factors of blocks that tcgen05 multiplies by are ours, byte for byte; where those of a batch would
  // lie is not documented, so that it is not asked. An activation that it does not have (all but relu and gelu) is a kernel behind it
  // (cuda/gemm/bench.h), which works on what lies between lines, too; where D has another width or is quantized, that kernel's operands
  // are packed. `at` gives the operands of a set. Requires: no groups.
  virtual std::vector<Launcher> algorithms(const gemm::Problem& problem,
                                           std::function<gemm::Pointers(std::size_t)> at,
                                           int most) = 0;
};

}  // namespace tcq::tools
