// Structured sparsity of wgmma.sp: which logical k a stored element of A stands for.
//
// A stores half of logical K. A 4-bit code per chunk names the two kept positions of four
// (f16, bf16, 8-bit) or the one kept position of two (tf32). Example: code 0b1001 keeps positions
// 1 and 2, so stored elements 2p and 2p + 1 are logical 4p + 1 and 4p + 2.
// Where the codes lie in registers: sim/isa/wgmma/fragment.h.
//
// Source: PTX ISA 9.2, 9.7.15.6.1 "Sparse matrix storage".
// Measured: tests/vectors/wgmma_sparse.tcqv; all 16 codes: tests/vectors/wgmma_directed.txt (family
// M)
#pragma once

#include <cstdint>

#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/fault/fault.h"
#include "sim/isa/wgmma/fragment.h"

namespace tcq::wgmma {

// Stored elements of A per metadata code.
HOST_DEVICE constexpr int stored_per_chunk(Type a) { return chunk_elements(a) / 2; }

// Faults: UndefinedMetadata for codes PTX leaves open. The chip gives them a meaning all the same:
// selected_b().
HOST_DEVICE constexpr Fault check_metadata(Type a, std::uint32_t code) {
  const std::uint32_t first = code % 4;
  const std::uint32_t second = code / 4;
  const bool fine = a == Type::tf32 ? code == 0b0100 || code == 0b1110 : first < second;
  return fine ? Fault::None : Fault::UndefinedMetadata;
}

// Logical k of stored element `index` (of its chunk, [0, stored_per_chunk)) of chunk `chunk`.
// Requires: check_metadata(a, code) == Fault::None for tf32.
HOST_DEVICE constexpr int logical_k(Type a, int chunk, std::uint32_t code, int index) {
  if (a == Type::tf32) return 2 * chunk + static_cast<int>(code / 8);
  return 4 * chunk + static_cast<int>(index == 0 ? code % 4 : code / 4);
}

// Logical k of stored element `stored` of a row whose code for it is `code`; `unit` elements are chosen together: 2 of packed
// 4-bit elements, whose codes are those of f16. Requires: as above.
HOST_DEVICE constexpr int selected_k(Type a, int unit, std::uint32_t code, int stored) {
  const int per_code = unit * stored_per_chunk(a);
  const int k = logical_k(a, stored / per_code, code, stored % per_code / unit);
  return unit * k + stored % unit;
}

// The bits of B that stored element `index` of a chunk meets, for every code; `b` is B's column,
// one element per word. The two fields of a code choose independently of each other. A tf32 code
// chooses 16-bit halves: the low field for the low half, the high field for the high half.
HOST_DEVICE constexpr std::uint32_t selected_b(Type a, int chunk, std::uint32_t code, int index,
                                               const std::uint32_t* b) {
  if (a != Type::tf32) return b[logical_k(a, chunk, code, index)];
  const auto half = [&](std::uint32_t position) {
    return b[2 * chunk + static_cast<int>(position / 2)] >> (16 * (position % 2)) & 0xffffu;
  };
  return half(code / 4) << 16 | half(code % 4);
}

}  // namespace tcq::wgmma
