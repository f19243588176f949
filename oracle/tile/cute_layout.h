// CuTe layouts: trees of shape:stride that map a coordinate to an offset, and their printed form.
//
// Knows nothing about hardware: strides are probed from functions of sim/isa. Example: probing
// f(i) = i % 64 + 512 * (i / 64) over 128 coordinates gives (_64,_2):(_1,_512).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tcq::oracle {

struct CuteLayout {
  std::int64_t size = 1;          // of a leaf
  std::int64_t stride = 0;        // of a leaf
  bool dynamic = false;           // the stride is known at run time only: printed without _
  std::vector<CuteLayout> modes;  // empty: this is a leaf

  bool is_leaf() const { return modes.empty(); }
};

CuteLayout cute_leaf(std::int64_t size, std::int64_t stride);
CuteLayout cute_tuple(std::vector<CuteLayout> modes);

// The coalesced layout with layout(i) = f(i) - f(0) for i in [0, count).
// Throws std::logic_error if no layout does that with modes that divide `count`.
CuteLayout probe(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& f);

// The same shape with the strides of a dense array, first mode fastest, starting at `first_stride`.
CuteLayout compacted(const CuteLayout& layout, std::int64_t first_stride = 1);

std::int64_t size(const CuteLayout& layout);

// Offset of a coordinate that runs through the modes in order, the first mode fastest.
std::int64_t offset(const CuteLayout& layout, std::int64_t coordinate);

// "((_64,_2),_3):((_1,_512),_8192)".
std::string to_string(const CuteLayout& layout);

}  // namespace tcq::oracle
