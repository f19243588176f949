// Tensor maps that change: patches, and the fences between a patch and a copy. The rules: tensor_maps.h.
//
// Source: PTX ISA 9.2, 9.7.9.28 "tensormap.replace", 9.7.13.4 "fence.proxy.tensormap".
#pragma once

#include <string>

#include "sim/async/instructions/clause.h"
#include "sim/isa/copy/tensor_map.h"

namespace tcq::machine {

// tensormap.replace of every field, or stores to the 128 bytes: a write through the generic proxy.
struct TensormapReplace {
  int map = 0;
  tma::TensorMap value;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{};
  Fault check(const Bounds&) const;
  void writes_global(GlobalWrites&) const;  // where the stores through the map then go
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// fence.proxy.tensormap::generic.
struct FenceProxyTensormap {
  TensormapFence direction = TensormapFence::Release;
  int map = 0;  // Acquire
  Scope scope = Scope::Cluster;

  static constexpr None registers{}, touches{}, is_blocked{}, waiting{}, writes_global{};
  Fault check(const Bounds&) const;
  std::string text(const Names&) const;
  void execute(Step&) const;
};

// ProgramMalformed if the program has no map of this number.
inline Fault check_map(int map, const Bounds& bounds) {
  return map < 0 || map >= bounds.maps ? Fault::ProgramMalformed : Fault::None;
}

}  // namespace tcq::machine
