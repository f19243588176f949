// Explanations: descriptors, operands at run time, tensor maps, tile copies and matrix moves.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation descriptors[] = {
    {Fault::DescriptorUnaligned,
     "The fields hold addresses and offsets divided by 16, so that lower bits are lost. A start "
     "inside a 16-byte unit or an offset in elements is the usual reason.",
     "Align the tile (1024 bytes serve every swizzle) and give offsets in bytes. Inside a swizzle "
     "atom the start moves by 32 bytes per K step.",
     Shell, "tcq encode wgmma.desc start_bytes=0x408 lbo_bytes=16 sbo_bytes=1024 swizzle=128B",
     "tcq encode wgmma.desc start_bytes=0x400 lbo_bytes=16 sbo_bytes=1024 swizzle=128B",
     "tilelang #813, #2452; FlashMLA #67; cuda-oxide #371"},
    {Fault::DescriptorTooLarge,
     "Each of the three fields has 14 bits of 16-byte units, 256 KiB. A larger start is mostly a "
     "generic pointer instead of a shared address; a larger LBO or SBO was multiplied once too "
     "often.",
     "Take the 32-bit address that __cvta_generic_to_shared (cvta.to.shared) gives, and offsets in "
     "bytes.",
     Shell, "tcq encode wgmma.desc start_bytes=0x7f000400 lbo_bytes=16 sbo_bytes=1024",
     "tcq encode wgmma.desc start_bytes=0x400 lbo_bytes=16 sbo_bytes=1024"},
    {Fault::DescriptorBaseOffset,
     "The base offset is a number of 128-byte rows, 0 to 7, by which the swizzle pattern is "
     "shifted against the address. It is no byte offset, and it does not follow the K steps of "
     "the start.",
     "Write 0 for every tile that TMA wrote and for every tile on a multiple of 1024 bytes. For a "
     "pattern that begins elsewhere write its start divided by 128, modulo 8.",
     Shell,
     "tcq encode wgmma.desc start_bytes=0x420 lbo_bytes=16 sbo_bytes=1024 base_offset=32 "
     "swizzle=128B",
     "tcq encode wgmma.desc start_bytes=0x420 lbo_bytes=16 sbo_bytes=1024 base_offset=0 "
     "swizzle=128B"},
};

constexpr Explanation operands[] = {
    {Fault::UndefinedMetadata,
     "A nibble of 2:4 metadata names two positions of four, the lower one in the low bits; tf32 "
     "has only the nibbles 4 and e. Equal or descending positions are left open by the manual: "
     "zeroed metadata is the usual case.",
     "Use the nibbles 4, 8, c, 9, d, e (tf32: 4, e). A row with fewer than two nonzeros still "
     "names two positions and stores zeros.",
     Ptx, "mov.b32 %r9, 0x00000000;", "mov.b32 %r9, 0x44444444;"},
    {Fault::SharedMemoryOutOfRange,
     "LBO and SBO steps are added to the start and nothing wraps: above the CTA's shared memory "
     "the access traps. An offset that was not divided by 16 in a word packed by hand, or LBO and "
     "SBO exchanged, reaches that far.",
     "Compare 'tcq decode wgmma.desc WORD' with what 'tcq layout' gives for the tile. Allocate the "
     "whole tile.",
     Ptx, "mov.b64 %rd1, 0x4000040000010040;  // SBO 16384",
     "mov.b64 %rd1, 0x4000004000010040;  // SBO 1024"},
};

