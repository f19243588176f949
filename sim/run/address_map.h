// Where the spaces of memory lie among the 64-bit generic addresses of a run.
//
// Each space has a window of its own; shared memory of CTA r of the cluster begins at r << 24 in its window, as
// `mapa` gives it, so that the address of a CTA's own variable says its rank.
//
// Inferred: rank in bits 24 and up, as kernels that mask it away rely on (CUTLASS's Sm100MmaPeerBitMask). The
// windows' places are ours: no kernel may depend on them.
#pragma once

#include <cstdint>

namespace tcq::run {

inline constexpr std::uint64_t global_window = 0x7000'0000'0000;
inline constexpr std::uint64_t shared_window = 0x7100'0000'0000;
inline constexpr std::uint64_t local_window = 0x7200'0000'0000;
inline constexpr std::uint64_t const_window = 0x7300'0000'0000;
inline constexpr std::uint64_t param_window = 0x7400'0000'0000;
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;

inline constexpr unsigned rank_shift = 24;
inline constexpr std::uint32_t shared_offset_mask = (1u << rank_shift) - 1;

// Functions have addresses to be told apart by; no bytes lie there.
constexpr std::uint64_t function_address(std::uint32_t function) {
  return 0x1000 + std::uint64_t{16} * function;
}

constexpr bool in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < window_bytes;
}
constexpr int rank_of(std::uint32_t shared_address) {
  return static_cast<int>(shared_address >> rank_shift);
}
constexpr std::uint32_t offset_of(std::uint32_t shared_address) {
  return shared_address & shared_offset_mask;
}
constexpr std::uint32_t at_rank(std::uint32_t shared_address, std::uint32_t rank) {
  return offset_of(shared_address) | rank << rank_shift;
}

}  // namespace tcq::run
