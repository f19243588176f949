// The optional tuner: plans from measurements instead of from the estimate.
//
// tune() times the kernels that the estimate finds the most promising and plans with the fastest; a
// TuneCache keeps the choice for the next call and, in a file, for the next program. Kernels differ
// in how they split K, and so does what they round: a tuned plan's bits are those that its
// k_segments() predict, but they may be others than those of make_plan(), and a new measurement may
// choose anew. Keep the file where the bits have to stay, or ask for batch_invariant: all kernels
// that keep that give the same bits. Example:
//
//   gemm::TuneCache cache;
//   (void)cache.load("gemm.json");  // TuneFileMissing the first time
//   gemm::Plan plan;
//   gemm::Status status = gemm::tune(problem, {a, b, nullptr, d}, {}, stream, {}, cache, plan);
//   if (status == gemm::Status::Ok) status = cache.save("gemm.json");
#pragma once

#include <string>
#include <vector>

#include "cuda/gemm/gemm.h"
#include "cuda/gemm/tune_cache.h"

namespace tcq::gemm {

struct TuneOptions {
  int kernels = 8;            // at most so many are timed
  int rounds = 5;             // of each; the median counts
  bool every_kernel = false;  // all that can compute the problem
};

// Plans `problem` with the fastest kernel; of kernels within 1 % the one that the estimate prefers.
//
// Runs them on `pointers` in `stream`, with the copies that run() makes if there is a workspace,
// waits, and overwrites D. If C is D and beta is not 0, D is undefined afterwards. The operands are
// as much in L2 as one run after the other leaves them. Other work on the device disturbs the times:
// tune one problem at a time. Refuses a stream that is being captured, and pointers for which no
// choice is left (NothingToTune). After CudaFailed and NoMemory D may be overwritten.
Status tune(const Problem& problem, const Pointers& pointers, const Workspace& workspace,
            Stream stream, const TuneOptions& options, Plan& plan) noexcept;

// Takes the cache's choice, and then neither runs anything nor looks at the pointers; or tunes and
// remembers. What was tuned with a workspace and what was tuned without one are two choices if TMA
// can address the copies alone.
Status tune(const Problem& problem, const Pointers& pointers, const Workspace& workspace,
            Stream stream, const TuneOptions& options, TuneCache& cache, Plan& plan) noexcept;

// With the cache's choice for this device if there is one that this library has and that computes
// the problem, rather one for run() with a workspace; else the plan of make_plan(problem, plan).
Status make_plan(const Problem& problem, const TuneCache& cache, Plan& plan) noexcept;

// For a device that need not be there, as in gemm.h.
Status make_plan_for(const Problem& problem, const Device& device, const std::string& device_name,
                     const TuneCache& cache, Plan& plan) noexcept;

// What tune() would time there on this path, the most promising first. Empty if check(problem) is
// not Ok. Throws std::bad_alloc.
std::vector<const Kernel*> promising_kernels(const Problem& problem, const Device& device,
                                             const TuneOptions& options, Path path = Path::Aligned);

}  // namespace tcq::gemm
