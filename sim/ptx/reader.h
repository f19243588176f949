// A PTX text as a Unit: the first of the two steps from text to instructions.
//
// Decides what a module, a function and a statement are made of, and how reading goes on behind what is
// wrong: at the next statement. What names mean is decode.h. Begin with syntax.h.
//
// Source: PTX ISA 9.2, 4 and 11
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/ptx/syntax.h"

namespace tcq::ptx {

inline constexpr std::size_t most_diagnostics = 100;

struct ReadOptions {
  // Statements may stand outside of functions and end with their line: a stream that people type. What
  // cannot be understood stays as a Malformed statement. Decoded, what it does not declare is made up: see loose.h.
  bool loose = false;
  // After so many complaints the rest is not read.
  std::size_t most_diagnostics = ptx::most_diagnostics;
};

// { } inside one another.
inline constexpr std::size_t deepest_scope = 256;

// Requires: the text outlives the Unit.
Unit read(std::string_view text, const ReadOptions& options = {});
Unit read(std::string&& text, const ReadOptions& options = {}) = delete;

}  // namespace tcq::ptx
