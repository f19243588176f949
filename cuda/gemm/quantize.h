// FP8 operands of wider ones, and their factors: what the GEMM's scalings multiply by (gemm.h, Scaling).
//
// Which factor a block gets and what becomes of zeros, infinities and NaNs: sim/num/quantize.h. On the device and on the
// host the same bits. Example: a bf16 matrix of 4096 x 7168 with a factor for 128 of each row, e4m3:
//
//   gemm::Quantize q{.rows = 4096, .columns = 7168};
//   gemm::Status status = gemm::quantize(q, source, target, factors, stream);
#pragma once

#include <cstdint>

#include "cuda/gemm/gemm.h"

namespace tcq::gemm {

enum class QuantizeBlock : std::uint8_t {
  Row,        // of RowColumn: a factor for each row
  Vector128,  // for 128 of each row
  Block128,   // for 128 of 128 rows
};
inline constexpr int quantize_block_count = 3;

struct Quantize {
  std::int64_t rows = 0;
  std::int64_t columns = 0;  // contiguous in source and target: K
  Type in = Type::bf16;      // bf16, f16, f32
  Type out = Type::e4m3;     // e4m3, e5m2
  QuantizeBlock block = QuantizeBlock::Vector128;
  bool power_of_two = false;  // factors are the next one up
  // Elements; `packed`: the least that holds the matrix.
  std::int64_t ld_source = packed;
  std::int64_t ld_target = packed;
  Major major_factors = Major::K;  // K: those of a row (of 128 rows) are contiguous
  std::int64_t ld_factors = packed;
  bool programmatic_launch = true;  // as Problem's: started before the kernel ahead has ended, for which it waits

  friend constexpr bool operator==(const Quantize&, const Quantize&) = default;
};

// Lines and blocks of factors of the matrix.
std::int64_t factor_lines(const Quantize& q) noexcept;
std::int64_t factor_blocks(const Quantize& q) noexcept;

// What can be said without a device.
Status check(const Quantize& q, const void* source, const void* target,
             const float* factors) noexcept;

// Asynchronous in `stream`, of the current device.
Status quantize(const Quantize& q, const void* source, void* target, float* factors,
                Stream stream) noexcept;

// In host memory.
Status quantize_on_host(const Quantize& q, const void* source, void* target,
                        float* factors) noexcept;

}  // namespace tcq::gemm
