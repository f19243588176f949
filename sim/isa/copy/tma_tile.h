// Which byte of shared memory and which element of a tensor an element of a TMA box is.
//
// Decides the box in shared memory (dimension 0 innermost, rows one span apart if swizzled and
// dense if not, then the swizzle's XOR on the absolute address), the box in the tensor (start
// coordinates plus element strides, out of bounds on any side), what out-of-bounds elements read
// as, and how many bytes complete_tx counts. Which maps exist: tensor_map.h; moving the bytes:
// sim/machine/tma.h. Example: bf16, box {64, 128}, 128B swizzle, at byte 1024, start (0, 0):
// element (5, 11) lies at 1024 + 11 * 128 + 10 = 2442, XOR ((2442 >> 7) & 7) << 4 = 48, which is
// 2490.
//
// Source: PTX ISA 9.2, 5.5.3 "Tiled mode", 5.5.7 "Swizzling modes", 9.7.9.27.1.2
// "cp.async.bulk.tensor"; CUDA driver API, cuTensorMapEncodeTiled (element strides).
// Measured: tests/vectors/tma_load.tcqv (rows of a box narrower than the swizzle span lie one span
// apart, the XOR sees absolute addresses at every 128-byte destination, a strided box
// is as long as ceil(box / stride), bytes of out-of-bounds elements count),
// tests/vectors/tma_convert.tcqv (conversions, NaN), tests/vectors/tma_edge.tcqv (alignment),
// tests/vectors/tma_store.tcqv (stores clip in units of 16 bytes).
// Inferred: the element stride of dimension 0 has no effect; refuted by the suite `edge` of
// tools/record.
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::tma {

// Of a tile's destination or source in shared memory.
inline constexpr std::uint32_t tile_alignment_bytes = 128;
// Of the start coordinate along dimension 0.
inline constexpr std::uint32_t start_alignment_bytes = 16;

// Where a box begins in the tensor, as the instruction's operand says. Unit: elements.
// In im2col mode: of the first pixel, and how far from the pixels of the column those lie that are moved (a filter's element).
struct Coordinates {
  std::int32_t at[max_rank] = {};
  std::uint16_t offsets[max_rank - 2] = {};
  friend constexpr bool operator==(const Coordinates&, const Coordinates&) = default;
};

// An element of the box, counted in elements that are moved; of a packed type a grain.
struct BoxElement {
  std::uint32_t at[max_rank] = {};
  friend constexpr bool operator==(const BoxElement&, const BoxElement&) = default;
};

HOST_DEVICE constexpr std::uint32_t box_elements(const TensorMap& map) {
  std::uint32_t count = 1;
  for (int d = 0; d < map.rank; ++d) count *= extent(map, d);
  return count;
}

// From one row of the box to the next in shared memory: dense without a swizzle, the whole span
// with one, also where the box is narrower.
HOST_DEVICE constexpr std::uint32_t row_pitch_bytes(const TensorMap& map) {
  return map.swizzle == Swizzle::None ? extent(map, 0) * grain(map.type).shared_bytes
                                      : span_bytes(map.swizzle);
}

HOST_DEVICE constexpr std::uint32_t box_rows(const TensorMap& map) {
  return box_elements(map) / extent(map, 0);
}

// Shared memory from the first to the last byte of the box.
HOST_DEVICE constexpr std::uint32_t box_bytes(const TensorMap& map) {
  return box_rows(map) * row_pitch_bytes(map);
}

// What a load adds to the mbarrier's complete_tx, wherever the box lies.
HOST_DEVICE constexpr std::uint32_t complete_tx_bytes(const TensorMap& map) {
  return box_elements(map) * grain(map.type).bytes;
}

// Shape: index [0, box_elements) <-> element, dimension 0 fastest.
HOST_DEVICE constexpr BoxElement box_element(const TensorMap& map, std::uint32_t index) {
  BoxElement e;
  for (int d = 0; d < map.rank; ++d) {
    e.at[d] = index % extent(map, d);
    index /= extent(map, d);
  }
  return e;
}

// Before the swizzle.
HOST_DEVICE constexpr std::uint32_t linear_address(const TensorMap& map, std::uint32_t tile,
                                                   const BoxElement& e) {
  std::uint32_t row = 0;
  for (int d = map.rank - 1; d > 0; --d) row = row * extent(map, d) + e.at[d];
  return tile + row * row_pitch_bytes(map) + e.at[0] * grain(map.type).shared_bytes;
}

// Absolute shared-memory address of the element's first byte; elements never straddle 16 bytes.
HOST_DEVICE constexpr std::uint32_t shared_address(const TensorMap& map, std::uint32_t tile,
                                                   const BoxElement& e) {
  return swizzle_function(map.swizzle).apply(linear_address(map, tile, e));
}

namespace detail {

// Of pixel e.at[1] of a column. Pixels fill a line of the bounding box, then the next line from its beginning on, then the
// next image. Example: 4 pixels from w = 5 on in lines of w in [-1, 6) are those at 5 of one line and at -1, 0, 1 of the next.
HOST_DEVICE constexpr std::int64_t pixel_coordinate(const TensorMap& map, const Coordinates& start,
                                                    const BoxElement& e, int dim) {
  std::int64_t steps = e.at[1];
  for (int d = 1; d + 1 < map.rank; ++d) {
    const std::int64_t stride = element_stride(map, d);
    const std::int64_t first = first_pixel(map, d);
    const std::int64_t last = last_pixel(map, d);
    const std::int64_t line = (last - first) / stride + 1;
    const std::int64_t left = start.at[d] > last ? 0 : (last - start.at[d]) / stride + 1;
    const bool is_first_line = steps < left;
    const std::int64_t beyond = steps - left;
    if (d == dim)
      return start.offsets[d - 1] +
             (is_first_line ? start.at[d] + steps * stride : first + beyond % line * stride);
    steps = is_first_line ? 0 : 1 + beyond / line;
  }
  return start.at[map.rank - 1] + steps;
}

}  // namespace detail

// Signed, because a box may begin before the tensor.
HOST_DEVICE constexpr std::int64_t tensor_coordinate(const TensorMap& map, const Coordinates& start,
                                                     const BoxElement& e, int dim) {
  if (map.im2col.is_on && dim > 0) return detail::pixel_coordinate(map, start, e, dim);
  const auto together = static_cast<std::int64_t>(elements_together(map, dim));
  return start.at[dim] / together + std::int64_t{e.at[dim]} * element_stride(map, dim);
}

HOST_DEVICE constexpr bool in_bounds(const TensorMap& map, const Coordinates& start,
                                     const BoxElement& e) {
  for (int d = 0; d < map.rank; ++d) {
    const std::int64_t at = tensor_coordinate(map, start, e, d);
    if (at < 0 || static_cast<std::uint64_t>(at) >= size(map, d)) return false;
  }
  return true;
}

// Stores and reductions clip dimension 0 in units of 16 bytes: what lies behind the tensor's end in
// its last unit is written, too. The other dimensions are clipped by element.
HOST_DEVICE constexpr bool is_written(const TensorMap& map, const Coordinates& start,
                                      const BoxElement& e) {
  TensorMap padded = map;
  const Grain moved = grain(map.type);
  const std::uint64_t units =
      (size(map, 0) * moved.bytes + start_alignment_bytes - 1) / start_alignment_bytes;
  padded.dims[0] = units * start_alignment_bytes / moved.bytes * moved.elements;
  return in_bounds(padded, start, e);
}

// Address of the element's first byte in global memory. Requires: in_bounds or is_written.
HOST_DEVICE constexpr std::uint64_t global_address(const TensorMap& map, const Coordinates& start,
                                                   const BoxElement& e) {
  std::uint64_t address = map.address;
  for (int d = 0; d < map.rank; ++d) {
    const auto at = static_cast<std::uint64_t>(tensor_coordinate(map, start, e, d));
    address += at * (d == 0 ? grain(map.type).bytes : map.stride_bytes[d - 1]);
  }
  return address;
}

HOST_DEVICE constexpr bool starts_aligned(const TensorMap& map, const Coordinates& start) {
  const Grain moved = grain(map.type);
  const std::uint32_t unit = is_padded(map.type)
                                 ? detail::padded_row
                                 : start_alignment_bytes / moved.bytes * moved.elements;
  return start.at[0] % static_cast<std::int32_t>(unit) == 0;
}

// Loads may begin before the tensor, stores and reductions may not.
HOST_DEVICE constexpr bool starts_negative(const TensorMap& map, const Coordinates& start) {
  for (int d = 0; d < map.rank; ++d)
    if (start.at[d] < 0) return true;
  return false;
}

// What an out-of-bounds element reads as: a NaN is 0x7ff7, over and over, and not rounded.
HOST_DEVICE constexpr std::uint64_t fill_bits(DataType type, Fill fill) {
  if (fill == Fill::Zero || is_packed(type)) return 0;
  return std::uint64_t{0x7ff77ff77ff77ff7} >> (64 - 8 * element_bytes(type));
}

namespace detail {

// To 10 fraction bits, to nearest, ties to even; every NaN becomes the same one.
HOST_DEVICE constexpr std::uint32_t round_to_tf32(std::uint32_t f32) {
  if ((f32 & 0x7fffffffu) > 0x7f800000u) return 0x7fffe000u;
  constexpr std::uint32_t dropped = 13;
  const std::uint32_t odd = f32 >> dropped & 1u;
  return (f32 + (1u << (dropped - 1)) - 1 + odd) >> dropped << dropped;
}

}  // namespace detail

// What a load makes of an element on its way: tf32 is rounded, all other types keep their bits.
// Subnormal numbers are not flushed, whatever the type's name says. Stores keep the bits of every
// type.
HOST_DEVICE constexpr bool keeps_bits(DataType type) {
  return type != DataType::TFloat32 && type != DataType::TFloat32Ftz;
}
HOST_DEVICE constexpr std::uint64_t loaded_bits(DataType type, std::uint64_t element) {
  if (keeps_bits(type)) return element;
  return detail::round_to_tf32(static_cast<std::uint32_t>(element));
}

}  // namespace tcq::tma
