// What one wgmma reads of a shared-memory operand, and the descriptor of a compact tile of it.
//
// Decides the extent of A and B per instruction, and which of LBO and SBO it reads at all. Example:
// B of m64n128k16 bf16 is 128 x 16 elements; as a K-major tile with 128B swizzle it has SBO 1024
// and an LBO that is never read.
//
// Source: PTX ISA 9.2, 9.7.15.2 "Matrix shape", 9.7.15.5.1.2 "Shared memory matrix layout".
#pragma once

#include <cstdint>

#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/host_device.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/place.h"
#include "sim/isa/wgmma/shape.h"

namespace tcq::wgmma {

// The two operands that can lie in shared memory.
enum class Multiplicand : std::uint8_t { A, B };

// Unit: elements as stored (A.sp: of the compressed row). mn counts rows of A or columns of B.
struct Extent {
  std::uint32_t mn;
  std::uint32_t k;
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

HOST_DEVICE constexpr Type operand_type(const Form& f, Multiplicand operand) {
  return operand == Multiplicand::A ? f.a : f.b;
}

HOST_DEVICE constexpr Major operand_major(const Form& f, Multiplicand operand) {
  return operand == Multiplicand::A ? f.major_a : f.major_b;
}

// B of a sparse instruction keeps all of K; A is compressed to half of it.
HOST_DEVICE constexpr Extent operand_extent(const Form& f, Multiplicand operand) {
  return operand == Multiplicand::A
             ? Extent{static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(stored_k(f.a))}
             : Extent{static_cast<std::uint32_t>(f.n), static_cast<std::uint32_t>(k(f))};
}

// Bytes that `elements` of a type take; b1: rounded down to the byte that holds the bit.
HOST_DEVICE constexpr std::uint32_t bytes_of(Type type, std::uint32_t elements) {
  return elements * static_cast<std::uint32_t>(bits(type)) / 8;
}

HOST_DEVICE constexpr Tile compact_tile(Type type, Major major, Swizzle swizzle, AtomOrder order,
                                        Extent extent) {
  const std::uint32_t pitch = pitch_bytes(swizzle);
  return major == Major::K ? Tile{major, pitch, order, bytes_of(type, extent.k), extent.mn}
                           : Tile{major, pitch, order, bytes_of(type, extent.mn), extent.k};
}

HOST_DEVICE constexpr OffsetsRead offsets_read(Type type, Major major, Swizzle swizzle,
                                               Extent extent) {
  return tcq::offsets_read({major, pitch_bytes(swizzle), 0, 0},
                           operand_byte(major, type, {extent.mn - 1, extent.k - 1}));
}

// The descriptor of an instruction's operand inside a compact tile. Offsets that are not read are
// written as 0, but LBO of a swizzled K-major operand as 16: CUTLASS writes the same words.
HOST_DEVICE constexpr MatrixDescriptor tile_descriptor(const Tile& tile, Type type, Swizzle swizzle,
                                                       Extent instruction, std::uint32_t start) {
  const CanonicalLayout layout = canonical_layout(tile, bytes_of(type, instruction.k));
  const OffsetsRead read = offsets_read(type, tile.major, swizzle, instruction);
  const bool keep_lbo = read.lbo || (tile.major == Major::K && swizzle != Swizzle::None);
  return {start, keep_lbo ? layout.lbo_bytes : 0, read.sbo ? layout.sbo_bytes : 0, 0, swizzle};
}

}  // namespace tcq::wgmma
