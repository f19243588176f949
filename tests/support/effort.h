// How often a test repeats what it draws. Sanitizers look at each access, whatever its number, and make a test ten
// times as slow: under them it draws a tenth, and what is said about rates is left to the release build.
#pragma once

namespace tcq::tests {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

constexpr int effort(int count) { return sanitized ? (count + 9) / 10 : count; }

}  // namespace tcq::tests
