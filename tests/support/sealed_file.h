// Recordings as a test writes them, with checksums of its own: whatever is wrong with such a file,
// it is not that it is damaged. The format: oracle/recording/container.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tcq {

inline std::string checksum_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

// `head` is the first line and whole header lines, "# " included; those of the payload are added.
inline std::string sealed(const std::string& head, std::string_view payload, std::size_t cases) {
  const std::string prefix = head.starts_with("# ") ? "# " : "";
  const std::size_t first_end = head.find('\n') + 1;
  std::vector<std::string> lines = {"cases: " + std::to_string(cases),
                                    "payload_bytes: " + std::to_string(payload.size()),
                                    "payload_fnv1a64: " + checksum_of(payload)};
  std::istringstream rest(head.substr(first_end));
  for (std::string line; std::getline(rest, line);) lines.push_back(line.substr(prefix.size()));
  std::sort(lines.begin(), lines.end());
  std::string header = head.substr(0, first_end);
  for (const std::string& line : lines) header += prefix + line + "\n";
  header += prefix + "header_fnv1a64: " + checksum_of(header) + "\n";
  return header + (prefix.empty() ? "\n" : "") + std::string(payload);
}

}  // namespace tcq
