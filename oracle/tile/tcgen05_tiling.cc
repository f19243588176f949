// Fit, descriptors and boxes of operand tiles of tcgen05.mma; see tcgen05_tiling.h.
#include "oracle/tile/tcgen05_tiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "oracle/answer/answer.h"
#include "oracle/map/closed_form.h"
#include "oracle/tile/cute_layout.h"
#include "sim/isa/base/tile_offset.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/copy/tma_box.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"

namespace tcq::oracle {
namespace {

using tcgen05::Swizzle;

constexpr Swizzle swizzles_by_width[] = {Swizzle::B128, Swizzle::B128Atom32, Swizzle::B64,
                                         Swizzle::B32, Swizzle::None};

// Elements that a box of a padded type must have along its inner dimension.
constexpr std::uint32_t padded_box_elements = 128;

std::uint32_t unsigned_of(int value) { return static_cast<std::uint32_t>(value); }

bool is_padded(const Tcgen05Tile& tile) {
  return tcgen05::is_padded(tile.opcode.kind, type_of(tile));
}

// Unit: bits that an element takes in shared memory.
std::uint32_t container_bits(const Tcgen05Tile& tile) {
  return is_padded(tile) ? 8 : unsigned_of(bits(type_of(tile)));
}

std::uint32_t bytes_of(const Tcgen05Tile& tile, std::uint32_t elements) {
  return elements * container_bits(tile) / 8;
}

const char* mn_letter(const Tcgen05Tile& tile) { return tile.is_b ? "N" : "M"; }
const char* matrix_letter(const Tcgen05Tile& tile) { return tile.is_b ? "B" : "A"; }

OperandByte byte_of(const Tcgen05Tile& tile, std::uint32_t mn, std::uint32_t k) {
  return major_of(tile) == Major::K ? OperandByte{mn, bytes_of(tile, k)}
                                    : OperandByte{bytes_of(tile, mn), k};
}

void add_multiple(std::vector<std::string>& found, const Tcgen05Tile& tile, bool along_k) {
  const std::uint32_t have = along_k ? tile.k : tile.mn;
  const std::uint32_t need = along_k ? instruction_k(tile) : instruction_mn(tile);
  if (have != 0 && have % need == 0) return;
  found.push_back(fmt::format("{} of {} is {}{}, not a multiple of the {} of one instruction",
                              along_k ? "K" : mn_letter(tile), matrix_letter(tile), have,
                              tile.opcode.cta_group == 2 && !along_k ? " per CTA" : "", need));
}

void add_atom_misfits(std::vector<std::string>& found, const Tcgen05Tile& tile) {
  const Tile t = compact(tile);
  const bool k_major = major_of(tile) == Major::K;
  const char* contiguous = k_major ? "K" : mn_letter(tile);
  if (t.contiguous_bytes == 0 || t.contiguous_bytes % t.pitch_bytes != 0)
    found.push_back(fmt::format(
        "{} of {} takes {} bytes, not a multiple of the {} contiguous bytes of an atom with "
        "swizzle {}",
        contiguous, matrix_letter(tile), t.contiguous_bytes, t.pitch_bytes, name(tile.swizzle)));
  if (t.rows == 0 || t.rows % t.atom_rows != 0)
    found.push_back(fmt::format("{} of {} is {}, not a multiple of the {} rows of an atom",
                                k_major ? mn_letter(tile) : "K", matrix_letter(tile), t.rows,
                                t.atom_rows));
  const std::uint32_t read = bytes_of(tile, instruction_mn(tile));
  if (!k_major && t.contiguous_bytes > read && read % t.pitch_bytes != 0)
    found.push_back(fmt::format(
        "one instruction reads {} bytes of {}, not whole atoms of {} bytes, so that the second "
        "would start inside an atom",
        read, contiguous, t.pitch_bytes));
}

tma::DataType data_type_of(const Tcgen05Tile& tile) {
  using tma::DataType;
  const Type type = type_of(tile);
  if (is_padded(tile)) return bits(type) == 4 ? DataType::U4Align16 : DataType::U6Align16;
  switch (type) {
    case Type::f16: return DataType::Float16;
    case Type::bf16: return DataType::BFloat16;
    case Type::tf32: return DataType::Float32;
    case Type::e2m1: return DataType::U4Align8;
    default: return DataType::UInt8;
  }
}

}  // namespace

Type type_of(const Tcgen05Tile& tile) { return tile.is_b ? tile.idesc.b : tile.idesc.a; }

Major major_of(const Tcgen05Tile& tile) {
  return tile.is_b ? tile.idesc.major_b : tile.idesc.major_a;
}

std::uint32_t instruction_mn(const Tcgen05Tile& tile) {
  return unsigned_of((tile.is_b ? tile.idesc.n : tile.idesc.m) / tile.opcode.cta_group);
}

std::uint32_t instruction_k(const Tcgen05Tile& tile) {
  return unsigned_of(tile.is_b ? k(tile.opcode, tile.idesc) : stored_k(tile.opcode, tile.idesc));
}

Tile compact(const Tcgen05Tile& tile) {
  const bool k_major = major_of(tile) == Major::K;
  return {major_of(tile),
          pitch_bytes(tile.swizzle),
          tile.order,
          bytes_of(tile, k_major ? tile.k : tile.mn),
          k_major ? tile.mn : tile.k,
          k_major ? 8 : atom_rows(tile.swizzle)};
}

std::vector<std::string> misfits(const Tcgen05Tile& tile) {
  std::vector<std::string> found;
  if (const Fault fault = tcgen05::check_swizzle(tile.swizzle, type_of(tile), major_of(tile));
      fault != Fault::None)
    found.push_back(info(fault).sentence);
  add_multiple(found, tile, false);
  add_multiple(found, tile, true);
  add_atom_misfits(found, tile);
  return found;
}

void require_fit(const Tcgen05Tile& tile, std::uint32_t start) {
  if (tile.idesc.k96)
    throw UnmodelledError(
        "not modelled: tiles of K = 96, whose instructions cross 128-byte lines; expected K = 64");
  const std::vector<std::string> found = misfits(tile);
  if (!found.empty())
    throw FaultError(fmt::format("this tile cannot be laid out: {}", fmt::join(found, "; ")));
  const Tile t = compact(tile);
  if (start % t.atom_bytes() != 0)
    throw FaultError(
        fmt::format("{} at byte {} is not at a multiple of {} bytes, at which the pattern of "
                    "swizzle {} repeats: move the tile there, so that base_offset 0 is right",
                    matrix_letter(tile), start, t.atom_bytes(), name(tile.swizzle)));
  if (start + t.bytes() > tcgen05::address_space_bytes)
    throw FaultError(
        fmt::format("{} takes {} bytes from {} on and ends beyond the {} bytes that a descriptor "
                    "can address",
                    matrix_letter(tile), t.bytes(), start, tcgen05::address_space_bytes));
}

Swizzle swizzle_from(const Keys& keys, std::string_view key, Tcgen05Tile tile) {
  const auto chosen = [&](std::string_view one) {
    return keys.choice(
        one,
        {name(swizzles_by_width[0]), name(swizzles_by_width[1]), name(swizzles_by_width[2]),
         name(swizzles_by_width[3]), name(swizzles_by_width[4])},
        -1);
  };
  for (const std::string_view one : {key, std::string_view("swizzle")})
    if (const int found = chosen(one); found >= 0) return swizzles_by_width[found];
  for (const Swizzle swizzle : swizzles_by_width) {
    tile.swizzle = swizzle;
    if (misfits(tile).empty()) return swizzle;
  }
  return Swizzle::None;
}

tcgen05::SmemDescriptor descriptor_at(const Tcgen05Tile& tile, std::uint32_t start,
                                      std::uint32_t mn, std::uint32_t k) {
  const Tile t = compact(tile);
  const OperandByte byte = byte_of(tile, mn, k);
  const std::uint32_t at = start + mn_advance_bytes(t, byte.mn) + k_advance_bytes(t, byte.k);
  return tile_descriptor(t, tile.swizzle, at, bytes_of(tile, instruction_k(tile)));
}

std::int64_t element_offset(const Tcgen05Tile& tile, std::int64_t mn, std::int64_t k) {
  const auto at = byte_of(tile, static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k));
  const std::int64_t in_byte = container_bits(tile) == 4 ? k % 2 : 0;  // 4 bits: K-major only
  return std::int64_t{8} * tile_offset_bytes(compact(tile), at) / container_bits(tile) + in_byte;
}

