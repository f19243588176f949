// Plain system calls: standard streams can neither take room in advance nor reach the disk.
#include "oracle/answer/pending_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "oracle/answer/words.h"

namespace tcq::oracle {

PendingFile::PendingFile(std::string path, std::size_t bytes)
    : path_(std::move(path)), temporary_(path_ + ".partial") {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path_, unknown);
  // The rename would replace a device or a pipe by a file.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw FileError(fmt::format("{}: cannot be written: it is no regular file", shown_path(path_)));
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is a write error, as a full disk is
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be written", errno);
  const int code = bytes == 0 ? 0 : posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
  if (code != 0 && code != EOPNOTSUPP && code != EINVAL) fail("no room for it", code);
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PendingFile::~PendingFile() { drop(); }

void PendingFile::write(std::span<const char> bytes) {
  while (!bytes.empty()) {
    constexpr std::size_t most = std::size_t{1} << 30;
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("write error", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void PendingFile::commit() {
  const off_t end = lseek(descriptor_, 0, SEEK_CUR);
  if (ftruncate(descriptor_, end) != 0 || fsync(descriptor_) != 0) fail("write error", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed into place", errno);
  close(std::exchange(descriptor_, -1));  // everything is on the disk
}

void PendingFile::fail(std::string_view what, int code) {
  drop();
  throw FileError(fmt::format("{}: {}: {}", shown_path(path_), what, std::strerror(code)));
}

void PendingFile::drop() noexcept {
  if (descriptor_ < 0) return;
  close(std::exchange(descriptor_, -1));
  unlink(temporary_.c_str());
}

}  // namespace tcq::oracle
