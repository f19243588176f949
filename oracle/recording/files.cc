#include "oracle/recording/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "oracle/answer/pending_file.h"
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
  try {
    PendingFile file(path, bytes.size());
    file.write(bytes);
    file.commit();
  } catch (const FileError& error) {
    throw BadFile(error.what());
  }
}

}  // namespace tcq::oracle
