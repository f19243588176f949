// The suites of tensor maps: what cuTensorMapEncodeTiled makes of them.
//
// `encode`: maps of tiles as tile_suites.cc draws them, with up to two parameters changed; boxes about
// as large as shared memory. `interleave`: maps that keep every rule of the driver's text, with up to
// two parameters changed to a value at or beyond a limit, so that the parameter that decides can be read
// from the answers.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "oracle/recording/suites.h"
#include "oracle/recording/tile_draw.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using tma::DataType;
using tma::Fill;
using tma::Interleave;
using tma::TensorMap;

constexpr int map_count = 2000;
constexpr std::uint32_t strictest_unit = 32;  // of addresses, strides and inner boxes

template <class T>
T pick(Draw& draw, std::initializer_list<T> values) {
  return values.begin()[draw.below(static_cast<int>(values.size()))];
}

std::uint32_t number(Draw& draw, int low, int high) {
  return static_cast<std::uint32_t>(draw.in(low, high));
}

DataType whole_bytes_type(Draw& draw) {
  return static_cast<DataType>(draw.below(static_cast<int>(DataType::U4Align8)));
}

// Legal by the driver's text, whatever the interleave.
TensorMap legal_map(Draw& draw) {
  TensorMap map;
  map.type = whole_bytes_type(draw);
  map.interleave =
      draw.one_in(8) ? Interleave::None : pick(draw, {Interleave::B16, Interleave::B32});
  map.rank = draw.in(3, tma::max_rank);
  map.address = strictest_unit * number(draw, 0, 8);
  map.swizzle = swizzles[static_cast<std::size_t>(draw.below(4))];
  const std::uint32_t unit = strictest_unit / tma::element_bytes(map.type);
  const std::uint32_t span = tma::span_bytes(map.swizzle) / strictest_unit;
  const bool narrow = span != 0 && (map.interleave == Interleave::None || draw.one_in(2));
  map.box[0] = unit * number(draw, 1, static_cast<int>(narrow ? span : tma::max_box / unit));
  map.dims[0] = number(draw, 1, 600);
  std::uint64_t stride = map.dims[0] * tma::element_bytes(map.type);
  for (int d = 1; d < map.rank; ++d) {
    map.box[d] = number(draw, 1, 6);
    map.dims[d] = number(draw, 1, 20);
    map.stride_bytes[d - 1] = stride = round_up(stride, strictest_unit);
    stride *= map.dims[d];
  }
  return map;
}

// A box of about the size of the largest one, its rows a multiple of 16 bytes or not.
void enlarge_box(Draw& draw, TensorMap& map) {
  if (map.rank < 3 || map.rank > tma::max_rank || tma::is_packed(map.type)) return;
  const std::uint32_t row = std::max(1u, tma::inner_box_bytes(map));
  map.box[1] = number(draw, 1, tma::max_box);
  const std::uint32_t planes = tma::max_tile_bytes / (row * map.box[1]);
  const std::uint32_t about = std::clamp(planes + 2, 4u, tma::max_box + 3);
  map.box[2] = about - number(draw, 0, 3);
  for (int d = 3; d < map.rank; ++d) map.box[d] = pick(draw, {1u, 1u, 1u, 2u});
}

void disturb_tensor(Draw& draw, TensorMap& map) {
  const int d = draw.below(map.rank);
  const int s = map.rank > 1 ? draw.below(map.rank - 1) : 0;
  constexpr std::uint64_t most = tma::max_dim;
  constexpr std::uint64_t limit = tma::stride_limit;
  switch (draw.below(5)) {
    case 0: map.address += pick(draw, {1u, 2u, 4u, 8u, 16u, 24u, 48u}); break;
    case 1:
      map.dims[d] = pick<std::uint64_t>(draw, {0, 1, most / 2, most - 1, most, most + 1, limit});
      break;
    case 2:
      map.dims[0] = pick<std::uint64_t>(draw, {1, 2, 3, 15, most / 8, most / 2, most - 1, most});
      break;
    case 3:
      map.stride_bytes[s] = pick<std::uint64_t>(draw, {0, 1, 8, 16, 24, 32, 48, 64, limit / 16,
                                                       limit - 32, limit - 16, limit, limit + 32});
      break;
    default: map.stride_bytes[s] += pick(draw, {1u, 8u, 16u, 32u, 4096u}); break;
  }
}

void disturb_box(Draw& draw, TensorMap& map) {
  const int d = draw.below(map.rank);
  switch (draw.below(6)) {
    case 0: map.box[d] = pick(draw, {0u, 1u, 2u, 128u, 255u, 256u, 257u, 512u}); break;
    case 1:
    case 2: map.box[0] = number(draw, 0, 40); break;
    case 3: map.box[0] = number(draw, 1, tma::max_box + 1); break;
    case 4: map.element_strides[d] = number(draw, 0, 9); break;
    default: map.element_strides[0] = number(draw, 0, 9); break;
  }
}

