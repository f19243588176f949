// The rows of cuda/gemm/tensor_table.h for tests: as the library's table, and each compiled to PTX.
//
// Example: tensor_row(0).ptx(). The library compiles the same row for the device.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "cuda/gemm/plan_tensor.h"
#include "cuda/gemm/tensor_table.h"
#include "tests/run/gemm_kernel_run.h"

namespace tcq::tests {

inline std::span<const gemm::Kernel> tensor_table() {
  static const auto all = gemm::tensor_table([](auto) { return nullptr; });
  return all;
}

inline TestKernel tensor_row(std::size_t row) {
  return {
      "tensor_kernel", "gemm::TensorRowConfig<" + std::to_string(row) + ">", tensor_table()[row],
      "#include \"cuda/gemm/tensor_kernel.cuh\"\n#include \"cuda/gemm/tensor_table.h\"\n", "100a"};
}

inline std::size_t row_of(const gemm::Kernel& kernel) {
  return static_cast<std::size_t>(&kernel - tensor_table().data());
}

// One CTA to an SM.
inline int clusters_by_size(const gemm::Kernel& kernel, const gemm::Device& device) {
  return device.sm_count / gemm::cluster_size(kernel);
}

// A B200; GB300 has minor 3.
inline constexpr gemm::Device b200 = {.id = 0, .major = 10, .minor = 0, .sm_count = 148};

inline gemm::Status tensor_plan(const gemm::Problem& p, gemm::Plan& plan,
                                const gemm::Device& device = b200,
                                const gemm::Kernel* only = nullptr) {
  plan = {};
  plan.problem = gemm::resolved(p);
  const gemm::Status status =
      gemm::plan_on_tcgen05(device, tensor_table(), only, clusters_by_size, plan);
  plan.made = status == gemm::Status::Ok;
  return status;
}

}  // namespace tcq::tests
