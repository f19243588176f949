// `layout`: how to lay a tile of A or B out in shared memory so that wgmma reads it.
//
// Decides what is asked and printed: descriptor, start of every instruction's operand, size,
// alignment, TMA boxes, CuTe and canonical layout. Every number comes from sim/isa; whether the
// tile fits is tiling.h. Example: bf16 64 x 16 K-major has swizzle 32B, LBO 16, SBO 256.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "oracle/answer/json.h"
#include "oracle/answer/verbs.h"
#include "oracle/answer/words.h"
#include "oracle/ptx/mnemonic.h"
#include "oracle/ptx/tcgen05_mnemonic.h"
#include "oracle/tile/tcgen05_layout.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/copy/tma_box.h"
#include "sim/isa/wgmma/operand.h"

namespace tcq::oracle {
namespace {

using wgmma::Extent;
using wgmma::MatrixDescriptor;
using wgmma::Multiplicand;
using wgmma::Swizzle;

constexpr std::uint64_t longest_extent = 16384;

std::string hex_word(std::uint64_t word) { return fmt::format("0x{:016x}", word); }

Major major_from(const Keys& keys, const wgmma::Form& form, Multiplicand operand) {
  return keys.major("major", wgmma::operand_major(form, operand));
}

struct Request {
  OperandTile tile;
  std::uint32_t start;
};

Request request_from(const Question& question) {
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
      static_cast<std::uint32_t>(keys.number_or("start", 0, wgmma::address_space_bytes - 1, 0));
  return {tile, start};
}

void require_place(const Request& request) {
  const std::uint32_t alignment = compact(request.tile).atom_bytes();
  if (request.start % alignment != 0)
    throw FaultError(
        fmt::format("start={} is not a multiple of {} bytes, at which the pattern of swizzle {} "
                    "repeats: move the "
                    "tile there, so that base_offset 0 is right",
                    request.start, alignment, name(request.tile.swizzle)));
  if (request.start + tile_bytes(request.tile) > wgmma::address_space_bytes)
    throw FaultError(
        fmt::format("a tile of {} bytes at start={} ends beyond the {} bytes a "
                    "descriptor can address",
                    tile_bytes(request.tile), request.start, wgmma::address_space_bytes));
}

// ---- Canonical layout ---------------------------------------------------------------------------

// What one step through an operand adds to the address, in the manual's letters.
std::string stride_letters(const OperandTile& tile, OperandByte step) {
  constexpr std::uint32_t lbo = 1u << 20, sbo = 1u << 21;  // larger than any constant stride
  const CanonicalLayout marked = {tile.major, wgmma::pitch_bytes(tile.swizzle), lbo, sbo};
  const std::uint32_t moved = offset_bytes(marked, step);
  if (moved == lbo) return "LBO";
  if (moved == sbo) return "SBO";
  return fmt::format("{}T", moved / 16);
}

std::string canonical_text(const OperandTile& tile) {
  const std::uint32_t pitch = wgmma::pitch_bytes(tile.swizzle);
  const SwizzleFunction f = wgmma::swizzle_function(tile.swizzle);
  const std::string function = fmt::format("Sw<{},{},{}>", f.bits, f.base, f.shift);
  if (tile.major == Major::K) {
    const std::string chunk = stride_letters(tile, {0, 16});
    const std::uint32_t row = wgmma::bytes_of(type_of(tile), instruction_extent(tile).k);
    if (pitch != 16 && row > pitch)
      return fmt::format("{} o ((8,m),(T,{},k)):(({},{}),(1,{},{}))", function, pitch / 16,
                         stride_letters(tile, {1, 0}), stride_letters(tile, {8, 0}),
                         chunk == "1T" ? "T" : chunk, stride_letters(tile, {0, pitch}));
    return fmt::format("{} o ((8,m),(T,2k)):(({},{}),(1,{}))", function,
                       stride_letters(tile, {1, 0}), stride_letters(tile, {8, 0}),
                       chunk == "1T" ? "T" : chunk);
  }
  return fmt::format("{} o ((T,{},m),(8,k)):((1,T,{}),({},{}))", function, pitch / 16,
                     stride_letters(tile, {pitch, 0}), stride_letters(tile, {0, 1}),
                     stride_letters(tile, {0, 8}));
}

// ---- Answer -------------------------------------------------------------------------------------

struct Block {
  Extent at;
  MatrixDescriptor descriptor;
};

std::vector<Block> blocks_of(const Request& request) {
  const OperandTile& tile = request.tile;
  const Extent one = instruction_extent(tile);
  const Tile t = compact(tile);
  std::vector<Block> blocks;
  for (std::uint32_t mn = 0; mn < tile.extent.mn; mn += one.mn) {
    for (std::uint32_t k = 0; k < tile.extent.k; k += one.k) {
      const OperandByte byte = wgmma::operand_byte(tile.major, type_of(tile), {mn, k});
      blocks.push_back({{mn, k},
                        first_descriptor(tile, request.start + mn_advance_bytes(t, byte.mn) +
                                                   k_advance_bytes(t, byte.k))});
    }
  }
  return blocks;
}

std::string fields_text(const MatrixDescriptor& d) {
  return fmt::format("start_bytes {}, lbo_bytes {}, sbo_bytes {}, base_offset {}, swizzle {}",
                     d.start_bytes, d.lbo_bytes, d.sbo_bytes, d.base_offset, name(d.swizzle));
}

std::string tma_text(const Request& request) {
  const OperandTile& tile = request.tile;
  const TmaBoxes boxes = tma_boxes(compact(tile));
  const Type type = type_of(tile);
  const bool bytes = bits(type) < 8;
  const std::uint32_t inner =
      bytes
          ? boxes.box.inner_bytes
          : static_cast<std::uint32_t>(elements_in(type, static_cast<int>(boxes.box.inner_bytes)));
  const std::uint32_t count = boxes.count_contiguous * boxes.count_rows;
  std::string text =
      fmt::format("{} box{} {{{}, {}}} {} along {{{}}}, {}", count, count == 1 ? "" : "es", inner,
                  boxes.box.rows, bytes ? "bytes and rows" : "elements",
                  tile.major == Major::K ? "K, MN" : "MN, K", tensor_map_swizzle(tile.swizzle));
  if (boxes.count_contiguous > 1)
    text += fmt::format(", next {} at +{} bytes", tile.major == Major::K ? "K" : "MN",
                        boxes.step_contiguous_bytes);
  if (boxes.count_rows > 1)
    text += fmt::format(", next {} at +{} bytes", tile.major == Major::K ? "MN" : "K",
                        boxes.step_rows_bytes);
  return text;
}

// What the offsets mean that the instruction does not read.
std::string unread_text(const OperandTile& tile) {
  const wgmma::OffsetsRead read =
      wgmma::offsets_read(type_of(tile), tile.major, tile.swizzle, instruction_extent(tile));
  if (read.lbo && read.sbo) return {};
  const CanonicalLayout whole = canonical_layout(compact(tile));
  std::string text;
  if (!read.lbo) text = "lbo_bytes";
  if (!read.sbo) text += text.empty() ? "sbo_bytes" : " and sbo_bytes";
  return fmt::format(
      "{} not read by this instruction, any value works (the tile's steps are lbo {}, "
      "sbo {})",
      text + (read.lbo || read.sbo ? " is" : " are"), whole.lbo_bytes, whole.sbo_bytes);
}

std::vector<std::pair<std::string_view, std::string>> facts_of(const Request& request) {
  const OperandTile& tile = request.tile;
  const Extent one = instruction_extent(tile);
  const MatrixDescriptor first = first_descriptor(tile, request.start);
  std::vector<std::pair<std::string_view, std::string>> facts = {
      {"tile",
       fmt::format("{} {} x {} {}, {}-major, swizzle {}, {}", name(tile.operand), tile.extent.mn,
                   tile.extent.k, tcq::name(type_of(tile)), tile.major == Major::K ? "K" : "MN",
                   name(tile.swizzle), name(tile.order))},
      {"descriptor", hex_word(encode(first))},
      {"fields", fields_text(first)},
      {"order", std::string(name(tile.order))},
      {"order note", std::string(layout_order_note)}};
  if (const std::string unread = unread_text(tile); !unread.empty())
    facts.push_back({"note", unread});
  facts.insert(facts.end(),
               {{"tile_bytes", fmt::format("{}", tile_bytes(tile))},
                {"alignment_bytes", fmt::format("{}", compact(tile).atom_bytes())},
                {"tma", tma_text(request)},
                {"cute", swizzle_prefix(tile.swizzle) +
                             to_string(cute_tuple({mn_mode(tile, 1, tile.extent.mn),
                                                   k_mode(tile, 1, tile.extent.k)}))},
                {"canonical", fmt::format("{}, T = {} elements", canonical_text(tile),
                                          elements_in(type_of(tile), 16))},
                {"instruction", fmt::format("{} x {} elements of the tile", one.mn, one.k)}});
  return facts;
}

std::string text_answer(const Request& request) {
  std::string text;
  for (const auto& [key, value] : facts_of(request)) text += fmt::format("{}: {}\n", key, value);
  for (const Block& block : blocks_of(request))
    text += fmt::format("mn {} k {}: start_bytes {}, start field 0x{:x}, descriptor {}\n",
                        block.at.mn, block.at.k, block.descriptor.start_bytes,
                        wgmma::StartAddress::code(encode(block.descriptor)),
                        hex_word(encode(block.descriptor)));
  text.pop_back();
  return text;
}

std::string json_answer(const Request& request) {
  std::vector<std::pair<std::string_view, std::string>> members;
  const std::vector<std::pair<std::string_view, std::string>> facts = facts_of(request);
  std::vector<std::string> keys;
  for (const auto& [key, value] : facts) keys.push_back(json_key(key));
  for (std::size_t i = 0; i < facts.size(); ++i)
    members.push_back({keys[i], json_value(facts[i].second)});
  const MatrixDescriptor first = first_descriptor(request.tile, request.start);
  members.push_back({"start_bytes", fmt::format("{}", first.start_bytes)});
  members.push_back({"lbo_bytes", fmt::format("{}", first.lbo_bytes)});
  members.push_back({"sbo_bytes", fmt::format("{}", first.sbo_bytes)});
  members.push_back({"base_offset", fmt::format("{}", first.base_offset)});
  members.push_back({"swizzle", json_string(name(first.swizzle))});
  std::vector<std::string> blocks;
  for (const Block& block : blocks_of(request))
    blocks.push_back(
        json_object({{"mn", fmt::format("{}", block.at.mn)},
                     {"k", fmt::format("{}", block.at.k)},
                     {"start_bytes", fmt::format("{}", block.descriptor.start_bytes)},
                     {"descriptor", json_string(hex_word(encode(block.descriptor)))}}));
  members.push_back({"instructions", json_array(blocks)});
  return json_object(members);
}

}  // namespace

Answer layout(const Question& question) {
  if (is_tcgen05(word_at(question, 0, "MNEMONIC A|B"))) return layout_tcgen05(question);
  const Request request = request_from(question);
  require_fit(request.tile);
  require_place(request);
  return {Status::Yes,
          question.options.style == Style::Json ? json_answer(request) : text_answer(request), ""};
}

}  // namespace tcq::oracle
