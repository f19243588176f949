#include "sim/async/mma_cache.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tcq::machine {

// Two independent multiplicative hashes of a sequence of 64-bit words.
class MmaCache::Hasher {
 public:
  void add(std::uint64_t word) {
    key_.low = mix(key_.low ^ word, 0x9e3779b97f4a7c15u);
    key_.high = mix(key_.high + word, 0xc2b2ae3d27d4eb4fu);
  }
  template <class T>
  void add(const T* data, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
    const std::size_t size = count * sizeof(T);
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min(sizeof word, size - i));
      add(word);
    }
  }
  Key key() const { return key_; }

 private:
  static std::uint64_t mix(std::uint64_t value, std::uint64_t factor) {
    value *= factor;
    return value ^ value >> 29;
  }
  Key key_{0x243f6a8885a308d3u, 0x13198a2e03707344u};
};

namespace {

// Every operand byte lies in shared memory; otherwise the instruction itself says so.
bool add_operand(const wgmma::Instruction& op, Operand which, const SharedMemory& shared,
                 auto& hasher) {
  bool inside = true;
  for_each_operand_chunk(op, which, [&](int, std::uint32_t address) {
    inside = inside && shared.contains(address, 16);
    if (!inside) return;
    hasher.add(shared.load<std::uint64_t>(address));
    hasher.add(shared.load<std::uint64_t>(address + 8));
  });
  return inside;
}

}  // namespace

Fault MmaCache::execute(const wgmma::Instruction& op, const SharedMemory& shared,
                        WarpgroupRegisters& registers) {
  const wgmma::Form& f = op.form;
  Hasher hasher;
  const std::uint64_t codes[] = {
      static_cast<std::uint64_t>(f.d),          static_cast<std::uint64_t>(f.a),
      static_cast<std::uint64_t>(f.b),          static_cast<std::uint64_t>(f.n),
      static_cast<std::uint64_t>(f.sparse),     static_cast<std::uint64_t>(f.a_place),
      static_cast<std::uint64_t>(f.negate_a),   static_cast<std::uint64_t>(f.negate_b),
      static_cast<std::uint64_t>(f.satfinite),  static_cast<std::uint64_t>(f.major_a),
      static_cast<std::uint64_t>(f.major_b),    static_cast<std::uint64_t>(op.selector),
      static_cast<std::uint64_t>(op.accumulate)};
  hasher.add(codes, std::size(codes));
  const bool inside =
      (f.a_place == wgmma::Place::Registers || add_operand(op, Operand::A, shared, hasher)) &&
      add_operand(op, Operand::B, shared, hasher);
  if (!inside) return Fault::SharedMemoryOutOfRange;
  if (f.a_place == wgmma::Place::Registers) hasher.add(registers.a.data(), registers.a.size());
  if (f.sparse) hasher.add(registers.metadata.data(), registers.metadata.size());
  if (op.accumulate) hasher.add(registers.d.data(), registers.d.size());

  if (const auto found = results_.find(hasher.key()); found != results_.end()) {
    ++hits_;
    registers.d = found->second;
    return Fault::None;
  }
  ++misses_;
  if (const Fault fault = wgmma::execute(shared, registers, op, room_); fault != Fault::None) return fault;
  if (bytes_ > max_bytes_) {
    results_.clear();
    bytes_ = 0;
  }
  bytes_ += registers.d.size() * sizeof(std::uint32_t);
  results_.emplace(hasher.key(), registers.d);
  return Fault::None;
}

}  // namespace tcq::machine
