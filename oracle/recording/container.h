// The file that every kind of recording lives in: a first line that names kind and format,
// `key: value` lines, and the cases, called the payload: packed little-endian behind an empty line,
// or, where the first line begins with "# ", lines of text. In such a file every header line does.
//
//   tcq async recording 2
//   cases: 330
//   device: NVIDIA H200
//   payload_bytes: 275702
//   payload_fnv1a64: 9ce97c1e21ec9e6a
//   header_fnv1a64: 477958a9c64d2782           the last line: the checksum of every byte before it
//
// Decides framing and damage detection: every byte is under one of the two checksums, and a header
// has one spelling only, so that no changed file is read. Format 1 had no checksum of the header;
// such files are refused. What a case is belongs to recording.h,
// directed.h and provoked.h (text). Only tools/record and provoke write such files.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tcq::oracle {

// A file that is not a recording, truncated or corrupted; the sentence says which and where.
class BadFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Header = std::map<std::string, std::string>;  // device, driver, date, seed, ...

// Of `key: value` lines. Throws BadFile.
Header parse_header(std::string_view text);

// The checksum of recordings: FNV-1a, 64 bits.
std::uint64_t fnv1a64(std::string_view bytes);

class PayloadWriter {
 public:
  void put(std::uint64_t value, int byte_count);
  void put_bytes(std::string_view bytes) { bytes_ += bytes; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Throws BadFile where the payload ends too early or holds an impossible value.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t get(int byte_count);
  std::uint64_t get_below(int byte_count, std::uint64_t limit, const char* what);
  bool get_flag() { return get_below(1, 2, "flag") != 0; }
  std::string_view get_bytes(std::size_t count);
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

struct Container {
  Header header;  // with the number of cases, size and checksum of the payload
  std::string_view payload;
  int first_line = 1;  // of the payload, in the file
};

// `magic` is the first line with its end. The header gains the number of cases, sizes and
// checksums; what a terminal cannot print of its values is escaped.
std::string pack(std::string_view magic, Header header, std::size_t cases,
                 std::string_view payload);

// The inverse, without the number of cases: check_cases() when they are counted. Keys, values and
// lines of text are printable ASCII. Throws BadFile.
Container unpack(std::string_view magic, std::string_view bytes);
void check_cases(const Header& header, std::size_t cases);

// Does the header end with its checksum? Text without it was written by hand.
bool is_sealed(std::string_view bytes);

}  // namespace tcq::oracle
