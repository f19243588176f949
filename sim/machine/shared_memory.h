// The shared memory of one CTA as bytes at absolute addresses of its shared window.
//
// A CTA's own bytes start at `base`, behind those that the system keeps. Reads outside are refused,
// never invented.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/isa/base/shared_limits.h"

namespace tcq {

inline constexpr std::uint32_t shared_base_sm90 = reserved_shared_bytes;

class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(std::uint32_t base, std::uint32_t size) : base_(base), bytes_(size) {}

  std::uint32_t base() const { return base_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  bool contains(std::uint32_t address, std::uint32_t count) const {
    return address >= base_ && address - base_ <= size() && count <= size() - (address - base_);
  }

  // Requires: contains(address, sizeof(T)). Little endian, like the device.
  template <class T>
  T load(std::uint32_t address) const {
    assert(contains(address, sizeof(T)));
    T value;
    std::memcpy(&value, &bytes_[address - base_], sizeof value);
    return value;
  }
  template <class T>
  void store(std::uint32_t address, T value) {
    assert(contains(address, sizeof(T)));
    std::memcpy(&bytes_[address - base_], &value, sizeof value);
  }

  std::uint8_t* data() { return bytes_.data(); }
  const std::uint8_t* data() const { return bytes_.data(); }

  friend bool operator==(const SharedMemory&, const SharedMemory&) = default;

 private:
  std::uint32_t base_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace tcq
