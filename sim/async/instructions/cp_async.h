// cp.async of compiled kernels: every lane copies 4, 8 or 16 bytes of global into shared memory, and waits for groups of
// its own copies.
//
// Until its lanes have waited, what a copy writes is nobody's, and what it reads may not be overwritten; then it is as
// if the warp had stored at the wait. An mbarrier may be told to say so instead. The bytes move at once: who looks at
// them too early gets a Fault whatever they are.
//
// Source: PTX ISA 9.2, 9.7.9.25.3 "Non-bulk copy", 9.7.13.15.17 "cp.async.mbarrier.arrive".
// Inferred: the copies are in the generic proxy: wgmma reads what they wrote behind a fence.proxy.async only.
#pragma once

#include <cstdint>
#include <string>

#include "sim/async/instructions/lanes.h"

namespace tcq::machine {

// from.bytes of to.bytes are read, the others become zeros.
struct CpAsync {
  LaneAddresses to, from;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

struct CpAsyncCommit {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "cp.async.commit_group"; }
  void execute(Step&) const;
};

// cp.async.wait_group; `all`: cp.async.wait_all, which waits for what is in no group, too.
struct CpAsyncWait {
  std::uint32_t pending = 0;
  bool all = false;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// What the lanes have copied so far has landed once the mbarrier's present phase completes: the first half of
// cp.async.mbarrier.arrive. The other half is an arrival; without .noinc it counts on nothing.
struct CpAsyncTrack {
  Address barrier;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "cp.async.mbarrier.arrive"; }
  void execute(Step&) const;
};

}  // namespace tcq::machine
