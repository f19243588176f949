// Shared memory whose bytes nobody knows: read before anything has written them, or filled by a store of such a value. Registers of
// compiled kernels that nothing has written are held to the same (sim/run/unwritten_registers.h), and so are local memory, and
// what shfl takes from nobody (sim/run/shuffle.h).
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

#include "sim/async/finding.h"
#include "sim/async/provenance.h"

namespace tcq::machine {

struct ClusterState;

// Something depends on what nothing has written, and yet the result may not: the branch that a key behind the end of a
// tile decides loads another key that is dropped as well. So such an execution is repeated with other bytes in the place of
// those (explore.h), and with comparisons of them that come out otherwise, be it as no bytes would have them. Where none ends
// otherwise, and global memory is the same after all of them, that is disputed (UninitializedAssumed); else the use is what it
// was. So it is where they are a member mask, or an operand of a barrier, an mbarrier, a copy or an mma. No proof, as not
// everything is tried.
enum class Contents : std::uint8_t {
  Zeros,
  Ones,   // all bits: -1, and as a float no number
  Large,  // 0x7f7f7f7f, a large number as s32 and as f32
  True,   // from here on no two words alike; and so is every predicate that depends on them
  False,
  Drawn,
  DrawnAgain,
};
inline constexpr Contents tried_contents[] = {Contents::Zeros,     Contents::Ones,  Contents::Large,
                                              Contents::True,      Contents::False, Contents::Drawn,
                                              Contents::DrawnAgain};
// `place` tells fills apart.
void fill(std::span<std::uint8_t> bytes, Contents contents, std::uint64_t place = 0);
// What predicates of lanes are that depend on such bytes, where they would be `computed`; `place` tells executions of
// instructions apart.
std::uint32_t assumed_predicates(Contents contents, std::uint32_t computed, std::uint64_t place);

// What a store of an undefined value filled; or one that another store's race leaves open, whose use is that race.
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
// Two stores race and nobody has read what the first one left. Disputed (UnreadStoresRace) as long as nobody uses what they
// leave: which of them wins is open. False: that ends it.
bool note_unread_stores(ClusterState& c, const Finding& race, AccessId store);
void add_undefined(ClusterState& c, AccessId store, std::span<const UndefinedBytes> filled);

}  // namespace tcq::machine
