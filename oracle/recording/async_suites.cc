#include "oracle/recording/async_suites.h"

#include <algorithm>
#include <array>
#include <limits>

#include "oracle/answer/words.h"
#include "oracle/recording/async_bulk_suites.h"
#include "oracle/recording/async_draw.h"
#include "oracle/recording/async_groups.h"
#include "oracle/recording/async_interleave_suite.h"
#include "oracle/recording/async_mbarrier.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using tma::DataType;
using tma::Fill;
using tma::Reduction;
using tma::TensorMap;

// A type of this width whose elements keep their bits on the way.
DataType plain_type(Draw& draw, std::uint32_t width) {
  for (;;) {
    const auto type = static_cast<DataType>(draw.below(tma::data_type_count));
    const bool converts = type >= DataType::Float32Ftz && type <= DataType::TFloat32Ftz;
    if (!converts && tma::element_bytes(type) == width) return type;
  }
}

void keep_if_small(AsyncCase& c) {
  c.keep_bytes = std::max(c.shared_bytes, c.global_bytes) <= max_kept_bytes;
}

// Small tiles that fill their span, at every phase of the swizzle, one with a narrow box.
void add_phases(Suite& suite, Move move) {
  for (const Swizzle swizzle : swizzles) {
    for (std::uint32_t phase = 0; phase < 8; ++phase) {
      for (const Inner inner : {Inner::Full, Inner::Narrow}) {
        AsyncCase& c = suite.add(move);
        TensorMap& map = c.tile.map;
        const std::uint32_t span = std::max(tma::span_bytes(swizzle), 32u);
        const std::uint32_t inner_bytes = inner == Inner::Full ? span : span / 2;
        map = {DataType::UInt16, 2, 0, {span / 2, 12}, {span}, {inner_bytes / 2, 12}};
        map.swizzle = swizzle;
        c.tile.shared_address = shared_base_sm90 + line_bytes * phase;
        Suite::size_memories(c);
        keep_if_small(c);
      }
    }
  }
}

void add_tiles(Suite& suite, Move move, std::span<const Side> sides) {
  for (const Swizzle swizzle : swizzles) {
    for (const std::uint32_t width : widths) {
      for (int rank = 1; rank <= tma::max_rank; ++rank) {
        for (const Inner inner : {Inner::Full, Inner::Narrow, Inner::Chunk}) {
          for (const Side side : sides) {
            const DataType type = plain_type(suite.draw(), width);
            const bool strided = suite.draw().one_in(4);
            AsyncCase& c = suite.add_tile(move, {swizzle, type, rank, inner, side, strided});
            const bool nan = move == Move::Load && tma::is_float(type) && suite.draw().one_in(2);
            c.tile.map.fill = nan ? Fill::NaN : Fill::Zero;
          }
        }
      }
    }
  }
}

std::vector<AsyncCase> loads(std::uint64_t seed) {
  constexpr std::array sides = {Side::Inside, Side::Low, Side::High, Side::Outside};
  Suite suite(seed);
  add_phases(suite, Move::Load);
  add_tiles(suite, Move::Load, sides);
  return suite.take();
}

std::vector<AsyncCase> stores(std::uint64_t seed) {
  constexpr std::array sides = {Side::Inside, Side::High};
  Suite suite(seed);
  add_phases(suite, Move::Store);
  add_tiles(suite, Move::Store, sides);
  return suite.take();
}

// Every element type, both ways, on values that a conversion would change; also what fills.
std::vector<AsyncCase> conversions(std::uint64_t seed) {
  Suite suite(seed);
  for (int i = 0; i < tma::data_type_count; ++i) {
    const auto type = static_cast<DataType>(i);
    if (tma::is_packed(type)) continue;
    for (const Move move : {Move::Load, Move::Store}) {
      for (const Fill fill : {Fill::Zero, Fill::NaN}) {
        if (fill == Fill::NaN && (move == Move::Store || !tma::is_float(type))) continue;
        AsyncCase& c = suite.add(move);
        const std::uint32_t row = 64 / tma::element_bytes(type);
        c.tile.map = {type, 2, 0, {row, 16}, {64}, {row, 16}};
        c.tile.map.fill = fill;
        c.tile.start = {{0, fill == Fill::NaN ? 14 : 0}};
        c.tile.shared_address = shared_base_sm90;
        c.content = MemoryContent::SpecialWords;
        Suite::size_memories(c);
        keep_if_small(c);
      }
    }
  }
  return suite.take();
}

