// Choosing a kernel by the clock.
//
// A kernel's time is that of a graph of several runs, between two events, so that the host's time
// does not count. The kernels take turns, in the order A B C, C B A, A B C, ...
#include "cuda/gemm/tune.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "cuda/gemm/estimate.h"
#include "cuda/gemm/guard.h"
#include "cuda/gemm/kernels.h"
#include "cuda/gemm/path.h"
#include "cuda/runtime/launch.h"

namespace tcq::gemm {
namespace {

constexpr double turn_microseconds = 500;  // of one kernel in one round
constexpr int most_launches = 250;         // in a turn
constexpr double as_fast = 1.01;

// --- candidates ------------------------------------------------------------------------------------

using PlanWith = std::function<Status(const Kernel&, Plan&)>;

// With each kernel that run() launches on this path; the most promising first.
std::vector<Plan> candidates(const TuneOptions& options, Path path, const PlanWith& plan_with) {
  std::vector<Plan> plans;
  for (const Kernel& kernel : kernels()) {
    Plan plan;
    if (plan_with(kernel, plan) != Status::Ok || launch_of(plan, path).kernel != &kernel) continue;
    if (options.every_kernel || suits(kernel, plan.problem)) plans.push_back(plan);
  }
  std::ranges::stable_sort(plans, {},
                           [&](const Plan& p) { return launch_of(p, path).microseconds; });
  const auto most = static_cast<std::size_t>(std::max(options.kernels, 0));
  if (!options.every_kernel && plans.size() > most) plans.resize(most);
  return plans;
}

// --- time ------------------------------------------------------------------------------------------

struct Destroy {
  void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
};
using Event = std::unique_ptr<CUevent_st, Destroy>;
using OwnStream = std::unique_ptr<CUstream_st, Destroy>;
using Graph = std::unique_ptr<CUgraph_st, Destroy>;
using Runs = std::unique_ptr<CUgraphExec_st, Destroy>;

struct Operands {
  const Pointers& pointers;
  const Workspace& workspace;
};

void require(Status status) {
  if (status != Status::Ok) throw status;  // guarded() answers it
}

Event new_event() {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  return Event(event);
}

// The user's stream may be the default one, which cannot be captured.
OwnStream new_stream() {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return OwnStream(stream);
}

Runs runs_of(const Plan& plan, const Operands& x, int launches) {
  const OwnStream stream = new_stream();
  CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  Status status = Status::Ok;
  for (int i = 0; i < launches && status == Status::Ok; ++i)
    status = run(plan, x.pointers, x.workspace, stream.get());
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream.get(), &graph);
  const Graph owned(graph);
  require(status);
  CUDA_CHECK(ended);
  cudaGraphExec_t runs = nullptr;
  CUDA_CHECK(cudaGraphInstantiate(&runs, graph, 0));
  Runs made(runs);
  CUDA_CHECK(cudaGraphUpload(runs, stream.get()));
  CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  return made;
}

class Clock {
 public:
  explicit Clock(cudaStream_t stream) : stream_(stream) {}

