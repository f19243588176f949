#include "sim/async/mma_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace tcq::machine {

// Four multiplicative hashes, each of every fourth 64-bit word: none waits for another.
class MmaCache::Hasher {
 public:
  void add(std::uint64_t word) {
    std::uint64_t& lane = lanes_[next_++ % lanes_.size()];
    lane = mix(lane ^ word);
  }
  template <class T>
  void add(const T* data, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
    const std::size_t size = count * sizeof(T);
    std::size_t i = 0;
    for (; i + sizeof lanes_ <= size; i += sizeof lanes_) add_all(bytes + i);
    for (; i < size; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min(sizeof word, size - i));
      add(word);
    }
  }
  void add(const Key& key) {
    add(key.low);
    add(key.high);
  }
  Key key() const {
    Key key{next_, lanes_.size()};
    for (const std::uint64_t lane : lanes_) {
      key.low = mix(key.low ^ lane);
      key.high = mix(key.high + lane) + key.low;
    }
    return key;
  }

 private:
  void add_all(const std::uint8_t* bytes) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), bytes, sizeof words);
    for (std::size_t i = 0; i < words.size(); ++i) lanes_[i] = mix(lanes_[i] ^ words[i]);
  }
  // The upper half goes down first: a product alone hands its top bit on to no other.
  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 32) * 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
  }

  std::array<std::uint64_t, 4> lanes_ = {0x243f6a8885a308d3u, 0x13198a2e03707344u,
                                         0xa4093822299f31d0u, 0x082efa98ec4e6c89u};
  std::size_t next_ = 0;
};

// Every operand byte lies in shared memory; otherwise the instruction itself says so.
bool MmaCache::add_operand(const wgmma::Instruction& op, Operand which, const SharedMemory& shared,
                           Hasher& hasher) {
  const ChunkLists::List list = chunks.find(op, which);
  for (const std::uint32_t address : list->addresses) {
    if (!shared.contains(address, operand_chunk_bytes)) return false;
    hasher.add(shared.load<std::uint64_t>(address));
    hasher.add(shared.load<std::uint64_t>(address + 8));
  }
  return true;
}

// False: outside of shared memory.
bool MmaCache::add(const wgmma::Instruction& op, const SharedMemory& shared,
                   const WarpgroupRegisters& sources, Hasher& hasher) {
  const wgmma::Form& f = op.form;
  const std::uint64_t codes[] = {
      static_cast<std::uint64_t>(f.d),          static_cast<std::uint64_t>(f.a),
      static_cast<std::uint64_t>(f.b),          static_cast<std::uint64_t>(f.n),
      static_cast<std::uint64_t>(f.sparse),     static_cast<std::uint64_t>(f.a_place),
      static_cast<std::uint64_t>(f.negate_a),   static_cast<std::uint64_t>(f.negate_b),
      static_cast<std::uint64_t>(f.satfinite),  static_cast<std::uint64_t>(f.major_a),
      static_cast<std::uint64_t>(f.major_b),    static_cast<std::uint64_t>(op.selector),
      static_cast<std::uint64_t>(op.accumulate)};
  hasher.add(codes, std::size(codes));
  const bool in_registers = f.a_place == wgmma::Place::Registers;
  if (!in_registers && !add_operand(op, Operand::A, shared, hasher)) return false;
  if (in_registers) hasher.add(sources.a.data(), sources.a.size());
  if (f.sparse) hasher.add(sources.metadata.data(), sources.metadata.size());
  return add_operand(op, Operand::B, shared, hasher);
}

Fault MmaCache::advance(const SharedMemory& shared, const WarpgroupRegisters& sources,
                        std::span<const wgmma::Instruction> chain, Tile& d) {
  if (chain.front().accumulate && !d.key_) {
    Hasher hasher;
    hasher.add(d.words_.data(), d.words_.size());
    d.key_ = hasher.key();
  }
  Key key = chain.front().accumulate ? *d.key_ : Key{};
  for (const wgmma::Instruction& op : chain) {
    Hasher hasher;
    hasher.add(key);
    if (!add(op, shared, sources, hasher)) return Fault::SharedMemoryOutOfRange;
    key = hasher.key();
  }

  const auto found = results_.find(key);
  const bool is_known = found != results_.end();
  if (is_known) {
    d.words_ = found->second;
  } else if (const Fault fault = wgmma::execute_chain(shared, sources, chain, d.words_);
             fault != Fault::None) {
    return fault;
  }
  d.key_ = key;
  ++(is_known ? hits_ : misses_);
  if (!is_known) keep(key, d.words_);
  return Fault::None;
}

void MmaCache::keep(const Key& key, const wgmma::Outputs& words) {
  if (bytes_ > max_bytes_) {
    results_.clear();
    bytes_ = 0;
  }
  bytes_ += words.size() * sizeof(std::uint32_t);
  results_.emplace(key, words);
}

}  // namespace tcq::machine
