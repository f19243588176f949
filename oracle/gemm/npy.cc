// The header's literal is read by a small scanner, the file in pieces, so that a header's lie about its
// shape costs no memory.
#include "oracle/gemm/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

#include "oracle/answer/answer.h"
#include "oracle/answer/words.h"

namespace tcq::oracle::npy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t version_bytes = 2;
constexpr std::size_t prefix_bytes = magic.size() + version_bytes;
constexpr std::size_t alignment = 64;
constexpr std::size_t longest_header = 65536;
constexpr std::size_t most_dimensions = 5;  // of a tensor map

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw UsageError(fmt::format("{}: {}", shown_path(name), what));
}

// What is wrong with a file that is not named yet.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A Python literal, from left to right. Throws Damage.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool takes(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!takes(token)) fail(fmt::format("'{}'", token));
  }
  std::string string() {
    const char quote = takes("'") ? '\'' : '"';
    if (quote == '"') expect("\"");
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the end of a string");
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(word);
  }
  bool boolean() {
    if (takes("True")) return true;
    if (!takes("False")) fail("True or False");
    return false;
  }
  std::int64_t size() {
    skip_blanks();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) throw Damage("its shape is too large");
    if (error != std::errc() || value < 0) fail("a size");
    at_ += static_cast<std::size_t>(end - begin);
    takes("L");  // Python 2 wrote long integers so
    return value;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  [[noreturn]] void fail(std::string_view expected) const {
    throw Damage(fmt::format("its header is damaged at character {}: expected {}", at_, expected));
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::int64_t> scan_shape(Scanner& in) {
  std::vector<std::int64_t> shape;
  in.expect("(");
  while (!in.takes(")")) {
    shape.push_back(in.size());
    if (in.takes(",")) continue;
    in.expect(")");
    break;
  }
  return shape;
}

Header scan_header(std::string_view text) {
  Scanner in(text);
  Header header;
  std::vector<std::string> seen;
  in.expect("{");
  while (!in.takes("}")) {
    const std::string key = in.string();
    if (std::ranges::find(seen, key) != seen.end())
      throw Damage(fmt::format("its header has the key {} twice", oracle::quoted(key)));
    seen.push_back(key);
    in.expect(":");
    if (key == "descr") {
      if (in.takes("[")) throw Damage("its elements are records: expected plain numbers");
      header.dtype = in.string();
    } else if (key == "fortran_order") {
      header.fortran_order = in.boolean();
    } else if (key == "shape") {
      header.shape = scan_shape(in);
    } else {
      throw Damage(fmt::format("its header has a key {}: expected descr, fortran_order and shape",
                               oracle::quoted(key)));
    }
    if (in.takes(",")) continue;
    in.expect("}");
    break;
  }
  if (seen.size() != 3)
    throw Damage("its header lacks a key: expected descr, fortran_order and shape");
  if (!in.at_end()) in.fail("its end");
  return header;
}

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value * 256 + byte_at(bytes, i);
  return value;
}

