// What accesses by the lanes of a warp share, each of which has an address of its own: whether their bytes exist, who
// touched them, where they are. For the instructions of lanes.h and cp_async.h.
#pragma once

#include <cstdint>

#include "sim/async/instructions/lanes.h"
#include "sim/async/step.h"

namespace tcq::machine {

// The CTA whose shared memory they are addresses of.
int target_cta(const Step& s, const LaneAddresses& where);

// Touch::object of the aligned word of 8 bytes in which the lane's bytes begin.
std::uint64_t word_object(const Standing& at, const LaneAddresses& where, int lane);

// Lane l is at base + l * bytes, modulo 2^32 where that is no lane's place. Known of two lanes or more.
struct LaneStride {
  bool is_known = false;
  std::uint32_t base = 0;
  std::int64_t bytes = 0;
};
LaneStride stride_of(const LaneAddresses& where, std::uint32_t lanes);

// Of the step's lanes, or those that are described: their stride_of().
// A Fault of the first lane whose bytes do not exist, or whose address is no multiple of `alignment`; 0: of their number. What the
// system keeps of a peer's shared memory does not exist.
bool bytes_exist(Step& s, const LaneAddresses& where, const LaneStride& stride, int alignment = 0);

// Which lane has which byte: a stride from lane to lane, or offsets of their own, which the log keeps.
void describe(AccessLog& log, Access& access, const LaneAddresses& where, const LaneStride& stride,
              std::uint32_t lanes);

// False if it is a Fault.
bool record_lanes(Step& s, const LaneAddresses& where, const LaneStride& stride, AccessId id);

// The memory that the lanes reach, of the CTA `own` if their addresses name none: looked up once.
class LaneMemory {
 public:
  LaneMemory(ClusterState& c, int own, const LaneAddresses& where);
  std::uint8_t* at(int lane) const {
    return data_ + (where_.at[static_cast<std::size_t>(lane)] - base_);
  }

 private:
  const LaneAddresses& where_;
  std::uint8_t* data_ = nullptr;
  std::uint32_t base_ = 0;
};

}  // namespace tcq::machine
