// Memory instructions of compiled kernels: every lane has its own address, and its values are the feed's.
//
// Every lane is a thread of its own (lane_order.h). Plain accesses are held against all others (access.h), accesses by
// which threads synchronise (atom, red, acquire, release, relaxed, volatile: strong ones) against plain ones only.
//
// Source: PTX ISA 9.2, 8.9 "Ordering of memory operations", 9.7.9.8 "ld", 9.7.9.11 "st", 9.7.13.5 "atom".
// Inferred: a relaxed write behind a fence releases what the fence's warp knew, a fence behind a relaxed read
// acquires it (release and acquire patterns, 8.9.3); lanes of a warp take an instruction together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/async/instructions/clause.h"
#include "sim/async/undefined_bytes.h"
#include "sim/isa/base/matrix_bytes.h"

namespace tcq::machine {

inline constexpr int max_lane_bytes = 32;
inline constexpr int vector_bytes = 16;  // that a chip moves at one time

// The bytes of each lane, as they are in memory.
using LaneBytes = std::array<std::array<std::uint8_t, max_lane_bytes>, 32>;

// Where each lane accesses memory: absolute shared addresses of one CTA, or offsets into global memory.
struct LaneAddresses {
  bool global = false;
  int cta = own_cta;
  int bytes = 4;  // of each lane
  std::array<std::uint32_t, 32> at = {};
};

// What a load found in memory.
struct WatchedBytes {
  LaneAddresses where;
  std::uint32_t lanes = 0;
  LaneBytes seen = {};
};

// ld and st. `data` is read or written by execute() and outlives it.
struct LaneAccess {
  bool stores = false;
  LaneAddresses where;
  LaneBytes* data = nullptr;
  std::vector<int> loaded;  // registers of a load, to be used before its bytes are free again
  int begin = 0;            // where in a lane's data its bytes begin
  std::vector<UndefinedBytes> undefined = {};  // of a store: what it fills with them
  bool is_followed = false;                    // unused_loads.h; of a store: undefined_bytes.h
  std::uint32_t source = 0;                    // of a store: is_one_store()

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// st.bulk of one lane: zeros into its own CTA's shared memory, an ordinary store of the generic proxy.
// Source: PTX ISA 9.2, 9.7.9.13 "st.bulk". Inferred: the address is a multiple of 8. Never run on silicon here.
struct StoreZeros {
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// atom, red, and ld or st with an order. `update` makes the new bytes of a lane of the old ones; null: a load.
struct LaneAtomic {
  LaneAddresses where;
  LaneBytes* data = nullptr;  // gets what was there before
  std::function<void(int lane, std::uint8_t* bytes)> update;
  bool acquires = false;
  bool releases = false;
  bool reads = true;
  bool finds = true;  // its result, or what it writes, depends on what it read
  bool is_volatile = false;
  bool is_narrow = false;  // of scope .cta
  // A round of a loop changed nothing: it waits until one of these is not what was seen.
  std::shared_ptr<const std::vector<WatchedBytes>> watched = {};
  bool goes_last = false;  // it waits no longer than anybody else can take a step
  bool* changed = nullptr;  // becomes true where `update` made other bytes of them

  static constexpr None registers{}, check{}, writes_global{};
  std::vector<Touch> touches(const Standing&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// fence and membar. With .sync_restrict it orders what is released and acquired at words and mbarriers of shared memory.
// Source: PTX ISA 9.2, 9.7.13.4 "membar, fence". Not modelled: that such a fence leaves out data in global memory.
struct FenceMemory {
  bool is_narrow = false;  // of scope .cta
  bool acquires = true;
  bool releases = true;
  bool only_shared = false;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// ldmatrix and stmatrix; the registers of lane l are data[l], four words.
struct LaneMatrices {
  bool stores = false;
  std::optional<matrix::ByteShape> bytes = {};  // none: 8 x 8 of 16 bits
  matrix::Packing packing = matrix::Packing::Bytes;
  int count = 1;
  bool transposed = false;
  std::array<std::uint32_t, 32> rows = {};
  LaneBytes* data = nullptr;
  std::vector<int> loaded;
  std::vector<UndefinedBytes> undefined = {};  // of a store: rows that it fills with them
  bool is_followed = false;                    // unused_loads.h
  std::uint32_t source = 0;                    // of a store: is_one_store()

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// What stands in a compiled kernel's program for an instruction of its text.
struct KernelText {
  const std::string* words = nullptr;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return words == nullptr ? "" : *words; }
  void execute(Step&) const {}
};

}  // namespace tcq::machine
