// Operands to copy to where TMA can address them: where their lines lie, and whether a copy is right.
// Copied on the CPU by realign_test.cc and turn_test.cc, on a GPU by live_realign_test.cc.
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

// The same turned, whose elements are of `element` bytes: lines are the source's columns.
struct TurnedLines {
  Lines source;
  int element = 1;

  std::int64_t lines() const { return source.bytes / element; }
  std::int64_t bytes() const { return source.lines * element; }
  std::int64_t whole_units() const { return (bytes() + 15) / 16 * 16; }
  std::int64_t pitch() const { return (bytes() + 127) / 128 * 128; }
  std::int64_t target_bytes() const { return source.matrices * lines() * pitch(); }
};

inline gemm::RealignJob job_of(const TurnedLines& where, const std::uint8_t* source,
                               std::uint8_t* target) {
  gemm::RealignJob job = job_of(where.source, source, target);
  job.target_pitch = where.pitch();
  job.target_batch = where.lines() * where.pitch();
  job.turned_bytes = where.element;
  return job;
}

// Elements are where they belong; behind a line's last one zeros fill up the unit, and behind that is poison.
inline bool is_turned(const TurnedLines& where, const Bytes& source, const Bytes& target) {
  Bytes want(static_cast<std::size_t>(where.target_bytes()), poison);
  const auto element = static_cast<std::size_t>(where.element);
  for (std::int64_t i = 0; i < where.source.matrices * where.lines(); ++i) {
    std::uint8_t* line = &want[static_cast<std::size_t>(i * where.pitch())];
    std::memset(line, 0, static_cast<std::size_t>(where.whole_units()));
    const std::int64_t first = where.source.lead + i / where.lines() * where.source.batch() +
                               i % where.lines() * where.element;
    for (std::int64_t k = 0; k < where.source.lines; ++k)
      std::memcpy(line + k * where.element,
                  &source[static_cast<std::size_t>(first + k * where.source.pitch())], element);
  }
  return want == target;
}

// Whole tiles, parts of them, and of units, in lines that begin with a unit and that do not.
inline std::vector<TurnedLines> turned_lines() {
  std::vector<TurnedLines> all;
  for (const int element : {1, 2, 4})
    for (const std::int64_t elements : {1, 3, 4, 16, 31, 32, 33, 128, 129, 300})
      for (const std::int64_t lines : {1, 3, 16, 17, 32, 64, 127, 128, 130, 257})
        for (const auto& [lead, gap] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                        {4, 12},
                                        {0, 16 - elements * element % 16}})
          all.push_back({{lead, elements * element, gap, lines, 1 + lines % 2 * 2}, element});
  return all;
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
