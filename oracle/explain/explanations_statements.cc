// Explanations: instruction forms and PTX statements of wgmma. The wrong statements are those that
// `tcq check` refuses, the right ones those that it calls legal.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation forms[] = {
    {Fault::TargetLacksWgmma,
     "wgmma is an architecture-specific feature of Hopper: .target sm_90a has it, plain sm_90 and "
     "every later target do not. A compute_90 image has none of it either.",
     "Compile with -gencode arch=compute_90a,code=sm_90a. Blackwell needs tcgen05 kernels instead.",
     Shell, "nvcc -arch=sm_90 -c gemm.cu", "nvcc -gencode arch=compute_90a,code=sm_90a -c gemm.cu"},
    {Fault::TypesDoNotExist,
     "The operands are f16.f16, bf16.bf16, tf32.tf32, any two of e4m3 and e5m2, any two of s8 and "
     "u8, or b1.b1. D is s32 for integers and b1, else f32; f16 operands and fp8 may have D f16. "
     "There is no bf16 D, no f16 with bf16, no s4 or u4.",
     "Take D f32 and convert in the epilogue. Convert mixed operands to one type first.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r0..%r1}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::ShapeM64, "One wgmma is the work of one warpgroup: four warps with 16 rows each.",
     "Issue one wgmma per 64 rows, each with its own accumulators and its own descriptor of A.",
     Ptx,
     "wgmma.mma_async.sync.aligned.m128n8k16.f32.f16.f16 {%f0..%f7}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::ShapeN8,
     "D is made of fragments of 8 columns, at most 32 of them. Powers of two are not asked for: "
     "N = 24 or 200 exists.",
     "Round N up to a multiple of 8 and leave the last columns unused; above 256 use several "
     "wgmmas.",
     Ptx,
     "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0..%f5}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0..%f7}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::ShapeN16,
     "For s8, u8 and b1, N goes in steps of 8 up to 32 and in steps of 16 above. n240 and n256 "
     "exist, although the manual's syntax of the integer forms stops at n224.",
     "Take the next multiple of 16, or cut N into two parts that exist (40 = 32 + 8).", Ptx,
     "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r0..%r19}, %rd1, %rd2, 1;",
     "wgmma.mma_async.sync.aligned.m64n48k32.s32.s8.s8 {%r0..%r23}, %rd1, %rd2, 1;"},
    {Fault::ShapeK,
     "One instruction reads 32 bytes of each row of A: K is 16 for 16-bit types, 32 for 8-bit "
     "types, 8 for tf32, 256 for b1. With .sp these bytes are the stored half, and K is twice "
     "that.",
     "Write the K of the type; a longer K is several wgmmas on one accumulator.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::SparseB1,
     "Structured sparsity is 2:4 for 16-bit and 8-bit types and 1:2 for tf32; for b1 none is "
     "defined.",
     "Use the dense b1 form.", Ptx,
     "wgmma.mma_async.sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc {%r0..%r3}, %rd1, %rd2, %r9, "
     "0, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0..%r3}, %rd1, %rd2, 1;"},
    {Fault::RegisterAIsKMajor,
     "A fragment in registers has one arrangement: elements that share a register are neighbours "
     "along K. Only a matrix in shared memory can be read transposed.",
     "Leave trans-a out and load the fragment K-major; ldmatrix with .trans turns an MN-major "
     "16-bit tile.",
     Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, {%r0..%r3}, %rd2, 1, 1, 1, 1, "
     "0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, {%r0..%r3}, %rd2, 1, 1, 1, "
     "0;"},
    {Fault::MnMajorNeeds16Bit,
     "The immediates trans-a and trans-b exist for f16 and bf16 only. tf32, fp8, integers and b1 "
     "are read K-major, however the tile was stored.",
     "Store the tile K-major, and transpose it on the way to shared memory if need be.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, 1, 1, 1;"},
    {Fault::NegateNeedsFloat,
     "scale-a and scale-b flip the sign of floating-point operands. The forms of s8, u8 and b1 end "
     "with scale-d.",
     "Leave the two immediates out, and negate the data or the result instead.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 1, -1, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 1;"},
    {Fault::SatfiniteNeedsInt8,
     ".satfinite clamps an s32 sum of s8 and u8 products that would wrap. Floating-point forms "
     "and b1 do not have it.",
     "Delete .satfinite; where values must be bounded, clamp them in the epilogue.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.satfinite.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, "
     "0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 1;"},
    {Fault::SelectorOutOfRange,
     "The selector says which two threads of each four hold the metadata of 16-bit and tf32 forms; "
     "8-bit forms read it from all four. The manual allows 0 to 3, but 2 and 3 name no threads and "
     "ptxas refuses them.",
     "Write 0, and put the metadata where 'tcq table MNEMONIC E' shows it.", Ptx,
     "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, %r9, 1, 1, 1, "
     "1;",
     "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f0..%f3}, %rd1, %rd2, %r9, 0, 1, 1, "
     "1;"},
};

