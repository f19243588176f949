// One TMA tile copy: a load, a store, a reduction, or a load for several CTAs of a cluster.
//
// The output is the shared images of all CTAs, or global memory. Which tiles are drawn: tile_suites.cc.
// The simulator: sim/machine/tma.h; the device: cuda/probe/tma_sm90.h.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/recording/fields.h"
#include "oracle/recording/memories.h"
#include "sim/isa/copy/operands.h"
#include "sim/isa/copy/tma_reduction.h"

namespace tcq::oracle {

struct TileCopy {
  enum class Kind : std::uint8_t { Load, Store, Reduce, Multicast };
  static constexpr int first_code = 0;  // in a file, of the first kind
  static constexpr int kind_count = 4;

  Kind kind = Kind::Load;
  tma::Tile tile = {};
  tma::Reduction reduction = tma::Reduction::Add;
  tma::Multicast how = {};

  friend constexpr bool operator==(const TileCopy&, const TileCopy&) = default;
};

void fields(Fields& io, TileCopy& e);
Memories state(const TileCopy& e, const Inputs& inputs);
Prediction predict(const TileCopy& e, const Inputs& inputs, Memories before);
std::string describe(const TileCopy& e, const Inputs& inputs);
std::string place(const TileCopy& e, const Inputs& inputs, std::size_t at);
Properties properties(const TileCopy& e, const Inputs& inputs);
// The first differing elements where the simulator expects them, with the element they came from.
std::string differing_elements(const TileCopy& e, const Inputs& inputs, const Returned& answer,
                               const Prediction& prediction);

// The output is shared memory, not global.
constexpr bool returns_shared(const TileCopy& e) {
  return e.kind == TileCopy::Kind::Load || e.kind == TileCopy::Kind::Multicast;
}

// ---- Shared with map_encoding.cc and bulk_copy.cc -------------------------------------------------

inline constexpr int max_cluster = 16;

void fields(Fields& io, tma::TensorMap& map);
// Reduction, cluster, issuer, mask.
void fields(Fields& io, tma::Reduction& reduction, tma::Multicast& how);
std::string describe(const tma::TensorMap& map);
// Of the tensor map alone.
Properties properties(const tma::TensorMap& map);

}  // namespace tcq::oracle