void disturb_kind(Draw& draw, TensorMap& map) {
  switch (draw.below(5)) {
    case 0: map.rank = draw.in(0, tma::max_rank + 1); break;
    case 1: map.fill = tma::Fill::NaN; break;
    case 2: map.swizzle = static_cast<Swizzle>(draw.below(swizzle_count)); break;
    case 3: map.type = static_cast<DataType>(draw.below(tma::data_type_count)); break;
    default: map.interleave = static_cast<Interleave>(draw.below(3)); break;
  }
}

void disturb(Draw& draw, TensorMap& map) {
  if (map.rank < 1 || map.rank > tma::max_rank) return;
  switch (draw.below(6)) {
    case 0:
    case 1: disturb_tensor(draw, map); break;
    case 2:
    case 3: disturb_box(draw, map); break;
    case 4: enlarge_box(draw, map); break;
    default: disturb_kind(draw, map); break;
  }
}

// ---- The suite encode ---------------------------------------------------------------------------

// One parameter becomes a value at or beyond its limit.
void disturb_any(Draw& draw, TensorMap& map) {
  const auto pick = [&draw](auto... values) {
    const std::array all = {values...};
    return all[static_cast<std::size_t>(draw.below(static_cast<int>(all.size())))];
  };
  const int d = draw.below(map.rank);
  const int s = map.rank > 1 ? draw.below(map.rank - 1) : 0;
  switch (draw.below(12)) {
    case 0: map.rank = pick(0, 6, map.rank); break;
    case 1: map.address += pick(1u, 4u, 8u, 16u, 32u, 64u); break;
    case 2:
      map.dims[d] = pick(std::uint64_t{0}, std::uint64_t{1}, tma::max_dim - 1, tma::max_dim,
                         tma::max_dim + 1);
      break;
    case 3:
      map.stride_bytes[s] = pick(std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{16},
                                 std::uint64_t{24}, tma::stride_limit - 16, tma::stride_limit);
      break;
    case 4: map.box[d] = pick(0u, 1u, 2u, 255u, 256u, 257u); break;
    case 5: map.box[0] = pick(1u, 3u, 8u, 16u, 24u, 32u, 48u, 64u, 128u, 256u); break;
    case 6: map.element_strides[d] = pick(0u, 2u, 3u, 8u, 9u); break;
    case 7: map.element_strides[0] = pick(0u, 2u, 8u, 9u); break;
    case 8: map.fill = Fill::NaN; break;
    case 9: map.swizzle = static_cast<Swizzle>(draw.below(swizzle_count)); break;
    case 10: map.type = static_cast<DataType>(draw.below(tma::data_type_count)); break;
    default: map.interleave = static_cast<tma::Interleave>(draw.below(3)); break;
  }
}

// Boxes about as large as shared memory, whose element strides divide them or do not.
TensorMap large_box(Draw& draw) {
  TensorMap map;
  map.rank = draw.in(3, tma::max_rank);
  std::uint64_t bytes = 1;
  for (int d = 0; d < map.rank; ++d) {
    map.dims[d] = 256;
    bytes *= map.dims[d];
    if (d + 1 < map.rank) map.stride_bytes[d] = bytes;
  }
  map.box[0] = 256;
  std::uint64_t moved = 0;
  while (moved < tma::max_tile_bytes / 2 || moved > 4 * tma::max_tile_bytes) {
    moved = map.box[0];
    for (int d = 1; d < map.rank; ++d) {
      map.box[d] = static_cast<std::uint32_t>(draw.one_in(3) ? draw.in(1, 8) : draw.in(1, 256));
      map.element_strides[d] = static_cast<std::uint32_t>(draw.one_in(2) ? 1 : draw.in(2, 8));
      moved *= tma::extent(map, d);
    }
  }
  return map;
}

}  // namespace

std::vector<Case> map_encodings(std::uint64_t seed) {
  Suite suite(seed);
  Draw& draw = suite.draw();
  for (int i = 0; i < 1500; ++i) {
    const Wish wish{swizzles[static_cast<std::size_t>(draw.below(4))],
                    plain_type(draw, widths[static_cast<std::size_t>(draw.below(4))]),
                    draw.in(1, tma::max_rank),
                    draw.one_in(2) ? Inner::Full : Inner::Narrow,
                    Side::Inside,
                    draw.one_in(2)};
    TensorMap map = suite.draw_tile(wish).map;
    const int changes = i % 5 == 0 ? 0 : i % 5 == 1 ? 2 : 1;
    for (int change = 0; change < changes && map.rank >= 1 && map.rank <= tma::max_rank; ++change)
      disturb_any(draw, map);
    suite.add(MapEncoding{map}).keep = true;
  }
  for (int i = 0; i < 300; ++i) suite.add(MapEncoding{large_box(draw)}).keep = true;
  return suite.take();
}

std::vector<Case> interleaved_maps(std::uint64_t seed) {
  Suite suite(seed);
  for (int i = 0; i < map_count; ++i) {
    TensorMap map = legal_map(suite.draw());
    const int changes = i % 8 == 0 ? 0 : i % 8 < 5 ? 1 : 2;
    for (int change = 0; change < changes; ++change) disturb(suite.draw(), map);
    suite.add(MapEncoding{map}).keep = true;
  }
  return suite.take();
}

}  // namespace tcq::oracle
