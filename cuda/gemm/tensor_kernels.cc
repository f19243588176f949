// The compiled kernels on tcgen05. TCQ_TENSOR_ROWS: how many sources gemm.cmake has made of them; 0: none.
#include <cstddef>
#include <span>
#include <utility>

#include "cuda/gemm/kernels.h"
#include "cuda/gemm/tensor_table.h"

namespace tcq::gemm {

static_assert(TCQ_TENSOR_ROWS == 0 || TCQ_TENSOR_ROWS == tensor_rows,
              "gemm.cmake makes a source for each row");

// Those of integers and no others are the last, compiled for 10.0 alone.
template <std::size_t... Row>
constexpr bool integers_stand_last(std::index_sequence<Row...>) {
  return ((is_float(TensorRowConfig<Row>::in) == (Row + TCQ_TENSOR_INTEGER_ROWS < tensor_rows)) &&
          ...);
}
static_assert(integers_stand_last(std::make_index_sequence<tensor_rows>{}));

std::span<const Kernel> tensor_kernels() {
#if TCQ_TENSOR_ROWS > 0
  static const auto all = tensor_table([](auto row) { return tensor_function<row>(); });
  return all;
#else
  return {};
#endif
}

}  // namespace tcq::gemm
