// Global memory as one execution leaves it: the bytes of the launch, written in place, and what they were before.
//
// A program's memory may be large and a cluster touches little of it, so that nothing here costs by its size: an
// execution keeps a page as it was before the first write to it, its pages afterwards are its result, and at its end
// what it kept goes back. Every write is recorded before it is made (record_global in access.cc), and that is where
// pages are kept. One execution has the memory at a time; one that begins meanwhile, in the same thread, has a copy of
// what the launch gave. A copy of a program has bytes of its own: another thread explores such a copy.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/async/provenance.h"

namespace tcq::machine {

class GlobalMemory;

// Bytes, by pages.
class ByteSet {
 public:
  void add(std::size_t byte) { pages_[byte / page_bytes].set(byte % page_bytes); }
  bool holds_any(ByteRange range) const;

 private:
  static constexpr std::size_t page_bytes = 4096;
  std::map<std::size_t, std::bitset<page_bytes>> pages_;
};

// What a launch gives; the clusters of a grid may share it, one after the other.
struct LaunchMemory {
  std::vector<std::uint8_t> bytes;
  ByteSet written = {};                  // those that a cluster before has left otherwise
  const GlobalMemory* holder = nullptr;  // the execution that has it
};

// A program's: its copy has bytes of its own.
class ProgramMemory {
 public:
  ProgramMemory() : launch_(std::make_shared<LaunchMemory>()) {}
  explicit ProgramMemory(std::shared_ptr<LaunchMemory> launch) : launch_(std::move(launch)) {}
  ProgramMemory(const ProgramMemory& other);
  ProgramMemory(ProgramMemory&&) = default;
  ProgramMemory& operator=(ProgramMemory other) {
    launch_ = std::move(other.launch_);
    return *this;
  }

  const std::shared_ptr<LaunchMemory>& launch() const { return launch_; }

 private:
  std::shared_ptr<LaunchMemory> launch_;
};

// A page that an execution has left otherwise than it found it.
struct PageChange {
  std::size_t begin = 0;
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const PageChange&, const PageChange&) = default;
};
using GlobalChanges = std::vector<PageChange>;  // ascending
void apply(const GlobalChanges& changes, LaunchMemory& memory);

class GlobalMemory {
 public:
  static constexpr std::size_t page_bytes = 4096;

  explicit GlobalMemory(const std::shared_ptr<LaunchMemory>& of);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory& other);  // where the other stands, in bytes of its own
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // A copy of what the launch gave.
  std::shared_ptr<LaunchMemory> given() const;
  // Before any of the bytes is written.
  void keep(ByteRange bytes) {
    if (bytes.begin / page_bytes == last_kept_ && (bytes.end - 1) / page_bytes == last_kept_)
      return;
    keep_pages(bytes);
  }
  std::vector<std::uint8_t>& bytes() { return memory_->bytes; }
  const std::vector<std::uint8_t>& bytes() const { return memory_->bytes; }
  std::size_t size() const { return memory_->bytes.size(); }

  // By a cluster before.
  bool was_written(ByteRange range) const { return memory_->written.holds_any(range); }

  GlobalChanges changes() const;
  // The first byte that is another one than in an execution that has left those changes; none: all are alike.
  std::optional<std::size_t> first_difference(const GlobalChanges& other) const;

 private:
  void keep_pages(ByteRange bytes);
  void put_back(std::vector<std::uint8_t>& bytes) const;
  const std::uint8_t* page(std::size_t number) const {
    return memory_->bytes.data() + number * page_bytes;
  }

  std::shared_ptr<LaunchMemory> memory_;
  std::map<std::size_t, std::vector<std::uint8_t>> before_;  // by number of the page
  std::size_t last_kept_ = ~std::size_t{0};
};

}  // namespace tcq::machine
