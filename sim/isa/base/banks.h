// Banks of shared memory: how many passes the accesses of one warp take.
//
// 32 banks of 4 bytes; a pass gives each bank one word, which any number of lanes may read. Accesses of 8
// bytes a lane go in two halves of a warp, of 16 bytes in four quarters, each matrix of ldmatrix and stmatrix
// by itself: a phase has at most 128 bytes, so that one pass is the best. Example: 32 lanes, 4 bytes each,
// 128 bytes apart: all in bank 0, 32 passes; 132 bytes apart: one.
//
// Source: CUDA C++ Programming Guide, "Shared Memory" (banks, broadcast of a word).
// Inferred: the phases of 8 and 16 bytes, from profiles of others: NVIDIA's manuals do not write them down.
// A profile that counts wavefronts of such loads would refute it.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"

namespace tcq::shared {

inline constexpr int banks = 32;
inline constexpr int bank_bytes = 4;
inline constexpr int phase_bytes = banks * bank_bytes;
inline constexpr int warp_lanes = 32;

HOST_DEVICE constexpr std::uint32_t word_of(std::uint32_t address) { return address / bank_bytes; }
HOST_DEVICE constexpr int bank_of(std::uint32_t address) {
  return static_cast<int>(word_of(address) % banks);
}

// Lanes that are served together. Requires: bytes is a power of two up to 16.
HOST_DEVICE constexpr int phase_lanes(int bytes) {
  return bytes <= bank_bytes ? warp_lanes : phase_bytes / bytes;
}

// Words of a lane; of less than a word one.
HOST_DEVICE constexpr int words_of(int bytes) {
  return bytes < bank_bytes ? 1 : bytes / bank_bytes;
}

// Different words in one bank: the passes of a phase that this bank alone takes.
HOST_DEVICE constexpr int words_in_bank(const std::uint32_t* addresses, int lanes, int bytes,
                                        int bank) {
  std::uint32_t seen[warp_lanes * 4] = {};
  int count = 0;
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < words_of(bytes); ++i) {
      const std::uint32_t word = word_of(addresses[lane]) + static_cast<std::uint32_t>(i);
      if (static_cast<int>(word % banks) != bank) continue;
      bool is_new = true;
      for (int j = 0; j < count; ++j) is_new = is_new && seen[j] != word;
      if (is_new) seen[count++] = word;
    }
  return count;
}

// Passes of one phase, `lanes` of them; at least one.
HOST_DEVICE constexpr int passes(const std::uint32_t* addresses, int lanes, int bytes) {
  int most = 1;
  for (int bank = 0; bank < banks; ++bank) {
    const int count = words_in_bank(addresses, lanes, bytes, bank);
    if (count > most) most = count;
  }
  return most;
}

}  // namespace tcq::shared
