// Lints of tcgen05's words: sentences that say what is wrong or suspicious about one, and what it
// probably should be.
//
// A word that the manual forbids gets a lint, too: decoding is for words that do not work. What is
// wrong is sim/isa's verdict (check_word() and its kin); here it gets the words. Example: the
// wgmma descriptor 0x4000004000010040 is told that bits [46,49) must be 001.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/answer/decoded_word.h"
#include "oracle/ptx/tcgen05_idesc_use.h"
#include "sim/isa/base/canonical_layout.h"
#include "sim/isa/base/element.h"
#include "sim/isa/base/tcgen05_kind.h"
#include "sim/isa/tcgen05/smem_descriptor.h"

namespace tcq::oracle {

// How a tcgen05.mma reads the operand of a shared memory descriptor.
struct SmemUse {
  tcgen05::Kind kind;
  Type type;
  Major major;
  std::optional<std::uint32_t> mn;  // rows of A or columns of B that one CTA reads
};

DescriptorRemarks remarks_on_smem(std::uint64_t word, const std::optional<SmemUse>& use);

// With what is known of the instruction's opcode.
DescriptorRemarks remarks_on_idesc(std::uint32_t word, tcgen05::Kind kind,
                                   const OpcodeChoice& opcode = {});

// M and N of the .ws instruction whose B is masked.
struct MaskUse {
  int m;
  int n;
};

DescriptorRemarks remarks_on_zero_mask(std::uint64_t word, const std::optional<MaskUse>& use);

DescriptorRemarks remarks_on_tmem_address(std::uint32_t word);

}  // namespace tcq::oracle
