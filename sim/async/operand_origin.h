// Does a wgmma read a tile as the tensor copies wrote it?
//
// Every 16 bytes of an operand that a tensor copy wrote belong to a known element of the tensor.
// Along K and along M or N these elements must advance by one; where they do not, the descriptor and
// the copy disagree: wrong stride, swizzle, base offset or advance. Only for maps of rank 2 that no
// statement patches and whose elements are as wide as the operand's. Example: SBO 128 instead of 1024 under a 128B swizzle:
// (8, 0) comes from row 1 instead of row 8. A tile that is read transposed as a whole looks in order:
// a wrong major-ness is found where the operand spans several boxes of the copy.
//
// Source: PTX ISA 9.2, 9.7.15.5.1.2, 5.5.7; the maps themselves: sim/isa/copy/tma_tile.h,
// sim/isa/wgmma/operand.h.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/async/operand_chunks.h"
#include "sim/isa/copy/tma_tile.h"

namespace tcq::machine {

// Column (dimension 0, contiguous) and row of a tensor.
struct TensorElement {
  std::int64_t col = 0;
  std::int64_t row = 0;
  friend bool operator==(const TensorElement&, const TensorElement&) = default;
};

// What a copy wrote from an address on, of a map of rank 2.
class WrittenTile {
 public:
  WrittenTile(const tma::TensorMap& map, const tma::Coordinates& start, std::uint32_t address)
      : shape_{swizzle_function(map.swizzle), address, tma::row_pitch_bytes(map),
               tma::element_bytes(map.type), map.element_strides[1]},
        first_{start.at[0], start.at[1]} {}

  // The element at an address inside.
  std::optional<TensorElement> element_at(std::uint32_t address) const;
  const TileShape& shape() const { return shape_; }

 private:
  TileShape shape_;
  TensorElement first_;
};

struct Scrambled {
  std::uint32_t address = 0;
  std::int64_t mn = 0;
  std::int64_t k = 0;
  TensorElement found;
  TensorElement expected;
  bool other_major_fits = false;  // read with the other major-ness all elements are in their places
  friend bool operator==(const Scrambled&, const Scrambled&) = default;
};

// Follows an operand chunk by chunk.
class OriginCheck {
 public:
  OriginCheck(const wgmma::Instruction& op, Operand which);

  // The next chunk, in the order of OperandChunks, and the element it holds, if known.
  // Returns what is wrong with it.
  std::optional<Scrambled> next(std::uint32_t address, const std::optional<TensorElement>& element);
  int element_bytes() const { return width_bits_ / 8; }

 private:
  bool k_major_ = true;
  int width_bits_ = 16;
  std::int64_t line_length_ = 0;
  std::int64_t chunk_length_ = 0;
  std::int64_t line_ = 0;
  std::int64_t along_ = 0;  // of the next chunk; both in elements
  std::optional<TensorElement> origin_;
};

}  // namespace tcq::machine
