// Explanations: Tensor Memory, its allocation and what no source settles.
#include "oracle/explain/explanations.h"

namespace tcq::oracle {
namespace {

using enum Language;

constexpr Explanation tensor_memory[] = {
    {Fault::UnmodelledTmemOperand,
     "The manual shows these layouts in figures only, and CuTe has none for them. Without a "
     "Blackwell device nothing here can decide how the rows lie.",
     "Take A from shared memory, or M = 128 (without .ws also 64 for a dense A). Name metadata by "
     "an "
     "even column, and by selector 1 where it begins in the odd one behind it.",
     Cuda, "mma_ws_a_in_tmem(d, tmem_a, desc_b, idesc);  // M = 64",
     "mma_ws_a_in_smem(d, desc_a, desc_b, idesc);  // M = 64"},
    {Fault::UnmodelledShiftEdge,
     "tcgen05.shift.down gives each row the row below it. The manual says that only the last row "
     "stays, an example of NVIDIA's that the last row of every 32 does.",
     "Do not rely on lanes 31, 63 and 95 after a shift: load them again.", Cuda,
     "shift_down(a);  // rows 31, 63 and 95 are used",
     "shift_down(a);  // rows 31, 63 and 95 are stored anew"},
    {Fault::TmemAllocSize,
     "Tensor Memory is handed out in powers of two from 32 to 512 columns. A sum of tile widths, "
     "192 for example, is not such a number. ptxas checks alloc only.",
     "Round the sum up to the next power of two, or allocate twice; give dealloc what alloc got.",
     Shell, "tcq tmem d0=192", "tcq tmem d0=128 d1=64"},
    {Fault::TmemAllocGrows,
     "Sizes of the allocations of a CTA must not grow in the order of time, whatever was freed in "
     "between.",
     "Allocate the largest piece first.", Shell, "tcq tmem scales=64 d0=128",
     "tcq tmem d0=128 scales=64"},
    {Fault::TmemAllocBlocks,
     "tcgen05.alloc waits until enough columns are free. If only the waiting warp or a later "
     "instruction of the CTA could free them, the kernel hangs.",
     "Plan all regions for 512 columns in all, or deallocate before the next allocation.", Shell,
     "tcq tmem d0=256 d1=256 scales=32", "tcq tmem d0=256 d1=128 scales=32"},
    {Fault::TmemOverlap,
     "Columns are computed by hand from the address that the allocation returned, and one region "
     "begins before the one in front of it ends: an f32 accumulator of N = 256 has 256 columns.",
     "Begin each region where the one before it ends.", Shell,
     "tcq tmem all=512 all/d0=0+256 all/d1=128+256",
     "tcq tmem all=512 all/d0=0+256 all/d1=256+256"},
    {Fault::TmemNotAllocated,
     "An instruction names columns that no allocation of the CTA covers, or a deallocation names "
     "something that was never allocated or is free already. The behaviour is undefined.",
     "Allocate as many columns as the regions need, and free each allocation once.", Shell,
     "tcq tmem all=256 all/d0=0+256 all/scales=256+16",
     "tcq tmem all=512 all/d0=0+256 all/scales=256+16"},
};

}  // namespace

std::array<ExplanationGroup, 1> tmem_explanations() { return {{{"Tensor Memory", tensor_memory}}}; }

}  // namespace tcq::oracle
