// The blocks of a matrix that share a factor, by number: where each lies, on the host and on the device.
//
// Example: 300 x 200 with Block128 are 3 x 2 blocks; number 3 is rows 128 to 255, columns 128 to 199, and its factor is
// element 1 * ld + 1 of K-major factors.
#pragma once

#include <cstdint>

#include "cuda/gemm/check.h"
#include "cuda/gemm/quantize.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm {

// Without `packed`.
struct QuantizeStrides {
  std::int64_t source;
  std::int64_t target;
  std::int64_t factors;
};

struct QuantizeRange {
  std::int64_t row;
  std::int64_t row_end;
  std::int64_t col;
  std::int64_t col_end;
  std::int64_t factor;  // its index
};

HOST_DEVICE constexpr std::int64_t blocks_across(const Quantize& q) {
  return q.block == QuantizeBlock::Row ? 1 : (q.columns + scale_block - 1) / scale_block;
}
HOST_DEVICE constexpr std::int64_t block_rows(const Quantize& q) {
  return q.block == QuantizeBlock::Block128 ? scale_block : 1;
}
HOST_DEVICE constexpr std::int64_t blocks_down(const Quantize& q) {
  return (q.rows + block_rows(q) - 1) / block_rows(q);
}
// Of a matrix that is not empty.
HOST_DEVICE constexpr std::int64_t blocks_of(const Quantize& q) {
  return q.columns == 0 ? 0 : blocks_down(q) * blocks_across(q);
}

HOST_DEVICE constexpr QuantizeStrides strides_of(const Quantize& q) {
  const std::int64_t line = q.major_factors == Major::K ? blocks_across(q) : blocks_down(q);
  return {q.ld_source == packed ? q.columns : q.ld_source,
          q.ld_target == packed ? q.columns : q.ld_target,
          q.ld_factors == packed ? line : q.ld_factors};
}

HOST_DEVICE constexpr QuantizeRange range_of(const Quantize& q, std::int64_t number) {
  const std::int64_t across = blocks_across(q);
  const std::int64_t down = number / across;
  const std::int64_t block = number - down * across;
  const std::int64_t row = down * block_rows(q);
  const std::int64_t col = block * scale_block;
  const std::int64_t row_end = row + block_rows(q) < q.rows ? row + block_rows(q) : q.rows;
  const bool whole = q.block == QuantizeBlock::Row || col + scale_block > q.columns;
  const std::int64_t ld = strides_of(q).factors;
  return {row, row_end, col, whole ? q.columns : col + scale_block,
          q.major_factors == Major::K ? down * ld + block : block * ld + down};
}

}  // namespace tcq::gemm
