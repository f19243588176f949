// Sweeps: the arithmetic of sim/num runs as device code beside the real instruction, output by
// output.
//
// A tile is one wgmma m64n64 on operands drawn by sim/num/inputs/mixture.h; the kernel computes what every
// output must be, executes the instruction, and counts the bits that differ. Nothing leaves the GPU
// but counts and the first mismatch. Who runs which tiles is tools/sweep.cc.
//
// Host code; failures are std::runtime_error.
#pragma once

#include <array>
#include <cstdint>

#include "sim/isa/wgmma/shape.h"
#include "sim/num/inputs/mixture.h"

namespace tcq::cuda {

// Every combination of types, dense and sparse, each with A in shared memory and in registers.
int sweep_form_count();
wgmma::Form sweep_form(int index);

struct SweepMismatch {
  std::uint64_t tile;
  int row;
  int col;
  std::uint32_t got;   // the device
  std::uint32_t want;  // the model
};

struct SweepCounts {
  std::array<std::uint64_t, mixture_class_count> outputs{};
  std::array<std::uint64_t, mixture_class_count> differing_bits{};
  bool has_mismatch = false;
  SweepMismatch first{};  // of some tile, not necessarily the lowest
};

// Tiles [first_tile, first_tile + tiles) of one form. The same seed and tile always draw the same
// operands, whatever the chunking.
SweepCounts run_sweep(int form_index, std::uint64_t seed, std::uint64_t first_tile,
                      std::uint32_t tiles);

}  // namespace tcq::cuda
