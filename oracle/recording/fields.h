// The members of a case in a file: one function names them in order, and writes or reads.
//
// Numbers are little-endian, as wide as the function says. Reading refuses what no writer can have
// meant; writing trusts. Framing and checksums: container.h. Example, of a struct with two members:
//
//   void fields(Fields& io, Range& r) { io.number(r.global, 8); io.below(r.bytes, 4, 65536, "size"); }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/recording/container.h"

namespace tcq::oracle {

class Fields {
 public:
  Fields() = default;                                              // writes
  explicit Fields(std::string_view payload) : reader_(payload) {}  // reads

  template <class T>
  void number(T& member, int bytes) {
    if (reader_)
      member = static_cast<T>(reader_->get(bytes));
    else
      writer_.put(static_cast<std::uint64_t>(member), bytes);
  }

  template <class Numbers>
  void numbers(Numbers& members, int bytes) {
    for (auto& member : members) number(member, bytes);
  }

  // Codes and flags: one byte. `what` is for the sentence.
  template <class T>
  void below(T& member, int limit, const char* what) {
    below(member, 1, static_cast<std::uint64_t>(limit), what);
  }
  template <class T>
  void below(T& member, int bytes, std::uint64_t limit, const char* what) {
    if (reader_)
      member = static_cast<T>(reader_->get_below(bytes, limit, what));
    else
      writer_.put(static_cast<std::uint64_t>(member), bytes);
  }
  template <class T>
  void flag(T& member) {  // a bool, or an enum of two
    below(member, 2, "flag");
  }

  // A count of `bytes` bytes, then that many numbers.
  template <class T>
  void list(std::vector<T>& members, int bytes, std::uint64_t limit, const char* what, int width) {
    std::size_t count = members.size();
    below(count, bytes, limit, what);
    members.resize(count);
    numbers(members, width);
  }
  void bytes(std::vector<std::uint8_t>& members, std::uint64_t limit, const char* what) {
    std::size_t count = members.size();
    below(count, 4, limit, what);
    if (reader_) {
      const std::string_view read = reader_->get_bytes(count);
      members.assign(read.begin(), read.end());
    } else {
      writer_.put_bytes({reinterpret_cast<const char*>(members.data()), count});
    }
  }

  // Of what was read.
  void demand(bool holds, const char* sentence) const {
    if (reader_ && !holds) throw BadFile(sentence);
  }

  bool reads() const { return reader_.has_value(); }
  bool at_end() const { return reader_->at_end(); }
  std::string take() { return writer_.take(); }

 private:
  PayloadWriter writer_;
  std::optional<PayloadReader> reader_;
};

}  // namespace tcq::oracle
