// Fit, offsets and layouts of operand tiles; see tiling.h.
#include "oracle/tile/tiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "oracle/answer/answer.h"
#include "sim/isa/base/tile_offset.h"
#include "sim/isa/wgmma/operand.h"
#include "sim/isa/wgmma/place.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::Multiplicand;

bool is_a(const OperandTile& tile) { return tile.operand == Multiplicand::A; }

// Elements along MN and K that all warpgroups read at once.
Extent side_by_side(const OperandTile& tile) {
  const Extent one = instruction_extent(tile);
  return {one.mn * tile.warpgroups.mn, one.k * tile.warpgroups.k};
}

std::string cut_sentence(const OperandTile& tile, bool along_k) {
  const Extent step = side_by_side(tile);
  const std::uint32_t need = along_k ? step.k : step.mn;
  const std::uint32_t have = along_k ? tile.extent.k : tile.extent.mn;
  const std::uint32_t groups = along_k ? tile.warpgroups.k : tile.warpgroups.mn;
  return fmt::format("MMA atom: {} of {} is {}, not a multiple of {} ({} of one instruction{})",
                     along_k      ? "K"
                     : is_a(tile) ? "M"
                                  : "N",
                     name(tile.operand), have, need,
                     along_k      ? "K"
                     : is_a(tile) ? "M"
                                  : "N",
                     groups == 1 ? "" : fmt::format(" x {} warpgroups", groups));
}

void add_instruction_misfits(const OperandTile& tile, std::vector<std::string>& found) {
  const Extent step = side_by_side(tile);
  if (tile.extent.mn == 0 || tile.extent.mn % step.mn != 0)
    found.push_back(cut_sentence(tile, false));
  if (tile.extent.k == 0 || tile.extent.k % step.k != 0) found.push_back(cut_sentence(tile, true));
}

// Bytes of one instruction in the direction that is contiguous in memory.
std::uint32_t instruction_bytes(const OperandTile& tile) {
  const Extent one = instruction_extent(tile);
  return wgmma::bytes_of(type_of(tile), tile.major == Major::K ? one.k : one.mn);
}

void add_atom_misfits(const OperandTile& tile, std::vector<std::string>& found) {
  const Tile t = compact(tile);
  const char* contiguous = tile.major == Major::K ? "K" : is_a(tile) ? "M" : "N";
  const char* other = tile.major == Major::K ? (is_a(tile) ? "M" : "N") : "K";
  if (t.contiguous_bytes % t.pitch_bytes != 0 || t.contiguous_bytes == 0)
    found.push_back(fmt::format(
        "swizzle atom: {} of {} is {} bytes, not a multiple of the {} contiguous bytes of an atom "
        "with swizzle {}",
        contiguous, name(tile.operand), t.contiguous_bytes, t.pitch_bytes, name(tile.swizzle)));
  if (t.rows % 8 != 0 || t.rows == 0)
    found.push_back(
        fmt::format("swizzle atom: {} of {} is {}, not a multiple of the 8 rows of an atom", other,
                    name(tile.operand), t.rows));
  const std::uint32_t bytes = instruction_bytes(tile);
  if (tile.major == Major::MN && t.contiguous_bytes > bytes && bytes % t.pitch_bytes != 0)
    found.push_back(fmt::format(
        "swizzle atom: one instruction reads {} bytes of {}, not whole atoms of {} bytes, so the "
        "second instruction would start inside an atom",
        bytes, contiguous, t.pitch_bytes));
}

OperandTile with_swizzle(OperandTile tile, Swizzle swizzle) {
  tile.swizzle = swizzle;
  return tile;
}

}  // namespace

AtomOrder usual_order(Major major) {
  return major == Major::K ? AtomOrder::MnFirst : AtomOrder::KFirst;
}

Type type_of(const OperandTile& tile) { return wgmma::operand_type(tile.form, tile.operand); }

Extent instruction_extent(const OperandTile& tile) {
  return wgmma::operand_extent(tile.form, tile.operand);
}

Tile compact(const OperandTile& tile) {
  return wgmma::compact_tile(type_of(tile), tile.major, tile.swizzle, tile.order, tile.extent);
}

std::uint32_t tile_bytes(const OperandTile& tile) { return compact(tile).bytes(); }

std::vector<std::string> misfits(const OperandTile& tile) {
  std::vector<std::string> found;
  if (tile.major == Major::MN && !wgmma::has_major(type_of(tile)))
    found.push_back(fmt::format("{} operands are K-major: {}", tcq::name(type_of(tile)),
                                info(Fault::MnMajorNeeds16Bit).sentence));
  add_instruction_misfits(tile, found);
  add_atom_misfits(tile, found);
  const Extent one = instruction_extent(tile);
  const std::uint32_t row = wgmma::bytes_of(type_of(tile), tile.extent.k);
  const std::uint32_t read = wgmma::bytes_of(type_of(tile), one.k);
  if (tile.major == Major::K && row < read)
    found.push_back(fmt::format(
        "a K-major row of {} bytes is too short: one instruction reads {} bytes of K", row, read));
  return found;
}

void require_fit(const OperandTile& tile) {
  const std::vector<std::string> found = misfits(tile);
  if (!found.empty())
    throw FaultError(fmt::format("this tile cannot be laid out: {}", fmt::join(found, "; ")));
}

Swizzle swizzle_from(const Keys& keys, std::string_view key, OperandTile tile) {
  const int chosen = keys.choice(key,
                                 {name(swizzles_by_width[0]), name(swizzles_by_width[1]),
                                  name(swizzles_by_width[2]), name(swizzles_by_width[3])},
                                 -1);
  if (chosen >= 0) return swizzles_by_width[chosen];
  for (const Swizzle swizzle : swizzles_by_width) {
    if (misfits(with_swizzle(tile, swizzle)).empty()) return swizzle;
  }
  return Swizzle::None;
}

Multiplicand parse_multiplicand(std::string_view word) {
  static constexpr std::array<std::string_view, 2> names = {"A", "B"};
  if (same_word(word, names[0])) return Multiplicand::A;
  if (same_word(word, names[1])) return Multiplicand::B;
  throw_unknown("matrix in shared memory", word, names);
}

const char* name(Multiplicand operand) { return operand == Multiplicand::A ? "A" : "B"; }

std::int64_t element_offset(const OperandTile& tile, Extent at) {
  const Type type = type_of(tile);
  const std::int64_t byte =
      tile_offset_bytes(compact(tile), wgmma::operand_byte(tile.major, type, {at.mn, at.k}));
  return byte * 8 / bits(type) + wgmma::bit_in_byte(type, static_cast<int>(at.k)) / bits(type);
}

CuteLayout mn_mode(const OperandTile& tile, std::uint32_t step, std::uint32_t count) {
  return probe(count, [&](std::int64_t i) {
    return element_offset(tile, {static_cast<std::uint32_t>(i) * step, 0});
  });
}

CuteLayout k_mode(const OperandTile& tile, std::uint32_t step, std::uint32_t count) {
  return probe(count, [&](std::int64_t i) {
    return element_offset(tile, {0, static_cast<std::uint32_t>(i) * step});
  });
}

wgmma::MatrixDescriptor first_descriptor(const OperandTile& tile, std::uint32_t start) {
  return wgmma::tile_descriptor(compact(tile), type_of(tile), tile.swizzle,
                                instruction_extent(tile), start);
}

}  // namespace tcq::oracle
