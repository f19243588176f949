// Names of CuTe's atoms in place of a mnemonic: `SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>` is
// `wgmma.m64n128k16.f32.bf16.bf16` with major_b=MN.
//
// Decides which PTX an atom of include/cute/arch issues, and which keys its template arguments say. Namespaces,
// `MMA_Atom<...>` and the like around a name, `{}` behind it do not count. Families: wgmma (SM90, dense and sparse),
// tcgen05.mma, ld, st and cp (SM100), the warp's mma (SM70 to SM120), ldmatrix, stmatrix, movmatrix, cp.async and TMA.
// Who asks: pasted.cc. Example: `SM100_TMEM_LOAD_32dp32b32x` is tcgen05.ld.32x32b.x32.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tcq::oracle {

struct CuteAtom {
  std::string mnemonic;
  std::vector<std::string> keys;  // a=regs, major_b=MN, ...
  std::size_t size = 0;           // characters of the text that are the name with its arguments
  std::string open;               // what the name leaves open, empty if nothing
};

// Nothing if the text does not begin with a name of such a form, such as SM80_...; throws UsageError for one that no
// atom has, UnmodelledError for complex numbers.
std::optional<CuteAtom> read_cute_atom(std::string_view text);

}  // namespace tcq::oracle
