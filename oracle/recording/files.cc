#include "oracle/recording/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "oracle/answer/words.h"
#include "oracle/recording/container.h"

namespace tcq::oracle {

std::string read_file(const std::string& path) {
  const std::string shown = shown_path(path);
  constexpr std::uintmax_t limit = 256 << 20;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw BadFile(fmt::format("{}: is a directory", shown));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) throw BadFile(fmt::format("{}: {}", shown, std::strerror(errno)));
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get());
    bytes.append(buffer, count);
    if (bytes.size() > limit) throw BadFile(fmt::format("{}: larger than any recording", shown));
    if (count < sizeof buffer) break;
  }
  if (std::ferror(file.get()) != 0) throw BadFile(fmt::format("{}: read error", shown));
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string shown = shown_path(path);
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  // The rename would replace a device or a pipe by a file.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw BadFile(fmt::format("{}: cannot be written: it is no regular file", shown));
  const std::string temporary = path + ".partial";
  const auto fail = [&](const char* what) {
    const int code = errno;
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw BadFile(fmt::format("{}: {}: {}", shown, what, std::strerror(code)));
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail("cannot be written");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  if (std::fclose(file) != 0 || !written) fail("write error");
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    errno = error.value();
    fail("cannot be renamed into place");
  }
}

}  // namespace tcq::oracle
