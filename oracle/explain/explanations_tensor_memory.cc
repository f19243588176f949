// Explanations: what a running program does wrong with Tensor Memory and tcgen05.
//
// In examples d, a and s are addresses in Tensor Memory, full and done mbarriers.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation running[] = {
    {Fault::TmemFreed,
     "The columns were allocated once, but a dealloc came before this use, in another warp as a "
     "rule. Another CTA on the same multiprocessor may own them by now.",
     "Let the warp that frees wait for the last reader: an mbarrier on which the epilogue arrives.",
     Cuda, "dealloc(d, 256);\nbarrier_sync();\nld(regs, d);",
     "ld(regs, d); wait_ld();\nbarrier_sync();\ndealloc(d, 256);"},
    {Fault::TmemDeallocAddress,
     "dealloc takes what alloc returned as a whole: the address of its first column, all its "
     "columns, the same cta_group. An offset address or a part of an allocation is no such thing.",
     "Keep the address that alloc wrote to shared memory and pass it on unchanged.", Cuda,
     "alloc(slot, 512);\ndealloc(*slot + 256, 256);", "alloc(slot, 512);\ndealloc(*slot, 512);"},
    {Fault::TmemAllocAfterRelinquish,
     "relinquish_alloc_permit tells the hardware that the CTA allocates no more, so that another "
     "CTA may. An alloc behind it in any warp of the CTA has no defined effect.",
     "Put the relinquish behind the last alloc, ordered by a barrier if warps differ.", Cuda,
     "relinquish_alloc_permit();\nalloc(slot, 64);",
     "alloc(slot, 64);\nrelinquish_alloc_permit();"},
    {Fault::TmemLeaked,
     "Tensor Memory is not given back when a CTA ends. What is left allocated blocks the next CTA "
     "on that multiprocessor in its alloc.",
     "Free every allocation before exit, on every path through the kernel.", Cuda,
     "if (tiles == 0) return;\ndealloc(d, 256);", "if (tiles == 0) { dealloc(d, 256); return; }"},
    {Fault::TmemLaneNotOwned,
     "Each warp of a warpgroup has a quarter of the lanes: tcgen05.ld and st of warp w reach lanes "
     "32 * (w % 4) to 32 * (w % 4) + 31. The rank within a role is not the number that counts.",
     "Add 32 * (warp % 4) << 16 to the address, with the warp's number in the CTA.", Cuda,
     "ld(regs, d);  // in every warp", "ld(regs, d + ((warp % 4 * 32) << 16));"},
    {Fault::TmemLaneAlignment,
     "ld and st of 32 lanes begin at their warp's first lane, those of 16 there or 16 further. D "
     "begins at lane 0, or at 16 for layouts of half the datapath; shift at a multiple of 32.",
     "Correct the lane of the address; it is in the upper 16 bits.", Cuda,
     "ld_32x32b(regs, d + (16 << 16));", "ld_16x256b(regs, d + (16 << 16));"},
    {Fault::TmemUninitialized,
     "Fresh columns hold what others left there. Usual ways to read them: the first mma of a tile "
     "accumulates, or an epilogue reads M = 64 as if it were M = 128, whose rows fill all lanes.",
     "Pass enable-input-d = 0 for the first K step, and read the lanes that the layout uses.", Cuda,
     "mma(d, a, b, idesc, true);   // every K step", "mma(d, a, b, idesc, k > 0);"},
    {Fault::TmemRace,
     "Two warps touch the same cells, and no barrier or mbarrier stands between. Accesses of "
     "Tensor Memory are asynchronous: the order in which they were issued means nothing.",
     "Complete the first access, synchronise the two warps, and fence on both sides.", Cuda,
     "warp 0: mma(d, a, b, idesc);\nwarp 4: ld(regs, d);",
     "warp 0: mma(d, a, b, idesc); commit(done);\nwarp 4: wait(done); fence_after(); ld(regs, d);"},
    {Fault::TmemWaitMissing,
     "ld and st only begin where they stand. Code that uses a loaded register waits for its value, "
     "but a release to another warp, an mma or a st is not held back by that.",
     "Put wait::ld (wait::st) behind the last of them, before the columns change hands.", Cuda,
     "ld(regs, d);\narrive(tmem_empty);", "ld(regs, d); wait_ld();\narrive(tmem_empty);",
     "NVIDIA/cutlass #3652"},
    {Fault::TmemNotComplete,
     "mma, cp and shift run on behind the thread that issued them. Only mma -> mma on one "
     "accumulator, cp -> mma, shift -> mma, shift -> cp.4x256b and mma -> shift of one cta_group "
     "stay in order; everything else needs a commit by that thread and a wait on its mbarrier.",
     "Commit to an mbarrier with the same cta_group, in the issuing thread, and wait for it.", Cuda,
     "mma(d, a, b, idesc);\ncp(scales, desc);  // the mma reads them",
     "mma(d, a, b, idesc); commit(done);\nwait(done); fence_after(); cp(scales, desc);"},
    {Fault::TmemFenceBeforeMissing,
     "Thread synchronisation does not cover Tensor Memory by itself. The side that hands columns "
     "on must execute tcgen05.fence::before_thread_sync; a commit implies it, an arrive does not.",
     "Put the fence between the last tcgen05 instruction and the arrive or barrier.", Cuda,
     "wait_ld();\narrive(tmem_empty);", "wait_ld(); fence_before();\narrive(tmem_empty);",
     "NVIDIA/cutlass #2974"},
    {Fault::TmemFenceAfterMissing,
     "Behind a barrier or an mbarrier wait, tcgen05 instructions may still be taken before it. "
     "tcgen05.fence::after_thread_sync keeps them behind, also after the wait for an own commit.",
     "Put the fence directly behind the wait, before the first tcgen05 instruction.", Cuda,
     "wait(tmem_full);\nld(regs, d);", "wait(tmem_full); fence_after();\nld(regs, d);"},
    {Fault::TmemAllocAssumed,
     "alloc.cta_group::2 allocates in both CTAs when a warp of each has come. CUTLASS multiplies "
     "for "
     "both as soon as it has returned in one; the manual does not say that it has in the other.",
     "Let the CTAs meet at a cluster barrier behind the alloc, as DeepGEMM does.", Cuda,
     "alloc_2cta(slot, 64);\nmma_2cta(d, a, b, idesc);",
     "alloc_2cta(slot, 64);\ncluster_sync();\nmma_2cta(d, a, b, idesc);"},
    {Fault::TmemFenceOmitted,
     "The manual's patterns have fence::before_thread_sync in front of the arrival and "
     "fence::after_thread_sync behind the wait. CUTLASS has neither in its pipelines, where the "
     "arrival releases and the wait acquires; behind relaxed ones they are needed in any case.",
     "Put both fences there: they cost next to nothing and end the question.", Cuda,
     "wait_ld();\narrive_release(tmem_empty);",
     "wait_ld(); fence_before();\narrive_release(tmem_empty);", "NVIDIA/cutlass #2974"},
    {Fault::TmemWaitOmitted,
     "A value that was used has been read, so that its cells seem free. The manual lets such a use "
     "order the value only; CUTLASS's attention example stores P over the S that it has read.",
     "Put wait::ld behind the last ld, before its columns are handed on or written again.", Cuda,
     "ld(s, d); p = exp(s);\nst(d, p);", "ld(s, d); wait_ld(); p = exp(s);\nst(d, p);",
     "NVIDIA/cutlass #2525"},
    {Fault::TmemOrderAssumed,
     "mma -> cp and mma -> mma on another accumulator are no pairs that the manual keeps in order, "
     "not even in one thread. Block-scaled main loops copy the next scale factors over those that "
     "the last mma reads, and attention kernels let S overwrite P, with no commit between.",
     "Give each stage its own columns, or commit and wait before they are written again.", Cuda,
     "mma(d, a, b, scales);\ncp(scales, next_desc);",
     "mma(d, a, b, scales[0]);\ncp(scales[1], next_desc);"},
    {Fault::TmemLaneIgnored,
     "The manual lets warp w reach lanes 32 * (w % 4) to 32 * (w % 4) + 31 only, and the address "
     "to "
     "name them. DeepGEMM names lane 0 (16 for half the lanes) in every warp and gets the warp's "
     "own "
     "lanes; builds with -G are known to trap.",
     "Put the warp's own lanes into the address.", Cuda, "ld(regs, column);  // in every warp",
     "ld(regs, column | (warp % 4 * 32) << 16);"},
    {Fault::CommitOrderAssumed,
     "A multicast commit arrives on an mbarrier of every CTA of its mask. The last arrivals of a "
     "ring are waited for by nobody, and a CTA that has gone has no mbarrier; that a later commit "
     "was seen does not say that the earlier one has arrived.",
     "Let the producer wait for every stage once more before it ends, as CUTLASS's load_tail does.",
     Cuda, "commit_multicast(empty); commit_multicast(done);\nwait(done); exit();",
     "commit_multicast(empty); commit_multicast(done);\nwait(done); wait(empty); exit();"},
    {Fault::Tcgen05Repeated,
     "mma, cp, shift and commit are instructions of one thread. A whole warp that reaches one "
     "issues it 32 times: sums come out 32 times too large, mbarriers get 32 arrivals.",
     "Elect one thread of the warp, the same for mma and commit.", Cuda,
     "mma(d, a, b, idesc, true);", "if (elect_one()) mma(d, a, b, idesc, true);"},
    {Fault::UnmodelledMma,
     "The instruction may be legal. Sparse operands, .ws, .ashift and K = 96 are not in the "
     "asynchronous machine.",
     "Ask the other verbs about its layouts and numbers; model the order with a dense kind.", Cuda,
     "mma_sp(d, a, b, metadata, idesc);", "mma(d, a, b, idesc);  // for questions of order"},
};

}  // namespace

std::array<ExplanationGroup, 1> tensor_memory_explanations() {
  return {{{"Tensor Memory at run time", running}}};
}

}  // namespace tcq::oracle
