// The file that every kind of recording lives in: a first line that names the kind, `key: value`
// lines, an empty line, then packed little-endian cases whose size and checksum the header states.
//
// Decides framing and damage detection; what a case is belongs to vectors.h (wgmma) and
// async_case.h (TMA, ldmatrix) and tcgen05_case.h. Only tools/record, tools/record_async and
// tools/record_tcgen05 write such files.
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
  Header header;
  std::string_view payload;
};

// `magic` is the first line with its end. The header gains the number of cases, size and checksum.
std::string pack(std::string_view magic, Header header, std::size_t cases,
                 std::string_view payload);

// The inverse, without the number of cases: check_cases() when they are counted. Throws BadFile.
Container unpack(std::string_view magic, std::string_view bytes);
void check_cases(const Header& header, std::size_t cases);

}  // namespace tcq::oracle
