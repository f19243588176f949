// One function = one PTX instruction: mbarriers, bulk tensor copies (TMA), clusters. No logic.
//
// Shared-memory addresses are addresses in the shared window (32 bits), tensor maps are generic
// pointers to the 128 bytes that the driver encoded. The order of a load: mbarrier_init(),
// fence_mbarrier_init(), barrier; mbarrier_arrive_expect_tx(), tma_load(), mbarrier_try_wait()
// until true. Of a store: write the tile, fence_proxy_async_shared() (cuda/ptx/basic.cuh), barrier;
// tma_store(), bulk_commit_group(), bulk_wait_group<0>(). What they move: sim/isa/copy/tma_tile.h.
#pragma once

#include <cstdint>

#include "sim/isa/copy/tma_reduction.h"
#include "sim/isa/copy/tma_tile.h"

namespace tcq::ptx {

// Source: PTX ISA 9.2, 9.7.9.25.3 "cp.async". Four bytes, by the generic proxy.
__device__ __forceinline__ void cp_async_word(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Source: PTX ISA 9.2, 9.7.13.15 "mbarrier".
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint32_t barrier,
                                                          std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Releases to the threads of the CTA.
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At a barrier of any CTA of the cluster: an address that map_shared() gave. Releases to the
// threads of the cluster.
__device__ __forceinline__ void mbarrier_arrive_cluster(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

// As above, but releases nothing: for a thread that only read, through the async proxy and to the
// end. On an H200 the release costs about 1000 clocks (cuda/NOTES.md).
__device__ __forceinline__ void mbarrier_arrive_cluster_relaxed(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

// As above, but releases to the threads of the own CTA only.
__device__ __forceinline__ void mbarrier_arrive_cluster_scope_cta(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

// Arrivals that return the barrier's state before them (count: mbarrier_pending_count()).
__device__ __forceinline__ std::uint64_t mbarrier_arrive_count(std::uint32_t barrier,
                                                               std::uint32_t count) {
  std::uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(barrier), "r"(count)
               : "memory");
  return state;
}

__device__ __forceinline__ std::uint64_t mbarrier_arrive_drop(std::uint32_t barrier,
                                                              std::uint32_t count) {
  std::uint64_t state;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(barrier), "r"(count)
               : "memory");
  return state;
}

__device__ __forceinline__ std::uint64_t mbarrier_arrive_expect_tx_state(std::uint32_t barrier,
                                                                         std::uint32_t bytes) {
  std::uint64_t state;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(barrier), "r"(bytes)
               : "memory");
  return state;
}

__device__ __forceinline__ std::uint32_t mbarrier_pending_count(std::uint64_t state) {
  std::uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

__device__ __forceinline__ void mbarrier_expect_tx(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_complete_tx(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

// At a barrier of any CTA of the cluster, as mbarrier_arrive_cluster().
__device__ __forceinline__ void mbarrier_arrive_count_cluster(std::uint32_t barrier,
                                                              std::uint32_t count) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
               "r"(count)
               : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_drop_cluster(std::uint32_t barrier,
                                                             std::uint32_t count) {
  asm volatile(
      "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(count)
      : "memory");
}

__device__ __forceinline__ void mbarrier_arrive_expect_tx_cluster(std::uint32_t barrier,
                                                                  std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ void mbarrier_expect_tx_cluster(std::uint32_t barrier,
                                                           std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_complete_tx_cluster(std::uint32_t barrier,
                                                             std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(barrier),
               "r"(bytes)
               : "memory");
}

// Does not wait.
__device__ __forceinline__ bool mbarrier_test_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

// True if the phase of this parity has completed; may wait a while before it says false.
__device__ __forceinline__ bool mbarrier_try_wait(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

// As above; acquires what threads of other CTAs of the cluster released.
__device__ __forceinline__ bool mbarrier_try_wait_cluster(std::uint32_t barrier,
                                                          std::uint32_t parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

// Makes mbarrier_init() visible to the async proxy and to the cluster.
// Source: PTX ISA 9.2, 9.7.13.4 "membar, fence".
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Returns when the kernels before this one in the stream are complete and their writes visible; only
// a kernel launched with programmatic stream serialization can be here earlier.
// Source: PTX ISA 9.2, "griddepcontrol".
__device__ __forceinline__ void grid_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// The next kernel of the stream may start where there is room.
__device__ __forceinline__ void grid_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;");
}

// Brings a tensor map into the cache. Source: PTX ISA 9.2, "prefetch".
__device__ __forceinline__ void prefetch_map(const void* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Source: PTX ISA 9.2, 9.7.13.3 "barrier.cluster".
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// As above, but orders nothing but what fence_mbarrier_init() fenced.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Of the grid's clusters, along x.
// Source: PTX ISA 9.2, "%clusterid".
__device__ __forceinline__ std::uint32_t cluster_id() {
  std::uint32_t id;
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  return id;
}

// The address of `shared`, an address in the own CTA, in CTA `rank` of the cluster.
// Source: PTX ISA 9.2, "mapa".
__device__ __forceinline__ std::uint32_t map_shared(std::uint32_t shared, std::uint32_t rank) {
  std::uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(shared), "r"(rank));
  return mapped;
}

// Source: PTX ISA 9.2, 9.7.9.25.5 "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
__device__ __forceinline__ void bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Returns when at most the `Pending` youngest bulk groups of this thread are incomplete.
template <int Pending>
__device__ __forceinline__ void bulk_wait_group() {
  static_assert(Pending >= 0);
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

// As above, but only the reads from shared memory have to be complete.
template <int Pending>
__device__ __forceinline__ void bulk_wait_group_read() {
  static_assert(Pending >= 0);
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// clang-format off
// The coordinates' operands, numbered from 3 on, and their registers.
#define TCQ_AT_1 "{%3}"
#define TCQ_AT_2 "{%3, %4}"
#define TCQ_AT_3 "{%3, %4, %5}"
#define TCQ_AT_4 "{%3, %4, %5, %6}"
#define TCQ_AT_5 "{%3, %4, %5, %6, %7}"
#define TCQ_START_1 "r"(start.at[0])
#define TCQ_START_2 TCQ_START_1, "r"(start.at[1])
#define TCQ_START_3 TCQ_START_2, "r"(start.at[2])
#define TCQ_START_4 TCQ_START_3, "r"(start.at[3])
#define TCQ_START_5 TCQ_START_4, "r"(start.at[4])
// Calls X(R) with the rank as a literal; Rank is the template parameter around it.
#define TCQ_FOR_RANK(X)                                                                            \
  if constexpr (Rank == 1) { X(1); } else if constexpr (Rank == 2) { X(2); }                       \
  else if constexpr (Rank == 3) { X(3); } else if constexpr (Rank == 4) { X(4); }                  \
  else { static_assert(Rank == 5); X(5); }
// clang-format on

// Source: PTX ISA 9.2, 9.7.9.27.1.2 "cp.async.bulk.tensor".
template <int Rank>
__device__ __forceinline__ void tma_load(std::uint32_t tile, const void* map,
                                         const tma::Coordinates& start, std::uint32_t barrier) {
#define TCQ_LOAD(R)                                                                                \
  asm volatile("cp.async.bulk.tensor." #R                                                          \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " TCQ_AT_##R \
               "], [%2];" ::"r"(tile),                                                             \
               "l"(map), "r"(barrier), TCQ_START_##R                                               \
               : "memory")
  TCQ_FOR_RANK(TCQ_LOAD)
#undef TCQ_LOAD
}

// The same into every CTA of the cluster whose bit is set in `mask`.
template <int Rank>
__device__ __forceinline__ void tma_load_multicast(std::uint32_t tile, const void* map,
                                                   const tma::Coordinates& start,
                                                   std::uint32_t barrier, std::uint16_t mask){
// The mask is the operand after the coordinates.
#define TCQ_MASK_1 "%4"
#define TCQ_MASK_2 "%5"
#define TCQ_MASK_3 "%6"
#define TCQ_MASK_4 "%7"
#define TCQ_MASK_5 "%8"
#define TCQ_LOAD(R)                                                                            \
  asm volatile("cp.async.bulk.tensor." #R                                                      \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster" \
               " [%0], [%1, " TCQ_AT_##R "], [%2], " TCQ_MASK_##R ";" ::"r"(tile),             \
               "l"(map), "r"(barrier), TCQ_START_##R, "h"(mask)                                \
               : "memory")
    TCQ_FOR_RANK(TCQ_LOAD)
#undef TCQ_LOAD
#undef TCQ_MASK_1
#undef TCQ_MASK_2
#undef TCQ_MASK_3
#undef TCQ_MASK_4
#undef TCQ_MASK_5
}

// tma_load() of three dimensions by a warp, of which one lane `leads`, or by one thread that does: without a branch around it,
// ptxas has one instruction for the warp and works its operands out for all (cuda/NOTES.md, "the producer's warp").
// clang-format off
#define TCQ_LEADS "{\n\t.reg .pred leads;\n\tsetp.ne.u32 leads, %6, 0;\n\t@leads "
#define TCQ_LOAD_BY(SUFFIX, MASK)                                                                  \
  TCQ_LEADS "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"     \
            SUFFIX " [%0], [%1, " TCQ_AT_3 "], [%2]" MASK ";\n\t}"                                 \
      ::"r"(tile), "l"(map), "r"(barrier), TCQ_START_3, "r"(static_cast<std::uint32_t>(leads))
// clang-format on
__device__ __forceinline__ void tma_load_by(bool leads, std::uint32_t tile, const void* map,
                                            const tma::Coordinates& start, std::uint32_t barrier) {
  asm volatile(TCQ_LOAD_BY("", "") : "memory");
}

// Into every CTA of the cluster whose bit is set in `mask`.
__device__ __forceinline__ void tma_load_multicast_by(bool leads, std::uint32_t tile,
                                                      const void* map,
                                                      const tma::Coordinates& start,
                                                      std::uint32_t barrier, std::uint16_t mask) {
  asm volatile(TCQ_LOAD_BY(".multicast::cluster", ", %7"), "h"(mask) : "memory");
}

// Into the own CTA of a pair; the bytes count on a barrier of either CTA, an address that map_shared() gave. sm_100a and later.
// Source: PTX ISA 9.2, 9.7.9.27.1.2, ".cta_group".
__device__ __forceinline__ void tma_load_pair_by(bool leads, std::uint32_t tile, const void* map,
                                                 const tma::Coordinates& start,
                                                 std::uint32_t barrier) {
  asm volatile(TCQ_LOAD_BY(".cta_group::2", "") : "memory");
}
#undef TCQ_LOAD_BY
#undef TCQ_LEADS

// Brings the line that holds `address` into L2; nothing can depend on it. Source: PTX ISA 9.2, "prefetch".
__device__ __forceinline__ void prefetch_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// Brings a tile into L2; nothing can depend on it.
// Source: PTX ISA 9.2, "cp.async.bulk.prefetch.tensor".
__device__ __forceinline__ void tma_prefetch(const void* map, const tma::Coordinates& start) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map),
               "r"(start.at[0]), "r"(start.at[1]), "r"(start.at[2])
               : "memory");
}

template <int Rank>
__device__ __forceinline__ void tma_store(const void* map, const tma::Coordinates& start,
                                          std::uint32_t tile) {
// Operand 2 is not used: the coordinates keep their numbers.
#define TCQ_STORE(R)                                                                              \
  asm volatile("cp.async.bulk.tensor." #R "d.global.shared::cta.tile.bulk_group [%1, " TCQ_AT_##R \
               "], [%0];" ::"r"(tile),                                                            \
               "l"(map), "n"(0), TCQ_START_##R                                                    \
               : "memory")
  TCQ_FOR_RANK(TCQ_STORE)
#undef TCQ_STORE
}

// The operation's qualifier, as text for inline assembly.
template <tma::Reduction Op>
struct ReductionText;
template <>
struct ReductionText<tma::Reduction::Add> {
  static constexpr char text[] = "add";
};
template <>
struct ReductionText<tma::Reduction::Min> {
  static constexpr char text[] = "min";
};
template <>
struct ReductionText<tma::Reduction::Max> {
  static constexpr char text[] = "max";
};
template <>
struct ReductionText<tma::Reduction::Inc> {
  static constexpr char text[] = "inc";
};
template <>
struct ReductionText<tma::Reduction::Dec> {
  static constexpr char text[] = "dec";
};
template <>
struct ReductionText<tma::Reduction::And> {
  static constexpr char text[] = "and";
};
template <>
struct ReductionText<tma::Reduction::Or> {
  static constexpr char text[] = "or";
};
template <>
struct ReductionText<tma::Reduction::Xor> {
  static constexpr char text[] = "xor";
};

// Source: PTX ISA 9.2, 9.7.9.27.1.3 "cp.reduce.async.bulk.tensor".
template <int Rank, tma::Reduction Op>
__device__ __forceinline__ void tma_reduce(const void* map, const tma::Coordinates& start,
                                           std::uint32_t tile) {
#define TCQ_REDUCE(R)                                                                             \
  asm volatile("cp.reduce.async.bulk.tensor." #R                                                  \
               "d.global.shared::cta.%2.tile.bulk_group [%1, " TCQ_AT_##R "], [%0];" ::"r"(tile), \
               "l"(map), "C"(ReductionText<Op>::text), TCQ_START_##R                              \
               : "memory")
  TCQ_FOR_RANK(TCQ_REDUCE)
#undef TCQ_REDUCE
}

#undef TCQ_AT_1
#undef TCQ_AT_2
#undef TCQ_AT_3
#undef TCQ_AT_4
#undef TCQ_AT_5
#undef TCQ_START_1
#undef TCQ_START_2
#undef TCQ_START_3
#undef TCQ_START_4
#undef TCQ_START_5
#undef TCQ_FOR_RANK

}  // namespace tcq::ptx
