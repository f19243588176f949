// Lints of a wgmma matrix descriptor: sentences that say what is suspicious about a word for an
// instruction and a tile, and what it probably should be.
//
// A lint is no verdict: the hardware takes any word (sim/isa/wgmma/operand.h). Known wrong packings
// are in sim/isa/tcgen05/descriptor_mistakes.h.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/answer/decoded_word.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/wgmma/descriptor.h"
#include "sim/isa/wgmma/shape.h"
#include "sim/isa/wgmma/tile.h"

namespace tcq::oracle {

// What is known about the use of the word; the more, the more can be said.
struct DescriptorUse {
  std::optional<wgmma::Form> form;
  wgmma::Multiplicand operand = wgmma::Multiplicand::A;
  std::optional<Major> major;
  std::optional<wgmma::Extent> tile;           // elements as stored; the operand lies in it
  std::optional<std::uint64_t> advanced_from;  // the word one instruction earlier along K
};

DescriptorRemarks remarks_on(std::uint64_t word, const DescriptorUse& use);

}  // namespace tcq::oracle
