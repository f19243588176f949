// The answer of `layout MNEMONIC A|B`, for wgmma and tcgen05: descriptor, fields, size, alignment, TMA
// boxes, CuTe and canonical layout, and the descriptor of every instruction's part of the tile.
//
// Decides what is printed and in which words; the tile and its numbers come from layout.cc (tiling.h)
// and tcgen05_layout.cc (tcgen05_tiling.h), what they mean from sim/isa/base/canonical_layout.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/answer/answer.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/swizzle.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::oracle {

inline constexpr int descriptor_bits = 64;

// Elements of 4 and 6 bits that take 8 in shared memory are `padded`.
struct StoredType {
  Type type;
  bool padded = false;
};

// "a CTA has at most 232448 bytes of shared memory".
std::string cta_limit_text();

// Unit: bits that an element takes in shared memory.
std::uint32_t stored_bits(StoredType type);

// "1 box {64, 128} of CU_TENSOR_MAP_DATA_TYPE_FLOAT16 along {K, MN}, CU_TENSOR_MAP_SWIZZLE_128B".
std::string tma_text(const Tile& tile, Swizzle swizzle, StoredType type);

// "Sw<3,4,3> o smem_ptr o ".
std::string swizzle_prefix(Swizzle swizzle);

// The manual's canonical layout of an operand of which one instruction reads `k_bytes` along K:
// "Sw<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))".
std::string canonical_text(Major major, Swizzle swizzle, std::uint32_t k_bytes);

// An instruction's part of the tile: its first element and its descriptor.
struct OperandBlock {
  std::uint32_t mn;
  std::uint32_t k;
  std::uint32_t start_bytes;
  std::uint64_t word;
};

// row= and col= of `layout`, which say what its picture is about.
class TileElementWords {
 public:
  // Takes them out of the question. Throws UsageError if there is no --svg.
  explicit TileElementWords(Question& question);

  std::optional<std::uint32_t> row, col;
};

struct OperandLayout {
  std::string title;  // "A 64 x 16 bf16, K-major, swizzle 32B, mn-first"
  Tile tile;
  Swizzle swizzle;
  StoredType type;
  OffsetsRead read;         // by one instruction
  std::uint32_t lbo_bytes;  // of the descriptors
  std::uint32_t sbo_bytes;
  std::string cute;              // in elements, without the swizzle
  std::uint32_t instruction_mn;  // elements
  std::uint32_t instruction_k;
  std::uint32_t instruction_k_bytes;
  std::string container;             // how padded elements lie; empty if they are not padded
  std::vector<OperandBlock> blocks;  // at least one
};

// As text or JSON; with --svg the picture of strip.h, of the element that row= and col= name. Requires: the words
// row= and col= were taken out of the question by TileElementWords.
Answer layout_answer(const OperandLayout& layout, const Options& options,
                     const TileElementWords& element);

}  // namespace tcq::oracle