constexpr Explanation tensor_maps[] = {
    {Fault::TensorMapRank,
     "TMA walks five dimensions at most. Interleaved layouts need three at least.",
     "Merge dimensions that follow each other without a gap, or encode one map per slice.", Cuda,
     "cuuint32_t rank = 6;  // batch, head, d, h, w, c",
     "cuuint32_t rank = 5;  // batch * head, d, h, w, c"},
    {Fault::TensorMapAddress,
     "TMA reads global memory in units of 16 bytes, counted from the first element of the tensor. "
     "A view that begins inside another tensor is often off by less than that.",
     "Encode the map on the allocation and put the offset into the coordinates, or begin the view "
     "at a multiple of 16 bytes.",
     Cuda, "void* globalAddress = a + 4;  // half* a: 8 bytes behind the allocation",
     "void* globalAddress = a + 8;  // half* a: 16 bytes behind the allocation"},
    {Fault::TensorMapDim,
     "Dimensions count elements, and every dimension has one at least. An empty batch or expert "
     "gives 0.",
     "Skip an empty tensor. Split one of more than 2^32 elements along a dimension.", Cuda,
     "globalDim[1] = 0;  // rows of an idle expert",
     "globalDim[1] = 128;  // idle experts are not launched"},
    {Fault::TensorMapStride,
     "globalStrides are bytes between rows, planes and so on, and TMA counts them in units of 16. "
     "A row of 100 f16 elements is 200 bytes.",
     "Pad the leading dimension to a multiple of 16 bytes when the tensor is allocated.", Cuda,
     "globalStrides[0] = 100 * sizeof(half);  // 200 bytes",
     "globalStrides[0] = 104 * sizeof(half);  // 208 bytes"},
    {Fault::TensorMapBox,
     "boxDim is what one copy moves, not the size of the tensor, and a copy moves at most 256 "
     "elements along a dimension.",
     "Cut the tile into boxes and issue one copy for each, all on the same mbarrier.", Cuda,
     "boxDim[1] = 512;", "boxDim[1] = 256;  // and two copies"},
    {Fault::TensorMapInnerBox,
     "A row of the box is moved in units of 16 bytes: boxDim[0] times the element size has to be a "
     "multiple of 16.",
     "Round boxDim[0] up; elements beyond the tensor are filled.", Cuda,
     "boxDim[0] = 12;  // f16: 24 bytes", "boxDim[0] = 16;  // f16: 32 bytes"},
    {Fault::TensorMapBoxBytes,
     "The box has to fit into shared memory. The driver takes 228 KiB and refuses more; element "
     "strides above 1 make the moved box smaller.",
     "Let the box be one stage of the pipeline.", Cuda,
     "boxDim[2] = 8;  // 64 x 256 x 8 f16: 256 KiB", "boxDim[2] = 1;  // 64 x 256 x 1 f16: 32 KiB"},
    {Fault::TensorMapSpan,
     "A swizzle permutes 16-byte units inside rows of 32, 64 or 128 bytes, and a row of the box is "
     "at most one such row.",
     "Make boxDim[0] the span (64 f16 elements for 128B) and issue a copy per block of columns.",
     Cuda, "boxDim[0] = 96;  // f16: 192 bytes, CU_TENSOR_MAP_SWIZZLE_128B",
     "boxDim[0] = 64;  // f16: 128 bytes, CU_TENSOR_MAP_SWIZZLE_128B",
     "Fuser #4771, #4918, #924; tilelang #2578"},
    {Fault::TensorMapElementStride,
     "elementStrides take every n-th element of a dimension; 1 takes all of them and 0 is an array "
     "nobody filled. Dimension 0 is checked, too, although its stride has no effect.",
     "Set every element stride to 1.", Cuda, "cuuint32_t elementStrides[2] = {};",
     "cuuint32_t elementStrides[2] = {1, 1};"},
    {Fault::TensorMapFill,
     "Elements outside the tensor read as zero or as NaN, and an integer type has no NaN. fp8 "
     "tensors are encoded as UINT8 and count as integers.",
     "Ask for CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, which fills with zeros.", Cuda,
     "oobFill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;  // "
     "CU_TENSOR_MAP_DATA_TYPE_UINT8",
     "oobFill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;  // CU_TENSOR_MAP_DATA_TYPE_UINT8"},
    {Fault::TargetLacksSwizzleAtoms,
     "The 128B swizzles with atoms of 32 and 64 bytes came with Blackwell. Neither a Hopper tensor "
     "map nor wgmma's descriptor has them.",
     "Use CU_TENSOR_MAP_SWIZZLE_128B, whose atom is 16 bytes.", Cuda,
     "swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;", "swizzle = CU_TENSOR_MAP_SWIZZLE_128B;"},
    {Fault::TargetLacksPackedTypes,
     "The types that hold 16 elements of 4 or 6 bits came with Blackwell; a Hopper device copies "
     "whole bytes.",
     "Encode packed data as UINT8 and unpack it in the kernel.", Cuda,
     "type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;", "type = CU_TENSOR_MAP_DATA_TYPE_UINT8;"},
    {Fault::UnmodelledInterleave,
     "The driver accepts maps of the channel-blocked layouts (NC/8HWC8, NC/16HWC16). What their "
     "copies move has not been recorded, so there is no answer here.",
     "Use CU_TENSOR_MAP_INTERLEAVE_NONE: operands of wgmma need no other.", Cuda,
     "interleave = CU_TENSOR_MAP_INTERLEAVE_16B;", "interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;"},
};

