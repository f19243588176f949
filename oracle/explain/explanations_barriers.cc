// Explanations: mbarriers, bulk copies, barriers of the CTA and of the cluster, register pools.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation mbarriers[] = {
    {Fault::MbarrierUnaligned,
     "An mbarrier is one 64-bit object. Laid behind data of 4-byte words it may miss the 8-byte "
     "grid.",
     "Declare it as .b64, or round its offset up to 8.", Ptx, ".shared .align 4 .b8 ready[8];",
     ".shared .align 8 .b64 ready;"},
    {Fault::MbarrierCount,
     "The count is the number of arrivals that complete a phase. 0 is not allowed, nor is more "
     "than 20 bits hold.",
     "Count what arrives: 1 for one arrive.expect_tx, the number of warps or threads for slots "
     "that are handed back.",
     Ptx, "mbarrier.init.shared::cta.b64 [full], 0;", "mbarrier.init.shared::cta.b64 [full], 1;"},
    {Fault::MbarrierNotInitialized,
     "One thread initialises, others and copies use. Without a barrier in between their use may "
     "come first. An mbarrier behind mbarrier.inval counts as not initialised.",
     "Put bar.sync (in a cluster fence.mbarrier_init and the cluster barrier) between init and "
     "first use.",
     Ptx,
     "@%p1 mbarrier.init.shared::cta.b64 [full], 128;  // %p1: thread 0\n"
     "mbarrier.arrive.shared::cta.b64 _, [full];",
     "@%p1 mbarrier.init.shared::cta.b64 [full], 128;  // %p1: thread 0\nbar.sync 0;\n"
     "mbarrier.arrive.shared::cta.b64 _, [full];"},
    {Fault::MbarrierNotVisible,
     "Another CTA sees an initialisation if fence.mbarrier_init and a cluster barrier follow it. "
     "The barrier without the fence is not enough.",
     "The initialising thread executes fence.mbarrier_init.release.cluster, then all CTAs meet at "
     "barrier.cluster.",
     Ptx,
     "mbarrier.init.shared::cta.b64 [full], 1;\nbarrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;",
     "mbarrier.init.shared::cta.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n"
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"},
    {Fault::MbarrierInitUnfenced,
     "mbarrier.init writes through the generic proxy; a copy's complete_tx and tcgen05.commit "
     "count "
     "through the async proxy. A barrier orders threads, not proxies. Within one CTA published "
     "compilers leave the fence out; for another CTA's mbarrier nobody does.",
     "The initialising thread executes fence.mbarrier_init.release.cluster (or "
     "fence.proxy.async.shared::cta) behind its inits and before the barrier.",
     Ptx, "mbarrier.init.shared::cta.b64 [full], 1;\nbar.sync 0;  // then a copy completes on it",
     "mbarrier.init.shared::cta.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n"
     "bar.sync 0;  // then a copy completes on it"},
    {Fault::MbarrierReinitialized,
     "mbarrier.init on a live mbarrier is undefined: threads and copies may still count on the old "
     "one. A persistent kernel needs no second init, as phases go on from tile to tile.",
     "Initialise once per kernel. Where the memory is to be an mbarrier again, mbarrier.inval it "
     "first.",
     Ptx, "mbarrier.init.shared::cta.b64 [full], 1;\nmbarrier.init.shared::cta.b64 [full], 2;",
     "mbarrier.init.shared::cta.b64 [full], 1;\nmbarrier.inval.shared::cta.b64 [full];\n"
     "mbarrier.init.shared::cta.b64 [full], 2;"},
    {Fault::MbarrierOverwritten,
     "The 8 bytes of a live mbarrier hold phase and counts and may be touched by mbarrier "
     "operations only. A tile that is longer than planned, or clearing all of shared memory, runs "
     "over them.",
     "Give mbarriers memory of their own. mbarrier.inval turns it into ordinary memory again.", Ptx,
     "st.shared.b64 [full], %rd0;",
     "mbarrier.inval.shared::cta.b64 [full];\nst.shared.b64 [full], %rd0;"},
    {Fault::MbarrierArrivals,
     "Each arrival takes one off the pending count of the phase, and the count of init is used up. "
     "All threads arrive where one per warp was planned, or the other way round the count is too "
     "small.",
     "Initialise with the number of arrivals per phase, in every CTA that arrives.", Ptx,
     "mbarrier.init.shared::cta.b64 [empty], 4;  // one per warp\n"
     "mbarrier.arrive.shared::cta.b64 _, [empty];  // all 128 threads",
     "mbarrier.init.shared::cta.b64 [empty], 4;  // one per warp\n"
     "@%p1 mbarrier.arrive.shared::cta.b64 _, [empty];  // %p1: one lane per warp"},
    {Fault::MbarrierTxCount,
     "The tx-count is a signed number of bytes below 2^20: what is expected minus what has landed. "
     "Copies that nobody expects, or bytes that are expected by every thread, drive it out.",
     "Let one thread per phase expect the bytes of that phase's copies.", Ptx,
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1048576;",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32768;"},
    {Fault::MbarrierRemote,
     "On the mbarrier of another CTA a thread may arrive, expect_tx and complete_tx. Waiting, init "
     "and inval are for the own CTA.",
     "Let the peer arrive on an mbarrier of this CTA and wait for that one.", Ptx,
     "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r1], 0;",
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;"},
    {Fault::PhaseStale,
     "A wait names a parity, and parity does not tell phase k from phase k - 2. Not flipped when "
     "the ring wraps, or begun anew with each tile, it asks for a phase long over and passes at "
     "once, or for one that is still to come.",
     "Let the parity be the low bit of how often this slot was used before, over the whole kernel. "
     "Consumers begin with 0, the producer's wait for an empty slot with 1.",
     Ptx, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // in every round",
     "and.b32 %r2, %r1, 1;  // %r1: rounds through this slot\n"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r2;",
     "tilelang #374, #2674, #3087"},
    {Fault::PhaseOverrun,
     "A wait can tell the current phase from the one before, no more. Arrivals that come oftener "
     "than the count of init, or without the wait that keeps them in step, complete further phases "
     "before the slow thread has looked, and it waits for ever or passes on the wrong one.",
     "Count the arrivals of one phase: init with that number, one elected lane where one is meant, "
     "and behind each round's wait.",
     Ptx,
     "mbarrier.init.shared::cta.b64 [empty], 1;\n"
     "mbarrier.arrive.shared::cta.b64 _, [empty];  // all 32 lanes: 32 phases",
     "mbarrier.init.shared::cta.b64 [empty], 1;\nelect.sync _|%p1, 0xffffffff;\n"
     "@%p1 mbarrier.arrive.shared::cta.b64 _, [empty];"},
    {Fault::ExpectTxTooSmall,
     "A phase completes when no arrival is pending and the tx-count is 0. If fewer bytes are "
     "expected than are copied, the first copies complete it and the others land later.",
     "Expect the whole boxes of all copies of the phase, parts out of bounds and the bytes that a "
     "peer multicasts into this CTA included.",
     Ptx,
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16384;  // A 16384 and B 8192 bytes",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 24576;  // A 16384 and B 8192 bytes"},
};

constexpr Explanation bulk_copies[] = {
    {Fault::BulkUnaligned,
     "cp.async.bulk moves units of 16 bytes, in shared memory as well as in global memory.",
     "Align both addresses to 16 and copy the odd head and tail with ordinary loads.", Ptx,
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile+8], 64;",
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile+16], 64;"},
    {Fault::BulkBytes,
     "The size is in bytes, a multiple of 16 and below 2^20. A number of elements, or the rest of "
     "a row, is often neither. Out of a register an H200 rounds it down without a word, and a "
     "barrier that expects the written size waits for ever.",
     "Round the size up to 16 where the buffers have room, and expect the rounded size.", Ptx,
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 1000;",
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 1008;"},
    {Fault::CopyRepeated,
     "cp.async.bulk is an instruction of a thread: each lane that executes it issues its own copy. "
     "32 lanes copy the same bytes 32 times and complete 32 times the expected bytes.",
     "Let one lane issue it, chosen by elect.sync.", Ptx,
     "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;",
     "elect.sync _|%p1, 0xffffffff;\n"
     "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd3], [tile], 4096;"},
};

constexpr Explanation barriers[] = {
    {Fault::BarrierId,
     "A CTA has 16 named barriers, and __syncthreads is number 0. Numbers computed from a role or "
     "a warp run over 15.",
     "Reuse the barriers of roles that never wait at the same time.", Ptx, "bar.sync 16, 128;",
     "bar.sync 1, 128;"},
    {Fault::BarrierThreads,
     "The second operand counts threads, not warps, and a warp counts as 32. More than the CTA has "
     "can never come.",
     "Write 32 times the number of warps that take part, arriving ones included.", Ptx,
     "bar.sync 1, 4;  // four warps", "bar.sync 1, 128;  // four warps"},
    {Fault::BarrierMismatch,
     "All that take part in one use of a barrier must name the same number of threads. Here two "
     "roles share a number by mistake, or sync and arrive count differently.",
     "Give each pair of roles its own barrier, and count both sides in both instructions.", Ptx,
     "bar.sync 1, 128;  // consumers\nbar.arrive 1, 160;  // producer warp",
     "bar.sync 1, 160;  // consumers\nbar.arrive 1, 160;  // producer warp"},
    {Fault::ClusterBarrierOrder,
     "Each thread arrives once and waits once per phase of the cluster barrier. A second arrive "
     "before the wait, or a wait without an arrive, has no meaning.",
     "Pair every barrier.cluster.arrive with one barrier.cluster.wait on every path.", Ptx,
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;",
     "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"},
    {Fault::SetmaxnregCount,
     "Registers are handed over in steps of 8 per thread, and the count is an immediate from 24 to "
     "256.",
     "Round the producers' count down and the consumers' count up to a multiple of 8.", Ptx,
     "setmaxnreg.inc.sync.aligned.u32 236;", "setmaxnreg.inc.sync.aligned.u32 240;"},
    {Fault::SetmaxnregDirection,
     ".dec gives registers back and .inc asks for more, measured by what the warp holds. That is "
     "the count at launch: 168 for a CTA of 384 threads that fills the SM.",
     "Use .dec for producers and .inc for consumers, with counts on either side of the launch "
     "count.",
     Ptx, "setmaxnreg.inc.sync.aligned.u32 152;  // holds 168",
     "setmaxnreg.inc.sync.aligned.u32 240;  // holds 168"},
    {Fault::RegisterPoolExhausted,
     "The pool is what the CTA got at launch. setmaxnreg.inc waits until enough has been given "
     "back; if the counts of all warpgroups exceed the pool it waits for ever, without a message.",
     "Keep the sum at or below threads / 128 times the launch count: 24 + 240 + 240 = 504 = "
     "3 * 168. All warps of a producer warpgroup must execute .dec, idle ones too.",
     Ptx,
     "setmaxnreg.dec.sync.aligned.u32 40;  // 1 producer warpgroup\n"
     "setmaxnreg.inc.sync.aligned.u32 240;  // 2 consumers: 520 of 504",
     "setmaxnreg.dec.sync.aligned.u32 24;  // 1 producer warpgroup\n"
     "setmaxnreg.inc.sync.aligned.u32 240;  // 2 consumers: 504 of 504",
     "cutlass #1676, #2007; tilelang #359, #2406, #2567; helion #3620; triton #9786"},
    {Fault::Deadlock,
     "Every warp that is left waits: for a phase that lacks arrivals or bytes, for a barrier that "
     "some thread never reaches, or in a circle. The report lists who waits for what.",
     "Find the wait that nobody can satisfy: compare the init count with the arrivals, the "
     "expected bytes with the copies, the barrier's threads with the roles that reach it.",
     Ptx, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32768;  // one copy of 16384 bytes",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16384;  // one copy of 16384 bytes",
     "tilelang #2566, #2644"},
};

}  // namespace

std::array<ExplanationGroup, 3> barrier_explanations() {
  return {{{"mbarriers", mbarriers},
           {"Bulk copies", bulk_copies},
           {"Barriers and register pools", barriers}}};
}

}  // namespace tcq::oracle
