// No exception leaves the library: what a call answers instead.
//
// Each function of gemm.h, cuda/gemm/tune.h and gemm_c.h that allocates or asks CUDA does so in a
// guarded() or a plan_anew(). Example: planning without memory for the list of kernels answers
// NoMemory.
#pragma once

#include <new>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

// The call's own answer; or the Status that it throws; or NoMemory; or `otherwise`.
template <class Call>
Status guarded(Status otherwise, Call call) noexcept {
  try {
    return call();
  } catch (const Status& thrown) {
    return thrown;
  } catch (const std::bad_alloc&) {
    return Status::NoMemory;
  } catch (...) {
    return otherwise;
  }
}

// `make`: (problem, plan) -> Status. The problem may be the old plan's; what is not Ok leaves none.
template <class Make>
Status plan_anew(const Problem& problem, Plan& plan, Make make) noexcept {
  const Problem wanted = problem;
  plan = {};
  const Status status = guarded(Status::CudaFailed, [&] { return make(wanted, plan); });
  if (status != Status::Ok) plan = {};
  return status;
}

}  // namespace tcq::gemm
