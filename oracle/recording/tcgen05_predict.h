// What a case of tcgen05_case.h must give, from the maps of sim/isa and the sums of sim/machine.
//
// Decides which words of the output the model knows, and which bits of them: what no source says
// (the high half of a cell behind a 16-bit store, lanes at the edge of a shift, reduced words of
// ld.red) is left out of `known`, and a case of which nothing is known says why. Example: after an mma
// with D = f16 the low 16 bits of each cell of D are known, and every other cell is unchanged.
//
// Inferred: with cta_group::2 each CTA's rows are scaled by the factors in its own Tensor Memory, which
// must agree where both hold them; a run with different ones would tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/recording/tcgen05_case.h"

namespace tcq::oracle {

inline constexpr std::uint32_t low_half = 0xffff;

// In words; Prediction has the same in bytes.
struct Tcgen05Prediction {
  std::string unmodelled = {};             // why there is no prediction; "" if there is one
  std::vector<std::uint32_t> output = {};  // as in tcgen05_case.h
  std::vector<std::uint32_t> known = {};   // of each word: bits that the model decides
};

// `before` is the case's state().
Tcgen05Prediction predict_words(const Tcgen05Case& c, const Tcgen05State& before);

// The part of predict_words() for mma, tcgen05_predict_mma.cc.
Tcgen05Prediction predict_mma(const Tcgen05Case& c, const Tcgen05State& before);

// Tensor Memory of all CTAs as an output of which every bit is known.
Tcgen05Prediction unchanged(const Tcgen05State& before);

}  // namespace tcq::oracle