// Width of the header's length, which the version decides.
std::size_t length_bytes(std::string_view bytes) {
  if (bytes.size() < prefix_bytes || !bytes.starts_with(magic))
    throw Damage(bytes.empty() ? "is empty: expected a .npy file"
                               : "is no .npy file: it does not begin with \\x93NUMPY");
  const std::uint32_t major = byte_at(bytes, magic.size());
  const std::uint32_t minor = byte_at(bytes, magic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw Damage(fmt::format("is .npy of version {}.{}: expected 1.0, 2.0 or 3.0", major, minor));
  return major == 1 ? 2 : 4;
}

// Fills in the header and where elements begin, from the file's first bytes.
void read_front(Array& array) {
  const std::string_view bytes = array.bytes;
  const std::size_t width = length_bytes(bytes);
  const std::size_t begin = prefix_bytes + width;
  if (bytes.size() < begin) throw Damage("is truncated: it ends within its header");
  const std::size_t length = little_endian(bytes.substr(prefix_bytes, width));
  if (length > longest_header)
    throw Damage(fmt::format("its header of {} bytes is longer than any: expected at most {}",
                             length, longest_header));
  if (bytes.size() < begin + length) throw Damage("is truncated: it ends within its header");
  array.header = scan_header(bytes.substr(begin, length));
  array.first = begin + length;
}

std::size_t data_bytes(const Header& header) {
  if (header.shape.empty() || header.shape.size() > most_dimensions)
    throw Damage(
        fmt::format("has {} dimensions: expected 1 to {}", header.shape.size(), most_dimensions));
  std::int64_t bytes = static_cast<std::int64_t>(item_bytes(header.dtype));
  if (bytes == 0)
    throw Damage(
        fmt::format("its dtype {} is no number of a fixed width", oracle::quoted(header.dtype)));
  bool overflows = false;
  for (const std::int64_t size : header.shape)
    overflows = __builtin_mul_overflow(bytes, size, &bytes) || overflows;
  if (overflows)
    throw Damage(fmt::format("its shape ({}) overflows 2^63 bytes", fmt::join(header.shape, ", ")));
  return static_cast<std::size_t>(bytes);
}

void check_size(std::size_t there, std::size_t needed) {
  if (there < needed)
    throw Damage(fmt::format("is truncated: its shape needs {} bytes of elements and it has {}",
                             needed, there));
  if (there > needed)
    throw Damage(fmt::format("has {} bytes behind its last element", there - needed));
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Appends until `array.bytes` has `size` bytes or the file ends.
void read_up_to(std::FILE* file, Array& array, std::size_t size) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  while (array.bytes.size() < size) {
    const std::size_t before = array.bytes.size();
    const std::size_t wanted = std::min(size - before, std::max(piece, before));
    array.bytes.resize(before + wanted);
    const std::size_t count = std::fread(array.bytes.data() + before, 1, wanted, file);
    array.bytes.resize(before + count);
    if (std::ferror(file) != 0)
      throw Damage(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (count < wanted) return;
  }
}

void read_whole(std::FILE* file, std::uintmax_t file_bytes, Array& array) {
  read_up_to(file, array, prefix_bytes + 4);
  const std::size_t width = length_bytes(array.bytes);
  if (array.bytes.size() >= prefix_bytes + width) {
    const std::size_t length = little_endian(array.bytes.substr(prefix_bytes, width));
    read_up_to(file, array, prefix_bytes + width + std::min(length, longest_header));
  }
  read_front(array);
  const std::size_t needed = data_bytes(array.header);
  if (needed > memory_bytes() && file_bytes >= needed)
    throw Damage(fmt::format("its {} bytes do not fit this machine's memory", needed));
  if (file_bytes == array.first + needed) array.bytes.reserve(file_bytes + 1);
  read_up_to(file, array, array.first + needed + 1);
  std::size_t there = array.bytes.size() - array.first;
  const bool is_known = file_bytes != static_cast<std::uintmax_t>(-1);  // not of a pipe
  if (there > needed && is_known) there = std::max(there, file_bytes - array.first);
  check_size(there, needed);
}

}  // namespace

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

std::size_t item_bytes(std::string_view dtype) {
  std::size_t bytes = 0;
  if (dtype.size() < 3) return 0;
  const char* end = dtype.data() + dtype.size();
  const auto [stop, error] = std::from_chars(dtype.data() + 2, end, bytes);
  constexpr std::size_t widest = 1024;
  return error == std::errc() && stop == end && bytes <= widest ? bytes : 0;
}

std::string header_bytes(const Header& header) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", header.dtype,
                  header.fortran_order ? "True" : "False", fmt::join(header.shape, ", "),
                  header.shape.size() == 1 ? "," : "");
  const std::size_t front = prefix_bytes + 2;
  const std::size_t used = front + text.size() + 1;
  text.append((alignment - used % alignment) % alignment, ' ');
  text += '\n';
  std::string bytes(magic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(text.size() % 256);
  bytes += static_cast<char>(text.size() / 256);
  return bytes + text;
}

Array parse(std::string bytes, std::string_view name) {
  Array array;
  array.bytes = std::move(bytes);
  try {
    read_front(array);
    check_size(array.bytes.size() - array.first, data_bytes(array.header));
  } catch (const Damage& damage) {
    refuse(name, damage.what());
  }
  return array;
}

Array read(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) refuse(path, "is a directory");
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) refuse(path, std::strerror(errno));
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, unknown);  // of a pipe: -1
  Array array;
  try {
    read_whole(file.get(), file_bytes, array);
  } catch (const Damage& damage) {
    refuse(path, damage.what());
  } catch (const std::bad_alloc&) {
    refuse(path, "no memory for it");
  }
  return array;
}

}  // namespace tcq::oracle::npy
