// Blocks of scale factors as Maps; see scale_blocks.h.
#include "oracle/map/scale_blocks.h"

#include <fmt/format.h>

#include "oracle/map/units.h"
#include "sim/isa/base/shared_limits.h"

namespace tcq::oracle {
namespace {

using namespace tcgen05;

constexpr Coords no_factor = {-1, -1};

int across(const ScaleBuffer& buffer) { return buffer.split ? buffer.mn / 2 : buffer.mn; }

// The inverse of scale_source_byte().
ScaleFactor source_factor(const ScaleBuffer& buffer, int factors, int byte) {
  if (!buffer.split) return scale_factor(byte, factors);
  const int atom = byte / scale_atom_bytes;
  const ScaleFactor f = scale_factor(byte % scale_atom_bytes, scale_group);
  if (f.mn >= across(buffer)) return {-1, -1};
  return {atom % 2 * across(buffer) + f.mn, scale_group * (atom / 2) + f.s};
}

ScaleFactor source_factor(const ScaleBlocks& b, const ScaleBuffer& buffer, int byte) {
  return b.small ? small_block_factor(byte, b.factors) : source_factor(buffer, b.factors, byte);
}

// What brings the blocks on, and in which order they lie.
std::string way_text(const ScaleBlocks& b) {
  const int atoms = scale_atoms_along_k(b.factors);
  if (b.small)
    return fmt::format(
        "counted from the first scale factor in global memory: blocks of {} rows x 4 factors, {} "
        "bytes each, {} along K and then the next rows, as libraries keep them for few rows; no "
        "instruction takes them: tcgen05.cp copies blocks of 128 rows",
        small_block_mn, small_block_mn * scale_group, atoms);
  const std::string order = fmt::format(
      "blocks of 128 rows x 4 factors, {} bytes each, {} along K and then the next rows",
      scale_atom_bytes, atoms);
  if (b.global)
    return "counted from the first scale factor in global memory: " + order +
           "; copies to shared memory keep whole blocks as they are";
  const std::string cp = fmt::format("tcgen05.cp.cta_group::{}.{}", b.cta_group,
                                     b.buffer.split ? "64x128b.warpx2::01_23" : "32x128b.warpx4");
  if (b.buffer.split)
    return fmt::format(
        "blocks of both halves of N side by side, {} bytes for four factors, which {} copies: byte "
        "16*r + c of them is S[r][c] of the copy",
        2 * scale_atom_bytes, cp);
  return fmt::format("{}; {} copies a block: byte 16*r + c of it is S[r][c] of the copy", order,
                     cp);
}

}  // namespace

std::uint32_t scale_source_byte(const ScaleBuffer& buffer, int factors, ScaleFactor f) {
  if (!buffer.split) return static_cast<std::uint32_t>(scale_byte(f, factors));
  const int half = f.mn / across(buffer);
  const int in_atom = scale_byte({f.mn % across(buffer), f.s % scale_group}, scale_group);
  return static_cast<std::uint32_t>((2 * (f.s / scale_group) + half) * scale_atom_bytes + in_atom);
}

Map map_of(const ScaleBlocks& b) {
  const bool pair = !b.global && b.cta_group == 2;
  const bool both = pair && b.matrix == "SFB";
  const bool halves = !b.global && b.buffer.split;
  const int height = b.global || both ? b.rows : b.buffer.mn;
  const ScaleBuffer buffer = halves ? b.buffer : scale_buffer(b.buffer.mn);
  const auto offset = [=, factors = b.factors](const Coords& e) {
    if (b.small) return small_block_byte({e[0], e[1]}, factors);
    return static_cast<int>(scale_source_byte(buffer, factors, {e[0] % height, e[1]}));
  };
  const int start = static_cast<int>(b.start_bytes);
  Map map;
  map.matrix = b.matrix;
  map.space = Space::SharedMemory;
  map.window_end = b.global ? 0 : sm_shared_bytes;
  map.bits = byte_bits;
  map.element = {{.name = "row", .extent = b.rows}, {.name = "col", .extent = b.factors}};
  map.element[0].ctas = pair && !both ? 2 : 1;
  map.element[0].pieces = halves ? 2 : 1;
  map.place = {{.name = "cta", .extent = pair ? 2 : 1, .missing = Missing::Zero},
               {.name = "byte", .extent = 0},
               {.name = "low_bit", .extent = byte_bits}};
  map.places = [=](const Coords& e) {
    return std::vector<Coords>{{both ? both_ctas : e[0] / height, start + offset(e), 0}};
  };
  map.element_at = [=](const Coords& at) {
    if (at[1] < start) return no_factor;
    const ScaleFactor f = source_factor(b, buffer, at[1] - start);
    return f.mn < 0 ? no_factor : Coords{f.mn + (both ? 0 : at[0] * height), f.s};
  };
  map.addressing = {[=](const Coords& e) { return byte_bits * offset(e); }, b.start_bytes, 0,
                    swizzle_function(Swizzle::None)};
  map.notes.push_back(way_text(b));
  map.nothing = "holds nothing of " + map.matrix;
  return map;
}

}  // namespace tcq::oracle
