// Where something stands in a PTX text, and what is said about it there.
//
// Everything that was read remembers its offset; lines and columns are found when somebody asks. Example:
// in "a;\n  b;" the b at offset 5 is at line 2, column 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::ptx {

using Offset = std::uint32_t;

// Longer texts are refused: offsets are 32 bits, and no kernel is near it.
inline constexpr std::size_t longest_text = std::size_t{1} << 30;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Both count from 1; columns are bytes.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

class LineTable {
 public:
  LineTable() = default;
  explicit LineTable(std::string_view text);

  Position at(Offset offset) const;

 private:
  std::vector<Offset> begins_;
};

struct Diagnostic {
  Position at;
  std::string message;
};

// "line 3, column 7: expected ';', got 'mov'".
std::string sentence(const Diagnostic& diagnostic);

}  // namespace tcq::ptx
