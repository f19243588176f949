// Explanations: what the simulator finds about a program as a whole, what is suspicious, what is
// slow.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation programs[] = {
    {Fault::ResultsDiffer,
     "No single access is at fault, and yet two orders of warps and copies that the manual allows "
     "end with different bits in global memory. Writes of several warps to one place, or "
     "reductions of floating point in any order, do that.",
     "Let one warp write each place, or fix the order with a barrier.", Ptx,
     "st.global.b32 [%rd3], %r0;  // every warp",
     "@%p1 st.global.b32 [%rd3], %r0;  // %p1: warp 0"},
    {Fault::StepLimit,
     "The simulator stops after a given number of instructions. A loop that polls for something "
     "that never comes reaches it, and so does a program that is merely long.",
     "Wait with try_wait, which lets the simulator see a deadlock; raise the limit for long "
     "programs.",
     Ptx, "poll: mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra poll;",
     "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra wait;"},
    {Fault::ProgramTooLarge,
     "A CTA has 1024 threads and 227 KiB of dynamic shared memory at most, a thread 255 registers, "
     "a cluster 8 CTAs (16 if the kernel allows non-portable sizes). The simulator bounds global "
     "memory and the number of statements as well.",
     "Take smaller tiles or fewer stages, or split the program.", Cuda,
     "gemm<<<grid, 1152>>>(a, b, d);", "gemm<<<grid, 384>>>(a, b, d);"},
    {Fault::ProgramMalformed,
     "The program uses something that it does not declare: a label, a tensor map, a warp that the "
     "CTA does not have, a table of addresses that is too short. The hardware is not asked.",
     "Declare it, or correct the number.", Ptx, "bra.uni done;", "bra.uni done;\ndone:"},
    {Fault::AllocationsOverlap,
     "Two named pieces of shared memory have bytes in common. Offsets computed by hand go wrong "
     "when a tile grows.",
     "Compute each offset from the end of the piece before it, rounded up to its alignment.", Cuda,
     "b = smem + 8192;   // A begins at smem and has 16384 bytes",
     "b = smem + 16384;  // A begins at smem and has 16384 bytes"},
    {Fault::RegisterOutOfRange,
     "Behind setmaxnreg.dec a thread holds as many registers as the instruction named, and higher "
     "numbers belong to others. Without setmaxnreg the number is simply too large.",
     "Raise the count of .dec to what the code behind it needs.", Ptx,
     "setmaxnreg.dec.sync.aligned.u32 24;  // the loop behind it needs 40",
     "setmaxnreg.dec.sync.aligned.u32 40;  // the loop behind it needs 40"},
    {Fault::GlobalOutOfRange,
     "The address lies before or behind the allocations. The last tile of a matrix whose size is "
     "no multiple of the tile, or an offset that has overflowed 32 bits, leads there.",
     "Guard the accesses of the last tile by a predicate, and compute offsets in 64 bits.", Ptx,
     "ld.global.b32 %r0, [%rd3];",
     "setp.lt.u32 %p1, %r1, %r2;  // row < rows\n@%p1 ld.global.b32 %r0, [%rd3];"},
};

constexpr Explanation suspects[] = {
    {Fault::OperandScrambled,
     "The copy laid the tile out by its tensor map, the descriptor reads it by start, LBO, SBO, "
     "swizzle and base offset, and the two do not fit. Usual slips are another swizzle (code 2 is "
     "64B in wgmma's descriptor), an SBO of one row instead of eight, LBO and SBO exchanged, K "
     "steps in the wrong unit.",
     "Take box and descriptors from 'tcq layout', and hold your word against it with 'tcq decode "
     "wgmma.desc WORD'.",
     Ptx, "mov.b64 %rd1, 0x4000000800010040;  // 128B, SBO 128",
     "mov.b64 %rd1, 0x4000004000010040;  // 128B, SBO 1024",
     "MatmulTutorial #10; flashinfer #975, #1078; SageAttention #178; FlashMLA #67"},
    {Fault::SetmaxnregIgnored,
     "ptxas drops setmaxnreg if it does not know how many registers the kernel starts with. Debug "
     "builds, separate compilation and indirect calls have the same effect. nvcc succeeds and "
     "prints an info line.",
     "Bound the launch with both arguments of __launch_bounds__ and compile the kernel whole.",
     Cuda, "__global__ void gemm(Arguments arguments)",
     "__global__ void __launch_bounds__(384, 1) gemm(Arguments arguments)", "Fuser #3972"},
    {Fault::WaitForNothing,
     "Groups belong to those who committed them: bulk groups to a thread, wgmma groups to the "
     "warps that issued them. In any other thread wait_group returns at once and orders nothing.",
     "Let the thread that issued and committed the copies wait, then tell the others by a barrier.",
     Ptx,
     "@%p1 cp.async.bulk.commit_group;  // %p1: thread 0\n"
     "@%p2 cp.async.bulk.wait_group 0;  // %p2: thread 32",
     "@%p1 cp.async.bulk.commit_group;  // %p1: thread 0\n"
     "@%p1 cp.async.bulk.wait_group 0;"},
};

constexpr Explanation slow[] = {
    {Fault::WaitTooStrong,
     "The wait drains a group whose result nobody needs yet, so that the tensor cores idle until "
     "the next one is issued.",
     "Let one group more stay pending, and hand back the slot of the step before.", Ptx,
     "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"},
    {Fault::FenceUnneeded,
     "Everything that the fence could order is ordered already. After the wait for a TMA load no "
     "proxy fence is needed: the completion of a bulk copy implies one.",
     "Delete the fence.", Ptx,
     "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // the TMA load\n"
     "@!%p1 bra wait;\nfence.proxy.async.shared::cta;\n"
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;",
     "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // the TMA load\n"
     "@!%p1 bra wait;\nwgmma.mma_async... {%f0..%f3}, %rd1, %rd2;"},
    {Fault::WgmmaSerialized,
     "ptxas makes each wgmma wait for the one before when it cannot keep their registers in flight "
     "together. Accumulators that overlap in part or do not fit, accesses to them inside the "
     "pipeline, calls and divergent code lead there. The results stay right, the speed is lost.",
     "Give each wgmma in flight registers of its own, keep other accesses behind wait_group, and "
     "inline everything between the first wgmma and the wait.",
     Ptx, "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;\nwgmma.mma_async... {%f2..%f5}, %rd1, %rd2;",
     "wgmma.mma_async... {%f0..%f3}, %rd1, %rd2;\nwgmma.mma_async... {%f4..%f7}, %rd1, %rd2;",
     "TRT-LLM #2116; sglang #6453; cutlass #1840, #2452, #3308"},
};

}  // namespace

std::array<ExplanationGroup, 3> program_explanations() {
  return {{{"Programs and exploration", programs},
           {"Legal, but almost surely not meant", suspects},
           {"Right, but slow", slow}}};
}

}  // namespace tcq::oracle
