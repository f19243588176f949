// The registers of one warpgroup that a wgmma reads and writes, thread by thread.
//
// Each array is thread-major: register r of thread t is at t * count + r. What a register means is
// sim/isa/wgmma/fragment.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/isa/wgmma/fragment.h"

namespace tcq {

struct WarpgroupRegisters {
  std::vector<std::uint32_t> d;  // 128 x accumulator_registers
  std::array<std::uint32_t, wgmma::threads_per_warpgroup * wgmma::a_registers> a{};
  std::array<std::uint32_t, wgmma::threads_per_warpgroup> metadata{};

  friend bool operator==(const WarpgroupRegisters&, const WarpgroupRegisters&) = default;
};

}  // namespace tcq
