// The bits of some bytes of a 32-bit register. Byte 0 is its lowest.
//
// Source: PTX ISA 9.2, "prmt", the numbers of bytes.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq {

inline constexpr int bytes_of_register = 4;

// Of those from `from` up to `to`, as far as there are such. Requires: from <= to.
HOST_DEVICE constexpr std::uint32_t register_bytes(int from, int to) {
  const auto below = [](int byte) {
    const int cut = byte < 0 ? 0 : byte > bytes_of_register ? bytes_of_register : byte;
    return (std::uint64_t{1} << 8 * cut) - 1;
  };
  return static_cast<std::uint32_t>(below(to) ^ below(from));
}
static_assert(register_bytes(0, 4) == 0xffffffff && register_bytes(-3, 0) == 0);
static_assert(register_bytes(1, 3) == 0x00ffff00 && register_bytes(3, 9) == 0xff000000);
static_assert(register_bytes(-5, 2) == 0x0000ffff && register_bytes(4, 8) == 0);

}  // namespace tcq
