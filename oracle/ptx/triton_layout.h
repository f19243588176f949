// Triton's layouts of accumulators in place of a mnemonic, as its IR prints them:
// `#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>` is D of
// `wgmma.m64n64k16.f32.bf16.bf16`, `#ttng.tensor_memory_encoding<blockM = 64, blockN = 128, ...>` D of tcgen05.mma.
//
// Decides which instruction has that D. Version 3 is wgmma, whose instrShape says M of a warp, N and K; several
// warpgroups along M are a tile, bM= and atoms=. Version 2 is mma.m16n8, of one warp. twoCTAs is a pair. Who asks: pasted.cc.
#pragma once

#include <optional>
#include <string_view>

#include "oracle/ptx/cute_atoms.h"

namespace tcq::oracle {

// Nothing if the text does not begin with such a layout; throws UnmodelledError for other versions and for warps along N.
std::optional<CuteAtom> read_triton_layout(std::string_view text);

}  // namespace tcq::oracle
