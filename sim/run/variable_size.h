// How many bytes a variable of PTX takes, and where it may begin.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/ptx/program.h"

namespace tcq::run {

inline std::uint64_t bytes_of(const ptx::Variable& v) {
  const auto bits = static_cast<std::uint64_t>(ptx::bits(v.type));
  return v.elements * v.vector * std::max<std::uint64_t>(1, bits / 8);
}
inline std::uint64_t alignment_of(const ptx::Variable& v) {
  if (v.align != 0) return v.align;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ptx::bits(v.type)) / 8 * v.vector);
}

}  // namespace tcq::run