std::vector<AsyncCase> reductions(std::uint64_t seed) {
  Suite suite(seed);
  for (int op = 0; op < tma::reduction_count; ++op) {
    for (int type = 0; type < tma::data_type_count; ++type) {
      const Wish legal{Swizzle::None, static_cast<DataType>(type)};
      if (tma::is_packed(legal.type) || tma::is_float(legal.type)) continue;
      if (check(static_cast<Reduction>(op), legal.type) != Fault::None) continue;
      for (const Swizzle swizzle : swizzles) {
        for (const Side side : {Side::Inside, Side::High}) {
          Wish wish = legal;
          wish.swizzle = swizzle;
          wish.rank = suite.draw().in(1, tma::max_rank);
          wish.side = side;
          wish.strided = suite.draw().one_in(4);
          suite.add_tile(Move::Reduce, wish).reduction = static_cast<Reduction>(op);
        }
      }
    }
  }
  return suite.take();
}

std::vector<AsyncCase> multicasts(std::uint64_t seed) {
  Suite suite(seed);
  for (const int cluster : {2, 4}) {
    const int masks = cluster == 2 ? 4 : 16;
    for (int mask = 1; mask < masks; ++mask) {
      for (int issuer = 0; issuer < cluster; ++issuer) {
        const Wish wish{
            swizzles[static_cast<std::size_t>(suite.draw().below(4))],
            plain_type(suite.draw(), widths[static_cast<std::size_t>(suite.draw().below(4))]),
            suite.draw().in(1, tma::max_rank), Inner::Full,
            suite.draw().one_in(2) ? Side::Inside : Side::High};
        AsyncCase& c = suite.add_tile(Move::Multicast, wish);
        c.cluster = cluster;
        c.mask = static_cast<std::uint16_t>(mask);
        c.issuer = issuer;
      }
    }
  }
  return suite.take();
}

// Row addresses: anywhere for loads, no two alike for stores.
void draw_rows(Draw& draw, AsyncCase& c) {
  std::array<std::uint32_t, 2 * matrix::lanes> slots{};
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = slots.size(); i > 1; --i)
    std::swap(slots[i - 1], slots[static_cast<std::size_t>(draw.below(static_cast<int>(i)))]);
  for (std::size_t lane = 0; lane < matrix::lanes; ++lane) {
    const auto any = static_cast<std::uint32_t>(draw.below(static_cast<int>(slots.size())));
    const std::uint32_t row = c.move == Move::LoadMatrix ? any : slots[lane];
    c.operand.addresses[lane] = shared_base_sm90 + chunk_bytes * row;
  }
}

AsyncCase& add_matrix(Suite& suite, Move move, int count, bool transposed) {
  AsyncCase& c = suite.add(move);
  c.operand.count = count;
  c.operand.transposed = transposed;
  c.shared_bytes = 2 * matrix::lanes * chunk_bytes;
  draw_rows(suite.draw(), c);
  return c;
}

std::vector<AsyncCase> matrices(std::uint64_t seed) {
  Suite suite(seed);
  for (const Move move : {Move::LoadMatrix, Move::StoreMatrix})
    for (const int count : {1, 2, 4})
      for (const bool transposed : {false, true})
        for (int i = 0; i < 20; ++i) add_matrix(suite, move, count, transposed).keep_bytes = i < 4;
  return suite.take();
}

// ---- Tensor maps, legal and not -----------------------------------------------------------------

