#include "oracle/recording/map_encoding.h"

#include <fmt/format.h>

#include "oracle/recording/tile_copy.h"

namespace tcq::oracle {

// In a file there is room for the rest of a tile copy, too.
void fields(Fields& io, MapEncoding& e) {
  TileCopy tile;
  tile.tile.map = e.map;
  fields(io, tile);
  e.map = tile.tile.map;
  TileCopy alone;
  alone.tile.map = e.map;
  io.demand(tile == alone, "recording holds a tensor map with operands");
}

Memories state(const MapEncoding& e, const Inputs& inputs) {
  return draw_memories(inputs, e.map.type);
}

Prediction predict(const MapEncoding& e, const Inputs&, const Memories&) {
  const Fault fault = check(e.map);
  const bool accepted = fault == Fault::None || info(fault).kind == FaultKind::Unmodelled;
  return {Fault::None, {static_cast<std::uint8_t>(accepted ? 1 : 0)}};
}

std::string describe(const MapEncoding& e, const Inputs&) { return "encode: " + describe(e.map); }

std::string place(const MapEncoding&, const Inputs&, std::size_t) { return "accepted"; }

Properties properties(const MapEncoding& e, const Inputs&) {
  const tma::TensorMap& map = e.map;
  Properties p = properties(map);
  p.emplace_back("encode");
  p.push_back(fmt::format("check() says {}", info(check(map)).name));
  if (map.rank < 1 || map.rank > tma::max_rank) return p;
  p.push_back(fmt::format("interleave {}", static_cast<int>(map.interleave)));
  p.push_back(fmt::format("element stride 0 is {}", map.element_strides[0]));
  for (int d = 0; d + 1 < map.rank; ++d) {
    if (map.stride_bytes[d] == 0) p.emplace_back("a stride of zero");
    const std::uint64_t below = d == 0 ? tma::element_bytes(map.type) : map.stride_bytes[d - 1];
    if (map.stride_bytes[d] < map.dims[d] * below) p.emplace_back("rows overlap");
  }
  return p;
}

}  // namespace tcq::oracle
