// `layout`: how to lay a tile of A or B out in shared memory so that wgmma reads it.
//
// Decides what is asked; whether the tile fits is tiling.h, what is printed operand_layout.h, and for
// tcgen05 tcgen05_layout.cc answers. Example: bf16 64 x 16 K-major has swizzle 32B, LBO 16, SBO 256.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/tile/operand_layout.h"
#include "oracle/tile/tcgen05_layout.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;
using wgmma::Multiplicand;

Major major_from(const Keys& keys, const wgmma::Form& form, Multiplicand operand) {
  return keys.major("major", wgmma::operand_major(form, operand));
}

struct LayoutRequest {
  OperandTile tile;
  std::uint32_t start;
};

LayoutRequest layout_request(const Question& question) {
  const Keys keys(words_from(question, 2), instruction_keys,
                  {"rows", "k", "type", "major", "swizzle", "start", "order"});
  const wgmma::Form form = instruction_of(question, keys).form;
  const Multiplicand operand = parse_multiplicand(word_at(question, 1, "A or B"));
  if (operand == Multiplicand::A && form.a_place == wgmma::Place::Registers)
    throw UsageError("a=regs: A in registers has no shared-memory layout; expected B, or a=smem");
  const std::string_view type = name(wgmma::operand_type(form, operand));
  if (!same_word(keys.text("type", type), type))
    throw UsageError(fmt::format("type {} is not the mnemonic's: expected type={} or no type=",
                                 quoted(keys.text("type", "")), type));
  const Extent one = wgmma::operand_extent(form, operand);
  OperandTile tile{form,
                   operand,
                   major_from(keys, form, operand),
                   Swizzle::None,
                   AtomOrder::MnFirst,
                   {static_cast<std::uint32_t>(keys.number_or("rows", 1, longest_extent, one.mn)),
                    static_cast<std::uint32_t>(keys.number_or("k", 1, longest_extent, one.k))}};
  tile.order = keys.order(usual_order(tile.major));
  tile.swizzle = swizzle_from(keys, "swizzle", tile);
  const auto start =
      static_cast<std::uint32_t>(keys.number_or("start", 0, address_space_bytes - 1, 0));
  return {tile, start};
}

void require_place(const LayoutRequest& request) {
  const std::uint32_t alignment = compact(request.tile).atom_bytes();
  if (request.start % alignment != 0)
    throw FaultError(
        fmt::format("start={} is not a multiple of {} bytes, at which the pattern of swizzle {} "
                    "repeats: move the "
                    "tile there, so that base_offset 0 is right",
                    request.start, alignment, name(request.tile.swizzle)));
  if (request.start + tile_bytes(request.tile) > address_space_bytes)
    throw FaultError(
        fmt::format("a tile of {} bytes at start={} ends beyond the {} bytes a "
                    "descriptor can address",
                    tile_bytes(request.tile), request.start, address_space_bytes));
}

// ---- Answer -------------------------------------------------------------------------------------

std::vector<OperandBlock> blocks_of(const LayoutRequest& request) {
  const OperandTile& tile = request.tile;
  const Extent one = instruction_extent(tile);
  const Tile t = compact(tile);
  std::vector<OperandBlock> blocks;
  for (std::uint32_t mn = 0; mn < tile.extent.mn; mn += one.mn) {
    for (std::uint32_t k = 0; k < tile.extent.k; k += one.k) {
      const OperandByte byte = wgmma::operand_byte(tile.major, type_of(tile), {mn, k});
      const std::uint32_t start =
          request.start + mn_advance_bytes(t, byte.mn) + k_advance_bytes(t, byte.k);
      blocks.push_back({mn, k, start, encode(first_descriptor(tile, start))});
    }
  }
  return blocks;
}

OperandLayout layout_of(const LayoutRequest& request) {
  const OperandTile& tile = request.tile;
  const Extent one = instruction_extent(tile);
  const MatrixDescriptor first = first_descriptor(tile, request.start);
  return {.title = fmt::format("{} {} x {} {}, {}-major, swizzle {}, {}", name(tile.operand),
                               tile.extent.mn, tile.extent.k, name(type_of(tile)), name(tile.major),
                               name(tile.swizzle), name(tile.order)),
          .tile = compact(tile),
          .swizzle = tile.swizzle,
          .type = {type_of(tile)},
          .read = wgmma::offsets_read(type_of(tile), tile.major, tile.swizzle, one),
          .lbo_bytes = first.lbo_bytes,
          .sbo_bytes = first.sbo_bytes,
          .cute = to_string(
              cute_tuple({mn_mode(tile, 1, tile.extent.mn), k_mode(tile, 1, tile.extent.k)})),
          .instruction_mn = one.mn,
          .instruction_k = one.k,
          .instruction_k_bytes = wgmma::bytes_of(type_of(tile), one.k),
          .container = "",
          .blocks = blocks_of(request)};
}

}  // namespace

Answer layout(const Question& asked) {
  Question question = asked;
  const TileElementWords element(question);
  if (is_tcgen05(word_at(question, 0, "MNEMONIC A|B"))) return layout_tcgen05(question, element);
  const LayoutRequest request = layout_request(question);
  require_fit(request.tile);
  require_place(request);
  return layout_answer(layout_of(request), question.options, element);
}

}  // namespace tcq::oracle
