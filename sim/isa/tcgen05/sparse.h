// Which k of B a stored element of a sparse A meets, from the 4-bit codes of its metadata.
//
// The codes are wgmma's (sim/isa/wgmma/sparse.h): tf32 keeps one of two, others two of four, packed 4-bit elements two pairs
// of four. Where a code lies: sim/isa/tmem/operand.h. Example: mxf4, code 1001: stored elements 4c to 4c + 3 are logical
// 8c + 2 to 8c + 5.
//
// Source: PTX ISA 9.2, 9.7.16.10.8 "Sparse matrices"
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/sparse.h"

namespace tcq::tcgen05 {

// Elements that are chosen together.
HOST_DEVICE constexpr int selected_unit(Kind kind) { return is_packed_4bit(kind) ? 2 : 1; }

HOST_DEVICE constexpr Type selection_law(Kind kind) {
  return kind == Kind::tf32 ? Type::tf32 : Type::f16;
}

// Stored elements of a row for each code.
HOST_DEVICE constexpr int stored_per_code(Kind kind) {
  return selected_unit(kind) * wgmma::stored_per_chunk(selection_law(kind));
}

// Faults: UndefinedMetadata.
HOST_DEVICE constexpr Fault check_code(Kind kind, std::uint32_t code) {
  return wgmma::check_metadata(selection_law(kind), code);
}

// Requires: check_code(kind, code) == Fault::None; the code of chunk stored / stored_per_code(kind).
HOST_DEVICE constexpr int selected_k(Kind kind, std::uint32_t code, int stored) {
  return wgmma::selected_k(selection_law(kind), selected_unit(kind), code, stored);
}

}  // namespace tcq::tcgen05
