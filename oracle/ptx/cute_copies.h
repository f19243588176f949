// Atoms of CuTe that copy: SM75_U32x4_LDSM_N, SM100_TMEM_LOAD_16dp256b2x_16b, SM100_UTCCP_4x32dp128bit_1cta, TMA's.
//
// Decides which opcode each issues. Who asks: cute_atoms.cc.
#pragma once

#include <span>
#include <string>

namespace tcq::oracle {

// Of a name's parts in capitals; empty if no atom is called so, and `why` then says what else exists, if anything near does.
std::string copy_mnemonic(std::span<const std::string> parts, std::string& why);

}  // namespace tcq::oracle
