// Buffered reading of lines; see line_reader.h.
#include "oracle/answer/line_reader.h"

#include <unistd.h>

#include <cerrno>

namespace tcq::oracle {
namespace {
constexpr std::size_t chunk_bytes = std::size_t{64} * 1024;
}

bool LineReader::fill() {
  if (at_end_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  before_waiting_();
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + chunk_bytes);
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, buffer_.data() + old_size, chunk_bytes);
  } while (count < 0 && errno == EINTR);
  failed_ = count < 0;
  at_end_ = count <= 0;
  buffer_.resize(old_size + static_cast<std::size_t>(at_end_ ? 0 : count));
  return !at_end_;
}

bool LineReader::next(std::string_view& line) {
  dropped_ = 0;
  std::size_t searched = 0;  // bytes after begin_ without a newline
  while (true) {
    const std::size_t newline = buffer_.find('\n', begin_ + searched);
    const bool found = newline != std::string::npos;
    std::size_t size = (found ? newline : buffer_.size()) - begin_;
    searched = size;
    const std::size_t begin = begin_;
    if (!found && size > longest_line) {
      dropped_ += size;
      begin_ += size;
      searched = 0;
    } else if (found || (at_end_ && size + dropped_ > 0)) {
      begin_ += size + (found ? 1 : 0);
      if (size > longest_line || dropped_ > 0) {
        dropped_ += size;
        size = 0;
      }
      line = std::string_view(buffer_).substr(begin, size);
      if (line.ends_with('\r')) line.remove_suffix(1);
      return true;
    } else if (at_end_) {
      return false;
    }
    if (!found) fill();
  }
}

}  // namespace tcq::oracle
