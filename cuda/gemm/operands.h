// Where a launch finds its matrices, and what is copied ahead of it: plain values, known to those
// who decide (cuda/gemm/run.h) and to those who call CUDA (cuda/gemm/launch.h, cuda/gemm/realign.h).
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"

namespace tcq::gemm {

// A matrix in global memory. `ld` steps rows of the contiguous direction's other index (elements).
struct MatrixAt {
  const void* data = nullptr;
  std::int64_t ld = 0;
  std::int64_t batch_stride = 0;
  Major major = Major::K;  // of operands
};

struct Extents {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
};

// One operand's copy: cuda/gemm/realign.h.
struct RealignJob {
  const std::uint8_t* source = nullptr;
  std::uint8_t* target = nullptr;  // and its strides: multiples of 16
  std::int64_t line_bytes = 0;     // above 0
  std::int64_t lines = 0;          // of a matrix, below 2^31
  std::int64_t matrices = 1;
  std::int64_t source_pitch = 0;  // bytes
  std::int64_t source_batch = 0;
  std::int64_t target_pitch = 0;
  std::int64_t target_batch = 0;
  int turned_bytes =
      0;  // of an element, 1, 2 or 4, of all jobs that are turned, where the copy's lines are the source's columns; 0: the copy lies as the source
};

inline constexpr int max_realign_jobs = 2;

}  // namespace tcq::gemm
