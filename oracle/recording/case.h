// What every experiment on a device has in common: what it draws its inputs from, how it ends, what
// came back, and what the simulator says must come back.
//
// An experiment is one instruction, or one short sequence, on state that is a pure function of its
// members and of Inputs; only a hash of that state is stored. What it returns is bytes. Which
// experiments there are: experiment.h; files and their comparison: recording.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/isa/fault/fault.h"

namespace tcq::oracle {

// What fills memory, of experiments with memories.h.
enum class MemoryContent : std::uint8_t {
  Random,
  SpecialWords,  // NaN, subnormals, rounding ties
  FloatPairs,    // special_float() of the reduction's type, every value meets every other
  FloatDraws,    // DrawnPair of that type
  Operands,      // of wgmmas in groups
};
inline constexpr int content_count = 5;

struct Inputs {
  std::uint64_t seed = 0;
  std::uint32_t shared_bytes = 0;  // unused by tcgen05, whose memories have one size
  std::uint32_t global_bytes = 0;
  MemoryContent content = MemoryContent::Random;
};

// How a case ended. All but the last two are the device's answer.
enum class Outcome : std::uint8_t {
  Completed,
  Timeout,      // the mbarrier's phase did not complete
  Trap,         // the instruction raised `error`; no output, here and below
  Refused,      // the driver did not encode the tensor map
  Leak,         // Tensor Memory was still allocated at the end: cudaErrorTensorMemoryLeak
  Hang,         // the kernel did not end within the recorder's limit
  ProbeFailed,  // the recorder's own kernel, the driver or the context
  NotRun,
};
inline constexpr int outcome_count = 8;

constexpr bool is_answer(Outcome outcome) {
  return outcome != Outcome::ProbeFailed && outcome != Outcome::NotRun;
}

// "trapped", "hung", ...
const char* name(Outcome outcome);

struct Returned {
  std::uint64_t input_hash = 0;
  Outcome outcome = Outcome::Completed;
  std::uint32_t error = 0;            // of a trap: CUDA's number, the same in runtime and driver
  std::vector<std::uint8_t> output;   // empty if the file holds hashes only
  std::vector<std::uint64_t> hashes;  // one per KiB of the output
};
inline constexpr std::size_t block_bytes = 1024;

std::vector<std::uint64_t> hash_blocks(const std::vector<std::uint8_t>& output);

// What the simulator makes of a case. Most faults stop the device: Trap, which stands for Refused
// as well, and no output. A few have an outcome that was learned from recordings.
struct Prediction {
  Fault fault = Fault::None;
  std::vector<std::uint8_t> output = {};
  std::optional<Outcome> outcome = Outcome::Completed;  // empty: whatever the device does is right
  std::vector<std::uint8_t> known = {};  // bits of the output that the model decides; empty: all
  std::string unmodelled = {};           // why there is no prediction; "" if there is one
};

// Of a case, in words: what differing cases have in common is told by them.
using Properties = std::vector<std::string>;

// That of a fault for which nothing else was learned.
inline Prediction trap(Fault fault) { return {fault, {}, Outcome::Trap}; }

}  // namespace tcq::oracle
