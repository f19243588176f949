// Numbers that Maps of every family count by.
#pragma once

namespace tcq::oracle {

inline constexpr int byte_bits = 8;
inline constexpr int cell_bits = 32;  // of Tensor Memory, and of a register
inline constexpr int lanes_per_warp = 32;
inline constexpr int threads_per_warpgroup = 128;

}  // namespace tcq::oracle
