// Results of chains of wgmmas that were executed before on the same bits.
//
// Exploring a program executes the same wgmmas on the same operands in most executions; the exact
// arithmetic is the slow part. A result is found by a hash of the instructions and of every bit they
// read: four lanes of 64 bits, of which a key keeps 128. Bits of equal hash would be taken for the same;
// nothing else of the cache changes an answer. It is dropped when it grows beyond its bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "sim/async/operand_chunks.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/machine/shared_memory.h"
#include "sim/machine/warpgroup.h"
#include "sim/machine/wgmma.h"

namespace tcq::machine {

class MmaCache {
 public:
  explicit MmaCache(std::size_t max_bytes = std::size_t{64} << 20) : max_bytes_(max_bytes) {}

  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };

  // Accumulators as a matrix. Those that a chain left are known by its key: their bits need not be hashed again.
  class Tile {
   public:
    const wgmma::Outputs& words() const { return words_; }
    template <class WordsOf>
    void load(const wgmma::Form& form, const WordsOf& words_of) {
      wgmma::load_accumulators(form, words_of, words_);
      key_.reset();
    }

   private:
    friend class MmaCache;
    wgmma::Outputs words_;
    std::optional<Key> key_;
  };

  // As wgmma::execute_chain.
  Fault advance(const SharedMemory& shared, const WarpgroupRegisters& sources,
                std::span<const wgmma::Instruction> chain, Tile& d);

  ChunkLists chunks;

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return key.low; }
  };
  class Hasher;

  bool add_operand(const wgmma::Instruction& op, Operand which, const SharedMemory& shared,
                   Hasher& hasher);
  bool add(const wgmma::Instruction& op, const SharedMemory& shared,
           const WarpgroupRegisters& sources, Hasher& hasher);
  void keep(const Key& key, const wgmma::Outputs& words);

  std::unordered_map<Key, wgmma::Outputs, KeyHash> results_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace tcq::machine
