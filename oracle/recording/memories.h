// Shared memory, global memory and registers as an experiment of Hopper's copies finds them.
//
// Every byte is a pure function of Inputs, and of the type of the elements where floats are drawn.
// Example: with MemoryContent::SpecialWords the first 32 words of either memory are NaN, subnormals and
// rounding ties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/case.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/machine/matrix.h"
#include "sim/machine/shared_memory.h"

namespace tcq::oracle {

struct Memories {
  SharedMemory shared;
  std::vector<std::uint8_t> global;
  matrix::WarpRegisters registers{};
  std::vector<std::uint64_t> sequence;  // steps as numbers; empty for one instruction
};

// `type` is that of a reduction's elements.
Memories draw_memories(const Inputs& inputs, tma::DataType type = tma::DataType::UInt8);
std::uint64_t hash_inputs(const Memories& memories);

std::vector<std::uint8_t> bytes_of(const SharedMemory& shared);
// The shared memories of a cluster, one after the other.
std::vector<std::uint8_t> bytes_of(const std::vector<SharedMemory>& cluster);

// "CTA 0 shared address 0x410", for an output that is the images of all CTAs.
std::string shared_place(const Inputs& inputs, std::size_t at);
std::string global_place(std::size_t at);

}  // namespace tcq::oracle
