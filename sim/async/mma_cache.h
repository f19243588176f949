// Results of wgmmas that were executed before on the same bits.
//
// Exploring a program executes the same wgmma on the same operands in most executions; the exact
// arithmetic is the slow part. A result is found by a 128-bit hash of the instruction and of every
// bit it reads. The cache never changes an answer; it is dropped when it grows beyond its bound.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/machine/shared_memory.h"
#include "sim/machine/warpgroup.h"
#include "sim/machine/wgmma.h"

namespace tcq::machine {

class MmaCache {
 public:
  explicit MmaCache(std::size_t max_bytes = std::size_t{64} << 20) : max_bytes_(max_bytes) {}

  // As wgmma::execute.
  Fault execute(const wgmma::Instruction& op, const SharedMemory& shared,
                WarpgroupRegisters& registers);

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.low; }
  };
  class Hasher;

  std::unordered_map<Key, std::vector<std::uint32_t>, KeyHash> results_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

inline constexpr std::uint32_t operand_chunk_bytes = 16;

// Calls visit(row, address) for every chunk of shared memory that an operand of op.form reads;
// row is the row of A or column of B they belong to, or -1 where they belong to several (MN-major).
enum class Operand : std::uint8_t { A, B };
template <class Visit>
void for_each_operand_chunk(const wgmma::Instruction& op, Operand which, Visit visit) {
  const wgmma::Form& f = op.form;
  const bool is_a = which == Operand::A;
  const bool k_major = (is_a ? f.major_a : f.major_b) == Major::K;
  const wgmma::MatrixDescriptor d = wgmma::decode(is_a ? op.desc_a : op.desc_b);
  const auto rows = static_cast<std::uint32_t>(is_a ? wgmma::m : f.n);
  const auto row_bytes =
      static_cast<std::uint32_t>(wgmma::stored_k_bytes * (!is_a && f.sparse ? 2 : 1));
  const auto width = static_cast<std::uint32_t>(bits(is_a ? f.a : f.b));
  const std::uint32_t outer = k_major ? rows : row_bytes * 8 / width;
  const std::uint32_t contiguous_bytes = k_major ? row_bytes : rows * width / 8;
  for (std::uint32_t i = 0; i < outer; ++i) {
    for (std::uint32_t at = 0; at < contiguous_bytes; at += operand_chunk_bytes) {
      const auto byte = k_major ? OperandByte{i, at} : OperandByte{at, i};
      visit(k_major ? static_cast<int>(i) : -1,
            wgmma::byte_address(d, k_major ? Major::K : Major::MN, byte));
    }
  }
}

}  // namespace tcq::machine
