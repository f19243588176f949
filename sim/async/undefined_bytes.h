// Shared memory whose bytes nobody knows: read before anything has written them, or filled by a store of such a value.
//
// To read them is no Fault: that something depends on them is. A row beyond the end that ldmatrix brings, whose products nobody
// stores, and the element behind a tile that a merge looks at but does not take are in published kernels. Whoever executes the
// program follows values through registers (sim/run/undefined.h) and says which reads were followed, and used.
//
// Source: PTX ISA 9.2, 5.1.7 "Shared State Space" (no initial contents), 8.9
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/async/provenance.h"

namespace tcq::machine {

struct ClusterState;

// What a store of an undefined value filled.
struct UndefinedBytes {
  ByteRange bytes;
  std::uint32_t from = 0;  // the read that brought it, of ClusterState::unwritten_reads
  AccessId store = 0;
};

// The first read that bytes of a CTA's shared memory go back to; `unwritten` where nothing wrote them. None: they are defined.
std::optional<std::uint32_t> undefined_from(const ClusterState& c, int cta, ByteRange bytes,
                                            std::uint32_t unwritten);
// They go where nobody follows them.
void use_undefined(ClusterState& c, int cta, ByteRange bytes);
void use_undefined(ClusterState& c, std::uint32_t from);
void add_undefined(ClusterState& c, AccessId store, std::span<const UndefinedBytes> filled);

}  // namespace tcq::machine