constexpr Explanation copies[] = {
    {Fault::TileUnaligned,
     "A tile copy needs 128 bytes of alignment in shared memory. The 16 bytes of the PTX text are "
     "not enough on an H200: the copy traps.",
     "Align tiles to 1024 bytes: that fits every swizzle and keeps the base offset 0.", Ptx,
     ".shared .align 16 .b8 stage[8192];", ".shared .align 1024 .b8 stage[8192];"},
    {Fault::TileStartUnaligned,
     "Coordinates count elements, and along dimension 0 a copy begins at a whole 16-byte unit: an "
     "f16 box may begin at 0, 8, 16 and so on.",
     "Round the coordinate down and skip the first elements in the tile.", Ptx,
     "mov.b32 %r1, 4;  // first coordinate, f16: 8 bytes",
     "mov.b32 %r1, 8;  // first coordinate, f16: 16 bytes"},
    {Fault::TileStartNegative,
     "A load may begin before the tensor and fills what lies outside. A store or a reduction must "
     "not: it traps.",
     "Begin at 0 or behind it; what must not be written at the low end stays out of the box.", Ptx,
     "mov.b32 %r1, -8;\n"
     "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r0, %r1}], [tile];",
     "mov.b32 %r1, 0;\n"
     "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r0, %r1}], [tile];"},
    {Fault::TileOutOfTensorMemory,
     "TMA clips a box to the dimensions of the map and never looks at the allocation behind them. "
     "Dimensions in the wrong order, strides of another tensor or a freed tensor reach other "
     "memory.",
     "List dimensions from the contiguous one outwards, strides in bytes, and keep the allocation "
     "until the kernel has ended.",
     Cuda, "globalDim[0] = rows; globalDim[1] = columns;  // row-major",
     "globalDim[0] = columns; globalDim[1] = rows;  // row-major"},
    {Fault::ReductionType,
     "The element type of the tensor map decides which operations exist. inc and dec need u32, "
     "8-bit and 16-bit integers have no reduction, floating point has no and, or, xor. Of s64 "
     "there are min and max only.",
     "Encode the map with an unsigned type of the same width: add and the bit operations give the "
     "same bits.",
     Cuda, "type = CU_TENSOR_MAP_DATA_TYPE_INT64;  // for .add",
     "type = CU_TENSOR_MAP_DATA_TYPE_UINT64;  // for .add"},
    {Fault::MulticastMask,
     "Bit i of the mask is the CTA with %cluster_ctarank i (the manual's %ctaid is a slip). A bit "
     "at or above the cluster's size names nobody, and so does mask 0.",
     "Build the mask from %cluster_nctarank, with bits of this cluster only.", Ptx,
     "mov.b16 %rs1, 0xf;  // a cluster of 2", "mov.b16 %rs1, 0x3;  // a cluster of 2"},
    {Fault::MatrixCount,
     "x1, x2 and x4 take the row addresses of lanes 0-7, 0-15 and 0-31: there is no form for three "
     "matrices.",
     "Move four and ignore one, or use x2 and x1.", Ptx,
     "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0,%r1,%r2}, [%r8];",
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2,%r3}, [%r8];"},
    {Fault::MatrixRowUnaligned,
     "Each lane gives the address of one row of 16 bytes. A row pitch such as 136 bytes puts every "
     "second row off the grid.",
     "Pad rows by 16 bytes (128 to 144), or swizzle instead of padding.", Ptx,
     "mad.lo.u32 %r8, %r9, 136, %r10;", "mad.lo.u32 %r8, %r9, 144, %r10;"},
};

}  // namespace

std::array<ExplanationGroup, 4> tile_explanations() {
  return {{{"Matrix descriptors", descriptors},
           {"Operands at run time", operands},
           {"Tensor maps", tensor_maps},
           {"Bulk tensor copies and matrix moves", copies}}};
}

}  // namespace tcq::oracle
