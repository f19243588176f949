// What a copy, or a sequence of mbarrier operations or wgmmas is given at run time: plain structs, so
// that the machine, the recordings and the probes on a GPU speak of the same ones. What is legal:
// tma_tile.h, bulk_copy.h, mbarrier.h. Shared addresses are relative to the CTA's own window, those of
// global memory begin at 0. Example: bulk::Range{2048, 1024, 64} are global bytes [2048, 2112) and the
// first 64 of dynamic shared memory.
// Source: PTX ISA 9.2, 9.7.9.25.4.1 "cp.async.bulk", 9.7.13.15 "mbarrier".
#pragma once

#include <cstdint>

#include "sim/isa/copy/mbarrier.h"
#include "sim/isa/copy/tma_tile.h"

namespace tcq::tma {

// A box of a tensor and its home in shared memory.
struct Tile {
  TensorMap map;
  Coordinates start;
  std::uint32_t shared_address = 0;

  friend constexpr bool operator==(const Tile&, const Tile&) = default;
};

// Who issues a copy in a cluster, and for whom: CTAs whose bit is set in `mask`.
struct Multicast {
  int cluster = 1;  // CTAs
  int issuer = 0;
  std::uint16_t mask = 1;

  friend constexpr bool operator==(const Multicast&, const Multicast&) = default;
};

}  // namespace tcq::tma

namespace tcq::bulk {

// A range of global memory and one of shared memory.
struct Range {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;
  std::uint32_t bytes = 0;

  friend constexpr bool operator==(const Range&, const Range&) = default;
};

// cp.async.bulk.shared::cluster.shared::cta: from the CTA that issues it to one of its cluster.
struct Send {
  std::uint32_t source_rank = 0;
  std::uint32_t source = 0;
  std::uint32_t destination_rank = 0;
  std::uint32_t destination = 0;
  std::uint32_t bytes = 0;
};

}  // namespace tcq::bulk

namespace tcq::mbarrier {

struct Step {
  Operation operation = Operation::Init;
  std::uint32_t number = 0;
  std::uint32_t issuer = 0;  // rank of the CTA that executes it; the mbarrier lies in CTA 0
};

inline constexpr std::uint32_t no_pending_count = 0xffffffff;

// What can be seen of the mbarrier behind a step.
struct Answer {
  std::uint32_t passes = 0;  // test_wait.parity: 1 if that of parity 0 is true, 2 if that of 1
  std::uint32_t pending_count = no_pending_count;  // of the state that an arrival of CTA 0 returned

  friend constexpr bool operator==(const Answer&, const Answer&) = default;
};

}  // namespace tcq::mbarrier

namespace tcq::wgmma {

// Of a sequence in groups: wgmma.commit_group, or a wgmma whose form is the sequence's.
struct GroupsStatement {
  bool commit = false;
  int accumulator = 0;
  bool accumulate = true;  // scale-d
  std::uint64_t desc_a = 0;
  std::uint64_t desc_b = 0;
};

}  // namespace tcq::wgmma
