// A file that appears under its name whole or not at all.
//
// The bytes go into NAME.partial beside it, whose room is taken when the object is made: a full disk is
// known before anything is computed. commit() renames it into place; without it the destructor removes it.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tcq::oracle {

// "PATH: what went wrong", as a terminal may see it.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PendingFile {
 public:
  // Throws FileError: no folder, no permission, no room, or something there that is no regular file.
  PendingFile(std::string path, std::size_t bytes);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  // The next bytes. Throws FileError.
  void write(std::span<const char> bytes);
  // Throws FileError; the name is then what it was.
  void commit();

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(std::string_view what, int code);
  void drop() noexcept;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace tcq::oracle
