// Sums that no instruction makes, one product after the other along K: in f64, rounded once at the end, and
// a fused multiply-add of f32 for each. A row times a panel of 32 columns.
//
// Sums as tensor cores make them: chain.h.
#pragma once

#include <cstdint>

namespace tcq::fast {

inline constexpr int plain_columns = 32;

enum class PlainSum : std::uint8_t { Float64, Fma };

// `panel` is [k][plain_columns]; `d` has a sum for each column.
void sum_plain(PlainSum sum, const float* row, const float* panel, std::int64_t k, float* d);

}  // namespace tcq::fast
