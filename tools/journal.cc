#include "tools/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "oracle/answer/answer.h"
#include "oracle/recording/container.h"
#include "oracle/recording/files.h"

namespace tcq::tools {
namespace {

constexpr std::string_view magic = "tcq journal 1\n";

struct EntryHead {
  std::uint64_t size;
  std::uint64_t hash;
};

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::string first_lines(const std::string& run) { return std::string(magic) + run + "\n\n"; }

// The first line in which two runs differ, as a sentence.
std::string difference(std::string_view found, std::string_view wanted) {
  const auto line = [](std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
  };
  while (!found.empty() || !wanted.empty()) {
    const std::string_view there = line(found), here = line(wanted);
    if (there != here) return fmt::format("'{}' instead of '{}'", there, here);
  }
  return "";
}

// The whole entries of `bytes`, and where the last of them ends.
std::size_t read_entries(std::string_view bytes, std::size_t at,
                         std::vector<std::string>& entries) {
  EntryHead head;
  while (bytes.size() - at >= sizeof head) {
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (bytes.size() - at - sizeof head < head.size) break;
    const std::string_view entry = bytes.substr(at + sizeof head, head.size);
    if (oracle::fnv1a64(entry) != head.hash) break;
    entries.emplace_back(entry);
    at += sizeof head + entry.size();
  }
  return at;
}

std::size_t demand_run(const std::string& path, std::string_view bytes, const std::string& run) {
  const std::size_t end = bytes.find("\n\n");
  if (!bytes.starts_with(magic) || end == std::string_view::npos)
    throw oracle::UsageError(fmt::format("{} is no journal", path));
  const std::string_view found = bytes.substr(magic.size(), end - magic.size());
  if (found != run)
    throw oracle::UsageError(fmt::format("{} belongs to another run ({}); --restart throws it away",
                                         path, difference(found, run)));
  return end + 2;
}

}  // namespace

void sync_folder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY);
  if (folder < 0) return;
  (void)fsync(folder);  // not every file system can
  (void)close(folder);
}

Journal::Journal(const std::string& path, const std::string& run, std::vector<std::string>& entries)
    : path_(path) {
  if (!std::filesystem::exists(path)) {
    oracle::write_file(path, first_lines(run));  // whole or not at all
    sync_folder(path);
  }
  std::stringstream text;
  if (!(text << std::ifstream(path, std::ios::binary).rdbuf())) fail(path, "cannot be read");
  const std::string bytes = text.str();
  const std::size_t end = read_entries(bytes, demand_run(path, bytes, run), entries);
  file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) fail(path, "cannot be opened");
  if (ftruncate(file_, static_cast<off_t>(end)) != 0) fail(path, "cannot be cut");
}

Journal::~Journal() {
  if (file_ >= 0) (void)close(file_);
}

void Journal::append(std::string_view entry) {
  const EntryHead head{entry.size(), oracle::fnv1a64(entry)};
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += entry;
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = write(file_, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(path_, "cannot be written");
    at += static_cast<std::size_t>(count);
  }
  if (fdatasync(file_) != 0) fail(path_, "cannot be written");
}

void Journal::remove() {
  std::filesystem::remove(path_);
  sync_folder(path_);
}

}  // namespace tcq::tools
