// One function = one PTX instruction: the two timers that a thread can read.
//
// A difference of two readings of one is a time; between them they say at which clock an SM ran.
#pragma once

#include <cstdint>

namespace tcq::ptx {

// Nanoseconds, the same on all SMs. Its steps are the device's own, a microsecond on some.
// Source: PTX ISA 9.2, 10 "%globaltimer".
__device__ __forceinline__ std::uint64_t global_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// Clocks of this SM.
// Source: PTX ISA 9.2, 10 "%clock64".
__device__ __forceinline__ std::uint64_t sm_clocks() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

}  // namespace tcq::ptx
