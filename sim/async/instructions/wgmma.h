// wgmma: issue by the four warps of a warpgroup, groups, waiting. Which registers are whose meanwhile:
// wgmma_order.h.
//
// Source: PTX ISA 9.2, 9.7.15.7.
// Inferred: wait_group is where the warps of a warpgroup wait for each other's issue.
#pragma once

#include <string>

#include "sim/async/instructions/clause.h"
#include "sim/isa/wgmma/syntax.h"
#include "sim/machine/wgmma.h"

namespace tcq::machine {

struct WgmmaFence {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "wgmma.fence"; }
  void execute(Step&) const;
};

struct WgmmaMma {
  wgmma::Instruction op;
  RegisterRange d;
  RegisterRange a;         // empty: A in shared memory
  RegisterRange metadata;  // empty: dense

  static constexpr None touches{}, is_blocked{}, waiting{}, writes_global{};
  RegisterUse registers() const { return {d, a, metadata}; }
  Fault check(const Bounds&) const;
  std::string text(const Names& names) const { return names.opcode(tcq::wgmma::opcode(op.form)); }
  void execute(Step&) const;
};

struct WgmmaCommit {
  static constexpr None registers{}, check{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  std::string text(const Names&) const { return "wgmma.commit_group"; }
  void execute(Step&) const;
};

struct WgmmaWait {
  int pending = 0;

  static constexpr None registers{}, touches{}, writes_global{};
  Fault check(const Bounds&) const;
  bool is_blocked(const Standing&) const;
  Waiting waiting(const Standing&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

}  // namespace tcq::machine
