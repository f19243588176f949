// The opcodes of CuTe's copies; see cute_copies.h.
#include "oracle/ptx/cute_copies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tcq::oracle {
namespace {

using NameParts = std::span<const std::string>;

bool has_part(NameParts parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

struct NamedCopy {
  std::string_view name, mnemonic;
};

// Behind SMxx_.
constexpr std::array<NamedCopy, 34> fixed_copies = {
    {{"U32X1_LDSM_N", "ldmatrix.x1"},
     {"U32X2_LDSM_N", "ldmatrix.x2"},
     {"U32X4_LDSM_N", "ldmatrix.x4"},
     {"U16X2_LDSM_T", "ldmatrix.x1.trans"},
     {"U16X4_LDSM_T", "ldmatrix.x2.trans"},
     {"U16X8_LDSM_T", "ldmatrix.x4.trans"},
     {"U8X8_LDSM_T", "ldmatrix.m16n16.x1.trans.b8"},
     {"U8X16_LDSM_T", "ldmatrix.m16n16.x2.trans.b8"},
     {"SU4_DU8X16_X1_LDSM_N", "ldmatrix.m8n16.x1.b8x16.b4x16_p64"},
     {"SU4_DU8X16_X2_LDSM_N", "ldmatrix.m8n16.x2.b8x16.b4x16_p64"},
     {"SU4_DU8X16_X4_LDSM_N", "ldmatrix.m8n16.x4.b8x16.b4x16_p64"},
     {"SU6_DU8X16_X1_LDSM_N", "ldmatrix.m8n16.x1.b8x16.b6x16_p32"},
     {"SU6_DU8X16_X2_LDSM_N", "ldmatrix.m8n16.x2.b8x16.b6x16_p32"},
     {"SU6_DU8X16_X4_LDSM_N", "ldmatrix.m8n16.x4.b8x16.b6x16_p32"},
     {"U32X1_STSM_N", "stmatrix.x1"},
     {"U32X2_STSM_N", "stmatrix.x2"},
     {"U32X4_STSM_N", "stmatrix.x4"},
     {"U16X2_STSM_T", "stmatrix.x1.trans"},
     {"U16X4_STSM_T", "stmatrix.x2.trans"},
     {"U16X8_STSM_T", "stmatrix.x4.trans"},
     {"U8X4_STSM_T", "stmatrix.m16n8.x1.trans.b8"},
     {"U8X8_STSM_T", "stmatrix.m16n8.x2.trans.b8"},
     {"U8X16_STSM_T", "stmatrix.m16n8.x4.trans.b8"},
     {"U32X1_MOVM_T", "movmatrix.m8n8.trans.b16"},
     {"CP_ASYNC_CACHEALWAYS", "cp.async.ca.shared.global"},
     {"CP_ASYNC_CACHEALWAYS_ZFILL", "cp.async.ca.shared.global"},
     {"CP_ASYNC_CACHEGLOBAL", "cp.async.cg.shared.global"},
     {"CP_ASYNC_CACHEGLOBAL_ZFILL", "cp.async.cg.shared.global"},
     {"BULK_COPY_G2S", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"},
     {"BULK_COPY_S2G", "cp.async.bulk.global.shared::cta.bulk_group"},
     {"BULK_COPY_AUTO", "cp.async.bulk"},
     {"TMA_LOAD", "cp.async.bulk.tensor"},
     {"TMA_STORE", "cp.async.bulk.tensor"},
     {"TMA_REDUCE_ADD", "cp.reduce.async.bulk.tensor"}}};

// Behind SM100_UTCCP_.
constexpr std::array<NamedCopy, 6> tensor_memory_copies = {
    {{"128DP256BIT", "128x256b"},
     {"128DP128BIT", "128x128b"},
     {"4DP256BIT", "4x256b"},
     {"4X32DP128BIT", "32x128b.warpx4"},
     {"2X64DP128BITLW0213", "64x128b.warpx2::02_13"},
     {"2X64DP128BITLW0123", "64x128b.warpx2::01_23"}}};

std::string_view opcode_in(std::span<const NamedCopy> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const NamedCopy& one) { return one.name == name; });
  return row == rows.end() ? std::string_view() : row->mnemonic;
}

struct Amount {
  std::string paths, bits, times;
};

// "16DP256B2X"
Amount amount_of(std::string_view word) {
  const std::size_t dp = word.find("DP"), b = word.find('B', dp), x = word.find('X', dp);
  if (dp == word.npos || b == word.npos || x == word.npos || x < b) return {};
  return {std::string(word.substr(0, dp)), std::string(word.substr(dp + 2, b - dp - 2)),
          std::string(word.substr(b + 1, x - b - 1))};
}

// Behind SM100_TMEM_.
std::string tmem_copy(NameParts parts, std::string& why) {
  const bool load = parts[0] == "LOAD";
  const Amount amount = amount_of(parts[1]);
  if (amount.paths == "32" && amount.bits != "32") {
    why = fmt::format(
        "32 lanes (dp) are moved 32 bits at a time, wider ones by 16 lanes: "
        "SM100_TMEM_{}_16dp{}b{}x exists",
        parts[0], amount.bits, amount.times);
    return "";
  }
  const bool split = amount.paths == "16" && amount.bits == "32";
  const std::string_view packed = !has_part(parts, "16B") ? ""
                                  : load                  ? ".pack::16b"
                                                          : ".unpack::16b";
  return fmt::format("tcgen05.{}.{}x{}b{}.x{}{}", load ? "ld" : "st", amount.paths, amount.bits,
                     split ? "x2" : "", amount.times, packed);
}

// "2d" of TMA_LOAD_MULTICAST_2D; empty if it names none.
std::string dimensions_of(NameParts parts) {
  for (const std::string& part : parts)
    if (part.size() == 2 && part[1] == 'D' && part[0] >= '1' && part[0] <= '5')
      return fmt::format("{}d", part[0]);
  return "";
}

// Behind SMxx_TMA_.
std::string tma_copy(NameParts parts) {
  const std::string dimensions = dimensions_of(parts);
  const std::string tensor = dimensions.empty() ? "" : "." + dimensions;
  const std::string_view pair = has_part(parts, "2SM") ? ".cta_group::2" : "";
  if (has_part(parts, "REDUCE"))
    return fmt::format("cp.reduce.async.bulk.tensor{}.global.shared::cta.add.bulk_group", tensor);
  if (has_part(parts, "STORE"))
    return fmt::format("cp.async.bulk.tensor{}.global.shared::cta{}.bulk_group", tensor,
                       has_part(parts, "SCATTER4") ? ".tile::scatter4"
                       : has_part(parts, "IM2COL") ? ".im2col_no_offs"
                                                   : "");
  if (!has_part(parts, "LOAD")) return "";
  return fmt::format(
      "cp.async.bulk.tensor{}.shared::cluster.global{}.mbarrier::complete_tx::bytes{}{}", tensor,
      has_part(parts, "GATHER4")  ? ".tile::gather4"
      : has_part(parts, "IM2COL") ? ".im2col"
                                  : "",
      has_part(parts, "MULTICAST") ? ".multicast::cluster" : "", pair);
}

}  // namespace

std::string copy_mnemonic(std::span<const std::string> parts, std::string& why) {
  const NameParts rest = parts.subspan(1);
  const std::string name = fmt::format("{}", fmt::join(rest, "_"));
  if (const std::string_view known = opcode_in(fixed_copies, name); !known.empty())
    return std::string(known);
  if (rest.size() > 2 && rest[0] == "UTCCP") {
    const std::string_view shape = opcode_in(tensor_memory_copies, rest[1]);
    if (shape.empty() || (rest[2] != "1CTA" && rest[2] != "2CTA")) return "";
    return fmt::format("tcgen05.cp.cta_group::{}.{}", rest[2][0], shape);
  }
  if (rest.size() > 2 && rest[0] == "TMEM" && (rest[1] == "LOAD" || rest[1] == "STORE") &&
      !amount_of(rest[2]).times.empty())
    return tmem_copy(rest.subspan(1), why);
  return rest.size() > 1 && rest[0] == "TMA" ? tma_copy(rest.subspan(1)) : "";
}

}  // namespace tcq::oracle
