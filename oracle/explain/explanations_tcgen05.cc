// Explanations: instruction forms, instruction descriptors and PTX statements of tcgen05. Wrong PTX
// statements are those that `tcq check` refuses for sm_100a, wrong questions those that `tcq
// describe` refuses; the right ones are accepted.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation forms[] = {
    {Fault::TargetLacksTcgen05,
     "tcgen05 belongs to the data-centre chips of Blackwell and Thor: sm_100, sm_103 and sm_110, "
     "each with the suffix a or f. Plain sm_100 has none of it, and sm_120 has mma.sync instead.",
     "Compile for the architecture-specific target, for instance compute_100a. Keep an mma.sync "
     "kernel for sm_120.",
     Shell, "nvcc -arch=sm_100 -c gemm.cu",
     "nvcc -gencode arch=compute_100a,code=sm_100a -c gemm.cu"},
    {Fault::TargetLacksKindI8,
     "Integer matrices were left out of sm_103, and the family targets leave out what not every "
     "member has.",
     "Compile for sm_100a or sm_110a; on sm_103 convert to f8f6f4 or f16.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::i8 --arch sm_103a",
     "tcq describe tcgen05.mma.cta_group::1.kind::i8 --arch sm_100a"},
    {Fault::TargetLacksSparse4Bit,
     "Sparse 4-bit instructions are architecture-specific: family targets (suffix f) have the "
     "dense ones only.",
     "Compile for the target with suffix a.", Shell,
     "tcq describe tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale --arch sm_100f",
     "tcq describe tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale --arch sm_100a"},
    {Fault::TargetLacksScaleVec,
     ".scale_vec::1X, ::2X and ::4X are the older spelling and architecture-specific. .block32 and "
     ".block16 say the same for K = 64 and exist on family targets, too.",
     "Write .block32 for 1X and 2X, .block16 for 4X.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X --arch sm_100f",
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32 --arch sm_100f"},
    {Fault::TargetLacksScaleInputD,
     "Scaling D on input is a feature of sm_100 and sm_103 that sm_110 does not have.",
     "Scale the accumulator with ld, a multiplication and st, or fold the factor into the "
     "operands.",
     Shell, "tcq describe tcgen05.mma.cta_group::1.kind::f16 scale_input_d=1 --arch sm_110a",
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 scale_input_d=1 --arch sm_100a"},
    {Fault::TargetLacksLdRed, "Loads that reduce came with sm_103; sm_100 has plain loads only.",
     "Load with tcgen05.ld and take the minimum or maximum in registers.", Shell,
     "tcq describe tcgen05.ld.red.32x32b.x8.max.f32 --arch sm_100a",
     "tcq describe tcgen05.ld.red.32x32b.x8.max.f32 --arch sm_103a"},
    {Fault::TargetLacksShift,
     "tcgen05.shift is architecture-specific: family targets (suffix f) do not have it.",
     "Compile for the target with suffix a, or move the rows through registers.", Shell,
     "tcq describe tcgen05.shift.cta_group::1.down --arch sm_100f",
     "tcq describe tcgen05.shift.cta_group::1.down --arch sm_100a"},
    {Fault::TargetLacksK96,
     "K = 96 is chosen by a bit of the instruction descriptor that only sm_103a knows; ptxas "
     "cannot see it.",
     "On other targets clear the bit and use K = 64.", Shell,
     "tcq describe tcgen05.mma.cta_group::2.kind::mxf4.block_scale k=96 --arch sm_100a",
     "tcq describe tcgen05.mma.cta_group::2.kind::mxf4.block_scale k=96 --arch sm_103a"},
    {Fault::CtaGroupValue,
     "One CTA or a pair of them executes an instruction; the number is part of the opcode and "
     "mandatory.",
     "Write .cta_group::1, or ::2 in a kernel whose CTAs work in pairs.", Cuda,
     "constexpr tcgen05::MmaOpcode op = {Kind::f16, 4};",
     "constexpr tcgen05::MmaOpcode op = {Kind::f16, 2};"},
    {Fault::WsCtaGroup,
     "The weight-stationary forms keep B in a collector of one CTA; pairs of CTAs have no such "
     "form.",
     "Write .cta_group::1, or leave .ws out.", Ptx,
     "tcgen05.mma.ws.cta_group::2.kind::f16 [%r0], %rd1, %rd2, %r5, %p0;",
     "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, %p0;"},
    {Fault::WsBlockScale, "The kinds with scale factors have no weight-stationary form.",
     "Leave .ws out, or use kind f8f6f4 and scale the result.", Ptx,
     "tcgen05.mma.ws.cta_group::1.kind::mxf4.block_scale [%r0], %rd1, %rd2, %r5, [%r6], [%r7], "
     "%p0;",
     "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r0], %rd1, %rd2, %r5, [%r6], [%r7], %p0;"},
    {Fault::BlockScaleOfKind,
     "The mx kinds always multiply by scale factors and PTX wants that said. The other kinds never "
     "do.",
     "Add .block_scale behind an mx kind, delete it behind any other.", Ptx,
     "tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%r0], %rd1, %rd2, %r5, [%r6], [%r7], %p0;",
     "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r0], %rd1, %rd2, %r5, [%r6], [%r7], "
     "%p0;"},
    {Fault::ScaleVecOfKind,
     "The scale vector says how many elements share a factor: 32 for mxf8f6f4 and mxf4, 32 or 16 "
     "for mxf4nvf4. The first two have a default; mxf4nvf4 has none.",
     "Name .block32 or .block16 behind .block_scale.", Ptx,
     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r0], %rd1, %rd2, %r5, [%r6], [%r7], "
     "%p0;",
     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r0], %rd1, %rd2, %r5, [%r6], "
     "[%r7], %p0;"},
    {Fault::AshiftForm,
     ".ashift moves the rows of A by one, which only an A in Tensor Memory can do. Kinds with "
     "scale factors and .ws do not have it.",
     "Copy A to Tensor Memory and give its address in brackets.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], %rd1, %rd2, %r5, %p0;",
     "tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], [%r1], %rd2, %r5, %p0;"},
    {Fault::CollectorForm,
     "Without .ws the collector may keep A, with .ws it may keep B in one of four buffers. With "
     ".ashift the manual allows lastuse and discard only.",
     "Write .collector::a without .ws and .collector::b0 to ::b3 with it.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [%r0], %rd1, %rd2, %r5, %p0;",
     "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%r0], %rd1, %rd2, %r5, %p0;"},
    {Fault::DisableOutputLaneForm,
     "The vector that keeps lanes of D unwritten belongs to the plain kinds; forms with scale "
     "factors or .ws always write all.",
     "Leave the vector out, and store or use the wanted lanes only.", Ptx,
     "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, {%r8,%r9,%r10,%r11}, %p0;",
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, {%r8,%r9,%r10,%r11}, %p0;"},
    {Fault::ScaleInputDForm,
     "D = A*B + D * 2^-s exists for f16 and tf32. ptxas also takes the number behind kind i8, "
     "where the manual has none.",
     "Leave scale-input-d out, and scale the accumulator in registers.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r0], %rd1, %rd2, %r5, %p0, 3;",
     "tcgen05.mma.cta_group::1.kind::tf32 [%r0], %rd1, %rd2, %r5, %p0, 3;"},
    {Fault::ZeroColumnMaskForm,
     "Zeroing columns of B is a feature of the weight-stationary forms. A statement cannot even "
     "write it elsewhere: there the operand's place belongs to scale-input-d.",
     "Add .ws, or leave the mask out.", Cuda,
     "constexpr tcgen05::MmaForm form = {{Kind::f16}, {}, false, false, true};",
     "constexpr tcgen05::MmaForm form = {{Kind::f16, 1, true}, {}, false, false, true};"},
    {Fault::LdNum,
     ".num repeats the shape along the columns, in powers of two. A thread receives 1, 2 or 4 "
     "registers per repetition, at most 128 in all.",
     "Take the largest .num that exists and issue several instructions.", Ptx,
     "tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r0..%r255}, [%r300];",
     "tcgen05.ld.sync.aligned.16x256b.x32.b32 {%r0..%r127}, [%r300];"},
    {Fault::LdRedForm,
     "A load that reduces returns one more register, the minimum or maximum. It has the shapes "
     "32x32b and 16x32bx2 from .x2 on; .abs and .NaN speak of floats.",
     "Use one of the two shapes with .x2 or more; take .abs and .NaN out of integer forms.", Shell,
     "tcq describe tcgen05.ld.red.32x32b.x1.max.f32",
     "tcq describe tcgen05.ld.red.32x32b.x2.max.f32"},
    {Fault::CpMulticastForm,
     "A source of fewer than 128 rows is written to several groups of 32 lanes, and the opcode "
     "says to which. Sources of 128 rows and 4x256b are written once.",
     "Add the multicast of the shape: .warpx2::02_13 or ::01_23 for 64 rows, .warpx4 for 32.", Ptx,
     "tcgen05.cp.cta_group::1.32x128b [%r0], %rd1;",
     "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r0], %rd1;"},
};

