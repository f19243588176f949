// How much shared memory an SM has, and what of it one CTA can get.
//
// The system keeps the first bytes of each CTA's window. The bytes themselves:
// sim/machine/shared_memory.h.
// Example: two CTAs of 113 KiB fit an SM, two of 114 KiB do not.
//
// Source: CUDA C++ Programming Guide, compute capabilities 9.0 and 10.0: 228 KiB an SM, 227 KiB a
// CTA, of each of which 1 KiB is reserved.
// Measured: tests/vectors/wgmma_descriptors.tcqv (header field shared_base: dynamic memory at 1024)
#pragma once

#include <cstdint>

namespace tcq {

inline constexpr std::uint32_t sm_shared_bytes = 228 * 1024;
inline constexpr std::uint32_t reserved_shared_bytes = 1024;  // of every CTA
// The first of them are lent to libraries, %reserved_smem_offset_begin to _end: cooperative groups' tiles of several warps.
// Measured: tests/vectors/statements.tcqv, of an H200
inline constexpr std::uint32_t lent_shared_bytes = 288;
inline constexpr std::uint32_t max_cta_shared_bytes = sm_shared_bytes - reserved_shared_bytes;

}  // namespace tcq
