// Sixteen bytes that begin anywhere, out of the two aligned words of sixteen that hold them.
#pragma once

#include <vector_types.h>

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm {

// Two neighbouring words; what is wanted begins `lead` bytes behind the first one's beginning. With a lead of 0 the second does
// not count.
struct Unaligned {
  uint4 low;
  uint4 high;
  int lead;
};

// `Memory` reads a register that begins `rest` bits behind the low one's beginning.
template <class Memory>
HOST_DEVICE inline uint4 shifted(const Unaligned& x) {
  std::uint32_t w[] = {x.low.x, x.low.y, x.low.z, x.low.w, x.high.x, x.high.y, x.high.z, x.high.w};
  const int words = x.lead / 4;
  for (int i = 0; i < 6; ++i) w[i] = words >= 2 ? w[i + 2] : w[i];
  for (int i = 0; i < 5; ++i) w[i] = words % 2 == 1 ? w[i + 1] : w[i];
  const auto rest = static_cast<unsigned>(x.lead % 4 * bits(Type::u8));
  return {Memory::behind(w[0], w[1], rest), Memory::behind(w[1], w[2], rest),
          Memory::behind(w[2], w[3], rest), Memory::behind(w[3], w[4], rest)};
}

}  // namespace tcq::gemm
