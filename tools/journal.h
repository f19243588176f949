// A file that grows by one entry at a time and survives being cut anywhere.
//
// An entry is on the disk when append() returns. Opening a journal gives back every whole entry; a
// tail that is not whole, as a crash leaves it, is cut off. What an entry means is the caller's. The
// first lines say what run the journal belongs to: one of another run is refused, never mixed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tcq::tools {

class Journal {
 public:
  // Makes the file, or opens it and fills `entries`. `run` is text without an empty line. Throws
  // oracle::UsageError if the file is the journal of another run or none at all, and
  // std::runtime_error if it cannot be written.
  Journal(const std::string& path, const std::string& run, std::vector<std::string>& entries);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  void append(std::string_view entry);
  // Its work is done: the file goes.
  void remove();

 private:
  std::string path_;
  int file_ = -1;
};

// Makes names that were made, renamed or removed in the folder of `path` last.
void sync_folder(const std::string& path);

}  // namespace tcq::tools
