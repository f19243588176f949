// Explanations: the words of tcgen05. Examples are questions to tcq: the wrong one is refused, or
// gets a lint; the right one is neither.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation words[] = {
    {Fault::WordReserved,
     "Bits that belong to no field are set. An addition carried out of the start field, offsets "
     "were not divided by 16, or the word was packed for another kind.",
     "Clear the bits and pack every field on its own. Step along K in the start field only.", Shell,
     "tcq decode tcgen05.desc 0x400040400001c040", "tcq decode tcgen05.desc 0x4000404000010040"},
    {Fault::DescriptorConstant,
     "A tcgen05 shared memory descriptor is marked by a constant that a wgmma descriptor does not "
     "have. Code that was ported from Hopper leaves it 0, and the instruction traps without saying "
     "where.",
     "Set the field to 1; the other fields of a wgmma word mean the same.", Shell,
     "tcq decode tcgen05.desc 0x4000004000010040", "tcq decode tcgen05.desc 0x4000404000010042",
     "triton #8032"},
    {Fault::DescriptorSwizzleCode,
     "The swizzle field has three bits, of which 3, 5 and 7 are no mode. Code 3 is what wgmma "
     "calls 32B.",
     "Write 0 for none, 6 for 32B, 4 for 64B, 2 for 128B, 1 for 128B with atoms of 32 bytes.",
     Shell, "tcq decode tcgen05.desc 0x6000401000010040",
     "tcq decode tcgen05.desc 0xc000401000010040"},
    {Fault::DescriptorLboMode,
     "An LBO that is an address exists for the 48 bytes of K that sm_103a reads with K = 96. It "
     "needs 128B swizzle with atoms of 16 bytes and base offset 0.",
     "Leave lbo_mode relative for K of 32 bytes.", Shell,
     "tcq encode tcgen05.desc lbo=0x8000 sbo=512 lbo_mode=absolute swizzle=64B",
     "tcq encode tcgen05.desc lbo=0x8000 sbo=1024 lbo_mode=absolute swizzle=128B"},
    {Fault::SwizzleOfOperand,
     "Transposing happens in units of the swizzle atom, so that the element size decides the mode. "
     "A 32-bit element needs atoms of 32 bytes, smaller ones cannot have them, and 4- and 6-bit "
     "elements cannot be transposed.",
     "Load an MN-major tf32 tile with TMA mode 128B_ATOM_32B and write swizzle code 1. Store 4- "
     "and "
     "6-bit operands K-major.",
     Shell, "tcq decode tcgen05.desc 0x4000408000200040 type=tf32 major=MN",
     "tcq decode tcgen05.desc 0x2000408000200040 type=tf32 major=MN"},
    {Fault::UnmodelledSwizzle,
     "Table 54 of the manual lists every swizzle mode for K-major operands, table 55 draws the "
     "mode "
     "with 32-byte atoms for MN-major only, and CUTLASS refuses it.",
     "Use 128B for K-major operands.", Shell,
     "tcq decode tcgen05.desc 0x2000404000010040 type=tf32 major=K",
     "tcq decode tcgen05.desc 0x4000404000010040 type=tf32 major=K"},
    {Fault::IdescType,
     "Every kind numbers its own types: code 0 is f16 in kind f16, e4m3 in kind f8f6f4, u8 in kind "
     "i8. A type that the kind does not have was asked for, or the word was made for another kind.",
     "Take the kind from the operands' types, or convert the operands.", Shell,
     "tcq encode tcgen05.idesc.f16 m=128 n=64 type_a=tf32 type_b=tf32",
     "tcq encode tcgen05.idesc.tf32 m=128 n=64 type_a=tf32 type_b=tf32", "triton #8910"},
    {Fault::IdescM,
     "The field holds M of the whole instruction, of both CTAs with cta_group::2. With scale "
     "factors it counts units of 128.",
     "Write M = 32 (.ws), 64, 128 or 256, not the rows of one CTA.", Shell,
     "tcq encode tcgen05.idesc.mxf8f6f4 m=64 n=64", "tcq encode tcgen05.idesc.mxf8f6f4 m=128 n=64"},
    {Fault::IdescN, "The field holds N >> 3 in six bits, of which the values 1 to 32 count.",
     "Split the tile into instructions of N up to 256.", Shell,
     "tcq encode tcgen05.idesc.f16 m=128 n=264", "tcq encode tcgen05.idesc.f16 m=128 n=256"},
    {Fault::IdescField,
     "The three formats share positions, and some bits are 0 in some kinds: saturate outside kind "
     "i8, negation inside it, ue4m3 outside mxf4nvf4.",
     "Leave the member at its default in kinds that do not have it.", Shell,
     "tcq encode tcgen05.idesc.f16 m=128 n=64 saturate=1",
     "tcq encode tcgen05.idesc.i8 m=128 n=64 saturate=1"},
    {Fault::IdescScaleId,
     "An id is the first byte of a 32-bit word of scale factors. Instructions that take two "
     "factors "
     "per row start at an even byte.",
     "Use ids 0 and 2, and 0 alone with four factors; move on by whole columns.", Shell,
     "tcq encode tcgen05.idesc.mxf4 m=128 n=64 scale_a_id=1",
     "tcq encode tcgen05.idesc.mxf4 m=128 n=64 scale_a_id=2"},
    {Fault::ZeroMaskRange,
     "Spans are stored minus one in eight bits, start counts in eight, the shift in six. A span of "
     "0 columns does not exist.",
     "Give spans as numbers of columns; to zero nothing, leave non_zero 0.", Shell,
     "tcq encode tcgen05.zero_mask non_zero=1 skip_columns=0 use_columns=4",
     "tcq encode tcgen05.zero_mask non_zero=1 skip_columns=3 use_columns=4"},
    {Fault::UnmodelledColumnShift,
     "The manual says that the shift lets an instruction begin at a later column, and no more. "
     "Whether it moves the mask, B or both is nowhere drawn.",
     "Express the mask with start counts and spans, and leave column_shift 0.", Shell,
     "tcq decode tcgen05.zero_mask 0x0803028000000000 m=64 n=64",
     "tcq decode tcgen05.zero_mask 0x0003028000000000 m=64 n=64"},
    {Fault::TmemAddressRange,
     "The word holds a lane in its upper and a column in its lower half. CuTe's pointers keep more "
     "in the upper bits, and a column offset of 512 belongs to the next lane nowhere.",
     "Add columns to the address that tcgen05.alloc gave, within what it allocated.", Shell,
     "tcq encode tmem.addr tmem_lane=0 tmem_column=512",
     "tcq encode tmem.addr tmem_lane=0 tmem_column=511"},
};

}  // namespace

std::array<ExplanationGroup, 1> word_explanations() { return {{{"Words of tcgen05", words}}}; }

}  // namespace tcq::oracle
