// `decode` and `encode` for tcgen05: shared memory and instruction descriptors, zero-column masks,
// Tensor Memory addresses.
//
// Decides formats of questions and answers; fields are sim/isa/tcgen05/smem_descriptor.h,
// sim/isa/tcgen05/instruction_descriptor.h, sim/isa/tcgen05/zero_mask.h and sim/isa/tmem/address.h, lints tcgen05_lint.h. Example:
// encode tcgen05.idesc.f16 m=128 n=256 is 0x08400010.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "oracle/answer/answer.h"
#include "oracle/answer/decoded_word.h"

namespace tcq::oracle {

// "tcgen05.desc", "tcgen05.idesc.f16", ...
std::span<const std::string_view> tcgen05_formats();
bool is_tcgen05_format(std::string_view format);

// Words of the question: format, word, keys. Requires: is_tcgen05_format(first word).
DecodedWord decode_tcgen05(const Question& question);

// Words of the question: format, keys, and the keys by which decode learns of the word's use.
// Throws FaultError, with the nearest legal values, for a word that the format cannot hold or no
// instruction takes, or that no source describes.
EncodedWord encode_tcgen05(const Question& question);

}  // namespace tcq::oracle
