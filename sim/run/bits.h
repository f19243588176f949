// A set of small numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/ptx/program.h"

namespace tcq::run {

class Bits {
 public:
  explicit Bits(std::size_t count = 0) : words_((count + 63) / 64) {}
  void add(ptx::Index i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(ptx::Index i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  bool has(ptx::Index i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  // True if that changed anything.
  bool add_all(const Bits& other) {
    bool changed = false;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      changed = changed || (other.words_[w] & ~words_[w]) != 0;
      words_[w] |= other.words_[w];
    }
    return changed;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace tcq::run