constexpr Explanation statements[] = {
    {Fault::SyncMissing,
     ".sync makes the instruction wait for the other threads of the warp. No form of wgmma goes "
     "without it, and ptxas refuses such a statement.",
     "Write .sync.aligned behind the opcode.", Ptx, "wgmma.fence.aligned;",
     "wgmma.fence.sync.aligned;"},
    {Fault::AlignedMissing,
     ".aligned says that all threads of the warpgroup execute this same instruction. ptxas takes a "
     "statement without it, the manual's syntax does not.",
     "Add .aligned, and keep the statement out of divergent code.", Ptx, "wgmma.commit_group.sync;",
     "wgmma.commit_group.sync.aligned;"},
    {Fault::B1OperationMissing,
     "Single-bit operands are combined by AND and the ones are counted; .and.popc says so. The "
     ".xor.popc of older mma instructions does not exist here.",
     "Append .and.popc to the types.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1 {%r0..%r3}, %rd1, %rd2, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0..%r3}, %rd1, %rd2, 1;"},
    {Fault::RegisterCountD,
     "128 threads share the 64 x N elements of D, N/2 each. An f32 or s32 element fills a "
     "register, two f16 elements share one.",
     "List N/2 registers, or N/4 if D is f16.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0..%f7}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::RegisterCountA,
     "The 64 rows of 32 bytes of A are 16 bytes for each of 128 threads, whatever the type. With "
     ".sp these are the stored elements.",
     "Pack the fragment into four .b32 registers, the first element in the lowest bits.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, {%r0..%r7}, %rd2, 1, 1, 1, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, {%r0..%r3}, %rd2, 1, 1, 1, "
     "0;"},
    {Fault::OperandCount,
     "Behind B stand scale-d, scale-a, scale-b, trans-a, trans-b for f16 and bf16, without trans-a "
     "if A is in registers. tf32 and fp8 end with scale-b, s8, u8 and b1 with scale-d. With .sp, "
     "metadata and selector come before scale-d.",
     "Give the operands of the form, no more and no fewer: 'tcq describe MNEMONIC' lists them.",
     Ptx, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::OperandKind,
     "D is a vector of registers, A a 64-bit descriptor or a vector of four registers, B always a "
     "descriptor. Nothing else fits these places; a form with B in registers does not exist.",
     "Write B to shared memory and pass its descriptor. To multiply by a B in registers, compute "
     "the transposed product, in which it is A.",
     Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, {%r0..%r3}, 1, 1, 1, 0, "
     "0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::ImmediateScale,
     "scale-a and scale-b choose the sign of an operand. They are no factors, and no registers.",
     "Write 1, or -1 to negate. Multiply by other factors in the epilogue.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 2, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, -1, 1, 0, 0;"},
    {Fault::ImmediateTranspose,
     "0 says K-major and 1 says MN-major. Both belong to the opcode: a register cannot choose.",
     "Write 0 or 1. A kernel for both layouts has two wgmmas and a uniform branch.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 2;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 1;"},
    {Fault::ImmediateScaleD,
     "scale-d says whether the old D is added; it is a truth value and not a number. False means "
     "D = A*B.",
     "Use a predicate that setp makes from the K step, or 0 in the first step and 1 in the others.",
     Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 2, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, %p1, 1, 1, 0, 0;"},
    {Fault::ImmediateWaitGroup,
     "N is the number of youngest groups that may still be pending, and it is part of the opcode.",
     "Write a constant, and unroll or peel the steps that need another one.", Ptx,
     "wgmma.wait_group.sync.aligned %r1;", "wgmma.wait_group.sync.aligned 1;"},
    {Fault::InstructionUnknown,
     "wgmma is four instructions. wgmma.mma, wgmma.wait and the like are names of wrappers, not of "
     "PTX.",
     "Use mma_async, fence, commit_group or wait_group; wait_group 0 waits for all groups.", Ptx,
     "wgmma.wait.sync.aligned 0;", "wgmma.wait_group.sync.aligned 0;"},
    {Fault::QualifierUnknown,
     "Major-ness, rounding and scope are no qualifiers of wgmma. .row and .col belong to mma.sync, "
     "and ptxas skips them without a word.",
     "Delete the qualifier; trans-a and trans-b say what is MN-major.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.row.col.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, "
     "0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::QualifierMissing,
     "Shape and three types choose the instruction; none is taken from the operands.",
     "Name the types of D, A and B, in this order.", Ptx,
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0..%f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"},
    {Fault::QualifierOrder,
     "The order is .sp, .sync.aligned, shape, .satfinite, types, .and.popc. ptxas takes other "
     "orders and repetitions, other readers of PTX need not.",
     "Put the qualifiers into the manual's order, each once.", Ptx, "wgmma.fence.aligned.sync;",
     "wgmma.fence.sync.aligned;"},
    {Fault::StatementMalformed,
     "A statement is an opcode, operands with commas between them, and a semicolon. A brace or a "
     "comma is missing here, or the line holds more than one statement.",
     "Give 'tcq check' one statement per line; {%f0..%f63} may stand for a vector of registers.",
     Ptx, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3, %rd1, %rd2, 1;",
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0..%r3}, %rd1, %rd2, 1;"},
};

}  // namespace

std::array<ExplanationGroup, 2> statement_explanations() {
  return {{{"Instruction forms of wgmma", forms}, {"PTX statements of wgmma", statements}}};
}

}  // namespace tcq::oracle
