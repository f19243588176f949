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
  std::vector<std::uint32_t> room_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

using wgmma::operand_chunk_bytes;

// Calls visit(row, address) for every chunk of shared memory that an operand of op.form reads;
// row is the row of A or column of B they belong to, or -1 where they belong to several (MN-major).
enum class Operand : std::uint8_t { A, B };
template <class Visit>
void for_each_operand_chunk(const wgmma::Instruction& op, Operand which, Visit visit) {
  const wgmma::Form& f = op.form;
  const bool is_a = which == Operand::A;
  const Major major = is_a ? f.major_a : f.major_b;
  const Type type = is_a ? f.a : f.b;
  const int k = wgmma::stored_k(type) * (!is_a && f.sparse ? 2 : 1);
  const wgmma::OperandExtent extent =
      wgmma::operand_extent(major, type, static_cast<std::uint32_t>(is_a ? wgmma::m : f.n),
                            static_cast<std::uint32_t>(k));
  wgmma::for_each_chunk(wgmma::decode(is_a ? op.desc_a : op.desc_b), major, extent,
                        [&](std::uint32_t line, std::uint32_t, std::uint32_t address) {
                          visit(major == Major::K ? static_cast<int>(line) : -1, address);
                        });
}

}  // namespace tcq::machine
