// What is too much for every change: with TCQ_DRAW a share of it, another one for each value; without, all.
//
// Example: deleted_synchronisation.h.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tcq::tests {

inline const char* draw_seed() {
  const char* text = std::getenv("TCQ_DRAW");
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// For what a test prints.
inline std::string drawn_by() {
  return draw_seed() == nullptr ? "" : std::string(", drawn by TCQ_DRAW=") + draw_seed();
}

// One of `share`, by the hash (FNV-1a, its high half) of the seed and `name`.
inline bool is_drawn(const std::string& name, unsigned share) {
  if (draw_seed() == nullptr) return true;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : draw_seed() + (" " + name))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (hash >> 32) % share == 0;
}

}  // namespace tcq::tests
