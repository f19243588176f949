// The 32-bit address of a Tensor Memory cell: tmem_lane and tmem_column in one word.
//
// Decides the word; which matrix element a cell holds is sim/isa/tmem/layout.h. Example: lane 32, column 16
// is encode({32, 16}) == 0x00200010.
//
// Source: PTX ISA 9.2, 9.7.16.1 "Tensor Memory", addressing.
#pragma once

#include <cstdint>

#include "sim/isa/base/field.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/tmem/layout.h"

namespace tcq::tcgen05 {

struct TmemAddress {
  static constexpr int lanes = tmem_lanes;
  static constexpr int columns = tmem_columns;  // cells of 32 bits

  int tmem_lane = 0;
  int tmem_column = 0;

  friend constexpr bool operator==(const TmemAddress&, const TmemAddress&) = default;
};

struct TmemColumnField : Field<0, 16> {
  static constexpr const char* name = "tmem_column";
};
struct TmemLaneField : Field<16, 16> {
  static constexpr const char* name = "tmem_lane";
};

using TmemAddressFormat = Format<TmemColumnField, TmemLaneField>;

// Faults: TmemAddressRange.
HOST_DEVICE constexpr Fault check(const TmemAddress& a) {
  const bool lane = a.tmem_lane >= 0 && a.tmem_lane < TmemAddress::lanes;
  const bool column = a.tmem_column >= 0 && a.tmem_column < TmemAddress::columns;
  return lane && column ? Fault::None : Fault::TmemAddressRange;
}

// Requires: check(a) == Fault::None.
HOST_DEVICE constexpr std::uint32_t encode(const TmemAddress& a) {
  return static_cast<std::uint32_t>(
      TmemColumnField::encode(static_cast<std::uint64_t>(a.tmem_column)) |
      TmemLaneField::encode(static_cast<std::uint64_t>(a.tmem_lane)));
}

// Takes any word: both fields are wider than what exists.
HOST_DEVICE constexpr TmemAddress decode_tmem_address(std::uint32_t word) {
  return {static_cast<int>(TmemLaneField::decode(word)),
          static_cast<int>(TmemColumnField::decode(word))};
}

}  // namespace tcq::tcgen05
