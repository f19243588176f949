// The loops of packed.h that the vector units run: one row times one panel of 32 columns.
#pragma once

#include <cstdint>

namespace tcq::fast {

struct PackedSide {
  const float* halves;
  const float* significands;
  const std::int32_t* exponents;
  const std::int32_t* nonzero;
};

struct PackedTask {
  PackedSide row;
  PackedSide panel;
  int fraction_bits;
  int floor_exponent;
  float* c;             // 32 values: C, then D
  std::int32_t* again;  // 32 words: not 0 where the sum is to be made again
};
void sum_packed(const PackedTask& task);

}  // namespace tcq::fast
