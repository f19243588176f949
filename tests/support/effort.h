// How often a test repeats what it draws. Sanitizers look at each access, whatever its number, and make a test ten
// times as slow: under them it draws a tenth, and what is said about rates is left to the release build.
#pragma once

namespace tcq::tests {

#ifdef TCQ_SANITIZE
inline constexpr int effort_share = 10;
#else
inline constexpr int effort_share = 1;
#endif
inline constexpr bool sanitized = effort_share > 1;

constexpr int effort(int count) { return (count + effort_share - 1) / effort_share; }

}  // namespace tcq::tests
