// Fit, descriptors and boxes of operand tiles of tcgen05.mma; see tcgen05_tiling.h.
#include "oracle/tile/tcgen05_tiling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "oracle/answer/answer.h"
#include "oracle/map/closed_form.h"
#include "oracle/tile/cute_layout.h"
#include "sim/isa/base/tile_offset.h"
#include "sim/isa/tcgen05/operand.h"
#include "sim/isa/tcgen05/shape.h"

namespace tcq::oracle {
namespace {

constexpr Swizzle tcgen05_swizzles[] = {Swizzle::B128, Swizzle::B128Atom32, Swizzle::B64,
                                        Swizzle::B32, Swizzle::None};

std::uint32_t unsigned_of(int value) { return static_cast<std::uint32_t>(value); }

std::uint32_t container_bits(const Tcgen05Tile& tile) { return stored_bits(stored_type(tile)); }

const char* mn_letter(const Tcgen05Tile& tile) { return tile.is_b ? "N" : "M"; }
const char* matrix_letter(const Tcgen05Tile& tile) { return tile.is_b ? "B" : "A"; }

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

}  // namespace

Type type_of(const Tcgen05Tile& tile) { return tile.is_b ? tile.idesc.b : tile.idesc.a; }

StoredType stored_type(const Tcgen05Tile& tile) {
  return {type_of(tile), tcgen05::is_padded(tile.opcode.kind, type_of(tile))};
}

std::uint32_t bytes_of(const Tcgen05Tile& tile, std::uint32_t elements) {
  return elements * container_bits(tile) / 8;
}

OperandByte byte_of(const Tcgen05Tile& tile, std::uint32_t mn, std::uint32_t k) {
  return major_of(tile) == Major::K ? OperandByte{mn, bytes_of(tile, k)}
                                    : OperandByte{bytes_of(tile, mn), k};
}

std::string tma_text(const Tcgen05Tile& tile) {
  return tma_text(compact(tile), tile.swizzle, stored_type(tile));
}

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
  if (start + t.bytes() > address_space_bytes)
    throw FaultError(
        fmt::format("{} takes {} bytes from {} on and ends beyond the {} bytes that a descriptor "
                    "can address",
                    matrix_letter(tile), t.bytes(), start, address_space_bytes));
}

Swizzle swizzle_from(const Keys& keys, std::string_view key, Tcgen05Tile tile) {
  const auto chosen = [&](std::string_view one) {
    return keys.choice(
        one,
        {name(tcgen05_swizzles[0]), name(tcgen05_swizzles[1]), name(tcgen05_swizzles[2]),
         name(tcgen05_swizzles[3]), name(tcgen05_swizzles[4])},
        -1);
  };
  for (const std::string_view one : {key, std::string_view("swizzle")})
    if (const int found = chosen(one); found >= 0) return tcgen05_swizzles[found];
  for (const Swizzle swizzle : tcgen05_swizzles) {
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
  return tcgen05::tile_descriptor(t, tile.swizzle, at, bytes_of(tile, instruction_k(tile)));
}

std::int64_t element_offset(const Tcgen05Tile& tile, std::int64_t mn, std::int64_t k) {
  const auto at = byte_of(tile, static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k));
  const std::int64_t in_byte = container_bits(tile) == 4 ? k % 2 : 0;  // 4 bits: K-major only
  return std::int64_t{8} * tile_offset_bytes(compact(tile), at) / container_bits(tile) + in_byte;
}

std::string cute_text(const Tcgen05Tile& tile) {
  const CuteLayout mn = probe(tile.mn, [&](std::int64_t i) { return element_offset(tile, i, 0); });
  const CuteLayout k = probe(tile.k, [&](std::int64_t i) { return element_offset(tile, 0, i); });
  return to_string(cute_tuple({mn, k}));
}

std::string tile_text(const Tcgen05Tile& tile) {
  return fmt::format("{} {} x {} {}{}, {}-major, swizzle {}, {}", matrix_letter(tile), tile.mn,
                     tile.k, tcq::name(type_of(tile)),
                     tile.opcode.cta_group == 2 ? " in each CTA" : "", name(major_of(tile)),
                     name(tile.swizzle), name(tile.order));
}

}  // namespace tcq::oracle