constexpr Explanation descriptors[] = {
    {Fault::SparseBit,
     "The instruction descriptor repeats whether A is sparse. The opcode decides which operands "
     "there are, the bit what the chip does; they must agree, and ptxas cannot see the bit.",
     "Set the bit if and only if the opcode has .sp.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 sparse=1",
     "tcq describe tcgen05.mma.sp.cta_group::1.kind::f16 sparse=1"},
    {Fault::TypesOfKind,
     "The kind names a group of formats, the descriptor the formats themselves. D is f32 nearly "
     "everywhere: f16 goes with f16 operands and kind f8f6f4, s32 with i8.",
     "Take D f32, and operand types of the kind.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 type_a=bf16 type_b=bf16 type_d=f16",
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 type_a=bf16 type_b=bf16 type_d=f32"},
    {Fault::Tcgen05ShapeM,
     "M is that of the whole instruction: a pair of CTAs splits it. A frequent mistake is to write "
     "the M of one CTA with cta_group::2.",
     "Write 128 per CTA, or one of the smaller values that 'tcq describe' lists.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 m=256",
     "tcq describe tcgen05.mma.cta_group::2.kind::f16 m=256"},
    {Fault::Tcgen05ShapeN,
     "N goes in steps of 8 per CTA of the group, for integers of 16; the weight-stationary forms "
     "have powers of two only.",
     "Round N up to the next step and leave the last columns unused.", Shell,
     "tcq describe tcgen05.mma.cta_group::2.kind::f16 n=24",
     "tcq describe tcgen05.mma.cta_group::2.kind::f16 n=32"},
    {Fault::AshiftM,
     "The manual defines the shift of A for M = 128 and M = 256. ptxas does not see M.",
     "Use M = 128, or leave .ashift out.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16.ashift m=64",
     "tcq describe tcgen05.mma.cta_group::1.kind::f16.ashift m=128"},
    {Fault::K96Form, "The bit that makes K 96 belongs to the dense 4-bit kinds.",
     "Clear it; other kinds have one K each.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 k96=1",
     "tcq describe tcgen05.mma.cta_group::2.kind::mxf4.block_scale k96=1"},
    {Fault::TransposeOfType,
     "Elements narrower than a byte are packed or padded along K, and no transposed layout is "
     "defined for them.",
     "Store such operands K-major.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f8f6f4 type_b=e2m1 major_b=MN",
     "tcq describe tcgen05.mma.cta_group::1.kind::f8f6f4 type_b=e4m3 major_b=MN"},
    {Fault::TransposedN,
     "Where B has 8-bit elements and is transposed, the manual's table 52 asks for twice the usual "
     "step of N.",
     "Round N up to a multiple of 16 (cta_group::2: 32), or store B K-major.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f8f6f4 major_b=MN n=24",
     "tcq describe tcgen05.mma.cta_group::1.kind::f8f6f4 major_b=MN n=32"},
    {Fault::NegateOfKind,
     "The negate bits flip signs of floating-point operands; in kind i8 they are reserved.",
     "Clear them and negate the data or the result.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::i8 negate_a=1",
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 negate_a=1"},
    {Fault::SaturateOfKind, "Saturation clamps s32 sums. Floating-point kinds have no such bit.",
     "Clear the bit; clamp floats in the epilogue.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 saturate=1",
     "tcq describe tcgen05.mma.cta_group::1.kind::i8 saturate=1"},
    {Fault::MetadataSelector,
     "The selector says in which column of a pair the metadata of a sparse f16 or tf32 block of K "
     "begins. Other kinds take two columns per block and have no use for it.",
     "For sparse f16 and tf32 give the address the even column and the selector the column's last "
     "bit: block 1 of K behind column 128 is column 128 with selector 1 ('tcq layout' prints both; "
     "source: CuTe, 128 rows per CTA; no chip has confirmed it). In all other kinds leave it out.",
     Shell, "tcq describe tcgen05.mma.sp.cta_group::1.kind::i8 selector=1",
     "tcq describe tcgen05.mma.sp.cta_group::1.kind::f16 selector=1"},
    {Fault::MaxShiftB,
     "The field bounds how far B is reused with a shift, a feature of the weight-stationary forms. "
     "It has four codes.",
     "Write 0 without .ws, and 0, 8, 16 or 32 with it.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 max_shift_b=8",
     "tcq describe tcgen05.mma.ws.cta_group::1.kind::f16 max_shift_b=8"},
    {Fault::ScaleTypeOfKind,
     "ue4m3 factors are those of NVFP4: one per 16 elements in kind mxf4nvf4. Everything else is "
     "scaled by powers of two, ue8m0.",
     "Set the scale type to ue8m0, or use mxf4nvf4 with .block16.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32 scale_type=ue4m3",
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 scale_type=ue4m3"},
    {Fault::ScaleId,
     "The id is the byte of a 32-bit cell at which the instruction's factors begin. Two factors "
     "begin at byte 0 or 2, four fill the cell.",
     "Take the id that 'tcq describe' accepts, and move the address for the next four factors.",
     Shell, "tcq describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale scale_a_id=1",
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale scale_a_id=2"},
    {Fault::UnmodelledTransposedTmemA,
     "The manual draws A in Tensor Memory with K along the columns, and does not forbid the "
     "transpose bit. CUTLASS refuses it.",
     "Write A to Tensor Memory K-major.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 a=tmem major_a=MN",
     "tcq describe tcgen05.mma.cta_group::1.kind::f16 a=tmem"},
    {Fault::UnmodelledK96,
     "Table 39 has K = 96 with pairs of CTAs and M = 256. CUTLASS also issues it with M = 128, "
     "with "
     "one CTA or two, always as kind mxf4nvf4 with N a multiple of 16. How its operands lie in "
     "shared memory no text says.",
     "Use cta_group::2 and M = 256, or kind mxf4nvf4 with M = 128 (disputed), or K = 64.", Shell,
     "tcq describe tcgen05.mma.cta_group::1.kind::mxf4.block_scale k96=1",
     "tcq describe tcgen05.mma.cta_group::2.kind::mxf4.block_scale k96=1"},
};

constexpr Explanation statements[] = {
    {Fault::Tcgen05Unknown,
     "The second word of the opcode names the instruction. The waits and fences are written with "
     "two colons, and there is no wait for mma or cp.",
     "Write tcgen05.wait::ld, tcgen05.fence::after_thread_sync and so on; wait for mma with commit "
     "and an mbarrier.",
     Ptx, "tcgen05.wait.ld.sync.aligned;", "tcgen05.wait::ld.sync.aligned;"},
    {Fault::Tcgen05QualifierMissing,
     "Shape, .num, kind, cta_group, type and completion mechanism have no default in PTX.",
     "Add what the message names.", Ptx, "tcgen05.mma.kind::f16 [%r0], %rd1, %rd2, %r5, %p0;",
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, %p0;"},
    {Fault::RegisterCountLd,
     "Every lane holds the same number of registers, whatever .pack::16b or .unpack::16b do to the "
     "columns.",
     "Give the vector that many registers; 'tcq describe' prints the number.", Ptx,
     "tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r0..%r3}, [%r9];",
     "tcgen05.ld.sync.aligned.16x128b.x4.b32 {%r0..%r7}, [%r9];"},
    {Fault::RegisterCountMask,
     "The vector has a bit for each of the 128 lanes of one CTA, with cta_group::2 of both.",
     "Give 4 registers, with cta_group::2 8.", Ptx,
     "tcgen05.mma.cta_group::1.kind::tf32 [%r0], %rd1, %rd2, %r5, {%r8,%r9}, %p0;",
     "tcgen05.mma.cta_group::1.kind::tf32 [%r0], %rd1, %rd2, %r5, {%r8,%r9,%r10,%r11}, %p0;"},
    {Fault::ImmediateEnableD,
     "The operand is a predicate: true adds the old D, false overwrites it. ptxas takes any number "
     "and reads it as true or false.",
     "Write 0 or 1, or a predicate register.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, 2;",
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, 1;"},
    {Fault::ImmediateScaleInputD,
     "D is multiplied by 2 to the minus this number, which has four bits.",
     "Write an immediate from 0 to 15; repeat the scaling for more.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, %p0, 16;",
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, %r5, %p0, 15;"},
    {Fault::ImmediateIdesc,
     "The instruction descriptor is a 32-bit word. CUTLASS carries it in the upper half of a "
     "64-bit value; PTX wants that half alone, and ptxas does not complain about more.",
     "Pass the 32-bit word itself.", Ptx,
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, 0x840001000000000, %p0;",
     "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1, %rd2, 0x8400010, %p0;"},
};

}  // namespace

std::array<ExplanationGroup, 3> tcgen05_explanations() {
  return {{{"Instruction forms of tcgen05", forms},
           {"Instruction descriptors of tcgen05", descriptors},
           {"PTX statements of tcgen05", statements}}};
}

}  // namespace tcq::oracle
