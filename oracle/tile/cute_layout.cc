// Probing, evaluating and printing of CuTe layouts; see cute_layout.h.
#include "oracle/tile/cute_layout.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace tcq::oracle {
namespace {

// Length of the longest start of [0, count) on which f(i) = f(0) + i * stride.
std::int64_t linear_length(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& f,
                           std::int64_t stride) {
  std::int64_t length = 1;
  while (length < count && f(length) == f(0) + length * stride) ++length;
  return length;
}

std::string shape_text(const CuteLayout& layout) {
  if (layout.is_leaf()) return fmt::format("_{}", layout.size);
  std::string text;
  for (const CuteLayout& mode : layout.modes) text += (text.empty() ? "(" : ",") + shape_text(mode);
  return text + ")";
}

std::string stride_text(const CuteLayout& layout) {
  if (layout.is_leaf()) return fmt::format("{}{}", layout.dynamic ? "" : "_", layout.stride);
  std::string text;
  for (const CuteLayout& mode : layout.modes)
    text += (text.empty() ? "(" : ",") + stride_text(mode);
  return text + ")";
}

}  // namespace

CuteLayout cute_leaf(std::int64_t size, std::int64_t stride) {
  CuteLayout leaf;
  leaf.size = size;
  leaf.stride = size == 1 ? 0 : stride;
  return leaf;
}

CuteLayout cute_tuple(std::vector<CuteLayout> modes) {
  CuteLayout tuple;
  tuple.modes = std::move(modes);
  return tuple;
}

CuteLayout probe(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& f) {
  std::vector<CuteLayout> leaves;
  for (std::int64_t step = 1; step < count;) {
    const auto stepped = [&](std::int64_t i) { return f(i * step); };
    const std::int64_t stride = stepped(1) - stepped(0);
    const std::int64_t length = linear_length(count / step, stepped, stride);
    if (count / step % length != 0) throw std::logic_error("no layout has these offsets");
    leaves.push_back(cute_leaf(length, stride));
    step *= length;
  }
  if (leaves.empty()) return cute_leaf(1, 0);
  return leaves.size() == 1 ? leaves[0] : cute_tuple(std::move(leaves));
}

CuteLayout compacted(const CuteLayout& layout, std::int64_t first_stride) {
  if (layout.is_leaf()) return cute_leaf(layout.size, first_stride);
  std::vector<CuteLayout> modes;
  for (const CuteLayout& mode : layout.modes) {
    modes.push_back(compacted(mode, first_stride));
    first_stride *= size(mode);
  }
  return cute_tuple(std::move(modes));
}

std::int64_t size(const CuteLayout& layout) {
  if (layout.is_leaf()) return layout.size;
  std::int64_t product = 1;
  for (const CuteLayout& mode : layout.modes) product *= size(mode);
  return product;
}

std::int64_t offset(const CuteLayout& layout, std::int64_t coordinate) {
  if (layout.is_leaf()) return coordinate * layout.stride;
  std::int64_t sum = 0;
  for (const CuteLayout& mode : layout.modes) {
    sum += offset(mode, coordinate % size(mode));
    coordinate /= size(mode);
  }
  return sum;
}

std::string to_string(const CuteLayout& layout) {
  return shape_text(layout) + ":" + stride_text(layout);
}

}  // namespace tcq::oracle
