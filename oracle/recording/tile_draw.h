// Draws tile copies: what a tile is to be like (Wish), a tensor and a box in it that are so
// (TileDraw), and a suite of cases with memories of their size (Suite).
//
// A part of tile_suites.cc and map_suites.cc; every choice comes from the seed. Example: `Wish{.rank = 3, .side =
// Side::High}` asks for a box that reaches over the upper end of a dimension.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "oracle/recording/case_draw.h"
#include "sim/isa/base/shared_limits.h"

namespace tcq::oracle {

inline constexpr std::array swizzles = {Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128};
inline constexpr std::array widths = {1u, 2u, 4u, 8u};
inline constexpr std::uint32_t max_tensor_bytes = 256 * 1024;
inline constexpr std::uint32_t max_drawn_bytes = 48 * 1024;
inline constexpr std::uint32_t max_kept_bytes = 4096;
inline constexpr std::uint32_t line_bytes = 128;
inline constexpr std::uint32_t chunk_bytes = 16;

enum class Inner { Full, Narrow, Chunk };        // the swizzle's span, less, 16 bytes
enum class Side { Inside, Low, High, Outside };  // of the tensor, where the box reaches out

inline std::uint32_t round_up(std::uint64_t value, std::uint32_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

// A type of this width whose elements keep their bits on the way.
inline tma::DataType plain_type(Draw& draw, std::uint32_t width) {
  for (;;) {
    const auto type = static_cast<tma::DataType>(draw.below(tma::data_type_count));
    const bool converts = type >= tma::DataType::Float32Ftz && type <= tma::DataType::TFloat32Ftz;
    if (!converts && tma::element_bytes(type) == width) return type;
  }
}

// What a tile is to be like.
struct Wish {
  Swizzle swizzle = Swizzle::None;
  tma::DataType type = tma::DataType::UInt8;
  int rank = 2;
  Inner inner = Inner::Full;
  Side side = Side::Inside;
  bool strided = false;
};

class TileDraw {
 public:
  explicit TileDraw(Draw& draw) : draw_(draw) {}

  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(draw_.below(static_cast<int>(n)));
  }

  // Bytes of one row of the box, at most 256 elements.
  std::uint32_t inner_bytes(const Wish& w) {
    if (w.inner == Inner::Chunk) return chunk_bytes;
    const std::uint32_t span = tma::span_bytes(w.swizzle);
    if (span == 0) {
      const std::uint32_t most = tma::max_box * tma::element_bytes(w.type) / chunk_bytes;
      return chunk_bytes * (w.inner == Inner::Full ? most : 1 + below(most));
    }
    return w.inner == Inner::Full ? span : chunk_bytes * (1 + below(span / chunk_bytes - 1));
  }

  // A tensor and a box in it; false if they became too large.
  bool draw(const Wish& w, tma::Tile& tile) {
    tma::TensorMap& map = tile.map;
    map = {};
    map.type = w.type;
    map.rank = w.rank;
    map.swizzle = w.swizzle;
    map.address = chunk_bytes * below(16);
    draw_box(w, map);
    draw_dims(w, map);
    if (tensor_bytes(map) > max_tensor_bytes) return false;
    if (tma::box_rows(map) * std::max(tma::row_pitch_bytes(map), line_bytes) > max_drawn_bytes)
      return false;
    for (int d = 0; d < map.rank; ++d) tile.start.at[d] = start(w, map, d);
    tile.start.at[0] = aligned(map, tile.start.at[0]);
    tile.shared_address = shared_base_sm90 + line_bytes * below(16);
    return true;
  }

  static std::uint64_t tensor_bytes(const tma::TensorMap& map) {
    const std::uint64_t last = map.rank == 1
                                   ? map.dims[0] * tma::element_bytes(map.type)
                                   : map.stride_bytes[map.rank - 2] * map.dims[map.rank - 1];
    return map.address + last;
  }

 private:
  void draw_box(const Wish& w, tma::TensorMap& map) {
    map.box[0] = inner_bytes(w) / tma::element_bytes(w.type);
    std::uint32_t rows = w.rank == 2 && draw_.one_in(4) ? 256 : 64;
    for (int d = 1; d < w.rank; ++d) {
      map.box[d] = draw_.one_in(6) ? 1 : 1 + below(std::max(1u, w.rank == 2 ? rows : rows / 2));
      rows = std::max(1u, rows / map.box[d]);
      if (w.strided)
        map.element_strides[d] = 1 + below(draw_.one_in(3) ? tma::max_element_stride : 2);
    }
    if (w.strided && w.rank > 1) {
      map.element_strides[1] = 2;
      map.box[1] = std::max(map.box[1], 3u);
    }
  }

  // Elements that the box spans in the tensor.
  static std::uint32_t reach(const tma::TensorMap& map, int d) {
    return (tma::extent(map, d) - 1) * tma::element_stride(map, d) + 1;
  }

  void draw_dims(const Wish& w, tma::TensorMap& map) {
    for (int d = 0; d < map.rank; ++d) {
      const std::uint32_t slack = d == 0 ? below(2 * map.box[0] + 1) : below(6);
      map.dims[d] = reach(map, d) + slack;
      // A tensor smaller than the box.
      if (w.side != Side::Inside && draw_.one_in(4)) map.dims[d] = 1 + below(reach(map, d));
    }
    std::uint64_t stride = map.dims[0] * tma::element_bytes(map.type);
    for (int d = 0; d + 1 < map.rank; ++d) {
      stride = round_up(stride, chunk_bytes) + chunk_bytes * (draw_.one_in(2) ? below(4) : 0);
      map.stride_bytes[d] = stride;
      stride *= map.dims[d + 1];
    }
  }

  std::int32_t start(const Wish& w, const tma::TensorMap& map, int d) {
    const auto dim = static_cast<std::int32_t>(map.dims[d]);
    const auto box = static_cast<std::int32_t>(reach(map, d));
    const bool here = draw_.one_in(2) || d == chosen(map);
    if (w.side == Side::Low && here) return -draw_.in(1, box - 1 + (box == 1 ? 1 : 0));
    if (w.side == Side::High && here) return std::max(0, dim - draw_.in(0, box - 1));
    if (w.side == Side::Outside && here)
      return draw_.one_in(2) ? dim + draw_.below(100) : -box - draw_.below(100);
    return dim > box ? draw_.below(dim - box + 1) : 0;
  }

  // The element at or before this one where a box may begin along dimension 0.
  static std::int32_t aligned(const tma::TensorMap& map, std::int32_t at) {
    const auto unit =
        static_cast<std::int32_t>(tma::start_alignment_bytes / tma::element_bytes(map.type));
    return at - ((at % unit) + unit) % unit;
  }

  // At least one dimension reaches out.
  static int chosen(const tma::TensorMap& map) {
    return static_cast<int>(map.dims[0] % static_cast<std::uint64_t>(map.rank));
  }

  Draw& draw_;
};

// The copy of a case that was just added.
inline TileCopy& copy_of(Case& c) { return std::get<TileCopy>(c.experiment); }

class Suite : public CaseDraw {
 public:
  using CaseDraw::add;
  using CaseDraw::CaseDraw;

  Case& add(TileCopy::Kind kind) { return add(TileCopy{.kind = kind}); }

  // Room for the tile with rows as long as the span, and something behind it.
  static void size_memories(Case& c) {
    const tma::Tile& tile = std::get<TileCopy>(c.experiment).tile;
    const tma::TensorMap& map = tile.map;
    const std::uint32_t pitch = std::max(tma::row_pitch_bytes(map), tma::span_bytes(map.swizzle));
    const std::uint32_t end = tile.shared_address - shared_base_sm90 + tma::box_rows(map) * pitch;
    c.shared_bytes = round_up(end + line_bytes, 1024);
    c.global_bytes = round_up(TileDraw::tensor_bytes(map) + 64, chunk_bytes);
  }

  tma::Tile draw_tile(const Wish& wish) {
    tma::Tile tile;
    TileDraw drawn(draw());
    while (!drawn.draw(wish, tile)) continue;
    return tile;
  }
  Case& add_tile(TileCopy::Kind kind, const Wish& wish) {
    Case& c = add(TileCopy{.kind = kind, .tile = draw_tile(wish)});
    size_memories(c);
    return c;
  }
};

}  // namespace tcq::oracle