// One parameter becomes a value at or beyond its limit.
void disturb(Draw& draw, TensorMap& map) {
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

std::vector<AsyncCase> encodings(std::uint64_t seed) {
  Suite suite(seed);
  for (int i = 0; i < 1500; ++i) {
    Draw& draw = suite.draw();
    const Wish wish{swizzles[static_cast<std::size_t>(draw.below(4))],
                    plain_type(draw, widths[static_cast<std::size_t>(draw.below(4))]),
                    draw.in(1, tma::max_rank),
                    draw.one_in(2) ? Inner::Full : Inner::Narrow,
                    Side::Inside,
                    draw.one_in(2)};
    AsyncCase& c = suite.add_tile(Move::Encode, wish);
    const int changes = i % 5 == 0 ? 0 : i % 5 == 1 ? 2 : 1;
    for (int change = 0; change < changes && c.tile.map.rank >= 1 && c.tile.map.rank <= 5; ++change)
      disturb(draw, c.tile.map);
    c.keep_bytes = true;
    c.tile.start = {};
    c.tile.shared_address = 0;
    c.shared_bytes = 0;
    c.global_bytes = 0;
  }
  for (int i = 0; i < 300; ++i) {
    AsyncCase& c = suite.add(Move::Encode);
    c.tile.map = large_box(suite.draw());
    c.keep_bytes = true;
  }
  return suite.take();
}

// ---- Cases that may end the process on a GPU ----------------------------------------------------

AsyncCase& add_small_tile(Suite& suite, Move move, Swizzle swizzle, std::uint32_t tile) {
  AsyncCase& c = suite.add(move);
  c.tile.map = {DataType::UInt32, 2, 0, {32, 32}, {128}, {8, 12}};
  c.tile.map.swizzle = swizzle;
  c.tile.shared_address = tile;
  Suite::size_memories(c);
  keep_if_small(c);
  return c;
}

void add_edge_tiles(Suite& suite) {
  constexpr std::uint32_t base = shared_base_sm90;
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  for (const std::uint32_t offset : {16u, 32u, 64u, 8u}) {
    add_small_tile(suite, Move::Load, Swizzle::None, base + offset);
    add_small_tile(suite, Move::Load, Swizzle::B32, base + offset);
    add_small_tile(suite, Move::Store, Swizzle::None, base + offset);
  }
  AsyncCase& wide = add_small_tile(suite, Move::Load, Swizzle::B128, base + 16);
  wide.tile.map.box[0] = 32;
  Suite::size_memories(wide);
  add_small_tile(suite, Move::Store, Swizzle::None, base).tile.start = {{-3, 2}};
  add_small_tile(suite, Move::Store, Swizzle::None, base).tile.start = {{4, -5}};
  add_small_tile(suite, Move::Reduce, Swizzle::None, base).tile.start = {{-3, -5}};
  add_small_tile(suite, Move::Store, Swizzle::None, base).tile.start = {{0, 40}};
  add_small_tile(suite, Move::Load, Swizzle::None, base).tile.start = {{lowest, 0}};
  add_small_tile(suite, Move::Load, Swizzle::None, base).tile.start = {{highest, highest}};
  add_small_tile(suite, Move::Store, Swizzle::None, base).tile.start = {{highest, lowest}};
  add_small_tile(suite, Move::Load, Swizzle::None, base).tile.start = {{highest - 3, highest}};
  add_small_tile(suite, Move::Store, Swizzle::None, base).tile.start = {{highest - 3, highest}};
}

// Starts that are not aligned along dimension 0, or negative.
void add_edge_starts(Suite& suite) {
  constexpr std::uint32_t base = shared_base_sm90;
  for (const Move move : {Move::Load, Move::Store, Move::Reduce}) {
    for (const std::int32_t start : {1, 2, 3, 5, -2, -4})
      add_small_tile(suite, move, Swizzle::None, base).tile.start = {{start, 1}};
    add_small_tile(suite, move, Swizzle::B32, base).tile.start = {{2, 1}};
    add_small_tile(suite, move, Swizzle::B32, base).tile.start = {{4, -1}};
  }
  for (const DataType type : {DataType::UInt8, DataType::UInt16, DataType::UInt64}) {
    const std::uint32_t width = tma::element_bytes(type);
    for (const std::int32_t bytes : {8, 16}) {
      AsyncCase& c = add_small_tile(suite, Move::Load, Swizzle::None, base);
      c.tile.map = {type, 2, 0, {128 / width, 32}, {128}, {32 / width, 12}};
      c.tile.start = {{bytes / static_cast<std::int32_t>(width), 0}};
    }
  }
}

// Does the element stride of dimension 0 do anything?
void add_edge_strides(Suite& suite) {
  for (const Move move : {Move::Load, Move::Store})
    for (const std::uint32_t stride : {2u, 8u})
      add_small_tile(suite, move, Swizzle::None, shared_base_sm90).tile.map.element_strides[0] =
          stride;
}

// What the driver's text leaves open and the suite `encode` hardly meets: the largest box, and
// interleave 32B with every swizzle.
void add_edge_maps(Suite& suite) {
  const auto add = [&suite](const TensorMap& map) {
    AsyncCase& c = suite.add(Move::Encode);
    c.tile.map = map;
    c.keep_bytes = true;
  };
  for (const auto& [rows, planes] : {std::pair{128u, 4u},
                                     {129u, 4u},
                                     {192u, 4u},
                                     {224u, 4u},
                                     {226u, 4u},
                                     {227u, 4u},
                                     {228u, 4u},
                                     {229u, 4u},
                                     {240u, 4u}})
    add({DataType::UInt8, 3, 0, {256, 256, 8}, {256, 65536}, {256, rows, planes}});
  add({DataType::UInt8, 3, 0, {256, 256, 256}, {256, 65536}, {16, 87, 167}});  // 227 KiB + 16
  for (const Swizzle swizzle : swizzles)
    add({DataType::UInt8,
         3,
         0,
         {256, 64, 8},
         {256, 16384},
         {32, 8, 2},
         {1, 1, 1, 1, 1},
         tma::Interleave::B32,
         swizzle});
}

// Reductions that PTX does not list, on small tiles.
void add_edge_reductions(Suite& suite) {
  const auto add = [&suite](Reduction op, DataType type) {
    AsyncCase& c = add_small_tile(suite, Move::Reduce, Swizzle::None, shared_base_sm90);
    const std::uint32_t row = 128 / tma::element_bytes(type);
    c.tile.map = {type, 2, 0, {row, 8}, {128}, {row / 4, 8}};
    c.reduction = op;
    Suite::size_memories(c);
    keep_if_small(c);
  };
  add(Reduction::Add, DataType::Int64);
  add(Reduction::And, DataType::Int64);
  add(Reduction::Or, DataType::Int64);
  add(Reduction::Xor, DataType::Int64);
  add(Reduction::Inc, DataType::Int32);
  add(Reduction::Dec, DataType::UInt64);
  add(Reduction::Add, DataType::UInt8);
  add(Reduction::Add, DataType::UInt16);
  add(Reduction::And, DataType::UInt16);
  add(Reduction::Xor, DataType::Float32);
  add(Reduction::Inc, DataType::Float32);
}

// Lanes without a row give addresses that nothing may read; and a row that is not aligned.
void add_edge_matrices(Suite& suite) {
  for (const Move move : {Move::LoadMatrix, Move::StoreMatrix}) {
    for (const int count : {1, 2}) {
      AsyncCase& c = add_matrix(suite, move, count, false);
      for (std::size_t lane = 8 * static_cast<std::size_t>(count); lane < matrix::lanes; ++lane)
        c.operand.addresses[lane] = 0x00fffff1;
    }
    add_matrix(suite, move, 4, false).operand.addresses[5] += 8;
  }
}

std::vector<AsyncCase> edges(std::uint64_t seed) {
  Suite suite(seed);
  add_edge_tiles(suite);
  add_edge_starts(suite);
  add_edge_strides(suite);
  add_edge_reductions(suite);
  add_edge_matrices(suite);
  add_edge_maps(suite);
  return suite.take();
}

}  // namespace

