// How often a test repeats what it draws. Sanitizers look at each access, whatever its number, and make a test ten
// times as slow: under them it draws a tenth, and what is said about rates is left to the release build.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tcq::tests {

#ifdef TCQ_SANITIZE
inline constexpr int effort_share = 10;
#else
inline constexpr int effort_share = 1;
#endif
inline constexpr bool sanitized = effort_share > 1;

constexpr int effort(int count) { return (count + effort_share - 1) / effort_share; }

// TCQ_PROBLEMS, TCQ_SEED: how much is drawn, and what, where somebody says so.
inline std::uint64_t number_or(const char* variable, std::uint64_t usual) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace tcq::tests