  double microseconds(cudaGraphExec_t runs) const {
    CUDA_CHECK(cudaEventRecord(begin_.get(), stream_));
    CUDA_CHECK(cudaGraphLaunch(runs, stream_));
    CUDA_CHECK(cudaEventRecord(end_.get(), stream_));
    CUDA_CHECK(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return static_cast<double>(milliseconds) * 1e3;
  }

 private:
  cudaStream_t stream_;
  Event begin_ = new_event();
  Event end_ = new_event();
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

int launches_in_a_turn(double microseconds) {
  return static_cast<int>(std::clamp(turn_microseconds / std::max(microseconds, 1e-3), 1.0,
                                     static_cast<double>(most_launches)));
}

// The first launch of each kernel loads it, the second one says how many make a turn.
std::vector<double> times_of(const std::vector<Plan>& plans, const Operands& x, cudaStream_t stream,
                             int rounds) {
  const Clock clock(stream);
  double least = turn_microseconds;
  for (const Plan& plan : plans) {
    const Runs once = runs_of(plan, x, 1);
    (void)clock.microseconds(once.get());
    least = std::min(least, clock.microseconds(once.get()));
  }
  std::vector<Runs> turns;
  for (const Plan& plan : plans) turns.push_back(runs_of(plan, x, launches_in_a_turn(least)));
  std::vector<std::vector<double>> times(plans.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const std::size_t turn = round % 2 == 0 ? i : turns.size() - 1 - i;
      times[turn].push_back(clock.microseconds(turns[turn].get()));
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& t : times) medians.push_back(median(t));
  return medians;
}

std::size_t chosen(const std::vector<double>& times) {
  const double enough = *std::ranges::min_element(times) * as_fast;
  const auto first = std::ranges::find_if(times, [&](double t) { return t <= enough; });
  return static_cast<std::size_t>(first - times.begin());
}

// Asked before the planner asks CUDA for anything: that could end the capture.
Status capture_of(Stream stream) {
  if (cuda::device_count() == 0) return Status::Ok;
  const bool had_error = cudaPeekAtLastError() != cudaSuccess;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error == cudaSuccess)
    return status == cudaStreamCaptureStatusNone ? Status::Ok : Status::StreamCaptured;
  if (!had_error) (void)cudaGetLastError();
  // The default stream waits for a stream that is being captured.
  return error == cudaErrorStreamCaptureImplicit ? Status::StreamCaptured : Status::CudaFailed;
}

// --- the cache -------------------------------------------------------------------------------------

struct NamedDevice {
  Device device;
  std::string name;
};

// The driver's answers do not change.
NamedDevice device_here() {
  static std::mutex mutex;
  static std::map<int, NamedDevice> known;
  const std::lock_guard lock(mutex);
  const int id = cuda::current_device();
  const auto at = known.find(id);
  if (at != known.end()) return at->second;
  const cuda::DeviceIdentity x = cuda::identity(id);
  return known[id] = {{id, x.major, x.minor, x.sm_count, cuda::memory_bandwidth(id)}, x.name};
}

// As the kernels read the operands of run() with a workspace or without one.
Problem as_read(const Problem& problem, bool has_workspace) {
  const Problem p = resolved(problem);
  return has_workspace ? with_copies(p, copies_of(p, turned_for_wgmma(p))) : p;
}

// KernelDoesNotFit: there is none, or not one for this problem.
Status plan_remembered(const Problem& problem, const TuneKey& key, const TuneCache& cache,
                       const PlanWith& plan_with, Plan& plan) {
  const std::string choice = cache.find(key);
  if (choice.empty() || has_sizes(problem)) return Status::KernelDoesNotFit;
  for (const Kernel& kernel : kernels()) {
    if (kernel.in != problem.in || kernel.in_b != type_b(problem) || name(kernel) != choice)
      continue;
    const Status status = plan_with(kernel, plan);
    if (status != Status::KernelDoesNotFit) return status;
  }
  return Status::KernelDoesNotFit;
}

// `remembered`: (has_workspace) -> Status. The choice for run() with a workspace, or else without.
template <class Remembered>
Status either_remembered(Remembered remembered) {
  const Status with = remembered(true);
  return with == Status::KernelDoesNotFit ? remembered(false) : with;
}

bool is_sound(const TuneOptions& options) { return options.kernels >= 1 && options.rounds >= 1; }

bool is_empty(const Problem& p) { return p.m == 0 || p.n == 0 || p.batch == 0; }

Status plan_remembered_here(const Problem& problem, bool has_workspace, const TuneCache& cache,
                            Plan& plan) {
  if (const Status status = check(problem); status != Status::Ok) return status;
  if (is_empty(problem)) return make_plan(problem, plan);
  if (cuda::device_count() == 0) return Status::NoDevice;
  const NamedDevice here = device_here();
  return plan_remembered(
      problem, tune_key(as_read(problem, has_workspace), here.device, here.name), cache,
      [&](const Kernel& k, Plan& made) { return make_plan_with(problem, k, made); }, plan);
}

Status tune_here(const Problem& problem, const Pointers& pointers, const Workspace& workspace,
                 Stream stream, const TuneOptions& options, Plan& plan) {
  if (const Status status = capture_of(stream); status != Status::Ok) return status;
  Plan estimated;
  if (const Status status = make_plan(problem, estimated); status != Status::Ok) return status;
  if (const Status status = check(estimated, pointers, workspace); status != Status::Ok)
    return status;
  if (estimated.empty) {
    plan = estimated;
    return Status::Ok;
  }
  // A kernel is the same with whole tiles.
  const auto path_with = [&](const Plan& p) {
    const Path taken = path_of(p, pointers, workspace);
    return taken == Path::Whole ? Path::Aligned : taken;
  };
  const Path path = path_with(estimated);
  const bool estimated_alone = path == Path::Unaligned || path == Path::AnyFactors;
  if (estimated_alone || has_sizes(problem)) return Status::NothingToTune;
  std::vector<Plan> plans = candidates(
      options, path, [&](const Kernel& k, Plan& made) { return make_plan_with(problem, k, made); });
  std::erase_if(plans, [&](const Plan& p) { return path_with(p) != path; });
  if (plans.empty()) return Status::NothingToTune;
  plan = plans[chosen(times_of(plans, {pointers, workspace}, stream, options.rounds))];
  return Status::Ok;
}

Status tune_and_remember(const Problem& problem, const Pointers& pointers,
                         const Workspace& workspace, Stream stream, const TuneOptions& options,
                         TuneCache& cache, Plan& plan) {
  const bool has_workspace = workspace.data != nullptr;
  const Status found = plan_remembered_here(problem, has_workspace, cache, plan);
  if (found != Status::KernelDoesNotFit) return found;
  require(tune_here(problem, pointers, workspace, stream, options, plan));
  const NamedDevice here = device_here();
  const Path path = path_of(plan, pointers, workspace);
  return cache.remember(tune_key(as_read(problem, has_workspace), here.device, here.name),
                        name(*launch_of(plan, path).kernel));
}

}  // namespace

std::vector<const Kernel*> promising_kernels(const Problem& problem, const Device& device,
                                             const TuneOptions& options, Path path) {
  std::vector<const Kernel*> kernels;
  for (const Plan& plan : candidates(options, path, [&](const Kernel&k, Plan&made) {
         return make_plan_for(problem, device, k, made);
       }))
    kernels.push_back(launch_of(plan, path).kernel);
  return kernels;
}

Status make_plan_for(const Problem& problem, const Device& device, const std::string& device_name,
                     const TuneCache& cache, Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    require(check(p));
    const Status status = either_remembered([&](bool has_workspace) {
      return plan_remembered(
          p, tune_key(as_read(p, has_workspace), device, device_name), cache,
          [&](const Kernel& k, Plan& with) { return make_plan_for(p, device, k, with); }, made);
    });
    return status == Status::KernelDoesNotFit ? make_plan_for(p, device, made) : status;
  });
}

Status make_plan(const Problem& problem, const TuneCache& cache, Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    const Status status = either_remembered(
        [&](bool has_workspace) { return plan_remembered_here(p, has_workspace, cache, made); });
    return status == Status::KernelDoesNotFit ? make_plan(p, made) : status;
  });
}

Status tune(const Problem& problem, const Pointers& pointers, const Workspace& workspace,
            Stream stream, const TuneOptions& options, Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    if (!is_sound(options)) return Status::BadTuneOptions;
    return tune_here(p, pointers, workspace, stream, options, made);
  });
}

Status tune(const Problem& problem, const Pointers& pointers, const Workspace& workspace,
            Stream stream, const TuneOptions& options, TuneCache& cache, Plan& plan) noexcept {
  return plan_anew(problem, plan, [&](const Problem& p, Plan& made) {
    if (!is_sound(options)) return Status::BadTuneOptions;
    return tune_and_remember(p, pointers, workspace, stream, options, cache, made);
  });
}

}  // namespace tcq::gemm
