// Shared memory through the generic proxy: ld, st, ldmatrix, stmatrix, and the fence towards the async
// proxy.
//
// Source: PTX ISA 9.2, 9.7.9.8 "ld", 9.7.14.5.15 "ldmatrix", 9.7.13.4 "fence.proxy.async".
#pragma once

#include <string>

#include "sim/async/instructions/clause.h"

namespace tcq::machine {

// ld.shared / st.shared, bytes per thread: 4, 8 or 16.
struct LoadShared {
  Address from;
  int reg = 0;
  int bytes = 4;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, bytes / 4}; }
  RegisterUse registers() const { return {range()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct StoreShared {
  Address to;
  int reg = 0;
  int bytes = 4;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, bytes / 4}; }
  RegisterUse registers() const { return {range()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// ldmatrix / stmatrix .m8n8.b16; thread 8j + i of each warp supplies the address of row i of matrix
// j.
struct LoadMatrices {
  Address rows;
  int reg = 0;
  int count = 1;
  bool transposed = false;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, count}; }
  RegisterUse registers() const { return {range()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};
struct StoreMatrices {
  Address rows;
  int reg = 0;
  int count = 1;
  bool transposed = false;

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterRange range() const { return {reg, count}; }
  RegisterUse registers() const { return {range()}; }
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// Of the memories that it names: fence.proxy.async of all, .shared::{cta, cluster} and .global of one; .shared::cta leaves out those of
// other CTAs. Orders what stands before it behind whoever learns of it, and what stands behind it behind all that its thread knows:
// fence.proxy.async::generic does the one as .release, the other as .acquire.
// Source: PTX ISA 9.2, 9.7.13.4 "membar, fence". Inferred: whoever learns of another thread's writes and fences itself needs none of
// .shared::cluster for them.
struct FenceProxyAsync {
  bool shared = true, global = true, peers = true;
  bool releases = true, acquires = true;

  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const {
    return shared && global ? "fence.proxy.async"
           : peers          ? "fence.proxy.async.shared::cluster"
           : shared         ? "fence.proxy.async.shared::cta"
                            : "fence.proxy.async.global";
  }
  void execute(Step&) const;
};

}  // namespace tcq::machine
