// The seed of tests that draw anew with every run: TCQ_SEED, or the clock's choice.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tcq {

// Decimal or 0x hexadecimal. Throws std::runtime_error for anything else.
inline std::uint64_t parse_seed(std::string_view text) {
  const bool hex = text.starts_with("0x");
  const std::string_view digits = text.substr(hex ? 2 : 0);
  std::uint64_t seed = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, seed, hex ? 16 : 10);
  if (error != std::errc() || at != end)
    throw std::runtime_error("TCQ_SEED is '" + std::string(text) +
                             "': expected a decimal or 0x hexadecimal number of 64 bits");
  return seed;
}

// The same for the whole process.
inline std::uint64_t chosen_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("TCQ_SEED");
    if (text != nullptr) return parse_seed(text);
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }();
  return seed;
}

}  // namespace tcq
