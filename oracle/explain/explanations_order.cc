// Explanations: the order of wgmma and its registers; shared memory, proxies and clusters.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation wgmma_order[] = {
    {Fault::WgmmaFenceMissing,
     "wgmma.mma_async is not ordered behind its own thread's earlier accesses to the registers it "
     "uses. Zeroing an accumulator, scaling it, or loading a fragment of A needs a wgmma.fence "
     "behind it, and so does the first wgmma of a warpgroup.",
     "Execute wgmma.fence behind the last such access and before the wgmma. One fence serves all "
     "wgmmas of one shape that follow.",
     Ptx, "mov.f32 %f0, 0f00000000;\nwgmma.mma_async... {%f0..%f3}, %rd1, %rd2;",
     "mov.f32 %f0, 0f00000000;\nwgmma.fence.sync.aligned;\n"
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;"},
    {Fault::WgmmaShapeChange,
     "Wgmmas of one shape on one accumulator follow each other in order without a fence; with "
     "another N or K they do not. ptxas says nothing.",
     "Put wgmma.fence between the two shapes.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, 1, 1, 0, 0;\n"
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, 1, 1, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 0, 1, 1, 0, 0;\n"
     "wgmma.fence.sync.aligned;\n"
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, 1, 1, 1;"},
    {Fault::WgmmaUncommitted,
     "wait_group waits for groups, and commit_group is what makes one. Without it even "
     "wait_group 0 may return while the wgmma runs. ptxas 13.0 ends the group by itself where it "
     "sees the pair; nothing promises that.",
     "Execute wgmma.commit_group behind the last wgmma of the batch, then wait_group.", Ptx,
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;\nwgmma.wait_group.sync.aligned 0;",
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;\nwgmma.commit_group.sync.aligned;\n"
     "wgmma.wait_group.sync.aligned 0;"},
    {Fault::AccumulatorInFlight,
     "wgmma reads and writes its accumulators at any time until a wait_group that covers it "
     "returns. wait_group N leaves the N youngest groups running, so that N = 1 does not cover "
     "the last one.",
     "Before the first access wait with the largest N that covers the group, 0 for the last.", Ptx,
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
     "st.global.f32 [%rd3], %f0;",
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
     "st.global.f32 [%rd3], %f0;",
     "Fuser #3561; cutlass #1852; DeepGEMM #70; triton #8964, #11056"},
    {Fault::FragmentInFlight,
     "wgmma reads its A registers at any time until a wait_group that covers it returns. Loading "
     "the next fragment into them is too early before that; ptxas says nothing and may rename the "
     "registers.",
     "Keep two sets of registers for A and wait for the group that used the set before loading it.",
     Ptx,
     "wgmma.mma_async... {%f0..%f3}, {%r0..%r3}, %rd2;\nwgmma.commit_group.sync.aligned;\n"
     "mov.b32 %r0, %r8;",
     "wgmma.mma_async... {%f0..%f3}, {%r0..%r3}, %rd2;\nwgmma.commit_group.sync.aligned;\n"
     "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r0, %r8;"},
    {Fault::RegisterUninitialized,
     "The first step of a tile adds to an accumulator that nothing has written, because scale-d is "
     "true. Elsewhere a load under a predicate has left the register alone.",
     "Give the first step scale-d 0, or write the registers before (and wgmma.fence behind it).",
     Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 1;  // first step",
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 0;  // first step"},
    {Fault::WarpgroupDivergent,
     "wgmma, its fence, commit and wait, and setmaxnreg are instructions of a warpgroup: four "
     "contiguous warps, the first a multiple of 4, all execute the same one. A guard that names "
     "warps or lanes, or a warp that has left, breaks that.",
     "Branch on the warpgroup (thread / 128) only, and guard nothing but the single-thread work "
     "inside.",
     Ptx, "setp.lt.u32 %p1, %r0, 96;  // thread of the warpgroup\n@%p1 wgmma.fence.sync.aligned;",
     "wgmma.fence.sync.aligned;"},
    {Fault::WarpDivergent,
     "An .aligned instruction promises that all 32 lanes of the warp execute it together. Under a "
     "predicate of single lanes the promise is broken.",
     "Move the instruction out of the guard; elect one lane for copies and arrivals only.", Ptx,
     "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r8];  // %p1: lanes 0-7",
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r8];"},
};

constexpr Explanation shared_memory[] = {
    {Fault::SharedUnaligned,
     "An access of 4, 8 or 16 bytes needs an address that is a multiple of its size, vectors as a "
     "whole.",
     "Align buffer, row pitch and offset to the widest access, or take a narrower one.", Ptx,
     "ld.shared.v4.b32 {%r0,%r1,%r2,%r3}, [tile+8];",
     "ld.shared.v4.b32 {%r0,%r1,%r2,%r3}, [tile+16];"},
    {Fault::SharedUninitialized,
     "Shared memory begins with arbitrary contents. Padding between rows, the end of a tile that "
     "was copied in part, or a wrong slot is read here.",
     "Write or copy all bytes that will be read, or correct the address.", Ptx,
     "ld.shared.b32 %r0, [tile];", "st.shared.b32 [tile], %r1;\nld.shared.b32 %r0, [tile];"},
    {Fault::DataRace,
     "Threads run in any order. Nothing stands between these two accesses that makes one thread "
     "wait for the other; being in one warp is not enough.",
     "Put bar.sync between them, or let the first thread arrive on an mbarrier and the second wait "
     "for it.",
     Ptx, "st.shared.b32 [tile], %r0;  // thread 0\nld.shared.b32 %r1, [tile];  // thread 64",
     "st.shared.b32 [tile], %r0;  // thread 0\nbar.sync 0;\n"
     "ld.shared.b32 %r1, [tile];  // thread 64"},
    {Fault::ProxyFenceMissing,
     "st.shared and stmatrix write through the generic proxy; wgmma and TMA access shared memory "
     "through the async proxy. A barrier orders threads, not proxies. A fence publishes the writes "
     "of its own thread only.",
     "Every writing thread executes fence.proxy.async.shared::cta behind its last write and before "
     "the barrier.",
     Ptx, "st.shared.b32 [tile], %r0;\nbar.sync 0;\nwgmma.mma_async... {%f0..%f3}, %rd1, %rd2;",
     "st.shared.b32 [tile], %r0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;",
     "DeepEP #621, #632, #642; FlashKDA #24, #25; sglang #39124; tilelang #2634; "
     "TransformerEngine #2695; Fuser #4813, #4814"},
    {Fault::ProxyFenceMissingAfterRead,
     "ld.shared and ldmatrix read through the generic proxy, the copy that refills the slot writes "
     "through the async proxy. An mbarrier orders threads, not proxies, so that the new bytes may "
     "come before the old ones are read. Slots that only wgmma reads need no fence here.",
     "Every reading thread executes fence.proxy.async.shared::cta behind its last read and before "
     "the arrival that frees the slot.",
     Ptx, "ld.shared.b32 %r0, [tile];\nmbarrier.arrive.shared::cta.b64 _, [empty];",
     "ld.shared.b32 %r0, [tile];\nfence.proxy.async.shared::cta;\n"
     "mbarrier.arrive.shared::cta.b64 _, [empty];",
     "DeepEP #642"},
    {Fault::ProxyFenceMissingUsed,
     "As ProxyFenceMissingAfterRead, but every lane had used every value that it read before it "
     "arrived: the loads had ended. The manual still asks for a proxy fence; published kernels do "
     "without, and on an H200 no run was wrong.",
     "To follow the manual, every reading thread executes fence.proxy.async.shared::cta behind its "
     "last read and before the arrival. Do not let the compiler move the uses behind the arrival.",
     Ptx,
     "ld.shared.b32 %r0, [tile];\nadd.u32 %r1, %r1, %r0;\n"
     "mbarrier.arrive.shared::cta.b64 _, [empty];",
     "ld.shared.b32 %r0, [tile];\nadd.u32 %r1, %r1, %r0;\nfence.proxy.async.shared::cta;\n"
     "mbarrier.arrive.shared::cta.b64 _, [empty];"},
    {Fault::CopyInFlight,
     "cp.async.bulk returns at once, and its bytes land at any time before the phase of its "
     "mbarrier completes. A barrier of threads does not wait for them. With multicast the copy may "
     "be one that a peer issued.",
     "Every thread that accesses the bytes first waits for the phase with mbarrier.try_wait.", Ptx,
     "bar.sync 0;  // the copy was issued before\nld.shared.b32 %r0, [tile];",
     "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra wait;\n"
     "ld.shared.b32 %r0, [tile];"},
    {Fault::SourceInFlight,
     "A bulk store or a wgmma reads shared memory after it was issued, and commit_group does not "
     "wait. The slot was handed on or written again before the read was known to be over. Only the "
     "thread that committed a bulk store can wait for it.",
     "Before the slot is used again wait with wgmma.wait_group, or with cp.async.bulk.wait_group."
     "read in the thread that stored. With wait_group 1 free the slot of the step before, not this "
     "one.",
     Ptx,
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;\n"
     "cp.async.bulk.commit_group;\nst.shared.b32 [tile], %r0;",
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.b32 [tile], %r0;",
     "facebookexperimental/triton #1278; tilelang #2613, #2668; Fuser #3446"},
    {Fault::ReductionOrder,
     "Reductions are atomic each and race with nobody among themselves, but nothing orders them. A "
     "sum of floats is rounded after each, and add, min and inc do not commute with one another, "
     "so "
     "that two runs of one kernel may differ in bits.",
     "Reduce integers, or order the reductions: by a barrier behind cp.async.bulk.wait_group, or "
     "by "
     "one thread that waits for each. Or accept that runs differ.",
     Ptx,
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd3], [tile], 4096;  // two "
     "CTAs",
     "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [tile], 4096;  // two "
     "CTAs"},
    {Fault::ScopeTooNarrow,
     "mbarrier.arrive releases and try_wait acquires at scope .cta unless they say otherwise. The "
     "arrival of another CTA is counted, but its writes need not be visible.",
     "Write .release.cluster on the remote arrive and .acquire.cluster on the wait.", Ptx,
     "mbarrier.arrive.shared::cluster.b64 _, [%r1];",
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", "cutlass #3643"},
    {Fault::ReleaseMissing,
     "A .relaxed arrival counts, but publishes nothing: neither the stores before it nor that the "
     "reads before it have ended. Only inits behind fence.mbarrier_init may follow a relaxed "
     "barrier.cluster.arrive.",
     "Write .release on the arrival, or nothing: release is the default.", Ptx,
     "st.shared.b32 [tile], %r0;\nmbarrier.arrive.relaxed.cta.shared::cta.b64 _, [full];",
     "st.shared.b32 [tile], %r0;\nmbarrier.arrive.release.cta.shared::cta.b64 _, [full];"},
    {Fault::AcquireMissing,
     "A .relaxed wait says that a phase is over and nothing else: accesses behind it may see "
     "memory "
     "as it was before the arrivals, and copied bytes need not be there.",
     "Write .acquire on the wait, or nothing: acquire is the default.", Ptx,
     "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [full], 0;",
     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0;"},
    {Fault::CtaRankOutOfRange,
     "mapa and shared::cluster addresses take %cluster_ctarank, which counts the CTAs of this "
     "cluster from 0. %ctaid counts those of the grid.",
     "Compute the peer from %cluster_ctarank and %cluster_nctarank.", Ptx,
     "mapa.shared::cluster.u32 %r1, %r0, 2;  // a cluster of 2",
     "mapa.shared::cluster.u32 %r1, %r0, 1;  // a cluster of 2"},
    {Fault::CtaExited,
     "Shared memory of a CTA ends with the CTA. A peer that still stores, arrives or multicasts "
     "into it uses memory that may belong to another CTA.",
     "Let all CTAs of the cluster meet at barrier.cluster before they exit, behind the last remote "
     "access.",
     Ptx, "st.shared::cluster.b32 [%r1], %r0;\nret;",
     "st.shared::cluster.b32 [%r1], %r0;\nbarrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;\nret;"},
    {Fault::CtaNotStarted,
     "The CTAs of a cluster are launched together, but need not run yet when the first one does. "
     "alloc, dealloc and mma with cta_group::2, and every access to the shared memory of another "
     "CTA, are for a CTA that is known to run.",
     "Put barrier.cluster.arrive and barrier.cluster.wait in front, executed by all threads of the "
     "cluster; the arrival may be .relaxed, as it only has to show that its CTA runs.",
     Ptx, "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 512;",
     "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
     "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 512;",
     "NVIDIA/cutlass #3316"},
    {Fault::ExitInFlight,
     "The CTA ends while its own bulk copies or wgmmas still use its shared memory: no thread has "
     "waited for them.",
     "Wait for every copy before the last thread leaves: wait_group.read for stores, the mbarrier "
     "for loads.",
     Ptx,
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;\n"
     "cp.async.bulk.commit_group;\nret;",
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nret;"},
    {Fault::TensormapFenceMissing,
     "tensormap.replace and st write a tensor map through the generic proxy; a copy reads it "
     "through the tensormap proxy, which may hold the old one. A barrier orders threads, not "
     "proxies, and one fence serves its own thread only.",
     "The thread that patches executes the release, the thread that copies the acquire of that "
     "map, and what orders the threads stands between the two. A thread that does both executes "
     "both.",
     Ptx,
     "st.global.b32 [%rd4], %r0;  // %rd4: the map\n"
     "fence.proxy.tensormap::generic.release.gpu;\n"
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {%r1}], [tile];",
     "st.global.b32 [%rd4], %r0;  // %rd4: the map\n"
     "fence.proxy.tensormap::generic.release.gpu;\n"
     "fence.proxy.tensormap::generic.acquire.gpu [%rd4], 128;\n"
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {%r1}], [tile];",
     "cutlass #3091"},
    {Fault::TensormapInUse,
     "A copy reads its tensor map at any time until it has completed, not when it is issued. A "
     "loop that patches one map for its next tile changes the map under copies of the last one.",
     "Before the patch wait for every copy that uses the map: on the mbarriers of loads, with "
     "wait_group.read for stores. Otherwise give each tile or stage its own map.",
     Ptx,
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {%r1}], [tile];\n"
     "cp.async.bulk.commit_group;\nst.global.b32 [%rd4], %r0;  // %rd4: the map",
     "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd4, {%r1}], [tile];\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
     "st.global.b32 [%rd4], %r0;  // %rd4: the map",
     "DeepGEMM #343"},
};

}  // namespace

std::array<ExplanationGroup, 2> order_explanations() {
  return {
      {{"wgmma order and registers", wgmma_order}, {"Shared memory and proxies", shared_memory}}};
}

}  // namespace tcq::oracle
