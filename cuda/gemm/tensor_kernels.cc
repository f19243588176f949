// The compiled kernels on tcgen05. TCQ_TENSOR_ROWS: how many sources gemm.cmake has made of them; 0: none.
#include <span>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tensor_table.h"

namespace tcq::gemm {

static_assert(TCQ_TENSOR_ROWS == 0 || TCQ_TENSOR_ROWS == tensor_rows,
              "gemm.cmake makes a source for each row");

std::span<const Kernel> tensor_kernels() {
#if TCQ_TENSOR_ROWS > 0
  static const auto all = tensor_table([](auto row) { return tensor_function<row>(); });
  return all;
#else
  return {};
#endif
}

}  // namespace tcq::gemm
