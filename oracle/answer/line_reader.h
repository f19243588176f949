// Lines of a file descriptor with bounded memory: long lines are counted and dropped, never stored.
//
// Bytes are bytes (NULs included); "\n" and "\r\n" end a line, and the last line needs no end.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tcq::oracle {

class LineReader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1024} * 1024;

  // `before_waiting` runs before every read that might block: the place to flush answers.
  LineReader(int descriptor, std::function<void()> before_waiting)
      : descriptor_(descriptor), before_waiting_(std::move(before_waiting)) {}

  // False at the end of the input. The line is valid until the next call.
  bool next(std::string_view& line);
  // Characters of the last line if it was longer than longest_line (it is empty then), else 0.
  std::size_t too_long() const { return dropped_; }
  bool failed() const { return failed_; }

 private:
  bool fill();

  int descriptor_;
  std::function<void()> before_waiting_;
  std::string buffer_;  // unread bytes start at begin_
  std::size_t begin_ = 0;
  std::size_t dropped_ = 0;
  bool at_end_ = false;
  bool failed_ = false;
};

}  // namespace tcq::oracle
