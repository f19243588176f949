// Operands to copy to where TMA can address them: where their lines lie, and whether a copy is right.
// Copied on the CPU by realign_test.cc, on a GPU by live_realign_test.cc.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/gemm/realign.h"
#include "sim/num/inputs/draw.h"

namespace tcq {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint8_t poison = 0xa5;

inline Bytes random_bytes(std::int64_t count, Draw& draw) {
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draw.below(256));
  return bytes;
}

// Where the lines are, in bytes; the target's pitch follows.
struct Lines {
  std::int64_t lead = 0;  // of the first one behind a multiple of 16
  std::int64_t bytes = 0;
  std::int64_t gap = 0;
  std::int64_t lines = 1;
  std::int64_t matrices = 1;

  std::int64_t pitch() const { return bytes + gap; }
  std::int64_t batch() const { return lines * pitch() + 3; }
  std::int64_t end() const {
    return lead + (matrices - 1) * batch() + (lines - 1) * pitch() + bytes;
  }
  std::int64_t whole_units() const { return (bytes + 15) / 16 * 16; }
  std::int64_t target_pitch() const { return (bytes + 127) / 128 * 128; }
  std::int64_t target_bytes() const { return matrices * lines * target_pitch(); }
};

inline gemm::RealignJob job_of(const Lines& where, const std::uint8_t* source,
                               std::uint8_t* target) {
  return {.source = source + where.lead,
          .target = target,
          .line_bytes = where.bytes,
          .lines = where.lines,
          .matrices = where.matrices,
          .source_pitch = where.pitch(),
          .source_batch = where.batch(),
          .target_pitch = where.target_pitch(),
          .target_batch = where.lines * where.target_pitch()};
}

// Lines are copied, and behind their last units of 16 bytes the poison is left.
inline bool is_copied(const Lines& where, const Bytes& source, const Bytes& target) {
  for (std::int64_t i = 0; i < where.matrices * where.lines; ++i) {
    const std::int64_t from =
        where.lead + i / where.lines * where.batch() + i % where.lines * where.pitch();
    const std::uint8_t* line = &target[static_cast<std::size_t>(i * where.target_pitch())];
    if (std::memcmp(line, &source[static_cast<std::size_t>(from)],
                    static_cast<std::size_t>(where.bytes)) != 0)
      return false;
    for (std::int64_t j = where.whole_units(); j < where.target_pitch(); ++j)
      if (line[j] != poison) return false;
  }
  return true;
}

// Every lead, with lines shorter and longer than a few units, and gaps of some kinds.
inline std::vector<Lines> small_lines() {
  std::vector<Lines> all;
  for (std::int64_t lead = 0; lead < 16; ++lead)
    for (const std::int64_t bytes : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 47, 64, 65, 130})
      for (const std::int64_t gap : {0, 1, 4, 21})
        for (const auto& [lines, matrices] :
             {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 1}, {9, 3}, {1, 5}})
          all.push_back({lead, bytes, gap, lines, matrices});
  return all;
}

}  // namespace tcq
