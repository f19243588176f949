// What one thread of the copying kernel does, on any memory.
//
// A line is cut into units of 16 bytes. A thread copies a few, each from the two aligned words that
// hold it, shifted into place: two loads and a store of 16 bytes for a unit. Units whose words reach
// outside the operand are copied byte by byte. A block's threads take units in turn. The kernel is
// cuda/gemm/realign.cu; tests/gemm/realign_test.cc runs the same threads on the CPU, one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "cuda/gemm/check.h"
#include "cuda/gemm/realign.h"
#include "cuda/gemm/unaligned.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"

namespace tcq::gemm::realign {

inline constexpr int threads = 256;
inline constexpr int units_at_once = 4;  // of a thread
inline constexpr int block_units = threads * units_at_once;
inline constexpr int unit_bytes = sizeof(uint4);

struct Task {
  RealignJob job;
  const std::uint8_t* source_end = nullptr;
  std::uint32_t lines = 1;  // of a matrix
  std::uint32_t units = 1;  // of a line
  int last_bytes = 0;       // of a line's last unit
  std::int64_t blocks = 0;
};

// INT32_MAX blocks are more than the units of any memory.
inline Task task_of(const RealignJob& job) {
  Task task{.job = job};
  const std::int64_t units = round_up_quotient(job.line_bytes, unit_bytes);
  std::int64_t total = 0;
  const bool overflows = __builtin_mul_overflow(units * job.lines, job.matrices, &total);
  task.source_end = job.source + (job.matrices - 1) * job.source_batch +
                    (job.lines - 1) * job.source_pitch + job.line_bytes;
  task.lines = static_cast<std::uint32_t>(job.lines);
  task.units = static_cast<std::uint32_t>(units);
  task.last_bytes = static_cast<int>(job.line_bytes - (units - 1) * unit_bytes);
  task.blocks =
      overflows ? INT32_MAX : std::min<std::int64_t>((total - 1) / block_units + 1, INT32_MAX);
  return task;
}

struct UnitAt {
  std::int64_t matrix;
  std::uint32_t line;
  std::uint32_t unit;
};

// `units` ahead, in the order of units, lines, matrices.
HOST_DEVICE inline UnitAt ahead(const Task& task, UnitAt at, std::uint32_t units) {
  at.unit += units;
  if (at.unit >= task.units) {
    at.line += at.unit / task.units;
    at.unit %= task.units;
  }
  if (at.line >= task.lines) {
    at.matrix += at.line / task.lines;
    at.line %= task.lines;
  }
  return at;
}

HOST_DEVICE inline UnitAt first_of(const Task& task, std::int64_t block) {
  const std::int64_t units = block * block_units;
  const std::int64_t lines = units / task.units;
  const std::int64_t matrices = lines / task.lines;
  return {matrices, static_cast<std::uint32_t>(lines - matrices * task.lines),
          static_cast<std::uint32_t>(units - lines * task.units)};
}

// All loads of a thread are on their way before its first store. `Memory` loads and stores aligned words, copies bytes, and shifts
// (unaligned.h).
template <class Memory>
HOST_DEVICE inline void copy_units(const Task& task, std::int64_t block, std::uint32_t thread) {
  const RealignJob& job = task.job;
  UnitAt at = ahead(task, first_of(task, block), thread);
  Unaligned loaded[units_at_once];
  std::uint8_t* targets[units_at_once];
  for (int i = 0; i < units_at_once; ++i) {
    if (i > 0) at = ahead(task, at, threads);
    targets[i] = nullptr;
    if (at.matrix >= job.matrices) continue;
    const std::int64_t in_line = std::int64_t{at.unit} * unit_bytes;
    const std::uint8_t* from =
        job.source + at.matrix * job.source_batch + at.line * job.source_pitch + in_line;
    std::uint8_t* to =
        job.target + at.matrix * job.target_batch + at.line * job.target_pitch + in_line;
    const int bytes = at.unit + 1 == task.units ? task.last_bytes : unit_bytes;
    const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) % unit_bytes);
    const int span = lead + bytes > unit_bytes ? 2 * unit_bytes : unit_bytes;
    const std::uint8_t* word = from - lead;
    if (word >= job.source && word + span <= task.source_end) {
      loaded[i] = {Memory::load(word),
                   span > unit_bytes ? Memory::load(word + unit_bytes) : uint4{}, lead};
      targets[i] = to;
    } else {
      Memory::copy(to, from, bytes);
    }
  }
  for (int i = 0; i < units_at_once; ++i)
    if (targets[i] != nullptr) Memory::store(targets[i], shifted<Memory>(loaded[i]));
}

}  // namespace tcq::gemm::realign
