// Which 16 bytes of shared memory the operands of a wgmma are, in the order in which they are read.
//
// Everything that the machine asks of an operand, it asks of these chunks: may they be read now (access.h), are they
// where the copies put them (operand_origin.h), has the same been computed before (mma_cache.h). A main loop reads the
// same few operands over and over, so that lists are kept.
//
// Source: sim/isa/wgmma/operand.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/isa/wgmma/operand.h"
#include "sim/machine/wgmma.h"

namespace tcq::machine {

using wgmma::operand_chunk_bytes;

enum class Operand : std::uint8_t { A, B };

// What lies between the addresses of a tile's elements, wherever in the tensor it begins (operand_origin.h).
struct TileShape {
  SwizzleFunction swizzle;
  std::uint32_t begin = 0;
  std::uint32_t pitch = 0;
  std::uint32_t element_bytes = 0;
  std::int64_t row_step = 0;
  friend bool operator==(const TileShape&, const TileShape&) = default;
};

struct OperandChunks {
  std::vector<std::uint32_t> addresses;  // absolute, line by line
  std::vector<TileShape> in_order;       // tiles in which they were found one behind the other

  void note_in_order(const TileShape& shape) {
    constexpr std::size_t most = 16;
    if (in_order.size() < most) in_order.push_back(shape);
  }
};

// Those that one of the four warps reads: of a K-major A its own 16 rows, else all.
inline std::span<const std::uint32_t> chunks_of_warp(const wgmma::Form& f, Operand which,
                                                     const OperandChunks& all, int warp) {
  if (which == Operand::B || f.major_a != Major::K) return all.addresses;
  const std::size_t share = all.addresses.size() / wgmma::warps_per_warpgroup;
  return std::span(all.addresses).subspan(static_cast<std::size_t>(warp) * share, share);
}

// Rows of A, a bit for each.
using RowMask = std::uint64_t;
inline constexpr int rows_per_warp = wgmma::m / wgmma::warps_per_warpgroup;
constexpr RowMask rows_of_warp(int warp) {
  return ((RowMask{1} << rows_per_warp) - 1) << (warp * rows_per_warp);
}
// Those that a chunk of A, by its number in the list, holds elements of.
RowMask rows_of_chunk(const wgmma::Form& f, const OperandChunks& a, std::size_t chunk);
// Those whose chunks have some of these bytes.
RowMask rows_at(const wgmma::Form& f, const OperandChunks& a, std::uint32_t begin,
                std::uint32_t end);

// Of A in registers: none.
OperandChunks chunks_of(const wgmma::Instruction& op, Operand which);

class ChunkLists {
 public:
  using List = std::shared_ptr<OperandChunks>;
  List find(const wgmma::Instruction& op, Operand which);

 private:
  struct Key {
    std::uint64_t desc = 0;
    std::uint32_t lines = 0;
    std::uint32_t line_bytes = 0;
    Major major = Major::K;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t mixed = (key.desc ^ key.lines << 20 ^ key.line_bytes << 4 ^
                                   static_cast<std::uint64_t>(key.major)) *
                                  std::uint64_t{0x9e3779b97f4a7c15};
      return static_cast<std::size_t>(mixed >> 32);
    }
  };
  static constexpr std::size_t most = 1 << 10;  // then all are forgotten

  std::unordered_map<Key, List, Hash> lists_;
};

}  // namespace tcq::machine
