#include "oracle/recording/tile_copy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/isa/base/shared_limits.h"
#include "sim/machine/tma.h"

namespace tcq::oracle {
namespace {

using Kind = TileCopy::Kind;

const char* name(Kind kind) {
  switch (kind) {
    case Kind::Load: return "load";
    case Kind::Store: return "store";
    case Kind::Reduce: return "reduce";
    case Kind::Multicast: return "multicast";
  }
  return "?";
}

template <class T>
std::string list(const T& values, int count) {
  return fmt::format("({})", fmt::join(std::begin(values), std::begin(values) + count, ","));
}

int shown_rank(const tma::TensorMap& map) { return std::clamp(map.rank, 1, tma::max_rank); }

bool box_reaches_out(const tma::Tile& tile, int dim, bool low) {
  tma::BoxElement last;
  for (int d = 0; d < tile.map.rank; ++d) last.at[d] = tma::extent(tile.map, d) - 1;
  const std::int64_t last_at = tma::tensor_coordinate(tile.map, tile.start, last, dim);
  return low ? tile.start.at[dim] < 0 : last_at >= static_cast<std::int64_t>(tile.map.dims[dim]);
}

std::uint64_t element_at(std::span<const std::uint8_t> bytes, std::size_t at, std::uint32_t width) {
  std::uint64_t element = 0;
  if (at + width <= bytes.size()) std::memcpy(&element, bytes.data() + at, width);
  return element;
}

std::string coordinates_text(const tma::Tile& tile, const tma::BoxElement& e) {
  std::vector<std::int64_t> at;
  for (int d = 0; d < tile.map.rank; ++d)
    at.push_back(tma::tensor_coordinate(tile.map, tile.start, e, d));
  return fmt::format("({})", fmt::join(at, ","));
}

}  // namespace

void fields(Fields& io, tma::TensorMap& map) {
  io.below(map.type, tma::data_type_count, "element type");
  io.number(map.rank, 1);
  io.number(map.address, 8);
  io.numbers(map.dims, 8);
  io.numbers(map.stride_bytes, 8);
  io.numbers(map.box, 4);
  io.numbers(map.element_strides, 4);
  io.below(map.interleave, 3, "interleave");
  io.below(map.swizzle, swizzle_count, "swizzle");
  io.below(map.fill, 2, "fill");
}

void fields(Fields& io, tma::Reduction& reduction, tma::Multicast& how) {
  io.below(reduction, tma::reduction_count, "reduction");
  io.below(how.cluster, max_cluster + 1, "cluster");
  io.below(how.issuer, max_cluster, "issuer");
  io.number(how.mask, 2);
}

void fields(Fields& io, TileCopy& e) {
  fields(io, e.tile.map);
  io.numbers(e.tile.start.at, 4);
  io.number(e.tile.shared_address, 4);
  fields(io, e.reduction, e.how);
}

Memories state(const TileCopy& e, const Inputs& inputs) {
  return draw_memories(inputs, e.tile.map.type);
}

Prediction predict(const TileCopy& e, const Inputs&, Memories before) {
  Prediction p;
  if (e.kind == Kind::Multicast) {
    tma::ClusterState state{{}, std::move(before.global)};
    state.shared.assign(static_cast<std::size_t>(e.how.cluster), before.shared);
    p = {execute(state, tma::MulticastLoad{e.tile, e.how.mask}), bytes_of(state.shared)};
  } else {
    tma::State state{std::move(before.shared), std::move(before.global)};
    p.fault = e.kind == Kind::Load    ? execute(state, tma::Load{e.tile})
              : e.kind == Kind::Store ? execute(state, tma::Store{e.tile})
                                      : execute(state, tma::Reduce{e.tile, e.reduction});
    p.output = e.kind == Kind::Load ? bytes_of(state.shared) : std::move(state.global);
  }
  return p.fault == Fault::None ? p : trap(p.fault);
}

std::string describe(const tma::TensorMap& map) {
  const int rank = shown_rank(map);
  std::string text =
      fmt::format("{} rank {} dims {} strides {} box {}", tma::name(map.type), map.rank,
                  list(map.dims, rank), list(map.stride_bytes, rank - 1), list(map.box, rank));
  text += fmt::format(" element strides {} swizzle {} fill {} address {:#x}",
                      list(map.element_strides, rank), name(map.swizzle),
                      map.fill == tma::Fill::NaN ? "NaN" : "zero", map.address);
  if (map.interleave != tma::Interleave::None)
    text += fmt::format(" interleave {}", map.interleave == tma::Interleave::B16 ? "16B" : "32B");
  return text;
}

std::string describe(const TileCopy& e, const Inputs&) {
  std::string text =
      fmt::format("{}: {} start {} tile {:#x}", name(e.kind), describe(e.tile.map),
                  list(e.tile.start.at, shown_rank(e.tile.map)), e.tile.shared_address);
  if (e.kind == Kind::Reduce) text += fmt::format(" op {}", tma::name(e.reduction));
  if (e.kind == Kind::Multicast)
    text +=
        fmt::format(" cluster {} mask {:#x} issuer {}", e.how.cluster, e.how.mask, e.how.issuer);
  return text;
}

std::string place(const TileCopy& e, const Inputs& inputs, std::size_t at) {
  return returns_shared(e) ? shared_place(inputs, at) : global_place(at);
}

Properties properties(const tma::TensorMap& map) {
  return {fmt::format("swizzle {}", name(map.swizzle)),
          fmt::format("type {}", tma::name(map.type)), fmt::format("rank {}", map.rank),
          map.fill == tma::Fill::NaN ? "fill NaN" : "fill zero"};
}

Properties properties(const TileCopy& e, const Inputs& inputs) {
  const tma::TensorMap& map = e.tile.map;
  Properties p = properties(map);
  p.emplace_back(name(e.kind));
  const std::uint32_t span = tma::span_bytes(map.swizzle);
  const bool narrow = span != 0 && tma::inner_box_bytes(map) != span;
  p.push_back(narrow ? fmt::format("inner box {} of {}", tma::inner_box_bytes(map), span)
                     : "inner box not narrower than the span");
  if (span != 0) p.push_back(fmt::format("tile at {} mod 1024", e.tile.shared_address % 1024));
  p.push_back(fmt::format("tensor at {} mod 128", map.address % 128));
  p.emplace_back(inputs.content == MemoryContent::Random ? "random values" : "special values");
  bool strided = false;
  bool out = false;
  for (int d = 0; d < map.rank; ++d) {
    strided = strided || (tma::extent(map, d) > 1 && tma::element_stride(map, d) > 1);
    for (const bool low : {true, false}) {
      if (!box_reaches_out(e.tile, d, low)) continue;
      out = true;
      p.push_back(fmt::format("out of bounds {} dimension {}", low ? "below" : "above", d));
    }
  }
  p.emplace_back(strided ? "element strides" : "no element strides");
  p.emplace_back(out ? "out of bounds somewhere" : "inside");
  if (e.kind == Kind::Reduce) p.push_back(fmt::format("op {}", tma::name(e.reduction)));
  return p;
}

std::string differing_elements(const TileCopy& e, const Inputs& in, const Returned& answer,
                               const Prediction& prediction) {
  const tma::TensorMap& map = e.tile.map;
  const Memories before = state(e, in);
  const std::span<const std::uint8_t> shared(before.shared.data(), before.shared.size());
  const bool load = returns_shared(e);
  const std::uint32_t width = tma::element_bytes(map.type);
  const int digits = static_cast<int>(2 * width);
  int limit = in.content == MemoryContent::SpecialWords ? 40 : 6;
  std::string text;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (std::uint32_t i = 0; i < tma::box_elements(map) && limit > 0; ++i) {
    const tma::BoxElement b = tma::box_element(map, i);
    const bool inside =
        load ? tma::in_bounds(map, e.tile.start, b) : tma::is_written(map, e.tile.start, b);
    if (!load && !inside) continue;
    const std::size_t in_shared =
        tma::shared_address(map, e.tile.shared_address, b) - shared_base_sm90;
    const std::size_t in_global = inside ? tma::global_address(map, e.tile.start, b) : 0;
    const std::size_t at = load ? in_shared : in_global;
    const std::uint64_t got = element_at(answer.output, at, width);
    const std::uint64_t want = element_at(prediction.output, at, width);
    if (got == want) continue;
    const std::uint64_t source =
        load ? element_at(before.global, in_global, width) : element_at(shared, in_shared, width);
    if (!seen.insert({inside ? source : 0, got}).second) continue;
    --limit;
    text += fmt::format("    element {} at tensor {}: source {}, device {:0{}x}, simulator {:0{}x}",
                        list(b.at, map.rank), coordinates_text(e.tile, b),
                        inside ? fmt::format("{:0{}x}", source, digits) : "out of bounds", got,
                        digits, want, digits);
    if (e.kind == Kind::Reduce)
      text +=
          fmt::format(", tensor had {:0{}x}", element_at(before.global, in_global, width), digits);
    text += "\n";
  }
  return text;
}

}  // namespace tcq::oracle