std::string swizzle_prefix(Swizzle swizzle) {
  const SwizzleFunction f = swizzle_function(swizzle);
  return fmt::format("Sw<{},{},{}> o smem_ptr o ", f.bits, f.base, f.shift);
}

std::string tma_text(const Tcgen05Tile& tile) {
  const Tile t = compact(tile);
  const TmaBoxes boxes = tma_boxes(t);
  const std::uint32_t inner = boxes.box.inner_bytes * 8 / container_bits(tile);
  if (is_padded(tile) && inner != padded_box_elements)
    return fmt::format("no box writes it: padded types take {} elements, which is swizzle 128B",
                       padded_box_elements);
  const std::uint32_t count = boxes.count_contiguous * boxes.count_rows;
  const bool k_major = major_of(tile) == Major::K;
  std::string text =
      fmt::format("{} box{} {{{}, {}}} of CU_TENSOR_MAP_DATA_TYPE_{} along {{{}}}, {}", count,
                  count == 1 ? "" : "es", inner, boxes.box.rows, name(data_type_of(tile)),
                  k_major ? "K, MN" : "MN, K", tensor_map_swizzle(tile.swizzle));
  if (boxes.count_contiguous > 1)
    text +=
        fmt::format(", next {} at +{} bytes", k_major ? "K" : "MN", boxes.step_contiguous_bytes);
  if (boxes.count_rows > 1)
    text += fmt::format(", next {} at +{} bytes", k_major ? "MN" : "K", boxes.step_rows_bytes);
  return text;
}

std::string cute_text(const Tcgen05Tile& tile) {
  const CuteLayout mn = probe(tile.mn, [&](std::int64_t i) { return element_offset(tile, i, 0); });
  const CuteLayout k = probe(tile.k, [&](std::int64_t i) { return element_offset(tile, 0, i); });
  return swizzle_prefix(tile.swizzle) + to_string(cute_tuple({mn, k}));
}

std::string tile_text(const Tcgen05Tile& tile) {
  return fmt::format("{} {} x {} {}{}, {}-major, swizzle {}, {}", matrix_letter(tile), tile.mn,
                     tile.k, tcq::name(type_of(tile)),
                     tile.opcode.cta_group == 2 ? " in each CTA" : "",
                     major_of(tile) == Major::K ? "K" : "MN", name(tile.swizzle), name(tile.order));
}

}  // namespace tcq::oracle
