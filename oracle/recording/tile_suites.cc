// The suites of tile copies, of ldmatrix and stmatrix, and their edges.
#include <algorithm>
#include <array>
#include <limits>

#include "oracle/recording/suites.h"
#include "oracle/recording/tile_draw.h"
#include "sim/num/inputs/draw.h"

namespace tcq::oracle {
namespace {

using tma::DataType;
using tma::Fill;
using tma::Reduction;
using tma::TensorMap;
using Kind = TileCopy::Kind;

void keep_if_small(Case& c) { c.keep = std::max(c.shared_bytes, c.global_bytes) <= max_kept_bytes; }

// Small tiles that fill their span, at every phase of the swizzle, one with a narrow box.
void add_phases(Suite& suite, Kind kind) {
  for (const Swizzle swizzle : swizzles) {
    for (std::uint32_t phase = 0; phase < 8; ++phase) {
      for (const Inner inner : {Inner::Full, Inner::Narrow}) {
        Case& c = suite.add(kind);
        TensorMap& map = copy_of(c).tile.map;
        const std::uint32_t span = std::max(tma::span_bytes(swizzle), 32u);
        const std::uint32_t inner_bytes = inner == Inner::Full ? span : span / 2;
        map = {DataType::UInt16, 2, 0, {span / 2, 12}, {span}, {inner_bytes / 2, 12}};
        map.swizzle = swizzle;
        copy_of(c).tile.shared_address = shared_base_sm90 + line_bytes * phase;
        Suite::size_memories(c);
        keep_if_small(c);
      }
    }
  }
}

void add_tiles(Suite& suite, Kind kind, std::span<const Side> sides) {
  for (const Swizzle swizzle : swizzles) {
    for (const std::uint32_t width : widths) {
      for (int rank = 1; rank <= tma::max_rank; ++rank) {
        for (const Inner inner : {Inner::Full, Inner::Narrow, Inner::Chunk}) {
          for (const Side side : sides) {
            const DataType type = plain_type(suite.draw(), width);
            const bool strided = suite.draw().one_in(4);
            Case& c = suite.add_tile(kind, {swizzle, type, rank, inner, side, strided});
            const bool nan = kind == Kind::Load && tma::is_float(type) && suite.draw().one_in(2);
            copy_of(c).tile.map.fill = nan ? Fill::NaN : Fill::Zero;
          }
        }
      }
    }
  }
}

// Row addresses: anywhere for loads, no two alike for stores.
void draw_rows(Draw& draw, MatrixMove& move) {
  std::array<std::uint32_t, 2 * matrix::lanes> slots{};
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = slots.size(); i > 1; --i)
    std::swap(slots[i - 1], slots[static_cast<std::size_t>(draw.below(static_cast<int>(i)))]);
  for (std::size_t lane = 0; lane < matrix::lanes; ++lane) {
    const auto any = static_cast<std::uint32_t>(draw.below(static_cast<int>(slots.size())));
    const std::uint32_t row = move.kind == MatrixMove::Kind::Load ? any : slots[lane];
    move.operand.addresses[lane] = shared_base_sm90 + chunk_bytes * row;
  }
}

Case& add_matrix(Suite& suite, MatrixMove::Kind kind, int count, bool transposed) {
  MatrixMove move{kind, {count, transposed, {}}};
  draw_rows(suite.draw(), move);
  Case& c = suite.add(move);
  c.shared_bytes = 2 * matrix::lanes * chunk_bytes;
  return c;
}

// ---- Cases that may end the process on a GPU ----------------------------------------------------

Case& add_small_tile(Suite& suite, Kind kind, Swizzle swizzle, std::uint32_t tile) {
  Case& c = suite.add(kind);
  copy_of(c).tile.map = {DataType::UInt32, 2, 0, {32, 32}, {128}, {8, 12}};
  copy_of(c).tile.map.swizzle = swizzle;
  copy_of(c).tile.shared_address = tile;
  Suite::size_memories(c);
  keep_if_small(c);
  return c;
}

void add_edge_tiles(Suite& suite) {
  constexpr std::uint32_t base = shared_base_sm90;
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
  for (const std::uint32_t offset : {16u, 32u, 64u, 8u}) {
    add_small_tile(suite, Kind::Load, Swizzle::None, base + offset);
    add_small_tile(suite, Kind::Load, Swizzle::B32, base + offset);
    add_small_tile(suite, Kind::Store, Swizzle::None, base + offset);
  }
  Case& wide = add_small_tile(suite, Kind::Load, Swizzle::B128, base + 16);
  copy_of(wide).tile.map.box[0] = 32;
  Suite::size_memories(wide);
  copy_of(add_small_tile(suite, Kind::Store, Swizzle::None, base)).tile.start = {{-3, 2}};
  copy_of(add_small_tile(suite, Kind::Store, Swizzle::None, base)).tile.start = {{4, -5}};
  copy_of(add_small_tile(suite, Kind::Reduce, Swizzle::None, base)).tile.start = {{-3, -5}};
  copy_of(add_small_tile(suite, Kind::Store, Swizzle::None, base)).tile.start = {{0, 40}};
  copy_of(add_small_tile(suite, Kind::Load, Swizzle::None, base)).tile.start = {{lowest, 0}};
  copy_of(add_small_tile(suite, Kind::Load, Swizzle::None, base)).tile.start = {{highest, highest}};
  copy_of(add_small_tile(suite, Kind::Store, Swizzle::None, base)).tile.start = {{highest, lowest}};
  copy_of(add_small_tile(suite, Kind::Load, Swizzle::None, base)).tile.start = {
      {highest - 3, highest}};
  copy_of(add_small_tile(suite, Kind::Store, Swizzle::None, base)).tile.start = {
      {highest - 3, highest}};
}

// Starts that are not aligned along dimension 0, or negative.
void add_edge_starts(Suite& suite) {
  constexpr std::uint32_t base = shared_base_sm90;
  for (const Kind kind : {Kind::Load, Kind::Store, Kind::Reduce}) {
    for (const std::int32_t start : {1, 2, 3, 5, -2, -4})
      copy_of(add_small_tile(suite, kind, Swizzle::None, base)).tile.start = {{start, 1}};
    copy_of(add_small_tile(suite, kind, Swizzle::B32, base)).tile.start = {{2, 1}};
    copy_of(add_small_tile(suite, kind, Swizzle::B32, base)).tile.start = {{4, -1}};
  }
  for (const DataType type : {DataType::UInt8, DataType::UInt16, DataType::UInt64}) {
    const std::uint32_t width = tma::element_bytes(type);
    for (const std::int32_t bytes : {8, 16}) {
      Case& c = add_small_tile(suite, Kind::Load, Swizzle::None, base);
      copy_of(c).tile.map = {type, 2, 0, {128 / width, 32}, {128}, {32 / width, 12}};
      copy_of(c).tile.start = {{bytes / static_cast<std::int32_t>(width), 0}};
    }
  }
}

// Does the element stride of dimension 0 do anything?
void add_edge_strides(Suite& suite) {
  for (const Kind kind : {Kind::Load, Kind::Store})
    for (const std::uint32_t stride : {2u, 8u})
      copy_of(add_small_tile(suite, kind, Swizzle::None, shared_base_sm90))
          .tile.map.element_strides[0] = stride;
}

// What the driver's text leaves open and the suite `encode` hardly meets: the largest box, and
// interleave 32B with every swizzle.
void add_edge_maps(Suite& suite) {
  const auto add = [&suite](const TensorMap& map) { suite.add(MapEncoding{map}).keep = true; };
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
    Case& c = add_small_tile(suite, Kind::Reduce, Swizzle::None, shared_base_sm90);
    const std::uint32_t row = 128 / tma::element_bytes(type);
    copy_of(c).tile.map = {type, 2, 0, {row, 8}, {128}, {row / 4, 8}};
    copy_of(c).reduction = op;
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

matrix::Operand& operand_of(Case& c) { return std::get<MatrixMove>(c.experiment).operand; }

// Lanes without a row give addresses that nothing may read; and a row that is not aligned.
void add_edge_matrices(Suite& suite) {
  for (const auto kind : {MatrixMove::Kind::Load, MatrixMove::Kind::Store}) {
    for (const int count : {1, 2}) {
      matrix::Operand& operand = operand_of(add_matrix(suite, kind, count, false));
      for (std::size_t lane = 8 * static_cast<std::size_t>(count); lane < matrix::lanes; ++lane)
        operand.addresses[lane] = 0x00fffff1;
    }
    operand_of(add_matrix(suite, kind, 4, false)).addresses[5] += 8;
  }
}

}  // namespace

std::vector<Case> tile_loads(std::uint64_t seed) {
  constexpr std::array sides = {Side::Inside, Side::Low, Side::High, Side::Outside};
  Suite suite(seed);
  add_phases(suite, Kind::Load);
  add_tiles(suite, Kind::Load, sides);
  return suite.take();
}

std::vector<Case> tile_stores(std::uint64_t seed) {
  constexpr std::array sides = {Side::Inside, Side::High};
  Suite suite(seed);
  add_phases(suite, Kind::Store);
  add_tiles(suite, Kind::Store, sides);
  return suite.take();
}

// Every element type, both ways, on values that a conversion would change; also what fills.
std::vector<Case> tile_conversions(std::uint64_t seed) {
  Suite suite(seed);
  for (int i = 0; i < tma::data_type_count; ++i) {
    const auto type = static_cast<DataType>(i);
    if (tma::is_packed(type)) continue;
    for (const Kind kind : {Kind::Load, Kind::Store}) {
      for (const Fill fill : {Fill::Zero, Fill::NaN}) {
        if (fill == Fill::NaN && (kind == Kind::Store || !tma::is_float(type))) continue;
        Case& c = suite.add(kind);
        const std::uint32_t row = 64 / tma::element_bytes(type);
        copy_of(c).tile.map = {type, 2, 0, {row, 16}, {64}, {row, 16}};
        copy_of(c).tile.map.fill = fill;
        copy_of(c).tile.start = {{0, fill == Fill::NaN ? 14 : 0}};
        copy_of(c).tile.shared_address = shared_base_sm90;
        c.content = MemoryContent::SpecialWords;
        Suite::size_memories(c);
        keep_if_small(c);
      }
    }
  }
  return suite.take();
}

std::vector<Case> tile_reductions(std::uint64_t seed) {
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
          copy_of(suite.add_tile(Kind::Reduce, wish)).reduction = static_cast<Reduction>(op);
        }
      }
    }
  }
  return suite.take();
}

std::vector<Case> tile_multicasts(std::uint64_t seed) {
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
        Case& c = suite.add_tile(Kind::Multicast, wish);
        copy_of(c).how = {cluster, issuer, static_cast<std::uint16_t>(mask)};
      }
    }
  }
  return suite.take();
}

std::vector<Case> matrix_moves(std::uint64_t seed) {
  Suite suite(seed);
  for (const auto kind : {MatrixMove::Kind::Load, MatrixMove::Kind::Store})
    for (const int count : {1, 2, 4})
      for (const bool transposed : {false, true})
        for (int i = 0; i < 20; ++i) add_matrix(suite, kind, count, transposed).keep = i < 4;
  return suite.take();
}

std::vector<Case> tile_edges(std::uint64_t seed) {
  Suite suite(seed);
  add_edge_tiles(suite);
  add_edge_starts(suite);
  add_edge_strides(suite);
  add_edge_reductions(suite);
  add_edge_matrices(suite);
  add_edge_maps(suite);
  return suite.take();
}

}  // namespace tcq::oracle
