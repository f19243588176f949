// Facts, text and JSON of an operand's layout; see operand_layout.h.
#include "oracle/tile/operand_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "oracle/answer/decoded_word.h"
#include "oracle/answer/facts.h"
#include "oracle/answer/svg.h"
#include "oracle/answer/words.h"
#include "oracle/tile/strip.h"
#include "oracle/tile/tiling.h"
#include "sim/isa/base/matrix_descriptor.h"
#include "sim/isa/base/shared_limits.h"
#include "sim/isa/copy/tma_box.h"

namespace tcq::oracle {
namespace {

// Elements that a box of a padded type must have along its inner dimension.
constexpr std::uint32_t padded_box_elements = 128;

std::string word_text(const OperandBlock& block) { return hex_word(block.word, descriptor_bits); }

tma::DataType data_type_of(StoredType stored) {
  using tma::DataType;
  if (stored.padded) return bits(stored.type) == 4 ? DataType::U4Align16 : DataType::U6Align16;
  switch (stored.type) {
    case Type::f16: return DataType::Float16;
    case Type::bf16: return DataType::BFloat16;
    case Type::tf32: return DataType::Float32;
    case Type::e2m1: return DataType::U4Align8;
    default: return DataType::UInt8;
  }
}

// What one step through an operand adds to the address, in the manual's letters.
std::string stride_letters(Major major, Swizzle swizzle, OperandByte step) {
  constexpr std::uint32_t lbo = 1u << 20, sbo = 1u << 21;  // larger than any constant stride
  const std::uint32_t moved =
      offset_bytes({major, pitch_bytes(swizzle), lbo, sbo, atom_rows(swizzle)}, step);
  if (moved == lbo) return "LBO";
  if (moved == sbo) return "SBO";
  return fmt::format("{}T", moved / 16);
}

// What the offsets mean that the instruction does not read.
std::string unread_text(const OperandLayout& layout) {
  const OffsetsRead& read = layout.read;
  if (read.lbo && read.sbo) return {};
  const CanonicalLayout whole = canonical_layout(layout.tile);
  const char* unread = read.lbo   ? "sbo_bytes is"
                       : read.sbo ? "lbo_bytes is"
                                  : "lbo_bytes and sbo_bytes are";
  return fmt::format(
      "{} not read by this instruction, any value works (the tile's steps are lbo {}, sbo {})",
      unread, whole.lbo_bytes, whole.sbo_bytes);
}

std::string fields_text(const OperandLayout& layout) {
  return fmt::format("start_bytes {}, lbo_bytes {}, sbo_bytes {}, base_offset 0, swizzle {}",
                     layout.blocks[0].start_bytes, layout.lbo_bytes, layout.sbo_bytes,
                     name(layout.swizzle));
}

Facts facts_of(const OperandLayout& layout) {
  const Tile& tile = layout.tile;
  Facts facts = {{"tile", layout.title},
                 {"descriptor", word_text(layout.blocks[0])},
                 {"fields", fields_text(layout)},
                 {"order", std::string(name(tile.order))},
                 {"order note", std::string(layout_order_note)}};
  if (std::string unread = unread_text(layout); !unread.empty())
    facts.push_back({"note", std::move(unread)});
  facts.push_back({"tile_bytes", fmt::format("{}", tile.bytes())});
  if (layout.blocks[0].start_bytes + tile.bytes() > sm_shared_bytes ||
      tile.bytes() > max_cta_shared_bytes)
    facts.push_back({"limit", cta_limit_text()});
  facts.push_back({"alignment_bytes", fmt::format("{}", tile.atom_bytes())});
  facts.push_back({"tma", tma_text(tile, layout.swizzle, layout.type)});
  facts.push_back({"cute", swizzle_prefix(layout.swizzle) + layout.cute});
  facts.push_back({"canonical", fmt::format("{}, T = {} elements",
                                            canonical_text(tile.major, layout.swizzle,
                                                           layout.instruction_k_bytes),
                                            16 * 8 / stored_bits(layout.type))});
  facts.push_back({"instruction", fmt::format("{} x {} elements of the tile", layout.instruction_mn,
                                              layout.instruction_k)});
  if (!layout.container.empty()) facts.push_back({"container", layout.container});
  return facts;
}

std::string text_of(const OperandLayout& layout) {
  std::string text = facts_lines(facts_of(layout));
  for (const OperandBlock& block : layout.blocks)
    text +=
        fmt::format("\nmn {} k {}: start_bytes {}, start field 0x{:x}, descriptor {}", block.mn,
                    block.k, block.start_bytes, StartAddress::code(block.word), word_text(block));
  return text;
}

Value value_of(const OperandLayout& layout) {
  Value::Members members = facts_members(facts_of(layout));
  members.push_back({"start_bytes", layout.blocks[0].start_bytes});
  members.push_back({"lbo_bytes", layout.lbo_bytes});
  members.push_back({"sbo_bytes", layout.sbo_bytes});
  members.push_back({"base_offset", 0});
  members.push_back({"swizzle", name(layout.swizzle)});
  members.push_back({"instructions", list_of(layout.blocks, [](const OperandBlock& block) {
                       return Value::Members{{"mn", block.mn},
                                             {"k", block.k},
                                             {"start_bytes", block.start_bytes},
                                             {"descriptor", word_text(block)}};
                     })});
  return members;
}

}  // namespace

std::string cta_limit_text() {
  return fmt::format("a CTA has at most {} bytes of shared memory", max_cta_shared_bytes);
}

std::uint32_t stored_bits(StoredType type) {
  return type.padded ? 8 : static_cast<std::uint32_t>(bits(type.type));
}

std::string tma_text(const Tile& tile, Swizzle swizzle, StoredType type) {
  const TmaBoxes boxes = tma_boxes(tile);
  const bool as_bytes = data_type_of(type) == tma::DataType::UInt8;  // b1, too
  const std::uint32_t inner =
      as_bytes ? boxes.box.inner_bytes : boxes.box.inner_bytes * 8 / stored_bits(type);
  if (type.padded && inner != padded_box_elements)
    return fmt::format("no box writes it: padded types take {} elements, which is swizzle 128B",
                       padded_box_elements);
  const std::uint32_t count = boxes.count_contiguous * boxes.count_rows;
  const char* contiguous = name(tile.major);
  const char* other = name(tile.major == Major::K ? Major::MN : Major::K);
  std::string text =
      fmt::format("{} box{} {{{}, {}}} of CU_TENSOR_MAP_DATA_TYPE_{} along {{{}, {}}}, {}", count,
                  count == 1 ? "" : "es", inner, boxes.box.rows, name(data_type_of(type)),
                  contiguous, other, tensor_map_swizzle(swizzle));
  if (boxes.count_contiguous > 1)
    text += fmt::format(", next {} at +{} bytes", contiguous, boxes.step_contiguous_bytes);
  if (boxes.count_rows > 1)
    text += fmt::format(", next {} at +{} bytes", other, boxes.step_rows_bytes);
  return text;
}

std::string swizzle_prefix(Swizzle swizzle) {
  const SwizzleFunction f = swizzle_function(swizzle);
  return fmt::format("Sw<{},{},{}> o smem_ptr o ", f.bits, f.base, f.shift);
}

std::string canonical_text(Major major, Swizzle swizzle, std::uint32_t k_bytes) {
  const std::uint32_t pitch = pitch_bytes(swizzle), rows = atom_rows(swizzle);
  const SwizzleFunction f = swizzle_function(swizzle);
  const std::string function = fmt::format("Sw<{},{},{}>", f.bits, f.base, f.shift);
  const auto letters = [&](OperandByte step) { return stride_letters(major, swizzle, step); };
  if (major == Major::MN)
    return fmt::format("{} o ((T,{},m),({},k)):((1,T,{}),({},{}))", function, pitch / 16, rows,
                       letters({pitch, 0}), letters({0, 1}), letters({0, rows}));
  const std::string chunk = pitch == 16 ? letters({0, 16}) : "T";
  if (pitch != 16 && k_bytes > pitch)
    return fmt::format("{} o ((8,m),(T,{},k)):(({},{}),(1,{},{}))", function, pitch / 16,
                       letters({1, 0}), letters({8, 0}), chunk, letters({0, pitch}));
  return fmt::format("{} o ((8,m),(T,2k)):(({},{}),(1,{}))", function, letters({1, 0}),
                     letters({8, 0}), chunk);
}

TileElementWords::TileElementWords(Question& question) {
  constexpr std::uint64_t largest = 1 << 20;
  std::vector<std::string_view> rest;
  for (const std::string_view word : question.words) {
    const std::string_view key = word.substr(0, word.find('='));
    if (key.size() == word.size() || (key != "row" && key != "col")) {
      rest.push_back(word);
      continue;
    }
    if (question.options.svg_path.empty())
      throw UsageError(fmt::format(
          "{}= says what a picture of the tile is about: expected --svg FILE with it", key));
    const Keys one(std::span(&word, 1), {}, {key});
    (key == "row" ? row : col) = static_cast<std::uint32_t>(one.number(key, 0, largest));
  }
  question.words = std::move(rest);
}

namespace {

// What row= and col= name; else the second row of the second step along K, if there are so many.
TileElement element_of(const OperandLayout& layout, const TileElementWords& words) {
  const Tile& tile = layout.tile;
  const std::uint32_t along = tile.contiguous_bytes * 8 / stored_bits(layout.type);
  const std::uint32_t mn = tile.major == Major::K ? tile.rows : along;
  const std::uint32_t k = tile.major == Major::K ? along : tile.rows;
  const bool is_b = layout.title.starts_with("B");
  const std::uint32_t usual_k = layout.instruction_k < k ? layout.instruction_k : 0;
  const TileElement element = {(is_b ? words.col : words.row).value_or(std::min(mn - 1, 1u)),
                               (is_b ? words.row : words.col).value_or(usual_k)};
  if (element.mn >= mn || element.k >= k)
    throw UsageError(fmt::format(
        "{}={} is out of range: expected [0, {}]", (element.mn >= mn) == is_b ? "col" : "row",
        element.mn >= mn ? element.mn : element.k, (element.mn >= mn ? mn : k) - 1));
  return element;
}

}  // namespace

Answer layout_answer(const OperandLayout& layout, const Options& options,
                     const TileElementWords& element) {
  const bool json = options.style == Style::Json;
  if (options.svg_path.empty())
    return {Status::Yes, json ? json_text(value_of(layout)) : text_of(layout), ""};
  write_whole_file(options.svg_path, svg_text(strip_of(layout, element_of(layout, element))));
  if (!json) return {Status::Yes, fmt::format("wrote {}: {}", options.svg_path, layout.title), ""};
  return {Status::Yes,
          json_text(Value::Members{{"file", options.svg_path}, {"title", layout.title}}), ""};
}

}  // namespace tcq::oracle