std::vector<std::string_view> async_suite_names() {
  return {"tma_load", "tma_convert", "tma_store", "tma_reduce",   "tma_multicast", "matrix",
          "encode",   "interleave",  "bulk",      "reduce_float", "mbarrier",      "groups"};
}

std::vector<std::string_view> async_edge_suite_names() {
  return {"edge", "bulk_edge", "mbarrier_edge"};
}

std::vector<AsyncCase> async_suite(std::string_view name, std::uint64_t seed) {
  if (name == "tma_load") return loads(seed);
  if (name == "tma_convert") return conversions(seed);
  if (name == "tma_store") return stores(seed);
  if (name == "tma_reduce") return reductions(seed);
  if (name == "tma_multicast") return multicasts(seed);
  if (name == "matrix") return matrices(seed);
  if (name == "encode") return encodings(seed);
  if (name == "interleave") return interleaved_maps(seed);
  if (name == "bulk") return bulk_copies(seed);
  if (name == "reduce_float") return float_reductions(seed);
  if (name == "mbarrier") return mbarriers(seed);
  if (name == "groups") return wgmma_groups(seed);
  if (name == "edge") return edges(seed);
  if (name == "bulk_edge") return bulk_edges(seed);
  if (name == "mbarrier_edge") return mbarrier_edges(seed);
  std::vector<std::string_view> names = async_suite_names();
  for (const std::string_view edge : async_edge_suite_names()) names.push_back(edge);
  throw_unknown("suite", name, names);
}

}  // namespace tcq::oracle
