// Arrays in NumPy's .npy format, versions 1 to 3: one to five dimensions, C or Fortran order, little-endian.
//
// A reader that believes nothing: the header is a Python literal of exactly three keys, in any order; the
// shape may not overflow; the file holds the array's bytes, neither fewer nor more. Which types of
// elements may lie in it is elements.h's. xtensor's xnpy.hpp was no choice: it allocates what the header
// asks for unchecked, takes a short read for a whole one and demands an order of keys.
//
// Source: NumPy's documentation, numpy.lib.format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle::npy {

struct Header {
  std::string dtype;  // as written: "<f4", "|u1"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  friend bool operator==(const Header&, const Header&) = default;
};

// The bytes that begin a file of version 1, a multiple of 64. Requires: a shape that read() would take.
std::string header_bytes(const Header& header);

struct Array {
  Header header;
  std::string bytes;      // the whole file
  std::size_t first = 0;  // where its elements begin

  const void* data() const { return bytes.data() + first; }
};

// Throws UsageError "PATH: what is wrong".
Array read(const std::string& path);
// The same for the bytes of a file; `name` names it in complaints.
Array parse(std::string bytes, std::string_view name);

// Bytes of this machine's memory: what needs more is refused before it is asked for.
std::uint64_t memory_bytes();

// Bytes of an element: the digits of its dtype; 0 if there are none.
std::size_t item_bytes(std::string_view dtype);

}  // namespace tcq::oracle::npy
