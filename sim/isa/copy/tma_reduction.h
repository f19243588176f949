// The operations of cp.reduce.async.bulk and its tensor form: which exist for which element type,
// and their exact result on integers.
//
// A reduction replaces each element of the tensor by op(element, element of the tile). Floating
// point: sim/num/reduce_float.h. Example: inc of 7 with 7 is 0, of 6 with 7 is 7.
//
// Source: PTX ISA 9.2, 9.7.9.27.1.3 "cp.reduce.async.bulk.tensor", and the types of 9.7.9.25.4.2
// "cp.reduce.async.bulk".
// Measured: tests/vectors/tma_reduce.tcqv; pairs of operation and type that do not exist trap:
// tests/vectors/tma_edge.tcqv, tests/vectors/bulk_edge.tcqv
#pragma once

#include <cstdint>

#include "sim/isa/base/host_device.h"
#include "sim/isa/copy/tensor_map.h"
#include "sim/isa/fault/fault.h"

namespace tcq::tma {

enum class Reduction : std::uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };
inline constexpr int reduction_count = 8;

HOST_DEVICE constexpr const char* name(Reduction op) {
  switch (op) {
    case Reduction::Add: return "add";
    case Reduction::Min: return "min";
    case Reduction::Max: return "max";
    case Reduction::Inc: return "inc";
    case Reduction::Dec: return "dec";
    case Reduction::And: return "and";
    case Reduction::Or: return "or";
    case Reduction::Xor: return "xor";
  }
  return "?";
}

HOST_DEVICE constexpr bool is_signed(DataType type) {
  return type == DataType::Int32 || type == DataType::Int64;
}

HOST_DEVICE constexpr bool is_wide_integer(DataType type) {
  return type >= DataType::UInt32 && type <= DataType::Int64;
}

namespace detail {

HOST_DEVICE constexpr Fault check_float(Reduction op, DataType type) {
  const bool extreme = op == Reduction::Min || op == Reduction::Max;
  const bool exists = op == Reduction::Add || (extreme && element_bytes(type) == 2);
  return exists ? Fault::None : Fault::ReductionType;
}

}  // namespace detail

// Floating point has add, tf32 as well, which PTX does not list; only the 16-bit types have min and
// max. Faults: ReductionType.
HOST_DEVICE constexpr Fault check(Reduction op, DataType type) {
  const bool bitwise = op == Reduction::And || op == Reduction::Or || op == Reduction::Xor;
  const bool counter = op == Reduction::Inc || op == Reduction::Dec;
  if (is_float(type)) return detail::check_float(op, type);
  if (!is_wide_integer(type)) return Fault::ReductionType;
  if (counter && type != DataType::UInt32) return Fault::ReductionType;
  if (type == DataType::Int64 && (op == Reduction::Add || bitwise)) return Fault::ReductionType;
  return Fault::None;
}

namespace detail {

HOST_DEVICE constexpr bool less(DataType type, std::uint64_t x, std::uint64_t y) {
  if (type == DataType::Int32)
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)) <
           static_cast<std::int32_t>(static_cast<std::uint32_t>(y));
  if (type == DataType::Int64) return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
  return x < y;
}

}  // namespace detail

// The new element of the tensor; bits above the type's width are to be dropped.
// Requires: check(op, type) == Fault::None; `old` and `tile` zero-extended.
HOST_DEVICE constexpr std::uint64_t reduce(Reduction op, DataType type, std::uint64_t old,
                                           std::uint64_t tile) {
  switch (op) {
    case Reduction::Add: return old + tile;
    case Reduction::Min: return detail::less(type, tile, old) ? tile : old;
    case Reduction::Max: return detail::less(type, old, tile) ? tile : old;
    case Reduction::Inc: return old >= tile ? 0 : old + 1;
    case Reduction::Dec: return old == 0 || old > tile ? tile : old - 1;
    case Reduction::And: return old & tile;
    case Reduction::Or: return old | tile;
    case Reduction::Xor: return old ^ tile;
  }
  return old;
}

}  // namespace tcq::tma
